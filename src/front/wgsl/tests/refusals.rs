use super::{compile, options, program, refusal, refused};
use crate::error::Status::{Internal, InvalidProgram, Unsupported};
use crate::front::Options;

const MAIN: &str = "@compute @workgroup_size(1) fn main() {";

#[test]
fn features_are_refused_by_name_and_place() {
    let cases = [
        (
            "@group(0) @binding(0) var t: texture_depth_2d;\nX let x = textureLoad(t, vec2(0, 0), 0); }",
            (1, 23),
            "`t` is a depth texture: depth textures are not supported",
        ),
        (
            "@group(0) @binding(0) var t: texture_storage_2d<r8uint, write>;\nX textureStore(t, vec2(0, 0), vec4(0u)); }",
            (1, 23),
            "storage textures of r8uint are not supported",
        ),
        (
            "@group(0) @binding(0) var s: sampler;\n@group(0) @binding(1) var t: texture_2d<f32>;\nX let x = textureSampleLevel(t, s, vec2(0.0, 0.0), 0.0); }",
            (1, 23),
            "`s` is a sampler",
        ),
        (
            "fn f() { let d = dpdx(1.0); }\nX f(); }",
            (1, 18),
            "derivatives",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> a: atomic<f32>;\nX\n  atomicAdd(&a, 1.0);\n}",
            (3, 3),
            "atomic operations on f32",
        ),
        (
            "enable wgpu_ray_query;\nX var q: ray_query; rayQueryTerminate(&q); }",
            (2, 41),
            "ray queries",
        ),
        (
            "enable wgpu_binding_array;\n@group(0) @binding(0) var<storage> a: binding_array<B, 4>; struct B { x: u32 }\nX let x = a[1].x; }",
            (2, 23),
            "binding arrays",
        ),
        (
            "enable wgpu_int16;\nX var i: i16; }",
            (2, 41),
            "16-bit integers",
        ),
        (
            "enable f16;\nX\n  let wide = frexp(1.0f); var h = 1.0h;\n  let s = frexp(vec2(h, h));\n}",
            (4, 11),
            "`frexp` of f16",
        ),
        (
            "enable wgpu_cooperative_matrix;\nX var m: coop_mat8x8<f32, A>; }",
            (2, 41),
            "cooperative matrices",
        ),
    ];
    for (text, at, words) in cases {
        refused(&text.replace('X', MAIN), Unsupported, Some(at), words);
    }
}

#[test]
fn wrong_programs_are_refused_at_their_fault() {
    let cases = [
        ("X let x = y; }", (1, 49), "`y`"),
        ("X\n  var x: u32 = 1.5;\n}", (2, 7), "`u32`"),
        ("X\n  let x = 1u", (2, 12), "the end of the text"),
        ("X\n  gridBarrier();\n", (2, 16), "the end of the text"),
        (
            "fn a() { b(); }\nfn b() { a(); }\nX a(); }",
            (2, 4),
            "cyclic",
        ),
        (
            "@group(0) @binding(0) var<storage> a: u32;\n@group(0) @binding(0) var<storage> b: u32;\nX let x = a + b; }",
            (2, 23),
            "`b` and `a` are both bound at @group(0) @binding(0)",
        ),
        (
            "@group(0) @binding(0) var<storage> a: u32;\n@group(0) @binding(0) var<storage> b: u32;\nX _ = &a; _ = &b; }",
            (2, 23),
            "`b` and `a` are both bound",
        ),
        (
            "@group(0) @binding(0) var<storage> a: array<u32>;\nX\n  a[0] = 1u;\n}",
            (3, 3),
            "writing to this location is not permitted",
        ),
        (
            "struct S { @size(4294967295) a: u32, b: u32 }\nX }",
            (1, 18),
            "add up to more than",
        ),
        (
            "struct A { @align(1073741824) a: u32 }\n struct B { x: u32, a: A }\nX }",
            (2, 2),
            "`B` is larger than the 2147483647 bytes",
        ),
        ("X var a: array<u32, 3>; a[5] = 1u; }", (1, 63), "index 5"),
        (
            "@compute @workgroup_size(0) fn main() {}",
            (1, 32),
            "Workgroup size",
        ),
        (
            "fn gridBarrier(x: u32) {}\nX gridBarrier(1u); }",
            (1, 1),
            "without parameters",
        ),
        (
            "fn f() {}\nfn gridBarrier() { f(); }\nX gridBarrier(); }",
            (2, 1),
            "without parameters",
        ),
        (
            "fn gridBarrier() { let x = 1; }\nX gridBarrier(); }",
            (1, 1),
            "statements",
        ),
        (
            "var<private> gridBarrier: u32;\nX gridBarrier = 1u; }",
            (1, 14),
            "cannot name something else",
        ),
        (
            "X let x = gridBarrier(); }",
            (1, 49),
            "does not return any value",
        ),
        ("X gridBarrier(1u); }", (1, 41), "Requires 0 arguments"),
        (
            "var<workgroup> w: array<u32, 100000000>;\nX w[0] = 1u; }",
            (1, 1),
            "`w`",
        ),
        (
            "X\n  var a: array<u32, 1000000>;\n  a[0] = 1u;\n}",
            (2, 3),
            "the arrays of one invocation take 4000000 bytes",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> b: array<u32>;\nX loop { if b[0] == 1u { continue; } let x = b[1]; if x > 3 { break; } continuing { b[2] = x; } } }",
            (2, 84),
            "a `continue` passes it by",
        ),
    ];
    for (text, at, words) in cases {
        refused(&text.replace('X', MAIN), InvalidProgram, Some(at), words);
    }
}

#[test]
fn sizes_that_wrap_around_are_refused() {
    let text = "const n = 4294967292u; struct S { a: u32, @size(n + 0u) b: u32, c: u32 }
        @group(0) @binding(0) var<storage, read_write> s: S;\nX s.c = 1u; }";
    assert_eq!(refusal(&text.replace('X', MAIN)).status(), InvalidProgram);
}

#[test]
fn no_message_speaks_of_naga_s_handles() {
    for text in [
        "fn f(a: i32) {}\nX f(1u); }",
        "X var a: array<u32, 3>; a[5] = 1u; }",
        "@group(0) @binding(0) var<storage> a: u32;\nX a = 1u; }",
    ] {
        let error = refusal(&text.replace('X', MAIN));
        assert!(!error.message().contains(" ["), "{error}");
    }
}

#[test]
fn entry_points_are_chosen_by_name_or_alone() {
    let two = "@compute @workgroup_size(1) fn a() {}\n@compute @workgroup_size(2) fn b() {}\n@fragment fn c() {}";
    refused(two, InvalidProgram, None, "the program has `a`, `b`");
    let named = |name| {
        compile(
            two,
            &Options {
                entry_point: Some(name),
                ..options()
            },
        )
    };
    let b = named("b").unwrap();
    assert_eq!((b.entry_point.as_str(), b.workgroup_size), ("b", [2, 1, 1]));
    let unknown = named("d").unwrap_err();
    assert_eq!(unknown.status(), InvalidProgram);
    assert!(
        unknown.message().contains("`d`: the program has `a`, `b`"),
        "{unknown}"
    );
    let fragment = named("c").unwrap_err();
    assert_eq!(fragment.status(), Unsupported);
    assert_eq!(
        fragment.position().map(|p| (p.line, p.column)),
        Some((3, 14))
    );
    refused("", InvalidProgram, None, "no compute entry point");
    refused("fn f() {}", InvalidProgram, None, "no compute entry point");
    refused(
        "@fragment fn c() {}",
        InvalidProgram,
        None,
        "no compute entry point",
    );
    program("@fragment fn c() {}\n@compute @workgroup_size(1) fn a() {}");
}

#[test]
fn growth_by_inlining_ends() {
    for leaf in ["", "b[0] += 1u;"] {
        let mut text = format!(
            "@group(0) @binding(0) var<storage, read_write> b: array<u32>;\nfn f0() {{ {leaf} }}\n"
        );
        for i in 1..60 {
            text += &format!("fn f{i}() {{ f{}(); f{}(); }}\n", i - 1, i - 1);
        }
        text += "@compute @workgroup_size(1) fn main() { f59(); }";
        let error = refusal(&text);
        assert_eq!(error.status(), InvalidProgram);
        assert!(error.message().contains("grows too large"), "{error}");
        assert!(error.position().is_some());
    }
}

#[test]
fn deep_call_chains_end() {
    let mut text = "fn f0() {}\n".to_string();
    for i in 1..2000 {
        text += &format!("fn f{i}() {{ f{}(); }}\n", i - 1);
    }
    text += "@compute @workgroup_size(1) fn main() { f1999(); }";
    let error = refusal(&text);
    assert!(error.message().contains("more than 256 deep"), "{error}");
}

#[test]
fn deep_nesting_by_inlining_ends() {
    let mut text =
        "@group(0) @binding(0) var<storage, read_write> b: array<u32>;\nfn f0() { b[0] = 1u; }\n"
            .to_string();
    for i in 1..200 {
        let open = "if b[0] == 1u { ".repeat(8);
        text += &format!("fn f{i}() {{ {open} f{}(); {} }}\n", i - 1, "}".repeat(8));
    }
    text += "@compute @workgroup_size(1) fn main() { f199(); }";
    let error = refusal(&text);
    assert_eq!(error.status(), InvalidProgram);
    assert!(error.message().contains("nested too deeply"), "{error}");
}

#[test]
fn doubling_structures_end() {
    let mut text = "struct S0 { a: u32, b: u32 }\n".to_string();
    for i in 1..25 {
        text += &format!("struct S{i} {{ a: S{}, b: S{} }}\n", i - 1, i - 1);
    }
    text += "@group(0) @binding(0) var<storage, read_write> b: array<S24>;\n@compute @workgroup_size(1) fn main() { b[1] = b[0]; }";
    assert!(refusal(&text).message().contains("grows too large"));
}

#[test]
fn garbage_is_refused() {
    let mut state = 1u32;
    let alphabet = b"abc fn var let (){}[]<>;:,.+-*/&|!=@#\"'0123456789\n\t_$\\";
    let garbage: String = (0..1 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(alphabet[(state >> 16) as usize % alphabet.len()])
        })
        .collect();
    for text in [
        &garbage[..],
        "\0",
        "\u{feff}",
        "é",
        "/*",
        "@",
        "fn",
        "fn main(",
        "*/",
    ] {
        assert_ne!(refusal(text).status(), Internal);
    }
    let long = " ".repeat((2 << 20) + 1);
    assert!(refusal(&long).message().contains("bytes long"));
}

#[test]
fn cut_off_programs_are_refused_at_any_byte() {
    let text = "struct S { a: vec3<f32>, b: array<u32, 4> }\n@group(0) @binding(0) var<storage, read_write> s: S;\n@compute @workgroup_size(1) fn main() { s.b[1] = u32(s.a.x); gridBarrier(); }";
    for end in 0..text.len() {
        assert_eq!(refusal(&text[..end]).status(), InvalidProgram, "{end}");
    }
    program(text);
}

#[test]
fn immediates_up_to_the_limit_load_and_larger_ones_are_refused() {
    let of = |count: u32, more: &str| {
        format!(
            "struct P {{ a: u32, b: array<vec4<u32>, {count}> }} var<immediate> p: P;\n{more}\n\
            @group(0) @binding(0) var<storage, read_write> b: array<u32>;\n\
            {MAIN} b[0] = p.b[b[1]].x + p.b[1].y + p.a; }}"
        )
    };
    for count in [15, 16, 17, 64, 255] {
        let program = program(&of(count, "override n = 3;"));
        assert_eq!(program.immediates_size, 16 + 16 * count);
        assert_eq!(program.buffers.len(), 1);
    }
    refused(
        &of(256, ""),
        InvalidProgram,
        Some((1, 47)),
        "the immediates take 4112 bytes",
    );
    let two = "var<immediate> p: array<vec4<u32>, 20>; var<immediate> q: array<vec4<u32>, 20>;\nX _ = p[0]; _ = q[0]; }";
    refused(
        &two.replace('X', MAIN),
        InvalidProgram,
        Some((1, 41)),
        "one variable of immediates",
    );
    let written = "var<immediate> p: array<vec4<u32>, 20>;\nX p[1].x = 1u; }";
    refused(
        &written.replace('X', MAIN),
        InvalidProgram,
        Some((2, 41)),
        "",
    );
    let endless =
        "struct P { a: array<vec4<u32>, 20>, b: array<u32> } var<immediate> p: P;\nX _ = p.b[1]; }";
    refused(
        &endless.replace('X', MAIN),
        InvalidProgram,
        Some((1, 53)),
        "'p' is invalid",
    );
}
