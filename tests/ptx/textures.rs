//! Textures whose headers promise more than their buffers hold: what is read and written stays within the buffers, as
//! the interpreter checks, and is what the evaluator says.

use super::{bytes, load, words};

#[test]
fn headers_that_promise_too_much_reach_nothing() {
    const SIZES: [u32; 7] = [0, 1, 3, 1 << 16, (1 << 31) + 1, 1 << 30, u32::MAX];
    let places = [0, 1, 2, 4, 7, 1 << 16, 1 << 29, 1 << 30, 1 << 31, u32::MAX];
    let shapes = [
        ("2d", "at.xy", "vec2i(at.xy)"),
        ("2d_array", "at.xy, at.z", "vec2i(at.xy), i32(at.z)"),
        ("3d", "at", "vec3i(at)"),
    ];
    for (shape, at, signed) in shapes {
        for format in ["rgba8uint", "rg32uint", "rgba32uint"] {
            let source = format!(
                "@group(0) @binding(0) var t: texture_storage_{shape}<{format}, read_write>;
                @group(0) @binding(1) var s: texture_{shape}<u32>;
                @group(0) @binding(2) var<storage, read> places: array<u32>;
                @group(0) @binding(3) var<storage, read_write> out: array<vec4u>;
                @compute @workgroup_size(1) fn main() {{
                    for (var i = 0u; i < arrayLength(&places); i++) {{
                        let at = vec3(places[i], places[i * 7u % arrayLength(&places)], places[i * 3u % arrayLength(&places)]);
                        out[i] = textureLoad(t, {at}) + textureLoad(s, {at}, 0) + textureLoad(t, {signed}) * 3u;
                        textureStore(t, {at}, vec4(i + 1u)); textureStore(t, {signed}, vec4(i + 2u));
                    }}
                }}"
            );
            let loaded = load(&source);
            for (i, width) in SIZES.into_iter().enumerate() {
                let (height, depth) = (SIZES[i * 3 % 7], SIZES[i * 5 % 7]);
                for (height, code) in [(height, 0), (u32::MAX, 2), (3, 4), (1, 1)] {
                    let texels: Vec<u32> = (100..137).collect();
                    let texture = [&[width, height, depth, code], &texels[..]].concat();
                    let contents = [texture.clone(), texture, places.to_vec(), vec![9; 40]];
                    let contents = contents.map(|words| bytes(&words));
                    let (found, expected) = loaded.both([1, 1, 1], &contents);
                    for (binding, (found, expected)) in found.iter().zip(&expected).enumerate() {
                        let (found, expected) = (words(found), words(expected));
                        let what = format!("binding {binding}, {width} x {height} x {depth}");
                        assert_eq!(found, expected, "{what}\n{source}");
                    }
                }
            }
        }
    }
}
