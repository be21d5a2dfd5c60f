//! Sampled textures, whose header says how texels are stored.

use super::format::{FORMATS, Format};
use super::{bound, harness};

/// The format words of the header, by the type that is read: all others, and those of other types, read as zeros.
const CODES: [(u32, &str, &str); 10] = [
    (0, "f32", "rgba32float"),
    (0, "u32", "rgba32uint"),
    (0, "i32", "rgba32sint"),
    (1, "f32", "rgba8unorm"),
    (2, "f32", "r32float"),
    (2, "u32", "r32uint"),
    (2, "i32", "r32sint"),
    (3, "f32", "rgba16float"),
    (4, "u32", "rgba8uint"),
    (5, "i32", "rgba8sint"),
];

fn named(name: &str) -> &'static Format {
    let format = FORMATS.iter().find(|format| format.name == name);
    format.expect("in the table")
}

#[test]
fn the_header_chooses_the_format() {
    for ty in ["f32", "u32", "i32"] {
        let source = format!(
            "@group(0) @binding(0) var t: texture_2d<{ty}>;
            @group(0) @binding(1) var<storage, read_write> out: array<vec4<{ty}>>;
            @compute @workgroup_size(24) fn main(@builtin(local_invocation_index) i: u32) {{
                out[i] = textureLoad(t, vec2(i % 6u, i / 6u), 0);
            }}"
        );
        // Room for 5 x 3 of the largest.
        let texels: Vec<u32> = (0..60u32).map(|i| i.wrapping_mul(0x1357_9bdf)).collect();
        for code in (0..9).chain([255, 256, 1 << 31, u32::MAX]) {
            let inputs = [bound([5, 3, 1, code], &texels), vec![9; 24 * 4]];
            let after = harness::run(1, &source, [1, 1, 1], &inputs);
            let known = CODES.iter().find(|row| (row.0, row.1) == (code, ty));
            let format = named(known.map_or("rgba32uint", |row| row.2));
            let expected: Vec<u32> = (0..24)
                .flat_map(|i| {
                    let (x, y) = (i % 6, i / 6);
                    let at = (y * 5 + x) * format.words();
                    match known.is_some() && x < 5 && y < 3 {
                        true => format.decode(&texels[at..at + format.words()]),
                        false => [0; 4],
                    }
                })
                .collect();
            format.same(&expected, &after[1]);
        }
    }
}

#[test]
fn a_buffer_with_one_small_texel_is_enough() {
    let source = "@group(0) @binding(0) var t: texture_2d<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
        @compute @workgroup_size(1) fn main() { out[0] = textureLoad(t, vec2(0, 0), 0); }";
    for (code, expected) in [(0, [0.0; 4]), (1, [1.0, 0.0, 0.0, 1.0]), (3, [0.0; 4])] {
        let inputs = [bound([1, 1, 1, code], &[0xff00_00ff]), vec![9; 4]];
        let after = harness::run(1, source, [1, 1, 1], &inputs);
        assert_eq!(after[1], expected.map(f32::to_bits), "format {code}");
    }
}

#[test]
fn only_the_first_level_has_texels() {
    let source = "@group(0) @binding(0) var t: texture_2d<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @group(0) @binding(2) var<storage, read> level: array<i32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureLoad(t, vec2(1, 0), 0).x; out[1] = textureLoad(t, vec2(1, 0), 1).x; out[2] = textureLoad(t, vec2(1, 0), -1).x;
            for (var i = 0; i < 3; i++) {
                out[3 + i] = textureLoad(t, vec2(1, 0), level[i]).w;
                out[6 + i] = textureDimensions(t, level[i]).x;
            }
            out[9] = textureNumLevels(t); out[10] = textureDimensions(t, 0).y; out[11] = textureDimensions(t, 7u).y;
        }";
    let inputs = [
        bound([2, 1, 1, 0], &[1, 2, 3, 4, 5, 6, 7, 8]),
        vec![9; 12],
        vec![0, 1, u32::MAX],
    ];
    let after = harness::run(1, source, [1, 1, 1], &inputs);
    assert_eq!(after[1], [5, 0, 0, 8, 0, 0, 2, 0, 0, 1, 1, 0]);
}
