//! Loops, whose tests are written several times, whose turns may be written one after the other, and whose
//! counters are stopped on the way to look at the clock.

use super::{abi, bytes, kernel, words};

/// Runs a body with each first word of `input`; what is found is what the evaluator says.
fn check(body: &str, firsts: &[u32]) {
    let loaded = kernel(body);
    for &first in firsts {
        let mut input: Vec<u32> = (0..24).map(|k| (k * 7 + first % 5) % 5).collect();
        input[0] = first;
        let contents = [bytes(&[7; 40]), bytes(&input)];
        let (found, expected) = loaded.both([2, 1, 1], &contents);
        assert_eq!(
            words(&found[0]),
            words(&expected[0]),
            "{first}\n{body}\n{}",
            loaded.ptx.text
        );
    }
}

const FEW: [u32; 7] = [0, 1, 2, 3, 5, 8, 40];

#[test]
fn turns_end_early_and_loops_are_left_from_within() {
    for body in [
        "var s = 0u; for (var k = 0u; k < input[0]; k++) { if k % 3u == i % 3u { continue; } s += k; } out[i] = s;",
        "var s = 0u; var last = 9u;
        for (var k = 0u; k < input[0]; k++) { last = k; if k == i { break; } if k == 2u { continue; } s = s * 3u + k; }
        out[i] = s + last;",
        "var s = 0u;
        for (var k = 0u; k < input[0]; k++) {
            for (var j = k; j < 6u; j++) { if j == i { break; } if (j & 1u) == 1u { continue; } s += j * k; }
            if s > 50u { break; }
        } out[i] = s;",
        "var s = 0u; for (var k = 0u; k < input[0]; k++) { switch input[k] { case 0u: { continue; } case 1u, 3u: { s += 5u; }
            default: { if k > i { return; } s ^= k; } } s += 1u; } out[i] = s;",
        "var k = 0u; loop { if k >= input[0] { break; } if k == i { k += 3u; continue; } out[i] += k;
            continuing { k += 2u; break if k > 20u; } } out[i] += k;",
        "var k = 0u; loop { out[i] += k; if input[k % 24u] == 4u { continue; } out[i] *= 3u;
            continuing { k++; break if k > input[0]; } }",
    ] {
        check(body, &FEW);
    }
}

#[test]
fn what_a_header_computes_is_used_by_the_turn() {
    for body in [
        "var k = 0u; loop { let t = k * 3u; let u = input[k % 24u]; if t >= input[0] { break; } out[i] += t + u; k++; }",
        "var k = 0u; var x = i; loop { x += input[0] + 1u; let t = x; if t > 60u { break; } out[i] = out[i] * 5u + t; k++; }
        out[i] += x + k;",
        "var k = 0u; while input[k % 24u] != 3u { out[i] += k; k += i + 1u; if k > 90u { break; } } out[i] += k;",
        "var n = input[0]; for (var k = 0u; k < n; k++) { if k == 3u { n = 7u; } out[i] += k; }",
        "var n = input[0]; var m = n + i; for (var k = 0u; k < m; k++) { out[i] += k * m; n = k; } out[i] ^= n;",
        "for (var k = 0u; k < input[0]; k++) { if k == 4u { k += 2u; } out[i] += k; }",
        "for (var k = input[0]; k > 0u; k--) { out[i] = out[i] * 3u + k; }",
        "var k = 0u; loop { let more = k < input[0]; if !more { break; } if more { out[i] += k; } k += 1u; }",
        "for (var k = 0u; k < input[0]; k += 1u) { let c = k < 3u; out[i] += select(1u, k, c); }",
        "for (var k = 0u; !(k >= input[0]); k += 2u) { out[i] += k; }",
        "for (var k = 0u; input[0] > k; k = 2u + k) { out[i] += k; }",
        "for (var k = 0u; k < 9u && k < input[0] && k != i + 3u; k++) { out[i] += k; }",
        "for (var k = 0u; k < 20u && (input[k] != 4u || k == i); k++) { out[i] += k; }",
    ] {
        check(body, &FEW);
    }
}

#[test]
fn counters_come_to_their_bounds_over_many_strips_and_at_the_ends_of_their_types() {
    check(
        "var s = 0u; for (var k = 0u; k < input[0]; k++) { s = s * 3u + k; } out[i] = s;",
        &[0, 1, 4095, 4096, 4097, 9000],
    );
    check(
        "var s = 0u; for (var k = 0u; k <= input[0]; k += 3u) { s = s * 3u + k; } out[i] = s;",
        &[0, 1, 12287, 12288, 12289, 30000],
    );
    let by_much =
        "var s = 0u; var c = 0u; for (var k = i; k < input[0]; k += (i + 1u) * 0x1000001u) {
        s = s * 3u + k; c++; if c > 40u { break; } } out[i] = s + c;";
    check(by_much, &[0, 5, 0x0700_0000, 0xf000_0000, 0xffff_ffff]);
    for op in ["<", "<="] {
        for step in [1, 2, 3, 0x1000_0000] {
            // Past the end and on from zero, until the turns are counted out.
            let body = format!(
                "var s = 0u; var c = 0u; for (var k = 0xfffffff0u + i; k {op} input[0]; k += {step}u) {{
                    s = s * 3u + k; c++; if c > 60u {{ break; }} }} out[i] = s + c;"
            );
            check(&body, &[0, 30, 0xffff_fff0, 0xffff_fffe, 0xffff_ffff]);
            let body = format!(
                "var s = 0; var c = 0; for (var k = 0x7ffffff0 + i32(i); k {op} i32(input[0]); k += {step}) {{
                    s = s * 3 + k; c++; if c > 60 {{ break; }} }} out[i] = u32(s + c);"
            );
            check(
                &body,
                &[0, 0x7fff_fff0, 0x7fff_fffe, 0x7fff_ffff, 0xffff_fff0],
            );
            let body = format!(
                "var s = 0; for (var k = -9000 + i32(i); k {op} i32(input[0]); k += {step}) {{ s = s * 3 + k; }}
                out[i] = u32(s);"
            );
            check(&body, &[0, 100, 0xffff_fff0]);
        }
    }
    for ty in ["u32", "i32", "u64", "i64"] {
        let down = format!(
            "var s = {ty}(0); var c = 0u; let n = {ty}(input[0]);
            for (var k = {ty}(5000 + i); k > n; k -= {ty}(1)) {{ s = s * {ty}(3) + k; }}
            for (var k = {ty}(i); n <= k; k -= {ty}(1 + (i & 1u))) {{ s += k; c++; if c > 60u {{ break; }} }}
            for (var k = {ty}(i); k <= {ty}(9000); k += {ty}(2)) {{ s = s * {ty}(3) + k; }}
            out[i] = u32(s) + c;"
        );
        check(&down, &[0, 1, 904, 4000, 6000]);
    }
    // Strips within strips, and what never advances but is left.
    check(
        "var s = 0u; for (var k = 0u; k < input[0]; k++) { for (var j = 0u; j < k + input[1]; j++) { s += j ^ k; } } out[i] = s;",
        &[0, 1, 70],
    );
    check(
        "var c = 0u; for (var k = 0u; k < 10u; k += input[0]) { c++; if c > 6000u { break; } } out[i] = c;",
        &[0, 1, 3],
    );
}

#[test]
fn turns_that_are_written_out_do_what_they_did() {
    for body in [
        "for (var half = 32u; half > 0u; half /= 2u) { if half == input[0] { continue; } out[i] = out[i] * 3u + half; }",
        "var half = 64u; for (; half >= 2u; half >>= 1u) { if half == input[0] { break; } out[i] += half; } out[i] += half * 5u;",
        "var k = 1; loop { if k >= 100 { break; } out[i] += u32(k); if k == i32(input[0]) { return; }
            continuing { k *= 3; } } out[i] += u32(k);",
        "for (var k = 7; k >= -7; k -= 3) { out[i] = out[i] * 3u + u32(k); }",
        "for (var k = 0u; k < 6u; k++) { if k == input[0] { for (var j = 0u; j < 3u; j++) { out[i] += j; } } out[i] *= 2u; }",
        "for (var k = 5u; k < 5u; k++) { out[i] = 1u; }",
        "var k = 3u; loop { let t = k * 2u; if t == 12u { break; } out[i] = out[i] * 7u + t; k++; } out[i] ^= k;",
        "for (var k = 0u; k < 4u; k++) { for (var j = 0u; j < 3u; j++) { if j > k { break; } out[i] = out[i] * 3u + j; } }",
    ] {
        check(body, &FEW);
    }
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        var<workgroup> shares: array<u32, 32>;
        @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
            shares[i] = input[i]; workgroupBarrier();
            for (var half = 16u; half > 0u; half /= 2u) {
                if i < half { shares[i] += shares[i + half]; } workgroupBarrier();
            }
            out[i] = shares[0];
            for (var reach = 1u; reach < 32u; reach *= 2u) {
                var before = 0u; if i >= reach { before = shares[i - reach]; }
                workgroupBarrier(); shares[i] += before; workgroupBarrier();
            }
            out[i] += shares[i];
        }";
    let input: Vec<u32> = (0..32).map(|k| k * k + 1).collect();
    let (found, expected) = super::load(source).both([1, 1, 1], &[bytes(&[0; 32]), bytes(&input)]);
    assert_eq!(words(&found[0]), words(&expected[0]));
}

#[test]
fn loops_that_never_end_are_ended() {
    for body in [
        "for (var k = 0u; k < 5u; k += input[0]) { }",
        "for (var k = 0u; k <= 0xffffffffu; k++) { }",
        "for (var k = 0xffffff00u; k <= input[1]; k++) { }",
        "for (var k = 0xfffffff0u; k < input[1]; k += 2u) { }",
        "for (var k = 0xf0000000u; k < input[1]; k += 0x30000000u) { }",
        "for (var k = 1u; k < input[1]; k += input[2]) { }",
        "for (var k = 10u; k > input[0]; k -= input[0]) { }",
        "for (var k = 10u; k >= input[0]; k--) { }",
        "for (var k = -5; k < 10; k += -3) { if k > 90 { return; } }",
        "for (var k = 0x7fffff00; k <= 0x7fffffff - i32(input[0]); k++) { }",
        "for (var k = input[0]; k < 256u; k *= 2u) { }",
        "for (var k = i32(input[1]); k < 0; k /= 2) { k -= 1; }",
        "for (var j = 0u; j < 20000u; j++) { for (var k = input[0]; k < 20000u; k++) { } j = 0u; }",
        "var k = 0u; loop { continuing { k++; break if k == 0u; } }",
        "var k = 0u; loop { let t = sin(f32(k)); if k >= 5u { break; } out[2] = u32(t); continuing { k += input[0]; } }",
        "while input[0] == 0u { }",
    ] {
        let body = format!("{body} out[1] = 1u;");
        let loaded = kernel(&body);
        let contents = [bytes(&[0; 40]), bytes(&[0, 0xffff_ffff, 0x8000_0000, 0])];
        let outcome = loaded.launch([1, 1, 1], &mut contents.clone(), 100_000, 0);
        let limit = abi::abort::TIME_LIMIT;
        assert_eq!((outcome.abort, outcome.aborted), (limit, limit), "{body}");
        let cancelled = abi::abort::CANCELLED;
        let mut contents = contents.to_vec();
        loaded.launch([1, 1, 1], &mut contents, u64::MAX, cancelled);
        assert_eq!(words(&contents[0])[1], 0, "{body}");
    }
}
