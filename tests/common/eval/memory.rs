//! Bytes that invocations share, and scalars in bytes.

use super::EvalError;
use vyre::ir::{Program, Region, Scalar};

pub struct Shared<'a> {
    pub program: &'a Program,
    pub buffers: &'a mut [Vec<u8>],
    pub workgroup: &'a mut [Vec<u8>],
    pub immediates: &'a [u8],
}

impl Shared<'_> {
    pub fn bytes(&self, region: Region) -> &[u8] {
        match region {
            Region::Buffer(id) => &self.buffers[id.index()],
            Region::Workgroup(id) => &self.workgroup[id.index()],
            Region::Immediates => self.immediates,
            Region::Constant(id) => &self.program.constants[id.index()],
            Region::Private(_) => unreachable!("private arrays belong to the invocation"),
        }
    }

    pub fn bytes_mut(&mut self, region: Region) -> &mut [u8] {
        match region {
            Region::Buffer(id) => &mut self.buffers[id.index()],
            Region::Workgroup(id) => &mut self.workgroup[id.index()],
            _ => unreachable!("{region:?} is not shared and writable"),
        }
    }
}

fn place(memory: &[u8], at: u64, scalar: Scalar) -> Result<std::ops::Range<usize>, EvalError> {
    let size = u64::from(scalar.size());
    let end = at.checked_add(size);
    match end {
        Some(end) if end <= memory.len() as u64 && at.is_multiple_of(size) => {
            Ok(at as usize..end as usize)
        }
        _ => Err(EvalError::OutOfBounds(format!(
            "{scalar} at {at:#x} of {} bytes",
            memory.len()
        ))),
    }
}

pub fn load(memory: &[u8], at: u64, scalar: Scalar) -> Result<u64, EvalError> {
    let bytes = &memory[place(memory, at, scalar)?];
    Ok(bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
}

pub fn store(memory: &mut [u8], at: u64, scalar: Scalar, bits: u64) -> Result<(), EvalError> {
    let place = place(memory, at, scalar)?;
    let size = place.len();
    memory[place].copy_from_slice(&bits.to_le_bytes()[..size]);
    Ok(())
}
