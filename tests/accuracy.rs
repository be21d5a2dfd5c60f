//! Every operator and built-in function of floats against what WGSL and vyre promise.
//!
//! Functions with one right answer and those that are one formula are compared with the bits that Rust computes, so that
//! each backend is held to the same bits without the other one there. The rest is measured in units in the last place:
//! f32 and f16 against f64, f64 against 128 bits.
//!
//! - `VYRE_ACCURACY_POINTS=N`: so many operands a function, instead of 100,000, and 20,000 for the functions of f64
//!   that need a reference of 128 bits. (All numbers of f16 are tried in any case.)
//! - `VYRE_ACCURACY_TABLE=FILE`: writes this backend's column of the table there, beside what the file has of the other.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod harness;

#[path = "accuracy/allowed.rs"]
mod allowed;
#[path = "accuracy/device.rs"]
mod device;
#[path = "accuracy/elementary.rs"]
mod elementary;
#[path = "accuracy/exact.rs"]
mod exact;
#[path = "accuracy/format.rs"]
mod format;
#[path = "accuracy/formulas.rs"]
mod formulas;
#[path = "accuracy/judge.rs"]
mod judge;
#[path = "accuracy/number.rs"]
mod number;
#[path = "accuracy/points.rs"]
mod points;
#[path = "accuracy/precise.rs"]
mod precise;
#[path = "accuracy/table.rs"]
mod table;

use format::Format;
use judge::Row;

const POINTS: usize = 100_000;
/// Each takes up to a tenth of a millisecond to judge: all of them with 100,000 would be more than a minute.
const PRECISE_POINTS: usize = 20_000;

fn asked() -> Option<usize> {
    let text = std::env::var("VYRE_ACCURACY_POINTS").ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("VYRE_ACCURACY_POINTS is {text:?}, expected a number")),
    )
}

/// One row each.
enum Task {
    Exact(exact::Exact, Format),
    Formula(formulas::Formula, Format),
    Elementary(elementary::Elementary, Format),
}

fn tasks() -> Vec<Task> {
    let mut tasks = Vec::new();
    for format in [Format::F32, Format::F16, Format::F64] {
        tasks.extend(
            formulas::formulas()
                .into_iter()
                .map(|f| Task::Formula(f, format)),
        );
        tasks.extend(
            exact::exact(format)
                .into_iter()
                .map(|f| Task::Exact(f, format)),
        );
        let has = |f: &elementary::Elementary| {
            // An f16 ends long before.
            let beyond = f.name.ends_with("beyond");
            !(beyond && format == Format::F16) && (f.has_wide || format != Format::F64)
        };
        tasks.extend(
            elementary::elementary()
                .into_iter()
                .filter(has)
                .map(|f| Task::Elementary(f, format)),
        );
    }
    tasks
}

fn rows() -> Vec<Row> {
    let tasks = tasks();
    let backend = harness::backend(1);
    let points = asked().unwrap_or(POINTS);
    let precise = asked().unwrap_or(PRECISE_POINTS);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Row)>> = Mutex::default();
    let work = || {
        loop {
            // The last ones, with their reference of 128 bits, take longest.
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(at) = tasks.len().checked_sub(at + 1) else {
                break;
            };
            let seed = at as u64 + 1;
            let row = match &tasks[at] {
                Task::Exact(function, format) => {
                    judge::exact(&backend, function, *format, points, seed)
                }
                Task::Formula(formula, format) => {
                    judge::formula(&backend, formula, *format, points, seed)
                }
                Task::Elementary(function, Format::F64) => {
                    judge::elementary(&backend, function, Format::F64, precise, seed)
                }
                Task::Elementary(function, format) => {
                    judge::elementary(&backend, function, *format, points, seed)
                }
            };
            done.lock().unwrap().push((at, row));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn floats_are_as_exact_as_promised_and_as_the_table_says() {
    let on_cuda = harness::on_cuda();
    let rows = rows();
    table::print(&rows);
    match asked() {
        Some(points) => println!("{points} operands a function, as VYRE_ACCURACY_POINTS says"),
        None => println!(
            "{PRECISE_POINTS} operands for functions of f64 with a reference of 128 bits; VYRE_ACCURACY_POINTS={POINTS} \
             takes as many as for the others"
        ),
    }
    if let Some(path) = std::env::var_os("VYRE_ACCURACY_TABLE") {
        table::write(Path::new(&path), &rows, on_cuda);
    }
    let failed: Vec<String> = (rows.iter().filter(|row| row.failed > 0))
        .map(|row| {
            format!(
                "{} of {}: {} points, first {}",
                row.function, row.ty, row.failed, row.failures[0]
            )
        })
        .collect();
    assert!(
        failed.is_empty(),
        "promises are broken:\n{}",
        failed.join("\n")
    );
    for row in &rows {
        if let Some(error) = &row.refused {
            // CUDA has no other functions of f64 than those of its instructions.
            let is_known = on_cuda && row.ty == "f64" && error.contains("is not available on CUDA")
                || row.ty == "f16" && error.contains("`frexp` of f16 is not supported");
            assert!(
                is_known,
                "{} of {} does not load: {error}",
                row.function, row.ty
            );
        }
    }
    // The machine that has the GPU need not have the sources.
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md");
    if asked().is_some() || std::env::var_os("VYRE_ACCURACY_TABLE").is_some() {
        println!(
            "the table of docs/accuracy.md is not compared: other points, or it is being written"
        );
        return;
    }
    if on_cuda && !document.exists() {
        println!("there is no docs/accuracy.md here to compare with");
        return;
    }
    let text = std::fs::read_to_string(&document).expect("docs/accuracy.md");
    let of_the_c_library = |row: &Row| row.ty == "f64" && row.largest.is_some();
    let wrong = table::differences(&text, &rows, on_cuda, of_the_c_library);
    assert!(
        wrong.is_empty(),
        "docs/accuracy.md is not what was measured; VYRE_ACCURACY_TABLE=docs/accuracy.md writes it:\n{}",
        wrong.join("\n")
    );
}

/// What f32 and f16 are measured by, is itself good to 2^-44: an f32's error to 2^-20 of its last place.
#[test]
fn the_reference_for_f32_is_good_enough() {
    let mut precise = precise::Precise::new();
    for function in elementary::elementary().iter().filter(|f| f.has_wide) {
        let format = Format::F32;
        let columns = match function.operands {
            1 => points::unary(format, &(function.domain)(format), 0, 1),
            n => points::several(format, n, 3000, 1, function.more),
        };
        for at in 0..columns.len() {
            let x: Vec<f64> = columns
                .row(at)
                .iter()
                .map(|&bits| format.decode(bits))
                .collect();
            let seen = (function.truth)(&x);
            if x.iter().any(|x| !x.is_finite())
                || !seen.is_finite()
                || seen.abs() < f64::MIN_POSITIVE
            {
                continue;
            }
            let truth = (function.precise)(&x, &mut precise);
            let off = precise::error(&truth, seen);
            assert!(
                off < 256.0,
                "{} of {x:?}: {seen:e} is {off} ULP off",
                function.name
            );
        }
    }
}
