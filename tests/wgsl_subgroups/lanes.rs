//! Votes, broadcasts, shuffles and quads.

use super::{SIZES, by_subgroup, check, random};

#[test]
fn votes_see_all_of_the_subgroup() {
    let body = "let b = subgroupBallot(x % 3u == 0u); let e = subgroupBallot();
        out[i][0] = b.x; out[i][1] = b.y | b.z | b.w; out[i][2] = e.x;
        out[i][3] = u32(subgroupAll(x % 64u != 5u)); out[i][4] = u32(subgroupAny(x % 64u == 5u));
        out[i][5] = u32(subgroupAll(true)) + 2u * u32(subgroupAny(false));";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let bits = words.iter().enumerate();
                let ballot = bits.fold(0, |all, (i, w)| all | u32::from(w % 3 == 0) << i);
                let hit = words.iter().any(|w| w % 64 == 5);
                let everyone = (1u64 << words.len()) - 1;
                let line = [ballot, 0, everyone as u32, u32::from(!hit), hit.into(), 1];
                vec![line; words.len()]
            }),
        );
    }
}

/// The word of a lane if it exists, else the own one.
fn word(words: &[u32], own: usize, lane: u32) -> u32 {
    words.get(lane as usize).copied().unwrap_or(words[own])
}

#[test]
fn values_come_from_the_lane_that_is_named() {
    let body = "let by = x % 40u;
        out[i][0] = subgroupBroadcastFirst(x); out[i][1] = subgroupBroadcast(x, 0u); out[i][2] = subgroupBroadcast(x, 17u);
        out[i][3] = subgroupShuffle(x, by); out[i][4] = subgroupShuffle(x, 31u - lane);
        out[i][5] = subgroupShuffleXor(x, 1u); out[i][6] = subgroupShuffleXor(x, 16u); out[i][7] = subgroupShuffleXor(x, by);
        out[i][8] = subgroupShuffleUp(x, 1u); out[i][9] = subgroupShuffleUp(x, 9u);
        out[i][10] = subgroupShuffleDown(x, 1u); out[i][11] = subgroupShuffleDown(x, 20u);";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let line = |i: usize| {
                    let lane = i as u32;
                    let by = words[i] % 40;
                    let lanes = [
                        0,
                        0,
                        17,
                        by,
                        31 - lane,
                        lane ^ 1,
                        lane ^ 16,
                        lane ^ by,
                        lane.wrapping_sub(1),
                        lane.wrapping_sub(9),
                        lane + 1,
                        lane + 20,
                    ];
                    lanes.map(|from| word(words, i, from))
                };
                (0..words.len()).map(line).collect()
            }),
        );
    }
}

#[test]
fn quads_are_four_lanes_in_a_row() {
    let body = "let v = vec2(bitcast<f32>(x), f32(lane));
        out[i][0] = quadBroadcast(x, 0u); out[i][1] = quadBroadcast(x, 2u); out[i][2] = quadSwapX(x);
        out[i][3] = quadSwapY(x); out[i][4] = quadSwapDiagonal(x);
        let s = quadSwapX(v); out[i][5] = bitcast<u32>(s.x); out[i][6] = u32(s.y);";
    for size in SIZES {
        check(
            size,
            body,
            // No NaN: which one comes out of a move is the machine's choice.
            |i| random(i) & 0x3fff_ffff,
            by_subgroup(|words| {
                let line = |i: usize| {
                    let lane = i as u32;
                    let quad = lane & !3;
                    let swapped = lane ^ 1;
                    let exists = (swapped as usize) < words.len();
                    let [a, b, c, d, e] = [quad, quad + 2, swapped, lane ^ 2, lane ^ 3]
                        .map(|from| word(words, i, from));
                    [a, b, c, d, e, c, if exists { swapped } else { lane }]
                };
                (0..words.len()).map(line).collect()
            }),
        );
    }
}

#[test]
fn halves_and_doubles_move_whole() {
    let body = "let h = f16(f32(x % 2048u)); let d = f64(x) * 4294967297.0lf;
        out[i][0] = u32(subgroupShuffle(h, 3u)); let e = u64(subgroupBroadcastFirst(d) / 4294967297.0lf);
        out[i][1] = u32(e);";
    for size in SIZES {
        check(
            size,
            body,
            |i| random(i) | 1,
            by_subgroup(|words| {
                let line = |i: usize| [word(words, i, 3) % 2048, words[0]];
                (0..words.len()).map(line).collect()
            }),
        );
    }
}
