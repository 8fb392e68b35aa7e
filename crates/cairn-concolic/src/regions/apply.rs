//! A new input from new bytes.

use super::{Regions, metadata, names, variable_name, word};
use cairn_abi::symbolic::{self, RegionId, RegionKind};
use cairn_model::{
    Input,
    input::{Bytes, FileKind, FileRegion, VariableValue},
};
use std::collections::BTreeMap;

/// Why bytes make no input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The input has no such region.
    #[error("the input has no {region}")]
    NoRegion {
        /// As [`Regions::name`] calls it.
        region: String,
    },
    /// It would be larger than allowed.
    #[error("{region} would have {size} bytes, at most {limit} are allowed")]
    TooLarge {
        /// As [`Regions::name`] calls it.
        region: String,
        /// The size it would have.
        size: u64,
        /// The largest one.
        limit: u64,
    },
    /// It would be more than allowed.
    #[error("there would be {n} arguments, at most {limit} are allowed")]
    TooMany {
        /// How many there would be.
        n: u64,
        /// The most.
        limit: u64,
    },
    /// No input has this.
    #[error("{region} cannot be changed like this: {reason}")]
    Impossible {
        /// As [`Regions::name`] calls it.
        region: String,
        /// What is in the way.
        reason: &'static str,
    },
}

/// New values of bytes, by offset.
pub(super) type Changes = BTreeMap<u32, u8>;

impl Regions {
    /// The input in which these bytes have these values and everything else is as before, but for the names of files that
    /// arguments name.
    pub fn apply(&self, bytes: impl IntoIterator<Item = (RegionId, u32, u8)>) -> Result<Input, ApplyError> {
        let mut by_region: BTreeMap<RegionId, Changes> = BTreeMap::new();
        for (region, offset, value) in bytes {
            by_region.entry(region).or_default().insert(offset, value);
        }
        let mut input = self.input.clone();
        // Regions are in the order of their kinds: content comes before metadata, so a size has the last word.
        for (region, changes) in &by_region {
            self.change(&mut input, *region, changes)?;
        }
        names::follow(&self.input, &mut input);
        Ok(input)
    }

    fn change(&self, input: &mut Input, region: RegionId, changes: &Changes) -> Result<(), ApplyError> {
        let index = region.index() as usize;
        let none = || ApplyError::NoRegion { region: self.name(region) };
        match region.kind().ok_or_else(none)? {
            RegionKind::Stdin => self.write(region, &mut input.stdin.0, changes),
            RegionKind::Buffer => self.write(region, &mut input.buffer.get_or_insert_default().0, changes),
            RegionKind::Argument => {
                let argument = input.args.get_mut(index).ok_or_else(none)?;
                self.write_word(region, &mut argument.0, changes)
            }
            RegionKind::Environment => {
                let old = self.environment.get(index).ok_or_else(none)?;
                let mut text = old.clone();
                self.write_word(region, &mut text, changes)?;
                let impossible = |reason| ApplyError::Impossible { region: self.name(region), reason };
                let equals = text.iter().position(|byte| *byte == b'=').filter(|at| *at > 0);
                let equals = equals.ok_or_else(|| impossible("an entry is `NAME=value`"))?;
                let name = String::from_utf8(text[..equals].to_vec())
                    .map_err(|_| impossible("names of variables are text"))?;
                let entry = (name, text[equals + 1..].to_vec().into());
                let old_name = variable_name(old);
                match input.environment.iter_mut().rfind(|(name, _)| name.as_bytes() == old_name) {
                    Some(place) => *place = entry,
                    // One of the setting's own, which an input may replace.
                    None => input.environment.push(entry),
                }
                Ok(())
            }
            RegionKind::File => {
                let file =
                    self.regular.get(index).and_then(|at| input.files.get_mut(*at)).ok_or_else(none)?;
                self.write_file(region, file, changes)
            }
            RegionKind::Variable => {
                let variable = input.variables.get_mut(index).ok_or_else(none)?;
                self.write_variable(region, &mut variable.value, changes)
            }
            RegionKind::FileMetadata => {
                let file = input.files.get_mut(index).ok_or_else(none)?;
                metadata::change(self, region, file, changes)
            }
            RegionKind::StdinMetadata => {
                let size = self.number(region, symbolic::metadata::SIZE, 8, changes);
                self.resize(region, &mut input.stdin.0, size)
            }
            RegionKind::ArgumentsMetadata => {
                let n_wanted = self.number(region, symbolic::metadata::SIZE, 8, changes);
                let limit = self.limits.max_words;
                if n_wanted > limit.max(input.args.len() as u64) {
                    return Err(ApplyError::TooMany { n: n_wanted, limit });
                }
                let another = another_argument(input);
                input.args.resize(n_wanted as usize, another);
                Ok(())
            }
            RegionKind::BufferMetadata => {
                let size = self.number(region, symbolic::metadata::SIZE, 8, changes);
                self.resize(region, &mut input.buffer.get_or_insert_default().0, size)
            }
        }
    }

    /// Writes into content that grows as needed.
    fn write(&self, region: RegionId, content: &mut Vec<u8>, changes: &Changes) -> Result<(), ApplyError> {
        let Some((last, _)) = changes.last_key_value() else { return Ok(()) };
        let size = u64::from(*last) + 1;
        if size > content.len() as u64 {
            self.resize(region, content, size)?;
        }
        for (offset, value) in changes {
            content[*offset as usize] = *value;
        }
        Ok(())
    }

    /// Cuts content, or fills it with zeros.
    pub(super) fn resize(
        &self,
        region: RegionId,
        content: &mut Vec<u8>,
        size: u64,
    ) -> Result<(), ApplyError> {
        self.check(region, size, self.limits.max_size)?;
        content.resize(size as usize, 0);
        Ok(())
    }

    /// Writes into a word that ends at the first zero.
    fn write_word(&self, region: RegionId, text: &mut Vec<u8>, changes: &Changes) -> Result<(), ApplyError> {
        let Some((last, _)) = changes.last_key_value() else { return Ok(()) };
        let size = u64::from(*last) + 1;
        self.check(region, size, self.limits.max_word)?;
        if size > text.len() as u64 {
            text.resize(size as usize, 0);
        }
        for (offset, value) in changes {
            text[*offset as usize] = *value;
        }
        if let Some(end) = text.iter().position(|byte| *byte == 0) {
            text.truncate(end);
        }
        Ok(())
    }

    fn write_file(
        &self,
        region: RegionId,
        file: &mut FileRegion,
        changes: &Changes,
    ) -> Result<(), ApplyError> {
        let FileKind::Regular(content) = &mut file.kind else {
            return Err(ApplyError::NoRegion { region: self.name(region) });
        };
        if let Some(size) = file.size {
            // What the size cuts off is not there.
            content.0.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        }
        self.write(region, &mut content.0, changes)?;
        file.size = file.size.filter(|size| *size > content.0.len() as u64);
        Ok(())
    }

    fn write_variable(
        &self,
        region: RegionId,
        value: &mut VariableValue,
        changes: &Changes,
    ) -> Result<(), ApplyError> {
        let too_long = || ApplyError::Impossible {
            region: self.name(region),
            reason: "the program asks for a fixed number of bytes",
        };
        if let VariableValue::Bytes(bytes) = value {
            for (offset, byte) in changes {
                *bytes.0.get_mut(*offset as usize).ok_or_else(too_long)? = *byte;
            }
            return Ok(());
        }
        let mut bytes = word(value);
        for (offset, byte) in changes {
            *bytes.get_mut(*offset as usize).ok_or_else(too_long)? = *byte;
        }
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(&bytes);
        let bits = u64::from_le_bytes(wide);
        // An integer is delivered in 64 bits and must fit the type that was asked for.
        let unused = 64 - 8 * self.asked.get(&region).copied().unwrap_or(8).clamp(1, 8);
        match value {
            VariableValue::Int(value) => *value = (bits << unused).cast_signed() >> unused,
            VariableValue::Uint(value) => *value = bits << unused >> unused,
            VariableValue::Float(value) => *value = bits as u32,
            VariableValue::Double(value) => *value = bits,
            VariableValue::Bytes(_) => unreachable!("handled above"),
        }
        Ok(())
    }

    /// The little-endian number of `n_bytes` at an offset, with changes.
    pub(super) fn number(&self, region: RegionId, offset: u32, n_bytes: u32, changes: &Changes) -> u64 {
        use cairn_expr::Bytes;
        (0..n_bytes).rev().fold(0, |number, byte| {
            let at = offset + byte;
            number << 8 | u64::from(changes.get(&at).copied().unwrap_or_else(|| self.byte(region, at)))
        })
    }

    pub(super) fn check(&self, region: RegionId, size: u64, limit: u64) -> Result<(), ApplyError> {
        if size > limit {
            return Err(ApplyError::TooLarge { region: self.name(region), size, limit });
        }
        Ok(())
    }
}

/// What a program may be given after its arguments: the last one again, which it takes, unless that is an option.
fn another_argument(input: &Input) -> Bytes {
    input.args.last().filter(|last| !last.0.starts_with(b"-")).cloned().unwrap_or_default()
}
