//! libclang, opened at run time and wrapped so that the rest of the crate is safe code.

mod cursor;
mod library;
mod unit;

pub use self::{
    cursor::{Cursor, Location, Type},
    library::Library,
    unit::{File, Unit},
};
