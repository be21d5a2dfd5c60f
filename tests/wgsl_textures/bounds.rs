//! Coordinates out of bounds, and headers that promise more texels than the bound range holds.

use super::random::Random;
use super::{bound, harness};

/// A texture's shape: its type after `texture_`, and how many coordinates and layers it is indexed by.
const SHAPES: [(&str, usize, bool); 4] = [
    ("1d", 1, false),
    ("2d", 2, false),
    ("2d_array", 2, true),
    ("3d", 3, false),
];

/// Storage formats with texels of 4, 8 and 16 bytes, whose first component is the first word.
const FORMATS: [(&str, usize); 3] = [("r32uint", 1), ("rg32uint", 2), ("rgba32uint", 4)];

/// The header's sizes, and the words behind them.
struct Case {
    sizes: [u32; 3],
    words: usize,
}

/// Where a texel lies among the words; `None`: out of bounds.
fn place(case: &Case, axes: usize, texel: usize, at: [i64; 3]) -> Option<usize> {
    let sizes = case.sizes.map(i128::from);
    let at = at.map(i128::from);
    let inside = (0..axes).all(|i| 0 <= at[i] && at[i] < sizes[i]);
    let index = match axes {
        1 => at[0],
        2 => at[1] * sizes[0] + at[0],
        _ => (at[2] * sizes[1] + at[1]) * sizes[0] + at[0],
    };
    let held = (case.words / texel) as i128;
    (inside && index < held).then(|| index as usize * texel)
}

fn cases() -> Vec<Case> {
    const FULL: u32 = u32::MAX;
    let sizes = [
        [3, 2, 2],
        [3, 2, 1],
        [0, 2, 2],
        [3, 0, 0],
        // More than there are texels.
        [5, 50, 2],
        [1000, 1000, 1000],
        [FULL, FULL, FULL],
        [FULL, 1, 1],
        [1, FULL, FULL],
        // The products wrap to what looks inside, in 32 bits or in 64.
        [1 << 16, 1 << 16, 1 << 16],
        [1 << 31, 1 << 31, 4],
        [1 << 31, 1 << 31, 1 << 31],
        [(1 << 31) + 1, (1 << 31) + 1, 8],
        [1 << 30, 1 << 30, FULL],
    ];
    let lengths = [48usize, 51, 4];
    sizes
        .into_iter()
        .flat_map(|sizes| lengths.map(|words| Case { sizes, words }))
        .collect()
}

/// Coordinates near the corners of a texture, of the type's range, and where products wrap.
fn coordinates(case: &Case, random: &mut Random) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for i in 0..60 {
        all.push(std::array::from_fn(|axis| {
            let size = case.sizes[axis];
            let near = [
                0,
                1,
                2,
                size.wrapping_sub(1),
                size,
                u32::MAX,
                u32::MAX - 1,
                1 << 31,
            ];
            let powers = 1 << random.below(32);
            match i {
                0..20 => random.below(4) as u32,
                20..45 => *random.pick(&near),
                _ => powers,
            }
        }));
    }
    // z * height * width and y * width * 16 are 2^64.
    all.extend([
        [0, 0, 4],
        [0, 1 << 29, 0],
        [0, 1 << 31, 2],
        [0, 1 << 30, 1 << 4],
    ]);
    all
}

fn expression(shape: (&str, usize, bool), ty: &str) -> &'static str {
    match (shape.0, ty) {
        ("1d", "u32") => "at.x",
        ("1d", _) => "vec3i(at).x",
        ("2d", "u32") => "at.xy",
        ("2d", _) => "vec2i(at.xy)",
        ("2d_array", "u32") => "at.xy, at.z",
        ("2d_array", _) => "vec2i(at.xy), i32(at.z)",
        (_, "u32") => "at",
        (_, _) => "vec3i(at)",
    }
}

#[test]
fn reads_out_of_bounds_give_zeros_and_writes_nothing() {
    let mut random = Random::new(3);
    let backend = harness::backend(2);
    for shape in SHAPES {
        let axes = shape.1 + usize::from(shape.2);
        for (format, texel) in FORMATS {
            for ty in ["u32", "i32"] {
                let at = expression(shape, ty);
                let source = format!(
                    "@group(0) @binding(0) var t: texture_storage_{}<{format}, read>;
                    @group(0) @binding(1) var u: texture_storage_{}<{format}, write>;
                    @group(0) @binding(2) var<storage, read> all: array<array<u32, 3>>;
                    @group(0) @binding(3) var<storage, read_write> out: array<vec4u>;
                    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
                        let at = vec3(all[i][0], all[i][1], all[i][2]);
                        out[i] = textureLoad(t, {at}); textureStore(u, {at}, vec4(i + 1000u));
                    }}",
                    shape.0, shape.0
                );
                let program = harness::load(&backend, &source);
                for case in cases() {
                    let all = coordinates(&case, &mut random);
                    let header = [case.sizes[0], case.sizes[1], case.sizes[2], 0];
                    let texels: Vec<u32> = (1..=case.words as u32).collect();
                    let texture = bound(header, &texels);
                    let inputs = [
                        texture.clone(),
                        texture.clone(),
                        all.iter().flatten().copied().collect(),
                        vec![9; 64 * 4],
                    ];
                    if case.words < texel {
                        continue;
                    }
                    let buffers = inputs
                        .each_ref()
                        .map(|words| harness::buffer(&backend, words));
                    harness::try_run(&program, harness::dispatch([1, 1, 1], &buffers))
                        .unwrap_or_else(|error| panic!("{}", harness::report(&error)));
                    let [before, written, _, out] = buffers.each_ref().map(harness::words);
                    assert_eq!(before, texture);
                    let signed = |x: u32| match ty {
                        "i32" => i64::from(x as i32),
                        _ => i64::from(x),
                    };
                    let mut stored = vec![vec![]; texture.len()];
                    for (i, at) in all.iter().enumerate() {
                        let place = place(&case, axes, texel, at.map(signed));
                        let mut expected = [0; 4];
                        if let Some(place) = place {
                            expected[3] = 1;
                            expected[..texel].copy_from_slice(&texels[place..place + texel]);
                            for word in 0..texel {
                                stored[4 + place + word].push(i as u32 + 1000);
                            }
                        }
                        let what = format!("{source}\n{:?} of {:?}", at, case.sizes);
                        assert_eq!(out[4 * i..4 * i + 4], expected, "{what}");
                    }
                    for (at, values) in stored.iter().enumerate() {
                        // One of those who stored there.
                        let fits = match values[..] {
                            [] => written[at] == texture[at],
                            _ => values.contains(&written[at]),
                        };
                        assert!(fits, "{source}\n{:?}: word {at}", case.sizes);
                    }
                }
            }
        }
    }
}

#[test]
fn sampled_textures_stay_within_their_range() {
    let mut random = Random::new(4);
    let backend = harness::backend(1);
    let source = "@group(0) @binding(0) var t: texture_3d<u32>;
        @group(0) @binding(1) var<storage, read> all: array<array<u32, 3>>;
        @group(0) @binding(2) var<storage, read_write> out: array<vec4u>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
            out[i] = textureLoad(t, vec3(all[i][0], all[i][1], all[i][2]), 0);
        }";
    let program = harness::load(&backend, source);
    for case in cases() {
        for (code, texel) in [(0, 4), (2, 1)] {
            let all = coordinates(&case, &mut random);
            let texels: Vec<u32> = (1..=case.words as u32).collect();
            let [w, h, d] = case.sizes;
            let inputs = [
                bound([w, h, d, code], &texels),
                all.iter().flatten().copied().collect(),
                vec![9; 64 * 4],
            ];
            let buffers = inputs
                .each_ref()
                .map(|words| harness::buffer(&backend, words));
            harness::try_run(&program, harness::dispatch([1, 1, 1], &buffers))
                .unwrap_or_else(|error| panic!("{}", harness::report(&error)));
            let out = harness::words(&buffers[2]);
            for (i, at) in all.iter().enumerate() {
                let mut expected = [0; 4];
                if let Some(place) = place(&case, 3, texel, at.map(i64::from)) {
                    expected[3] = 1;
                    expected[..texel].copy_from_slice(&texels[place..place + texel]);
                }
                assert_eq!(
                    out[4 * i..4 * i + 4],
                    expected,
                    "{at:?} of {:?}",
                    case.sizes
                );
            }
        }
    }
}
