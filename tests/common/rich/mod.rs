//! Random valid WGSL programs over all kinds of types, from a seed; each in many forms.
//!
//! What a program computes follows from the seed alone. How it is written follows from the *style* as well: `a += b` or
//! `a = a + b`, a `switch` or a chain of `if`s, a variable of its own or a member of a structure, by a pointer or not. All
//! forms give the same bytes, which tests the front end; the evaluator and the backends agree on each, which tests them.
//!
//! No race by construction: each invocation touches only its own elements of what others may see, but between two
//! barriers at the top level of the entry point, where everyone may read and nobody writes. Floats are
//! computed by operations that WGSL defines exactly. What is stored outside or turned into bits is no NaN, because nothing
//! says which one it would be.
//!
//! `types` knows types and their layout, `names` what is in scope, `places` reads and writes parts of variables, `values` and
//! `functions` write expressions, `statements` and `flow` write statements, `program` all around them.

mod flow;
mod functions;
mod names;
mod places;
mod program;
#[path = "../generate/random.rs"]
mod random;
mod statements;
mod types;
mod values;

use program::Writer;
use random::Random;

/// A program and the grid it is for.
pub struct Case {
    pub source: String,
    pub workgroups: [u32; 3],
}

/// Elements of every runtime-sized array: one for each invocation, or of the read-only ones.
pub const ELEMENTS: u32 = 48;

/// Workgroup sizes and counts; at most `ELEMENTS` invocations in all.
const GRIDS: [([u32; 3], [u32; 3]); 6] = [
    ([4, 2, 1], [3, 2, 1]),
    ([8, 1, 1], [6, 1, 1]),
    ([1, 1, 1], [5, 1, 1]),
    ([33, 1, 1], [1, 1, 1]),
    ([2, 2, 2], [2, 1, 2]),
    ([5, 1, 3], [1, 3, 1]),
];

/// The program of a seed, written in one style.
pub fn generate(seed: u64, style: u64) -> Case {
    let mut random = Random::new(seed);
    let (size, workgroups) = *random.pick(&GRIDS);
    let style = Random::new(seed ^ (style + 1).wrapping_mul(0x1234_5678_9abc_def1));
    let source = Writer::new(random, style, size).program();
    Case { source, workgroups }
}

/// The first bytes of a buffer: every word another, and each a number, also where two halves are read as f16.
pub fn contents(seed: u64, binding: usize, size: usize) -> Vec<u8> {
    let mut random = Random::new(seed ^ (binding as u64 + 7) << 40);
    let mut word = || match random.below(3) {
        0 => random.below(20) as u32,
        // Small floats, of both signs and not round.
        1 => (random.next() as u32 & 0x83ff_83ff) | 0x3c00_3c00,
        _ => random.next() as u32 & 0xbbff_bbff,
    };
    let words = size.div_ceil(4);
    let mut bytes: Vec<u8> = (0..words).flat_map(|_| word().to_le_bytes()).collect();
    bytes.truncate(size);
    bytes
}
