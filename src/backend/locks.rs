//! The order of conflicting calls: each buffer has a lock that readers share.
//!
//! Locks: those of several buffers are taken in the order of their ids, before anything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::{
    ArcRwLockReadGuard, ArcRwLockWriteGuard, RawRwLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use smallvec::SmallVec;

use crate::error::{Error, Result, Status};

/// How long a call that only copies waits for others to be done with a buffer.
const PATIENCE: Duration = Duration::from_secs(60);

/// One buffer's lock.
pub struct Lock {
    id: u64,
    lock: Arc<RwLock<()>>,
}

impl Default for Lock {
    fn default() -> Lock {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Lock {
            id: NEXT.fetch_add(1, Relaxed),
            lock: Arc::default(),
        }
    }
}

impl Lock {
    /// This one to write and the other to read, which may be the same.
    pub fn write_and_read<'l>(&'l self, source: &'l Lock) -> Result<Guards> {
        let uses = [
            Use {
                lock: self,
                written: true,
            },
            Use {
                lock: source,
                written: false,
            },
        ];
        lock(SmallVec::from_iter(uses), PATIENCE).map_err(|_| busy())
    }

    pub fn read(&self) -> Result<RwLockReadGuard<'_, ()>> {
        self.lock.try_read_for(PATIENCE).ok_or_else(busy)
    }

    pub fn write(&self) -> Result<RwLockWriteGuard<'_, ()>> {
        self.lock.try_write_for(PATIENCE).ok_or_else(busy)
    }
}

fn busy() -> Error {
    Error::new(
        Status::Timeout,
        format!(
            "the buffer was in use by other calls for {} s",
            PATIENCE.as_secs()
        ),
    )
    .with_fix(
        "Wait for the calls that use the buffer, or give their dispatches a shorter timeout_ns.",
    )
}

/// How a call is about to use a buffer.
pub struct Use<'b> {
    pub lock: &'b Lock,
    pub written: bool,
}

/// One lock, held.
pub enum Guard {
    Read(ArcRwLockReadGuard<RawRwLock, ()>),
    Write(ArcRwLockWriteGuard<RawRwLock, ()>),
}

/// Held until the call is over.
pub type Guards = SmallVec<[Guard; 8]>;

/// Locks everything that a call uses, each wait no longer than `limit`.
pub fn lock(mut uses: SmallVec<[Use<'_>; 8]>, limit: Duration) -> Result<Guards> {
    // Writers first among equals, so that a buffer used twice is locked once, for the stronger use.
    uses.sort_by_key(|user| (user.lock.id, !user.written));
    uses.dedup_by_key(|user| user.lock.id);
    uses.into_iter()
        .map(|Use { lock, written }| {
            if written {
                lock.lock.try_write_arc_for(limit).map(Guard::Write)
            } else {
                lock.lock.try_read_arc_for(limit).map(Guard::Read)
            }
            .ok_or_else(|| {
                Error::new(
                    Status::Timeout,
                    format!(
                        "a bound buffer was in use by other calls for {:.3} s, the dispatch's time limit",
                        limit.as_secs_f64()
                    ),
                )
                .with_fix("Raise timeout_ns, or wait for the calls that use the buffer.")
            })
        })
        .collect()
}
