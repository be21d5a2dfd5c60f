//! The CUDA backend's host side over the double of the driver: what runs right, runs right; what goes wrong is told,
//! and nothing is left of it.

mod double;
mod harness;

use std::sync::Arc;

use double::{Double, acquire, acquire_warm, alone, programs};
use vyre::backend::{Backend, Buffer};
use vyre::error::Status;

/// Bytes of a copy that goes through chunks of page-locked memory, the last one odd.
const LONG: usize = (20 << 20) + 12;

fn pattern(size: usize) -> Vec<u8> {
    (0..size as u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect()
}

fn make(backend: &Arc<dyn Backend>, size: usize) -> Arc<dyn Buffer> {
    Arc::clone(backend)
        .create_buffer(size as u64)
        .expect("there is room")
}

/// Writes and reads; both are right.
#[track_caller]
fn copies_are_right(backend: &Arc<dyn Backend>, about: &str) {
    let buffer = make(backend, LONG);
    let sent = pattern(LONG);
    buffer.write(0, sent.as_slice().into()).expect(about);
    let mut back = vec![0; LONG];
    buffer.read(0, back.as_mut_slice().into()).expect(about);
    assert!(sent == back, "{about}");
}

#[test]
fn everything_runs_and_nothing_is_left() {
    alone("everything_runs_and_nothing_is_left", || {
        let double = Double::get();
        for turn in 0..5 {
            let backend = acquire().expect("the double is there");
            let program = programs::load(&backend).unwrap();
            let module = programs::load_module(&backend).unwrap();
            for program in [&program, &module] {
                programs::run(&backend, program, 5, |_| ()).unwrap();
                programs::run(&backend, program, 9, |asked| asked.repeat = 200).unwrap();
                programs::run(&backend, program, 5, |asked| asked.timed = true).unwrap();
                programs::run_lent(program, 5).unwrap();
            }
            copies_are_right(&backend, "copies");
            let host = Arc::clone(&backend).allocate_host(LONG as u64).unwrap();
            assert_eq!(double.count("entered"), 0);
            assert!(double.count("host") > 0 && double.count("pooled") > 0);
            // What nobody uses is given back, but for the stream that memory comes and goes on.
            drop((program, module, host));
            backend.trim(true).unwrap();
            for (name, left) in [
                ("streams", 1),
                ("events", 0),
                ("modules", 0),
                ("pooled", 0),
                ("host", 0),
                ("device", 0),
            ] {
                assert_eq!(double.count(name), left, "{name}, turn {turn}");
            }
            programs::run(&backend, &programs::load(&backend).unwrap(), 5, |_| ()).unwrap();
            drop(backend);
            double.assert_clean("after a cycle");
        }
    });
}

#[test]
fn long_copies_are_right_without_page_locked_memory() {
    alone("long_copies_are_right_without_page_locked_memory", || {
        let double = Double::get();
        // No chunk at all, too few for one thread, and for one thread but not for two.
        for first in 1..=5 {
            let backend = acquire().unwrap();
            double.script(&format!("cuMemHostAlloc@{first}+=2"));
            copies_are_right(&backend, &format!("chunk {first}"));
            assert!(double.uses_of("cuMemHostAlloc") > 0);
            let telemetry = backend.telemetry();
            assert_eq!(
                (telemetry.bytes_in, telemetry.bytes_out),
                (LONG as u64, LONG as u64)
            );
            drop(backend);
            double.assert_clean("without page-locked memory");
        }
    });
}

#[test]
fn a_long_copy_that_fails_half_way_is_told_and_the_next_is_right() {
    alone(
        "a_long_copy_that_fails_half_way_is_told_and_the_next_is_right",
        || {
            let double = Double::get();
            let backend = acquire().unwrap();
            let buffer = make(&backend, LONG);
            let mut bytes = pattern(LONG);
            for call in [
                "cuMemcpyHtoDAsync_v2",
                "cuMemcpyDtoHAsync_v2",
                "cuStreamQuery",
                "cuStreamCreate",
            ] {
                for n in 1..=5 {
                    double.script(&format!("{call}@{n}=12345"));
                    let results = [
                        buffer.write(0, bytes.as_slice().into()),
                        buffer.read(0, bytes.as_mut_slice().into()),
                    ];
                    assert!(double.count("fired") == 1 || call == "cuStreamCreate");
                    let failed = results.iter().filter_map(|result| result.as_ref().err());
                    assert_eq!(
                        failed.clone().count() as u64,
                        double.count("fired"),
                        "{call} {n}"
                    );
                    failed.for_each(|error| assert_eq!(error.status(), Status::DispatchFailed));
                    double.script("");
                    copies_are_right(&backend, call);
                }
            }
            drop((buffer, backend));
            double.assert_clean("after failed copies");
        },
    );
}

#[test]
fn memory_that_is_kept_idle_makes_room_and_then_there_is_none() {
    alone(
        "memory_that_is_kept_idle_makes_room_and_then_there_is_none",
        || {
            const MIB: u64 = 1 << 20;
            let double = Double::get();
            double.set_memory(64 * MIB);
            let backend = acquire().unwrap();
            let program = programs::load(&backend).unwrap();
            // Leaves 30 MiB idle in the pool of what calls use.
            programs::run_lent(&program, (30 * MIB / 32) as u32).expect_err("too many to meet");
            let lent = harness::load(
                &backend,
                "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
            @compute @workgroup_size(1) fn main() { a[0] = 5u; }",
            );
            let mut bytes = vec![0u8; (30 * MIB) as usize];
            let mut asked = harness::dispatch([1, 1, 1], &[]);
            asked.bindings.push(vyre::backend::Binding {
                group: 0,
                binding: 0,
                source: vyre::backend::BindingSource::Host {
                    input: None,
                    size: 30 * MIB,
                    output: Some(bytes.as_mut_slice().into()),
                },
            });
            harness::try_run(&lent, asked).unwrap();
            assert_eq!(bytes[0], 5);
            let create = |size| Arc::clone(&backend).create_buffer(size);
            double.script("");
            let large = create(50 * MIB).expect("what is idle makes room");
            assert_eq!(double.uses_of("cuMemPoolTrimTo"), 1);
            assert_eq!(double.uses_of("cuMemAllocFromPoolAsync"), 2);
            double.script("");
            let error = create(20 * MIB).err().expect("there is no room");
            assert_eq!(double.uses_of("cuMemAllocFromPoolAsync"), 2);
            assert_eq!(
                (error.status(), error.native_code()),
                (Status::OutOfDeviceMemory, 2)
            );
            for part in ["20971520 bytes", "of 67108864 are free"] {
                assert!(error.message().contains(part), "{error}");
            }
            assert!(error.fix().len() > 20, "{}", error.fix());
            double.script("");
            let error = create(65 * MIB).err().expect("the device has less");
            assert_eq!(error.status(), Status::OutOfDeviceMemory);
            assert_eq!(double.uses_of("cuMemAllocFromPoolAsync"), 0);
            programs::run(&backend, &program, 5, |_| ()).expect("little is needed");
            drop(large);
            drop(create(50 * MIB).expect("there is room again"));
            drop((program, lent, backend));
            double.assert_clean("after memory ran out");
        },
    );
}

#[test]
fn codes_that_end_a_context_are_told_at_once_from_then_on() {
    alone(
        "codes_that_end_a_context_are_told_at_once_from_then_on",
        || {
            let double = Double::get();
            for (place, code) in [
                ("kernel", 700),
                ("kernel", 719),
                ("cuStreamQuery", 716),
                ("cuLaunchCooperativeKernel", 719),
            ] {
                let backend = acquire().unwrap();
                let program = programs::load(&backend).unwrap();
                let buffers = programs::buffers(&backend, 5);
                // So late that the driver is asked.
                double.script(&format!("{place}@1={code};kernel@1=delay:20"));
                let error =
                    programs::run_on(&program, 5, &buffers, |_| ()).expect_err("it is lost");
                assert_eq!(
                    (error.status(), error.native_code()),
                    (Status::DeviceLost, code),
                    "{error}"
                );
                double.script("");
                let mut word = [0; 4];
                let statuses = [
                    buffers[0].read(0, word.as_mut_slice().into()).err(),
                    buffers[0].write(0, word.as_slice().into()).err(),
                    Arc::clone(&backend).create_buffer(4).err(),
                    programs::load_module(&backend).err(),
                    Arc::clone(&backend).allocate_host(4).err(),
                    harness::try_run(&program, harness::dispatch([5, 1, 1], &buffers)).err(),
                ];
                for (n, error) in statuses.iter().enumerate() {
                    let error = error.as_ref().expect("the backend is lost");
                    assert_eq!(
                        (error.status(), error.native_code()),
                        (Status::DeviceLost, code),
                        "{n}: {error}"
                    );
                    assert!(error.message().contains(&code.to_string()), "{error}");
                }
                let uses = double.uses();
                let is_name = |call: &str| ["cuGetErrorName", "cuGetErrorString"].contains(&call);
                assert!(
                    uses.iter().all(|(call, _)| is_name(call)),
                    "asked again: {uses:?}"
                );
                drop((program, buffers, backend));
                double.assert_clean("after the context was lost");
                let fresh = acquire().expect("released and acquired anew it works");
                programs::run(&fresh, &programs::load(&fresh).unwrap(), 5, |_| ()).unwrap();
            }
        },
    );
}

#[test]
fn codes_that_end_a_call_are_told_and_the_next_dispatch_is_right() {
    alone(
        "codes_that_end_a_call_are_told_and_the_next_dispatch_is_right",
        || {
            let double = Double::get();
            let backend = acquire_warm();
            let program = programs::load(&backend).unwrap();
            for (code, status) in [
                (701, Status::DispatchFailed),
                (720, Status::GridTooLarge),
                (2, Status::OutOfDeviceMemory),
                (801, Status::Unsupported),
                (12345, Status::DispatchFailed),
            ] {
                double.script(&format!("cuLaunchCooperativeKernel@1={code}"));
                let error = programs::run(&backend, &program, 5, |_| ()).unwrap_err();
                assert_eq!(
                    (error.status(), error.native_code()),
                    (status, code),
                    "{error}"
                );
                assert!(error.fix().len() > 10, "{error}");
                programs::run(&backend, &program, 5, |_| ()).unwrap();
            }
            drop((program, backend));
            double.assert_clean("after launches failed");
        },
    );
}

/// A question that fails says nothing of the kernel, whose memory must not be used by others while it runs.
#[test]
fn a_wait_that_fails_is_told_when_the_kernel_is_over() {
    alone("a_wait_that_fails_is_told_when_the_kernel_is_over", || {
        let double = Double::get();
        let backend = acquire_warm();
        for load in [programs::load, programs::load_module] {
            let program = load(&backend).unwrap();
            for (script, limit) in [
                ("cuStreamQuery@1=12345", 10_000),
                ("cuStreamQuery@2=1", 10_000),
                // The time limit passes, and the kernel cannot be told to stop.
                ("cuMemcpyHtoDAsync_v2@1=12345", 20),
            ] {
                let buffers = programs::buffers(&backend, 5);
                double.script(&format!("kernel@1=delay:100;{script}"));
                let limit = std::time::Duration::from_millis(limit);
                let start = std::time::Instant::now();
                let error =
                    programs::run_on(&program, 5, &buffers, |asked| asked.timeout = Some(limit));
                let error = error.expect_err(script);
                assert!(
                    start.elapsed().as_millis() >= 100,
                    "{script}: it still runs"
                );
                assert_eq!(double.count("fired"), 2, "{script}");
                assert!(
                    matches!(error.status(), Status::DispatchFailed),
                    "{script}: {error}"
                );
                double.script("");
                assert_eq!(
                    harness::words(&buffers[0]),
                    programs::expected(5, 1),
                    "{script}"
                );
                programs::run(&backend, &program, 5, |_| ()).expect("the next is right");
            }
        }
        // A driver that never answers: nobody knows, so the backend is lost.
        let program = programs::load(&backend).unwrap();
        let buffers = programs::buffers(&backend, 5);
        double.script("kernel@1=delay:20;cuStreamQuery@*=12345");
        let error = programs::run_on(&program, 5, &buffers, |_| ()).unwrap_err();
        assert_eq!(error.status(), Status::DispatchFailed, "{error}");
        double.script("");
        let error = programs::run_on(&program, 5, &buffers, |_| ()).unwrap_err();
        assert_eq!(error.status(), Status::DeviceLost, "{error}");
    });
}

/// Slots and code come from the device's memory, too.
#[test]
fn whatever_takes_memory_is_tried_once_more() {
    alone("whatever_takes_memory_is_tried_once_more", || {
        let double = Double::get();
        for (call, status) in [
            ("cuMemAlloc_v2", Status::OutOfDeviceMemory),
            ("cuMemHostAlloc", Status::OutOfHostMemory),
            ("cuModuleLoadDataEx", Status::OutOfDeviceMemory),
            ("cuMemAllocFromPoolAsync", Status::OutOfDeviceMemory),
        ] {
            let run = || {
                let backend = acquire()?;
                let program = programs::load(&backend)?;
                programs::run_lent(&program, 5)
            };
            double.script(&format!("{call}@1=2"));
            run().unwrap_or_else(|error| panic!("{call}: {error}"));
            assert_eq!(double.count("fired"), 1, "{call}");
            double.script(&format!("{call}@1+=2"));
            let error = run().expect_err(call);
            assert_eq!(
                (error.status(), error.native_code()),
                (status, 2),
                "{call}: {error}"
            );
            assert_eq!(double.count("fired"), 2, "{call}");
            double.script("");
            double.assert_clean(call);
        }
    });
}
