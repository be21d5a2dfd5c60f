//! Recorded vectors of the WebGPU conformance suite: a program, its inputs, the exact bytes that come out.
//!
//! The vectors are not part of this repository; they are read from `VYRE_CONFORMANCE_DIR`, by default
//! `../shared/conformance`. A spread of 200 runs by default, all of them with `VYRE_CONFORMANCE=all`,
//! and those whose category or id contains a text with `VYRE_CONFORMANCE=text`. `make conformance` runs all.

#[path = "conformance/one.rs"]
mod one;
#[path = "conformance/tally.rs"]
mod tally;
#[path = "conformance/vectors.rs"]
mod vectors;

mod harness;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use one::Outcome;
use tally::Tally;
use vectors::Vector;

/// How many run by default.
const SPREAD: usize = 200;
/// Emitting recurses with a program's nesting.
const STACK: usize = 256 << 20;
/// Between two lines about the progress.
const PACE: Duration = Duration::from_secs(2);

fn chosen<'a>(vectors: &'a [Vector], wanted: &str) -> Vec<&'a Vector> {
    match wanted {
        "all" => vectors.iter().collect(),
        "" => {
            let step = vectors.len().div_ceil(SPREAD);
            vectors.iter().step_by(step).collect()
        }
        text => (vectors.iter())
            .filter(|vector| vector.id.contains(text) || vector.category.contains(text))
            .collect(),
    }
}

fn run_all(chosen: &[&Vector], expected: &[tally::Expectation]) -> Tally {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    let next = AtomicUsize::new(0);
    let tally = Mutex::new(Tally::default());
    let work = || {
        while let Some(vector) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let run = || one::run(&harness::backend(1), vector);
            let outcome = std::panic::catch_unwind(run)
                .unwrap_or_else(|_| (Outcome::Failed("panicked".into()), None));
            let mut tally = tally.lock().expect("counting does not panic");
            tally.count(vector, outcome, expected);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                std::thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, work)
                    .expect("a thread")
            })
            .collect();
        let mut last = Instant::now();
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if last.elapsed() >= PACE {
                last = Instant::now();
                let tally = tally.lock().expect("counting does not panic");
                let (done, failed) = (tally.done(), tally.failed());
                eprintln!("{done} of {} done, {failed} failed", chosen.len());
            }
        }
    });
    tally.into_inner().expect("counting does not panic")
}

#[test]
fn recorded_vectors_give_the_recorded_bytes() {
    let folder = vectors::folder();
    let wanted = std::env::var("VYRE_CONFORMANCE").unwrap_or_default();
    let vectors = vectors::read(&folder).unwrap_or_else(|what| panic!("{what}"));
    if vectors.is_empty() {
        println!("skipped: no conformance vectors in {}", folder.display());
        // Who asks for them is told that there are none; `make test` says so itself.
        assert!(wanted.is_empty(), "no vectors in {}", folder.display());
        return;
    }
    let expected = tally::expectations(include_str!("conformance/expectations.txt"));
    let chosen = chosen(&vectors, &wanted);
    let mut tally = run_all(&chosen, &expected);
    for failure in tally.failures() {
        println!("{failure}");
    }
    tally.report_times(if harness::on_cuda() { "cuda" } else { "cpu" });
    println!("{tally}");
    assert!(!chosen.is_empty(), "no vector matches {wanted:?}");
    assert_eq!(tally.done(), chosen.len());
    assert_eq!(tally.failed(), 0);
    if wanted == "all" {
        let unmet = tally.unmet(&expected);
        assert!(
            unmet.is_empty(),
            "expectations.txt lists what is not refused: {unmet:?}"
        );
    }
}

/// Wrong bytes, refusals and listed refusals are told apart.
#[test]
fn the_runner_sees_what_is_wrong() {
    let made = |id: &str, body: &str, after: [u8; 8]| Vector {
        category: "made".into(),
        id: id.into(),
        source: format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(1) fn main() {{ {body} }}"
        ),
        entry: None,
        overrides: Vec::new(),
        workgroups: [1, 1, 1],
        buffers: vec![vectors::Recorded {
            group: 0,
            binding: 0,
            before: vectors::Bytes::Zeros(8),
            after: vectors::Bytes::Coded(base64::engine::general_purpose::STANDARD.encode(after)),
        }],
    };
    let write = "out[1] = arrayLength(&out) + 255u;";
    let vectors = [
        made("right", write, [0, 0, 0, 0, 1, 1, 0, 0]),
        made("wrong", write, [0, 0, 0, 0, 1, 2, 0, 0]),
        made("idle", "let x = out[0];", [0; 8]),
        made("refused", "out[0] = nothing;", [0; 8]),
        made("listed", "out[0] = nothing;", [0; 8]),
        made("mended", write, [0, 0, 0, 0, 1, 1, 0, 0]),
    ];
    let expected =
        tally::expectations("# a comment\nlisted\tno definition in scope\nmended\tno\nother\tno\n");
    let chosen: Vec<&Vector> = vectors.iter().collect();
    let mut tally = run_all(&chosen, &expected);
    let seen = tally.failures().join("\n");
    for words in [
        "wrong: binding 0.0, byte 5 of 8: saw 0x00000101, expected 0x00000201",
        "refused: refused: ",
        "mended: is listed as refused, and passes",
    ] {
        assert!(seen.contains(words), "{words:?} is not in:\n{seen}");
    }
    assert_eq!(tally.failed(), 3);
    assert_eq!(tally.unmet(&expected), ["mended", "other"]);
    let table = tally.to_string();
    let row = table.lines().nth(1).expect("a row");
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(row, ["made", "1", "3", "1", "1"]);
    assert!(table.ends_with("1 passed, 3 failed"));
}
