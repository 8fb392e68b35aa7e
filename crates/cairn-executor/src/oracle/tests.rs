use super::*;
use cairn_model::input::Bytes;
use std::{cell::Cell, collections::BTreeMap, time::Duration};

fn captured(text: &str) -> Captured {
    Captured { bytes: Bytes(text.as_bytes().to_vec()), total: text.len() as u64 }
}

fn cut(text: &str) -> Captured {
    Captured { total: 1000, ..captured(text) }
}

fn outcome() -> Outcome {
    Outcome {
        ending: Ending::Exited { code: 0 },
        stdout: captured("one\n"),
        stderr: captured("at 0x1234"),
        files: BTreeMap::from([("out".into(), written("content"))]),
        files_cut: false,
        harness_return: None,
        harness_output: Captured::default(),
        reached_main: Some(true),
        elapsed: Duration::ZERO,
    }
}

fn written(text: &str) -> FileChange {
    FileChange::Written { content: captured(text), mode: 0o644 }
}

fn ending(ending: Ending) -> Outcome {
    Outcome { ending, ..outcome() }
}

fn masks(parts: &[&str]) -> Masks {
    Masks { parts: parts.iter().map(|part| (*part).to_string()).collect() }
}

fn verdict(mutant: Outcome) -> Verdict {
    verdict_masked(mutant, &[])
}

fn verdict_masked(mutant: Outcome, masked: &[&str]) -> Verdict {
    Reference { oracle: &Oracle::default(), original: &outcome(), masks: &masks(masked) }.verdict(&mutant)
}

#[test]
fn each_way_to_differ_is_told_apart() {
    let killed = |mutant, reason| assert_eq!(verdict(mutant), Verdict::Killed(reason));
    assert_eq!(verdict(outcome()), Verdict::Survived);
    killed(Outcome { stdout: captured("two\n"), ..outcome() }, KillReason::Output);
    killed(Outcome { stdout: captured("one\nmore"), ..outcome() }, KillReason::Output);
    killed(Outcome { harness_return: Some(1), ..outcome() }, KillReason::Output);
    killed(ending(Ending::Exited { code: 1 }), KillReason::Exit);
    killed(ending(Ending::AssumptionFailed), KillReason::Exit);
    killed(ending(Ending::Signalled { signal: 11 }), KillReason::Crash(11));
    killed(ending(Ending::OutOfFuel), KillReason::Fuel);
    killed(ending(Ending::TimedOut), KillReason::Timeout);
    killed(ending(Ending::OutOfMemory), KillReason::Memory);
    killed(ending(Ending::TooMuchOutput), KillReason::TooMuchOutput);
    killed(Outcome { files: BTreeMap::new(), ..outcome() }, KillReason::Files);
    let other = BTreeMap::from([("out".into(), written("CONTENT"))]);
    killed(Outcome { files: other, ..outcome() }, KillReason::Files);
}

#[test]
fn standard_error_counts_only_where_it_is_asked_for() {
    let mutant = Outcome { stderr: captured("at 0x5678"), ..outcome() };
    assert_eq!(verdict(mutant.clone()), Verdict::Survived);
    let oracle = Oracle { stderr: true, ..Oracle::default() };
    assert_eq!(oracle.judge(&outcome(), &mutant, &Masks::default()), Some(KillReason::Output));
}

#[test]
fn parts_that_do_not_count_do_not_kill() {
    let oracle =
        Oracle { exit: false, stdout: false, files: false, harness_return: false, ..Oracle::default() };
    let mutant = Outcome {
        ending: Ending::Exited { code: 3 },
        stdout: captured("x"),
        files: BTreeMap::new(),
        harness_return: Some(4),
        ..outcome()
    };
    assert_eq!(oracle.judge(&outcome(), &mutant, &Masks::default()), None);
    let crash = ending(Ending::Signalled { signal: 6 });
    assert_eq!(oracle.judge(&outcome(), &crash, &Masks::default()), Some(KillReason::Crash(6)));
}

#[test]
fn what_the_sandbox_ends_is_not_decided() {
    assert_eq!(verdict(ending(Ending::Forbidden { what: "socket".into() })), Verdict::Undecided);
    assert_eq!(verdict(ending(Ending::GuidepostBroken)), Verdict::Undecided);
}

#[test]
fn cut_output_is_no_kill_by_itself() {
    let long = |stdout| Outcome { stdout, ..outcome() };
    let judge = |original: &Outcome, mutant: &Outcome| {
        Reference { oracle: &Oracle::default(), original, masks: &Masks::default() }.verdict(mutant)
    };
    assert_eq!(judge(&long(cut("one\n")), &long(cut("one\n"))), Verdict::Undecided);
    assert_eq!(judge(&outcome(), &long(cut("one\n"))), Verdict::Undecided);
    let different = judge(&long(cut("one\n")), &long(cut("two\n")));
    assert_eq!(different, Verdict::Killed(KillReason::Output), "what was kept differs");
    let crash = Outcome { ending: Ending::Signalled { signal: 8 }, ..long(cut("one\n")) };
    assert_eq!(judge(&long(cut("one\n")), &crash), Verdict::Killed(KillReason::Crash(8)));
    let many = Outcome { files_cut: true, files: BTreeMap::new(), ..outcome() };
    assert_eq!(judge(&outcome(), &many), Verdict::Undecided);
}

#[test]
fn masked_parts_do_not_kill() {
    let other_output = Outcome { stdout: captured("two\n"), ..outcome() };
    assert_eq!(verdict_masked(other_output.clone(), &["stdout"]), Verdict::Survived);
    assert_eq!(verdict_masked(other_output, &["stderr"]), Verdict::Killed(KillReason::Output));
    let no_file = Outcome { files: BTreeMap::new(), ..outcome() };
    assert_eq!(verdict_masked(no_file.clone(), &["file out"]), Verdict::Survived);
    assert_eq!(verdict_masked(no_file, &["file other"]), Verdict::Killed(KillReason::Files));
    let exit = ending(Ending::Exited { code: 9 });
    assert_eq!(verdict_masked(exit, &["stdout", "coverage"]), Verdict::Killed(KillReason::Exit));
}

#[test]
fn an_original_that_goes_wrong_kills_nothing() {
    let oracle = Oracle::default();
    let check = |original: &Outcome, masked: &[&str]| oracle.check(original, &masks(masked));
    assert_eq!(check(&outcome(), &["stdout"]), Ok(()));
    assert_eq!(check(&outcome(), &["ending"]), Err(Unusable::Unstable));
    for (original, why) in [
        (Ending::Signalled { signal: 11 }, Unusable::Crashes(11)),
        (Ending::TimedOut, Unusable::Hangs),
        (Ending::OutOfFuel, Unusable::Hangs),
        (Ending::OutOfMemory, Unusable::Memory),
        (Ending::AssumptionFailed, Unusable::Assumption),
        (Ending::Forbidden { what: "bpf".into() }, Unusable::Forbidden("bpf".into())),
    ] {
        let original = ending(original);
        assert_eq!(check(&original, &[]), Err(why));
        let mutant = Outcome { stdout: captured("else"), ..outcome() };
        assert_eq!(oracle.judge(&original, &mutant, &Masks::default()), None);
    }
}

fn told(original: &Outcome, oracle: Oracle, masked: &[&str]) -> Vec<(String, Vec<u8>)> {
    let masks = masks(masked);
    let mut told = Vec::new();
    let reference = Reference { oracle: &oracle, original, masks: &masks };
    reference.tell_parts(|name, bytes| told.push((name.to_owned(), bytes.to_vec())));
    told
}

#[test]
fn what_is_told_of_the_original_changes_with_the_parts_that_count_and_with_no_others() {
    let usual = |original: &Outcome| told(original, Oracle::default(), &[]);
    let same = [
        Outcome { stderr: captured("at 0x5678"), ..outcome() },
        Outcome { elapsed: Duration::from_secs(7), ..outcome() },
        Outcome { reached_main: None, ..outcome() },
    ];
    for original in same {
        assert_eq!(usual(&original), usual(&outcome()));
    }
    let written = |text: &str, mode| {
        BTreeMap::from([("out".into(), FileChange::Written { content: captured(text), mode })])
    };
    let different = [
        ending(Ending::Exited { code: 1 }),
        Outcome { stdout: captured("two\n"), ..outcome() },
        Outcome { stdout: cut("one\n"), ..outcome() },
        Outcome { harness_return: Some(0), ..outcome() },
        Outcome { harness_output: captured("x"), ..outcome() },
        Outcome { files: BTreeMap::new(), ..outcome() },
        Outcome { files: written("content", 0o600), ..outcome() },
        Outcome { files: written("other", 0o644), ..outcome() },
        Outcome { files: BTreeMap::from([("out".into(), FileChange::Folder)]), ..outcome() },
        Outcome { files_cut: true, ..outcome() },
    ];
    for original in different {
        assert_ne!(usual(&original), usual(&outcome()), "{original:?}");
    }
}

#[test]
fn of_masked_parts_only_the_names_are_told() {
    let (one, other) = (outcome(), Outcome { stdout: captured("two\n"), ..outcome() });
    let usual = Oracle::default();
    assert_eq!(told(&one, usual, &["stdout"]), told(&other, usual, &["stdout"]));
    assert_ne!(told(&one, usual, &["stdout"]), told(&one, usual, &[]), "a mask decides verdicts, too");
    assert_eq!(told(&one, usual, &["stderr"]), told(&one, usual, &[]), "nobody looks at it");
    let blind = Oracle { stdout: false, ..usual };
    assert_eq!(told(&one, blind, &[]), told(&other, blind, &[]));
    let no_file = Outcome { files: BTreeMap::new(), ..outcome() };
    assert_eq!(told(&one, usual, &["file out"]), told(&no_file, usual, &["file out"]));
    assert_ne!(told(&one, usual, &["file out"]), told(&one, usual, &[]));
}

const REPORT: &str = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602";

#[test]
fn reports_of_sanitizers_are_recognised() {
    let report = |ending, text: &str| Outcome { ending, stderr: captured(text), ..outcome() };
    let exited = Ending::Exited { code: 1 };
    let killed = Verdict::Killed(KillReason::Sanitizer);
    assert_eq!(verdict(report(exited.clone(), REPORT)), killed);
    assert_eq!(verdict(report(Ending::Signalled { signal: libc::SIGABRT }, REPORT)), killed);
    let undefined = "x.c:3:5: runtime error: signed integer overflow\n";
    assert_eq!(verdict(report(exited.clone(), undefined)), killed);
    let own_words = "awk: runtime error: no program\n";
    assert_eq!(verdict(report(exited, own_words)), Verdict::Killed(KillReason::Exit));
    let segfault = Ending::Signalled { signal: libc::SIGSEGV };
    assert_eq!(verdict(report(segfault, REPORT)), Verdict::Killed(KillReason::Crash(11)));
    let original = Outcome { ending: Ending::Exited { code: 1 }, stderr: captured(REPORT), ..outcome() };
    assert_eq!(Oracle::default().check(&original, &Masks::default()), Err(Unusable::Sanitizer));
}

#[test]
fn a_users_comparison_has_the_last_word_on_the_output() {
    let n_calls = Cell::new(0);
    let judge = |mutant: &Outcome, answer: Compared| {
        let reference =
            Reference { oracle: &Oracle::default(), original: &outcome(), masks: &Masks::default() };
        let judged = reference.judge_with(mutant, |original, mutant| {
            n_calls.set(n_calls.get() + 1);
            assert_eq!((original, mutant), (b"one\n".as_slice(), b"ONE\n".as_slice()));
            Ok(answer.clone())
        });
        judged.unwrap()
    };
    let loud = Outcome { stdout: captured("ONE\n"), ..outcome() };
    assert_eq!(judge(&loud, Compared::Same), Judged::Verdict(Verdict::Survived));
    assert_eq!(judge(&loud, Compared::Different), Judged::Verdict(Verdict::Killed(KillReason::Output)));
    let failure =
        CompareFailure { ending: Ending::Signalled { signal: 11 }, message: "no such luck\nat all".into() };
    assert_eq!(failure.to_string(), "the comparison died of signal 11: no such luck");
    assert_eq!(judge(&loud, Compared::Failed(failure.clone())), Judged::CompareFailed(failure));
    assert_eq!(n_calls.get(), 3);
    let also_exit = Outcome { ending: Ending::Exited { code: 2 }, ..loud.clone() };
    assert_eq!(judge(&also_exit, Compared::Same), Judged::Verdict(Verdict::Killed(KillReason::Exit)));
    assert_eq!(judge(&outcome(), Compared::Different), Judged::Verdict(Verdict::Survived));
    let long = Outcome { stdout: cut("ONE\n"), ..outcome() };
    assert_eq!(judge(&long, Compared::Different), Judged::Verdict(Verdict::Undecided));
    assert_eq!(n_calls.get(), 3, "equal or cut output is not compared");
}

#[test]
fn crashes_files_and_hangs_are_confirmed() {
    assert!(needs_confirmation(KillReason::Crash(6)) && needs_confirmation(KillReason::Files));
    assert!(needs_confirmation(KillReason::Fuel) && needs_confirmation(KillReason::Timeout));
    assert!(!needs_confirmation(KillReason::Output) && !needs_confirmation(KillReason::Exit));
}
