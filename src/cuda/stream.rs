//! Streams and events, kept for reuse.
//!
//! Lock: `idle` of each pool, taken alone.

use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Context, Entered};
use super::driver::sys::{CUevent, CUstream};
use crate::error::Result;

/// Most of either that are kept idle.
const KEPT: usize = 128;

/// CU_STREAM_NON_BLOCKING: the caller's default stream neither waits for us nor we for it.
const NON_BLOCKING: u32 = 1;

/// What the driver makes and destroys, and may be used again.
pub trait Handle: Copy {
    fn create(entered: &Entered<'_>) -> Result<Self>;
    fn destroy(self, entered: &Entered<'_>);
}

#[derive(Clone, Copy)]
pub struct StreamHandle(CUstream);
/// An event that takes the time.
#[derive(Clone, Copy)]
pub struct EventHandle(CUevent);

impl StreamHandle {
    pub fn raw(self) -> CUstream {
        self.0
    }
}

impl EventHandle {
    pub fn raw(self) -> CUevent {
        self.0
    }
}

// SAFETY: the driver's streams and events may be used from any thread.
unsafe impl Send for StreamHandle {}
// SAFETY: as above.
unsafe impl Send for EventHandle {}

impl Handle for StreamHandle {
    fn create(entered: &Entered<'_>) -> Result<StreamHandle> {
        let mut stream = null_mut();
        // SAFETY: the place is valid for a write; the context is current.
        let code = unsafe { (entered.api().stream_create)(&mut stream, NON_BLOCKING) };
        entered.check(code, "cuStreamCreate")?;
        Ok(StreamHandle(stream))
    }

    fn destroy(self, entered: &Entered<'_>) {
        // SAFETY: it is ours and nobody uses it any more; work left on it ends first.
        unsafe { (entered.api().stream_destroy)(self.0) };
    }
}

impl Handle for EventHandle {
    fn create(entered: &Entered<'_>) -> Result<EventHandle> {
        let mut event = null_mut();
        // SAFETY: the place is valid for a write; the context is current.
        let code = unsafe { (entered.api().event_create)(&mut event, 0) };
        entered.check(code, "cuEventCreate")?;
        Ok(EventHandle(event))
    }

    fn destroy(self, entered: &Entered<'_>) {
        // SAFETY: it is ours and nobody uses it any more.
        unsafe { (entered.api().event_destroy)(self.0) };
    }
}

pub struct Pool<H: Handle> {
    idle: Mutex<Vec<H>>,
}

impl<H: Handle> Default for Pool<H> {
    fn default() -> Pool<H> {
        Pool {
            idle: Mutex::new(Vec::new()),
        }
    }
}

impl<H: Handle> Pool<H> {
    fn idle(&self) -> MutexGuard<'_, Vec<H>> {
        // A vector is pushed to and popped from whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One to use; it comes back on drop.
    pub fn take<'p>(&'p self, entered: &'p Entered<'p>) -> Result<Pooled<'p, H>> {
        let idle = self.idle().pop();
        let handle = match idle {
            Some(handle) => handle,
            None => H::create(entered)?,
        };
        Ok(Pooled {
            pool: self,
            entered,
            handle: Some(handle),
        })
    }

    /// Destroys what is idle.
    pub fn clear(&self, context: &Context) {
        if let Some(entered) = context.enter_to_release() {
            let idle = std::mem::take(&mut *self.idle());
            for handle in idle {
                handle.destroy(&entered);
            }
        }
    }
}

pub struct Pooled<'p, H: Handle> {
    pool: &'p Pool<H>,
    entered: &'p Entered<'p>,
    handle: Option<H>,
}

impl<H: Handle> Pooled<'_, H> {
    /// Does not come back: work that nobody waited for may be left on it. The driver frees it when that ends.
    pub fn abandon(mut self) {
        if let Some(handle) = self.handle.take() {
            handle.destroy(self.entered);
        }
    }
}

impl<H: Handle> Deref for Pooled<'_, H> {
    type Target = H;

    fn deref(&self) -> &H {
        self.handle
            .as_ref()
            .expect("only abandon takes it, and consumes the guard")
    }
}

impl<H: Handle> Drop for Pooled<'_, H> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            let mut idle = self.pool.idle();
            if idle.len() < KEPT {
                idle.push(handle);
                return;
            }
            drop(idle);
            handle.destroy(self.entered);
        }
    }
}
