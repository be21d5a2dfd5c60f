//! Waiting for a stream, never longer than a limit.

use std::time::{Duration, Instant};

use super::context::Entered;
use super::driver::code;
use super::stream::StreamHandle;
use crate::error::{Error, Result};

/// How long to ask without a pause: most dispatches are over by then, and a sleep costs more.
const SPIN: Duration = Duration::from_micros(200);
/// How long to give way to other threads between questions, before sleeping.
const YIELD: Duration = Duration::from_millis(2);
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// How long a question may go on failing, of which nobody knows why.
const BAFFLED: Duration = Duration::from_secs(1);

/// Whether the stream's work was done before the deadline. `None` waits for as long as it takes.
///
/// A question that fails says nothing about the work, and what the work uses must not be reused while it goes on. So
/// such an error is told when the work is over; if that cannot be found out, the context is lost.
pub fn stream(
    entered: &Entered<'_>,
    stream: StreamHandle,
    deadline: Option<Instant>,
) -> Result<bool> {
    let start = Instant::now();
    let mut failure: Option<(Error, Instant)> = None;
    loop {
        // SAFETY: the stream is alive and of the current context.
        let code = unsafe { (entered.api().stream_query)(stream.raw()) };
        if code == code::SUCCESS {
            return failure.map_or(Ok(true), |(error, _)| Err(error));
        }
        let now = Instant::now();
        let is_late = deadline.is_some_and(|deadline| now >= deadline);
        if code != code::NOT_READY
            && let Err(error) = entered.check(code, "cuStreamQuery")
        {
            let (_, since) = failure.get_or_insert((error.clone(), now));
            if code::is_sticky(code) || is_late || now - *since > BAFFLED {
                entered.lose(code);
                return Err(error);
            }
        } else if is_late {
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
