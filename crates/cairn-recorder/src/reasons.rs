//! Why a call was not kept, and what an input lacks.
//!
//! The texts are counted and shown as they are, so they name no particular file.

/// Why a call became no input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeftOut {
    /// Standard input, or a file named by an argument.
    #[error("standard input and named files have more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// Standard input is a folder or a device.
    #[error("standard input is neither a file, a pipe, a terminal nor `/dev/null`")]
    StrangeStandardInput,
    /// Another name of a program with many.
    #[error("called by another name than `{wanted}`")]
    OtherName {
        /// The name asked for.
        wanted: String,
    },
    /// The input could not be written down.
    #[error("failed to write the input: {0}")]
    Unwritable(String),
}

/// What an input lacks of the call it was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Note {
    /// The writer of the pipe had not closed it.
    #[error("standard input was still open and empty; recorded as empty")]
    StandardInputOpen,
    /// The writer of the pipe had not closed it, but had written something.
    #[error("standard input was still open; only its beginning is recorded")]
    StandardInputCut,
    /// The sweep of the working folder was given up.
    #[error("the working folder holds more than the limits allow; only named files are recorded")]
    FolderTooLarge,
    /// A named folder holds too much.
    #[error("a named folder holds more than the limits allow; it is recorded empty")]
    NamedFolderTooLarge,
    /// A named file or folder elsewhere holds too much, or lies above the working folder.
    #[error("a named path outside the working folder is not recorded")]
    OutsideLeftOut,
    /// A symbolic link leads out of the working folder.
    #[error("a named link leads out of the working folder; where it leads is not recorded")]
    LinkLeadsOut,
    /// Sockets and devices.
    #[error("a socket or device is not recorded")]
    SpecialFile,
    /// Paths in an input are text.
    #[error("a file whose name is not UTF-8 is not recorded")]
    NameIsNoText,
    /// The recorder may not read it, so presumably the program may not either.
    #[error("a file that cannot be read is recorded empty")]
    Unreadable,
    /// Settings in an input are text.
    #[error("a locale or time zone that is not UTF-8 is not recorded")]
    VariableIsNoText,
}
