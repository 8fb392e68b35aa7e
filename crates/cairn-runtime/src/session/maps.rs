//! What `/proc/self/maps` says, read without allocating.

/// One mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub start: usize,
    pub end: usize,
    pub is_writable: bool,
    pub is_shared: bool,
    /// The stack of the process.
    pub is_stack: bool,
}

/// Goes through the text of `/proc/self/maps`.
pub fn mappings(text: &[u8]) -> impl Iterator<Item = Mapping> + '_ {
    text.split(|byte| *byte == b'\n').filter_map(mapping)
}

/// ```text
///   7f0123456000-7f0123457000 rw-p 00000000 00:00 0    [stack]
/// ```
fn mapping(line: &[u8]) -> Option<Mapping> {
    let mut fields = line.split(|byte| *byte == b' ');
    let range = fields.next()?;
    let dash = range.iter().position(|byte| *byte == b'-')?;
    let [_, write, _, share] = *fields.next()?.first_chunk::<4>()?;
    Some(Mapping {
        start: hexadecimal(range.get(..dash)?)?,
        end: hexadecimal(range.get(dash + 1..)?)?,
        is_writable: write == b'w',
        is_shared: share == b's',
        is_stack: line.ends_with(b"[stack]"),
    })
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |number, digit| {
        let digit = crate::environment::hex_digit(*digit)?;
        Some(number << 4 | usize::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_mappings() {
        let text = b"00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon\n\
                     7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n\
                     35b1a21000-35b1a22000 rw-s 00000000 00:05 7 /memfd:x (deleted)\nrubbish\n";
        let found: Vec<_> = mappings(text).collect();
        assert_eq!(
            found,
            [
                Mapping {
                    start: 0x400000,
                    end: 0x452000,
                    is_writable: false,
                    is_shared: false,
                    is_stack: false
                },
                Mapping {
                    start: 0x7ffffffde000,
                    end: 0x7ffffffff000,
                    is_writable: true,
                    is_shared: false,
                    is_stack: true
                },
                Mapping {
                    start: 0x35b1a21000,
                    end: 0x35b1a22000,
                    is_writable: true,
                    is_shared: true,
                    is_stack: false
                },
            ]
        );
    }
}
