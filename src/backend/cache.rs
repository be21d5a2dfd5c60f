//! Compiled programs, kept by everything that went into them.
//!
//! Lock: `entries` alone; nothing else is taken while it is held, and compiling happens outside it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Format, ProgramDesc, ProgramFlags, PtxParameter};

/// Programs kept; the least recently used one goes first.
const CAPACITY: usize = 256;

/// All that decides what a program compiles to, and what its messages say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: Box<[u8]>,
    entry_point: Option<Box<str>>,
    label: Option<Box<str>>,
    flags: ProgramFlags,
    overrides: Box<[(Box<str>, u64)]>,
    parameters: Box<[PtxParameter]>,
    workgroup_size: [u32; 3],
    workgroup_memory: u32,
    format: Format,
}

impl Key {
    pub fn of(desc: &ProgramDesc<'_>) -> Key {
        Key {
            code: desc.code.into(),
            entry_point: desc.entry_point.map(Into::into),
            label: desc.label.map(Into::into),
            flags: desc.flags,
            overrides: desc
                .overrides
                .iter()
                .map(|&(name, value)| (name.into(), value.to_bits()))
                .collect(),
            parameters: desc.parameters.as_slice().into(),
            workgroup_size: desc.workgroup_size,
            workgroup_memory: desc.workgroup_memory,
            format: desc.format,
        }
    }
}

struct Entry<C> {
    compiled: Arc<C>,
    used: u64,
}

struct Entries<C> {
    map: HashMap<Key, Entry<C>>,
    clock: u64,
}

pub struct Cache<C> {
    entries: Mutex<Entries<C>>,
}

/// What a cache keeps.
pub trait Retained {
    /// Bytes that it takes, about.
    fn size(&self) -> u64;
}

impl<C> Default for Cache<C> {
    fn default() -> Cache<C> {
        Cache {
            entries: Mutex::new(Entries {
                map: HashMap::new(),
                clock: 0,
            }),
        }
    }
}

impl<C: Retained> Cache<C> {
    fn lock(&self) -> MutexGuard<'_, Entries<C>> {
        // An entry is inserted or removed whole.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, key: &Key) -> Option<Arc<C>> {
        let entries = &mut *self.lock();
        entries.clock += 1;
        let entry = entries.map.get_mut(key)?;
        entry.used = entries.clock;
        Some(Arc::clone(&entry.compiled))
    }

    pub fn insert(&self, key: Key, compiled: &Arc<C>) {
        let evicted = {
            let entries = &mut *self.lock();
            entries.clock += 1;
            let entry = Entry {
                compiled: Arc::clone(compiled),
                used: entries.clock,
            };
            let replaced = entries.map.insert(key, entry);
            let oldest = (entries.map.len() > CAPACITY)
                .then(|| {
                    let oldest = entries.map.iter().min_by_key(|(_, entry)| entry.used)?;
                    Some(oldest.0.clone())
                })
                .flatten();
            (replaced, oldest.and_then(|key| entries.map.remove(&key)))
        };
        // Machine code is unmapped outside the lock.
        drop(evicted);
    }

    /// Lets go of everything; programs in use stay alive.
    pub fn clear(&self) {
        let map = std::mem::take(&mut self.lock().map);
        drop(map);
    }

    /// Bytes that only the cache keeps alive.
    pub fn retained_bytes(&self) -> u64 {
        self.lock()
            .map
            .iter()
            .filter(|(_, entry)| Arc::strong_count(&entry.compiled) == 1)
            .map(|(key, entry)| key.code.len() as u64 + entry.compiled.size())
            .sum()
    }
}
