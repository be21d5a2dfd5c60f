//! Barriers that hold: each of these gives another result if one barrier is a no-op.

mod harness;

use harness::{backend, buffer, dispatch, load, on_cuda, run, try_load, try_run, words};
use vyre::backend::ProgramFlags;
use vyre::error::Status;

const GROUPS: u32 = 64;
const SIZE: u32 = 64;
const N: usize = (GROUPS * SIZE) as usize;

/// Thread counts to run with: alone, and with more workers than this machine may have processors.
const THREADS: [u32; 3] = [1, 2, 5];

#[test]
fn every_workgroup_reads_what_the_last_one_wrote() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> shared_word: array<u32>;
        @group(0) @binding(1) var<storage, read_write> seen: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(workgroup_id) group: vec3u,
                @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) local: u32) {
            for (var turn = 1u; turn <= 8u; turn++) {
                // Only the last workgroup writes, late in its own work.
                if group.x == groups.x - 1u {
                    shared_word[local] = turn * 1000u + local;
                }
                gridBarrier();
                seen[gid.x] += shared_word[63u - local];
                gridBarrier();
            }
        }";
    for threads in THREADS {
        let result = run(threads, source, [GROUPS, 1, 1], &[vec![0; 64], vec![0; N]]);
        for (i, &seen) in result[1].iter().enumerate() {
            let mirror = 63 - (i as u32 % 64);
            assert_eq!(
                seen,
                36_000 + 8 * mirror,
                "invocation {i} on {threads} threads"
            );
        }
    }
}

#[test]
fn nested_loops_with_early_uniform_exits() {
    // The grid leaves, skips and returns together, driven by values that it reads from memory.
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> b: array<u32>;
        @group(0) @binding(2) var<storage, read> plan: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u) {
            let n = arrayLength(&a);
            let other = n - 1u - gid.x;
            for (var i = 0u; i < 10u; i++) {
                if plan[i] == 1u { continue; }
                if plan[i] == 2u { break; }
                for (var j = 0u; j < 10u; j++) {
                    a[gid.x] = b[gid.x] + i + j;
                    gridBarrier();
                    if plan[10u + j] == 2u { break; }
                    if plan[10u + j] == 3u { return; }
                    b[gid.x] = a[other] + 1u;
                    gridBarrier();
                }
                gridBarrier();
                b[gid.x] += a[(gid.x + 64u) % n];
                gridBarrier();
            }
            b[gid.x] += 100000u;
        }";
    let plans: [&[(usize, u32)]; 6] = [
        &[],
        &[(0, 1), (3, 1)],
        &[(5, 2)],
        &[(14, 2)],
        &[(2, 1), (6, 2), (13, 2)],
        &[(17, 3)],
    ];
    for plan in plans {
        let mut steps = vec![0u32; 20];
        for &(at, what) in plan {
            steps[at] = what;
        }
        let expected = nested_loops(&steps);
        for threads in THREADS {
            let result = run(
                threads,
                source,
                [GROUPS, 1, 1],
                &[vec![0; N], vec![0; N], steps.clone()],
            );
            assert_eq!(result[0], expected.0, "{plan:?} on {threads} threads");
            assert_eq!(result[1], expected.1, "{plan:?} on {threads} threads");
        }
    }
}

/// The program of `nested_loops_with_early_uniform_exits`, one phase after the other.
fn nested_loops(plan: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut a, mut b) = (vec![0u32; N], vec![0u32; N]);
    for i in 0..10 {
        if plan[i] == 1 {
            continue;
        }
        if plan[i] == 2 {
            break;
        }
        for j in 0..10 {
            for k in 0..N {
                a[k] = b[k].wrapping_add((i + j) as u32);
            }
            if plan[10 + j] == 2 {
                break;
            }
            if plan[10 + j] == 3 {
                return (a, b);
            }
            for k in 0..N {
                b[k] = a[N - 1 - k].wrapping_add(1);
            }
        }
        for k in 0..N {
            b[k] = b[k].wrapping_add(a[(k + 64) % N]);
        }
    }
    for word in &mut b {
        *word = word.wrapping_add(100_000);
    }
    (a, b)
}

#[test]
fn state_lives_across_barriers_in_registers_arrays_and_workgroup_memory() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        var<workgroup> tile: array<u32, 64>;
        var<private> history: array<u32, 8>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_index) local: u32) {
            let n = arrayLength(&data);
            let first = data[gid.x];
            var product = 1u;
            var local_history: array<u32, 8>;
            tile[local] = first;
            for (var i = 0u; i < 8u; i++) {
                workgroupBarrier();
                let neighbour = tile[(local + 1u) % 64u];
                workgroupBarrier();
                tile[local] = neighbour + i;
                history[i] = neighbour;
                local_history[7u - i] = neighbour ^ first;
                gridBarrier();
                data[gid.x] = product + neighbour;
                gridBarrier();
                product = product * 3u + data[(gid.x + 64u * i) % n];
                gridBarrier();
            }
            var sum = 0u;
            for (var i = 0u; i < 8u; i++) {
                sum = sum * 7u + history[i] + local_history[i];
            }
            out[gid.x] = sum ^ product ^ tile[63u - local];
        }";
    let input: Vec<u32> = (0..N as u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect();
    let expected = living_state(&input);
    for threads in THREADS {
        let result = run(
            threads,
            source,
            [GROUPS, 1, 1],
            &[input.clone(), vec![0; N]],
        );
        assert_eq!(result[1], expected, "{threads} threads");
    }
}

fn living_state(input: &[u32]) -> Vec<u32> {
    let mut data = input.to_vec();
    let mut tile = input.to_vec();
    let mut product = vec![1u32; N];
    let mut history = vec![[0u32; 8]; N];
    let mut local_history = vec![[0u32; 8]; N];
    for i in 0..8 {
        let neighbour: Vec<u32> = (0..N)
            .map(|k| tile[k / 64 * 64 + (k % 64 + 1) % 64])
            .collect();
        for k in 0..N {
            tile[k] = neighbour[k].wrapping_add(i as u32);
            history[k][i] = neighbour[k];
            local_history[k][7 - i] = neighbour[k] ^ input[k];
            data[k] = product[k].wrapping_add(neighbour[k]);
        }
        for k in 0..N {
            product[k] = product[k]
                .wrapping_mul(3)
                .wrapping_add(data[(k + 64 * i) % N]);
        }
    }
    (0..N)
        .map(|k| {
            let sum = (0..8).fold(0u32, |sum, i| {
                sum.wrapping_mul(7)
                    .wrapping_add(history[k][i])
                    .wrapping_add(local_history[k][i])
            });
            sum ^ product[k] ^ tile[k / 64 * 64 + 63 - k % 64]
        })
        .collect()
}

#[test]
fn a_million_workgroups_meet() {
    let groups = 1_000_000u32;
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @group(0) @binding(1) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
            let mine = group.x * 3u + 1u;
            var carried = a[group.x];
            for (var i = 0u; i < 3u; i++) {
                a[group.x] = mine + i + carried;
                gridBarrier();
                carried = a[groups.x - 1u - group.x];
                gridBarrier();
            }
            b[group.x] = carried;
        }";
    let backend = backend(2);
    let program = load(&backend, source);
    let n = groups as usize;
    let buffers = [buffer(&backend, &vec![0; n]), buffer(&backend, &vec![0; n])];
    if on_cuda() {
        // Only as many as are co-resident can meet there.
        let error = try_run(&program, dispatch([groups, 1, 1], &buffers)).expect_err("too many");
        assert_eq!(error.status(), Status::GridTooLarge);
        assert!(
            error.message().contains("1000000") && error.fix().contains("grid-stride"),
            "{error}"
        );
        return;
    }
    let report = try_run(&program, dispatch([groups, 1, 1], &buffers)).expect("it fits");
    assert_eq!(
        (report.barriers, report.arrivals),
        (6, 6 * u64::from(groups))
    );
    let (mut a, mut carried) = (vec![0u32; n], vec![0u32; n]);
    for i in 0..3 {
        for k in 0..n {
            a[k] = (k as u32 * 3 + 1 + i).wrapping_add(carried[k]);
        }
        for k in 0..n {
            carried[k] = a[n - 1 - k];
        }
    }
    assert_eq!(words(&buffers[1]), carried);
    // A word per workgroup and what is recomputed: far from gigabytes.
    assert!(backend.telemetry().retained_bytes < 64 << 20);
}

#[test]
fn uneven_workgroup_barriers_are_found() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u) {
            if a[gid.x] == 7u {
                workgroupBarrier();
            }
            a[gid.x] = 1u;
        }";
    let backend = backend(2);
    let program = load(&backend, source);
    let mut input = vec![0; N];
    let even = [buffer(&backend, &input)];
    try_run(&program, dispatch([GROUPS, 1, 1], &even)).expect("nobody enters the branch");
    input[64 * 10 + 5] = 7;
    let uneven = [buffer(&backend, &input)];
    if on_cuda() {
        // The hardware's barrier waits for nobody that has ended.
        try_run(&program, dispatch([GROUPS, 1, 1], &uneven)).expect("nobody waits");
        return;
    }
    let error =
        try_run(&program, dispatch([GROUPS, 1, 1], &uneven)).expect_err("one invocation enters");
    assert_eq!(error.status(), Status::DispatchFailed);
    let message = error.message();
    assert!(message.contains("workgroup (10, 0, 0)"), "{message}");
    assert!(
        message.contains("invocation 5 reached the workgroup barrier at 6:17"),
        "{message}"
    );
    assert!(
        message.contains("invocation 0 reached the end"),
        "{message}"
    );
    assert_eq!(error.position().map(|at| at.line), Some(6));
    let all = [buffer(&backend, &vec![7; N])];
    try_run(&program, dispatch([GROUPS, 1, 1], &all)).expect("everybody enters");
}

#[test]
fn a_lie_about_a_grid_barrier_is_found() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3u) {
            if a[group.x] == 0u {
                gridBarrier();
            }
            a[group.x] = 1u;
        }";
    let backend = backend(2);
    let refused = try_load(&backend, source, ProgramFlags::default())
        .err()
        .expect("not provably uniform");
    assert_eq!(refused.status(), Status::InvalidProgram);
    let trust = ProgramFlags {
        trust_uniformity: true,
        ..ProgramFlags::default()
    };
    let program = try_load(&backend, source, trust).expect("trusted");
    let honest = [buffer(&backend, &[0; 64])];
    let report = try_run(&program, dispatch([GROUPS, 1, 1], &honest)).expect("all meet");
    assert_eq!(report.barriers, 1);
    let mut input = [0; 64];
    input[63] = 1;
    let lie = [buffer(&backend, &input)];
    let error =
        try_run(&program, dispatch([GROUPS, 1, 1], &lie)).expect_err("one workgroup passes by");
    assert_eq!(error.status(), Status::BarrierAudit);
    let named = match on_cuda() {
        true => "gridBarrier()",
        false => "gridBarrier() at 6:17",
    };
    assert!(error.message().contains(named), "{}", error.message());
    // The slot that the lie spoilt is put in order before it is used again.
    let report = try_run(&program, dispatch([GROUPS, 1, 1], &honest)).expect("all pass by");
    assert_eq!(report.barriers, 0);
}
