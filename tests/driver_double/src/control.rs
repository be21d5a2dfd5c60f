//! What a test in the same process asks for and sets; it finds these functions by name in the library.

use std::ffi::{CStr, c_char};

use crate::fault;
use crate::memory::Kind;
use crate::{context, memory, module, stream};

fn text<'t>(pointer: *const c_char) -> &'t str {
    // SAFETY: the caller passes a text that ends with a NUL and lives for the call.
    unsafe { CStr::from_ptr(pointer) }
        .to_str()
        .unwrap_or_default()
}

/// Puts a script of faults in force (see `fault`), and starts counting uses anew. 0 if it is one.
#[unsafe(no_mangle)]
extern "C" fn vyre_double_script(script: *const c_char) -> i32 {
    match fault::set(text(script)) {
        Ok(()) => 0,
        Err(what) => {
            eprintln!("driver double: {what}");
            1
        }
    }
}

/// A count by its name; `u64::MAX` for a name that is none.
#[unsafe(no_mangle)]
extern "C" fn vyre_double_count(name: *const c_char) -> u64 {
    match text(name) {
        // What is there now.
        "contexts" => context::retained(),
        "entered" => context::entered().cast_unsigned(),
        "depth" => context::depth() as u64,
        "streams" => stream::STREAMS.len() as u64,
        "events" => stream::EVENTS.len() as u64,
        "modules" => module::MODULES.len() as u64,
        "pools" => memory::POOLS.len() as u64,
        "device" => memory::count(|kind| kind == Kind::Device) as u64,
        "pooled" => memory::count(|kind| matches!(kind, Kind::Pooled(_))) as u64,
        "host" => memory::count(|kind| kind == Kind::Host) as u64,
        "variables" => memory::count(|kind| kind == Kind::Variable) as u64,
        "free" => memory::free_bytes(),
        // Since the process began: things done that no driver allows, and what was left when a context ended.
        "violations" => context::violations(),
        "leaked" => context::leaked(),
        // Since the script was set.
        "fired" => fault::with(|script| script.fired),
        _ => u64::MAX,
    }
}

/// Sets bytes of the device's memory.
#[unsafe(no_mangle)]
extern "C" fn vyre_double_set_memory(bytes: u64) {
    memory::set_total(bytes);
}

/// Writes `call count` lines of what was used since the script was set; the bytes that all of it takes.
#[unsafe(no_mangle)]
extern "C" fn vyre_double_uses(to: *mut u8, room: usize) -> usize {
    let mut lines: Vec<String> = fault::with(|script| {
        (script.uses.iter())
            .map(|(call, uses)| format!("{call} {uses}\n"))
            .collect()
    });
    lines.sort();
    let all = lines.concat();
    // SAFETY: the caller has as much room as it says.
    unsafe { to.copy_from_nonoverlapping(all.as_ptr(), all.len().min(room)) };
    all.len()
}
