//! Structures whose members are accessed.

use crate::{clang::Cursor, variables::without_qualifiers};
use cairn_model::facts::{FieldFact, Named, RecordFact};
use clang_sys::*;
use std::collections::HashMap;

/// The structures met so far.
#[derive(Default)]
pub struct Records<'u> {
    /// The facts.
    pub facts: Vec<RecordFact>,
    numbers: HashMap<u32, Vec<(Cursor<'u>, u32)>>,
}

impl<'u> Records<'u> {
    /// The member that a member access names.
    pub fn named(&mut self, access: Cursor<'u>) -> Option<Named> {
        let field = access.referenced().filter(|member| member.kind() == CXCursor_FieldDecl)?;
        let record = field.semantic_parent()?;
        let key = record.location().identity();
        let known = self.numbers.get(&key).and_then(|here| here.iter().find(|(other, _)| *other == record));
        let number = match known {
            Some((_, number)) => *number,
            None => {
                let number = self.facts.len() as u32;
                self.facts.push(describe(record));
                self.numbers.entry(key).or_default().push((record, number));
                number
            }
        };
        let position = fields(record).position(|other| other == field)?;
        Some(Named::Member { record: number, field: position as u32 })
    }
}

fn fields(record: Cursor<'_>) -> impl Iterator<Item = Cursor<'_>> {
    let mut fields = record.children();
    fields.retain(|child| child.kind() == CXCursor_FieldDecl);
    // libclang shows no children of a template's instance.
    if fields.is_empty() {
        fields = record.value_type().fields();
    }
    fields.into_iter()
}

fn describe(record: Cursor<'_>) -> RecordFact {
    RecordFact {
        is_union: record.kind() == CXCursor_UnionDecl,
        fields: fields(record)
            .map(|field| FieldFact {
                name: field.spelling(),
                offset_bits: field.field_offset_bits(),
                bit_width: field.bit_width(),
                canonical: without_qualifiers(&field.value_type().canonical().spelling()),
            })
            .collect(),
    }
}
