//! What a process sees that has a certain driver in its environment.

use std::ffi::OsStr;
use std::process::Command;

use serde_json::{Value, json};
use vyre::backend::{self, BackendDesc, Choice, Format, Kind, ProgramDesc};

const MARK: &str = "REPORT ";

#[derive(Debug)]
pub struct Report {
    /// Of acquiring CUDA device 0; 0 if that worked.
    pub status: i32,
    pub native_code: i32,
    pub message: String,
    pub fix: String,
    /// Why AUTO took what it took.
    pub auto_reason: String,
    /// Why each CUDA device in the list cannot be used.
    pub cuda_listed: Vec<String>,
    /// A program loads on the CPU, which is in the list, too.
    pub cpu_works: bool,
}

fn describe() -> Value {
    let acquire = |choice| {
        backend::acquire(&BackendDesc {
            choice,
            ordinal: 0,
            cpu_threads: 1,
        })
    };
    let error = acquire(Choice::Cuda).err();
    // The same again: a failure leaves nothing behind that makes the next one different.
    assert_eq!(acquire(Choice::Cuda).err(), error);
    let devices = backend::devices();
    let of = |kind| devices.iter().filter(move |device| device.kind == kind);
    let loads = acquire(Choice::Cpu).and_then(|cpu| {
        cpu.load(&ProgramDesc::new(
            Format::Wgsl,
            b"@compute @workgroup_size(1) fn main() {}",
        ))
    });
    let auto = acquire(Choice::Auto);
    json!({
        "status": error.as_ref().map_or(0, |e| e.status() as i32),
        "native_code": error.as_ref().map_or(0, |e| e.native_code()),
        "message": error.as_ref().map_or("", |e| e.message()),
        "fix": error.as_ref().map_or("", |e| e.fix()),
        "auto_reason": auto.map_or_else(|e| e.message().to_owned(), |b| b.info().reason.clone()),
        "cuda_listed": of(Kind::Cuda).map(|d| d.unusable_because.clone()).collect::<Vec<_>>(),
        "cpu_works": loads.is_ok() && of(Kind::Cpu).count() == 1,
    })
}

/// The other end of `report_of`: a process with a driver of its own.
#[test]
#[ignore = "the other tests start it, in a process of its own"]
fn child() {
    println!("\n{MARK}{}", describe());
}

/// Runs `child` with this driver, or the system's.
#[track_caller]
pub fn report_of(driver: Option<&OsStr>, settings: &[(&str, &str)]) -> Report {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its file"));
    command
        .args(["--exact", "child::child", "--ignored", "--nocapture"])
        .env_remove("VYRE_CUDA_DRIVER")
        .envs(settings.iter().copied());
    if let Some(driver) = driver {
        command.env("VYRE_CUDA_DRIVER", driver);
    }
    let output = command.output().expect("a test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{complaint}");
    let line = (text.lines().find_map(|line| line.strip_prefix(MARK)))
        .unwrap_or_else(|| panic!("no report in\n{text}\n{complaint}"));
    let value: Value = serde_json::from_str(line).expect("it is JSON");
    let number = |name: &str| value[name].as_i64().expect("a number") as i32;
    let string = |name: &str| value[name].as_str().expect("a text").to_owned();
    Report {
        status: number("status"),
        native_code: number("native_code"),
        message: string("message"),
        fix: string("fix"),
        auto_reason: string("auto_reason"),
        cuda_listed: (value["cuda_listed"].as_array().expect("a list").iter())
            .map(|reason| reason.as_str().expect("a text").to_owned())
            .collect(),
        cpu_works: value["cpu_works"].as_bool().expect("a flag"),
    }
}
