//! Published heuristics, one a file.

mod breadth_first;
mod context_guided;
mod control_flow_directed;
mod depth_first;
mod generational;
mod last_path;
mod nearest_uncovered;
mod random_branch;
mod random_path;

pub use self::{
    breadth_first::BreadthFirst, context_guided::ContextGuided, control_flow_directed::ControlFlowDirected,
    depth_first::DepthFirst, generational::Generational, nearest_uncovered::NearestUncovered,
    random_branch::RandomBranch, random_path::RandomPath,
};
