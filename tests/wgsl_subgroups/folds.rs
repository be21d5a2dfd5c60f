//! Reductions and scans.

use super::{SIZES, by_subgroup, check, half, random, scan, shifted, tree};

/// All words the same for each invocation of the subgroup.
fn all<const N: usize>(count: usize, words: [u32; N]) -> Vec<[u32; N]> {
    vec![words; count]
}

#[test]
fn integers_are_reduced() {
    let body = "let s = bitcast<i32>(x);
        out[i][0] = subgroupAdd(x); out[i][1] = subgroupMul(x | 1u);
        out[i][2] = subgroupMin(x); out[i][3] = subgroupMax(x);
        out[i][4] = subgroupAnd(x | 0xffff00u); out[i][5] = subgroupOr(x & 0x11111111u); out[i][6] = subgroupXor(x);
        out[i][7] = bitcast<u32>(subgroupAdd(s)); out[i][8] = bitcast<u32>(subgroupMul(s | 1));
        out[i][9] = bitcast<u32>(subgroupMin(s)); out[i][10] = bitcast<u32>(subgroupMax(s));
        out[i][11] = bitcast<u32>(subgroupAnd(s | 65280)); out[i][12] = bitcast<u32>(subgroupOr(s & 7));
        out[i][13] = bitcast<u32>(subgroupXor(s));";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let signed = || words.iter().map(|&w| w.cast_signed());
                let fold =
                    |start: u32, f: fn(u32, u32) -> u32| words.iter().copied().fold(start, f);
                let sum = fold(0, u32::wrapping_add);
                let product = words.iter().fold(1u32, |a, b| a.wrapping_mul(b | 1));
                let xor = fold(0, |a, b| a ^ b);
                let words = [
                    sum,
                    product,
                    fold(u32::MAX, u32::min),
                    fold(0, u32::max),
                    fold(u32::MAX, |a, b| a & (b | 0xff_ff00)),
                    fold(0, |a, b| a | (b & 0x1111_1111)),
                    xor,
                    sum,
                    product,
                    signed().min().unwrap().cast_unsigned(),
                    signed().max().unwrap().cast_unsigned(),
                    fold(u32::MAX, |a, b| a & (b | 0xff00)),
                    fold(0, |a, b| a | (b & 7)),
                    xor,
                ];
                all(signed().count(), words)
            }),
        );
    }
}

#[test]
fn integers_are_scanned() {
    let body = "let s = bitcast<i32>(x);
        out[i][0] = subgroupInclusiveAdd(x); out[i][1] = subgroupExclusiveAdd(x);
        out[i][2] = subgroupInclusiveMul(x | 1u); out[i][3] = subgroupExclusiveMul(x | 1u);
        out[i][4] = bitcast<u32>(subgroupInclusiveAdd(s)); out[i][5] = bitcast<u32>(subgroupExclusiveAdd(s));";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let (mut sum, mut product) = (0u32, 1u32);
                let step = |&word: &u32| {
                    let before = (sum, product);
                    sum = sum.wrapping_add(word);
                    product = product.wrapping_mul(word | 1);
                    [sum, before.0, product, before.1, sum, before.0]
                };
                words.iter().map(step).collect()
            }),
        );
    }
}

#[test]
fn wide_integers_keep_both_halves() {
    let body = "let w = (u64(x) << 32u) | u64(input[i] * 3u);
        let sum = subgroupAdd(w); let below = subgroupExclusiveAdd(w); let least = subgroupMin(i64(w));
        out[i][0] = u32(sum); out[i][1] = u32(sum >> 32u); out[i][2] = u32(below); out[i][3] = u32(below >> 32u);
        out[i][4] = u32(least); out[i][5] = u32(least >> 32u);
        let any = subgroupBroadcastFirst(w); out[i][6] = u32(any); out[i][7] = u32(any >> 32u);";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let wide: Vec<u64> = (words.iter())
                    .map(|&w| u64::from(w) << 32 | u64::from(w.wrapping_mul(3)))
                    .collect();
                let sum = wide.iter().fold(0u64, |a, &b| a.wrapping_add(b));
                let least = wide.iter().map(|w| w.cast_signed()).min().unwrap();
                let mut below = 0u64;
                let step = |&w: &u64| {
                    let before = below;
                    below = below.wrapping_add(w);
                    let halves = |x: u64| [x as u32, (x >> 32) as u32];
                    let parts = [sum, before, least.cast_unsigned(), wide[0]].map(halves);
                    parts.concat().try_into().unwrap()
                };
                wide.iter().map(step).collect::<Vec<[u32; 8]>>()
            }),
        );
    }
}

/// Numbers whose sums depend on the order.
fn number(i: u32) -> f32 {
    let word = random(i);
    (word as f32 / 1e8 - 20.0) * [1.0, 1e-3, 7.0][word as usize % 3]
}

#[test]
fn floats_are_folded_in_the_one_order() {
    let body = "let v = bitcast<f32>(x); let near = 1.0 + v * 0.01;
        out[i][0] = bitcast<u32>(subgroupAdd(v)); out[i][1] = bitcast<u32>(subgroupMul(near));
        out[i][2] = bitcast<u32>(subgroupInclusiveAdd(v)); out[i][3] = bitcast<u32>(subgroupExclusiveAdd(v));
        out[i][4] = bitcast<u32>(subgroupInclusiveMul(near)); out[i][5] = bitcast<u32>(subgroupExclusiveMul(near));";
    for size in SIZES {
        check(
            size,
            body,
            |i| number(i).to_bits(),
            by_subgroup(|words| {
                let v: Vec<f32> = words.iter().map(|&w| f32::from_bits(w)).collect();
                let near: Vec<f32> = v.iter().map(|v| 1.0 + v * 0.01).collect();
                let (add, mul) = (|a: f32, b: f32| a + b, |a: f32, b: f32| a * b);
                let (sums, products) = (scan(&v, &add), scan(&near, &mul));
                let (before, less) = (shifted(&sums, 0.0), shifted(&products, 1.0));
                let (sum, product) = (tree(&v, &add), tree(&near, &mul));
                (0..v.len())
                    .map(|i| {
                        [sum, product, sums[i], before[i], products[i], less[i]].map(f32::to_bits)
                    })
                    .collect()
            }),
        );
    }
}

#[test]
fn halves_are_rounded_at_each_step() {
    let body = "let v = f16(bitcast<f32>(x));
        out[i][0] = bitcast<u32>(f32(subgroupAdd(v))); out[i][1] = bitcast<u32>(f32(subgroupInclusiveAdd(v)));
        out[i][2] = bitcast<u32>(f32(subgroupExclusiveMul(v))); out[i][3] = bitcast<u32>(f32(subgroupMax(v)));";
    for size in SIZES {
        check(
            size,
            body,
            |i| half(number(i) * 0.05).to_bits(),
            by_subgroup(|words| {
                let v: Vec<f32> = words.iter().map(|&w| f32::from_bits(w)).collect();
                let (add, mul) = (|a, b| half(a + b), |a, b| half(a * b));
                let (sums, products) = (scan(&v, &add), scan(&v, &mul));
                let less = shifted(&products, 1.0);
                let most = v.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                (0..v.len())
                    .map(|i| [tree(&v, &add), sums[i], less[i], most].map(f32::to_bits))
                    .collect()
            }),
        );
    }
}

#[test]
fn extremes_of_floats_pass_nan_by_and_order_zeros() {
    let body = "// Which NaN comes of NaNs alone is not said.
        let v = select(bitcast<f32>(x), 0.0, lane == 0u);
        out[i][0] = bitcast<u32>(subgroupMin(v)); out[i][1] = bitcast<u32>(subgroupMax(v));";
    let specials = [f32::NAN, -0.0, 0.0, f32::INFINITY, 1e-42, -3.5];
    for choice in [&specials[..2], &specials[1..3], &specials[2..], &specials] {
        for size in SIZES {
            check(
                size,
                body,
                |i| choice[random(i) as usize % choice.len()].to_bits(),
                by_subgroup(|words| {
                    let rest = words[1..].iter().map(|&w| f32::from_bits(w));
                    let numbers: Vec<f32> = rest.filter(|v| !v.is_nan()).collect();
                    let least = numbers
                        .iter()
                        .copied()
                        .fold(0.0, |a, b| match b.total_cmp(&a) {
                            std::cmp::Ordering::Less => b,
                            _ => a,
                        });
                    let most = numbers.into_iter().fold(0.0, f32::max);
                    all(words.len(), [least.to_bits(), most.to_bits()])
                }),
            );
        }
    }
}

#[test]
fn vectors_are_folded_by_component() {
    let body = "let v = vec4(x, x ^ 5u, x >> 3u, lane); let s = subgroupAdd(v);
        let t = subgroupExclusiveAdd(vec3(bitcast<i32>(x), i32(lane), 1)); let m = subgroupMax(v.yw);
        out[i][0] = s.x; out[i][1] = s.y; out[i][2] = s.z; out[i][3] = s.w;
        out[i][4] = bitcast<u32>(t.x); out[i][5] = u32(t.y); out[i][6] = u32(t.z); out[i][7] = m.x; out[i][8] = m.y;";
    for size in SIZES {
        check(
            size,
            body,
            random,
            by_subgroup(|words| {
                let sum = |f: &dyn Fn(u32, u32) -> u32, count: usize| {
                    let each = (0..).zip(&words[..count]).map(|(lane, &w)| f(w, lane));
                    each.fold(0u32, u32::wrapping_add)
                };
                let n = words.len();
                let line = |i: usize| {
                    [
                        sum(&|w, _| w, n),
                        sum(&|w, _| w ^ 5, n),
                        sum(&|w, _| w >> 3, n),
                        sum(&|_, lane| lane, n),
                        sum(&|w, _| w, i),
                        sum(&|_, lane| lane, i),
                        i as u32,
                        words.iter().map(|w| w ^ 5).max().unwrap(),
                        n as u32 - 1,
                    ]
                };
                (0..n).map(line).collect()
            }),
        );
    }
}
