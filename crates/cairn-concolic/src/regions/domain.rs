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
use std::collections::BTreeSet;

/// Times are kept below this: the year 2242, which all file systems can hold.
const LATEST: u128 = 1 << 33;

impl Regions {
    /// Conditions on the metadata that `nodes` speak of. All hold on the run's own input.
    pub(crate) fn domain(&self, dag: &mut Dag, nodes: &[Node]) -> Vec<ExprId> {
        let fields: BTreeSet<(RegionId, u32)> = nodes
            .iter()
            .filter(|node| node.op == Op::Input as u8)
            .map(|node| (RegionId(node.a), field(node.b)))
            .collect();
        let conditions: Vec<ExprId> =
            fields.into_iter().filter_map(|(region, field)| self.condition(dag, region, field)).collect();
        let mut evaluator = Evaluator::new(dag, self);
        conditions.into_iter().filter(|condition| evaluator.value(*condition) == 1).collect()
    }

    fn condition(&self, dag: &mut Dag, region: RegionId, field: u32) -> Option<ExprId> {
        let limit = match region.kind()? {
            RegionKind::FileMetadata => self.limits.max_hole,
            RegionKind::StdinMetadata | RegionKind::BufferMetadata => self.limits.max_size,
            _ => return None,
        };
        Some(match field {
            metadata::SIZE => at_most(dag, region, field, limit.into()),
            metadata::MODIFIED | metadata::ACCESSED => at_most(dag, region, field, LATEST),
            metadata::LINKS => {
                let links = dag.input(region, field, 64);
                let seen = dag.constant(64, self.number(region, field, 8, &Default::default()).into());
                dag.compare(Op::Eq, links, seen)
            }
            metadata::MODE => {
                let mode = dag.input(region, field, 32);
                let above = dag.constant(32, !u128::from(TYPE | 0o7777));
                let above = dag.binary(Op::And, mode, above);
                let zero = dag.constant(32, 0);
                let is_mode = dag.compare(Op::Eq, above, zero);
                let mask = dag.constant(32, TYPE.into());
                let kind = dag.binary(Op::And, mode, mask);
                let is_kind = [REGULAR, FOLDER, FIFO].map(|wanted| {
                    let wanted = dag.constant(32, wanted.into());
                    dag.compare(Op::Eq, kind, wanted)
                });
                let any = is_kind.into_iter().reduce(|a, b| dag.binary(Op::Or, a, b))?;
                dag.binary(Op::And, is_mode, any)
            }
            _ => return None,
        })
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
