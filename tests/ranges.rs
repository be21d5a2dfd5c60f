//! What `ir::ranges` proves holds when programs run: random programs full of indices, loops and tests give the
//! evaluator's bytes without the guards that were proven, and nothing is touched that is out of bounds.
//!
//! `VYRE_DIFF_SEEDS` says how many, `VYRE_DIFF_START` from which seed on.

#[path = "ptx/compute.rs"]
mod compute;
#[path = "ptx/decode.rs"]
mod decode;
#[path = "common/eval/mod.rs"]
mod eval;
#[path = "ptx/machine.rs"]
#[allow(dead_code, reason = "barriers are tested elsewhere")]
mod machine;
#[path = "common/generate/random.rs"]
#[allow(dead_code, reason = "the generator of whole programs needs more of it")]
mod random;
#[path = "ptx/warp.rs"]
mod warp;
#[path = "ranges/write.rs"]
mod write;

use smallvec::smallvec;
use vyre::cuda::ptx;
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::ranges::{self, Ranges};
use vyre::ir::uniformity;
use vyre::ir::{
    Access, BinaryOp, Body, CompareOp, Const, Expr, Node, NodeKind, Operand, Program, Region,
    Scalar, ValueDecl, ValueId,
};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// The program without the guards that were proven, and with an access out of bounds behind each sum that was
/// wrongly said not to wrap and each quotient whose divisor was wrongly said not to be 0.
struct Stripper<'r, 'p> {
    ranges: &'r Ranges<'p>,
    values: Vec<ValueDecl>,
    stripped: u64,
    checked: u64,
}

impl Stripper<'_, '_> {
    fn body(&mut self, body: &Body) -> Body {
        let mut nodes = Vec::new();
        for node in &body.0 {
            let kind = self.kind(&node.kind);
            let span = node.span;
            let checks = self.checks(&kind);
            nodes.push(Node { kind, span });
            nodes.extend(checks.into_iter().map(|kind| Node { kind, span }));
        }
        Body(nodes)
    }

    fn access(&mut self, access: &Access) -> Access {
        let guard = self.ranges.guard(access);
        self.stripped += u64::from(guard != access.guard);
        Access { guard, ..*access }
    }

    fn kind(&mut self, kind: &NodeKind) -> NodeKind {
        let mut kind_now = kind.clone();
        match (kind, &mut kind_now) {
            // The access that was looked at is the one of the program, not of the copy.
            (NodeKind::Load { access, .. }, NodeKind::Load { access: now, .. })
            | (NodeKind::Store { access, .. }, NodeKind::Store { access: now, .. })
            | (NodeKind::Atomic { access, .. }, NodeKind::Atomic { access: now, .. }) => {
                *now = self.access(access);
            }
            (
                NodeKind::If { accept, reject, .. },
                NodeKind::If {
                    accept: yes,
                    reject: no,
                    ..
                },
            ) => (*yes, *no) = (self.body(accept), self.body(reject)),
            (NodeKind::Block { body, .. }, NodeKind::Block { body: now, .. }) => {
                *now = self.body(body);
            }
            (
                NodeKind::Loop {
                    body, continuing, ..
                },
                NodeKind::Loop {
                    body: turn,
                    continuing: next,
                    ..
                },
            ) => (*turn, *next) = (self.body(body), self.body(continuing)),
            (
                NodeKind::Switch { cases, default, .. },
                NodeKind::Switch {
                    cases: now,
                    default: otherwise,
                    ..
                },
            ) => {
                for (case, now) in cases.iter().zip(now) {
                    now.body = self.body(&case.body);
                }
                *otherwise = self.body(default);
            }
            _ => {}
        }
        kind_now
    }

    fn let_(&mut self, nodes: &mut Vec<NodeKind>, ty: Scalar, expr: Expr) -> Operand {
        let span = vyre::ir::Span::default();
        self.values.push(ValueDecl { ty, span });
        let value = ValueId(self.values.len() as u32 - 1);
        nodes.push(NodeKind::Let { value, expr });
        value.into()
    }

    fn checks(&mut self, kind: &NodeKind) -> Vec<NodeKind> {
        let mut nodes = Vec::new();
        let NodeKind::Let {
            value,
            expr: Expr::Binary(op, a, b),
        } = *kind
        else {
            return nodes;
        };
        let ty = self.values[value.index()].ty;
        let wrong = match op {
            BinaryOp::Add | BinaryOp::Sub if self.ranges.is_exact(value) => {
                assert!(
                    matches!(ty, Scalar::U32 | Scalar::I32),
                    "no other is written"
                );
                let [a, b, found] = [a, b, value.into()]
                    .map(|x| self.let_(&mut nodes, Scalar::I64, Expr::Convert(x)));
                let exact = self.let_(&mut nodes, Scalar::I64, Expr::Binary(op, a, b));
                let compare = Expr::Compare(CompareOp::Ne, exact, found);
                self.let_(&mut nodes, Scalar::Bool, compare)
            }
            BinaryOp::Div | BinaryOp::Rem if self.ranges.is_plain(value) => {
                let zero = Const::zero(ty).into();
                let compare = Expr::Compare(CompareOp::Eq, b, zero);
                self.let_(&mut nodes, Scalar::Bool, compare)
            }
            _ => return nodes,
        };
        self.checked += 1;
        let wrong = self.let_(&mut nodes, Scalar::U64, Expr::Convert(wrong));
        let far = Const::u64(1 << 40).into();
        let index = self.let_(
            &mut nodes,
            Scalar::U64,
            Expr::Binary(BinaryOp::Mul, wrong, far),
        );
        let access = Access {
            region: Region::Immediates,
            index: Some(index),
            offset: 0,
            guard: None,
            scalar: Scalar::U32,
        };
        let span = vyre::ir::Span::default();
        self.values.push(ValueDecl {
            ty: Scalar::U32,
            span,
        });
        let value = ValueId(self.values.len() as u32 - 1);
        let values = smallvec![value];
        nodes.push(NodeKind::Load { values, access });
        nodes
    }
}

fn lower(source: &str) -> vyre::error::Result<Program> {
    let options = Options {
        label: Some("written.wgsl"),
        subgroup_size: eval::SUBGROUP_SIZE,
        ..Options::default()
    };
    compile(source, &options)
}

/// What the emitted kernel leaves in the buffers, by the interpreter of PTX.
fn run_ptx(program: &Program, buffers: &[Vec<u8>], immediates: &[u8]) -> Vec<Vec<u8>> {
    let target = ptx::Target {
        sm: 90,
        ptx_version: (8, 0),
    };
    let emitted = ptx::emit(program, &uniformity::analyse(program), target, false).unwrap();
    let mut bound: Vec<(Vec<u8>, u32)> = (buffers.iter().zip(&program.buffers))
        .map(|(bytes, decl)| (bytes.clone(), decl.array_length(bytes.len() as u64)))
        .collect();
    let launch = &mut machine::Launch {
        workgroup_size: program.workgroup_size,
        workgroups: [1, 1, 1],
        buffers: &mut bound,
        immediates,
        base: 0,
        exit_base: 0,
        sequence: 1,
        quiet: false,
        shape: vyre::cuda::ptx::abi::Shape::Counter,
        arrivals: [0; 8],
        releases: 0,
        limit: u64::MAX,
        abort: 0,
    };
    machine::run(&emitted, launch);
    bound.into_iter().map(|(bytes, _)| bytes).collect()
}

#[test]
fn kernels_without_proven_guards_give_the_evaluators_bytes() {
    let start = setting("VYRE_DIFF_START", 0);
    let seeds = setting("VYRE_DIFF_SEEDS", 300);
    let mut run = 0;
    for seed in start..start + seeds {
        let case = write::program(seed);
        // Alone, as invocations that race may do this or that.
        let source = case
            .source
            .replace("@workgroup_size(4, 2)", "@workgroup_size(1)");
        let Ok(program) = lower(&source) else {
            continue;
        };
        let mut expected = case.buffers.clone();
        eval::run(&program, [1, 1, 1], &mut expected, &case.immediates).unwrap();
        let found = run_ptx(&program, &case.buffers, &case.immediates);
        // A buffer that is not used is none of the program's; the first one always is.
        expected.truncate(found.len());
        assert_eq!(found, expected, "seed {seed}\n{source}");
        run += 1;
    }
    assert!(run * 3 > seeds * 2, "{run}");
}

/// Indices in and out of bounds, of vectors, of members, of neighbours and of signed numbers.
const SHAPES: [&str; 8] = [
    "v[0] = v[i] + v[input[i]];",
    "let x = v[input[i]]; v[i] = x.wzyx; v[input[i] + 1u] += 1u;",
    "v[1] = vec4(s[input[i]].b, s[i].a, s[input[i]].c.y) + s[2].d[input[i] & 3u];",
    "s[input[i]].b = s[i].b + s[i].c.x; s[i].c += s[i].a; v[0].x = 1u; s[i].d[input[i]].x = 4u;",
    "if i > 0u && i < arrayLength(&v) - 1u { v[i] = v[i - 1u] + v[i + 1u] * 2u; }",
    "for (var k = 1; k < 4; k++) { v[k - 1] = v[k] + v[k + 1]; v[k].y = input[k + 2]; }",
    "for (var k = 5u; k > 1u; k--) { v[k] = v[k - 2u]; input[k - 1u] = input[k] + input[k + 3u]; }",
    "for (var k = -3; k < 3; k++) { v[k] = v[k + 1]; v[k + 3] += vec4(input[k + 3]); }",
];

#[test]
fn every_shape_of_index_gives_the_evaluators_bytes() {
    for shape in SHAPES {
        let source = format!(
            "struct S {{ a: vec2<u32>, b: u32, c: vec2<u32>, d: array<vec4<u32>, 3> }}
            @group(0) @binding(0) var<storage, read_write> v: array<vec4<u32>>;
            @group(0) @binding(1) var<storage, read_write> input: array<u32>;
            @group(0) @binding(2) var<storage, read_write> s: array<S>;
            @compute @workgroup_size(1) fn main(@builtin(workgroup_id) w: vec3u) {{
                for (var turn = 0u; turn < 20u; turn++) {{ let i = input[turn % arrayLength(&input)]; {} }}
            }}",
            shape
        );
        let program = lower(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        for seed in 0..20u32 {
            let word = |i: u32| match (i * 7 + seed * 5).wrapping_mul(2_654_435_761) >> 24 {
                x if x < 200 => x % 9,
                x if x < 220 => x.wrapping_sub(221),
                x => x << 24,
            };
            let bytes = |words: u32| (0..words).flat_map(|i| word(i).to_le_bytes()).collect();
            let buffers: [Vec<u8>; 3] = [
                bytes(4 * (1 + seed % 7)),
                bytes(1 + seed % 11),
                bytes(20 * (1 + seed % 3)),
            ];
            let mut expected = buffers.to_vec();
            eval::run(&program, [1, 1, 1], &mut expected, &[]).unwrap();
            let found = run_ptx(&program, &buffers, &[]);
            expected.truncate(found.len());
            assert_eq!(found, expected, "seed {seed}\n{source}");
        }
    }
}

#[test]
fn proven_guards_are_never_missed() {
    let start = setting("VYRE_DIFF_START", 0);
    let (mut stripped, mut checked, mut refused) = (0, 0, 0);
    let seeds = setting("VYRE_DIFF_SEEDS", 300);
    for seed in start..start + seeds {
        let case = write::program(seed);
        let source = &case.source;
        let program = match lower(source) {
            Ok(program) => program,
            // Constants that overflow, or are divided by zero.
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        let ranges = ranges::analyse(&program, eval::SUBGROUP_SIZE);
        let mut stripper = Stripper {
            ranges: &ranges,
            values: program.values.clone(),
            stripped: 0,
            checked: 0,
        };
        let body = stripper.body(&program.body);
        let without = Program {
            body,
            values: stripper.values,
            ..program.clone()
        };
        stripped += stripper.stripped;
        checked += stripper.checked;
        let run = |program: &Program| {
            let mut buffers = case.buffers.clone();
            eval::run(program, case.workgroups, &mut buffers, &case.immediates)
                .unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{source}"));
            buffers
        };
        assert_eq!(run(&without), run(&program), "seed {seed}\n{source}");
    }
    println!("{stripped} guards proven, {checked} operations exact; {refused} programs refused");
    assert!(refused * 3 < seeds, "{refused}");
    assert!(stripped > seeds && checked > seeds, "{stripped}, {checked}");
}
