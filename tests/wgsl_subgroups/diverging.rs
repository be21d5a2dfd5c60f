//! Where not all of a subgroup come to an operation, it is for those who come.

use super::{SIZES, by_subgroup, check, harness, program, random, scan, tree};

/// The words of those of a subgroup that `is_active`, with their lanes.
fn active(words: &[u32], is_active: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    let all = (0..).zip(words.iter().copied());
    all.filter(|&(lane, word)| is_active(lane, word)).collect()
}

#[test]
fn both_sides_of_a_branch_have_results_of_their_own() {
    let body = "let v = bitcast<f32>(x); var sum = 0.0; var most = 0u;
        if lane % 3u == 1u { sum = subgroupAdd(v); most = subgroupMax(lane); }
        else { sum = subgroupInclusiveAdd(v); most = subgroupBroadcastFirst(lane); }
        out[i][0] = bitcast<u32>(sum); out[i][1] = most; out[i][2] = subgroupAdd(1u);";
    for size in SIZES {
        check(
            size,
            body,
            |i| ((random(i) % 10_000) as f32 * 1.37e-3).to_bits(),
            by_subgroup(|words| {
                let add = |a: f32, b: f32| a + b;
                let floats = |of: &[(u32, u32)]| -> Vec<f32> {
                    of.iter().map(|&(_, w)| f32::from_bits(w)).collect()
                };
                let (yes, no): (Vec<_>, Vec<_>) = active(words, |_, _| true)
                    .into_iter()
                    .partition(|(lane, _)| lane % 3 == 1);
                let sums = scan(&floats(&no), &add);
                (0..words.len() as u32)
                    .map(|lane| {
                        let rank = no.iter().position(|&(l, _)| l == lane);
                        let (sum, most) = match rank {
                            Some(rank) => (sums[rank], no[0].0),
                            None => (tree(&floats(&yes), &add), yes[yes.len() - 1].0),
                        };
                        [sum.to_bits(), most, words.len() as u32]
                    })
                    .collect()
            }),
        );
    }
}

#[test]
fn those_who_left_take_no_part() {
    let body = "if x % 4u == 0u { return; }
        let b = subgroupBallot(x % 2u == 0u); out[i][0] = b.x; out[i][1] = u32(subgroupAll(x % 4u != 0u));
        out[i][2] = subgroupExclusiveAdd(1u); out[i][3] = subgroupShuffleXor(lane, 1u); out[i][4] = subgroupMul(x);
        out[i][5] = subgroupAnd(x); out[i][6] = subgroupMin(x);";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let here = active(words, |_, word| word % 4 != 0);
                let of = |f: fn(u32, u32) -> u32| here.iter().map(|h| h.1).reduce(f).unwrap_or(0);
                let even = here.iter().filter(|h| h.1 % 2 == 0);
                let ballot = even.fold(0, |all, h| all | 1u32 << h.0);
                (0..words.len() as u32)
                    .map(|lane| {
                        let Some(rank) = here.iter().position(|h| h.0 == lane) else {
                            return [0; 7];
                        };
                        let other = lane ^ 1;
                        let is_there = here.iter().any(|h| h.0 == other);
                        [
                            ballot,
                            1,
                            rank as u32,
                            if is_there { other } else { lane },
                            of(u32::wrapping_mul),
                            of(|a, b| a & b),
                            of(u32::min),
                        ]
                    })
                    .collect()
            }),
        );
    }
}

#[test]
fn a_loop_goes_on_with_those_who_stay() {
    let body = "var rounds = 0u;
        loop { if rounds >= x % 7u { break; } rounds += 1u; out[i][0] += subgroupAdd(1u); }
        out[i][1] = subgroupAdd(rounds);";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let rounds: Vec<u32> = words.iter().map(|w| w % 7).collect();
                let at_least = |n: u32| rounds.iter().filter(|&&r| r >= n).count() as u32;
                let line = |&r: &u32| [(1..=r).map(at_least).sum(), rounds.iter().sum()];
                rounds.iter().map(line).collect()
            }),
        );
    }
}

#[test]
fn subgroups_may_go_apart_as_long_as_they_meet_at_barriers() {
    let body = "var sum = 0u;
        for (var round = 0u; round <= subgroup; round++) { sum += subgroupAdd(round + x); }
        sums[subgroup] = sum;
        workgroupBarrier();
        out[i][0] = sums[subgroups - 1u - subgroup];";
    for size in SIZES {
        check(size, body, random, |group| {
            let subgroups: Vec<&[u32]> = group.chunks(32).collect();
            let sum = |s: usize| {
                let rounds = (0..=s as u32)
                    .flat_map(|r| subgroups[s].iter().map(move |w| r.wrapping_add(*w)));
                rounds.fold(0, u32::wrapping_add)
            };
            let last = subgroups.len() - 1;
            (0..group.len()).map(|i| [sum(last - i / 32)]).collect()
        });
    }
}

#[test]
fn a_barrier_that_only_some_reach_is_an_error_that_names_it() {
    if harness::on_cuda() {
        // There it is met by those who come.
        return;
    }
    let body = "out[i][0] = subgroupAdd(x);
        if lane < 3u { workgroupBarrier(); } else { out[i][0] += subgroupAdd(x); }";
    let backend = harness::backend(1);
    let loaded = harness::load(&backend, &program([64, 1, 1], 1, body));
    let buffers = [vec![1; 64], vec![0; 64]].map(|words| harness::buffer(&backend, &words));
    let error = harness::try_run(&loaded, harness::dispatch([1, 1, 1], &buffers)).unwrap_err();
    let text = error.message();
    assert!(
        text.contains("invocation 0 reached the workgroup barrier at 12:24"),
        "{text}"
    );
    assert!(
        text.contains("invocation 3 reached the end of the program"),
        "{text}"
    );
}
