//! Verdicts as numbers, which never change their meaning.

use cairn_model::{KillReason, Verdict};

/// Crashes are this plus the signal.
const CRASH: i64 = 1000;

/// The number of a verdict.
pub fn encode(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Survived => 0,
        Verdict::LayoutDependent => 1,
        Verdict::Undecided => 2,
        Verdict::Killed(KillReason::Output) => 100,
        Verdict::Killed(KillReason::Exit) => 101,
        Verdict::Killed(KillReason::Files) => 102,
        Verdict::Killed(KillReason::Sanitizer) => 103,
        Verdict::Killed(KillReason::Fuel) => 104,
        Verdict::Killed(KillReason::Timeout) => 105,
        Verdict::Killed(KillReason::Memory) => 106,
        Verdict::Killed(KillReason::TooMuchOutput) => 107,
        Verdict::Killed(KillReason::Crash(signal)) => CRASH + i64::from(signal),
    }
}

/// The verdict of a number; `None` if it is none of ours.
pub fn decode(code: i64) -> Option<Verdict> {
    Some(match code {
        0 => Verdict::Survived,
        1 => Verdict::LayoutDependent,
        2 => Verdict::Undecided,
        100 => Verdict::Killed(KillReason::Output),
        101 => Verdict::Killed(KillReason::Exit),
        102 => Verdict::Killed(KillReason::Files),
        103 => Verdict::Killed(KillReason::Sanitizer),
        104 => Verdict::Killed(KillReason::Fuel),
        105 => Verdict::Killed(KillReason::Timeout),
        106 => Verdict::Killed(KillReason::Memory),
        107 => Verdict::Killed(KillReason::TooMuchOutput),
        CRASH.. => Verdict::Killed(KillReason::Crash(i32::try_from(code - CRASH).ok()?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_has_a_number_of_its_own() {
        let reasons = [
            KillReason::Output,
            KillReason::Exit,
            KillReason::Files,
            KillReason::Sanitizer,
            KillReason::Fuel,
            KillReason::Timeout,
            KillReason::Memory,
            KillReason::TooMuchOutput,
            KillReason::Crash(11),
        ];
        let verdicts = [Verdict::Survived, Verdict::LayoutDependent, Verdict::Undecided]
            .into_iter()
            .chain(reasons.map(Verdict::Killed));
        for verdict in verdicts {
            assert_eq!(decode(encode(verdict)), Some(verdict));
        }
        assert_eq!(decode(-1), None);
        assert_eq!(decode(i64::MAX), None);
    }
}
