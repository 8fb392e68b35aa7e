//! What the front end knows about a translation unit, read with libclang.
