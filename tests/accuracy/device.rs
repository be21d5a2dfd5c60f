//! Computes one expression for arrays of operands, on the backend under test.

use std::sync::Arc;

use vyre::backend::{Backend, ProgramFlags};

use super::format::Format;
use crate::harness;

/// The types of operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Float(Format),
    I32,
    U32,
    I64,
    U64,
    /// Two f16 in a u32.
    Halves,
}

impl Type {
    pub fn name(self) -> &'static str {
        match self {
            Type::Float(format) => format.name(),
            Type::I32 => "i32",
            Type::U32 | Type::Halves => "u32",
            Type::I64 => "i64",
            Type::U64 => "u64",
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Type::Float(format) => format.bits(),
            Type::I32 | Type::U32 | Type::Halves => 32,
            Type::I64 | Type::U64 => 64,
        }
    }

    fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// For messages.
    pub fn show(self, bits: u64) -> String {
        match self {
            Type::Float(format) => format!("{:e}", format.decode(bits)),
            Type::I32 => (bits as u32).cast_signed().to_string(),
            Type::I64 => bits.cast_signed().to_string(),
            Type::U32 | Type::U64 => bits.to_string(),
            Type::Halves => format!("{bits:#010x}"),
        }
    }
}

/// The bits of operands: one array for each of `a`, `b`, and so on.
pub struct Columns {
    pub types: Vec<Type>,
    pub values: Vec<Vec<u64>>,
}

impl Columns {
    pub fn len(&self) -> usize {
        self.values[0].len()
    }

    pub fn row(&self, at: usize) -> Vec<u64> {
        self.values.iter().map(|column| column[at]).collect()
    }
}

/// The name of an operand.
pub fn name(at: usize) -> char {
    char::from(b'a' + at as u8)
}

fn words(ty: Type, values: &[u64]) -> Vec<u32> {
    let mut bytes: Vec<u8> = (values.iter())
        .flat_map(|value| value.to_le_bytes().into_iter().take(ty.size()))
        .collect();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let word = |b: &[u8]| u32::from_ne_bytes(b.try_into().expect("4 bytes"));
    bytes.chunks_exact(4).map(word).collect()
}

fn values(ty: Type, words: &[u32]) -> Vec<u64> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    (bytes.chunks_exact(ty.size()))
        .map(|chunk| {
            let mut whole = [0; 8];
            whole[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(whole)
        })
        .collect()
}

/// The bits of the results, or why the program does not load.
pub fn compute(
    backend: &Arc<dyn Backend>,
    expression: &str,
    result: Type,
    columns: &Columns,
) -> Result<Vec<u64>, String> {
    const WORKGROUP: usize = 64;
    let count = columns.len();
    let mut declared = String::new();
    let mut body = String::new();
    for (at, ty) in columns.types.iter().enumerate() {
        let (name, ty) = (name(at), ty.name());
        declared += &format!("@group(0) @binding({at}) var<storage, read> {name}_: array<{ty}>;\n");
        body += &format!("let {name} = {name}_[id.x];\n");
    }
    let last = columns.types.len();
    let text = format!(
        "enable f16;
        {declared}
        @group(0) @binding({last}) var<storage, read_write> out: array<{}>;
        @compute @workgroup_size({WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
          if id.x < {count} {{ {body} out[id.x] = {expression}; }}
        }}",
        result.name(),
    );
    let program = harness::try_load(backend, &text, ProgramFlags::default())
        .map_err(|error| harness::report(&error))?;
    let mut buffers: Vec<_> = (columns.types.iter().zip(&columns.values))
        .map(|(&ty, values)| harness::buffer(backend, &words(ty, values)))
        .collect();
    let room = vec![0x5a5a_5a5a; (count * result.size()).div_ceil(4)];
    buffers.push(harness::buffer(backend, &room));
    let workgroups = [count.div_ceil(WORKGROUP) as u32, 1, 1];
    harness::try_run(&program, harness::dispatch(workgroups, &buffers))
        .unwrap_or_else(|error| panic!("{expression}: {}", harness::report(&error)));
    let mut results = values(result, &harness::words(&buffers[last]));
    results.truncate(count);
    Ok(results)
}
