//! A double of the CUDA driver: a `libcuda.so.1` without a GPU, that lets everything above the driver be tested.
//!
//! `VYRE_CUDA_DRIVER` names it. It keeps books as a driver does and refuses what a driver refuses: `memory` is host
//! memory behind addresses of a device, `stream` runs work in order and apart from its caller, `context` counts who
//! holds and who entered the device, `module` loads PTX text, and `ptx` really executes it. `calls` are the functions
//! with the driver's names; each passes through `entry`, where `fault` may make it fail as a script says, and
//! `control` is what a test asks for and sets.
//!
//! It models an H200 with less memory. What it does not model: time, caches, weak memory order (a store is seen at
//! once by all), fragmentation of memory, and code that is not PTX text.
#![allow(non_snake_case, reason = "the names are the driver's")]

mod calls;
mod context;
mod control;
mod entry;
mod fault;
mod handles;
mod memory;
mod module;
mod ptx;
mod stream;
