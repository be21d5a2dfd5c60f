//! Streams: work in order, each on a thread of its own, and events between them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::context;
use crate::entry::{INVALID_HANDLE, NOT_READY, SUCCESS, UNKNOWN};
use crate::handles::Table;

pub static STREAMS: Table<Stream> = Table::new("stream", 0xa0);
pub static EVENTS: Table<Event> = Table::new("event", 0xe0);

type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    work: VecDeque<Work>,
    is_busy: bool,
    has_thread: bool,
    is_closed: bool,
}

pub struct Stream {
    /// The context that it is of.
    epoch: u64,
    queue: Mutex<Queue>,
    changed: Condvar,
}

/// Work that is being done.
static AT_WORK: AtomicU64 = AtomicU64::new(0);

/// When this returns nothing of a context that has ended is done any more.
pub fn wait_for_the_dead() {
    while AT_WORK.load(SeqCst) > 0 {
        std::thread::sleep(Duration::from_micros(50));
    }
}

impl Default for Stream {
    fn default() -> Stream {
        Stream {
            epoch: context::epoch(),
            queue: Mutex::default(),
            changed: Condvar::new(),
        }
    }
}

impl Stream {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work to do when all before it is done. In a context that has failed nothing is done any more.
    pub fn enqueue(self: &Arc<Self>, work: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue();
        queue.work.push_back(Box::new(work));
        if !queue.has_thread {
            queue.has_thread = true;
            let stream = Arc::clone(self);
            std::thread::Builder::new()
                .name("double-stream".to_owned())
                .spawn(move || stream.run())
                .expect("the system has threads");
        }
        self.changed.notify_all();
    }

    fn run(&self) {
        let mut queue = self.queue();
        loop {
            if let Some(work) = queue.work.pop_front() {
                queue.is_busy = true;
                drop(queue);
                AT_WORK.fetch_add(1, SeqCst);
                let is_dead = context::epoch() != self.epoch || context::sticky() != SUCCESS;
                if !is_dead && catch_unwind(AssertUnwindSafe(work)).is_err() {
                    context::violation(format_args!("work on a stream panicked"));
                    context::fail(UNKNOWN);
                }
                AT_WORK.fetch_sub(1, SeqCst);
                queue = self.queue();
                queue.is_busy = false;
                self.changed.notify_all();
            } else if queue.is_closed {
                return;
            } else {
                queue = (self.changed.wait(queue)).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn is_idle(&self) -> bool {
        let queue = self.queue();
        queue.work.is_empty() && !queue.is_busy
    }

    pub fn query(&self) -> i32 {
        if !self.is_idle() {
            return NOT_READY;
        }
        context::sticky()
    }

    pub fn synchronise(&self) -> i32 {
        let mut queue = self.queue();
        while !queue.work.is_empty() || queue.is_busy {
            queue = (self.changed.wait(queue)).unwrap_or_else(PoisonError::into_inner);
        }
        drop(queue);
        context::sticky()
    }

    /// Its thread ends behind what is still to do.
    pub fn close(&self) {
        self.queue().is_closed = true;
        self.changed.notify_all();
    }
}

/// Waits for all streams, as calls do that free memory or code.
pub fn synchronise_all() {
    for stream in STREAMS.all() {
        stream.synchronise();
    }
}

#[derive(Default)]
pub struct Event {
    state: Mutex<Marks>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Marks {
    asked: u64,
    /// The mark that a stream came to last.
    come: u64,
    time: Option<Instant>,
}

impl Event {
    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn record(self: &Arc<Self>, stream: &Arc<Stream>) {
        let mark = {
            let mut marks = self.marks();
            marks.asked += 1;
            marks.asked
        };
        let event = Arc::clone(self);
        stream.enqueue(move || {
            let mut marks = event.marks();
            marks.come = marks.come.max(mark);
            marks.time = Some(Instant::now());
            event.changed.notify_all();
        });
    }

    /// The stream goes on when what was recorded last has come.
    pub fn hold(self: &Arc<Self>, stream: &Arc<Stream>) {
        let mark = self.marks().asked;
        let event = Arc::clone(self);
        stream.enqueue(move || event.wait(mark));
    }

    fn wait(&self, mark: u64) {
        let mut marks = self.marks();
        while marks.come < mark && context::sticky() == SUCCESS {
            let limit = Duration::from_millis(5);
            marks = match self.changed.wait_timeout(marks, limit) {
                Ok((marks, _)) => marks,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    pub fn query(&self) -> i32 {
        let marks = *self.marks();
        if context::sticky() == SUCCESS && marks.come < marks.asked {
            return NOT_READY;
        }
        context::sticky()
    }

    pub fn synchronise(&self) -> i32 {
        let mark = self.marks().asked;
        self.wait(mark);
        context::sticky()
    }

    /// Milliseconds from one event to another.
    pub fn elapsed(&self, end: &Event) -> Result<f32, i32> {
        let (start, end) = (*self.marks(), *end.marks());
        if start.come < start.asked || end.come < end.asked {
            return Err(NOT_READY);
        }
        let (Some(start), Some(end)) = (start.time, end.time) else {
            return Err(INVALID_HANDLE);
        };
        Ok(end.saturating_duration_since(start).as_secs_f32() * 1e3)
    }
}
