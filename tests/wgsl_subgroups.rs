//! Subgroup operations: 32 invocations in a row, the last subgroup of a workgroup possibly smaller.

#[path = "wgsl_subgroups/diverging.rs"]
mod diverging;
#[path = "common/eval/float.rs"]
#[allow(dead_code, reason = "only the rounding is of use here")]
mod float;
#[path = "wgsl_subgroups/folds.rs"]
mod folds;
mod harness;
#[path = "wgsl_subgroups/lanes.rs"]
mod lanes;
#[path = "wgsl_subgroups/together.rs"]
mod together;

use vyre::ir::Scalar;

const SIZES: [[u32; 3]; 11] = [
    [1, 1, 1],
    [3, 1, 1],
    [20, 1, 1],
    [32, 1, 1],
    [64, 1, 1],
    [100, 1, 1],
    [256, 1, 1],
    [8, 4, 1],
    [5, 7, 1],
    [16, 3, 2],
    [33, 2, 1],
];

const GROUPS: u32 = 2;

fn program(size: [u32; 3], results: usize, body: &str) -> String {
    let [x, y, z] = size;
    let n = x * y * z;
    format!(
        "enable f16, subgroups;
        @group(0) @binding(0) var<storage, read> input: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<array<u32, {results}>>;
        var<workgroup> sums: array<u32, 64>;
        var<workgroup> words: array<u32, {n}>;
        @compute @workgroup_size({x}, {y}, {z})
        fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u,
                @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) subgroup: u32,
                @builtin(num_subgroups) subgroups: u32) {{
            let i = group.x * {n} + local; let x = input[i];
            {body}
        }}"
    )
}

/// Runs a body that writes `results` words, `out[i][0]` and so on, for each of its invocations, and compares them
/// with what `expected` makes of the words of one workgroup. What nobody writes is 0.
fn check<const N: usize>(
    size: [u32; 3],
    body: &str,
    input: impl Fn(u32) -> u32,
    expected: impl Fn(&[u32]) -> Vec<[u32; N]>,
) {
    let n = size.iter().product::<u32>();
    let input: Vec<u32> = (0..n * GROUPS).map(input).collect();
    let inputs = [input.clone(), vec![0; input.len() * N]];
    let source = program(size, N, body);
    let found = harness::run(2, &source, [GROUPS, 1, 1], &inputs).remove(1);
    let expected = input.chunks(n as usize).flat_map(expected);
    for (i, (found, expected)) in found.chunks(N).zip(expected).enumerate() {
        assert_eq!(found, expected, "invocation {i}, {size:?}: {body}");
    }
}

/// As a function of one workgroup, what `each` makes of one subgroup.
fn by_subgroup<const N: usize>(
    each: impl Fn(&[u32]) -> Vec<[u32; N]>,
) -> impl Fn(&[u32]) -> Vec<[u32; N]> {
    move |group| group.chunks(32).flat_map(&each).collect()
}

/// Words without a pattern.
fn random(i: u32) -> u32 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9);
    let x = (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
    x ^ x >> 13
}

/// The largest power of two of values on the left, the rest on the right.
fn tree<T: Copy>(values: &[T], fold: &impl Fn(T, T) -> T) -> T {
    match values {
        [one] => *one,
        _ => {
            let (left, right) = values.split_at((values.len().next_power_of_two()) / 2);
            fold(tree(left, fold), tree(right, fold))
        }
    }
}

fn scan<T: Copy>(values: &[T], fold: &impl Fn(T, T) -> T) -> Vec<T> {
    let mut values = values.to_vec();
    for distance in [1, 2, 4, 8, 16] {
        let before = values.clone();
        for i in distance..values.len() {
            values[i] = fold(before[i - distance], before[i]);
        }
    }
    values
}

/// Each one's predecessor.
fn shifted<T: Copy>(values: &[T], first: T) -> Vec<T> {
    let before = values[..values.len() - 1].iter().copied();
    std::iter::once(first).chain(before).collect()
}

/// The f16 nearest to a number.
fn half(x: f32) -> f32 {
    float::to_f64(Scalar::F16, float::from_f64(Scalar::F16, x.into())) as f32
}
