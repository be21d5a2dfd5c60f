//! IR to machine code.
//!
//! Each segment becomes one function that runs it for all invocations of a workgroup: `segment`
//! writes its frame (the loop, the slots, the vote), `block` the statements, `access` the memory
//! accesses, `expr` and `math` the computations, `lanes` knows how many invocations one emitted
//! value stands for. `subgroup` lets invocations stop one
//! by one and exchange values. `abi` is what emitted code and Rust agree on, `half` and `helpers` the
//! functions that it calls, `module` the executable memory.

pub mod abi;
mod access;
mod block;
mod expr;
pub mod half;
mod helpers;
mod lanes;
mod math;
mod module;
mod segment;
mod subgroup;

pub use module::{Code, compile};
