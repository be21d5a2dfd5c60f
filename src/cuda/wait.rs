//! Waiting for a stream, never longer than a limit.

use std::time::{Duration, Instant};

use super::context::Entered;
use super::driver::code;
use super::stream::StreamHandle;
use crate::error::Result;

/// How long to ask without a pause: most dispatches are over by then, and a sleep costs more.
const SPIN: Duration = Duration::from_micros(200);
/// How long to give way to other threads between questions, before sleeping.
const YIELD: Duration = Duration::from_millis(2);
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// Whether the stream's work was done before the deadline. `None` waits for as long as it takes.
pub fn stream(
    entered: &Entered<'_>,
    stream: StreamHandle,
    deadline: Option<Instant>,
) -> Result<bool> {
    let start = Instant::now();
    loop {
        // SAFETY: the stream is alive and of the current context.
        let code = unsafe { (entered.api().stream_query)(stream.raw()) };
        if code != code::NOT_READY {
            return entered.check(code, "cuStreamQuery").map(|()| true);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Ok(false);
        }
        pause(now - start);
    }
}

/// Costs the more the longer one has waited.
fn pause(waited: Duration) {
    if waited < SPIN {
        std::hint::spin_loop();
    } else if waited < YIELD {
        std::thread::yield_now();
    } else {
        std::thread::sleep((waited / 20).min(LONGEST_SLEEP));
    }
}
