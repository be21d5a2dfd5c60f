//! A device's primary context, current only while we call the driver.

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicI32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use super::driver::sys::{CUcontext, CUdevice};
use super::driver::{Api, Driver, code};
use crate::error::{Error, Result, Status};

/// The primary context, which the CUDA runtime in this process shares.
pub struct Context {
    pub driver: &'static Driver,
    pub device: CUdevice,
    context: CUcontext,
    /// The code of the sticky error that ended the context; 0 while it lives.
    lost: AtomicI32,
    /// Guards that live: calls under way.
    users: AtomicU64,
}

// SAFETY: a context may be made current on any thread, on several at once.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub fn retain(driver: &'static Driver, device: CUdevice) -> Result<Context> {
        let mut context = null_mut();
        // SAFETY: the place is valid for a write; the device came from the driver.
        let code = unsafe { (driver.api.primary_ctx_retain)(&mut context, device) };
        driver.check(code, "cuDevicePrimaryCtxRetain")?;
        Ok(Context {
            driver,
            device,
            context,
            lost: AtomicI32::new(0),
            users: AtomicU64::new(0),
        })
    }

    /// Makes the context current on this thread until the guard goes; the caller's is then as it was.
    pub fn enter(&self) -> Result<Entered<'_>> {
        let lost = self.lost.load(Relaxed);
        if lost != 0 {
            return Err(self.lost_error(lost));
        }
        self.bind()
    }

    fn bind(&self) -> Result<Entered<'_>> {
        let api = &self.driver.api;
        let mut current = null_mut();
        // SAFETY: the place is valid for a write.
        self.check(
            unsafe { (api.ctx_get_current)(&mut current) },
            "cuCtxGetCurrent",
        )?;
        let pushed = current != self.context;
        if pushed {
            // SAFETY: the context is retained for as long as we live.
            self.check(
                unsafe { (api.ctx_push_current)(self.context) },
                "cuCtxPushCurrent",
            )?;
        }
        self.users.fetch_add(1, Relaxed);
        Ok(Entered {
            context: self,
            pushed,
            of_this_thread: PhantomData,
        })
    }

    /// How many calls are under way in it.
    pub fn users(&self) -> u64 {
        self.users.load(Acquire)
    }

    /// As `enter`, to give something back: also when the context is lost, and silent when the driver is
    /// already gone, as it is in exit handlers. `None` also while a kernel goes on for ever: the driver would
    /// wait for it.
    pub fn enter_to_release(&self) -> Option<Entered<'_>> {
        if self.is_hung() {
            return None;
        }
        self.bind().ok()
    }

    fn is_hung(&self) -> bool {
        self.lost.load(Relaxed) == HUNG
    }

    /// A code as an error of the call that gave it. A sticky one marks the context as lost.
    pub fn check(&self, code: i32, call: &str) -> Result<()> {
        match code {
            code::SUCCESS => Ok(()),
            _ => Err(self.error(code, call)),
        }
    }

    #[cold]
    pub fn error(&self, code: i32, call: &str) -> Error {
        if code::is_sticky(code) {
            self.lose(code);
        }
        self.driver.error(code, call)
    }

    /// Every later call says that the backend is lost; the first cause stands.
    pub fn lose(&self, code: i32) {
        let _ = self.lost.compare_exchange(0, code, Relaxed, Relaxed);
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Relaxed) != 0
    }

    #[cold]
    fn lost_error(&self, code: i32) -> Error {
        let cause = match code {
            HUNG => "a kernel did not end in time and could not be stopped".to_owned(),
            _ => self.driver.describe(code),
        };
        Error::new(
            Status::DeviceLost,
            format!("the backend is lost since an earlier call failed: {cause}"),
        )
        .with_native_code(code.max(0))
    }
}

/// Not the driver's: a kernel goes on for ever.
pub const HUNG: i32 = -1;

impl Drop for Context {
    fn drop(&mut self) {
        if self.is_hung() {
            return;
        }
        // SAFETY: it was retained once and nothing of ours uses it any more. The result does not matter: after the
        // driver's own end there is nothing left to release.
        unsafe { (self.driver.api.primary_ctx_release)(self.device) };
    }
}

/// The context is current on this thread while this lives.
pub struct Entered<'c> {
    context: &'c Context,
    pushed: bool,
    of_this_thread: PhantomData<*const ()>,
}

impl Entered<'_> {
    pub fn api(&self) -> &Api {
        &self.context.driver.api
    }

    /// A code as an error of the call that gave it. A sticky one marks the context as lost.
    pub fn check(&self, code: i32, call: &str) -> Result<()> {
        self.context.check(code, call)
    }

    /// Every later call says that the backend is lost.
    pub fn lose(&self, code: i32) {
        self.context.lose(code);
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.context.users.fetch_sub(1, Release);
        if self.pushed {
            let mut popped = null_mut();
            // SAFETY: the guard does not leave its thread, so what is popped is what it pushed.
            unsafe { (self.context.driver.api.ctx_pop_current)(&mut popped) };
        }
    }
}
