//! Random programs over all kinds of types give the evaluator's bytes on the backend and as PTX, however they are written.
//! The PTX is run by the interpreter of PTX that `ptx_machine` uses.
//!
//! `VYRE_DIFF_SEEDS` says how many, `VYRE_DIFF_START` from which seed on; with `VYRE_DIFF_SHOW` their texts are printed.

#[path = "ptx/compute.rs"]
mod compute;
#[path = "ptx/decode.rs"]
mod decode;
#[path = "common/eval/mod.rs"]
mod eval;
mod harness;
#[path = "ptx/machine.rs"]
mod machine;
#[path = "common/rich/mod.rs"]
mod rich;
#[path = "ptx/warp.rs"]
mod warp;

use std::collections::BTreeMap;

use machine::Launch;
use vyre::backend::ProgramFlags;
use vyre::cuda::ptx::abi::{self, Shape};
use vyre::cuda::ptx::{self, Target};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::Program;
use vyre::ir::uniformity::{self, Proof};

/// Each program is written in so many ways.
const STYLES: u64 = 2;

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}, expected a number")),
        Err(_) => default,
    }
}

fn compiled(source: &str) -> Result<Program, String> {
    let options = Options {
        label: Some("generated.wgsl"),
        subgroup_size: eval::SUBGROUP_SIZE,
        ..Options::default()
    };
    let program = compile(source, &options).map_err(|error| format!("compile: {error}"))?;
    vyre::ir::validate(&program).map_err(|fault| format!("validate: {fault}"))?;
    let proofs = uniformity::analyse(&program);
    if let Some(refusal) = proofs.refusal(&program) {
        return Err(format!("a uniform barrier is refused: {refusal}"));
    }
    match proofs.barriers.iter().all(|p| *p == Proof::Proven) {
        true => Ok(program),
        false => Err("a uniform barrier is not proven".into()),
    }
}

/// What its buffers hold at first.
fn contents(seed: u64, program: &Program) -> Vec<Vec<u8>> {
    let size = |buffer: &vyre::ir::BufferDecl| match buffer.runtime {
        Some(_) => buffer.element_size * u64::from(rich::ELEMENTS),
        None => buffer.min_size,
    };
    (program.buffers.iter())
        .map(|b| {
            rich::contents(
                seed,
                b.binding as usize,
                size(b).next_multiple_of(4) as usize,
            )
        })
        .collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("4 bytes"));
    bytes.chunks_exact(4).map(word).collect()
}

/// What each binding holds.
type Memory = BTreeMap<u32, Vec<u8>>;

fn by_binding(program: &Program, contents: Vec<Vec<u8>>) -> Memory {
    let bindings = program.buffers.iter().map(|b| b.binding);
    bindings.zip(contents).collect()
}

/// Where two runs differ, if they do. One may lack a buffer, if its program does not need it for anything.
fn difference(found: &Memory, expected: &Memory) -> Option<String> {
    for (binding, found) in found {
        let Some(expected) = expected.get(binding) else {
            continue;
        };
        let (found, expected) = (words(found), words(expected));
        if let Some(word) = (0..found.len()).find(|&i| found[i] != expected[i]) {
            let (found, expected) = (found[word], expected[word]);
            return Some(format!(
                "binding {binding}, word {word} is {found:#x}, expected {expected:#x}"
            ));
        }
    }
    None
}

/// What the buffers hold after a run of the emitted PTX.
fn as_ptx(
    program: &Program,
    sm: u32,
    grid: [u32; 3],
    start: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, String> {
    let target = Target {
        sm,
        ptx_version: if sm < 90 { (6, 4) } else { (8, 0) },
    };
    let ptx = ptx::emit(program, &uniformity::analyse(program), target, false)
        .map_err(|error| format!("emit for sm_{sm}: {error}"))?;
    let mut buffers: Vec<(Vec<u8>, u32)> = (start.iter().zip(&program.buffers))
        .map(|(bytes, decl)| (bytes.clone(), decl.array_length(bytes.len() as u64)))
        .collect();
    let outcome = machine::run(
        &ptx,
        &mut Launch {
            workgroup_size: program.workgroup_size,
            workgroups: grid,
            buffers: &mut buffers,
            immediates: &[],
            base: 0,
            exit_base: 0,
            sequence: 1,
            quiet: false,
            shape: Shape::Counter,
            arrivals: [0; abi::GROUPS as usize],
            releases: 0,
            limit: u64::MAX,
            abort: 0,
        },
    );
    let blocks: u32 = grid.iter().product();
    if outcome.observed != outcome.executed * blocks {
        return Err(format!("sm_{sm}: the audit does not hold: {outcome:?}"));
    }
    Ok(buffers.into_iter().map(|(bytes, _)| bytes).collect())
}

fn check_style(seed: u64, style: u64, first: &mut Option<Memory>) -> Result<(), String> {
    let case = rich::generate(seed, style);
    let program = compiled(&case.source)?;
    let start = contents(seed, &program);
    let mut expected = start.clone();
    eval::run(&program, case.workgroups, &mut expected, &[])
        .map_err(|error| format!("evaluator: {error:?}\n{program}"))?;
    let expected = by_binding(&program, expected);
    if let Some(first) = first
        && let Some(what) = difference(&expected, first)
    {
        return Err(format!("as another style has it: {what}"));
    }
    // Not each need be tried in all ways.
    let threads: &[u32] = match style {
        0 if seed.is_multiple_of(2) && !harness::on_cuda() => &[1, 2],
        _ => &[2],
    };
    for &threads in threads {
        let backend = harness::backend(threads);
        let loaded = harness::try_load(&backend, &case.source, ProgramFlags::default())
            .map_err(|error| format!("load: {error}"))?;
        let buffers: Vec<_> = (start.iter())
            .map(|bytes| harness::buffer(&backend, &words(bytes)))
            .collect();
        let mut dispatch = harness::dispatch(case.workgroups, &buffers);
        for (binding, decl) in dispatch.bindings.iter_mut().zip(&program.buffers) {
            binding.binding = decl.binding;
        }
        harness::try_run(&loaded, dispatch).map_err(|e| format!("dispatch: {e}"))?;
        let found: Vec<Vec<u8>> = (buffers.iter())
            .map(|buffer| {
                harness::words(buffer)
                    .iter()
                    .flat_map(|w| w.to_le_bytes())
                    .collect()
            })
            .collect();
        if let Some(what) = difference(&by_binding(&program, found), &expected) {
            return Err(format!(
                "the backend on {threads} threads: {what}\n{program}"
            ));
        }
    }
    // Interpreting takes most of the time: one seed in four, in one style, for one target.
    let (is_tried, turn) = (seed.is_multiple_of(4), seed / 4);
    if is_tried && style == turn % STYLES && !harness::on_cuda() {
        let sm = if turn % 4 < 2 { 90 } else { 70 };
        let found = as_ptx(&program, sm, case.workgroups, &start)?;
        if let Some(what) = difference(&by_binding(&program, found), &expected) {
            return Err(format!("as PTX for sm_{sm}: {what}\n{program}"));
        }
    }
    first.get_or_insert(expected);
    Ok(())
}

#[test]
fn rich_programs_give_the_evaluators_bytes_in_every_style() {
    let start = setting("VYRE_DIFF_START", 0);
    let seeds = start..start + setting("VYRE_DIFF_SEEDS", 100);
    let mut failed = Vec::new();
    for seed in seeds.clone() {
        let mut first = None;
        for style in 0..STYLES {
            if std::env::var_os("VYRE_DIFF_SHOW").is_some() {
                println!(
                    "// seed {seed}, style {style}\n{}",
                    rich::generate(seed, style).source
                );
            }
            if let Err(what) = check_style(seed, style, &mut first) {
                failed.push((seed, style, what));
            }
        }
    }
    let Some((seed, style, what)) = failed.first() else {
        return;
    };
    for (seed, style, what) in &failed {
        eprintln!(
            "seed {seed}, style {style}: {}",
            what.lines().next().unwrap_or_default()
        );
    }
    let source = rich::generate(*seed, *style).source;
    panic!(
        "{} of the seeds {seeds:?} failed; the first is {seed} in style {style}: {what}\n{source}",
        failed.len()
    );
}
