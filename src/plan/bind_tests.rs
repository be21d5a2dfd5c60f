use super::*;
use crate::backend::{Backend, BackendDesc, Buffer, Choice, HostIn, HostOut};
use std::sync::Arc;

fn backend() -> Arc<dyn Backend> {
    crate::backend::acquire(&BackendDesc {
        choice: Choice::Cpu,
        ordinal: 0,
        cpu_threads: 1,
    })
    .unwrap()
}

fn info(binding: u32, name: &str, access: Access, min_size: u64) -> BindingInfo {
    BindingInfo {
        group: 0,
        binding,
        name: name.into(),
        access,
        element_size: 4,
        min_size,
        runtime_sized: true,
    }
}

fn reflection(bindings: Vec<BindingInfo>) -> Reflection {
    Reflection {
        entry_point: "main".into(),
        label: None,
        workgroup_size: [1; 3],
        workgroup_memory: 0,
        immediates_size: 0,
        bindings,
        grid_barriers: 0,
        workgroup_barriers: 0,
        max_cooperative_workgroups: 1,
    }
}

/// "input" is read, "output" is written.
fn two() -> Reflection {
    reflection(vec![
        info(0, "input", Access::Read, 4),
        info(1, "output", Access::ReadWrite, 64),
    ])
}

fn on<'a>(binding: u32, buffer: &Arc<dyn Buffer>, offset: u64, size: u64) -> Binding<'a> {
    Binding {
        group: 0,
        binding,
        source: BindingSource::Buffer {
            buffer: buffer.clone(),
            offset,
            size,
        },
    }
}

fn host<'a>(
    binding: u32,
    input: Option<&'a [u8]>,
    output: Option<HostOut<'a>>,
    size: u64,
) -> Binding<'a> {
    Binding {
        group: 0,
        binding,
        source: BindingSource::Host {
            input: input.map(HostIn::from),
            output,
            size,
        },
    }
}

fn refused(result: Result<SmallVec<[Planned; 8]>>, status: Status, needles: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.status(), status, "{error}");
    for needle in needles {
        assert!(
            error.message().contains(needle),
            "{needle:?} is not in: {error}"
        );
    }
}

#[test]
fn bindings_come_in_any_order_and_leave_in_the_programs() {
    let buffer = backend().create_buffer(256).unwrap();
    let planned = bind(&two(), &[on(1, &buffer, 64, 0), on(0, &buffer, 0, 64)]).unwrap();
    let expected = [
        Planned {
            binding: 1,
            offset: 0,
            size: 64,
        },
        Planned {
            binding: 0,
            offset: 64,
            size: 192,
        },
    ];
    assert_eq!(planned.as_slice(), &expected);
}

#[test]
fn missing_superfluous_and_doubled_bindings_are_named() {
    let buffer = backend().create_buffer(256).unwrap();
    let (input, output) = (|| on(0, &buffer, 0, 64), || on(1, &buffer, 64, 64));
    let mismatch = Status::BindingMismatch;
    refused(
        bind(&two(), &[input()]),
        mismatch,
        &["\"output\"", "missing"],
    );
    refused(bind(&two(), &[]), mismatch, &["\"input\"", "missing"]);
    let doubled = [input(), output(), output()];
    refused(
        bind(&two(), &doubled),
        mismatch,
        &["bindings[1]", "bindings[2]", "\"output\""],
    );
    let extra = [input(), output(), on(7, &buffer, 128, 64)];
    refused(
        bind(&two(), &extra),
        mismatch,
        &["bindings[2]", "binding 7", "\"main\""],
    );
    assert!(bind(&reflection(vec![]), &[]).unwrap().is_empty());
}

#[test]
fn ranges_are_aligned_inside_the_buffer_and_large_enough() {
    let buffer = backend().create_buffer(256).unwrap();
    let with = |offset, size| {
        bind(
            &two(),
            &[on(0, &buffer, 0, 16), on(1, &buffer, offset, size)],
        )
    };
    let far = u64::MAX - 15;
    refused(
        with(8, 64),
        Status::InvalidArgument,
        &["offset is 8", "multiple of 16"],
    );
    refused(with(224, 64), Status::OutOfRange, &["224", "256 bytes"]);
    refused(with(far, 64), Status::OutOfRange, &["\"output\""]);
    refused(with(16, u64::MAX), Status::OutOfRange, &["\"output\""]);
    refused(
        with(16, 63),
        Status::BindingMismatch,
        &["63 bytes", "64 are needed", "\"output\""],
    );
    refused(with(208, 0), Status::BindingMismatch, &["48 bytes"]);
    refused(with(256, 0), Status::BindingMismatch, &["0 bytes"]);
    assert_eq!(with(192, 0).unwrap()[1].size, 64);
}

#[test]
fn host_bytes_fit_the_access() {
    let bytes = [0u8; 64];
    let mut results = [0u8; 64];
    let mismatch = Status::BindingMismatch;
    let cases: [(u32, bool, bool, &str); 4] = [
        (1, true, false, "host_out is missing"),
        (0, false, true, "host_out is given"),
        (0, true, true, "host_out is given"),
        (0, false, false, "host_in is missing"),
    ];
    for (binding, input, output, needle) in cases {
        let mut other = [0u8; 64];
        let input = input.then_some(&bytes[..]);
        let output = output.then(|| HostOut::from(&mut results[..]));
        let rest = match binding {
            0 => host(1, None, Some(HostOut::from(&mut other[..])), 64),
            _ => host(0, Some(&bytes), None, 64),
        };
        refused(
            bind(&two(), &[host(binding, input, output, 64), rest]),
            mismatch,
            &[needle],
        );
    }
    // A written binding starts as zeros without host_in; its size counts.
    let small = [
        host(0, Some(&bytes[..4]), None, 4),
        host(1, None, Some(HostOut::from(&mut results[..32])), 32),
    ];
    refused(
        bind(&two(), &small),
        mismatch,
        &["32 bytes", "64 are needed"],
    );
    let fine = [
        host(0, Some(&bytes[..4]), None, 4),
        host(1, None, Some(HostOut::from(&mut results[..])), 64),
    ];
    assert_eq!(bind(&two(), &fine).unwrap()[1].size, 64);
    let short = [
        host(0, Some(&bytes[..4]), None, 8),
        host(1, None, Some(HostOut::from(&mut results[..])), 64),
    ];
    refused(bind(&two(), &short), Status::InvalidArgument, &["host_in"]);
}

#[test]
fn shared_memory_is_refused_when_it_is_written() {
    let backend = backend();
    let buffer = backend.clone().create_buffer(256).unwrap();
    let mismatch = Status::BindingMismatch;
    let names = ["\"input\"", "\"output\"", "share memory"];
    refused(
        bind(&two(), &[on(0, &buffer, 0, 128), on(1, &buffer, 64, 64)]),
        mismatch,
        &names,
    );
    refused(
        bind(&two(), &[on(0, &buffer, 0, 0), on(1, &buffer, 0, 0)]),
        mismatch,
        &names,
    );
    assert!(bind(&two(), &[on(0, &buffer, 0, 64), on(1, &buffer, 64, 64)]).is_ok());

    // Another buffer object over the same memory, and host bytes inside it.
    let start = buffer.native_pointer();
    // SAFETY: `buffer` outlives the import.
    let alias = unsafe { backend.import_buffer(start + 64, 128) }.unwrap();
    refused(
        bind(&two(), &[on(0, &alias, 0, 64), on(1, &buffer, 64, 64)]),
        mismatch,
        &names,
    );
    assert!(bind(&two(), &[on(0, &alias, 64, 64), on(1, &buffer, 64, 64)]).is_ok());

    let readers = reflection(vec![
        info(0, "a", Access::Read, 4),
        info(1, "b", Access::Uniform, 4),
    ]);
    assert!(bind(&readers, &[on(0, &buffer, 0, 0), on(1, &buffer, 0, 0)]).is_ok());
}

#[test]
fn host_input_may_be_its_own_output_but_nobody_elses() {
    let mut memory = [0u8; 128];
    let start = std::ptr::NonNull::from(&mut memory).cast::<u8>();
    // SAFETY: nothing reads or writes through these; they stay within `memory`.
    let lend = |at: usize, len| unsafe {
        let start = start.add(at);
        (HostIn::new(start, len), HostOut::new(start, len))
    };
    let bound = |read_at: usize| {
        let (input, _) = lend(read_at, 64);
        let (same, output) = lend(64, 64);
        let binding = |binding, input, output| Binding {
            group: 0,
            binding,
            source: BindingSource::Host {
                input: Some(input),
                output,
                size: 64,
            },
        };
        bind(
            &two(),
            &[binding(0, input, None), binding(1, same, Some(output))],
        )
    };
    assert!(bound(0).is_ok());
    refused(
        bound(1),
        Status::BindingMismatch,
        &["\"input\"", "\"output\""],
    );
}
