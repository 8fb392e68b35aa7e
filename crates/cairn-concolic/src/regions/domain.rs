//! What an input can be at all.
//!
//! A solver may choose any bytes, but not any bytes make a file. These conditions keep it to what [`Regions::apply`] can
//! carry out.

use super::{
    Regions,
    metadata::{FIFO, FOLDER, REGULAR, TYPE},
};
use cairn_abi::symbolic::{Node, Op, RegionId, RegionKind, metadata};
use cairn_expr::{Dag, Evaluator, ExprId};
use cairn_model::input::FileKind;
use std::collections::BTreeSet;

/// Times are kept below this: the year 2242, which all file systems can hold.
const LATEST: u128 = 1 << 33;

impl Regions {
    /// Conditions on the metadata that `nodes` speak of, each once. All hold on the run's own input.
    pub(crate) fn domain(&self, dag: &mut Dag, nodes: &[Node]) -> Vec<ExprId> {
        let fields: BTreeSet<(RegionId, u32)> = nodes
            .iter()
            .filter(|node| node.op == Op::Input as u8)
            .map(|node| (RegionId(node.a), field(node.b)))
            .collect();
        let conditions: BTreeSet<ExprId> =
            fields.into_iter().filter_map(|(region, field)| self.condition(dag, region, field)).collect();
        let mut evaluator = Evaluator::new(dag, self);
        conditions.into_iter().filter(|condition| evaluator.value(*condition) == 1).collect()
    }

    fn condition(&self, dag: &mut Dag, region: RegionId, field: u32) -> Option<ExprId> {
        let limit = match region.kind()? {
            RegionKind::FileMetadata => self.limits.max_hole,
            RegionKind::StdinMetadata | RegionKind::BufferMetadata => self.limits.max_size,
            RegionKind::ArgumentsMetadata => self.limits.max_words,
            _ => return None,
        };
        let is_kept =
            region.kind()? == RegionKind::FileMetadata && self.keeps(region.index() as usize, field);
        Some(match field {
            _ if is_kept => self.as_seen(dag, region, field),
            metadata::SIZE => at_most(dag, region, field, limit.into()),
            metadata::MODIFIED | metadata::ACCESSED => at_most(dag, region, field, LATEST),
            metadata::LINKS => self.as_seen(dag, region, field),
            metadata::MODE => {
                let mode = dag.input(region, field, 32);
                let above = dag.constant(32, !u128::from(TYPE | 0o7777));
                let above = dag.binary(Op::And, mode, above);
                let zero = dag.constant(32, 0);
                let is_mode = dag.compare(Op::Eq, above, zero);
                let mask = dag.constant(32, TYPE.into());
                let kind = dag.binary(Op::And, mode, mask);
                // What holds other files cannot be anything else.
                let kinds: &[u64] = match self.is_needed(region.index() as usize) {
                    true => &[FOLDER],
                    false => &[REGULAR, FOLDER, FIFO],
                };
                let mut any = None;
                for wanted in kinds {
                    let wanted = dag.constant(32, (*wanted).into());
                    let is_kind = dag.compare(Op::Eq, kind, wanted);
                    any = Some(any.map_or(is_kind, |any| dag.binary(Op::Or, any, is_kind)));
                }
                let any = any?;
                dag.binary(Op::And, is_mode, any)
            }
            _ => return None,
        })
    }

    /// A field of 64 bits, or the 32 of a mode, is as the run saw it.
    fn as_seen(&self, dag: &mut Dag, region: RegionId, field: u32) -> ExprId {
        let n_bytes = if field == metadata::MODE { 4 } else { 8 };
        let now = dag.input(region, field, 8 * n_bytes);
        let seen = self.number(region, field, n_bytes, &Default::default());
        let seen = dag.constant(8 * n_bytes, seen.into());
        dag.compare(Op::Eq, now, seen)
    }

    /// Whether a field of a file follows from what it is: the mode of a link, and the size of all but regular files.
    fn keeps(&self, index: usize, field: u32) -> bool {
        let kind = self.input.files.get(index).map(|file| &file.kind);
        match field {
            metadata::MODE => matches!(kind, Some(FileKind::Symlink(_))),
            metadata::SIZE => !matches!(kind, Some(FileKind::Regular(_))),
            _ => false,
        }
    }

    /// Whether other files of the input lie in this one.
    fn is_needed(&self, index: usize) -> bool {
        let Some(folder) = self.input.files.get(index) else { return false };
        let is_within =
            |path: &str| path.strip_prefix(&folder.path).is_some_and(|rest| rest.starts_with('/'));
        self.input.files.iter().any(|file| is_within(&file.path))
    }
}

fn at_most(dag: &mut Dag, region: RegionId, field: u32, limit: u128) -> ExprId {
    let number = dag.input(region, field, 64);
    let limit = dag.constant(64, limit);
    dag.compare(Op::ULe, number, limit)
}

/// Where the field that holds a byte begins.
fn field(offset: u32) -> u32 {
    match offset {
        metadata::USER.. if offset < metadata::GROUP => metadata::USER,
        metadata::GROUP.. if offset < metadata::MODIFIED => metadata::GROUP,
        _ => offset / 8 * 8,
    }
}
