//! What an emitted kernel and the code that launches it agree on: the parameters, the slot and the record.
//!
//! The kernel has one parameter, a block of bytes that [`ParameterLayout`] describes, so that a launch
//! fills one buffer however many bindings there are.

use std::mem::offset_of;

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
    /// Two words for each of the groups that [`super::Shape`] tells of.
    pub const GROUPS: u32 = 384;
    pub const GROUP_STRIDE: u32 = 256;
    /// u32: arrivals of the group's workgroups in all launches, wrapping.
    pub const ARRIVALS: u32 = 0;
    /// u32: what the group's workgroups wait at, raised by [`super::GROUPS`] when all are released; wrapping.
    pub const RELEASES: u32 = 128;
    pub const SIZE: u32 = GROUPS + super::GROUPS * GROUP_STRIDE;
}

/// Groups of workgroups: each counts its own arrivals, and whoever comes last arrives at the slot's counter for
/// all of them. Workgroup `i` of the grid is in group `i % GROUPS`.
pub const GROUPS: u32 = 8;

/// How the workgroups of a grid meet under the launch-slot contract. What is best follows from how many
/// there are, and was measured: a counter takes one arrival at a time, and polls delay it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Shape {
    /// All arrive at one counter and wait there.
    Counter = 0,
    /// In groups; all wait at the counter that the groups arrive at.
    Groups = 1,
    /// In groups, and each group waits at a word of its own: polls do not delay arrivals.
    Releases = 2,
}

impl Shape {
    pub fn of(workgroups: u64) -> Shape {
        match workgroups {
            ..900 => Shape::Counter,
            900..1500 => Shape::Groups,
            1500.. => Shape::Releases,
        }
    }

    /// Arrivals at the slot's counter for one barrier.
    pub fn arrivals(self, workgroups: u64) -> u32 {
        match self {
            // All counts wrap.
            Shape::Counter => workgroups as u32,
            Shape::Groups | Shape::Releases => GROUPS,
        }
    }
}

/// How many of a grid's workgroups are in a group.
pub fn group_size(group: u32, workgroups: u64) -> u32 {
    (workgroups as u32)
        .wrapping_add(GROUPS - 1)
        .wrapping_sub(group)
        / GROUPS
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
/// that the grid wrote is visible to who has seen the three words of [`SEQUENCED`]. (A quiet launch writes it when the
/// first workgroup has ended, and it promises nothing before the stream has come past the launch.)
pub mod record {
    /// Three words of 64 bits, each with a value in the low half and the launch's sequence number in the high one. So
    /// they may come in any order, and nobody waits for the bus between them.
    pub const SEQUENCED: [u32; 3] = [EXECUTED, OBSERVED, ENDED];
    /// Low: grid barriers that the workgroup which writes passed.
    pub const EXECUTED: u32 = 0;
    /// Low: the slot's counter when that workgroup ended. Right is `base + executed * arrivals`, wrapping, with as many
    /// arrivals for each barrier as [`super::Shape::arrivals`] says.
    pub const OBSERVED: u32 = 8;
    /// Low: the slot's count of ended workgroups afterwards: what it was before if the launch was quiet and did not
    /// count.
    pub const ENDED: u32 = 16;
    /// u32: the cause, one of [`super::abort`], from the workgroup that set the slot's abort word, else untouched.
    pub const ABORTED: u32 = 24;
    /// [`super::GROUPS`] u32: each group's arrivals. Written, and before the above, unless the shape is
    /// [`super::Shape::Counter`]; as the next.
    pub const ARRIVALS: u32 = 32;
    /// [`super::GROUPS`] u32: each group's releases.
    pub const RELEASES: u32 = 64;
    pub const SIZE: u32 = 96;
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

/// Where the barrier block stands in the block: its words one behind the other, in this order.
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
    /// u32: one of [`Shape`].
    pub shape: u32,
    /// u32: each group's releases before the launch.
    pub releases: u32,
    /// [`GROUPS`] u32: each group's arrivals before the launch.
    pub arrivals: u32,
}

/// All of the barrier block but the arrivals, which only grids that meet in groups need.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ControlHead {
    pub slot: u64,
    pub record: u64,
    pub limit: u64,
    pub base: u32,
    pub exit_base: u32,
    pub sequence: u32,
    pub quiet: u32,
    pub shape: u32,
    pub releases: u32,
}

// A word's bytes go to the device as they are.
const _: () = assert!(cfg!(target_endian = "little"));

impl ControlHead {
    pub fn bytes(&self) -> &[u8; ControlParameters::HEAD as usize] {
        // SAFETY: integers without padding, of that size together.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}

impl ControlParameters {
    /// Bytes of all but the arrivals.
    const HEAD: u32 = size_of::<ControlHead>() as u32;
    pub const SIZE: u32 = Self::HEAD + 4 * GROUPS;

    pub fn starting(start: u32) -> ControlParameters {
        macro_rules! place {
            ($word:ident) => {
                start + offset_of!(ControlHead, $word) as u32
            };
        }
        ControlParameters {
            slot: place!(slot),
            record: place!(record),
            limit: place!(limit),
            base: place!(base),
            exit_base: place!(exit_base),
            sequence: place!(sequence),
            quiet: place!(quiet),
            shape: place!(shape),
            releases: place!(releases),
            arrivals: start + Self::HEAD,
        }
    }
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
        let control =
            has_control.then(|| ControlParameters::starting(take(ControlParameters::SIZE)));
        let unaligned = take(0);
        take(unaligned.next_multiple_of(16) - unaligned);
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
