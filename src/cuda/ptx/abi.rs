//! What an emitted kernel and the code that launches it agree on: the parameters, the slot and the record.
//!
//! The kernel has one parameter, a block of bytes that [`ParameterLayout`] describes, so that a launch
//! fills one buffer however many bindings there are.

use crate::error::{Error, Result, Status};
use crate::ir::Program;

/// Most bytes of parameters that every driver and device takes.
pub const MOST_PARAMETERS: u32 = 4096;
/// Buffers are bound at multiples of this, and so are the slot and the record.
pub const BINDING_ALIGN: u32 = 16;

/// The launch slot, in device memory. Each word is alone on its 128 bytes: polls of one would delay
/// arrivals at the other.
pub mod slot {
    /// u32: arrivals of all launches, wrapping.
    pub const COUNTER: u32 = 0;
    /// u32: why everybody is to leave; one of [`super::abort`], 0 to stay. The first cause stands.
    pub const ABORT: u32 = 128;
    /// u32: workgroups of all launches that have ended, wrapping. Counted by programs with a grid barrier.
    pub const EXIT: u32 = 256;
    pub const SIZE: u32 = 384;
}

/// What the abort word holds.
pub mod abort {
    /// A workgroup saw the time limit pass.
    pub const TIME_LIMIT: u32 = 1;
    /// The host wants the dispatch to end.
    pub const CANCELLED: u32 = 2;
    /// A workgroup waited at a grid barrier that another one had ended without reaching.
    pub const UNEVEN: u32 = 3;
}

/// The record, in host memory that the device sees; written by stores of system scope. The host clears
/// it before the launch. Programs with a grid barrier write it when the last workgroup has ended: everything
/// that the grid wrote is visible to who has seen the sequence. (A quiet launch writes it when the first
/// workgroup has ended, and the sequence promises nothing before the stream has come past the launch.)
pub mod record {
    /// u32: grid barriers that the workgroup which writes passed.
    pub const EXECUTED: u32 = 0;
    /// u32: the slot's counter when that workgroup ended. Right is `base + executed * workgroups`, wrapping.
    pub const OBSERVED: u32 = 4;
    /// u32: the launch's sequence number. Written last, with release: without it the rest is void.
    pub const SEQUENCE: u32 = 8;
    /// u32: the cause, one of [`super::abort`], from the workgroup that set the slot's abort word, else untouched.
    pub const ABORTED: u32 = 12;
    /// u32: the slot's count of ended workgroups afterwards: what it was before if the launch was quiet and did not
    /// count.
    pub const ENDED: u32 = 16;
    pub const SIZE: u32 = 32;
}

/// How the workgroups of a grid meet, and so what a kernel is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// One block of parameters with the launch's slot in it; launches may overlap.
    LaunchSlot,
    /// A parameter for each address, size and the immediates, and a counter in the module itself: what a kernel
    /// of the caller's looks like.
    ModuleScope,
}

/// Where a buffer's parameters stand in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferParameters {
    /// u64: device address of the bound range, a multiple of [`BINDING_ALIGN`].
    pub base: u32,
    /// u32: elements of the trailing runtime-sized array ([`crate::ir::BufferDecl::array_length`]).
    pub length: u32,
}

/// Where the barrier block stands in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlParameters {
    /// u64: device address of the slot.
    pub slot: u32,
    /// u64: device address of the record.
    pub record: u32,
    /// u64: nanoseconds from an invocation's first look at the clock to its giving up; `u64::MAX` for never.
    pub limit: u32,
    /// u32: the slot's counter before the launch.
    pub base: u32,
    /// u32: the slot's count of ended workgroups before the launch.
    pub exit_base: u32,
    /// u32: what to write as the record's sequence.
    pub sequence: u32,
    /// u32: not 0 if nobody looks for the end of this launch, because others follow on its stream.
    pub quiet: u32,
}

/// The kernel's parameter block; all places in bytes from its start, all words little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterLayout {
    pub size: u32,
    /// Three u32: the grid in workgroups.
    pub workgroups: u32,
    /// By buffer id.
    pub buffers: Vec<BufferParameters>,
    /// Start of the immediates, a multiple of 16.
    pub immediates: u32,
    /// Present if the program has a grid barrier or a loop that might run for too long.
    pub control: Option<ControlParameters>,
}

impl ParameterLayout {
    pub(super) fn of(program: &Program, has_polls: bool) -> Result<ParameterLayout> {
        let mut size = 0;
        let mut take = |bytes: u32| {
            let at = size;
            size += bytes;
            at
        };
        let workgroups = take(16);
        let buffers = (program.buffers.iter())
            .map(|_| BufferParameters {
                base: take(8),
                length: take(8),
            })
            .collect();
        let has_control = has_polls || program.has_grid_barrier();
        let control = has_control.then(|| ControlParameters {
            slot: take(8),
            record: take(8),
            limit: take(8),
            base: take(4),
            exit_base: take(4),
            sequence: take(4),
            quiet: take(4),
        });
        let immediates = take(program.immediates_size.next_multiple_of(16));
        if size > MOST_PARAMETERS {
            return Err(Error::new(
                Status::Unsupported,
                format!(
                    "entry point `{}`: {} bindings and {} bytes of immediates need {size} bytes of \
                     kernel parameters, but CUDA allows {MOST_PARAMETERS}",
                    program.entry_point,
                    program.buffers.len(),
                    program.immediates_size,
                ),
            )
            .with_fix("Use fewer bindings, or pass large parameters in a uniform buffer."));
        }
        Ok(ParameterLayout {
            size,
            workgroups,
            buffers,
            immediates,
            control,
        })
    }
}
