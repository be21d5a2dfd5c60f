use super::*;
use crate::ir::testing::Maker;
use crate::ir::*;

#[track_caller]
fn valid(f: impl FnOnce(&mut Maker)) {
    let mut maker = Maker::new([8, 1, 1]);
    f(&mut maker);
    let program = maker.finish();
    if let Err(what) = validate(&program) {
        panic!("{what}\n{program}");
    }
}

/// The program is refused with a text that contains `part`.
#[track_caller]
fn invalid(part: &str, f: impl FnOnce(&mut Maker)) {
    let mut maker = Maker::new([8, 1, 1]);
    f(&mut maker);
    match validate(&maker.finish()) {
        Ok(()) => panic!("accepted, expected: {part}"),
        Err(what) => assert!(what.contains(part), "{what}"),
    }
}

fn one() -> Operand {
    Const::u32(1).into()
}

#[test]
fn definitions_reach_the_rest_of_their_body() {
    valid(|m| {
        let x = m.gid();
        let c = m.is_zero(x);
        m.if_(c, |m| {
            let y = m.add(x, one());
            m.block(|m, _| {
                m.add(x, y);
            });
        });
        m.loop_(
            |m, l| {
                let c = m.is_zero(x);
                m.break_if(l, c);
            },
            |_, _| {},
        );
    });
}

#[test]
fn definitions_end_with_their_branch() {
    invalid("may have been skipped", |m| {
        let c = m.varying();
        let mut y = one();
        m.if_(c, |m| y = m.add(one(), one()));
        m.add(y, one());
    });
}

#[test]
fn definitions_before_every_exit_reach_what_follows() {
    let looped = |m: &mut Maker, define_first: bool| {
        let y = std::cell::Cell::new(one());
        m.loop_(
            |m, l| {
                let c = m.varying();
                if define_first {
                    y.set(m.add(one(), one()));
                }
                m.if_(c, |m| m.continue_(l));
                if !define_first {
                    y.set(m.add(one(), one()));
                }
            },
            |m, l| {
                let c = m.is_zero(y.get());
                m.break_if(l, c);
            },
        );
    };
    valid(|m| looped(m, true));
    invalid("may have been skipped", |m| looped(m, false));
    let block = |m: &mut Maker, define_first: bool| {
        let mut y = one();
        m.block(|m, l| {
            let c = m.varying();
            if define_first {
                y = m.add(one(), one());
            }
            m.block(|m, _| m.break_if(l, c));
            if !define_first {
                y = m.add(one(), one());
            }
        });
        m.add(y, one());
    };
    valid(|m| block(m, true));
    invalid("may have been skipped", |m| block(m, false));
}

#[test]
fn values_are_defined_once_and_before_use() {
    invalid("before its definition", |m| {
        let later = m.value(Scalar::U32);
        m.add(later.into(), one());
    });
    invalid("defined twice", |m| {
        let value = m.value(Scalar::U32);
        for _ in 0..2 {
            let expr = Expr::Builtin(Builtin::SubgroupSize);
            m.push("twice", NodeKind::Let { value, expr });
        }
    });
    invalid("there is no value 7", |m| {
        m.add(ValueId(7).into(), one());
    });
}

#[test]
fn operands_have_the_right_types() {
    invalid("expected u32", |m| {
        m.add(Const::i32(1).into(), one());
    });
    invalid("does not take f32", |m| {
        let x = Const::f32(1.0).into();
        m.let_(Scalar::F32, Expr::Binary(BinaryOp::Xor, x, x));
    });
    invalid("the right operand is i64, expected u32", |m| {
        let count = Const::i64(1).into();
        m.let_(Scalar::I64, Expr::Binary(BinaryOp::Shl, count, count));
    });
    invalid("the condition is u32", |m| m.if_(one(), |_| {}));
    invalid("too wide", |m| {
        let wide = Const {
            ty: Scalar::U32,
            bits: 1 << 40,
        };
        m.add(wide.into(), one());
    });
    invalid("2 operands, expected 3", |m| {
        let x = Const::f32(1.0).into();
        let operands = [x, x].into_iter().collect();
        m.let_(Scalar::F32, Expr::Math(MathOp::Fma, operands));
    });
    invalid("not as many bits", |m| {
        m.let_(Scalar::F64, Expr::Bitcast(one()));
    });
}

#[test]
fn labels_enclose_what_names_them() {
    invalid("encloses no such place", |m| {
        m.block(|_, _| {});
        m.break_(Label(1));
    });
    invalid("is no loop", |m| m.block(|m, l| m.continue_(l)));
    invalid("used twice", |m| {
        for _ in 0..2 {
            let (label, body) = (Label(9), Body::default());
            m.push("block", NodeKind::Block { label, body });
        }
    });
}

#[test]
fn accesses_lie_within_their_region() {
    let load = |m: &mut Maker, offset: u64, width: usize| {
        let data = m.storage("data", BufferAccess::Read);
        let mut access = m.access(data, None);
        access.offset = offset;
        let values = (0..width).map(|_| m.value(Scalar::U32)).collect();
        m.push("load", NodeKind::Load { values, access });
    };
    valid(|m| load(m, 0, 4));
    valid(|m| load(m, 12, 1));
    invalid("beyond the 16 bytes of `data`", |m| load(m, 16, 1));
    invalid("beyond the 16 bytes of `data`", |m| load(m, 4, 4));
    invalid("beyond the 16 bytes of `data`", |m| {
        load(m, u64::MAX - 3, 1)
    });
    invalid("no multiple of 4", |m| load(m, 2, 1));
    invalid("3 wide", |m| load(m, 0, 3));
    invalid("read-only", |m| {
        let data = m.storage("data", BufferAccess::Read);
        m.store(data, None, Const::u32(1));
    });
    invalid("a bool in the buffer", |m| {
        let data = m.storage("data", BufferAccess::Read);
        let mut access = m.access(data, None);
        access.scalar = Scalar::Bool;
        let values = [m.value(Scalar::Bool)].into_iter().collect();
        m.push("load", NodeKind::Load { values, access });
    });
    invalid("the index is u32, expected u64", |m| {
        let data = m.storage("data", BufferAccess::Read);
        let mut access = m.access(data, None);
        access.index = Some(one());
        let values = [m.value(Scalar::U32)].into_iter().collect();
        m.push("load", NodeKind::Load { values, access });
    });
}

#[test]
fn atomics_are_complete() {
    invalid("lacks an operand", |m| {
        let data = m.storage("data", BufferAccess::ReadWrite);
        m.atomic(AtomicOp::Add, data, None);
    });
    invalid("lacks an expected value", |m| {
        let data = m.storage("data", BufferAccess::ReadWrite);
        m.atomic(AtomicOp::CompareExchange, data, Some(one()));
    });
    invalid("outside of buffers", |m| {
        let array = m.private_array("array");
        m.atomic(AtomicOp::Add, Region::Private(array), Some(one()));
    });
}

#[test]
fn barriers_stand_once() {
    invalid("stands twice", |m| {
        m.grid();
        m.push("again", NodeKind::Barrier(BarrierId(0)));
    });
    invalid("stands nowhere", |m| {
        m.program.barriers.push(Barrier {
            scope: Scope::Grid,
            span: Span::default(),
        });
    });
    invalid("no barrier 3", |m| {
        m.push("unknown", NodeKind::Barrier(BarrierId(3)));
    });
}

#[test]
fn subgroup_operations_take_what_they_take() {
    let sum = SubgroupOp::Reduce(Fold::Add);
    valid(|m| {
        m.subgroup(sum, one(), None);
    });
    invalid("does not take bool", |m| {
        m.subgroup(sum, Const::bool(true).into(), None);
    });
    invalid("does not take f32", |m| {
        let op = SubgroupOp::Reduce(Fold::Xor);
        m.subgroup(op, Const::f32(1.0).into(), None);
    });
    invalid("does not take u32", |m| {
        m.subgroup(SubgroupOp::Exclusive(Fold::Max), one(), None);
    });
    invalid("lacks a lane", |m| {
        m.subgroup(SubgroupOp::Shuffle, one(), None);
    });
    invalid("has a lane", |m| {
        m.subgroup(sum, one(), Some(one()));
    });
    invalid("the lane is i32", |m| {
        let lane = Const::i32(1).into();
        m.subgroup(SubgroupOp::Shuffle, one(), Some(lane));
    });
    invalid("not the subgroup's", |m| {
        m.subgroup(sum, one(), None);
        m.program.barriers[0].scope = Scope::Workgroup;
    });
}

#[test]
fn switches_select_once() {
    let switch = |m: &mut Maker, selector: Operand, values: [Const; 2]| {
        let case = |value| Case {
            values: vec![value],
            body: Body::default(),
        };
        let kind = NodeKind::Switch {
            selector,
            cases: values.into_iter().map(case).collect(),
            default: Body::default(),
        };
        m.push("switch", kind);
    };
    valid(|m| switch(m, one(), [Const::u32(0), Const::u32(1)]));
    invalid("stands twice", |m| {
        switch(m, one(), [Const::u32(1), Const::u32(1)]);
    });
    invalid("expected u32", |m| {
        switch(m, one(), [Const::u32(1), Const::i32(2)]);
    });
    invalid("selects on bool", |m| {
        let c = Const::bool(true);
        switch(m, c.into(), [c, Const::bool(false)]);
    });
}

#[test]
fn nesting_has_a_bound() {
    fn nest(m: &mut Maker, depth: usize) {
        if depth > 0 {
            m.block(|m, _| nest(m, depth - 1));
        }
    }
    valid(|m| nest(m, MAX_NESTING));
    invalid("nested deeper", |m| nest(m, MAX_NESTING + 1));
}

#[test]
fn programs_print_one_statement_a_line() {
    let mut m = Maker::new([8, 1, 1]);
    let data = m.storage("data", BufferAccess::ReadWrite);
    let x = m.gid();
    let c = m.is_zero(x);
    m.if_else(c, |m| m.store(data, Some(x), x), |m| m.return_());
    m.grid();
    let text = m.finish().to_string();
    let expected = "\
program main (8 x 1 x 1)
buffer 0 `data` @0:0 Storage ReadWrite, 16 bytes
immediates, 16 bytes
%0: u32 = GlobalInvocationId(X)
%1: bool = Eq %0, 0u
if %1 {
  %2: u64 = convert %0
  store buffer 0[%2 + 0]: u32 = %0
} else {
  return
}
barrier 0 (Grid)
";
    assert_eq!(text, expected);
}
