//! A sweep of faults: each call of the driver that each entry point makes fails at each of its uses, in each of
//! several ways. Whatever fails, the caller is told what it was; nothing is left, nothing that was not named has
//! changed, and the next dispatch is right, or the backend says that it is lost.

mod double;
#[path = "double/entries.rs"]
mod entries;
mod harness;

use std::collections::BTreeMap;

use double::{Double, acquire, alone};
use entries::{ENTRIES, Entry, Scene};
use vyre::error::{Error, Status};

/// What calls give: out of memory, a refusal, two that end the context, one that only questions have, and a code that
/// nobody knows.
const FAULTS: [i32; 6] = [2, 1, 719, 700, 600, 12345];

/// Uses of one call that are tried: those past it are like those before.
const MOST_USES: u64 = 6;

/// Calls for which a refusal is an answer: there is no such memory, there is no such parameter.
const ANSWERS: [&str; 2] = ["cuPointerGetAttribute", "cuFuncGetParamInfo"];

fn is_sticky(code: i32) -> bool {
    (700..800).contains(&code)
}

/// Whether an error tells of this code, in this call.
fn tells(error: &Error, call: &str, code: i32) -> bool {
    let status = error.status();
    let is_right = match code {
        _ if is_sticky(code) => status == Status::DeviceLost,
        2 => matches!(status, Status::OutOfDeviceMemory | Status::OutOfHostMemory),
        // What is not known to the driver is no memory to import, and too much to page-lock.
        1 => matches!(
            status,
            Status::DispatchFailed
                | Status::DriverUnavailable
                | Status::InvalidArgument
                | Status::OutOfHostMemory
        ),
        _ => matches!(status, Status::DispatchFailed | Status::DriverUnavailable),
    };
    let is_about = error.native_code() == code
        || code == 1 && ANSWERS.contains(&call)
        || status == Status::OutOfHostMemory;
    is_right && is_about && error.message().len() > 20 && error.fix().len() > 10
}

/// Whether a fault need not be told: there is another way, or nobody to tell.
fn may_go_well(entry: &Entry, call: &str, code: i32) -> bool {
    let gives_back = ["Free", "Destroy", "Unload", "Release", "Pop", "Trim"];
    if gives_back.iter().any(|part| call.contains(part)) {
        return true;
    }
    // Slots that cannot be timed are taken in any order.
    let times_slots = [
        "cuModuleLoadDataEx",
        "cuModuleGetFunction",
        "cuLaunchCooperativeKernel",
        "cuMemsetD8Async",
        "cuStreamQuery",
        "cuStreamSynchronize",
        "cuMemcpyDtoHAsync_v2",
    ];
    let is_due = ["warm up", "dispatch, 130 times"].contains(&entry.name);
    if is_due && times_slots.contains(&call) {
        return true;
    }
    match call {
        // Pools and pages that are not locked are asked for only to be quicker.
        "cuDeviceGetAttribute" | "cuPointerGetAttribute" => true,
        // Making memory, slots and modules is tried once more, and locked pages are done without.
        "cuMemAlloc_v2"
        | "cuMemAllocFromPoolAsync"
        | "cuMemHostAlloc"
        | "cuModuleLoadDataEx"
        | "cuMemHostGetDevicePointer_v2" => code == 2,
        "cuStreamSynchronize" if code == 2 => true,
        "cuMemsetD8Async" | "cuStreamCreate" if code == 2 => {
            entry.name.contains("dispatch")
                || entry.name.contains("batch")
                || entry.name == "warm up"
        }
        "cuFuncGetParamInfo" => code == 1,
        "cuStreamQuery" => code == 600,
        // Within what gives back.
        "cuCtxGetCurrent" | "cuCtxPushCurrent_v2" => {
            !["write", "read", "fill", "copy"].contains(&entry.name)
        }
        "cuStreamSynchronize" => ["trim", "release"].contains(&entry.name),
        _ => false,
    }
}

/// One fault in one entry point; whether it came to pass.
fn try_fault(entry: &Entry, call: &str, n: u64, code: i32) -> bool {
    let double = Double::get();
    let about = format!("{}: {call} gives {code} at use {n}", entry.name);
    let mut scene = Scene::prepared(entry);
    let before = ["leaked", "violations"].map(|name| double.count(name));
    double.script(&format!("{call}@{n}={code}"));
    let result = (entry.run)(&mut scene);
    let fired = double.count("fired") > 0;
    double.script("");
    match &result {
        Err(error) => assert!(fired && tells(error, call, code), "{about}: {error:?}"),
        Ok(()) => assert!(
            !fired || may_go_well(entry, call, code),
            "{about}: nobody was told"
        ),
    }
    let is_lost = fired && is_sticky(code);
    if is_lost {
        scene.assert_lost(&about);
    } else {
        scene.assert_works(&about);
    }
    drop(scene);
    let after = ["leaked", "violations"].map(|name| double.count(name));
    for name in ["contexts", "entered"] {
        assert_eq!(double.count(name), 0, "{name}, {about}");
    }
    assert_eq!(after[1], before[1], "violations, {about}");
    // What the device may still be using is left to the end of its context. And what cannot be entered to be given back,
    // nobody gives back later, unless pools keep it.
    let enters = ["cuCtxGetCurrent", "cuCtxPushCurrent_v2"].contains(&call);
    let may_leak = is_lost || enters && entry.name != "trim";
    assert!(may_leak || after[0] == before[0], "leaks, {about}");
    // The next one begins with a context of its own.
    let fresh = acquire().unwrap_or_else(|error| panic!("{about}: {error}"));
    drop(fresh);
    fired
}

#[test]
fn every_call_fails_in_every_way_under_every_entry_point() {
    alone(
        "every_call_fails_in_every_way_under_every_entry_point",
        || {
            let double = Double::get();
            let mut all = 0;
            let mut calls_seen = BTreeMap::<String, u64>::new();
            for entry in ENTRIES {
                let mut scene = Scene::prepared(&entry);
                double.script("");
                (entry.run)(&mut scene).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
                let uses = double.uses();
                drop(scene);
                let mut line = String::new();
                let mut of_entry = 0;
                for (call, uses) in uses
                    .iter()
                    .filter(|(call, _)| !call.starts_with("cuGetError"))
                {
                    let mut of_call = 0;
                    for code in FAULTS {
                        // A kernel ends well or with its context.
                        if call == "kernel" && !is_sticky(code) {
                            continue;
                        }
                        let fired = (1..=(*uses).min(MOST_USES))
                            .filter(|&n| try_fault(&entry, call, n, code));
                        of_call += fired.count() as u64;
                    }
                    line += &format!(" {call} {of_call}");
                    of_entry += of_call;
                    *calls_seen.entry(call.clone()).or_default() += of_call;
                }
                println!("{:<24} {of_entry:>5} {line}", entry.name);
                all += of_entry;
            }
            println!(
                "{all} faults under {} entry points, in {} calls",
                ENTRIES.len(),
                calls_seen.len()
            );
            assert!(all > 1000 && calls_seen.len() > 30, "{calls_seen:?}");
        },
    );
}
