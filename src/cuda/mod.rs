//! The CUDA backend. Arrows: `cuda -> {plan, program, ir}`; `cpu` and `cuda` never see each other.
//!
//! `ptx` turns a program into PTX text, which the driver or ptxas assembles.

mod capabilities;
mod context;
mod device;
pub mod driver;
pub mod ptx;
mod stream;
