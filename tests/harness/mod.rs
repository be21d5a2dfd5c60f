//! Loads and runs WGSL through the backend traits.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use vyre::backend::{
    Backend, BackendDesc, Binding, BindingSource, Buffer, Choice, Dispatch, Format, Program,
    ProgramDesc, ProgramFlags, Report,
};
use vyre::error::{Error, Result};

/// What `VYRE_TEST_BACKEND` asks the tests to run on: cpu, the default, or cuda.
pub fn on_cuda() -> bool {
    match std::env::var("VYRE_TEST_BACKEND").as_deref() {
        Err(_) | Ok("cpu") => false,
        Ok("cuda") => true,
        Ok(other) => panic!("VYRE_TEST_BACKEND is {other:?}, expected cpu or cuda"),
    }
}

/// The backend under test: the CPU with this many threads, or CUDA device 0, which all tests of a process share.
pub fn backend(threads: u32) -> Arc<dyn Backend> {
    let acquire = |choice| {
        vyre::backend::acquire(&BackendDesc {
            choice,
            ordinal: 0,
            cpu_threads: threads,
        })
        .unwrap_or_else(|error| panic!("{}", report(&error)))
    };
    if on_cuda() {
        static CUDA: OnceLock<Arc<dyn Backend>> = OnceLock::new();
        return Arc::clone(CUDA.get_or_init(|| acquire(Choice::Cuda)));
    }
    acquire(Choice::Cpu)
}

pub fn try_load(
    backend: &Arc<dyn Backend>,
    source: &str,
    flags: ProgramFlags,
) -> Result<Arc<dyn Program>> {
    Arc::clone(backend).load(&ProgramDesc {
        label: Some("test.wgsl"),
        flags,
        ..ProgramDesc::new(Format::Wgsl, source.as_bytes())
    })
}

pub fn load(backend: &Arc<dyn Backend>, source: &str) -> Arc<dyn Program> {
    try_load(backend, source, ProgramFlags::default())
        .unwrap_or_else(|error| panic!("{}", report(&error)))
}

pub fn report(error: &Error) -> String {
    format!("{error}\nfix: {}", error.fix())
}

pub fn buffer(backend: &Arc<dyn Backend>, words: &[u32]) -> Arc<dyn Buffer> {
    let buffer = Arc::clone(backend)
        .create_buffer(words.len() as u64 * 4)
        .expect("small buffers fit");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    buffer.write(0, bytes.as_slice().into()).expect("in range");
    buffer
}

pub fn words(buffer: &Arc<dyn Buffer>) -> Vec<u32> {
    let mut bytes = vec![0; buffer.size() as usize];
    buffer
        .read(0, bytes.as_mut_slice().into())
        .expect("in range");
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

/// Binds `buffers` to group 0 in order.
pub fn dispatch<'a>(workgroups: [u32; 3], buffers: &[Arc<dyn Buffer>]) -> Dispatch<'a> {
    Dispatch {
        workgroups,
        bindings: buffers
            .iter()
            .enumerate()
            .map(|(binding, buffer)| Binding {
                group: 0,
                binding: binding as u32,
                source: BindingSource::Buffer {
                    buffer: Arc::clone(buffer),
                    offset: 0,
                    size: 0,
                },
            })
            .collect(),
        immediates: &[],
        timeout: Some(Duration::from_secs(120)),
        repeat: 1,
        cooperative: false,
        timed: false,
        times: 1,
    }
}

pub fn try_run(program: &Arc<dyn Program>, mut dispatch: Dispatch<'_>) -> Result<Report> {
    program.run(&mut dispatch)
}

/// Loads, runs once, and returns what the buffers hold afterwards.
pub fn run(threads: u32, source: &str, workgroups: [u32; 3], inputs: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let backend = backend(threads);
    let program = load(&backend, source);
    let buffers: Vec<_> = inputs.iter().map(|words| buffer(&backend, words)).collect();
    try_run(&program, dispatch(workgroups, &buffers))
        .unwrap_or_else(|error| panic!("{}", report(&error)));
    buffers.iter().map(words).collect()
}
