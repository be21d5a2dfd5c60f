//! Time limits and sizes: nothing hangs, nothing is taken that is not there.

mod harness;

use std::time::{Duration, Instant};

use harness::{backend, buffer, dispatch, load, on_cuda, try_load, try_run, words};
use vyre::backend::ProgramFlags;
use vyre::error::Status;

const COUNTER: &str = "
    @group(0) @binding(0) var<storage, read_write> a: array<u32>;
    @compute @workgroup_size(1) fn main() { a[0] += 1u; }";

#[test]
fn endless_loops_end_at_the_time_limit() {
    let endless = [
        // Inside an invocation.
        "loop { a[0] += 1u; }",
        "for (;;) { if a[1] == 99u { break; } }",
        // An empty one, which no compiler may drop.
        "loop { if a[1] == 99u { break; } continuing { } }",
        // Around barriers.
        "loop { gridBarrier(); }",
        "loop { workgroupBarrier(); a[2] = 3u; }",
        "while atomicLoad(&flag) == 0u { }",
        // Nested, so that the innermost loops all end by themselves.
        "loop { for (var i = 0u; i < 1000u; i++) { a[0] += i; } }",
    ];
    for body in endless {
        let source = format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
             @group(0) @binding(1) var<storage, read_write> flag: atomic<u32>;
             @compute @workgroup_size(4) fn main() {{ a[3] = 0u; atomicOr(&flag, 0u); {body} }}"
        );
        let backend = backend(2);
        let program = load(&backend, &source);
        let buffers = [buffer(&backend, &[0; 4]), buffer(&backend, &[0])];
        for groups in [1, 16] {
            let mut limited = dispatch([groups, 1, 1], &buffers);
            limited.timeout = Some(Duration::from_millis(100));
            let start = Instant::now();
            let error = try_run(&program, limited).expect_err("it never ends by itself");
            let took = start.elapsed();
            assert_eq!(error.status(), Status::Timeout, "{body}: {error}");
            assert!(took >= Duration::from_millis(100), "{body}: {took:?}");
            assert!(took < Duration::from_secs(1), "{body}: {took:?}");
        }
        // The backend goes on as if nothing had happened.
        let after = load(&backend, COUNTER);
        let counter = [buffer(&backend, &[41])];
        try_run(&after, dispatch([1, 1, 1], &counter)).expect("a short program");
        assert_eq!(words(&counter[0])[0], 42);
    }
}

#[test]
fn a_huge_grid_ends_at_the_time_limit_too() {
    if on_cuda() {
        println!("skipped: a CUDA grid has at most 65535 workgroups in y");
        return;
    }
    let backend = backend(2);
    let program = load(&backend, "@compute @workgroup_size(1) fn main() { }");
    let mut limited = dispatch([u32::MAX, 1000, 1], &[]);
    limited.timeout = Some(Duration::from_millis(100));
    let start = Instant::now();
    let error = try_run(&program, limited).expect_err("4e12 workgroups");
    assert_eq!(error.status(), Status::Timeout);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn state_beyond_memory_is_refused() {
    if on_cuda() {
        println!("skipped: on CUDA a grid that meets has no state but registers");
        return;
    }
    let backend = backend(2);
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(256)
        fn main(@builtin(global_invocation_id) gid: vec3u) {
            let before = a[gid.x];
            gridBarrier();
            a[gid.x + 1u] = before;
        }";
    let program = load(&backend, source);
    let buffers = [buffer(&backend, &[0; 4])];
    let error =
        try_run(&program, dispatch([1 << 24, 1 << 12, 1], &buffers)).expect_err("2^44 words");
    assert_eq!(error.status(), Status::OutOfHostMemory, "{error}");
    try_run(&program, dispatch([64, 1, 1], &buffers)).expect("a small grid runs");
}

#[test]
fn workgroups_beyond_the_limits_are_refused() {
    let backend = backend(1);
    for (source, words) in [
        ("@compute @workgroup_size(1025) fn main() { }", "1025"),
        ("@compute @workgroup_size(64, 32) fn main() { }", "2048"),
        (
            "var<workgroup> w: array<u32, 65537>; @compute @workgroup_size(1) fn main() { w[0] = 1u; }",
            "262148",
        ),
    ] {
        let error = try_load(&backend, source, ProgramFlags::default())
            .err()
            .expect("over the limit");
        assert_eq!(error.status(), Status::InvalidProgram, "{error}");
        assert!(error.message().contains(words), "{error}");
    }
    load(&backend, "@compute @workgroup_size(1024) fn main() { }");
}

#[test]
fn barriers_beyond_reason_are_refused_in_time() {
    let backend = backend(1);
    let program = |barriers: usize| {
        let body: String = (0..barriers)
            .map(|i| format!("if p[{i}] == 1u {{ a[0] += {i}u; gridBarrier(); }}\n"))
            .collect();
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
             @group(0) @binding(1) var<storage, read> p: array<u32>;
             @compute @workgroup_size(1) fn main() {{ {body} }}"
        )
    };
    load(&backend, &program(40));
    if on_cuda() {
        println!(
            "skipped: CUDA has no phases to multiply; its assembler takes any number of barriers, slowly"
        );
        return;
    }
    let start = Instant::now();
    let error = try_load(&backend, &program(2000), ProgramFlags::default())
        .err()
        .expect("millions of blocks");
    assert_eq!(error.status(), Status::InvalidProgram, "{error}");
    assert!(error.message().contains("2000 barrier sites"), "{error}");
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}
