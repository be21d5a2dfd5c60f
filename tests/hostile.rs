//! Texts that nobody would write, found by the fuzzer: each is refused or runs, and takes neither long nor much memory.

mod harness;

use std::time::{Duration, Instant};

use vyre::backend::ProgramFlags;
use vyre::error::Status;

/// What loading says; no fault of our own, and soon.
fn loads(text: &str) -> Result<(), Status> {
    let start = Instant::now();
    let backend = harness::backend(1);
    let result = harness::try_load(&backend, text, ProgramFlags::default());
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(20),
        "it took {took:?}: {text:.200}"
    );
    result.map(|_| ()).map_err(|error| {
        assert_ne!(error.status(), Status::Internal, "{error}\n{text:.2000}");
        error.status()
    })
}

#[test]
fn structures_inside_of_structures_are_refused() {
    for text in [
        "const c = 8; struct A { a@size(c) struct B { @align(c) x: u32 } struct C { b: B }",
        "const c = 8; struct A { @size(c, struct B { @size(c) x: u32 }) a: u32 }",
        "struct A { @size(8) a = 5; struct B { @align(4 + 4) x: u32 } : u32 }",
    ] {
        assert_eq!(loads(text), Err(Status::InvalidProgram), "{text}");
    }
    // Each would be read to the end of the text.
    for begin in [
        "struct a {",
        "struct a { @size(8) b: u32, ",
        "struct a { b: array<",
    ] {
        let text = begin.repeat((1 << 20) / begin.len());
        assert_eq!(loads(&text), Err(Status::InvalidProgram), "{begin}");
    }
}

/// A program around a body.
fn program(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    )
}

#[test]
fn deep_texts_end_soon() {
    let nested = |open: &str, inner: &str, close: &str, depth: usize| {
        program(&format!(
            "{}{inner}{}",
            open.repeat(depth),
            close.repeat(depth)
        ))
    };
    let mut texts = Vec::new();
    for depth in [10, 60, 120, 5000] {
        texts.push(nested(
            "for (var i = 0u; i < out[1]; i++) {",
            "out[2] += 1u;",
            "}",
            depth,
        ));
        texts.push(nested(
            "loop { if out[0] > 5u { break; }",
            "out[2] += 1u;",
            "}",
            depth,
        ));
        texts.push(nested(
            "loop { continuing {",
            "out[2] += 1u;",
            "break if out[0] < 7u; } }",
            depth,
        ));
        texts.push(nested(
            "if out[0] == 1u {",
            "out[2] += 1u;",
            "} else { out[3] = 1u; }",
            depth,
        ));
        texts.push(nested(
            "switch out[0] { case 1u: {",
            "out[2] += 1u;",
            "} default: { } }",
            depth,
        ));
        texts.push(nested(
            "while out[0] < 3u { gridBarrier();",
            "out[2] += 1u;",
            "}",
            depth,
        ));
    }
    for text in texts {
        let _ = loads(&text);
    }
}

#[test]
fn long_texts_end_soon() {
    let each =
        |line: &dyn Fn(usize) -> String, count: usize| -> String { (1..count).map(line).collect() };
    let texts = [
        program(&format!(
            "let a0 = out[0]; {} out[1] = a9999;",
            each(&|i| format!("let a{i} = a{0} + a{0};", i - 1), 10_000)
        )),
        program(&format!(
            "var x = 1u; {} out[1] = x;",
            "x = x * 3u + out[x];".repeat(10_000)
        )),
        program(&"if out[0] == 1u { out[1] = 2u; }".repeat(10_000)),
        program(&"for (var i = 0u; i < out[0]; i++) { out[i] = i; }".repeat(3000)),
        program(&"out[1] += 1u; gridBarrier();".repeat(3000)),
        program(&"if out[0] > 1u { gridBarrier(); }".repeat(60)),
        program(&format!(
            "switch out[0] {{ {} default: {{}} }}",
            each(&|i| format!("case {i}u: {{ out[1] = {i}u; }}"), 10_000)
        )),
        format!(
            "fn f0() {{}} {} {}",
            each(&|i| format!("fn f{i}() {{ f{}(); }}", i - 1), 5000),
            program("f4999();")
        ),
        format!(
            "fn f0() {{}} {} {}",
            each(&|i| format!("fn f{i}() {{ f{0}(); f{0}(); }}", i - 1), 40),
            program("f39();")
        ),
        format!(
            "struct S {{ {} }} var<private> s: S; {}",
            each(&|i| format!("m{i}: u32,"), 20_000),
            program("var t = s; t.m5 = 1u; out[0] = t.m6;")
        ),
        program(&format!("out[0] = {}1u;", "~".repeat(9_000))),
        program(&format!(
            "out[0] = {}1u{};",
            "(".repeat(9_000),
            ")".repeat(9_000)
        )),
        program(&format!(
            "var a: {}u32{};",
            "array<".repeat(9_000),
            ",2>".repeat(9_000)
        )),
    ];
    for text in texts {
        let _ = loads(&text);
    }
}

#[test]
fn large_objects_are_refused_or_take_no_memory() {
    for n in ["65536", "16777216", "1000000000", "4294967295"] {
        for (declaration, body) in [
            ("const c = array<u32, N>();", "out[1] = c[out[0]];"),
            ("", "let c = array<u32, N>(); out[1] = c[out[0]];"),
            ("", "var c: array<u32, N>; out[1] = c[out[0]];"),
            ("", "var c: array<u32, N>; out[1] = c[3];"),
            (
                "",
                "var c: array<array<u32, N>, N>; var d = c; d[1][2] = 3u; c = d; out[1] = c[1][2];",
            ),
            ("var<private> c: array<u32, N>;", "out[1] = c[out[0]];"),
            ("var<workgroup> c: array<u32, N>;", "out[1] = c[out[0]];"),
            (
                "var<private> c: array<vec4<f32>, N> = array<vec4<f32>, N>();",
                "out[1] = u32(c[out[0]].x);",
            ),
            (
                "struct S { @size(N) a: u32, b: u32 } var<private> s: array<S, N>;",
                "out[1] = s[out[0]].b;",
            ),
            (
                "struct S { @align(N) a: u32 } var<private> s: array<S, 9>;",
                "out[1] = s[out[0]].a;",
            ),
            (
                "fn f(a: array<u32, N>) -> array<u32, N> { return a; }",
                "out[1] = f(array<u32, N>())[1];",
            ),
            (
                "",
                "if all(array<u32, N>() == array<u32, N>()) { out[1] = 1u; }",
            ),
            (
                "override n = N; var<workgroup> c: array<u32, n>;",
                "out[1] = c[out[0]];",
            ),
        ] {
            let text = format!("{declaration}\n{}", program(body)).replace('N', n);
            let _ = loads(&text);
        }
    }
}
