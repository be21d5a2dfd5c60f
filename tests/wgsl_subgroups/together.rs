//! Subgroup operations among barriers, loops and what lives across them.

use super::{SIZES, check, harness, program, random};

fn sum(words: &[u32]) -> u32 {
    words.iter().fold(0, |a, &b| a.wrapping_add(b))
}

#[test]
fn a_workgroup_sums_in_two_stages() {
    let body = "let mine = subgroupAdd(x);
        if lane == 0u { sums[subgroup] = mine; }
        workgroupBarrier();
        if subgroup == 0u {
            let part = select(0u, sums[lane], lane < subgroups);
            let whole = subgroupAdd(part);
            if lane == 0u { sums[63] = whole; }
        }
        workgroupBarrier();
        out[i][0] = sums[63];";
    for size in SIZES {
        check(size, body, random, |group| {
            // The first subgroup has a lane for each subgroup.
            vec![[sum(group)]; group.len()]
        });
    }
}

#[test]
fn values_and_arrays_live_across_operations_in_loops() {
    let body = "var kept = x; var all: array<u32, 5>;
        for (var round = 0u; round < 5u; round++) {
            let sum = subgroupAdd(kept);
            all[round] = sum ^ kept;
            kept = kept * 5u + sum + round;
            if round == 2u { continue; }
            kept ^= subgroupShuffleXor(kept, 1u);
        }
        out[i][0] = kept; out[i][1] = all[x % 5u];";
    for size in SIZES {
        check(
            size,
            body,
            random,
            super::by_subgroup(|words| {
                let mut kept = words.to_vec();
                let mut all = Vec::new();
                for round in 0..5 {
                    let total = sum(&kept);
                    all.push(kept.iter().map(|k| total ^ k).collect::<Vec<_>>());
                    for k in &mut kept {
                        *k = k.wrapping_mul(5).wrapping_add(total).wrapping_add(round);
                    }
                    if round != 2 {
                        let from = |i: usize| kept.get(i ^ 1).copied().unwrap_or(kept[i]);
                        kept = (0..kept.len()).map(|i| kept[i] ^ from(i)).collect();
                    }
                }
                let line = |i: usize| [kept[i], all[words[i] as usize % 5][i]];
                (0..words.len()).map(line).collect()
            }),
        );
    }
}

#[test]
fn a_subgroup_barrier_orders_workgroup_memory() {
    let body = "words[local] = x; subgroupBarrier(); let there = local ^ 1u;
        let is_there = there < arrayLength(&input) / 2u;
        out[i][0] = select(x, words[select(local, there, is_there)], is_there);";
    for size in SIZES {
        check(size, body, random, |group| {
            let from = |i: usize| group.get(i ^ 1).copied().unwrap_or(group[i]);
            (0..group.len()).map(|i| [from(i)]).collect()
        });
    }
}

#[test]
fn a_grid_sums_between_grid_barriers() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> values: array<u32>;
        @group(0) @binding(1) var<storage, read_write> total: array<atomic<u32>, 3>;
        @compute @workgroup_size(80)
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(subgroup_invocation_id) lane: u32) {
            var mine = values[id.x];
            for (var round = 0u; round < 3u; round++) {
                let sum = subgroupAdd(mine);
                if lane == 0u { atomicAdd(&total[round], sum); }
                gridBarrier();
                mine = mine * 3u + atomicLoad(&total[round]) + subgroupExclusiveAdd(1u);
            }
            values[id.x] = mine;
        }";
    let mut values: Vec<u32> = (0..80 * 5).map(random).collect();
    let found = harness::run(3, source, [5, 1, 1], &[values.clone(), vec![0; 3]]);
    let mut totals = Vec::new();
    for _ in 0..3 {
        let total = sum(&values);
        totals.push(total);
        for (i, value) in (0..).zip(&mut values) {
            *value = value
                .wrapping_mul(3)
                .wrapping_add(total)
                .wrapping_add(i % 80 % 32);
        }
    }
    assert_eq!(found, [values, totals]);
}

#[test]
fn many_workgroups_on_many_threads() {
    let n = 40;
    let body = "out[i][0] = subgroupInclusiveAdd(x);";
    let input: Vec<u32> = (0..n * 3000).map(random).collect();
    let source = program([n, 1, 1], 1, body);
    let inputs = [input.clone(), vec![0; input.len()]];
    let found = harness::run(4, &source, [3000, 1, 1], &inputs).remove(1);
    for (words, found) in input.chunks(n as usize).zip(found.chunks(n as usize)) {
        for i in 0..n as usize {
            assert_eq!(found[i], sum(&words[i / 32 * 32..=i]));
        }
    }
}
