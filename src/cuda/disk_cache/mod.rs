//! Compiled programs on disk, so that a process need not compile what an earlier one did.
//!
//! `place` says in which folder, `folder` reads, replaces and evicts files in it. A file is an `entry`: a
//! program as `codec` writes it, sealed with the `key` of all that it was made from. Nothing in the folder
//! is trusted: what is not exactly what this very library would write, owned by this user, is not there.
//!
//! A folder that cannot be used costs compiling again, never a program.

mod codec;
mod entry;
mod folder;
mod key;
mod place;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub use folder::Folder;
pub use key::Key;
pub use place::folder_named_by;

use super::emitted::Emitted;
use crate::backend::Counters;
use crate::error::Result;
use crate::log::{Level, log};

/// What a device knows about the cache: whether it has complained.
#[derive(Default)]
pub struct DiskCache {
    has_complained: AtomicBool,
}

impl DiskCache {
    /// The program of this key; made, and kept for the next time, if it is not there.
    pub fn get_or_make(
        &self,
        folder: &Folder,
        key: &Key,
        counters: &Counters,
        make: impl FnOnce() -> Result<Emitted>,
    ) -> Result<Emitted> {
        match find(folder, key) {
            Ok(Some(found)) => {
                counters.disk_hits.fetch_add(1, Relaxed);
                return Ok(found);
            }
            Ok(None) => {}
            Err(why) => log(Level::Info, || {
                format!(
                    "the PTX cache's {} is not used and will be replaced: {why}",
                    folder.path_of(&key.file_name()).display()
                )
            }),
        }
        counters.disk_misses.fetch_add(1, Relaxed);
        let made = make()?;
        let bytes = entry::seal(key, &codec::encode(&made));
        match folder.write(&key.file_name(), &bytes) {
            Ok(()) => {
                counters.disk_writes.fetch_add(1, Relaxed);
            }
            Err(error) => self.complain(folder, &error),
        }
        Ok(made)
    }

    /// Once: it would be the same for every program.
    fn complain(&self, folder: &Folder, error: &std::io::Error) {
        if !self.has_complained.swap(true, Relaxed) {
            log(Level::Warn, || {
                format!(
                    "the PTX cache in {} cannot be written, so programs are compiled every time: {error}. {}",
                    folder.path().display(),
                    place::FIX
                )
            });
        }
    }
}

/// A program from the folder, or why what is there cannot be used.
fn find(folder: &Folder, key: &Key) -> Result<Option<Emitted>, String> {
    let Some(bytes) = folder.read(&key.file_name())? else {
        return Ok(None);
    };
    let content = entry::open(key, &bytes)?;
    codec::decode(content).map(Some)
}
