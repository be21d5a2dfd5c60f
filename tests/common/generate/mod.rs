//! Random valid WGSL programs with one result, from a seed.
//!
//! Integers and bools, nested control flow, both barriers, workgroup memory, private arrays, helper
//! functions. No race by construction: outside of an *exchange* each invocation touches only its own elements of
//! what others see; an exchange is framed by two barriers, and inside it everyone may read and nobody write.
//! Atomics on shared elements are of one commutative kind for the whole program, and their results are dropped. Every
//! loop counts. `names` knows the variables and who agrees on them, `expressions` and `statements` write.

mod expressions;
mod names;
mod random;
mod statements;

use random::Random;
use statements::Writer;

/// A program, the grid it is for and what its buffers hold at first, by binding.
pub struct Case {
    pub source: String,
    pub workgroups: [u32; 3],
    pub buffers: Vec<Vec<u32>>,
}

/// Elements of the read-only buffer.
pub const INPUTS: u32 = 64;
/// Elements of the shared counters.
pub const COUNTERS: u32 = 7;
/// Words of output that an invocation owns.
pub const OUTPUTS: u32 = 6;

/// Workgroup sizes and counts.
const GRIDS: [([u32; 3], [u32; 3]); 6] = [
    ([4, 2, 1], [3, 2, 1]),
    ([8, 1, 1], [17, 1, 1]),
    ([1, 1, 1], [5, 1, 1]),
    ([33, 1, 1], [2, 1, 1]),
    ([2, 2, 2], [2, 1, 2]),
    ([5, 1, 3], [1, 4, 1]),
];

/// `is_wild`: some conditions differ between invocations where barriers need them not to. Such a program
/// may race, but it does the same wherever invocations run one after the other in their order.
pub fn generate(seed: u64, is_wild: bool) -> Case {
    let mut random = Random::new(seed);
    let (size, workgroups) = *random.pick(&GRIDS);
    let total: u32 = size.iter().chain(&workgroups).product();
    let mut words = |count: u32| (0..count).map(|_| random.word()).collect::<Vec<_>>();
    let buffers = vec![
        words(INPUTS),
        words(total * OUTPUTS),
        words(total),
        words(total * 2),
        words(COUNTERS),
        words(total),
    ];
    let source = Writer::new(random, size, is_wild).program();
    Case {
        source,
        workgroups,
        buffers,
    }
}
