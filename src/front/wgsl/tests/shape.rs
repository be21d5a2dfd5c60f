use super::{compile, count, nodes, options, program};
use crate::front::Options;
use crate::ir::{
    AtomicOp, BufferAccess, BufferSpace, Expr, NodeKind, Operand, Region, RuntimeArray, Scope,
};

fn barriers(text: &str) -> Vec<(Scope, String)> {
    let program = program(text);
    program
        .barriers
        .iter()
        .map(|b| (b.scope, program.source.excerpt(b.span)))
        .collect()
}

#[test]
fn used_globals_become_buffers_in_order_of_binding() {
    let p = program(
        "struct Tail { n: u32, rest: array<vec3<f32>> }
        struct Fixed { a: vec2<u32>, b: f32 }
        @group(1) @binding(0) var<uniform> fixed: Fixed;
        @group(0) @binding(7) var<storage, read_write> tail: Tail;
        @group(0) @binding(2) var<storage> list: array<u32>;
        @group(0) @binding(1) var<storage> unused: array<u32>;
        fn dead() -> u32 { return unused[0]; }
        @compute @workgroup_size(1) fn main() {
            tail.rest[list[0]] = vec3(fixed.b);
            tail.n = arrayLength(&tail.rest);
        }",
    );
    let list = &p.buffers[0];
    assert_eq!(
        (list.group, list.binding, list.name.as_str()),
        (0, 2, "list")
    );
    assert_eq!((list.min_size, list.element_size), (4, 4));
    assert_eq!(
        list.runtime,
        Some(RuntimeArray {
            offset: 0,
            stride: 4
        })
    );
    assert_eq!(
        (list.space, list.access),
        (BufferSpace::Storage, BufferAccess::Read)
    );
    let tail = &p.buffers[1];
    assert_eq!((tail.min_size, tail.element_size), (32, 16));
    assert_eq!(
        tail.runtime,
        Some(RuntimeArray {
            offset: 16,
            stride: 16
        })
    );
    assert_eq!(tail.access, BufferAccess::ReadWrite);
    assert_eq!(
        p.source.excerpt(tail.span),
        "var<storage, read_write> tail: Tail;"
    );
    let fixed = &p.buffers[2];
    assert_eq!(
        (fixed.group, fixed.min_size, fixed.element_size),
        (1, 16, 16)
    );
    assert_eq!((fixed.space, fixed.runtime), (BufferSpace::Uniform, None));
    assert_eq!(p.buffers.len(), 3);
}

#[test]
fn a_variable_that_is_only_named_is_bound() {
    let p = program(
        "@group(0) @binding(0) var<storage> a: array<u32>;
        @group(0) @binding(1) var<storage> b: array<u32>;
        @group(0) @binding(2) var<uniform> c: u32;
        fn f(i: u32) { let p = &b[i]; }
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) { _ = &a; f(id.x); _ = c; }",
    );
    let names: Vec<&str> = p.buffers.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn vectors_move_as_one() {
    let p = program(
        "struct S { a: vec4<f32>, b: vec3<f32>, c: f32, d: vec2<u32> }
        @group(0) @binding(0) var<storage, read_write> s: array<S, 2>;
        @compute @workgroup_size(1) fn main() { s[0] = s[1]; }",
    );
    let loads: Vec<usize> = nodes(&p)
        .iter()
        .filter_map(|n| match &n.kind {
            NodeKind::Load { values, access } => {
                assert_eq!(access.guard, None);
                Some(values.len())
            }
            _ => None,
        })
        .collect();
    assert_eq!(loads, [4, 4, 2]);
    let vec3 = program(
        "@group(0) @binding(0) var<storage, read_write> s: array<vec3<f32>, 2>;
        @compute @workgroup_size(1) fn main() { s[0] = s[1]; }",
    );
    let widths: Vec<usize> = nodes(&vec3)
        .iter()
        .filter_map(|n| match &n.kind {
            NodeKind::Store { values, .. } => Some(values.len()),
            _ => None,
        })
        .collect();
    assert_eq!(widths, [2, 1]);
}

/// How many accesses are guarded, and how many are not.
fn guards(text: &str, unchecked: bool) -> (usize, usize) {
    let options = Options {
        unchecked,
        ..options()
    };
    let p = compile(text, &options).unwrap();
    let mut counts = (0, 0);
    for node in nodes(&p) {
        if let NodeKind::Load { access, .. }
        | NodeKind::Store { access, .. }
        | NodeKind::Atomic { access, .. } = &node.kind
        {
            match access.guard {
                Some(_) => counts.0 += 1,
                None => counts.1 += 1,
            }
        }
    }
    counts
}

#[test]
fn indices_that_may_leave_are_guarded() {
    let text = "@group(0) @binding(0) var<storage, read_write> list: array<u32>;
        var<workgroup> tile: array<u32, 64>;
        @compute @workgroup_size(8, 8) fn main(
            @builtin(global_invocation_id) id: vec3<u32>,
            @builtin(local_invocation_id) local: vec3<u32>,
            @builtin(local_invocation_index) flat: u32,
        ) { BODY }";
    let with = |body| guards(&text.replace("BODY", body), false);
    assert_eq!(with("list[id.x] = 1u;"), (1, 0));
    assert_eq!(with("list[0] = 1u;"), (0, 1));
    assert_eq!(with("list[1] = 1u;"), (1, 0));
    assert_eq!(with("tile[63] = 1u;"), (0, 1));
    assert_eq!(with("tile[id.x] = 1u;"), (1, 0));
    assert_eq!(with("tile[flat] = 1u;"), (0, 1));
    assert_eq!(with("tile[local.y * 8u + local.x] = 1u;"), (0, 1));
    assert_eq!(with("tile[local.y * 9u + local.x] = 1u;"), (1, 0));
    assert_eq!(with("tile[id.x & 63u] = 1u;"), (0, 1));
    assert_eq!(with("tile[id.x % 65u] = 1u;"), (1, 0));
    assert_eq!(with("tile[i32(id.x) % 64] = 1u;"), (1, 0));
    assert_eq!(
        guards(&text.replace("BODY", "list[id.x] = tile[id.y];"), true),
        (0, 2)
    );
}

#[test]
fn an_index_out_of_constant_bounds_reaches_no_memory() {
    let p = program(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> w: array<u32, 4>;
        fn at(i: i32) { w[i] = 1u; out[0] = w[i]; out[i] = 2u; }
        @compute @workgroup_size(1) fn main() { at(-1); at(2147483647); }",
    );
    let stores: Vec<_> = nodes(&p)
        .iter()
        .filter_map(|n| match &n.kind {
            NodeKind::Store { access, values } => Some((access.region, values[0])),
            _ => None,
        })
        .collect();
    // Only `out[2147483647]` may be within its bounds.
    assert_eq!(stores.len(), 3);
    assert!(
        stores[..2]
            .iter()
            .all(|s| matches!(s.1, Operand::Const(c) if c.bits == 0))
    );
}

#[test]
fn small_variables_live_in_locals_and_indexed_arrays_in_memory() {
    let head = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        fn fetch(p: ptr<function, array<u32, 4>>, i: u32) -> u32 { return (*p)[i]; }
        fn first(p: ptr<function, array<u32, 4>>) -> u32 { return (*p)[0]; }
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) { BODY }";
    let private = |body| program(&head.replace("BODY", body)).private.len();
    assert_eq!(
        private("var a: array<u32, 4>; a[1] = id.x; out[0] = a[1] + a[2];"),
        0
    );
    assert_eq!(
        private("var a: array<u32, 4>; a[id.x] = 1u; out[0] = a[1];"),
        1
    );
    assert_eq!(
        private("var a: array<u32, 4>; a[2] = id.x; out[0] = fetch(&a, id.y);"),
        1
    );
    assert_eq!(
        private("var a: array<u32, 4>; a[2] = id.x; out[0] = first(&a);"),
        0
    );
    assert_eq!(
        private("var a: mat4x4<f32>; a[id.x][id.y] = 1.0; out[0] = u32(a[1][id.z]);"),
        0
    );
    assert_eq!(
        private("var a: array<u32, 40>; a[2] = id.x; out[0] = a[2];"),
        1
    );
}

#[test]
fn constant_arrays_become_shared_tables() {
    let p = program(
        "const primes = array(2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u, 23u);
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {
            out[0] = primes[id.x] + primes[id.y];
        }",
    );
    assert_eq!(p.constants.len(), 1);
    assert_eq!(p.constants[0].len(), 36);
    assert_eq!(&p.constants[0][32..], 23u32.to_le_bytes());
    let guarded = count(&p, |n| {
        matches!(n, NodeKind::Load { access, .. }
            if access.region == Region::Constant(crate::ir::MemoryId(0)) && access.guard.is_some())
    });
    assert_eq!(guarded, 2);
}

#[test]
fn big_arrays_are_copied_in_loops() {
    let p = program(
        "@group(0) @binding(0) var<storage, read_write> a: array<array<u32, 1000>, 2>;
        @compute @workgroup_size(1) fn main() { a[0] = a[1]; }",
    );
    assert_eq!(count(&p, |n| matches!(n, NodeKind::Loop { .. })), 2);
    assert_eq!(p.private.len(), 1);
    assert_eq!(p.private[0].size, 4000);
    assert!(nodes(&p).len() < 40);
}

#[test]
fn barriers_have_scopes_and_places() {
    let text = "var<workgroup> w: u32;
        fn meet() { gridBarrier(); }
        @compute @workgroup_size(64) fn main() {
            workgroupBarrier();
            storageBarrier();
            meet();
            meet();
            let x = workgroupUniformLoad(&w);
        }";
    let seen = barriers(text);
    let scopes: Vec<Scope> = seen.iter().map(|b| b.0).collect();
    use Scope::{Grid, Workgroup};
    assert_eq!(
        scopes,
        [Workgroup, Workgroup, Grid, Grid, Workgroup, Workgroup]
    );
    assert!(seen[0].1.starts_with("workgroupBarrier"), "{}", seen[0].1);
    assert!(seen[2].1.starts_with("gridBarrier"), "{}", seen[2].1);
    assert!(seen[4].1.contains("workgroupUniformLoad"), "{}", seen[4].1);
    let declared = format!("fn gridBarrier() {{}}\n{text}");
    assert_eq!(barriers(&declared), seen);
}

#[test]
fn a_barrier_in_a_branch_never_taken_is_none() {
    let text = "override on: bool = false;
        @compute @workgroup_size(1) fn main() { if on { gridBarrier(); } }";
    assert_eq!(barriers(text), []);
    let options = Options {
        overrides: &[("on", 1.0)],
        ..options()
    };
    assert!(compile(text, &options).unwrap().has_grid_barrier());
}

#[test]
fn values_stand_for_their_expressions() {
    let p = program(
        "@group(0) @binding(0) var<storage, read_write> b: array<u32>;
        @compute @workgroup_size(1) fn main() {
            if b[0] < b[1] { b[2] = 1u; }
        }",
    );
    let cond = nodes(&p)
        .iter()
        .find_map(|n| match n.kind {
            NodeKind::If {
                cond: Operand::Value(cond),
                ..
            } => Some((cond, n.span)),
            _ => None,
        })
        .expect("an if");
    assert_eq!(
        p.source.excerpt(p.values[cond.0.index()].span),
        "b[0] < b[1]"
    );
    assert!(p.source.excerpt(cond.1).starts_with("if b[0] < b[1]"));
}

#[test]
fn what_nobody_reads_is_gone() {
    let p = program(
        "struct S { a: array<u32, 16>, b: u32 }
        @group(0) @binding(0) var<storage, read_write> s: array<S>;
        @compute @workgroup_size(1) fn main() {
            var unused = s[0].a[3];
            for (var i = 0u; i < 4u; i++) { unused += i; }
            let whole = s[0];
            s[0].b = whole.a[2];
        }",
    );
    assert_eq!(count(&p, |n| matches!(n, NodeKind::Load { .. })), 1);
    assert_eq!(p.locals.len(), 1, "the loop's counter");
}

#[test]
fn simple_calls_leave_no_trace() {
    let p = program(
        "@group(0) @binding(0) var<storage, read_write> b: array<u32>;
        fn twice(x: u32) -> u32 { return x * 2u; }
        fn either(x: u32) -> u32 { if x > 4u { return 1u; } return 2u; }
        @compute @workgroup_size(1) fn main() { b[0] = twice(b[1]); b[2] = either(b[3]); }",
    );
    assert_eq!(count(&p, |n| matches!(n, NodeKind::Block { .. })), 1);
    assert_eq!(p.locals.len(), 1);
    assert!(count(&p, |n| matches!(n, NodeKind::Return)) == 0);
}

#[test]
fn atomics_of_both_widths_lower() {
    let p = program(
        "struct A { a: atomic<u32>, b: atomic<i32>, c: atomic<u64>, d: atomic<i64> }
        @group(0) @binding(0) var<storage, read_write> s: A;
        var<workgroup> w: array<atomic<u32>, 4>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {
            atomicAdd(&s.a, 1u); atomicSub(&s.b, 1); atomicMin(&s.c, 1lu); atomicMax(&s.d, 1li);
            atomicAnd(&s.a, 1u); atomicOr(&s.a, 1u); atomicXor(&s.a, 1u);
            let old = atomicExchange(&s.a, 1u);
            let r = atomicCompareExchangeWeak(&w[id.x], old, 2u);
            if r.exchanged { atomicStore(&s.a, r.old_value + atomicLoad(&w[1])); }
        }",
    );
    let mut ops: Vec<AtomicOp> = Vec::new();
    for node in nodes(&p) {
        if let NodeKind::Atomic { op, result, .. } = &node.kind {
            ops.push(*op);
            let unused = matches!(op, AtomicOp::Add | AtomicOp::Store | AtomicOp::Xor);
            assert!(!unused || result.is_none());
        }
    }
    use AtomicOp::*;
    assert_eq!(
        ops,
        [
            Add,
            Sub,
            Min,
            Max,
            And,
            Or,
            Xor,
            Exchange,
            CompareExchange,
            Load,
            Store
        ]
    );
}

#[test]
fn overrides_reach_sizes_and_values() {
    let text = "override n: u32 = 4;
        @id(7) override scale: f32 = 1.5;
        var<workgroup> w: array<u32, n * 2>;
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(n, 2) fn main() { w[n] = 1u; out[w[0]] = scale; }";
    let p = program(text);
    assert_eq!((p.workgroup_size, p.workgroup[0].size), ([4, 2, 1], 32));
    let options = Options {
        overrides: &[("n", 8.0), ("7", 2.0)],
        ..options()
    };
    let p = compile(text, &options).unwrap();
    assert_eq!((p.workgroup_size, p.workgroup[0].size), ([8, 2, 1], 64));
    assert!(
        count(&p, |n| matches!(n, NodeKind::Store { values, .. }
        if values[0] == crate::ir::Const::f32(2.0).into()))
            == 1
    );
}

#[test]
fn immediates_are_a_region() {
    let p = program(
        "struct P { n: u32, f: vec2<f32> }
        var<immediate> p: P;
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = p.f.y; }",
    );
    assert_eq!(p.immediates_size, 16);
    assert_eq!(p.buffers.len(), 1);
    let offsets: Vec<u64> = nodes(&p)
        .iter()
        .filter_map(|n| match &n.kind {
            NodeKind::Load { access, .. } if access.region == Region::Immediates => {
                Some(access.offset)
            }
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [12]);
}

#[test]
fn every_builtin_arrives() {
    let p = program(
        "struct In {
            @builtin(global_invocation_id) global: vec3<u32>,
            @builtin(local_invocation_id) local: vec3<u32>,
            @builtin(subgroup_size) size: u32,
        }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(8) fn main(
            in: In,
            @builtin(local_invocation_index) index: u32,
            @builtin(workgroup_id) group: vec3<u32>,
            @builtin(num_workgroups) groups: vec3<u32>,
            @builtin(subgroup_invocation_id) lane: u32,
            @builtin(subgroup_id) sub: u32,
            @builtin(num_subgroups) subs: u32,
        ) {
            out[0] = in.global.x + in.global.y + in.global.z + in.local.x + in.local.y + in.local.z
                + in.size + index + group.x + group.y + group.z + groups.x + groups.y + groups.z
                + lane + sub + subs;
        }",
    );
    let mut seen = Vec::new();
    for node in nodes(&p) {
        if let NodeKind::Let {
            expr: Expr::Builtin(builtin),
            ..
        } = &node.kind
        {
            assert!(!seen.contains(builtin), "{builtin:?}");
            seen.push(*builtin);
        }
    }
    // The others along y and z are always zero.
    assert_eq!(seen.len(), 15);
}
