//! What loops and short circuits look like.

use super::{emit, kernel, text};

#[test]
fn loops_are_polled_unless_they_end_by_themselves() {
    let is_polled = |body: &str| emit(&kernel(body)).parameters.control.is_some();
    assert!(!is_polled("for (var k = 0u; k < 16u; k++) { out[k] = k; }"));
    assert!(!is_polled(
        "for (var k = 2; k <= 16; k += 3) { out[k] = 1u; }"
    ));
    assert!(!is_polled(
        "for (var k = 0u; k < 9u; k++) { for (var j = 0u; j < 9u; j++) { out[k] = j; } }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < input[0]; k++) { out[k] = k; }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < 16u; k++) { k = input[k]; }"
    ));
    assert!(is_polled(
        "for (var k = 0u; k < 4000000u; k++) { out[i] = k; }"
    ));
    assert!(is_polled(
        "for (var k = i32(input[0]); k < 16; k++) { out[i] = 1u; }"
    ));
    assert!(is_polled("loop { if (out[0] == 1u) { break; } }"));
    assert!(is_polled(
        "for (var k = 0u; k < 16u; k++) { if (k == 3u) { k = 0u; } }"
    ));
}

#[test]
fn halvings_and_what_can_be_followed_are_not_polled() {
    let is_polled = |body: &str| emit(&kernel(body)).parameters.control.is_some();
    for body in [
        "for (var k = input[0]; k > 0u; k /= 2u) { out[k] = k; }",
        "for (var k = input[0]; k != 0u; k >>= 3u) { out[k] = k; }",
        "for (var k = input[0]; 7u <= k; k = k >> 1u) { out[k] = k; }",
        "for (var k = 1u; k < 256u; k *= 2u) { out[k] = k; }",
        "for (var k = 1u; k < 0x80000000u; k <<= 1u) { out[k] = k; }",
        "for (var k = 64; k > 0; k -= 3) { out[k] = 1u; }",
    ] {
        assert!(!is_polled(body), "{body}");
    }
    for body in [
        // From zero it never grows, and this one wraps to zero.
        "for (var k = input[0]; k < 256u; k *= 2u) { out[k] = k; }",
        "for (var k = 1u; k <= 0x80000000u; k *= 2u) { out[k] = k; }",
        "for (var k = input[0]; k >= 0u; k /= 2u) { out[k] = k; }",
        "for (var k = input[0]; k > 0u; k >>= input[1]) { out[k] = k; }",
        "for (var k = i32(input[0]); k != 0; k >>= 1u) { out[k] = 1u; }",
        "for (var k = input[0]; k > 0u; k /= 2u) { if k == 9u { k = 99u; } }",
        "for (var k = input[0]; k > 0u; k /= input[1]) { out[k] = k; }",
    ] {
        assert!(is_polled(body), "{body}");
    }
}

#[test]
fn the_innermost_loop_is_one_piece_without_a_look() {
    /// What stands between a label and the branch back to it, of the loop that stores.
    fn turn(text: &str) -> &str {
        let store = text.find("st.global").expect("a store");
        let start = text[..store].rfind("\n$L").expect("a label") + 1;
        let label = text[start..].lines().next().unwrap().trim_end_matches(':');
        let back = format!("bra {label};");
        let end = store + text[store..].find(&back).expect("a branch back");
        let from = text[start..end].rfind('\n').unwrap();
        assert!(
            text[start + from..end].contains("@%p"),
            "it is a test\n{text}"
        );
        &text[start + label.len() + 1..end]
    }
    for body in [
        "for (var k = i; k < input[0]; k += groups.x * 64u) { out[k] = k; }",
        "for (var k = i; k < arrayLength(&input); k++) { out[k] = k; }",
        "for (var k = 0; k < i32(input[0]); k++) { out[k] = 1u; }",
        "for (var k = 0u; k < 1000u; k++) { out[k] = k; }",
        "for (var n = input[1]; n > 0u; n -= 1u) { for (var k = 0u; k < n; k++) { out[k] = k; } }",
    ] {
        let source = kernel(body).replace(
            "global_invocation_id) gid: vec3u",
            "global_invocation_id) gid: vec3u, @builtin(num_workgroups) groups: vec3u",
        );
        let text = emit(&source).text;
        let turn = turn(&text);
        for what in ["bra ", "bar.", "ld.relaxed", "globaltimer", "and.b32"] {
            assert!(!turn.contains(what), "{what} in {turn}\n{text}");
        }
    }
    // What cannot be cut into strips counts its turns, and looks elsewhere.
    let text = text("while out[i] != input[0] { out[i + 1u] += 1u; }");
    let turn = turn(&text);
    assert!(
        !turn.contains("globaltimer") && text.contains("globaltimer"),
        "{text}"
    );
}

#[test]
fn few_turns_are_written_out_and_many_are_not() {
    let stores = |body: &str| text(body).matches("st.global").count();
    assert_eq!(stores("for (var k = 0u; k < 6u; k++) { out[k] = k; }"), 6);
    assert_eq!(
        stores("for (var k = 8u; k > 0u; k /= 2u) { out[k] = k; }"),
        4
    );
    assert_eq!(stores("for (var k = 0u; k < 600u; k++) { out[k] = k; }"), 1);
    // Each call site of a grid barrier is marked once.
    let text = text("for (var k = 0u; k < 3u; k++) { out[k] = k; gridBarrier(); }");
    assert_eq!(text.matches("st.global").count(), 1, "{text}");
}

#[test]
fn short_circuits_branch_only_around_what_is_dear() {
    let branches = |body: &str| text(body).matches("bra ").count();
    let one = branches("if i > 3u { out[i] = 1u; }");
    let cheap = "if i > 3u && i < 9u && gid.y == i || gid.z == 1u { out[i] = 1u; }";
    assert_eq!(branches(cheap), one);
    for dear in [
        "if i > 3u && input[i] == 1u { out[i] = 1u; }",
        "if i > 3u || 7u / i == 1u { out[i] = 1u; }",
        "if i > 3u && atomicLoad(&flag) == 1u { out[i] = 1u; }",
    ] {
        let source = kernel(dear) + "var<workgroup> flag: atomic<u32>;";
        let text = emit(&source).text;
        assert!(text.matches("bra ").count() > one, "{text}");
    }
}

#[test]
fn flags_live_in_registers_that_assemblers_understand() {
    let text = text(
        "var flag = i > 3u;
        if !flag { for (var k = 0u; k < out[0]; k++) { flag = !flag; } }
        out[i] = u32(flag);",
    );
    // No predicate is copied from one that another path has set.
    assert!(!text.contains("mov.pred %p"), "{text}");
}
