//! Handles: ids that resolve through a table, so that a wrong one is an error and never a crash.
//!
//! An id is `[kind: 8][index: 24][generation: 32]`. A slot is used again, oldest first, under its next
//! generation, so an old id stays wrong; a slot whose generations are used up is retired. First
//! generations are random: an id of another process or another run is unlikely to hit a live one.
//!
//! Locks: each table has one, held for the few instructions of a lookup; nothing is locked, called or
//! dropped under it.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::RwLock;

use crate::backend::{Backend, Buffer, Program};
use crate::error::{Error, Result, Status};

/// A device with its caches and pools. {0} is null. Acquired by vyre_backend_acquire().
///
/// Buffers and programs keep their backend alive, so handles may be released in any order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct vyre_backend {
    /// Opaque.
    pub id: u64,
}

/// Bytes on a backend's device. {0} is null.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct vyre_buffer {
    /// Opaque.
    pub id: u64,
}

/// A compiled compute entry point with its bindings. {0} is null.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct vyre_program {
    /// Opaque.
    pub id: u64,
}

/// What a buffer's handle stands for.
pub struct BufferEntry {
    pub buffer: Arc<dyn Buffer>,
    /// To tell buffers of another backend.
    pub backend: Arc<dyn Backend>,
}

/// What a program's handle stands for.
pub struct ProgramEntry {
    pub program: Arc<dyn Program>,
    /// To tell buffers of another backend.
    pub backend: Arc<dyn Backend>,
}

pub static BACKENDS: Table<Arc<dyn Backend>> = Table::new(1);
pub static BUFFERS: Table<BufferEntry> = Table::new(2);
pub static PROGRAMS: Table<ProgramEntry> = Table::new(3);

const KINDS: [&str; 4] = ["", "vyre_backend", "vyre_buffer", "vyre_program"];
const MAX_SLOTS: usize = 1 << 24;

pub struct Table<T> {
    /// Index into `KINDS`.
    kind: u8,
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// Empty slots that may be used again, oldest first.
    free: VecDeque<u32>,
}

struct Slot<T> {
    first_generation: u32,
    /// Of the value, or of the next one.
    generation: u32,
    value: Option<T>,
}

impl<T> Table<T> {
    const fn new(kind: u8) -> Table<T> {
        Table {
            kind,
            slots: RwLock::new(Slots {
                slots: Vec::new(),
                free: VecDeque::new(),
            }),
        }
    }

    pub fn insert(&self, value: T) -> Result<u64> {
        // Outside the lock: it may open a file of the system's.
        let random = RandomState::new().hash_one(0u8) as u32;
        self.slots.write().insert(self.kind, value, random)
    }

    /// What `read` makes of the value that an id stands for; `what` names the argument.
    pub fn with<R>(&self, id: u64, what: &dyn What, read: impl FnOnce(&T) -> R) -> Result<R> {
        let slots = self.slots.read();
        match slots.find(self.kind, id) {
            Ok(index) => match &slots.slots[index].value {
                Some(value) => Ok(read(value)),
                None => Err(Wrong::Stale),
            },
            Err(wrong) => Err(wrong),
        }
        .map_err(|wrong| {
            drop(slots);
            wrong.error(self.kind, id, what)
        })
    }

    /// Takes the value out; the id is stale from here on. Dropping it is the caller's, without a lock.
    pub fn remove(&self, id: u64, what: &dyn What) -> Result<T> {
        let taken = self.slots.write().remove(self.kind, id);
        taken.map_err(|wrong| wrong.error(self.kind, id, what))
    }
}

/// The C name of an argument, put together only for a message.
pub trait What {
    fn name(&self) -> String;
}

impl What for &str {
    fn name(&self) -> String {
        (*self).to_owned()
    }
}

/// A field of an array's element: `desc->bindings[3].buffer`.
pub struct Element {
    pub array: &'static str,
    pub index: usize,
    pub field: &'static str,
}

impl What for Element {
    fn name(&self) -> String {
        format!("{}[{}]{}", self.array, self.index, self.field)
    }
}

/// Why an id stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Null,
    /// Another kind's.
    Kind(u8),
    Stale,
    Foreign,
}

impl Wrong {
    fn error(self, kind: u8, id: u64, what: &dyn What) -> Error {
        let expected = KINDS[usize::from(kind)];
        let what = what.name();
        let (message, fix) = match self {
            Wrong::Null => (
                format!("{what} is a null handle, a {expected} was expected"),
                "Pass the handle that a successful call stored; failed calls store {0}.",
            ),
            Wrong::Kind(other) => (
                format!(
                    "{what} ({id:#018x}) is a {} handle, a {expected} was expected",
                    KINDS[usize::from(other)]
                ),
                "Pass a handle of the kind that the parameter's type names.",
            ),
            Wrong::Stale => (
                format!("{what} ({id:#018x}) was released already"),
                "Release a handle once, after its last use.",
            ),
            Wrong::Foreign => (
                format!("{what} ({id:#018x}) is no {expected} that this library made"),
                "Pass a handle that this very library returned in this process, unchanged.",
            ),
        };
        Error::new(Status::InvalidHandle, message).with_fix(fix)
    }
}

fn pack(kind: u8, index: usize, generation: u32) -> u64 {
    u64::from(kind) << 56 | (index as u64) << 32 | u64::from(generation)
}

impl<T> Slots<T> {
    fn insert(&mut self, kind: u8, value: T, random: u32) -> Result<u64> {
        let index = match self.free.pop_front() {
            Some(index) => index as usize,
            None => self.grow(kind, random)?,
        };
        let slot = &mut self.slots[index];
        slot.value = Some(value);
        Ok(pack(kind, index, slot.generation))
    }

    fn grow(&mut self, kind: u8, random: u32) -> Result<usize> {
        let index = self.slots.len();
        let full = |why: &str| {
            Error::new(
                Status::OutOfHostMemory,
                format!("no room for one more {}: {why}", KINDS[usize::from(kind)]),
            )
        };
        if index == MAX_SLOTS {
            return Err(full("16777216 handles are in use or used up"));
        }
        // The free list gets its room here, so that a release never needs memory.
        let room = self.slots.try_reserve(1).is_ok()
            && self.free.try_reserve(self.slots.capacity()).is_ok();
        if !room {
            return Err(full("the handle table cannot grow"));
        }
        self.slots.push(Slot {
            first_generation: random,
            generation: random,
            value: None,
        });
        Ok(index)
    }

    fn find(&self, kind: u8, id: u64) -> Result<usize, Wrong> {
        if id == 0 {
            return Err(Wrong::Null);
        }
        let id_kind = (id >> 56) as u8;
        let index = (id >> 32) as usize & (MAX_SLOTS - 1);
        let generation = id as u32;
        if id_kind != kind {
            return Err(match id_kind {
                1..=3 => Wrong::Kind(id_kind),
                _ => Wrong::Foreign,
            });
        }
        let slot = self.slots.get(index).ok_or(Wrong::Foreign)?;
        if slot.generation == generation && slot.value.is_some() {
            return Ok(index);
        }
        // Generations from the first up to the current one, wrapping, were given out.
        let age = generation.wrapping_sub(slot.first_generation);
        let now = slot.generation.wrapping_sub(slot.first_generation);
        // An empty slot at its first generation has given out all of them: `insert` fills a new one
        // before it lets go of the lock.
        let retired = slot.value.is_none() && now == 0;
        Err(if age < now || retired {
            Wrong::Stale
        } else {
            Wrong::Foreign
        })
    }

    fn remove(&mut self, kind: u8, id: u64) -> Result<T, Wrong> {
        let index = self.find(kind, id)?;
        let slot = &mut self.slots[index];
        let value = slot.value.take().ok_or(Wrong::Stale)?;
        slot.generation = slot.generation.wrapping_add(1);
        if slot.generation != slot.first_generation {
            self.free.push_back(index as u32);
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Slots<&'static str> {
        Slots {
            slots: Vec::new(),
            free: VecDeque::new(),
        }
    }

    #[test]
    fn each_wrong_id_is_told_from_the_others() {
        let mut slots = table();
        let id = slots.insert(2, "a", 77).unwrap();
        assert!(slots.find(2, id).is_ok());
        assert_eq!(slots.find(2, 0), Err(Wrong::Null));
        assert_eq!(slots.find(3, id), Err(Wrong::Kind(2)));
        assert_eq!(slots.find(2, id + 1), Err(Wrong::Foreign));
        assert_eq!(slots.find(2, id - 1), Err(Wrong::Foreign));
        assert_eq!(slots.find(2, pack(2, 1, 77)), Err(Wrong::Foreign));
        assert_eq!(slots.find(2, pack(9, 0, 77)), Err(Wrong::Foreign));
        assert_eq!(slots.remove(2, id), Ok("a"));
        assert_eq!(slots.find(2, id), Err(Wrong::Stale));
        assert_eq!(slots.remove(2, id), Err(Wrong::Stale));
    }

    proptest::proptest! {
        /// Whatever is inserted and removed in whatever order, an id finds its own value or none.
        #[test]
        fn ids_never_find_anothers_value(steps in proptest::collection::vec(0usize..8, 1..200), random: u32) {
            let mut slots = Slots { slots: Vec::new(), free: VecDeque::new() };
            let (mut live, mut dead) = (Vec::new(), Vec::new());
            for (value, step) in steps.into_iter().enumerate() {
                if step < 5 {
                    live.push((slots.insert(2, value, random)?, value));
                } else if !live.is_empty() {
                    let (id, value) = live.swap_remove(step % live.len());
                    proptest::prop_assert_eq!(slots.remove(2, id), Ok(value));
                    dead.push(id);
                }
                for &(id, value) in &live {
                    let found = slots.find(2, id).map(|index| slots.slots[index].value);
                    proptest::prop_assert_eq!(found, Ok(Some(value)));
                }
                for &id in &dead {
                    proptest::prop_assert_eq!(slots.find(2, id), Err(Wrong::Stale));
                }
            }
        }
    }

    #[test]
    fn slots_are_used_again_oldest_first_under_a_new_generation() {
        let mut slots = table();
        let a = slots.insert(2, "a", 1).unwrap();
        let b = slots.insert(2, "b", 1).unwrap();
        slots.remove(2, b).unwrap();
        slots.remove(2, a).unwrap();
        let c = slots.insert(2, "c", 1).unwrap();
        assert_eq!(c, b + 1, "the slot that was freed first");
        assert_eq!(slots.find(2, b), Err(Wrong::Stale));
        assert_eq!(slots.slots.len(), 2);
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_retires() {
        let mut slots = table();
        let first = slots.insert(2, "a", u32::MAX).unwrap();
        slots.remove(2, first).unwrap();
        let wrapped = slots.insert(2, "b", 0).unwrap();
        assert_eq!(wrapped, pack(2, 0, 0), "generations wrap");
        slots.remove(2, wrapped).unwrap();
        // The last generation before the first comes round again.
        slots.slots[0].generation = u32::MAX - 1;
        let last = slots.insert(2, "c", 0).unwrap();
        slots.remove(2, last).unwrap();
        for old in [first, wrapped, last] {
            assert_eq!(slots.find(2, old), Err(Wrong::Stale));
        }
        let next = slots.insert(2, "d", 5).unwrap();
        assert_eq!(next, pack(2, 1, 5), "the retired slot is left alone");
    }
}
