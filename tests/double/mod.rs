//! Tests over `tests/driver_double`, the driver without a GPU: each runs in a process of its own, because a process
//! opens one driver, and the double's script is the process's.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod programs;

use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use vyre::backend::{Backend, BackendDesc, Choice};
use vyre::error::Result;

/// Set in the process that a test runs in.
const INSIDE: &str = "VYRE_TEST_INSIDE";

/// Builds the double, unless it is built.
pub fn driver() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = root.join("target/double");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--locked", "--offline", "--manifest-path"])
        .arg(root.join("tests/driver_double/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .output()
        .expect("these tests need cargo: put it in PATH, or name it in CARGO");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    target.join("debug/libcuda.so")
}

/// Runs `body` in a process whose driver is the double; `test` is the full name of the test that calls.
#[track_caller]
pub fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("double-ptx")
        .join(test);
    // What an earlier build emitted is not what is tested.
    let _ = std::fs::remove_dir_all(&cache);
    let output = Command::new(std::env::current_exe().expect("a test knows its file"))
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, test)
        .env("VYRE_CUDA_DRIVER", driver())
        .env("VYRE_PTX_CACHE_DIR", cache)
        .env_remove("VYRE_DOUBLE_FAULTS")
        .output()
        .expect("a test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let told = || {
        format!(
            "{text}\n{}",
            &complaint[complaint.len().saturating_sub(20_000)..]
        )
    };
    assert!(output.status.success(), "{}", told());
    assert!(text.contains("1 passed"), "{test} did not run:\n{}", told());
    print!("{text}");
}

/// The double's own functions.
pub struct Double {
    library: libloading::Library,
}

impl Double {
    pub fn get() -> &'static Double {
        static DOUBLE: OnceLock<Double> = OnceLock::new();
        DOUBLE.get_or_init(|| {
            let path = std::env::var_os("VYRE_CUDA_DRIVER").expect("`alone` sets it");
            // SAFETY: the double's initialisers do nothing.
            let library = unsafe { libloading::Library::new(path) };
            Double {
                library: library.expect("`alone` has built it"),
            }
        })
    }

    /// Makes things go wrong, as `tests/driver_double/src/fault.rs` tells, and starts counting uses.
    #[track_caller]
    pub fn script(&self, script: &str) {
        let text = CString::new(script).expect("no NUL inside");
        // SAFETY: the type is that of the double's function of this name.
        let wrong = unsafe {
            let set =
                (self.library).get::<extern "C" fn(*const c_char) -> i32>("vyre_double_script");
            set.expect("the double has it")(text.as_ptr())
        };
        assert_eq!(wrong, 0, "{script}");
    }

    /// One of the double's counts.
    #[track_caller]
    pub fn count(&self, name: &str) -> u64 {
        let text = CString::new(name).expect("no NUL inside");
        // SAFETY: the type is that of the double's function of this name.
        let count = unsafe {
            let count =
                (self.library).get::<extern "C" fn(*const c_char) -> u64>("vyre_double_count");
            count.expect("the double has it")(text.as_ptr())
        };
        assert_ne!(count, u64::MAX, "{name}");
        count
    }

    /// Bytes of memory that the device has.
    pub fn set_memory(&self, bytes: u64) {
        // SAFETY: the type is that of the double's function of this name.
        unsafe {
            let set = (self.library).get::<extern "C" fn(u64)>("vyre_double_set_memory");
            set.expect("the double has it")(bytes);
        }
    }

    /// Calls of the driver since the script was set, with how often they were used.
    pub fn uses(&self) -> Vec<(String, u64)> {
        let mut text = vec![0u8; 1 << 16];
        // SAFETY: the type is that of the double's function of this name, and the room is what is told.
        let length = unsafe {
            let uses =
                (self.library).get::<extern "C" fn(*mut u8, usize) -> usize>("vyre_double_uses");
            uses.expect("the double has it")(text.as_mut_ptr(), text.len())
        };
        let text = std::str::from_utf8(&text[..length]).expect("the names are ASCII");
        let use_of = |line: &str| {
            let (call, count) = line.split_once(' ').expect("a call and a count");
            (call.to_owned(), count.parse().expect("a number"))
        };
        text.lines().map(use_of).collect()
    }

    pub fn uses_of(&self, call: &str) -> u64 {
        let uses = self.uses();
        uses.iter()
            .find(|(name, _)| name == call)
            .map_or(0, |(_, count)| *count)
    }

    /// Nothing is left of any backend, and nothing was done that no driver allows.
    #[track_caller]
    pub fn assert_clean(&self, about: &str) {
        for name in [
            "contexts",
            "entered",
            "leaked",
            "violations",
            "streams",
            "events",
            "modules",
            "variables",
            "pools",
            "device",
            "pooled",
            "host",
        ] {
            assert_eq!(self.count(name), 0, "{name} {about}");
        }
    }
}

/// A backend of the double's only device.
pub fn acquire() -> Result<Arc<dyn Backend>> {
    vyre::backend::acquire(&BackendDesc {
        choice: Choice::Cuda,
        ordinal: 0,
        cpu_threads: 1,
    })
}

/// A backend whose launch slots are made and timed, so that what is told to a kernel is told to the program's.
pub fn acquire_warm() -> Arc<dyn Backend> {
    let backend = acquire().expect("the double is there");
    let program = programs::load(&backend).expect("nothing fails yet");
    let bound = programs::buffers(&backend, 5);
    let asked = crate::harness::dispatch([5, 1, 1], &bound);
    program.warm_up(&asked).expect("nothing fails yet");
    backend
}
