//! What accesses to memory, their guards and divisors look like.

use super::{emit, kernel, text};

#[test]
fn a_dynamic_index_is_guarded_by_a_predicate_and_a_static_one_is_not() {
    let guarded = text("out[input[i]] = 1u;");
    assert!(guarded.contains("ld.global.nc.b32") && guarded.contains(" ld.global.nc"));
    let predicated = |text: &str, what: &str| {
        text.lines()
            .any(|line| line.trim_start().starts_with("@%p") && line.contains(what))
    };
    assert!(predicated(&guarded, "ld.global.nc"), "{guarded}");
    assert!(predicated(&guarded, "st.global"), "{guarded}");
    let fixed = text("out[0] = input[0];");
    assert!(
        !predicated(&fixed, "st.global") && !predicated(&fixed, "ld.global"),
        "{fixed}"
    );
}

/// Whether any access that the text has of this kind is guarded.
fn is_guarded(text: &str, what: &str) -> bool {
    text.lines()
        .any(|line| line.trim_start().starts_with("@%p") && line.contains(what))
}

#[test]
fn what_is_proven_is_not_guarded() {
    let workgroup = |body: &str| {
        let source = format!("var<workgroup> w: array<u32, 64>;\n{}", kernel(body));
        let text = emit(&source).text;
        let body = text.split("bar.sync 0").last().unwrap_or_default();
        assert!(body.contains("st.shared"), "{text}");
        is_guarded(body, "st.shared")
    };
    assert!(!workgroup("for (var k = 0u; k < 64u; k++) { w[k] = 1u; }"));
    assert!(workgroup("for (var k = 0u; k < 65u; k++) { w[k] = 1u; }"));
    assert!(!workgroup("if i >= 64u { return; } w[i] = 1u;"));
    assert!(workgroup("if i > 64u { return; } w[i] = 1u;"));
    let length = text("if i < arrayLength(&out) { out[i] = 1u; }");
    assert!(!is_guarded(&length, "st.global"), "{length}");
    let other = text("if i < arrayLength(&input) { out[i] = 1u; }");
    assert!(is_guarded(&other, "st.global"), "{other}");
}

#[test]
fn neighbours_share_an_address_where_their_index_does_not_wrap() {
    let proven = text(
        "if i > 0u && i < arrayLength(&out) - 1u { out[i] = input[i - 1u] + input[i] + input[i + 1u]; }",
    );
    for part in ["+-4]", "+4]"] {
        let loads = proven
            .lines()
            .filter(|l| l.contains("ld.global") && l.contains(part));
        assert_eq!(loads.count(), 1, "{part}\n{proven}");
    }
    let wraps = text("out[i] = input[i - 1u] + input[i] + input[i + 1u];");
    assert!(!wraps.contains("+-4]"), "{wraps}");
    let loads = wraps
        .lines()
        .filter(|l| l.contains("ld.global") && l.contains("+4]"));
    assert_eq!(loads.count(), 0, "{wraps}");
}

#[test]
fn a_guarded_vector_is_loaded_from_the_start_instead() {
    let source = "@group(0) @binding(0) var<storage, read_write> a: array<vec4<u32>>;
        struct S { n: u32, rows: array<array<vec4<u32>, 4>> }
        @group(0) @binding(1) var<storage, read> s: S;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) gid: vec3u) { BODY }";
    let loads = |body: &str| {
        let text = emit(&source.replace("BODY", body)).text;
        assert!(text.contains(".v4.b32"), "{text}");
        is_guarded(&text, "ld.global")
    };
    assert!(!loads("a[gid.x] = a[gid.y] + 1u;"));
    // The start of the sixth row may be past the end.
    assert!(loads("a[0] = s.rows[5][gid.x & 3u];"));
    assert!(!loads("a[0] = s.rows[gid.x][2];"));
}

#[test]
fn divisors_are_made_harmless_once_and_where_they_are_defined() {
    let selects = |body: &str| {
        let text = text(body);
        let count = text.matches("selp.b32").count();
        (count, text)
    };
    let (both, text) = selects("let n = out[0]; out[1] = i / n; out[2] = i % n;");
    assert_eq!(both, 1, "{text}");
    let (in_loop, text) =
        selects("let n = out[0]; for (var k = 0u; k < 9u; k++) { out[k] = k / n; }");
    assert_eq!(in_loop, 1, "{text}");
    let select = text.find("selp.b32").unwrap_or_default();
    assert!(select < text.find("$L").unwrap_or_default(), "{text}");
    let (never, text) = selects("out[0] = i / max(out[1], 1u) + i % arrayLength(&input);");
    assert_eq!(never, 0, "{text}");
    let (tested, text) = selects("let n = out[0]; if n != 0u { out[1] = i / n; }");
    assert_eq!(tested, 0, "{text}");
}

#[test]
fn workgroup_memory_is_zeroed_in_passes() {
    let zeroing = |words: u32| {
        let body = kernel("w[i] = 1u; workgroupBarrier(); out[i] = w[0];");
        let text = emit(&format!("var<workgroup> w: array<u32, {words}>;\n{body}")).text;
        let before = text.split("bar.sync 0").next().unwrap_or_default();
        let stores = before.matches("st.shared.v4").count();
        (
            stores,
            is_guarded(before, "st.shared.v4"),
            before.contains("bra"),
        )
    };
    // 64 invocations zero 256 words in a pass.
    assert_eq!(zeroing(256), (1, false, false));
    assert_eq!(zeroing(512), (2, false, false));
    assert_eq!(zeroing(300), (2, true, false));
    assert_eq!(zeroing(100), (1, true, false));
    assert_eq!(zeroing(8000), (1, false, true));
}

#[test]
fn vectors_are_moved_whole_only_where_they_are_aligned() {
    let source = |ty: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> a: array<{ty}>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{ a[i] = a[i + 1u]; }}"
        )
    };
    let aligned = emit(&source("vec4<u32>")).text;
    assert!(aligned.contains("ld.global.v4.b32") && aligned.contains("st.global.v4.b32"));
    // A run of four words at a multiple of 4 bytes only.
    let loose = emit(&source("array<u32, 4>")).text;
    assert!(
        loose.contains("v4.b32"),
        "an array of 16 bytes keeps its alignment\n{loose}"
    );
    let odd = emit(&source("array<u32, 5>")).text;
    assert!(!odd.contains(".v4") && !odd.contains(".v2"), "{odd}");
}
