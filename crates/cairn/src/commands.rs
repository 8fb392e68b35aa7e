//! The commands, one file each.

pub mod build;
pub mod check;
pub mod cover;
pub mod doctor;
pub mod experiment;
pub mod export;
pub mod init;
pub mod map;
pub mod minimize;
pub mod mutants;
pub mod record;
pub mod replay;
pub mod report;
pub mod resume;
pub mod run;
pub mod score;
pub mod seeds;
pub mod solve;
pub mod trace;
