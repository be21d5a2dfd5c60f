//! Messages for whoever embeds the library; nothing is written anywhere unless a sink is set.
//!
//! No lock is held while a sink runs, so a sink may set another one. The lock below is the last in
//! every order: nothing is locked under it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use parking_lot::RwLock;

/// How much a message matters. The numbers are the C ABI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Level {
    /// Only as a threshold: nothing passes.
    Off = 0,
    Error = 1,
    Warn = 2,
    Info = 3,
    Debug = 4,
}

/// Takes messages, from any thread.
pub trait Sink: Send + Sync {
    fn message(&self, level: Level, text: &str);
}

/// 0: no sink. Read before anything else, so that a silent library pays one load.
static THRESHOLD: AtomicI32 = AtomicI32::new(0);
static SINK: RwLock<Option<(Level, Arc<dyn Sink>)>> = RwLock::new(None);

thread_local! {
    static IN_SINK: Cell<bool> = const { Cell::new(false) };
}

/// Replaces the sink; it gets messages up to its level. The old one is dropped once its last message ends.
pub fn set_sink(sink: Option<(Level, Arc<dyn Sink>)>) {
    let threshold = sink.as_ref().map_or(0, |(level, _)| *level as i32);
    let old = {
        let mut slot = SINK.write();
        THRESHOLD.store(threshold, Relaxed);
        std::mem::replace(&mut *slot, sink)
    };
    // Outside the lock: dropping runs the embedder's finalizer.
    drop(old);
}

/// Sends a message that is only formatted when somebody listens.
pub fn log(level: Level, text: impl FnOnce() -> String) {
    if level as i32 > THRESHOLD.load(Relaxed) {
        return;
    }
    // A sink that calls a failing function of the library would otherwise be called for ever.
    let Some(_inside) = Inside::enter() else {
        return;
    };
    let sink = SINK.read().clone();
    // The threshold was read before the lock: between the two, the sink may have been replaced.
    if let Some((most, sink)) = sink
        && level <= most
    {
        sink.message(level, &text());
    }
}

/// Marks this thread as one that runs a sink, also if that panics.
struct Inside;

impl Inside {
    fn enter() -> Option<Inside> {
        (!IN_SINK.replace(true)).then_some(Inside)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IN_SINK.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Recorder(Mutex<Vec<(Level, String)>>);

    impl Sink for Recorder {
        fn message(&self, level: Level, text: &str) {
            log(Level::Error, || "nested".into());
            if let Ok(mut seen) = self.0.lock() {
                seen.push((level, text.to_owned()));
            }
        }
    }

    #[test]
    fn a_sink_gets_its_levels_only_and_nothing_from_within_itself() {
        let sink = Arc::new(Recorder(Mutex::default()));
        set_sink(Some((Level::Info, sink.clone())));
        log(Level::Info, || "vyre-log-test one".into());
        log(Level::Debug, || {
            unreachable!("nobody listens to this level")
        });
        set_sink(None);
        log(Level::Error, || unreachable!("nobody listens"));
        let seen = sink.0.lock().unwrap();
        assert!(seen.contains(&(Level::Info, "vyre-log-test one".into())));
        assert!(seen.iter().all(|(_, text)| text != "nested"));
        drop(seen);
        assert_eq!(Arc::strong_count(&sink), 1);
    }
}
