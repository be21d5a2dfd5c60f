//! From a program to PTX text.
//!
//! `abi` is what the kernel and those who launch it agree on. `target` says for which machine, `text`
//! holds the lines and registers, and `emitter` what is known while they are written. `entry` frames the
//! kernel, `control` walks the statements, `memory` and `atomic` reach memory (`index` and `align` know what
//! addresses are made of, `low` makes those of shared memory), `expr`, `divide`, `convert`, `math`, `scale` and
//! `elementary` compute. `repeat` writes loops: `header` sees how they test, `counter` what they count, and `bounds`
//! finds which end by themselves soon enough and how the others are kept from running for ever.
//! `barrier` makes a workgroup or the grid meet, as `block` read that it should; `wait` bounds every wait, and `ending`
//! says what the grid passed. `subgroup` makes a warp exchange values.
//! `export` is what a module looks like that loads back as a caller's own.

pub mod abi;
mod align;
mod atomic;
mod barrier;
mod block;
mod bounds;
mod control;
mod convert;
mod counter;
mod divide;
mod elementary;
mod emitter;
mod ending;
mod entry;
mod export;
mod expr;
mod header;
mod index;
mod low;
mod math;
mod memory;
mod repeat;
mod scale;
mod subgroup;
mod target;
mod text;
mod wait;

pub use target::Target;

use abi::Contract;

use crate::error::Result;
use crate::ir::Program;
use crate::ir::uniformity::Uniformity;

/// A program as PTX, and what one needs to launch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    pub text: String,
    /// The entry's name in the module.
    pub kernel: String,
    pub shared: SharedMemory,
    pub parameters: abi::ParameterLayout,
}

/// A workgroup's shared memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedMemory {
    /// Declared in the module.
    pub fixed: u64,
    /// To be asked for at the launch: more than a module may declare.
    pub dynamic: u64,
}

/// Emits PTX for a program that has passed `validate`. `fast_math`: products and sums may be fused.
pub fn emit(
    program: &Program,
    uniformity: &Uniformity,
    target: Target,
    fast_math: bool,
) -> Result<Ptx> {
    write(program, uniformity, target, Contract::LaunchSlot, fast_math)
}

/// The program as a module under the module-scope contract, which loads back as PTX. Refused if a grid
/// barrier stands in a loop.
pub fn export(
    program: &Program,
    uniformity: &Uniformity,
    target: Target,
    fast_math: bool,
) -> Result<String> {
    export::check(program)?;
    let contract = Contract::ModuleScope;
    Ok(write(program, uniformity, target, contract, fast_math)?.text)
}

fn write(
    program: &Program,
    uniformity: &Uniformity,
    target: Target,
    contract: Contract,
    fast_math: bool,
) -> Result<Ptx> {
    target.check()?;
    let parameters = abi::ParameterLayout::of(program, bounds::Plans::of(program).look())?;
    let emitter =
        emitter::Emitter::new(program, uniformity, target, parameters, contract, fast_math);
    emitter.finish()
}
