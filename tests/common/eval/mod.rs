//! A plain evaluator of the IR: the oracle that backends are held against.
//!
//! It shares nothing with a backend but the IR's types. `invocation` walks the tree with a stack of
//! its own, so that it can stop at a barrier; `grid` runs invocations one after the other from barrier to barrier;
//! `subgroup` is what neighbours exchange, `memory` does accesses; `ops`, `float` and `math` compute on bit patterns.

mod float;
mod grid;
mod invocation;
mod math;
mod memory;
mod ops;
mod subgroup;

pub use grid::run;

/// As the CPU backend has it.
pub const SUBGROUP_SIZE: u32 = 32;

/// Nodes that one invocation may run between two barriers.
const STEP_LIMIT: u64 = 10_000_000;

#[derive(Clone, Debug, PartialEq)]
pub enum EvalError {
    /// Those who should meet at a barrier are at different places.
    Disagreement(String),
    /// An access without guard, or with a true one, misses its region.
    OutOfBounds(String),
    StepLimit,
}
