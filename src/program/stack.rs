//! A stack for compiling.

use crate::error::{Error, Result, Status};

/// Deeply nested programs recurse. Only pages that are touched cost memory.
const STACK_SIZE: usize = 256 << 20;

/// Runs `work` on a thread of its own, whose stack does not depend on the caller's.
pub fn on_a_large_stack<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("vyre-compile".into())
            .stack_size(STACK_SIZE)
            .spawn_scoped(scope, work)
            .map_err(|error| {
                Error::new(
                    Status::OutOfHostMemory,
                    format!("no thread to compile the program on: {error}"),
                )
                .with_native_code(error.raw_os_error().unwrap_or(0))
            })?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
