//! The cache of PTX on disk, from one process to the next. A made-up driver takes every program, so that no GPU
//! is needed: what is compiled, found and counted does not depend on one.

mod fake_driver;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use vyre::backend::{self, BackendDesc, Choice, Format, ProgramDesc};
use vyre::error::{Result, Status};

const MARK: &str = "REPORT ";
const SOURCE: &str = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
    override n: u32 = 3; var<immediate> add: vec2<u32>;
    @compute @workgroup_size(n) fn main(@builtin(global_invocation_id) id: vec3u) {
        out[id.x] += add.x; gridBarrier(); out[id.x + 1u] = add.y; }";

/// Loads the program, with an override of one value after the other, and tells what the last one is like.
fn describe() -> Result<Value> {
    let backend = backend::acquire(&BackendDesc {
        choice: Choice::Cuda,
        ordinal: 0,
        cpu_threads: 1,
    })?;
    let values = std::env::var("LOADS").expect("the parent sets it");
    let mut last = json!(null);
    for value in values.split(' ') {
        let program = backend.clone().load(&ProgramDesc {
            label: Some("label.wgsl"),
            overrides: vec![("n", value.parse().expect("a number"))],
            ..ProgramDesc::new(Format::Wgsl, SOURCE.as_bytes())
        })?;
        last = json!({
            "reflection": format!("{:?}", program.reflection()),
            "ptx": program.ptx(vyre::backend::PtxContract::AsDispatched)?,
        });
    }
    let counts = backend.telemetry();
    Ok(json!({
        "hits": counts.disk_hits,
        "misses": counts.disk_misses,
        "writes": counts.disk_writes,
        "last": last,
    }))
}

/// The other end of `load`: a process with a driver and an environment of its own.
#[test]
#[ignore = "the other tests start it, in a process of its own"]
fn child() {
    let report = describe().unwrap_or_else(|error| {
        json!({
            "status": error.status() as i32,
            "message": error.message(),
            "fix": error.fix(),
        })
    });
    println!("\n{MARK}{report}");
}

/// Runs `child` with no variable that names a place but these.
#[track_caller]
fn load(values: &str, places: &[(&str, &str)]) -> Value {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its file"));
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    for name in ["VYRE_PTX_CACHE_DIR", "XDG_CACHE_HOME", "HOME"] {
        command.env_remove(name);
    }
    command
        .env("VYRE_CUDA_DRIVER", fake_driver::driver(None))
        .env("LOADS", values)
        .envs(places.iter().copied());
    let output = command.output().expect("a test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{complaint}");
    let line = (text.lines().find_map(|line| line.strip_prefix(MARK)))
        .unwrap_or_else(|| panic!("no report in\n{text}\n{complaint}"));
    serde_json::from_str(line).expect("it is JSON")
}

#[track_caller]
fn counts(report: &Value) -> [u64; 3] {
    ["hits", "misses", "writes"]
        .map(|name| (report[name].as_u64()).unwrap_or_else(|| panic!("no count in {report:#}")))
}

/// An empty folder of this test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("ptx_disk_cache")
        .join(format!("{test}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("cargo's folder for tests can be written");
    folder
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listing = std::fs::read_dir(folder).expect("the cache made it");
    listing
        .map(|entry| entry.expect("it is there").path())
        .collect()
}

#[test]
fn a_second_process_compiles_nothing_and_gets_the_same() {
    let scratch = scratch("second");
    let places = [("VYRE_PTX_CACHE_DIR", scratch.to_str().unwrap())];
    let first = load("1 2 1 3", &places);
    // The repeated one is in memory.
    assert_eq!(counts(&first), [0, 3, 3], "{first:#}");
    assert_eq!(entries(&scratch).len(), 3);
    let second = load("1 2 1 3", &places);
    assert_eq!(counts(&second), [3, 0, 0], "{second:#}");
    assert_eq!(second["last"], first["last"]);
    let reflection = first["last"]["reflection"].as_str().unwrap();
    for part in [
        "[3, 1, 1]",
        "label.wgsl",
        "grid_barriers: 1",
        "immediates_size: 8",
        "\"out\"",
    ] {
        assert!(reflection.contains(part), "{reflection}");
    }
    assert!(first["last"]["ptx"].as_str().unwrap().contains(".entry"));
    // One of them damaged: that one is compiled, and is right again.
    let victim = &entries(&scratch)[0];
    let mut bytes = std::fs::read(victim).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(victim, bytes).unwrap();
    assert_eq!(counts(&load("1 2 3", &places)), [2, 1, 1]);
    assert_eq!(counts(&load("1 2 3", &places)), [3, 0, 0]);
    std::fs::remove_dir_all(scratch).unwrap();
}

#[test]
fn the_environment_says_where() {
    let scratch = scratch("where");
    let at = |name: &str| scratch.join(name).to_str().unwrap().to_owned();
    let (ours, xdg, home) = (at("ours"), at("xdg"), at("home"));
    let all = [
        ("VYRE_PTX_CACHE_DIR", ours.as_str()),
        ("XDG_CACHE_HOME", xdg.as_str()),
        ("HOME", home.as_str()),
    ];
    let places = ["ours", "xdg/vyre/ptx-cache", "home/.cache/vyre/ptx-cache"];
    for (n, place) in places.iter().enumerate() {
        assert_eq!(counts(&load("1", &all[n..])), [0, 1, 1]);
        assert_eq!(entries(&scratch.join(place)).len(), 1, "{place}");
    }
    std::fs::remove_dir_all(scratch).unwrap();
}

#[test]
fn no_place_or_an_empty_one_is_an_error_of_the_load() {
    let check = |places: &[(&str, &str)], needle: &str| {
        let report = load("1", places);
        assert_eq!(report["status"], Status::Io as i32, "{report:#}");
        assert!(
            report["message"].as_str().unwrap().contains(needle),
            "{report:#}"
        );
        assert!(
            report["fix"]
                .as_str()
                .unwrap()
                .contains("VYRE_PTX_CACHE_DIR"),
            "{report:#}"
        );
    };
    check(
        &[],
        "none of VYRE_PTX_CACHE_DIR, XDG_CACHE_HOME and HOME is set",
    );
    check(&[("HOME", "")], "HOME is empty");
    check(
        &[("XDG_CACHE_HOME", ""), ("HOME", "/tmp")],
        "XDG_CACHE_HOME is empty",
    );
    check(
        &[("VYRE_PTX_CACHE_DIR", ""), ("HOME", "/tmp")],
        "VYRE_PTX_CACHE_DIR is empty",
    );
}

#[test]
fn a_place_that_cannot_be_used_costs_compiling_and_nothing_else() {
    let scratch = scratch("unusable");
    let file = scratch.join("file");
    std::fs::write(&file, "in the way").unwrap();
    let link = scratch.join("link");
    symlink("/nowhere/at/all", &link).unwrap();
    let [file, link] = [&file, &link].map(|path| path.to_str().unwrap());
    for place in [file, link, "/dev/null", "/proc/self"] {
        let report = load("1 2", &[("VYRE_PTX_CACHE_DIR", place)]);
        assert_eq!(counts(&report), [0, 2, 0], "{place}: {report:#}");
    }
    assert_eq!(std::fs::read(file).unwrap(), b"in the way");
    std::fs::remove_dir_all(scratch).unwrap();
}
