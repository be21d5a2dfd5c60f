//! Recorded vectors of the WebGPU conformance suite: a program, its inputs, the exact bytes that come out.
//!
//! The vectors are not part of this repository; they are read from `VYRE_CONFORMANCE_DIR`, by default
//! `../shared/conformance`. A spread of 200 runs by default, all of them with `VYRE_CONFORMANCE=all`,
//! and those whose id contains a text with `VYRE_CONFORMANCE=text`.

mod harness;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use serde_json::Value;
use vyre::backend::{Binding, BindingSource, Dispatch, Format, ProgramDesc};

struct Vector {
    topic: String,
    json: Value,
}

const NAGA_SHIFTS: [&str; 0] = [];
struct Failure {
    topic: String,
    id: String,
    what: String,
}

fn folder() -> PathBuf {
    std::env::var_os("VYRE_CONFORMANCE_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance"),
        PathBuf::from,
    )
}

fn vectors() -> Option<Vec<Vector>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    files.sort();
    let mut vectors = Vec::new();
    for file in files {
        let topic = file
            .file_name()?
            .to_string_lossy()
            .trim_end_matches(".jsonl.gz")
            .to_owned();
        let reader = BufReader::new(flate2::read::MultiGzDecoder::new(
            std::fs::File::open(&file).ok()?,
        ));
        for line in reader.lines() {
            let json = serde_json::from_str(&line.ok()?).ok()?;
            vectors.push(Vector {
                topic: topic.clone(),
                json,
            });
        }
    }
    (!vectors.is_empty()).then_some(vectors)
}

fn bytes(json: &Value) -> Vec<u8> {
    match json {
        Value::String(text) => base64::engine::general_purpose::STANDARD
            .decode(text)
            .expect("the vectors are base64"),
        other => vec![0; other["zeros"].as_u64().expect("a count of zeros") as usize],
    }
}

fn word(json: &Value) -> u32 {
    json.as_u64().expect("a number") as u32
}

/// Loads, dispatches and compares; the error says what was seen.
fn run(vector: &Value) -> Result<(), String> {
    let backend = harness::backend(1);
    let overrides: Vec<(String, f64)> = vector["constants"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_f64().expect("a number")))
        .collect();
    let program = std::sync::Arc::clone(&backend)
        .load(&ProgramDesc {
            entry_point: vector["entry"].as_str(),
            overrides: overrides
                .iter()
                .map(|(name, value)| (name.as_str(), *value))
                .collect(),
            ..ProgramDesc::new(
                Format::Wgsl,
                vector["wgsl"].as_str().expect("a text").as_bytes(),
            )
        })
        .map_err(|error| format!("load: {}", error.message()))?;
    let mut expected = Vec::new();
    let mut bindings = Vec::new();
    for json in vector["buffers"].as_array().expect("a list") {
        let (group, binding) = (word(&json["group"]), word(&json["binding"]));
        let used = program
            .reflection()
            .bindings
            .iter()
            .any(|info| (info.group, info.binding) == (group, binding));
        if !used {
            continue;
        }
        let before = bytes(&json["before"]);
        let buffer = std::sync::Arc::clone(&backend)
            .create_buffer(before.len() as u64)
            .map_err(|error| error.to_string())?;
        buffer
            .write(0, before.as_slice().into())
            .map_err(|error| error.to_string())?;
        bindings.push(Binding {
            group,
            binding,
            source: BindingSource::Buffer {
                buffer: buffer.clone(),
                offset: 0,
                size: 0,
            },
        });
        expected.push((group, binding, buffer, bytes(&json["after"])));
    }
    let groups = vector["workgroups"].as_array().expect("a list");
    program
        .submit(Dispatch {
            workgroups: [word(&groups[0]), word(&groups[1]), word(&groups[2])],
            bindings,
            immediates: &[],
            timeout: Some(std::time::Duration::from_secs(20)),
            repeat: 1,
            cooperative: false,
            timed: false,
        })
        .and_then(|pending| pending.wait())
        .map_err(|error| format!("dispatch: {}", error.message()))?;
    for (group, binding, buffer, after) in expected {
        let mut seen = vec![0; after.len()];
        buffer
            .read(0, seen.as_mut_slice().into())
            .map_err(|error| error.to_string())?;
        if let Some(at) = (0..after.len()).find(|&i| seen[i] != after[i]) {
            let word = |bytes: &[u8]| {
                let start = at / 4 * 4;
                bytes[start..(start + 4).min(bytes.len())]
                    .iter()
                    .rev()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
            };
            return Err(format!(
                "binding {group}.{binding}, byte {at}: saw {}, expected {}",
                word(&seen),
                word(&after)
            ));
        }
    }
    Ok(())
}

#[test]
fn recorded_vectors_give_the_recorded_bytes() {
    let Some(vectors) = vectors() else {
        println!("skipped: no conformance vectors in {}", folder().display());
        return;
    };
    let shown_by = |digest: &&str, vector: &Vector| {
        (vector.json["id"].as_str()).is_some_and(|id| id.ends_with(*digest))
    };
    let (refused, vectors): (Vec<Vector>, Vec<Vector>) = vectors
        .into_iter()
        .partition(|vector| NAGA_SHIFTS.iter().any(|digest| shown_by(digest, vector)));
    println!("{} vectors left out: naga's constant shifts", refused.len());
    let wanted = std::env::var("VYRE_CONFORMANCE").unwrap_or_default();
    let chosen: Vec<&Vector> = match wanted.as_str() {
        "" => vectors
            .iter()
            .step_by(vectors.len().div_ceil(200))
            .collect(),
        "all" => vectors.iter().collect(),
        text => vectors
            .iter()
            .filter(|vector| {
                vector.json["id"]
                    .as_str()
                    .is_some_and(|id| id.contains(text))
            })
            .collect(),
    };
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            scope.spawn(|| {
                while let Some(vector) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = std::panic::catch_unwind(|| run(&vector.json))
                        .unwrap_or_else(|_| Err("panicked".into()));
                    if let Err(what) = outcome {
                        failures.lock().expect("no panic inside").push(Failure {
                            topic: vector.topic.clone(),
                            id: vector.json["id"].as_str().unwrap_or("?").to_owned(),
                            what,
                        });
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("no panic inside");
    failures.sort_by(|a, b| (&a.topic, &a.id).cmp(&(&b.topic, &b.id)));
    for failure in &failures {
        println!("{}: {}: {}", failure.topic, failure.id, failure.what);
    }
    let failed = failures.len();
    println!("{} passed, {failed} failed", chosen.len() - failed);
    assert!(!chosen.is_empty(), "no vector matches {wanted:?}");
    assert_eq!(failed, 0);
}
