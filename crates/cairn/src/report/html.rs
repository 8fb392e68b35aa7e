//! The report of a campaign: one page that needs nothing else, not even a network.
//!
//! Everything it tells comes from outside and may be made to deceive: inputs, names in the source, what a sanitizer printed.
//! [`Page`] therefore takes text escaped and markup only as literals of ours, and the page forbids everything but its own
//! style and script ([`head`]).

mod chart;
mod corpus;
mod failures;
mod functions;
mod head;
mod mutants;
mod overview;
mod page;
mod work;

use crate::campaign::history::History;
use page::Page;

/// The whole page.
pub fn render(history: &History<'_>) -> String {
    let mut page = Page::default();
    head::open(&mut page, &history.command);
    overview::render(&mut page, history);
    chart::reached(&mut page, history);
    mutants::render(&mut page, history);
    failures::render(&mut page, history);
    functions::render(&mut page, history);
    work::render(&mut page, history);
    corpus::render(&mut page, history);
    head::close(&mut page);
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        campaign::{
            history::{FailingInput, KeptInput},
            mutant_history::MutantHistory,
            plan::Plan,
        },
        printable::Beginning,
        target::TargetArgs,
    };
    use cairn_campaign::CampaignConfig;
    use cairn_model::{
        Coverage, Ending, Entry, EntryId, Frame, Input, ProgramFailure, ProgramMap, Provenance,
    };
    use std::{collections::BTreeMap, time::Duration};

    const HOSTILE: &str = "</pre></td></script><script>alert(1)</script>\"'&\u{202e}";

    fn entry(id: u32, words: &str, input: &str) -> KeptInput {
        let provenance = Provenance {
            parent: id.checked_sub(1).map(EntryId),
            strategy: words.into(),
            made_by: words.into(),
            kept_for: words.into(),
            found_after: Duration::from_millis(u64::from(id)),
        };
        let nothing = Input::default();
        let entry =
            Entry { id: EntryId(id), input: nothing, provenance, hits: Vec::new(), fuel: 0, path_hash: 0 };
        let shown = Some(Beginning { text: input.into(), is_cut: true });
        KeptInput { entry, address: "0123456789abcdef0123456789abcdef".into(), file: None, shown }
    }

    /// Renders a campaign of a program without functions.
    fn page(change: impl FnOnce(&mut History<'_>)) -> String {
        let map = ProgramMap::default();
        let plan = Plan::new(&TargetArgs::default(), CampaignConfig::default()).unwrap();
        let mut history = History {
            map: &map,
            program: "prog".into(),
            command: "./prog".into(),
            directory: "/home".into(),
            folder: "campaign".into(),
            plan: &plan,
            entries: Vec::new(),
            failures: Vec::new(),
            moments: Vec::new(),
            work: BTreeMap::new(),
            warnings: Vec::new(),
            ended: None,
            coverage: Coverage::empty(&map),
            curve: Vec::new(),
            mutants: None,
        };
        change(&mut history);
        render(&history)
    }

    #[test]
    fn nothing_that_is_told_becomes_markup() {
        let n_tags = |page: &str, tag: &str| page.matches(tag).count();
        let harmless = page(|_| ());
        let hostile = page(|history| {
            let kept = entry(0, HOSTILE, HOSTILE);
            let failure = ProgramFailure {
                signature: HOSTILE.into(),
                ending: Ending::Forbidden { what: HOSTILE.into() },
                kind: HOSTILE.into(),
                stack: vec![Frame { function: HOSTILE.into(), file: Some(HOSTILE.into()), line: Some(1) }],
                report: HOSTILE.into(),
                input: Input { args: vec![HOSTILE.into()], ..Input::default() },
                provenance: kept.entry.provenance.clone(),
            };
            let file = Some(HOSTILE.into());
            history.failures.push(FailingInput { failure, file, replay: Some(HOSTILE.into()) });
            history.entries.push(kept);
            history.warnings.push(HOSTILE.into());
            history.work.insert(HOSTILE.into(), cairn_model::Spent::default());
            history.command = HOSTILE.into();
            history.folder = HOSTILE.into();
            history.directory = HOSTILE.into();
            let survivors = vec![HOSTILE.into()];
            history.mutants = Some(MutantHistory { n_mutants: 2, survivors, ..MutantHistory::default() });
        });
        assert_eq!(n_tags(&hostile, "<script"), n_tags(&harmless, "<script"));
        assert_eq!(n_tags(&hostile, "</script"), n_tags(&harmless, "</script"));
        assert!(hostile.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{202e}"));
        assert!(!hostile.contains('\u{202e}'));
    }

    #[test]
    fn thousands_of_long_inputs_make_a_page_that_still_opens() {
        let (words, input) = ("a few words of telling", "long <text> ".repeat(150));
        let page = page(|history| history.entries = (0..5000).map(|id| entry(id, words, &input)).collect());
        assert!(page.contains("id=\"e4999\""));
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
    }
}
