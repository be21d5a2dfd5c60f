//! PTX: `words` cuts text, `parse` and `instruction` make a module of it, whose instructions `code` holds ready to run, and `machine`
//! runs a grid of one of its kernels, each invocation for itself and in turns. `quick` does what is done most often;
//! all else `compute` and `warp` do, which the tests of the emitter share.

pub mod code;
#[path = "../../../ptx/compute.rs"]
mod compute;
mod instruction;
pub mod machine;
mod operand;
pub mod parse;
mod quick;
#[path = "../../../ptx/warp.rs"]
mod warp;
mod words;
