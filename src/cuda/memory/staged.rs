//! Long copies of pageable memory, through page-locked chunks by several threads at once.
//!
//! The driver copies pageable memory on one thread, and that thread's own copying is what takes the time.
//! Here each thread fills one chunk while the device takes another, so that copying on the host and the
//! transfer overlap, and the threads together keep up with the bus.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::pinned::{CHUNK, PinnedPool, Staging};
use crate::cuda::context::{Entered, HUNG};
use crate::cuda::device::Device;
use crate::cuda::stream::{Pooled, StreamHandle};
use crate::cuda::wait;
use crate::error::{Error, Result, Status};

/// Copies from this size on are worth the threads.
pub const FROM: usize = 4 * CHUNK;
/// More threads than this have nothing to add to the bus.
const MOST_THREADS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    ToDevice,
    ToHost,
}

/// One copy, cut into pieces that the threads take one by one.
pub struct Copy {
    pub way: Way,
    /// Where the caller's bytes start; valid for reads, and for writes on the way to the host.
    pub host: *mut u8,
    pub address: u64,
    pub size: usize,
    pub deadline: Instant,
}

// SAFETY: the bytes are lent for as long as the copy lasts, and each piece is touched by one thread.
unsafe impl Sync for Copy {}

struct Work<'w> {
    device: &'w Device,
    copy: &'w Copy,
    /// The next piece that nobody has taken.
    next: AtomicUsize,
    /// Nobody takes another piece.
    stopped: AtomicBool,
    /// Lock: taken alone.
    failure: Mutex<Option<Error>>,
}

/// Whether all of it was copied; not where there is no page-locked memory, which is the driver's to do without.
pub fn run(device: &Device, copy: &Copy) -> Result<bool> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let pieces = copy.size.div_ceil(CHUNK);
    let threads = processors.min(MOST_THREADS).min(pieces.div_ceil(2)).max(1);
    let work = Work {
        device,
        copy,
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let helper = || work.do_pieces();
            // Where no thread can be had there is one fewer.
            let _ = std::thread::Builder::new()
                .name("vyre-copy".to_owned())
                .spawn_scoped(scope, helper);
        }
        work.do_pieces();
    });
    let failure = work.failure.into_inner();
    match failure.unwrap_or_else(PoisonError::into_inner) {
        None => Ok(work.next.into_inner() >= pieces),
        Some(error) => Err(error),
    }
}

/// A chunk, the stream that moves it, and the piece under way in it.
struct Lane<'d> {
    staging: Staging<'d>,
    stream: Pooled<'d, StreamHandle>,
    piece: Option<usize>,
}

impl Work<'_> {
    fn do_pieces(&self) {
        if let Err(error) = self.try_pieces() {
            self.stopped.store(true, Relaxed);
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert(error);
        }
    }

    fn try_pieces(&self) -> Result<()> {
        let entered = self.device.enter()?;
        let lane = || -> Result<Option<Lane<'_>>> {
            let Some(staging) = PinnedPool::take(self.device, &entered)? else {
                return Ok(None);
            };
            Ok(Some(Lane {
                staging,
                stream: self.device.streams.take(&entered)?,
                piece: None,
            }))
        };
        // Who finds no room leaves the pieces to the others.
        let (Some(one), Some(other)) = (lane()?, lane()?) else {
            return Ok(());
        };
        let mut lanes = [one, other];
        let result = self.take_turns(&entered, &mut lanes);
        // Also after a failure: nothing that a copy uses goes back while it is under way.
        let ended = lanes
            .iter_mut()
            .map(|lane| self.end(&entered, lane))
            .fold(Ok(()), Result::and);
        if result.is_err() || ended.is_err() {
            for lane in lanes.into_iter().filter(|lane| lane.piece.is_some()) {
                lane.staging.leak();
                lane.stream.abandon();
            }
        }
        result.and(ended)
    }

    fn take_turns(&self, entered: &Entered<'_>, lanes: &mut [Lane<'_>; 2]) -> Result<()> {
        let mut turn = 0;
        loop {
            let lane = &mut lanes[turn % 2];
            turn += 1;
            self.end(entered, lane)?;
            let piece = self.next.fetch_add(1, Relaxed);
            if self.stopped.load(Relaxed) || piece * CHUNK >= self.copy.size {
                return Ok(());
            }
            self.begin(entered, lane, piece)?;
        }
    }

    /// Where a piece starts, and how long it is.
    fn range(&self, piece: usize) -> (usize, usize) {
        let start = piece * CHUNK;
        (start, CHUNK.min(self.copy.size - start))
    }

    fn begin(&self, entered: &Entered<'_>, lane: &mut Lane<'_>, piece: usize) -> Result<()> {
        let (start, len) = self.range(piece);
        let address = self.copy.address + start as u64;
        let chunk = lane.staging.as_ptr();
        let stream = lane.stream.raw();
        let (code, call) = match self.copy.way {
            Way::ToDevice => {
                // SAFETY: the piece lies within what the caller lent, and the chunk is ours and idle.
                let code = unsafe {
                    std::ptr::copy_nonoverlapping(self.copy.host.add(start), chunk, len);
                    (entered.api().memcpy_htod_async)(address, chunk.cast(), len, stream)
                };
                (code, "cuMemcpyHtoDAsync")
            }
            Way::ToHost => {
                // SAFETY: the caller has checked the range on the device; the chunk is ours and idle.
                let code = unsafe {
                    (entered.api().memcpy_dtoh_async)(chunk.cast(), address, len, stream)
                };
                (code, "cuMemcpyDtoHAsync")
            }
        };
        entered.check(code, call)?;
        lane.piece = Some(piece);
        Ok(())
    }

    /// Waits for the piece under way, if there is one, and gives its bytes to the host.
    fn end(&self, entered: &Entered<'_>, lane: &mut Lane<'_>) -> Result<()> {
        let Some(piece) = lane.piece else {
            return Ok(());
        };
        let ended = wait::stream(entered, *lane.stream, Some(self.copy.deadline));
        if ended.is_err() && !self.device.context.is_lost() {
            // It failed, but is over.
            lane.piece = None;
        }
        if !ended? {
            self.device.context.lose(HUNG);
            return Err(Error::new(
                Status::DeviceLost,
                format!(
                    "a copy of {} bytes did not end in time; the backend is lost",
                    self.copy.size
                ),
            ));
        }
        lane.piece = None;
        if self.copy.way == Way::ToHost {
            let (start, len) = self.range(piece);
            // SAFETY: as in `begin`; the device is done with the chunk.
            unsafe {
                let target = self.copy.host.add(start);
                std::ptr::copy_nonoverlapping(lane.staging.as_ptr().cast_const(), target, len);
            }
        }
        Ok(())
    }
}
