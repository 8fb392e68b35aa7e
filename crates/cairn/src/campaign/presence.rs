//! Whether a folder holds a campaign.

use cairn_store::{Store, StoreError};
use std::path::Path;

/// Whether a folder holds a campaign: one is there from when the store has what was asked of it. The file alone may be what a
/// full disk or a kill has left.
pub fn holds_campaign(folder: &Path) -> Result<bool, StoreError> {
    let path = folder.join("campaign.db");
    if !path.exists() {
        return Ok(false);
    }
    Ok(Store::open(&path)?.campaign()?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_store::CampaignHead;
    use std::fs;

    #[test]
    fn a_store_without_a_plan_is_no_campaign() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!holds_campaign(folder.path()).unwrap());
        let path = folder.path().join("campaign.db");
        assert!(!path.exists(), "looking leaves nothing");
        fs::write(&path, "").unwrap();
        assert!(!holds_campaign(folder.path()).unwrap());
        let head = CampaignHead { map_hash: [0; 32], seed: 1, settings: String::new() };
        Store::open(&path).unwrap().begin_campaign(&head).unwrap();
        assert!(holds_campaign(folder.path()).unwrap());
    }
}
