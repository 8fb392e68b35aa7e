//! A folder of inputs, named by their content.

use crate::{error::StoreError, input_file};
use cairn_model::{Input, Template};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A folder of inputs, each in a file named by its address, in the form of [`input_file`].
#[derive(Clone, Debug)]
pub struct CorpusFolder {
    path: PathBuf,
    template: Template,
}

impl CorpusFolder {
    /// The folder at `path`, made if needed.
    pub fn open(path: PathBuf, template: Template) -> Result<Self, StoreError> {
        fs::create_dir_all(&path).map_err(failed("make the folder", &path))?;
        Ok(Self { path, template })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an input unless it is there; something else with its name is replaced. A file with its name is whole at any moment.
    pub fn save(&self, input: &Input) -> Result<PathBuf, StoreError> {
        let (name, bytes) = input_file::encode(input, &self.template);
        let path = self.path.join(&name);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(path);
        }
        let draft = self.path.join(format!(".{name}.new"));
        fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, &path)).map_err(|error| {
            // On a full disk half an input would take room from what is worth keeping.
            let _ = fs::remove_file(&draft);
            failed("write the input", &path)(error)
        })?;
        Ok(path)
    }

    /// Reads the input with this address; nothing else will do.
    pub fn load(&self, address: &str) -> Result<Input, StoreError> {
        let path = self.path_of(address);
        let bytes = fs::read(&path).map_err(failed("read the input", &path))?;
        let input = input_file::decode(&path, bytes, &self.template)?;
        if input.address() != address {
            return Err(StoreError::Changed { path });
        }
        Ok(input)
    }

    /// Where the input with this address lies, if it is there.
    pub fn path_of(&self, address: &str) -> PathBuf {
        let raw = self.path.join(address);
        if raw.exists() { raw } else { self.path.join(format!("{address}.json")) }
    }

    /// How many inputs are there; none where that cannot be told.
    pub fn n_inputs(&self) -> usize {
        let names = fs::read_dir(&self.path).into_iter().flatten().flatten().map(|file| file.file_name());
        names.filter(|name| !name.as_encoded_bytes().starts_with(b".")).count()
    }

    /// Removes an input, if it is there.
    pub fn remove(&self, input: &Input) -> Result<(), StoreError> {
        let path = self.path.join(input_file::encode(input, &self.template).0);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove the input", &path)(error))
            }
            _ => Ok(()),
        }
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError + use<> {
    let path = path.to_path_buf();
    move |source| StoreError::File { action, path: path.clone(), source }
}
