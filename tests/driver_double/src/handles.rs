//! Handles: what a caller holds of something of ours. A handle that ends is never given out again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::context;

pub struct Table<T> {
    what: &'static str,
    /// Tells handles of one kind from those of others.
    tag: usize,
    entries: Mutex<Entries<T>>,
}

struct Entries<T> {
    next: usize,
    known: Option<HashMap<usize, Arc<T>>>,
}

impl<T> Table<T> {
    pub const fn new(what: &'static str, tag: usize) -> Table<T> {
        Table {
            what,
            tag,
            entries: Mutex::new(Entries {
                next: 0,
                known: None,
            }),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut HashMap<usize, Arc<T>>, &mut usize) -> R) -> R {
        let entries = &mut *self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let known = entries.known.get_or_insert_default();
        f(known, &mut entries.next)
    }

    pub fn add(&self, value: Arc<T>) -> usize {
        self.with(|known, next| {
            *next += 1;
            let handle = self.tag << 40 | *next << 4;
            known.insert(handle, value);
            handle
        })
    }

    /// What a handle stands for, if it does.
    pub fn peek(&self, handle: usize) -> Option<Arc<T>> {
        self.with(|known, _| known.get(&handle).cloned())
    }

    /// What a handle stands for; a wrong one is noted.
    pub fn get(&self, handle: usize) -> Option<Arc<T>> {
        let found = self.peek(handle);
        self.noted(handle, found)
    }

    pub fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let found = self.with(|known, _| known.remove(&handle));
        self.noted(handle, found)
    }

    fn noted(&self, handle: usize, found: Option<Arc<T>>) -> Option<Arc<T>> {
        if found.is_none() {
            context::violation(format_args!("{handle:#x} is no {}", self.what));
        }
        found
    }

    pub fn retain(&self, is_kept: impl Fn(&T) -> bool) {
        self.with(|known, _| known.retain(|_, value| is_kept(value)));
    }

    pub fn all(&self) -> Vec<Arc<T>> {
        self.with(|known, _| known.values().cloned().collect())
    }

    pub fn len(&self) -> usize {
        self.with(|known, _| known.len())
    }

    pub fn clear(&self) {
        self.with(|known, _| known.clear());
    }
}
