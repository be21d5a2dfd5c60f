//! Atomics are atomic: every invocation of a grid on several threads takes part in each result.

mod harness;

const GROUPS: u32 = 64;
const N: u64 = 64 * GROUPS as u64;

/// Runs `body` everywhere over one word of `ty`, first `before`; what the word holds then.
fn contended(ty: &str, before: u64, body: &str) -> u64 {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> a: atomic<{ty}>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u) {{ let me = {ty}(gid.x); {body} }}"
    );
    let halves = vec![before as u32, (before >> 32) as u32];
    let words = harness::run(4, &source, [GROUPS, 1, 1], &[halves]).remove(0);
    let low = u64::from(words[0]);
    match ty {
        "u64" | "i64" => low | u64::from(words[1]) << 32,
        _ => low,
    }
}

#[test]
fn sums_and_extremes_of_all_invocations() {
    // The sum carries into the upper half, and the extremes differ there only.
    let far = 1u64 << 40;
    let sum = N * (N - 1) / 2;
    for (ty, unit) in [("u32", 1), ("i32", 1), ("u64", far), ("i64", far)] {
        let all = |before, body: &str| {
            contended(ty, before, &body.replace("UNIT", &format!("{ty}({unit})")))
        };
        assert_eq!(all(5, "atomicAdd(&a, me * UNIT);"), 5 + sum * unit, "{ty}");
        assert_eq!(all(sum * unit, "atomicSub(&a, me * UNIT);"), 0, "{ty}");
        assert_eq!(all(7, "atomicMax(&a, me * UNIT);"), (N - 1) * unit, "{ty}");
        assert_eq!(all(N * unit, "atomicMin(&a, me * UNIT + 3);"), 3, "{ty}");
        assert_eq!(
            all(0, "atomicOr(&a, UNIT << u32(me % 16));"),
            0xffff * unit,
            "{ty}"
        );
        assert_eq!(
            all(0x1ffff * unit, "atomicAnd(&a, ~(UNIT << u32(me % 16)));"),
            0x10000 * unit,
            "{ty}"
        );
        // Each bit flips an even number of times, but for one invocation.
        assert_eq!(
            all(0, "if me != 0 { atomicXor(&a, UNIT << u32(me % 16)); }"),
            unit,
            "{ty}"
        );
    }
}

#[test]
fn signed_extremes_are_signed() {
    assert_eq!(
        contended("i32", 0, "atomicMin(&a, -me);") as u32 as i32,
        1 - N as i32
    );
    let low = contended("i64", 0, "atomicMin(&a, -me * 1099511627776);").cast_signed();
    assert_eq!(low, -(N as i64 - 1) << 40);
    assert_eq!(contended("i64", u64::MAX, "atomicMax(&a, me - 4095);"), 0);
}

#[test]
fn exchanges_lose_nothing() {
    // A sum by compare-exchange, and a chain in which every value is taken out exactly once.
    for (ty, unit) in [("u32", 1u64), ("u64", 1 << 33)] {
        let body = format!(
            "var old = atomicLoad(&a);
            loop {{
                let tried = atomicCompareExchangeWeak(&a, old, old + me * {ty}({unit}));
                if tried.exchanged {{ break; }}
                old = tried.old_value;
            }}"
        );
        assert_eq!(contended(ty, 9, &body), 9 + N * (N - 1) / 2 * unit, "{ty}");
    }
    let source = "
        @group(0) @binding(0) var<storage, read_write> box: atomic<u64>;
        @group(0) @binding(1) var<storage, read_write> seen: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) gid: vec3u) {
            let old = atomicExchange(&box, (u64(gid.x) << 32u) | u64(gid.x));
            // Both halves belong to one value.
            if u32(old >> 32u) == u32(old) { seen[gid.x] = u32(old); }
        }";
    let inputs = [vec![N as u32, N as u32], vec![u32::MAX; N as usize]];
    let result = harness::run(4, source, [GROUPS, 1, 1], &inputs);
    let mut taken = result[1].clone();
    taken.push(result[0][0]);
    taken.sort_unstable();
    assert_eq!(taken, (0..=N as u32).collect::<Vec<_>>());
}

#[test]
fn workgroup_atomics_belong_to_their_workgroup() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> wide: atomic<u64>;
        var<workgroup> narrow: atomic<i32>;
        @compute @workgroup_size(64)
        fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
            atomicAdd(&wide, u64(local + group.x) << 32u);
            atomicMin(&narrow, -i32(local));
            workgroupBarrier();
            if local == 0u {
                out[group.x * 2u] = u32(atomicLoad(&wide) >> 32u);
                out[group.x * 2u + 1u] = u32(-atomicLoad(&narrow));
            }
        }";
    let result = harness::run(3, source, [GROUPS, 1, 1], &[vec![0; 2 * GROUPS as usize]]);
    for (group, pair) in result[0].chunks_exact(2).enumerate() {
        assert_eq!(pair, [2016 + 64 * group as u32, 63]);
    }
}

#[test]
fn subgroup_builtins_count_consecutive_invocations() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(80)
        fn main(@builtin(local_invocation_index) local: u32, @builtin(subgroup_size) size: u32,
                @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32,
                @builtin(num_subgroups) count: u32) {
            out[local] = ((size * 1000u + lane) * 100u + id) * 100u + count;
        }";
    let result = harness::run(1, source, [1, 1, 1], &[vec![0; 80]]);
    for (i, &seen) in (0..).zip(&result[0]) {
        assert_eq!(seen, ((32_000 + i % 32) * 100 + i / 32) * 100 + 3);
    }
}
