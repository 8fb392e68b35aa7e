//! `events.jsonl`.

use crate::{error::CampaignError, event::Event};
use cairn_store::{Store, StoreError};
use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Duration,
};

/// Appends events, each whole.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    /// Bytes of whole lines.
    length: u64,
}

impl Journal {
    /// Goes on behind the last whole line: a process that was killed may have left a part of one.
    pub(crate) fn open(path: &Path) -> Result<Self, CampaignError> {
        let failed = |source| CampaignError::File { action: "open", path: path.to_path_buf(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let length = whole as u64;
        file.set_len(length).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { file, path: path.to_path_buf(), length })
    }

    /// Appends one. If that fails, nothing of it is left: the next one may find room.
    pub(crate) fn write(&mut self, event: &Event) -> Result<(), CampaignError> {
        let mut line = serde_json::to_vec(event).expect("an event is always JSON");
        line.push(b'\n');
        let written = self.file.write_all(&line);
        match &written {
            Ok(()) => self.length += line.len() as u64,
            Err(_) => {
                let _ = self.file.set_len(self.length).and_then(|()| self.file.seek(SeekFrom::End(0)));
            }
        }
        written.map_err(|source| CampaignError::File { action: "write", path: self.path.clone(), source })
    }
}

/// How long a campaign has worked: until the last moment that was noted, or the last event in the journal at `path`.
pub fn worked(store: &Store, path: &Path) -> Result<Duration, StoreError> {
    let noted = store.moments()?.last().map_or(Duration::ZERO, |moment| moment.after);
    let text = std::fs::read(path).unwrap_or_default();
    let mut lines = text.rsplit(|byte| *byte == b'\n');
    // Behind the last whole line is nothing, or a part of one.
    let told = lines.find_map(|line| serde_json::from_slice::<Event>(line).ok());
    Ok(noted.max(told.map_or(Duration::ZERO, |event| Duration::from_millis(event.after_ms))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    #[test]
    fn half_a_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let event = Event { after_ms: 5, kind: EventKind::Warned { text: "x".into() } };
        Journal::open(&path).unwrap().write(&event).unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"after_").unwrap();
        let store = Store::open(&folder.path().join("campaign.db")).unwrap();
        assert_eq!(worked(&store, &path).unwrap(), Duration::from_millis(5));
        Journal::open(&path).unwrap().write(&event).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let line = "{\"after_ms\":5,\"event\":\"warned\",\"text\":\"x\"}\n";
        assert_eq!(text, line.repeat(2));
    }
}
