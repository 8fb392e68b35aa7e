//! Why a campaign cannot begin or go on, and what to try so that nothing of it is lost.

use super::presence::holds_campaign;
use crate::failure::{Failure, chain};
use cairn_campaign::CampaignError;
use cairn_store::{StoreError, is_disk_full};
use std::path::Path;

/// What a campaign in a folder ended of.
pub fn failure(error: &CampaignError, folder: &Path) -> Failure {
    match error {
        CampaignError::InUse { .. } => Failure::usage(chain(error)),
        CampaignError::Store(error) => store_failure(error, folder),
        error if error.is_disk_full() => disk_full(&chain(error), folder),
        // Before anything was stored.
        CampaignError::File { path, .. } if path == folder || path.ends_with(".lock") => {
            Failure::usage(chain(error)).hint("name a folder with `-o` that can be written to")
        }
        CampaignError::Worker { .. } | CampaignError::Run(_) => {
            let folder = folder.display();
            Failure::target(chain(error))
                .hint(format!("what was found is in `{folder}`; `cairn resume {folder}` tries again"))
        }
        error => Failure::target(chain(error)),
    }
}

/// Why the store in the folder of a campaign cannot be used. Inputs are files beside it, so they are not lost with it.
pub fn store_failure(error: &StoreError, folder: &Path) -> Failure {
    let text = chain(error);
    let corpus = folder.join("corpus");
    let corpus = corpus.display();
    match error {
        error if is_disk_full(error) => disk_full(&text, folder),
        StoreError::TooNew { .. } => Failure::usage(text)
            .hint(format!("use the newer Cairn, or begin a new campaign with `{corpus}` as seeds")),
        StoreError::Open { .. } | StoreError::Damaged { .. } => {
            Failure::usage(text).hint(format!("begin a new campaign with `{corpus}` as seeds"))
        }
        _ => Failure::target(text),
    }
}

fn disk_full(what: &str, folder: &Path) -> Failure {
    // Where even the store cannot be opened, `cairn run` says so when it has to be `cairn resume`.
    let has_begun = holds_campaign(folder).unwrap_or(false);
    let folder = folder.display();
    Failure::target(format!("the disk is full: {what}")).hint(match has_begun {
        true => format!("make room, then `cairn resume {folder}` goes on; what was told so far is stored"),
        false => "make room, then give the same command again".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_code::Exit;
    use cairn_store::{CampaignHead, Store};
    use std::io;

    #[test]
    fn a_full_disk_and_a_worker_that_dies_leave_something_to_go_on_with() {
        let write = |kind: io::ErrorKind| CampaignError::File {
            action: "write",
            path: "c/events.jsonl".into(),
            source: kind.into(),
        };
        let folder = tempfile::tempdir().unwrap();
        let full = || failure(&write(io::ErrorKind::StorageFull), folder.path());
        let hint = |failure: Failure| failure.hint.unwrap_or_default();
        assert!(
            full().message.starts_with("the disk is full: failed to write `c/events.jsonl`"),
            "{}",
            full()
        );
        assert!(hint(full()).contains("give the same command again"));
        let head = CampaignHead { map_hash: [0; 32], seed: 1, settings: String::new() };
        Store::open(&folder.path().join("campaign.db")).unwrap().begin_campaign(&head).unwrap();
        let resume = format!("`cairn resume {}`", folder.path().display());
        assert!(hint(full()).contains(&resume));
        assert_eq!(full().exit, Exit::Target);
        let other = failure(&write(io::ErrorKind::PermissionDenied), Path::new("c"));
        assert!(other.message.starts_with("failed to write"), "{other}");
        let died = CampaignError::Worker { worker: 0, times: 5, why: "x".into() };
        assert!(failure(&died, Path::new("c")).hint.is_some_and(|hint| hint.contains("`cairn resume c`")));
    }
}
