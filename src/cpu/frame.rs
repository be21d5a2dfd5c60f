//! Where the state of a workgroup lies in memory.
//!
//! A *scratch* frame belongs to a worker thread and serves one workgroup after the other. A
//! *persistent* frame belongs to one workgroup for the whole dispatch and holds only what lives
//! across a grid barrier. Slots of invocations are structures of arrays, so that several
//! invocations can move as one vector.

use crate::ir::phases::{Keep, Place, Sharing, Slots};
use crate::ir::{MemoryId, Program, Scalar, Scope};

/// Which frame, and the byte offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    pub keep: Keep,
    pub offset: u64,
    /// Bytes from one invocation's copy to the next one's; 0 when they share it.
    pub stride: u64,
}

/// A byte range of a frame that is zeroed when its workgroup starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zeroed {
    pub keep: Keep,
    pub offset: u64,
    pub size: u64,
}

#[derive(Debug)]
pub struct Frame {
    slots: Vec<At>,
    workgroup: Vec<At>,
    private: Vec<At>,
    /// Private arrays that lie in scratch once for all invocations, zeroed by each that needs it.
    reused: Vec<bool>,
    pub zeroed: Vec<Zeroed>,
    /// In scratch, if the program has subgroup operations.
    pub subgroups: Option<Exchange>,
    /// Bytes of a scratch frame.
    pub scratch_size: u64,
    /// Bytes of one workgroup's persistent frame; 0 when nothing lives across a grid barrier.
    pub persistent_size: u64,
}

/// Where the invocations of a workgroup stand, and what they hand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The u32 resume code of each.
    codes: u64,
    /// Eight bytes of each, for the operands and the lane of one operation one after the other.
    columns: u64,
    invocations: u64,
}

impl Exchange {
    /// Operands and lane.
    const COLUMNS: u64 = 5;
    const WIDTH: u64 = 8;

    pub fn invocations(self) -> u64 {
        self.invocations
    }

    pub fn codes(self) -> At {
        At {
            keep: Keep::Workgroup,
            offset: self.codes,
            stride: 4,
        }
    }

    pub fn column(self, number: usize) -> At {
        At {
            keep: Keep::Workgroup,
            offset: self.columns + number as u64 * self.invocations * Exchange::WIDTH,
            stride: Exchange::WIDTH,
        }
    }
}

/// Head of a scratch frame: the emitted code writes here.
pub mod head {
    /// Where writes go whose address is out of bounds: four elements of the widest type.
    pub const SINK: u64 = 0;
    /// u32 resume codes of invocation 0 and of the first one that disagreed, and its index.
    pub const FIRST: u64 = 32;
    pub const OTHER: u64 = 36;
    pub const INVOCATION: u64 = 40;
    pub const SIZE: u64 = 64;
}

/// Bytes that a scalar takes in a slot; an f16 is held as the f32 that it equals.
pub fn slot_size(ty: Scalar) -> u64 {
    match ty {
        Scalar::Bool => 1,
        Scalar::F16 | Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
        Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
    }
}

struct Ends {
    scratch: u64,
    persistent: u64,
}

impl Ends {
    /// `count` elements of `size` bytes at `align`.
    fn take(&mut self, keep: Keep, size: u64, align: u64) -> u64 {
        let end = match keep {
            Keep::Workgroup => &mut self.scratch,
            Keep::Grid => &mut self.persistent,
        };
        let offset = end.next_multiple_of(align);
        *end = offset + size;
        offset
    }
}

impl Frame {
    pub fn of(program: &Program, slots: &Slots) -> Frame {
        let invocations = program.workgroup_invocations();
        let mut ends = Ends {
            scratch: head::SIZE,
            persistent: 0,
        };
        let mut zeroed = Vec::new();
        let slot_places = slots
            .slots
            .iter()
            .map(|slot| {
                let size = slot_size(slot.ty);
                let stride = match slot.sharing {
                    Sharing::Workgroup => 0,
                    Sharing::Invocation => size,
                };
                let total = if stride == 0 {
                    size
                } else {
                    size * invocations
                };
                // One cache line for what is touched as vectors.
                let align = if total >= 64 { 64 } else { size };
                At {
                    keep: slot.keep,
                    offset: ends.take(slot.keep, total, align),
                    stride,
                }
            })
            .collect();
        let workgroup = program
            .workgroup
            .iter()
            .zip(&slots.workgroup)
            .zip(&slots.workgroup_zeroed)
            .map(|((memory, keep), zero)| {
                let keep = keep.unwrap_or(Keep::Workgroup);
                let offset = ends.take(keep, memory.size, u64::from(memory.align).max(8));
                if *zero {
                    zeroed.push(Zeroed {
                        keep,
                        offset,
                        size: memory.size,
                    });
                }
                At {
                    keep,
                    offset,
                    stride: 0,
                }
            })
            .collect();
        let private = program
            .private
            .iter()
            .zip(&slots.private)
            .zip(&slots.private_zeroed)
            .map(|((memory, keep), zero)| {
                let align = u64::from(memory.align).max(8);
                let stride = match keep {
                    None => 0,
                    Some(_) => memory.size.next_multiple_of(align),
                };
                let total = if stride == 0 {
                    memory.size
                } else {
                    stride * invocations
                };
                let kept = keep.unwrap_or(Keep::Workgroup);
                let offset = ends.take(kept, total, align);
                if *zero && keep.is_some() {
                    zeroed.push(Zeroed {
                        keep: kept,
                        offset,
                        size: total,
                    });
                }
                At {
                    keep: kept,
                    offset,
                    stride,
                }
            })
            .collect();
        let subgroups = program.has_barrier(Scope::Subgroup).then(|| {
            let size = Exchange::COLUMNS * Exchange::WIDTH * invocations;
            Exchange {
                codes: ends.take(Keep::Workgroup, 4 * invocations, 64),
                columns: ends.take(Keep::Workgroup, size, 64),
                invocations,
            }
        });
        let persistent = ends.persistent;
        Frame {
            slots: slot_places,
            workgroup,
            private,
            reused: slots.private.iter().map(Option::is_none).collect(),
            zeroed,
            subgroups,
            scratch_size: ends.scratch.next_multiple_of(64),
            // Whole cache lines keep two workgroups apart; a few bytes are packed instead, because
            // a grid may have millions of workgroups.
            persistent_size: if persistent > 32 {
                persistent.next_multiple_of(64)
            } else {
                persistent.next_multiple_of(8)
            },
        }
    }

    pub fn slot(&self, place: Place) -> At {
        self.slots[place.0 as usize]
    }

    pub fn workgroup(&self, id: MemoryId) -> At {
        self.workgroup[id.index()]
    }

    pub fn private(&self, id: MemoryId) -> At {
        self.private[id.index()]
    }

    /// Whether all invocations use one copy of a private array, one after the other.
    pub fn is_reused(&self, id: MemoryId) -> bool {
        self.reused[id.index()]
    }
}
