//! Cooperative compute programs: a whole grid that meets at a barrier, from C.
//!
//! Arrows point down only: `ffi -> backend -> {cpu, cuda} -> {plan, program, ir}` and `front -> ir`;
//! `ir` sees nobody but `error`, and nothing below `ffi` knows C.

#[cfg(not(panic = "unwind"))]
compile_error!("vyre catches panics at its C surface: build it with panic = \"unwind\"");

pub mod backend;
pub mod cpu;
pub mod cuda;
pub mod error;
pub mod ffi;
pub mod front;
pub mod ir;
pub mod log;
pub mod plan;
pub mod program;
