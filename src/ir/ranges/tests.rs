//! What is proven and, above all, what is not.

use super::{Ranges, analyse};
use crate::front::{Options, wgsl};
use crate::ir::{BinaryOp, Expr, Node, NodeKind, Program, Region};

const HEAD: &str = "
    struct P { n: u32, m: u32, a: i32, b: i32 }
    var<immediate> p: P;
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @group(0) @binding(1) var<storage, read> input: array<u32>;
    var<workgroup> w: array<u32, 256>;
    @compute @workgroup_size(64, 4) fn main(@builtin(local_invocation_index) lid: u32,
        @builtin(local_invocation_id) id: vec3u, @builtin(global_invocation_id) gid: vec3u,
        @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {";

fn compile(body: &str) -> Program {
    let options = Options {
        label: Some("test.wgsl"),
        subgroup_size: 32,
        ..Options::default()
    };
    let source = format!("{HEAD}\n{body}\n}}");
    let program = wgsl::compile(&source, &options).unwrap_or_else(|e| panic!("{e}\n{source}"));
    crate::ir::validate(&program).unwrap_or_else(|e| panic!("{e}\n{source}"));
    program
}

fn each<'p>(nodes: &'p [Node], f: &mut dyn FnMut(&'p Node)) {
    for node in nodes {
        f(node);
        match &node.kind {
            NodeKind::If { accept, reject, .. } => {
                each(&accept.0, f);
                each(&reject.0, f);
            }
            NodeKind::Block { body, .. } => each(&body.0, f),
            NodeKind::Loop {
                body, continuing, ..
            } => {
                each(&body.0, f);
                each(&continuing.0, f);
            }
            NodeKind::Switch { cases, default, .. } => {
                cases.iter().for_each(|case| each(&case.body.0, f));
                each(&default.0, f);
            }
            _ => {}
        }
    }
}

/// How many guards a body has, of accesses that are `wanted`, and how many are left.
fn guards(body: &str, wanted: fn(Region) -> bool) -> (usize, usize) {
    let program = compile(body);
    let ranges = analyse(&program, 32);
    let (mut all, mut left) = (0, 0);
    each(&program.body.0, &mut |node| {
        let access = match &node.kind {
            NodeKind::Load { access, .. }
            | NodeKind::Store { access, .. }
            | NodeKind::Atomic { access, .. } => access,
            _ => return,
        };
        if wanted(access.region) && access.guard.is_some() {
            all += 1;
            left += usize::from(ranges.guard(access).is_some());
        }
    });
    (all, left)
}

/// Every guard of workgroup memory is proven, and there is one.
fn proven(body: &str) {
    let (all, left) = guards(body, |region| matches!(region, Region::Workgroup(_)));
    assert!(all > 0, "no guard in {body}");
    assert_eq!(left, 0, "of {all} in {body}");
}

/// No guard of workgroup memory is proven, and there is one.
fn unproven(body: &str) {
    let (all, left) = guards(body, |region| matches!(region, Region::Workgroup(_)));
    assert!(all > 0, "no guard in {body}");
    assert_eq!(left, all, "{body}");
}

#[test]
fn counters_stay_below_their_ends() {
    proven("for (var i = 0u; i < 256u; i++) { w[i] = 1u; }");
    proven("for (var i = 0; i < 256; i++) { w[i] = 1u; }");
    proven("for (var i = 255; i >= 0; i--) { w[i] = 1u; }");
    proven("for (var i = 0u; i <= 255u; i += 3u) { w[i] = 1u; }");
    proven("for (var i = lid; i < 256u; i += 32u) { w[i] = 1u; }");
    proven("for (var d = 0u; d < 4u; d++) { w[d * 64u + id.x] = 1u; }");
    proven("for (var i = p.n; i < 256u; i += p.m) { w[i] = 1u; }");
    proven("var i = 0u; while i < 256u { w[i] = 1u; i += 1u; }");
    proven("var i = 0u; loop { if i > 200u { break; } w[i + 55u] = 1u; continuing { i++; } }");
    proven(
        "for (var i = 0u; i < 16u; i++) { for (var j = 0u; j < 16u; j++) { w[i * 16u + j] = 1u; } }",
    );
    proven("for (var i = 0u; i < 16u; i++) { if p.n == i { continue; } w[i * 16u + 15u] = 1u; }");
    unproven("for (var i = 0u; i < 257u; i++) { w[i] = 1u; }");
    unproven("for (var i = 0u; i <= 256u; i++) { w[i] = 1u; }");
    unproven("for (var i = 0; i < 256; i++) { w[i - 1] = 1u; }");
    unproven("for (var i = -1; i < 256; i++) { w[i] = 1u; }");
    unproven("for (var i = p.a; i < 256; i++) { w[i] = 1u; }");
    unproven("for (var i = 255; i >= -1; i--) { w[i] = 1u; }");
    // An i32 counter that goes down leaves its type at the bottom, a u32 one at 0.
    unproven("for (var i = 255u; i >= 0u; i--) { w[i] = 1u; }");
    unproven("for (var i = 0; i < 256; i += p.a) { w[i] = 1u; }");
}

#[test]
fn counters_that_something_else_assigns_are_not_trusted() {
    unproven("for (var i = 0u; i < 256u; i++) { i = p.n; w[i] = 1u; }");
    unproven("for (var i = 0u; i < 256u; i++) { if p.n == 3u { i += 9u; } w[i] = 1u; }");
    unproven("for (var i = 0u; i < 256u; i++) { let c = i < 255u; i *= 2u; if c { w[i] = 1u; } }");
    proven("for (var i = 0u; i < 256u; i++) { if p.n == 3u { i = 9u; } w[i] = 1u; }");
    // A turn that continues early knows less.
    unproven(
        "var i = 0u; loop { i += 1u; if i > 9u { break; } if p.n >= 256u { continue; } continuing { w[p.n] = 1u; } }",
    );
    proven(
        "var i = 0u; loop { i += 1u; if i > 9u { break; } if p.n >= 256u { return; } continuing { w[p.n] = 1u; } }",
    );
    // The step is passed by, or made twice.
    unproven(
        "var i = 0u; loop { if i == 255u { break; } if p.n == 1u { i += 1u; continue; } w[i + 1u] = 1u; i += 1u; }",
    );
    unproven(
        "var i = 0u; loop { if i >= 256u { break; } if p.n == 1u { i += 700u; continue; } out[i] = 1u; continuing { w[i] = 2u; i++; } }",
    );
    unproven(
        "for (var i = 0u; i < 256u; i++) { for (var j = 0u; j < p.n; j++) { i++; } w[i] = 1u; }",
    );
    unproven("var k = 0u; for (var i = 0u; i < 256u; i++) { k += 1u; w[k] = 1u; }");
    unproven("var k = 0u; for (var i = 0u; i < p.n; i++) { w[k] = 1u; k = i; }");
    proven("var k = 0u; for (var i = 0u; i < 256u; i++) { w[k] = 1u; k = i; }");
}

#[test]
fn what_loops_leave_is_known_behind_them() {
    proven("var i = 0u; for (; i < 255u; i++) { if p.n == i { break; } } w[i] = 1u;");
    unproven("var i = 0u; for (; i < 256u; i++) { if p.n == i { break; } } w[i] = 1u;");
    unproven("var i = 0u; for (; i < 200u; i += 57u) { } w[i] = 1u;");
    proven("var i = 0u; for (; i < 200u; i += 56u) { } w[i] = 1u;");
    unproven("var i = 0u; loop { i = input[i]; if i < 256u { continue; } break; } w[i] = 1u;");
    proven("var i = 0u; loop { i = input[i]; if i < 256u { break; } } w[i] = 1u;");
    // Left on two ways.
    unproven(
        "var i = p.n; loop { if i < 256u { break; } if p.m == 2u { break; } i /= 2u; } w[i] = 1u;",
    );
    proven(
        "var i = p.n; loop { if i < 256u { break; } if p.m == 2u { i = 4u; break; } i /= 2u; } w[i] = 1u;",
    );
    // A turn that a test within ended leaves by the continuing block.
    unproven(
        "var i = 0u; loop { i += 1u; if i < 256u { if p.n == i { continue; } } continuing { break if i > 300u; } } w[i] = 1u;",
    );
    proven("var i = 0u; loop { i += 1u; continuing { break if i > 200u; } } w[i] = 1u;");
}

#[test]
fn halves_and_doubles_stay_in_their_arrays() {
    proven(
        "for (var half = 128u; half > 0u; half /= 2u) { if lid < half { w[lid] += w[lid + half]; } workgroupBarrier(); }",
    );
    proven(
        "for (var half = 128u; half > 0u; half >>= 1u) { if lid < half { w[lid] += w[lid + half]; } workgroupBarrier(); }",
    );
    unproven(
        "for (var half = 129u; half > 0u; half /= 2u) { if lid < half { w[lid + half] = 1u; } workgroupBarrier(); }",
    );
    unproven(
        "for (var half = 128u; half > 0u; half /= 2u) { if lid <= half { w[lid + half] = 1u; } workgroupBarrier(); }",
    );
    unproven(
        "for (var half = 128u; half > 0u; half /= 2u) { w[lid + half] = 1u; workgroupBarrier(); }",
    );
    proven(
        "for (var reach = 1u; reach < 256u; reach *= 2u) { if lid >= reach { w[lid] = w[lid - reach]; } workgroupBarrier(); }",
    );
    unproven(
        "for (var reach = 1u; reach < 256u; reach *= 2u) { w[lid - reach] = 1u; workgroupBarrier(); }",
    );
    unproven(
        "for (var reach = 1u; reach < 256u; reach *= 2u) { if lid >= reach { w[reach - lid] = 1u; } workgroupBarrier(); }",
    );
    proven(
        "var side = 0u; for (var reach = 1u; reach < 64u; reach *= 2u) {
            if id.x >= reach { w[side + id.x] = w[side + id.x - reach]; } side = 192u - side; w[side + id.x] = 2u; workgroupBarrier(); }",
    );
    unproven(
        "var side = 0u; for (var k = 0u; k < 9u; k++) { side = 192u - side + k; w[side] = 2u; }",
    );
}

#[test]
fn sums_that_may_wrap_prove_nothing() {
    unproven("if p.n < 256u { w[p.n - 1u] = 1u; }");
    proven("if p.n < 256u && p.n > 0u { w[p.n - 1u] = 1u; }");
    unproven("if p.n + 1u < 256u { w[p.n] = 1u; }");
    unproven("let i = p.n + lid; if p.n < 256u { w[i] = 1u; }");
    unproven("if p.a < 256 { w[p.a] = 1u; }");
    unproven("if p.a >= 0 { w[p.a] = 1u; }");
    proven("if p.a >= 0 && p.a < 256 { w[p.a] = 1u; }");
    unproven("if p.a > -2 && p.a < 256 { w[p.a + 1] = 1u; }");
    unproven("if abs(p.a) < 256 { w[p.a] = 1u; }");
    unproven("if p.n * 2u < 256u { w[p.n] = 1u; }");
    unproven("if p.n << 1u < 256u { w[p.n] = 1u; }");
    unproven("w[p.n % p.m] = 1u;");
    unproven("if p.m <= 256u { w[p.n / p.m] = 1u; }");
    proven("if p.m <= 256u { w[p.n % p.m] = 1u; }");
    proven("if p.m <= 256u { if p.m > 0u { w[p.n % p.m] = 1u; } }");
    unproven("if p.b < 256 && p.b > 0 { w[p.a % p.b] = 1u; }");
    unproven("w[lid - 1u] = 1u;");
    unproven("w[lid + 1u] = 1u;");
    proven("if lid < 255u { w[lid + 1u] = 1u; }");
    proven("if lid != 0u { w[lid - 1u] = 1u; }");
    unproven("if p.n != 5u { w[p.n] = 1u; }");
    proven("if p.n == lid { w[p.n] = 1u; }");
    unproven("w[max(p.n, 255u)] = 1u;");
    proven("if p.n < 200u { w[select(p.n, 255u, p.m == 3u)] = 1u; }");
    unproven("w[select(p.n, 3u, p.n >= 256u)] = 1u;");
}

#[test]
fn conditions_hold_where_they_lead() {
    proven("if p.n >= 256u { return; } w[p.n] = 1u;");
    unproven("if p.n >= 256u { out[0] = 1u; } w[p.n] = 1u;");
    unproven("if p.n >= 256u { if p.m == 1u { return; } } w[p.n] = 1u;");
    unproven("if p.n < 256u { out[0] = 1u; } w[p.n] = 1u;");
    unproven("if p.n < 256u { out[0] = 1u; } else { w[p.n] = 1u; }");
    proven("if p.n >= 256u { out[0] = 1u; } else { w[p.n] = 1u; }");
    proven("if !(p.n >= 256u) { w[p.n] = 1u; }");
    proven("if p.m == 3u && p.n < 256u && p.a == 4 { w[p.n] = 1u; }");
    unproven("if p.n < 256u || p.m < 256u { w[p.n] = 1u; }");
    unproven("if p.m == 3u || p.n < 256u { w[p.n] = 1u; }");
    proven("if p.m == 3u || p.n >= 256u { return; } w[p.n] = 1u;");
    unproven("if p.m == 3u && p.n >= 256u { return; } w[p.n] = 1u;");
    unproven("if !(p.m == 3u && p.n < 256u) { w[p.n] = 1u; }");
    proven("if (p.n < 256u) & (p.m == 3u) { w[p.n] = 1u; }");
    unproven("if (p.n < 256u) | (p.m == 3u) { w[p.n] = 1u; }");
    unproven("if (p.n < 256u) != (p.m == 3u) { w[p.n] = 1u; }");
    proven("let ok = p.n < 256u && p.m == 1u; if ok { w[p.n] = 1u; }");
    proven("var ok = false; if p.m == 1u { ok = p.n < 256u; } if ok { w[p.n] = 1u; }");
    unproven("var ok = true; if p.m == 1u { ok = p.n < 256u; } if ok { w[p.n] = 1u; }");
    unproven(
        "var ok = false; if p.m == 1u { ok = p.n < 256u; } else { ok = p.a == 3; } if ok { w[p.n] = 1u; }",
    );
    unproven(
        "var ok = p.n < 256u; for (var k = 0u; k < p.m; k++) { if ok { w[p.n] = 1u; } ok = p.a == 2; }",
    );
    proven("switch p.n { case 3u, 200u: { w[p.n] = 1u; } default: { out[0] = 1u; } }");
    unproven("switch p.n { case 3u, 200u: { out[0] = 1u; } default: { w[p.n] = 1u; } }");
    unproven("switch p.n { case 3u, 256u: { w[p.n] = 1u; } default: { } }");
    unproven(
        "var i = 0u; switch p.n { case 1u: { i = 3u; } case 2u: { i = 300u; } default: { } } w[i] = 1u;",
    );
    proven(
        "var i = 0u; switch p.n { case 1u: { i = 3u; } case 2u: { i = 255u; } default: { } } w[i] = 1u;",
    );
}

#[test]
fn locals_are_known_until_they_are_assigned() {
    unproven("var i = p.n; if i < 256u { i += p.m; w[i] = 1u; }");
    unproven("var i = p.n; let ok = i < 256u; i = p.m; if ok { w[i] = 1u; }");
    unproven("var i = out[0]; if i < 256u { i = out[0]; w[i] = 1u; }");
    proven("var i = input[lid]; if i < 256u { w[i] = 1u; } else { i = 3u; } w[i] = 2u;");
    unproven("var i = input[lid]; if i < 256u { i = 3u; } w[i] = 2u;");
    unproven("var i = input[lid]; for (var k = 0u; k < p.n; k++) { if i < 256u { w[i] = 1u; } i += 1u; } ".replace("if i < 256u { w[i] = 1u; }", "let ok = i < 256u; i += 1u; if ok { w[i] = 1u; }").as_str());
    proven(
        "var i = input[lid]; for (var k = 0u; k < p.n; k++) { if i < 256u { w[i] = 1u; } i += 1u; }",
    );
    // What a loop has tested before holds in its next turn only if nothing was assigned.
    unproven("var i = 0u; loop { w[i] = 1u; i = input[i]; if i >= 257u { break; } }");
    proven("var i = 0u; loop { w[i] = 1u; i = input[i]; if i >= 256u { break; } }");
    unproven(
        "var i = 0u; var j = 0u; loop { w[j] = 1u; j = i; i = input[i]; if i >= 256u { break; } i += 1u; }",
    );
}

#[test]
fn memory_that_others_write_is_not_trusted_twice() {
    unproven("if out[0] < 256u { w[out[0]] = 1u; }");
    proven("if input[0] < 256u { w[input[0]] = 1u; }");
    unproven("if input[0] < 256u { w[input[1]] = 1u; }");
    proven("let i = out[0]; if i < 256u { out[0] = 9u; w[i] = 1u; }");
    // Out of bounds it is 0, in bounds it is not.
    unproven("if input[p.n] < 256u { w[input[p.m]] = 1u; }");
}

/// How many guards of the buffers there are and are left.
fn buffers(body: &str) -> (usize, usize) {
    guards(body, |region| matches!(region, Region::Buffer(_)))
}

#[test]
fn lengths_that_were_compared_with_are_known() {
    assert_eq!(
        buffers("if gid.x < arrayLength(&out) { out[gid.x] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("if gid.x < arrayLength(&input) { out[gid.x] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("if gid.x <= arrayLength(&out) { out[gid.x] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("if gid.x >= arrayLength(&out) { return; } out[gid.x] += 1u;"),
        (2, 0)
    );
    assert_eq!(
        buffers("for (var i = gid.x; i < arrayLength(&out); i += p.n) { out[i] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("for (var i = gid.x; i < arrayLength(&out); i += p.n) { out[i + 1u] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("for (var i = 1u; i < arrayLength(&out); i++) { out[i - 1u] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("for (var i = 0u; i < arrayLength(&out); i++) { out[i - 1u] = 1u; }"),
        (1, 1)
    );
    assert_eq!(buffers("out[gid.x % arrayLength(&out)] = 1u;"), (1, 0));
    assert_eq!(buffers("out[arrayLength(&out) - 1u] = 1u;"), (1, 0));
    assert_eq!(
        buffers("out[min(gid.x, arrayLength(&out) - 1u)] = 1u;"),
        (1, 0)
    );
    assert_eq!(buffers("out[arrayLength(&out)] = 1u;"), (1, 1));
    assert_eq!(
        buffers("let n = min(p.n, arrayLength(&out)); if gid.x < n { out[gid.x] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("let n = max(p.n, arrayLength(&out)); if gid.x < n { out[gid.x] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("if p.n < arrayLength(&out) && gid.x < p.n { out[gid.x] = 1u; out[p.n] = 1u; }"),
        (2, 0)
    );
    assert_eq!(
        buffers("let i = i32(gid.x); if i < i32(arrayLength(&out)) { out[i] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("let i = p.a; if i >= 0 && u32(i) < arrayLength(&out) { out[i] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("let i = p.a; if u32(i) < arrayLength(&out) { out[u32(i)] = 1u; }"),
        (1, 0)
    );
    assert_eq!(
        buffers("let i = p.a; if i < i32(arrayLength(&out)) { out[i] = 1u; }"),
        (1, 1)
    );
    assert_eq!(
        buffers("if groups.x <= arrayLength(&out) { out[group.x] = 1u; out[group.y] = 2u; }"),
        (2, 1)
    );
}

#[test]
fn of_a_guard_in_two_parts_the_proven_one_goes() {
    let program = compile(
        "var a = array<array<u32, 4>, 8>(); a[lid & 7u][p.n] = 3u; a[p.m][lid & 3u] = 4u; out[0] = a[p.n & 7u][1];",
    );
    let ranges = analyse(&program, 32);
    let mut seen = 0;
    each(&program.body.0, &mut |node| {
        if let NodeKind::Store { access, .. } = &node.kind
            && access.guard.is_some()
        {
            seen += 1;
            assert!(ranges.guard(access).is_some());
        }
    });
    assert_eq!(seen, 2);
}

/// Which of the quotients and remainders, and of the sums and differences, are found to be simple.
fn simple(body: &str) -> (Vec<bool>, Vec<bool>) {
    let program = compile(body);
    let ranges: Ranges<'_> = analyse(&program, 32);
    let (mut divisions, mut sums) = (Vec::new(), Vec::new());
    each(&program.body.0, &mut |node| {
        if let NodeKind::Let { value, expr } = &node.kind
            && let Expr::Binary(op, ..) = expr
        {
            match op {
                BinaryOp::Div | BinaryOp::Rem => divisions.push(ranges.is_plain(*value)),
                BinaryOp::Add | BinaryOp::Sub => sums.push(ranges.is_exact(*value)),
                _ => {}
            }
        }
    });
    (divisions, sums)
}

#[test]
fn divisors_that_are_never_zero_are_known() {
    let divisions = |body: &str| simple(body).0;
    assert_eq!(divisions("out[0] = p.n / p.m;"), [false]);
    assert_eq!(
        divisions("out[0] = p.n / groups.x; out[1] = p.n % arrayLength(&out);"),
        [true, true]
    );
    assert_eq!(divisions("if p.m > 0u { out[0] = p.n / p.m; }"), [true]);
    assert_eq!(divisions("if p.m != 0u { out[0] = p.n % p.m; }"), [true]);
    assert_eq!(
        divisions("out[0] = p.n / max(p.m, 1u); out[1] = p.n / (p.m | 1u);"),
        [true, true]
    );
    assert_eq!(divisions("out[0] = p.n / (p.m + 1u);"), [false]);
    assert_eq!(
        divisions("if p.b != 0 { out[0] = u32(p.a / p.b); }"),
        [false]
    );
    assert_eq!(divisions("if p.b > 0 { out[0] = u32(p.a / p.b); }"), [true]);
    assert_eq!(
        divisions("if p.b > 0 && p.a > 3 { out[0] = u32(p.a / p.b); }"),
        [true]
    );
    assert_eq!(
        divisions("for (var k = 1u; k < p.n; k++) { out[k] = p.m / k; }"),
        [true]
    );
    // It wraps to 0 if n is the largest number.
    assert_eq!(
        divisions("for (var k = 1u; k <= p.n; k++) { out[k] = p.m / k; }"),
        [false]
    );
    assert_eq!(
        divisions("for (var k = 1u; k < 9u; k++) { out[k] = p.m / k; }"),
        [true]
    );
}

#[test]
fn sums_that_do_not_wrap_are_known() {
    let sums = |body: &str| simple(body).1;
    assert_eq!(
        sums("out[lid + 1u] = 1u; out[p.n + 1u] = 2u;"),
        [true, false]
    );
    assert_eq!(sums("if p.n > 0u { out[p.n - 1u] = 1u; }"), [true]);
    assert_eq!(
        sums("if p.n < p.m { out[p.n + 1u] = p.m - p.n; }"),
        [true, true]
    );
    assert_eq!(sums("if p.a < p.b { out[0] = u32(p.b - p.a); }"), [false]);
}

#[test]
fn a_program_too_large_to_look_through_gets_nothing_proven() {
    let program = compile("for (var i = 0u; i < 256u; i++) { w[i] = 1u; }");
    let ranges = super::walk::Walk::of(&program, 32, 3);
    each(&program.body.0, &mut |node| {
        if let NodeKind::Store { access, .. } = &node.kind {
            assert!(access.guard.is_some());
            assert_eq!(ranges.guard(access), access.guard);
        }
    });
}

#[test]
fn deep_loops_are_looked_through_in_bounded_time() {
    let mut body = String::from("w[i0 & 255u] = 1u;");
    for k in 0..60 {
        body = format!("for (var i{k} = 0u; i{k} < 9u; i{k}++) {{ out[i{k}] = 1u; {body} }}");
    }
    let begun = std::time::Instant::now();
    let (all, _) = guards(&body, |region| matches!(region, Region::Buffer(_)));
    assert_eq!(all, 60);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
