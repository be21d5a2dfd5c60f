//! Shifts of constants: right, or refused with their place, and never silently wrong.

mod harness;

use vyre::backend::ProgramFlags;
use vyre::error::{Error, Result};

/// `out[0]` after `main`, in which `out[1]` is -1.
fn run(declarations: &str, body: &str) -> Result<i32> {
    let text = format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> out: array<i32>;
        @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let backend = harness::backend(1);
    let program = harness::try_load(&backend, &text, ProgramFlags::default())?;
    let out = harness::buffer(&backend, &[99, u32::MAX]);
    harness::try_run(
        &program,
        harness::dispatch([1, 1, 1], std::slice::from_ref(&out)),
    )?;
    Ok(harness::words(&out)[0].cast_signed())
}

fn is(declarations: &str, body: &str, expected: i32) {
    let seen = run(declarations, body)
        .unwrap_or_else(|error| panic!("{declarations} {body}: {}", harness::report(&error)));
    assert_eq!(seen, expected, "{declarations} {body}");
}

fn refused(declarations: &str, body: &str) -> Error {
    match run(declarations, body) {
        Ok(seen) => panic!("{declarations} {body} should be refused, and gave {seen}"),
        Err(error) => {
            assert!(error.message().contains("test.wgsl:"), "{error}");
            error
        }
    }
}

#[test]
fn a_long_count_leaves_the_sign() {
    for (count, declarations) in [
        ("64", ""),
        ("64u", ""),
        ("0xffffffffu", ""),
        ("(32 + 32)", ""),
        ("(1 << 6)", ""),
        ("(1u << 31u)", ""),
        (" N", "const N = 64;"),
        (" N", "const N = 4294967295;"),
        (" N", "const N = 64u;"),
        (" N", "const N: u32 = 64;"),
        (" N", "const M = 32; const N = M * 2;"),
        ("(N)", "const N = 64;"),
        ("(N - 1)", "const N = 65;"),
        ("min(N, 99)", "const N = 64;"),
        ("u32(64.5)", ""),
        ("select(1u, 70u, true)", ""),
        ("COUNTS[1]", "const COUNTS = array(1, 64);"),
        ("COUNTS.y", "const COUNTS = vec2(1, 64);"),
        ("S(64).count", "struct S { count: u32 }"),
        ("/* long */ N", "const N = 64;"),
    ] {
        let written = count.replace("/* long */", "");
        for count in [count, written.as_str()] {
            let is_hidden = count.contains("/*");
            if is_hidden {
                // There is no room for another number.
                let error = refused(declarations, &format!("out[0] = -5 >>{count};"));
                assert!(error.message().contains("64 bits or more"), "{error}");
                continue;
            }
            is(declarations, &format!("out[0] = -5 >>{count};"), -1);
            is(declarations, &format!("out[0] = 5 >>{count};"), 0);
            is(declarations, &format!("out[0] = (-5 >>{count}) + 3;"), 2);
            is(
                &format!("{declarations} const X = -5 >>{count};"),
                "out[0] = X;",
                -1,
            );
            is(
                &format!("{declarations} const X: i32 = -5 >>{count};"),
                "out[0] = X;",
                -1,
            );
            is(
                declarations,
                &format!("const A = 2 - 7; let x = A >>{count}; out[0] = x;"),
                -1,
            );
        }
    }
}

#[test]
fn wherever_a_constant_may_stand() {
    let n = "const N = 64;";
    // Five elements less one: the fifth is out of bounds.
    let array = format!("{n} var<private> a: array<i32, 5 + (-1 >> N)>;");
    is(&array, "let i = out[1] + 4; a[i] = 7; out[0] = a[i];", 7);
    is(&array, "let i = out[1] + 5; a[i] = 7; out[0] = a[i];", 0);
    is(
        n,
        "switch out[1] { case -1 >> N: { out[0] = 7; } default: { out[0] = 8; } }",
        7,
    );
    // What is asserted is read before anything is lowered.
    refused(n, "const_assert -1 >> N == -1;");
    is(
        n,
        "for (var i = 0; i < 4 + (-9 >> N); i++) { out[0] = i; }",
        2,
    );
    is(n, "if (-1 >> N) < 0 { out[0] = 5; }", 5);
    is(n, "out[2 + (-1 >> N) - 1] = 4;", 4);
    is(
        n,
        "let x = f(-1 >> N); out[0] = x; } fn f(x: i32) -> i32 { return x - (-1 >> N);",
        0,
    );
    let sized =
        format!("{n} struct S {{ @size(5 + (-1 >> N)) a: u32, b: u32 }} var<private> s: S;");
    is(&sized, "s.b = 3; out[0] = i32(s.b);", 3);
    is(
        "const N = 1 << 6; const M = 0;",
        "out[0] = (-9 >> (N >> M)) + (-9 >> N) + (-9 >> (N + (N >> M)));",
        -3,
    );
    // A name that is something else elsewhere.
    is(n, "const N = 2; out[0] = -9 >> N;", -3);
    is(n, "let N = 2u; out[0] = out[1] >> N;", -1);
    is("const N = 2;", "{ const N = 64; out[0] = -9 >> N; }", -1);
    is(n, "var x = out[1]; x >>= (N - 63); out[0] = x;", -1);
}

#[test]
fn vectors_and_what_has_no_room_are_refused_with_their_place() {
    is("", "out[0] = (vec2(-5, -5) >> vec2(64, 1)).x;", -1);
    is(
        "const V = vec2(63, 1);",
        "out[0] = (vec2(-5, -5) >> V).x;",
        -1,
    );
    for (declarations, body, count) in [
        (
            "const V = vec2(64, 1);",
            "out[0] = (vec2(-5, -5) >> V).x;",
            "V)",
        ),
        (
            "const V = vec3<u32>(64);",
            "out[0] = (vec3(-5) >> V).x;",
            "V)",
        ),
        (
            "const N = 64;",
            "out[0] = (vec2(-5, -5) >> vec2(N, 1)).x;",
            "vec2(N",
        ),
        ("const N = 64;", "out[0] = -5 >>N;", "N;"),
    ] {
        let before = "        @compute @workgroup_size(1) fn main() { ".len();
        let column = before + body.find(count).expect("the count") + 1;
        let place = format!("test.wgsl:3:{column}:");
        let error = refused(declarations, body);
        let message = error.message();
        assert!(
            message.contains("shifted right by 64 bits or more"),
            "{body}: {message}"
        );
        assert!(
            message.contains(&place),
            "{body}: {message}, expected {place}"
        );
        assert!(error.fix().contains("63"), "{}", error.fix());
    }
}

#[test]
fn other_constants_are_refused_where_a_shift_loses_what_they_are() {
    for body in [
        // Abstract integers.
        "out[0] = i32(1 << 63);",
        "out[0] = i32(1 << 64);",
        "const N = 64; out[0] = i32(3 << N);",
        "const N = -1; out[0] = 1 >> N;",
        "const N = 4294967296; out[0] = -1 >> N;",
        // Of a type.
        "out[0] = -1i >> 32u;",
        "const N = 32; out[0] = -1i >> N;",
        "const N = 64; out[0] = -1i >> N;",
        "out[0] = 1i << 31u;",
        "out[0] = 1i << 32u;",
        "out[0] = i32(1u << 32u);",
        "out[0] = i32(3u << 31u);",
        "out[0] = i32(1u >> 32u);",
        "out[0] = i32(-1li >> 64u);",
        "out[0] = i32(1li << 64u);",
        "out[0] = i32(1lu >> 64u);",
        // The count is a constant, what is shifted is not.
        "let x = out[1]; out[0] = x >> 32u;",
        "let x = out[1]; out[0] = x << 32;",
        "const N = 40; let x = out[1]; out[0] = x >> N;",
        "const N = 64; let x = i64(out[1]); out[0] = i32(x << N);",
        "const N = 64; let x = i64(out[1]); out[0] = i32(x >> N);",
        "out[1] >>= 32; out[0] = out[1];",
        "const V = vec2(1u, 40u); let x = vec2(out[1]); out[0] = (x >> V).x;",
    ] {
        refused("", body);
    }
    for body in [
        "out[0] = -1i >> 31u;",
        "out[0] = -1 >> 63;",
        "out[0] = i32(-1li >> 63u);",
        "const N = 31; let x = out[1]; out[0] = x >> N;",
        "let n = 63u; let x = i64(out[1]); out[0] = i32(x >> n);",
        // Counts that are known only when it runs are taken modulo the width.
        "let n = u32(out[1] + 33); let x = out[1]; out[0] = x >> n;",
    ] {
        is("", body, -1);
    }
    is("", "out[0] = i32((1 << 40) >> 40);", 1);
    // An override has a type, so that its counts are those of 32 bits.
    let error = run("override N: u32 = 64;", "out[0] = -1 >> N;").expect_err("refused");
    assert!(error.message().contains("does not fit"), "{error}");
    is("override N: u32 = 31;", "out[0] = -1 >> N;", -1);
}

#[test]
fn counts_that_are_not_computed_when_a_program_is_loaded_are_refused() {
    for count in [
        "bitcast<u32>(1f)",
        "extractBits(255u, 0u, 8u)",
        "u32(ldexp(1.0, 6))",
        "u32(modf(64.5).whole)",
        "pack4xU8(vec4(64u))",
        "unpack4xU8(64u).x",
    ] {
        for shifted in ["-5", "(4 - 9)", "A"] {
            let body = format!("const A = -5; out[0] = {shifted} >> {count};");
            let error = refused("", &body);
            assert!(error.message().contains("is not known"), "{error}");
        }
        // What is shifted is no constant, or the count is none.
        is("", &format!("let x = -1; out[0] = (x - 0) >> {count};"), -1);
        is("", &format!("let n = {count}; out[0] = -1 >> n;"), -1);
    }
}
