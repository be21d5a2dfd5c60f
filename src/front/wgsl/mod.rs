//! WGSL, through naga.

use super::Options;
use crate::error::{Error, Result, Status};
use crate::ir::Program;

/// Parses, validates and lowers one entry point.
pub fn compile(source: &str, options: &Options<'_>) -> Result<Program> {
    let _ = (source, options);
    Err(Error::new(
        Status::Unsupported,
        "WGSL lowering is under construction",
    ))
}
