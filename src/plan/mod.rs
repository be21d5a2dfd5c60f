//! What a dispatch needs, checked once, for any backend.
//!
//! `bind` matches what the caller bound with what the program declares; `launch` settles the grid. Both
//! find everything that is wrong with a call before anything runs, and neither touches a byte.

mod bind;
mod launch;

pub use bind::{OFFSET_ALIGNMENT, Planned, bind, bind_onto};
pub use launch::{LaunchPlan, launch};
