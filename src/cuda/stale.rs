//! What a counter that was not reset does: the fault that this library is there to catch, on purpose.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::backend::{
    Backend, BackendDesc, Choice, Dispatch, Format, Program, ProgramDesc, PtxContract, Report,
};
use crate::error::{Result, Status};

/// Leaves out what resets a counter between launches, under both contracts.
pub static RESETS_ARE_SKIPPED: AtomicBool = AtomicBool::new(false);

struct Skipping;

impl Skipping {
    fn start() -> Skipping {
        RESETS_ARE_SKIPPED.store(true, Relaxed);
        Skipping
    }
}

impl Drop for Skipping {
    fn drop(&mut self) {
        RESETS_ARE_SKIPPED.store(false, Relaxed);
    }
}

const SOURCE: &str = "@compute @workgroup_size(64) fn main() { gridBarrier(); gridBarrier(); }";

fn load(backend: &Arc<dyn Backend>, format: Format, code: &str) -> Arc<dyn Program> {
    Arc::clone(backend)
        .load(&ProgramDesc::new(format, code.as_bytes()))
        .unwrap()
}

fn run(program: &Arc<dyn Program>, workgroups: u32) -> Result<Report> {
    program.run(&mut Dispatch {
        workgroups: [workgroups, 1, 1],
        bindings: vec![],
        immediates: &[],
        timeout: None,
        repeat: 1,
        cooperative: false,
        timed: false,
        times: 1,
    })
}

#[test]
fn a_counter_that_was_not_reset_is_refused_every_time() {
    let desc = BackendDesc {
        choice: Choice::Cuda,
        ordinal: 0,
        cpu_threads: 0,
    };
    let backend = match crate::backend::acquire(&desc) {
        Ok(backend) => backend,
        Err(error) => return println!("skipped: needs a GPU: {error}"),
    };
    let emitted = load(&backend, Format::Wgsl, SOURCE);
    let text = emitted.ptx(PtxContract::ModuleScope).unwrap();
    let module = load(&backend, Format::Ptx, &text);
    for program in [&emitted, &module] {
        for _ in 0..100 {
            run(program, 132).unwrap();
        }
    }
    let before = backend.telemetry().refusals;
    {
        let _skipping = Skipping::start();
        // The module's counter stands at 264 from the last launch, so each of these adds to it.
        for turn in 2..12 {
            let error = run(&module, 132).unwrap_err();
            assert_eq!(error.status(), Status::BarrierAudit);
            let seen = format!("was {} after", 264 * turn);
            assert!(error.message().contains(&seen), "{error}");
        }
        // The slot's is right when it is new or was put in order after a refusal, and stale the time after.
        // As many workgroups as meet at one counter, in groups, and in groups that wait apart.
        for workgroups in [132, 1056, 2112] {
            for _ in 0..10 {
                let mut results = [run(&emitted, workgroups), run(&emitted, workgroups)];
                if results[0].is_err() {
                    results.swap(0, 1);
                }
                assert_eq!(results[0].as_ref().unwrap().barriers, 2);
                let error = results[1].as_ref().unwrap_err();
                assert_eq!(error.status(), Status::BarrierAudit, "{error}");
            }
        }
    }
    assert_eq!(backend.telemetry().refusals - before, 40);
    for program in [&emitted, &module] {
        for _ in 0..10 {
            assert_eq!(run(program, 132).unwrap().barriers, 2);
        }
    }
    for workgroups in [1056, 2112, 8, 1056, 1501] {
        assert_eq!(run(&emitted, workgroups).unwrap().barriers, 2);
    }
}
