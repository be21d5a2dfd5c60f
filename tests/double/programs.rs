//! A program with grid barriers whose result is known, under both contracts.

use std::sync::Arc;

use vyre::backend::{
    Backend, Binding, BindingSource, Buffer, Dispatch, Format, Program, ProgramDesc, PtxContract,
    PtxParameter, Report,
};
use vyre::error::Result;
use vyre::program::Access;

use crate::harness::{buffer, dispatch, try_run, words};

/// Each invocation takes what another one wrote before the barrier, twice: without barriers the result differs.
pub const WAVES: &str = "
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @group(0) @binding(1) var<storage, read> added: array<u32>;
    @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
        let n = arrayLength(&out);
        let i = id.x;
        let first = out[(i + 9u) % n];
        gridBarrier();
        out[i] = first + 1u;
        gridBarrier();
        let second = out[(i + 9u) % n];
        gridBarrier();
        out[i] = second + added[0];
        gridBarrier();
    }";
pub const BARRIERS: u64 = 4;
pub const ADDED: u32 = 7;

pub fn load(backend: &Arc<dyn Backend>) -> Result<Arc<dyn Program>> {
    Arc::clone(backend).load(&ProgramDesc::new(Format::Wgsl, WAVES.as_bytes()))
}

/// The program as text under the module-scope contract, loaded back.
pub fn load_module(backend: &Arc<dyn Backend>) -> Result<Arc<dyn Program>> {
    load_text(backend, &load(backend)?.ptx(PtxContract::ModuleScope)?)
}

pub fn load_text(backend: &Arc<dyn Backend>, text: &str) -> Result<Arc<dyn Program>> {
    let address = |binding, access| PtxParameter::Address {
        group: 0,
        binding,
        access,
    };
    let size = |binding, access| PtxParameter::Size {
        group: 0,
        binding,
        access,
    };
    Arc::clone(backend).load(&ProgramDesc {
        parameters: vec![
            address(0, Access::ReadWrite),
            size(0, Access::ReadWrite),
            address(1, Access::Read),
            size(1, Access::Read),
        ],
        ..ProgramDesc::new(Format::Ptx, text.as_bytes())
    })
}

/// What a grid of so many workgroups starts with.
pub fn start(workgroups: u32) -> Vec<u32> {
    (0..workgroups * 8)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect()
}

/// What is there after so many runs.
pub fn expected(workgroups: u32, runs: usize) -> Vec<u32> {
    let start = start(workgroups);
    let n = start.len();
    let sum =
        |i: usize| start[(i + 18 * runs) % n].wrapping_add((ADDED + 1).wrapping_mul(runs as u32));
    (0..n).map(sum).collect()
}

pub fn buffers(backend: &Arc<dyn Backend>, workgroups: u32) -> [Arc<dyn Buffer>; 2] {
    [
        buffer(backend, &start(workgroups)),
        buffer(backend, &[ADDED]),
    ]
}

/// Runs it once; it gives the right result or an error.
#[track_caller]
pub fn run(
    backend: &Arc<dyn Backend>,
    program: &Arc<dyn Program>,
    workgroups: u32,
    change: impl FnOnce(&mut Dispatch<'_>),
) -> Result<Report> {
    let bound = buffers(backend, workgroups);
    let mut asked = dispatch([workgroups, 1, 1], &bound);
    change(&mut asked);
    let runs = asked.repeat;
    let report = try_run(program, asked)?;
    assert_eq!(report.barriers, BARRIERS * u64::from(runs));
    assert_eq!(words(&bound[0]), expected(workgroups, runs as usize));
    Ok(report)
}

/// Runs it once on bytes that are lent; the result is right or an error.
#[track_caller]
pub fn run_lent(program: &Arc<dyn Program>, workgroups: u32) -> Result<Report> {
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    let (input, added) = (bytes(&start(workgroups)), bytes(&[ADDED]));
    let mut output = vec![0u8; input.len()];
    let lend = |binding, source| Binding {
        group: 0,
        binding,
        source,
    };
    let mut asked = dispatch([workgroups, 1, 1], &[]);
    asked.bindings = vec![
        lend(
            0,
            BindingSource::Host {
                input: Some(input.as_slice().into()),
                size: input.len() as u64,
                output: Some(output.as_mut_slice().into()),
            },
        ),
        lend(
            1,
            BindingSource::Host {
                input: Some(added.as_slice().into()),
                size: 4,
                output: None,
            },
        ),
    ];
    let report = try_run(program, asked)?;
    assert_eq!(output, bytes(&expected(workgroups, 1)));
    Ok(report)
}

/// Runs it on buffers that are there; only whether that succeeds is looked at.
pub fn run_on(
    program: &Arc<dyn Program>,
    workgroups: u32,
    bound: &[Arc<dyn Buffer>],
    change: impl FnOnce(&mut Dispatch<'_>),
) -> Result<Report> {
    let mut asked = dispatch([workgroups, 1, 1], &bound[..2]);
    change(&mut asked);
    try_run(program, asked)
}
