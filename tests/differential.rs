//! Random programs on the CPU backend and by the evaluator give the same bytes.
//!
//! `VYRE_DIFF_SEEDS` says how many, `VYRE_DIFF_START` from which seed on.

#[path = "common/eval/mod.rs"]
mod eval;
#[path = "common/generate/mod.rs"]
mod generate;
mod harness;
#[path = "ptx/programs.rs"]
#[allow(dead_code, reason = "only those with subgroups are of use here")]
mod programs;

use std::sync::Arc;

use eval::EvalError;
use generate::Case;
use vyre::backend::{Buffer, ProgramFlags};
use vyre::error::{Error, Status};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::uniformity::{self, Proof};

fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}, expected a number")),
        Err(_) => default,
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs the program on the CPU backend; the outer error is of the load.
fn on_backend(
    case: &Case,
    threads: u32,
    flags: ProgramFlags,
) -> Result<Result<Vec<Arc<dyn Buffer>>, Error>, String> {
    let backend = harness::backend(threads);
    let loaded = harness::try_load(&backend, &case.source, flags)
        .map_err(|error| format!("load: {error}"))?;
    let buffers: Vec<_> = (case.buffers.iter())
        .map(|words| harness::buffer(&backend, words))
        .collect();
    let outcome = harness::try_run(&loaded, harness::dispatch(case.workgroups, &buffers));
    Ok(outcome.map(|_| buffers))
}

/// A program whose barriers may be met unevenly: both find that out, or both go on and agree. What was proven
/// holds. On one thread, where racing accesses have an order.
fn check_wild(seed: u64) -> Result<Kind, String> {
    let case = generate::generate(seed, true);
    let options = Options {
        label: Some("generated.wgsl"),
        subgroup_size: eval::SUBGROUP_SIZE,
        ..Options::default()
    };
    let program = compile(&case.source, &options).map_err(|error| format!("compile: {error}"))?;
    let proofs = uniformity::analyse(&program);
    let proven = proofs.barriers.iter().all(|p| *p == Proof::Proven);
    let mut expected: Vec<Vec<u8>> = case.buffers.iter().map(|words| bytes(words)).collect();
    let evaluated = eval::run(&program, case.workgroups, &mut expected, &[]);
    if let (true, Err(error)) = (proven, &evaluated) {
        return Err(format!("every barrier is proven, and yet {error:?}"));
    }
    let trust = ProgramFlags {
        trust_uniformity: true,
        ..ProgramFlags::default()
    };
    match (evaluated, on_backend(&case, 1, trust)?) {
        (Err(EvalError::Disagreement(_)), Err(error))
            if matches!(
                error.status(),
                Status::DispatchFailed | Status::BarrierAudit
            ) =>
        {
            Ok(Kind::Uneven)
        }
        (Ok(()), Ok(buffers)) => {
            let found = buffers.iter().map(|buffer| bytes(&harness::words(buffer)));
            match found
                .zip(&expected)
                .position(|(found, expected)| found != *expected)
            {
                None if proven => Ok(Kind::Proven),
                None => Ok(Kind::EvenByLuck),
                Some(binding) => Err(format!("binding {binding} differs")),
            }
        }
        (evaluated, Ok(_)) => Err(format!("the backend saw nothing of {evaluated:?}")),
        (evaluated, Err(error)) => Err(format!("the evaluator had {evaluated:?}, not {error}")),
    }
}

/// What one seed's program does by both.
fn check(seed: u64) -> Result<Kind, String> {
    let case = generate::generate(seed, false);
    let options = Options {
        label: Some("generated.wgsl"),
        subgroup_size: eval::SUBGROUP_SIZE,
        ..Options::default()
    };
    let program = compile(&case.source, &options).map_err(|error| format!("compile: {error}"))?;
    vyre::ir::validate(&program).map_err(|fault| format!("validate: {fault}"))?;
    let proofs = uniformity::analyse(&program);
    if let Some(refusal) = proofs.refusal(&program) {
        return Err(format!("a uniform barrier is refused: {refusal}"));
    }
    if let Some(at) = proofs
        .barriers
        .iter()
        .position(|proof| *proof != Proof::Proven)
    {
        return Err(format!(
            "uniform barrier {at} is not proven: {:?}",
            proofs.barriers[at]
        ));
    }

    let mut expected: Vec<Vec<u8>> = case.buffers.iter().map(|words| bytes(words)).collect();
    eval::run(&program, case.workgroups, &mut expected, &[])
        .map_err(|error| format!("evaluator: {error:?}\n{program}"))?;

    for threads in [1, 2] {
        let buffers = on_backend(&case, threads, ProgramFlags::default())?
            .map_err(|error| format!("dispatch on {threads} threads: {error}"))?;
        for (binding, (buffer, expected)) in buffers.iter().zip(&expected).enumerate() {
            let found = harness::words(buffer);
            let difference = (found.iter().zip(expected.chunks_exact(4)).enumerate())
                .find(|(_, (found, expected))| found.to_le_bytes() != **expected);
            if let Some((word, (found, expected))) = difference {
                return Err(format!(
                    "binding {binding}, word {word}: the backend on {threads} threads has {found:#x}, \
                     the evaluator the bytes {expected:02x?}\n{program}"
                ));
            }
        }
    }
    Ok(Kind::Proven)
}

/// How a seed's program met at its barriers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Proven,
    EvenByLuck,
    Uneven,
}

/// Runs all seeds and lists those that fail; how the others went.
fn all_seeds(is_wild: bool, check: fn(u64) -> Result<Kind, String>) -> Vec<Kind> {
    let start = setting("VYRE_DIFF_START", 0);
    let seeds = start..start + setting("VYRE_DIFF_SEEDS", 200);
    let mut kinds = Vec::new();
    let mut failed = Vec::new();
    for seed in seeds.clone() {
        match check(seed) {
            Ok(kind) => kinds.push(kind),
            Err(what) => failed.push((seed, what)),
        }
    }
    let Some((first, what)) = failed.first() else {
        return kinds;
    };
    for (seed, what) in &failed {
        eprintln!("seed {seed}: {}", what.lines().next().unwrap_or_default());
    }
    panic!(
        "{} of the seeds {seeds:?} failed; the first is {first}: {what}\n{}",
        failed.len(),
        generate::generate(*first, is_wild).source
    );
}

#[test]
fn random_programs_give_the_evaluators_bytes() {
    all_seeds(false, check);
}

#[test]
fn subgroups_give_the_evaluators_bytes() {
    for source in programs::subgroups() {
        for size in [1, 20, 32, 64, 75] {
            let size_of = format!("@workgroup_size({size})");
            let source = source.replace("@workgroup_size(64)", &size_of);
            let options = Options {
                subgroup_size: eval::SUBGROUP_SIZE,
                ..Options::default()
            };
            let program = compile(&source, &options).unwrap_or_else(|e| panic!("{e}\n{source}"));
            vyre::ir::validate(&program).unwrap();
            let word = |i: u32| (i + 1).wrapping_mul(2_654_435_761) >> 7;
            let contents = [vec![0; size * 3], (0..size as u32 * 3).map(word).collect()];
            let mut expected = contents.clone().map(|words| bytes(&words));
            eval::run(&program, [3, 1, 1], &mut expected, &[]).expect("it can be evaluated");
            let found = harness::run(2, &source, [3, 1, 1], &contents);
            assert_eq!(
                bytes(&found[0]),
                expected[0],
                "{size} invocations\n{source}"
            );
        }
    }
}

#[test]
fn barriers_met_unevenly_are_found_and_proofs_hold() {
    if harness::on_cuda() {
        println!("skipped: the CPU backend votes at workgroup barriers; the hardware does not");
        return;
    }
    let kinds = all_seeds(true, check_wild);
    let count = |kind| kinds.iter().filter(|&&k| k == kind).count();
    let [proven, lucky, uneven] = [Kind::Proven, Kind::EvenByLuck, Kind::Uneven].map(count);
    println!("{proven} proven, {lucky} even by luck, {uneven} uneven");
    // Of two hundred programs some are of each kind, or this tests nothing.
    assert!(kinds.len() < 200 || proven.min(lucky).min(uneven) > 10);
}
