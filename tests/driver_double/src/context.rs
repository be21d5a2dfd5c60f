//! The device's one context: who holds it, on which threads it is current, and what ended it.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering::SeqCst};

use crate::{memory, module, stream};

/// The primary context's handle.
pub const PRIMARY: usize = 0xc0 << 40;

static INITIALISED: AtomicBool = AtomicBool::new(false);
/// Lock: held while the context begins and ends.
static CHANGES: Mutex<()> = Mutex::new(());
static RETAINED: AtomicU64 = AtomicU64::new(0);
/// Contexts that have ended: what belongs to an earlier one is dead.
static EPOCH: AtomicU64 = AtomicU64::new(0);
static STICKY: AtomicI32 = AtomicI32::new(0);
/// Entries of all threads' stacks.
static ENTERED: AtomicI64 = AtomicI64::new(0);
static VIOLATIONS: AtomicU64 = AtomicU64::new(0);
static LEAKED: AtomicU64 = AtomicU64::new(0);

/// A thread's contexts, the current one last. It needs no end of its own, so that it is there in exit handlers, too.
#[derive(Clone, Copy)]
struct Stack {
    contexts: [usize; DEEPEST],
    depth: usize,
}

const DEEPEST: usize = 64;

thread_local! {
    static STACK: Cell<Stack> = const { Cell::new(Stack { contexts: [0; DEEPEST], depth: 0 }) };
}

pub fn initialise() {
    INITIALISED.store(true, SeqCst);
}

pub fn is_initialised() -> bool {
    INITIALISED.load(SeqCst)
}

/// The code that every call gives from now on; 0 while the context works.
pub fn sticky() -> i32 {
    STICKY.load(SeqCst)
}

/// Ends the context, if there is one: the first cause stands.
pub fn fail(code: i32) {
    if retained() == 0 {
        return;
    }
    let _ = STICKY.compare_exchange(0, code, SeqCst, SeqCst);
}

/// Something that no driver would have let pass in silence.
pub fn violation(what: std::fmt::Arguments<'_>) {
    VIOLATIONS.fetch_add(1, SeqCst);
    eprintln!("driver double: {what}");
}

pub fn violations() -> u64 {
    VIOLATIONS.load(SeqCst)
}

pub fn retained() -> u64 {
    RETAINED.load(SeqCst)
}

pub fn epoch() -> u64 {
    EPOCH.load(SeqCst)
}

pub fn entered() -> i64 {
    ENTERED.load(SeqCst)
}

/// What was still there when the context ended, over the process's life.
pub fn leaked() -> u64 {
    LEAKED.load(SeqCst)
}

pub fn retain() {
    let _changes = CHANGES.lock().expect("nothing panics under this lock");
    RETAINED.fetch_add(1, SeqCst);
}

/// The last release ends the context with all that is in it.
pub fn release() -> bool {
    let _changes = CHANGES.lock().expect("nothing panics under this lock");
    if retained() == 0 {
        return false;
    }
    if RETAINED.fetch_sub(1, SeqCst) == 1 {
        EPOCH.fetch_add(1, SeqCst);
        stream::wait_for_the_dead();
        let left = [
            ("streams", stream::STREAMS.len()),
            ("events", stream::EVENTS.len()),
            ("modules", module::MODULES.len()),
            ("pools", memory::POOLS.len()),
            ("allocations", memory::allocations()),
        ];
        for (what, count) in left {
            if count > 0 {
                eprintln!("driver double: {count} {what} were left when the context ended");
            }
            LEAKED.fetch_add(count as u64, SeqCst);
        }
        stream::STREAMS.clear();
        stream::EVENTS.clear();
        module::MODULES.clear();
        module::FUNCTIONS.clear();
        memory::clear();
        STICKY.store(0, SeqCst);
    }
    true
}

pub fn current() -> usize {
    let stack = STACK.get();
    match stack.depth {
        0 => 0,
        depth => stack.contexts[depth - 1],
    }
}

pub fn is_current() -> bool {
    current() == PRIMARY && retained() > 0
}

/// How often this thread has entered.
pub fn depth() -> usize {
    STACK.get().depth
}

pub fn push(context: usize) {
    let mut stack = STACK.get();
    if stack.depth == DEEPEST {
        return violation(format_args!("{DEEPEST} contexts are pushed on one thread"));
    }
    stack.contexts[stack.depth] = context;
    stack.depth += 1;
    STACK.set(stack);
    ENTERED.fetch_add(1, SeqCst);
}

pub fn pop() -> Option<usize> {
    let mut stack = STACK.get();
    let popped = current();
    stack.depth = stack.depth.checked_sub(1)?;
    STACK.set(stack);
    ENTERED.fetch_sub(1, SeqCst);
    Some(popped)
}
