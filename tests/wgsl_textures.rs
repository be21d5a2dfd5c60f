//! Textures, which are bound as buffers that begin with a header: what is read, written and asked, compared with what
//! WGSL says of the format, and with a model of the buffer where coordinates or headers are wrong.

#[path = "wgsl_textures/bounds.rs"]
mod bounds;
#[path = "wgsl_textures/format.rs"]
mod format;
#[path = "wgsl_textures/interface.rs"]
mod interface;
#[path = "common/generate/random.rs"]
#[allow(dead_code, reason = "only the plain draws are of use here")]
mod random;
#[path = "wgsl_textures/sampled.rs"]
mod sampled;

mod harness;

use format::{FORMATS, Format, Kind};
use random::Random;

/// A texture's buffer.
fn bound(header: [u32; 4], texels: &[u32]) -> Vec<u32> {
    [&header[..], texels].concat()
}

/// Numbers in and around what a format expresses, as bits of its type.
fn numbers(format: &Format, count: usize, random: &mut Random) -> Vec<u32> {
    const EDGES: [f32; 14] = [
        0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 65504.0, 65519.9, 65520.0, -1e9, 1e-7, 6.0e-5,
    ];
    (0..count)
        .map(|i| match format.kind {
            Kind::Uint | Kind::Sint => random.word(),
            _ if i < EDGES.len() => EDGES[i].to_bits(),
            _ if i == EDGES.len() => f32::INFINITY.to_bits(),
            // On and beside the middle between two codes.
            Kind::Unorm | Kind::Snorm => {
                let middle = random.below(70_000) as f32 + 0.5;
                let x = middle / format.largest() as f32;
                let x = f32::from_bits(x.to_bits() + random.below(3) as u32 - 1);
                (if random.one_in(2) { -x } else { x }).to_bits()
            }
            Kind::Float => {
                let x = f32::from_bits(random.next() as u32);
                let small = (random.next() as u32 as f32 / 65536.0 - 32768.0) / 4096.0;
                (if x.is_nan() { small } else { x }).to_bits()
            }
        })
        .collect()
}

#[test]
fn every_format_is_read() {
    let mut random = Random::new(1);
    for format in &FORMATS {
        let (name, ty) = (format.name, format.ty());
        let words = format.words();
        let mut texels: Vec<u32> = (0..63 * words).map(|_| random.next() as u32).collect();
        texels.extend(vec![u32::MAX; words]);
        texels.extend(vec![0x8000_8080; words]);
        texels.extend(vec![0; words]);
        let source = format!(
            "@group(0) @binding(0) var t: texture_storage_2d<{name}, read>;
            @group(0) @binding(1) var<storage, read_write> out: array<vec4<{ty}>>;
            @compute @workgroup_size(66) fn main(@builtin(local_invocation_index) i: u32) {{
                out[i] = textureLoad(t, vec2(i % 6u, i / 6u));
            }}"
        );
        let inputs = [bound([6, 11, 1, 77], &texels), vec![9; 66 * 4]];
        let after = harness::run(1, &source, [1, 1, 1], &inputs);
        let expected: Vec<u32> = (texels.chunks(words))
            .flat_map(|texel| format.decode(texel))
            .collect();
        assert_eq!(after[0], inputs[0], "{name}: a read changes nothing");
        format.same(&expected, &after[1]);
    }
}

#[test]
fn every_format_is_written() {
    let mut random = Random::new(2);
    for format in &FORMATS {
        let (name, ty) = (format.name, format.ty());
        let values = numbers(format, 4 * 120, &mut random);
        let source = format!(
            "@group(0) @binding(0) var t: texture_storage_2d<{name}, write>;
            @group(0) @binding(1) var<storage, read> values: array<vec4<{ty}>>;
            @compute @workgroup_size(60) fn main(@builtin(global_invocation_id) at: vec3u) {{
                let i = at.x; textureStore(t, vec2(i32(i / 12u), i32(i % 12u)), values[i]);
            }}"
        );
        let empty = vec![0x5555_aaaa; 120 * format.words()];
        let texture = bound([10, 12, 1, 0], &empty);
        let after = harness::run(2, &source, [2, 1, 1], &[texture, values.clone()]);
        let mut expected = vec![10, 12, 1, 0];
        expected.extend(&empty);
        for (i, value) in values.chunks(4).enumerate() {
            let at = 4 + ((i % 12) * 10 + i / 12) * format.words();
            let texel = format.encode(value.try_into().expect("4 of them"));
            expected[at..at + texel.len()].copy_from_slice(&texel);
        }
        let wrong = expected.iter().zip(&after[0]).position(|(a, b)| a != b);
        if let Some(at) = wrong {
            let (expected, seen) = (expected[at], after[0][at]);
            panic!("{name}: word {at} is {seen:#x}, expected {expected:#x}");
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    for format in &FORMATS {
        let (name, ty) = (format.name, format.ty());
        // Each code of 10 bits, and their distances.
        let scale = match format.kind {
            Kind::Unorm | Kind::Snorm => format!("/ {}.0", format.largest()),
            _ => String::new(),
        };
        let source = format!(
            "@group(0) @binding(0) var t: texture_storage_1d<{name}, read_write>;
            @group(0) @binding(1) var<storage, read_write> out: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) at: vec3u) {{
                let code = {ty}(at.x % {}u) {scale}; let value = vec4<{ty}>(code, {ty}(), code, {ty}(1));
                textureStore(t, at.x, value);
                out[at.x] = u32(all(textureLoad(t, at.x) == value));
            }}",
            format.largest().min(1023) + 1
        );
        let texture = bound([1024, 0, 0, 0], &vec![0; 1024 * format.words()]);
        let after = harness::run(1, &source, [16, 1, 1], &[texture, vec![9; 1024]]);
        // The format's components alone come back: two of them without blue.
        let equal = |code: u32| u32::from(format.widths.len() > 2 || code == 0);
        let codes = format.largest().min(1023) + 1;
        let expected: Vec<u32> = (0..1024).map(|i| equal(i % codes)).collect();
        assert_eq!(after[1], expected, "{name}");
    }
}
