//! Any bytes as WGSL: loaded on the CPU backend, emitted as PTX for two targets, and run if that takes little.
#![no_main]

mod mutate;

use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use vyre::backend::{
    Backend, BackendDesc, Binding, BindingSource, Choice, Dispatch, Format, Program, ProgramDesc,
    ProgramFlags,
};
use vyre::cuda::ptx::{self, Target};
use vyre::error::{Error, Status};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::uniformity;

const TARGETS: [Target; 2] = [
    Target {
        sm: 70,
        ptx_version: (6, 4),
    },
    Target {
        sm: 90,
        ptx_version: (8, 0),
    },
];

/// What a program may need to be run here.
const MOST_INVOCATIONS: u32 = 64;
const MOST_BYTES: u64 = 64 << 10;
const TIME_LIMIT: Duration = Duration::from_millis(50);

/// naga's own panics are errors to a caller of vyre; all others are faults of ours.
fn let_naga_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let abort = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |at| at.file());
            match file.contains("/naga-") {
                true => eprintln!("naga: {info}"),
                false => abort(info),
            }
        }));
    });
}

fn backend() -> Arc<dyn Backend> {
    static BACKEND: OnceLock<Arc<dyn Backend>> = OnceLock::new();
    let acquire = || {
        let desc = BackendDesc {
            choice: Choice::Cpu,
            ordinal: 0,
            cpu_threads: 2,
        };
        vyre::backend::acquire(&desc).expect("the CPU is always there")
    };
    Arc::clone(BACKEND.get_or_init(acquire))
}

/// An error of the caller's making, and no fault of ours.
fn lawful(error: &Error) {
    let of_naga = error.message().starts_with("the front end panicked");
    assert!(error.status() != Status::Internal || of_naga, "{error}");
}

fn emit(text: &str, label: &str) {
    let options = Options {
        label: Some(label),
        subgroup_size: 32,
        ..Options::default()
    };
    let program = match compile(text, &options) {
        Ok(program) => program,
        Err(error) => return lawful(&error),
    };
    let uniformity = uniformity::analyse(&program);
    for target in TARGETS {
        let emitted = ptx::emit(&program, &uniformity, target, text.len() % 2 == 1);
        if let Err(error) = &emitted {
            lawful(error);
        }
        let exported = ptx::export(&program, &uniformity, target, false);
        if let Err(error) = &exported {
            lawful(error);
        }
    }
}

fn run(backend: &Arc<dyn Backend>, program: &Arc<dyn Program>) {
    let reflection = program.reflection();
    let bytes = |b: &vyre::program::BindingInfo| b.min_size.max(3 * b.element_size);
    if reflection.workgroup_size.iter().product::<u32>() > MOST_INVOCATIONS
        || reflection.bindings.iter().map(bytes).sum::<u64>() > MOST_BYTES
        || reflection.workgroup_memory > MOST_BYTES
    {
        return;
    }
    let mut bindings = Vec::new();
    for info in &reflection.bindings {
        let size = bytes(info).max(4).next_multiple_of(16);
        let Ok(buffer) = Arc::clone(backend).create_buffer(size) else {
            return;
        };
        let pattern: Vec<u8> = (0..size).map(|at| (at % 5 / 4) as u8).collect();
        buffer
            .write(0, pattern.as_slice().into())
            .expect("in range");
        bindings.push(Binding {
            group: info.group,
            binding: info.binding,
            source: BindingSource::Buffer {
                buffer,
                offset: 0,
                size: 0,
            },
        });
    }
    let immediates = vec![1; reflection.immediates_size as usize];
    let outcome = program.run(&mut Dispatch {
        workgroups: [2, 1, 2],
        bindings,
        immediates: &immediates,
        timeout: Some(TIME_LIMIT),
        repeat: 1,
        cooperative: false,
        timed: false,
        times: 1,
    });
    if let Err(error) = &outcome {
        lawful(error);
    }
}

fuzz_target!(|data: &[u8]| {
    let_naga_panic();
    let backend = backend();
    let desc = ProgramDesc {
        label: Some("fuzzed.wgsl"),
        flags: ProgramFlags {
            trust_uniformity: data.len() % 2 == 1,
            ..ProgramFlags::default()
        },
        ..ProgramDesc::new(Format::Wgsl, data)
    };
    match Arc::clone(&backend).load(&desc) {
        Ok(program) => run(&backend, &program),
        Err(error) => lawful(&error),
    }
    if let Ok(text) = std::str::from_utf8(data) {
        emit(text, "fuzzed.wgsl");
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if !seed.is_multiple_of(4)
        && let Some(text) = mutate::mutated(&data[..size], seed, max_size)
    {
        data[..text.len()].copy_from_slice(&text);
        return text.len();
    }
    fuzzer_mutate(data, size, max_size)
});
