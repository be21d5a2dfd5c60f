//! What programs ask of textures, what a program says about its textures, and what is refused.

use vyre::backend::ProgramFlags;
use vyre::error::{Error, Status};
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::uniformity::analyse;
use vyre::program::Access;

use super::format::FORMATS;
use super::{bound, harness};

#[test]
fn sizes_layers_and_levels() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var a: texture_1d<f32>;
        @group(0) @binding(2) var b: texture_2d<u32>;
        @group(0) @binding(3) var c: texture_2d_array<i32>;
        @group(0) @binding(4) var d: texture_3d<f32>;
        @group(0) @binding(5) var e: texture_storage_1d<r32uint, write>;
        @group(0) @binding(6) var f: texture_storage_2d<rgba8unorm, read>;
        @group(0) @binding(7) var g: texture_storage_2d_array<rgba16float, read_write>;
        @group(0) @binding(8) var h: texture_storage_3d<rg32sint, read_write>;
        fn sum(t: texture_2d<u32>, at: vec2u) -> u32 {
            let texel = textureLoad(t, at, 0); return textureDimensions(t).x + texel.x + texel.w;
        }
        @compute @workgroup_size(1) fn main() {
            out[0] = textureDimensions(a); let b2 = textureDimensions(b); out[1] = b2.x * 100u + b2.y;
            let c2 = textureDimensions(c); out[2] = c2.x * 10000u + c2.y * 100u + textureNumLayers(c);
            let d3 = textureDimensions(d); out[3] = d3.x * 10000u + d3.y * 100u + d3.z;
            out[4] = textureDimensions(e); let f2 = textureDimensions(f); out[5] = f2.x * 100u + f2.y;
            let g2 = textureDimensions(g); out[6] = g2.x * 10000u + g2.y * 100u + textureNumLayers(g);
            let h3 = textureDimensions(h); out[7] = h3.x * 10000u + h3.y * 100u + h3.z;
            out[8] = textureNumLevels(a) + textureNumLevels(b) + textureNumLevels(c) + textureNumLevels(d);
            out[9] = sum(b, vec2(1u, 1u));
        }";
    let texture = |header: [u32; 3]| {
        let [w, h, d] = header;
        bound([w, h, d, 0], &[7; 40])
    };
    let mut inputs = vec![vec![9; 10]];
    inputs.extend([
        texture([11, 0, 0]),
        texture([2, 3, 77]),
        texture([4, 5, 6]),
        texture([7, 8, 9]),
        texture([12, 99, 99]),
        texture([13, 14, 99]),
        texture([15, 16, 17]),
        texture([18, 19, 20]),
    ]);
    let after = harness::run(1, source, [1, 1, 1], &inputs);
    let expected = [11, 203, 40506, 70809, 12, 1314, 151_617, 181_920, 4, 2 + 14];
    assert_eq!(after[0], expected);
    assert_eq!(after[1..], inputs[1..]);
}

#[test]
fn layers_and_slices_lie_one_behind_the_other() {
    let source = "
        @group(0) @binding(0) var a: texture_storage_2d_array<r32uint, read_write>;
        @group(0) @binding(1) var b: texture_storage_3d<r32uint, read_write>;
        @group(0) @binding(2) var c: texture_2d_array<u32>;
        @group(0) @binding(3) var d: texture_3d<u32>;
        @compute @workgroup_size(3, 2, 4) fn main(@builtin(local_invocation_id) at: vec3u) {
            let q = vec3i(at); let x = textureLoad(c, q.xy, q.z, 0).x + textureLoad(a, at.xy, at.z).x;
            textureStore(a, at.xy, at.z, vec4(x));
            textureStore(b, q, textureLoad(d, at, 0) + textureLoad(b, q));
        }";
    let texture = |first: u32, code: u32| {
        let texels: Vec<u32> = (first..first + 24).collect();
        bound([3, 2, 4, code], &texels)
    };
    let inputs = [
        texture(100, 0),
        texture(200, 0),
        texture(3000, 2),
        texture(4000, 2),
    ];
    let after = harness::run(1, source, [1, 1, 1], &inputs);
    for (seen, first) in [(&after[0], 3100), (&after[1], 4200)] {
        let sums: Vec<u32> = (0..24).map(|i| first + 2 * i).collect();
        assert_eq!(seen[4..], sums);
    }
}

#[test]
fn a_texture_shows_as_a_buffer() {
    let backend = harness::backend(1);
    for format in &FORMATS {
        for (mode, access) in [
            ("read", Access::Read),
            ("write", Access::ReadWrite),
            ("read_write", Access::ReadWrite),
        ] {
            let name = format.name;
            let source = format!(
                "@group(1) @binding(3) var picture: texture_storage_2d<{name}, {mode}>;
                @compute @workgroup_size(1) fn main() {{ _ = textureDimensions(picture); }}"
            );
            let program = harness::load(&backend, &source);
            let [info] = &program.reflection().bindings[..] else {
                panic!("one binding")
            };
            let size = 4 * format.words() as u64;
            assert_eq!((info.group, info.binding, &*info.name), (1, 3, "picture"));
            assert_eq!((info.access, info.runtime_sized), (access, true));
            assert_eq!((info.element_size, info.min_size), (size, 16 + size));
        }
    }
    let source = "@group(0) @binding(0) var t: texture_3d<f32>;
        @compute @workgroup_size(1) fn main() { _ = textureLoad(t, vec3(0), 0); }";
    let program = harness::load(&backend, source);
    let info = &program.reflection().bindings[0];
    assert_eq!((info.access, info.runtime_sized), (Access::Read, true));
    assert_eq!((info.element_size, info.min_size), (4, 20));
    let short = [harness::buffer(&backend, &[1, 1, 1, 0])];
    let error = harness::try_run(&program, harness::dispatch([1, 1, 1], &short)).unwrap_err();
    assert!(error.message().contains("20"), "{error}");
}

#[test]
fn unchecked_programs_read_and_write_what_is_there() {
    let source = "
        @group(0) @binding(0) var a: texture_2d<f32>;
        @group(0) @binding(1) var b: texture_storage_2d<rgba8unorm, write>;
        @compute @workgroup_size(4, 3) fn main(@builtin(local_invocation_id) at: vec3u) {
            textureStore(b, at.xy, textureLoad(a, vec2i(at.xy), 0).bgra);
        }";
    let backend = harness::backend(1);
    let flags = ProgramFlags {
        unchecked: true,
        ..ProgramFlags::default()
    };
    let program = harness::try_load(&backend, source, flags).expect("it loads");
    let texels: Vec<u32> = (0..12).map(|i| 0x0403_0201 * (i + 1)).collect();
    let inputs = [bound([4, 3, 1, 1], &texels), bound([4, 3, 1, 0], &[0; 12])];
    let buffers = inputs
        .each_ref()
        .map(|words| harness::buffer(&backend, words));
    harness::try_run(&program, harness::dispatch([1, 1, 1], &buffers)).expect("it runs");
    let swapped: Vec<u32> = (texels.iter())
        .map(|x| {
            let [r, g, b, a] = x.to_le_bytes();
            u32::from_le_bytes([b, g, r, a])
        })
        .collect();
    assert_eq!(harness::words(&buffers[1])[4..], swapped);
}

fn refusal(text: &str) -> Error {
    let options = Options {
        label: Some("t.wgsl"),
        subgroup_size: 32,
        ..Options::default()
    };
    match compile(text, &options) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error,
    }
}

#[test]
fn what_is_refused_is_named_with_its_place_and_a_way_out() {
    let small = "Use a format whose texels take 4, 8 or 16 bytes";
    let mut cases: Vec<(String, &str, &str)> = Vec::new();
    for format in [
        "r8unorm",
        "r8snorm",
        "r8uint",
        "r8sint",
        "rg8unorm",
        "rg8snorm",
        "rg8uint",
        "rg8sint",
        "r16unorm",
        "r16snorm",
        "r16uint",
        "r16sint",
        "r16float",
        "rg11b10ufloat",
        "r64uint",
    ] {
        let ty = format!("texture_storage_2d<{format}, write>");
        cases.push((ty, format, small));
    }
    for (ty, words, fix) in [
        ("texture_depth_2d", "depth textures", "texture_2d<f32>"),
        ("texture_cube<f32>", "cube textures", "layer for each face"),
        (
            "texture_multisampled_2d<f32>",
            "multisampled textures",
            "layer for each sample",
        ),
        ("sampler", "samplers", "textureLoad"),
        ("sampler_comparison", "samplers", "textureLoad"),
    ] {
        cases.push((ty.to_string(), words, fix));
    }
    for (ty, words, fix) in cases {
        let text = format!(
            "@group(0) @binding(0) var t: {ty};\n@compute @workgroup_size(1) fn main() {{ _ = t; }}"
        );
        let error = refusal(&text);
        assert_eq!(error.status(), Status::Unsupported, "{error}");
        let place = error.position().map(|p| (p.line, p.column));
        assert_eq!(place, Some((1, 23)), "{error}");
        assert!(error.message().contains("`t` is "), "{error}");
        assert!(error.message().contains(words), "{error}");
        assert!(error.message().contains("not supported"), "{error}");
        assert!(error.fix().contains(fix), "{error}: {}", error.fix());
    }
}

#[test]
fn sampling_is_refused_where_it_stands() {
    let samples = [
        ("textureSample(t, s, vec2(0.5))", "texture_2d<f32>"),
        (
            "textureSampleLevel(t, s, vec2(0.5), 0.0)",
            "texture_2d<f32>",
        ),
        ("textureGather(0, t, s, vec2(0.5))", "texture_2d<f32>"),
    ];
    for (call, ty) in samples {
        let text = format!(
            "@group(0) @binding(0) var t: {ty};\n@group(0) @binding(1) var s: sampler;\n@compute @workgroup_size(1) fn main() {{\n  _ = {call};\n}}"
        );
        let error = refusal(&text);
        assert_eq!(error.status(), Status::Unsupported, "{error}");
        assert!(error.position().is_some(), "{error}");
        assert!(
            error.fix().contains("textureLoad"),
            "{error}: {}",
            error.fix()
        );
    }
}

#[test]
fn modes_are_kept() {
    let cases = [
        ("read", "textureStore(t, vec2(0, 0), vec4(0u));"),
        ("write", "_ = textureLoad(t, vec2(0, 0));"),
    ];
    for (mode, statement) in cases {
        let text = format!(
            "@group(0) @binding(0) var t: texture_storage_2d<r32uint, {mode}>;\n@compute @workgroup_size(1) fn main() {{\n  {statement}\n}}"
        );
        let error = refusal(&text);
        assert_eq!(error.status(), Status::InvalidProgram, "{error}");
        assert_eq!(error.position().map(|p| p.line), Some(1), "{error}");
        assert!(
            error
                .message()
                .contains(&format!("its access mode is `{mode}`")),
            "{error}"
        );
    }
    let atomic = "@group(0) @binding(0) var t: texture_storage_2d<r32uint, atomic>;\n@compute @workgroup_size(1) fn main() {\n  textureAtomicAdd(t, vec2(0, 0), 1u);\n}";
    let error = refusal(atomic);
    assert_eq!(error.status(), Status::Unsupported, "{error}");
    assert!(
        error.message().contains("atomic operations on textures"),
        "{error}"
    );
}

#[test]
fn two_textures_do_not_share_a_binding() {
    let error = refusal(
        "@group(0) @binding(0) var a: texture_2d<f32>;\n@group(0) @binding(0) var b: texture_2d<f32>;\n@compute @workgroup_size(1) fn main() { _ = textureLoad(a, vec2(0), 0) + textureLoad(b, vec2(0), 0); }",
    );
    assert_eq!(error.status(), Status::InvalidProgram);
    assert!(error.message().contains("both bound at"), "{error}");
}

/// What the proof of the grid barrier behind `condition` says.
fn unproven(condition: &str) -> Option<Error> {
    let text = format!(
        "@group(0) @binding(0) var t: texture_2d<u32>;
        @group(0) @binding(1) var u: texture_storage_2d<r32uint, read_write>;
        @group(0) @binding(2) var w: texture_storage_2d_array<rgba32float, write>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {{
            for (var i = 0u; {condition}; i++) {{
                textureStore(u, id.xy, vec4(i)); textureStore(w, id.xy, i, vec4f()); gridBarrier();
            }}
        }}"
    );
    let options = Options {
        subgroup_size: 32,
        ..Options::default()
    };
    let program = compile(&text, &options).unwrap_or_else(|error| panic!("{error}"));
    analyse(&program).refusal(&program)
}

#[test]
fn uniformity_is_that_of_buffers() {
    // What nobody writes is the same for all that look at the same texel.
    for condition in [
        "textureLoad(t, vec2(i, 0u), 0).x < 5u",
        "textureLoad(t, vec2(0, 1), i32(i)).y < 5u",
        "i < textureDimensions(t).x",
        "i < textureDimensions(u).x",
        "i < textureNumLayers(w)",
    ] {
        if let Some(error) = unproven(condition) {
            panic!("{condition}: {error}");
        }
    }
    for condition in [
        "textureLoad(t, vec2(i, id.x), 0).x < 5u",
        "textureLoad(t, vec2(0, 1), id.x).y < 5u",
        "textureLoad(u, vec2(i, 0u)).x < 5u",
    ] {
        let error = unproven(condition).unwrap_or_else(|| panic!("accepted: {condition}"));
        assert!(error.message().contains("gridBarrier"), "{error}");
    }
}
