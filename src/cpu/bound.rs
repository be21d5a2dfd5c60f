//! The memory behind a dispatch's bindings: locks of resident buffers, copies of borrowed bytes.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::backend::CpuBackend;
use super::buffer::CpuBuffer;
use super::compiled::Compiled;
use super::emit::abi::BoundBuffer;
use super::memory::Memory;
use crate::backend::{Binding, BindingSource, Guards, Use};
use crate::error::{Error, Result, Status};
use crate::plan::Planned;

/// A borrowed binding's copy.
struct Lent {
    /// Index into the dispatch's bindings.
    binding: usize,
    memory: Memory,
    written: bool,
}

pub struct Bound {
    table: SmallVec<[BoundBuffer; 8]>,
    lent: SmallVec<[Lent; 4]>,
    _guards: Guards,
}

impl Bound {
    /// Locks what the program uses, in the order of the buffers' ids, and copies in what is borrowed.
    pub fn new(
        backend: &Arc<CpuBackend>,
        compiled: &Compiled,
        planned: &[Planned],
        bindings: &[Binding<'_>],
        wait: Duration,
    ) -> Result<Bound> {
        let mut table = SmallVec::new();
        let mut lent = SmallVec::new();
        let mut users: SmallVec<[Use<'_>; 8]> = SmallVec::new();
        for (plan, decl) in planned.iter().zip(&compiled.buffers) {
            let written = Compiled::is_written(decl);
            let base = match &bindings[plan.binding].source {
                BindingSource::Buffer { buffer, .. } => {
                    let buffer = own(backend, &**buffer, &decl.name)?;
                    users.push(Use {
                        lock: buffer.lock(),
                        written,
                    });
                    // SAFETY: the plan keeps offset + size within the buffer.
                    unsafe { buffer.as_ptr().add(plan.offset as usize) }
                }
                BindingSource::Host { input, .. } => {
                    let size = plan.size as usize;
                    let memory = backend.recycler().take(backend.counters(), size)?;
                    let base = memory.as_ptr();
                    match input {
                        Some(input) => {
                            let given = input.len().min(size);
                            // SAFETY: the copy has `size` bytes and is nobody else's; the source is lent to us.
                            unsafe { base.copy_from_nonoverlapping(input.as_ptr(), given) };
                            backend.counters().count_in(size as u64);
                        }
                        // SAFETY: the copy has `size` bytes and is nobody else's.
                        None => unsafe { base.write_bytes(0, size) },
                    }
                    lent.push(Lent {
                        binding: plan.binding,
                        memory,
                        written,
                    });
                    base
                }
            };
            table.push(BoundBuffer {
                base,
                length: decl.array_length(plan.size),
                padding: 0,
            });
        }
        let _guards = crate::backend::lock(users, wait)?;
        Ok(Bound {
            table,
            lent,
            _guards,
        })
    }

    /// In the order of the program's buffers.
    pub fn table(&self) -> &[BoundBuffer] {
        &self.table
    }

    /// Gives borrowed read_write bindings their results.
    pub fn copy_out(&mut self, backend: &CpuBackend, bindings: &mut [Binding<'_>]) {
        for lent in &self.lent {
            if let BindingSource::Host {
                output: Some(output),
                ..
            } = &mut bindings[lent.binding].source
                && lent.written
            {
                let size = output.len().min(lent.memory.len());
                // SAFETY: both hold `size` bytes; the output is lent to us and the copy is ours.
                unsafe {
                    output
                        .as_mut_ptr()
                        .copy_from_nonoverlapping(lent.memory.as_ptr(), size)
                };
                backend.counters().count_out(size as u64);
            }
        }
        for lent in self.lent.drain(..) {
            backend.recycler().give_back(lent.memory);
        }
    }
}

/// The buffer as one of this backend.
fn own<'b>(
    backend: &Arc<CpuBackend>,
    buffer: &'b dyn crate::backend::Buffer,
    name: &str,
) -> Result<&'b CpuBuffer> {
    buffer
        .as_any()
        .downcast_ref::<CpuBuffer>()
        .filter(|buffer| Arc::ptr_eq(buffer.backend(), backend))
        .ok_or_else(|| {
            Error::new(
                Status::InvalidHandle,
                format!("binding `{name}`: its buffer belongs to another backend than the program"),
            )
            .with_fix("Create the buffer on the backend that the program was loaded on.")
        })
}
