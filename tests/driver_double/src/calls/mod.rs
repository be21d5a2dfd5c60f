//! The functions with the driver's names.

mod device;
mod memory;
mod module;
mod pools;
mod stream;
