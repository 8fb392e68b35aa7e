//! From whole-program bitcode to the program map and the views.
//!
//! [`ir`] reads the bitcode into plain data. [`structure`] cuts functions into blocks that are executed as a
//! whole, [`join`] finds the source condition behind each branch with the help of front-end facts, and
//! [`mapping`] assembles the [`ProgramMap`](cairn_model::ProgramMap) together with a [`plan`]: where each counter
//! goes. [`lower`] carries the plan out on a fresh copy of the bitcode, and [`emit`] optimises it, adds [`fuel`] and
//! writes objects. [`anchors`] finds expressions in the bitcode, and [`mutate`] builds mutants of them into the
//! mutant view. [`basic_paths`] counts whole ways through functions instead of branches.
//!
//! Only `ir`, `lower`, `mutate`, `emit` and the inserting halves of `fuel` and `basic_paths` know LLVM. Everything between is
//! decided on plain data, so that one decision holds for every view.

pub mod anchors;
pub mod basic_paths;
pub mod emit;
pub mod fuel;
pub mod ir;
pub mod join;
pub mod lower;
pub mod mapping;
pub mod mutate;
pub mod plan;
pub mod returns;
pub mod scope;
pub mod shape;
pub mod structure;
pub mod symbolic;
