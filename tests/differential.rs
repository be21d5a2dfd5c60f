//! Random programs on the CPU backend and by the evaluator give the same bytes.
//!
//! `VYRE_DIFF_SEEDS` says how many, `VYRE_DIFF_START` from which seed on.

#[path = "common/eval/mod.rs"]
mod eval;
#[path = "common/generate/mod.rs"]
mod generate;
mod harness;

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

/// What one seed's program does by both.
fn check(seed: u64) -> Result<(), String> {
    let case = generate::generate(seed);
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
        let backend = harness::cpu(threads);
        let loaded = harness::try_load(&backend, &case.source, Default::default())
            .map_err(|error| format!("load: {error}"))?;
        let buffers: Vec<_> = (case.buffers.iter())
            .map(|words| harness::buffer(&backend, words))
            .collect();
        harness::try_run(&loaded, harness::dispatch(case.workgroups, &buffers))
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
    Ok(())
}

#[test]
fn random_programs_give_the_evaluators_bytes() {
    let start = setting("VYRE_DIFF_START", 0);
    let seeds = start..start + setting("VYRE_DIFF_SEEDS", 200);
    let failed: Vec<(u64, String)> = seeds
        .clone()
        .filter_map(|seed| check(seed).err().map(|what| (seed, what)))
        .collect();
    let Some((first, what)) = failed.first() else {
        return;
    };
    for (seed, what) in &failed {
        eprintln!("seed {seed}: {}", what.lines().next().unwrap_or_default());
    }
    panic!(
        "{} of the seeds {seeds:?} failed; the first is {first}: {what}\n{}",
        failed.len(),
        generate::generate(*first).source
    );
}
