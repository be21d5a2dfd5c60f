//! What `ir::ranges` proves holds when programs run: random programs full of indices, loops and tests give the
//! evaluator's bytes without the guards that were proven, and nothing is touched that is out of bounds.
//!
//! `VYRE_DIFF_SEEDS` says how many, `VYRE_DIFF_START` from which seed on.

#[path = "common/eval/mod.rs"]
mod eval;
#[path = "common/generate/random.rs"]
#[allow(dead_code, reason = "the generator of whole programs needs more of it")]
mod random;
#[path = "ranges/write.rs"]
mod write;

use smallvec::smallvec;
use vyre::front::Options;
use vyre::front::wgsl::compile;
use vyre::ir::ranges::{self, Ranges};
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

#[test]
fn proven_guards_are_never_missed() {
    let start = setting("VYRE_DIFF_START", 0);
    let (mut stripped, mut checked, mut refused) = (0, 0, 0);
    let seeds = setting("VYRE_DIFF_SEEDS", 300);
    for seed in start..start + seeds {
        let case = write::program(seed);
        let options = Options {
            label: Some("written.wgsl"),
            subgroup_size: eval::SUBGROUP_SIZE,
            ..Options::default()
        };
        let source = &case.source;
        let program = match compile(source, &options) {
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
