//! Barriers that did not hold, made by the double of the driver: refused every time, and nothing of it stays.

mod double;
mod harness;

use std::sync::Arc;
use std::time::Duration;

use double::{Double, acquire, acquire_warm, alone, programs};
use vyre::backend::{ProgramFlags, PtxContract};
use vyre::error::Status;

/// Workgroups that meet at one counter, in groups, and in groups that wait apart.
const GRIDS: [u32; 3] = [5, 1000, 1600];

#[test]
fn arrivals_too_many_or_too_few_are_refused_at_a_slot() {
    alone("arrivals_too_many_or_too_few_are_refused_at_a_slot", || {
        let double = Double::get();
        let backend = acquire_warm();
        let program = programs::load(&backend).unwrap();
        // Makes slots.
        programs::run(&backend, &program, 5, |_| ()).unwrap();
        let mut refusals = 0;
        for workgroups in GRIDS {
            for what in ["stale", "short", "extra"] {
                for _ in 0..5 {
                    double.script(&format!("kernel@1={what}"));
                    let bound = programs::buffers(&backend, workgroups);
                    let asked = harness::dispatch([workgroups, 1, 1], &bound);
                    let error = harness::try_run(&program, asked).expect_err(what);
                    refusals += 1;
                    assert_eq!(double.count("fired"), 1);
                    assert_eq!(
                        error.status(),
                        Status::BarrierAudit,
                        "{what}, {workgroups}: {error}"
                    );
                    assert!(
                        error.message().contains("did not hold") && error.fix().len() > 10,
                        "{error}"
                    );
                    // The slot is put in order before it is used again.
                    assert_eq!(
                        double.uses_of("cuMemsetD8Async"),
                        2 + 1,
                        "a fill for each buffer, and one for the slot"
                    );
                    programs::run(&backend, &program, workgroups, |_| ())
                        .expect("the next is right");
                }
            }
        }
        assert_eq!(backend.telemetry().refusals, refusals);
        // Also in the midst of others.
        for n in 1..=3 {
            double.script(&format!("kernel@{n}=stale"));
            let error = programs::run(&backend, &program, 5, |asked| asked.repeat = 3).unwrap_err();
            assert_eq!(error.status(), Status::BarrierAudit, "run {n}: {error}");
            programs::run(&backend, &program, 5, |asked| asked.repeat = 3)
                .expect("the next is right");
        }
        drop((program, backend));
        double.assert_clean("after refusals");
    });
}

#[test]
fn a_counter_that_was_not_reset_is_refused_in_a_module() {
    alone(
        "a_counter_that_was_not_reset_is_refused_in_a_module",
        || {
            let double = Double::get();
            let backend = acquire_warm();
            let module = programs::load_module(&backend).unwrap();
            for workgroups in GRIDS {
                // One too few is what a grid that leaves early looks like, under this contract.
                for what in ["stale", "extra"] {
                    for n in 1..=3 {
                        double.script(&format!("kernel@{n}={what}"));
                        let error =
                            programs::run(&backend, &module, workgroups, |asked| asked.repeat = 3)
                                .unwrap_err();
                        assert_eq!(
                            error.status(),
                            Status::BarrierAudit,
                            "{what}, {workgroups}: {error}"
                        );
                        assert!(error.message().contains("_vyre_grid_barrier"), "{error}");
                        assert!(error.fix().contains("enqueue_reset"), "{}", error.fix());
                        programs::run(&backend, &module, workgroups, |asked| asked.repeat = 3)
                            .expect("the next is right");
                    }
                }
            }
            assert_eq!(backend.telemetry().refusals, 3 * 2 * 3);
            drop((module, backend));
            double.assert_clean("after refusals");
        },
    );
}

#[test]
fn an_arrival_that_is_lost_ends_at_the_time_limit() {
    alone("an_arrival_that_is_lost_ends_at_the_time_limit", || {
        let double = Double::get();
        let backend = acquire_warm();
        let program = programs::load(&backend).unwrap();
        let module = programs::load_module(&backend).unwrap();
        for program in [&program, &module] {
            for workgroups in [5, 1000] {
                double.script("kernel@1=partial");
                let limit = Duration::from_millis(100);
                let error = programs::run(&backend, program, workgroups, |asked| {
                    asked.timeout = Some(limit)
                })
                .unwrap_err();
                assert_eq!(error.status(), Status::Timeout, "{error}");
                assert!(error.message().contains("limit 0.100"), "{error}");
                programs::run(&backend, program, workgroups, |_| ()).expect("the next is right");
            }
        }
        drop((program, module, backend));
        double.assert_clean("after time-outs");
    });
}

/// The last workgroup passes by a barrier that all others wait at.
#[test]
fn a_workgroup_that_stays_away_is_found_out() {
    alone("a_workgroup_that_stays_away_is_found_out", || {
        let double = Double::get();
        let backend = acquire_warm();
        let source = "
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            @group(0) @binding(1) var<storage, read> lie: array<u32>;
            @compute @workgroup_size(8)
            fn main(@builtin(workgroup_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
                if lie[0] == 0u || id.x < grid.x - 1u { gridBarrier(); }
                out[id.x] = 1u;
            }";
        let trust = ProgramFlags {
            trust_uniformity: true,
            ..ProgramFlags::default()
        };
        let program = harness::try_load(&backend, source, trust).unwrap();
        let module = program.ptx(PtxContract::ModuleScope).unwrap();
        let module = programs::load_text(&backend, &module).unwrap();
        // A module's counter is only told of who came: there the time limit is what ends it.
        for (program, status) in [(&program, Status::BarrierAudit), (&module, Status::Timeout)] {
            for workgroups in GRIDS {
                let out = harness::buffer(&backend, &vec![0; workgroups as usize]);
                for lie in [1, 0] {
                    let bound = [Arc::clone(&out), harness::buffer(&backend, &[lie])];
                    let result = programs::run_on(program, workgroups, &bound, |asked| {
                        let limit = if lie == 1 && status == Status::Timeout {
                            300
                        } else {
                            30_000
                        };
                        asked.timeout = Some(Duration::from_millis(limit));
                    });
                    match result {
                        Ok(report) => assert_eq!((lie, report.barriers), (0, 1)),
                        Err(error) => assert_eq!((lie, error.status()), (1, status), "{error}"),
                    }
                    // Who waited went no further.
                    let written = harness::words(&out).iter().sum::<u32>();
                    assert_eq!(written, if lie == 1 { 1 } else { workgroups });
                }
            }
        }
        drop((program, module, backend));
        double.assert_clean("after lies");
    });
}

#[test]
fn a_kernel_that_comes_late_is_waited_for() {
    alone("a_kernel_that_comes_late_is_waited_for", || {
        let double = Double::get();
        let backend = acquire_warm();
        let program = programs::load(&backend).unwrap();
        double.script("kernel@1=delay:50;cuStreamQuery@*=delay:1");
        programs::run(&backend, &program, 5, |_| ()).unwrap();
        programs::run_lent(&program, 5).unwrap();
        drop((program, backend));
        double.assert_clean("after a late kernel");
    });
}

/// The kernel that times slots may have to wait for others on the device. Nobody waits for it for long, and its slots
/// are nobody's from then on.
#[test]
fn slots_that_cannot_be_timed_in_time_are_given_up() {
    alone("slots_that_cannot_be_timed_in_time_are_given_up", || {
        let double = Double::get();
        let backend = acquire().unwrap();
        let program = programs::load(&backend).unwrap();
        let bound = programs::buffers(&backend, 5);
        double.script("kernel@1=delay:4000");
        let start = std::time::Instant::now();
        program
            .warm_up(&harness::dispatch([5, 1, 1], &bound))
            .expect("there are other slots");
        let waited = start.elapsed();
        assert_eq!(double.count("fired"), 1);
        assert!(waited < Duration::from_millis(3900), "{waited:?}");
        for _ in 0..3 {
            programs::run(&backend, &program, 5, |asked| asked.repeat = 3).expect("it is right");
        }
        assert_eq!(double.count("violations"), 0);
    });
}
