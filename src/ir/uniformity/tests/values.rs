//! Builtins and local variables.

use super::*;
use crate::ir::{Axis, Builtin, Const, Expr, Operand, Region, Scalar};

fn level_of(size: [u32; 3], builtin: Builtin) -> Level {
    let mut value = None;
    let (_, uniformity) = analysed_with(size, |m| {
        value = Some(m.builtin(builtin));
        m.grid();
    });
    match value {
        Some(Operand::Value(value)) => uniformity.values[value.index()],
        _ => unreachable!(),
    }
}

#[test]
fn builtins_have_their_levels() {
    use Builtin::*;
    use Level::*;
    let size = [64, 1, 1];
    for (builtin, level) in [
        (GlobalInvocationId(Axis::X), Varying),
        (GlobalInvocationId(Axis::Y), Workgroup),
        (LocalInvocationId(Axis::X), Varying),
        (LocalInvocationId(Axis::Z), Grid),
        (LocalInvocationIndex, Varying),
        (WorkgroupId(Axis::X), Workgroup),
        (NumWorkgroups(Axis::X), Grid),
        (SubgroupSize, Grid),
        (NumSubgroups, Grid),
        (SubgroupInvocationId, Varying),
        (SubgroupId, Subgroup),
    ] {
        assert_eq!(level_of(size, builtin), level, "{builtin:?}");
    }
    for builtin in [LocalInvocationIndex, SubgroupId, SubgroupInvocationId] {
        assert_eq!(level_of([1, 1, 1], builtin), Grid, "{builtin:?}");
    }
}

#[test]
fn the_workgroups_own_is_even_enough_for_workgroup_barriers() {
    accepted(|m| {
        let id = m.builtin(Builtin::WorkgroupId(Axis::X));
        let c = m.is_zero(id);
        m.if_(c, |m| m.workgroup());
    });
    let cause = refused(|m| {
        let id = m.builtin(Builtin::WorkgroupId(Axis::X));
        let c = m.is_zero(id);
        m.if_(c, |m| m.grid());
    });
    assert_eq!(cause.root.level, Level::Workgroup);
}

#[test]
fn the_array_length_agrees() {
    accepted(|m| {
        m.storage("data", crate::ir::BufferAccess::ReadWrite);
        let n = m.let_(Scalar::U32, Expr::ArrayLength(crate::ir::BufferId(0)));
        let c = m.is_zero(n);
        m.if_(c, |m| m.grid());
    });
}

/// `if local == 0 { gridBarrier(); }`
fn barrier_if_zero(m: &mut Maker, local: crate::ir::LocalId) {
    let x = m.read(local);
    let c = m.is_zero(x);
    m.if_(c, |m| m.grid());
}

#[test]
fn a_local_is_what_was_last_assigned() {
    accepted(|m| {
        let local = m.local(Scalar::U32);
        barrier_if_zero(m, local);
        let gid = m.gid();
        m.assign(local, gid);
        m.assign(local, Const::u32(1));
        barrier_if_zero(m, local);
    });
    refused(|m| {
        let local = m.local(Scalar::U32);
        let gid = m.gid();
        m.assign(local, gid);
        barrier_if_zero(m, local);
    });
}

#[test]
fn a_local_assigned_under_a_varying_condition_varies() {
    refused(|m| {
        let local = m.local(Scalar::U32);
        let c = m.varying();
        m.if_(c, |m| m.assign(local, Const::u32(1)));
        barrier_if_zero(m, local);
    });
    refused(|m| {
        let local = m.local(Scalar::U32);
        let gid = m.gid();
        let case = m.body(|m| m.assign(local, Const::u32(1)));
        m.switch(gid, vec![case]);
        barrier_if_zero(m, local);
    });
    refused(|m| {
        let local = m.local(Scalar::U32);
        m.block(|m, out| {
            let c = m.varying();
            m.break_if(out, c);
            m.assign(local, Const::u32(1));
        });
        barrier_if_zero(m, local);
    });
    // An even condition chooses the same for all.
    accepted(|m| {
        let local = m.local(Scalar::U32);
        let c = m.even();
        m.if_else(
            c,
            |m| m.assign(local, Const::u32(1)),
            |m| m.assign(local, Const::u32(2)),
        );
        barrier_if_zero(m, local);
    });
    // The branch that assigns it does not come back.
    accepted(|m| {
        let local = m.local(Scalar::U32);
        let c = m.even();
        m.if_(c, |m| {
            let gid = m.gid();
            m.assign(local, gid);
            m.return_();
        });
        barrier_if_zero(m, local);
    });
}

#[test]
fn a_local_carried_around_a_loop() {
    // It varies in the second iteration.
    refused(|m| {
        let local = m.local(Scalar::U32);
        m.loop_(
            |m, out| {
                barrier_if_zero(m, local);
                let done = m.even();
                m.break_if(out, done);
            },
            |m, _| {
                let gid = m.gid();
                m.assign(local, gid);
            },
        );
    });
    // It is assigned anew before it is read.
    accepted(|m| {
        let local = m.local(Scalar::U32);
        m.loop_(
            |m, out| {
                m.assign(local, Const::u32(0));
                barrier_if_zero(m, local);
                let gid = m.gid();
                m.assign(local, gid);
                let done = m.even();
                m.break_if(out, done);
            },
            |_, _| {},
        );
    });
    // A varying `continue` decides what `continuing` finds.
    refused(|m| {
        let local = m.local(Scalar::U32);
        m.loop_(
            |m, l| {
                m.assign(local, Const::u32(1));
                let c = m.varying();
                m.if_(c, |m| m.continue_(l));
                m.assign(local, Const::u32(2));
            },
            |m, l| {
                barrier_if_zero(m, local);
                let done = m.even();
                m.break_if(l, done);
            },
        );
    });
}

/// A loop that counts up a local and is left when `leave` says so.
fn count(m: &mut Maker, leave: fn(&mut Maker) -> Operand) -> crate::ir::LocalId {
    let local = m.local(Scalar::U32);
    m.loop_(
        |m, out| {
            let x = m.read(local);
            let next = m.add(x, Const::u32(1).into());
            m.assign(local, next);
            let done = leave(m);
            m.break_if(out, done);
        },
        |_, _| {},
    );
    local
}

#[test]
fn what_a_loop_computed_varies_if_it_was_left_at_different_times() {
    refused(|m| {
        let local = count(m, Maker::varying);
        barrier_if_zero(m, local);
    });
    accepted(|m| {
        let local = count(m, Maker::even);
        barrier_if_zero(m, local);
    });
    // A value, not a local.
    refused(|m| {
        let local = m.local(Scalar::U32);
        let mut last = None;
        m.loop_(
            |m, out| {
                let x = m.read(local);
                let next = m.add(x, Const::u32(1).into());
                m.assign(local, next);
                last = Some(next);
                let done = m.varying();
                m.break_if(out, done);
            },
            |_, _| {},
        );
        let c = m.is_zero(last.unwrap());
        m.if_(c, |m| m.grid());
    });
    // What was there before the loop stays as it was.
    accepted(|m| {
        let n = m.load(Region::Immediates, None);
        let kept = m.local(Scalar::U32);
        m.assign(kept, n);
        count(m, Maker::varying);
        barrier_if_zero(m, kept);
    });
}

#[test]
fn everything_computed_from_what_varies_varies() {
    refused(|m| {
        let c = m.varying();
        let select = Expr::Select {
            cond: c,
            accept: Const::u32(1).into(),
            reject: Const::u32(2).into(),
        };
        let x = m.let_(Scalar::U32, select);
        let one = Const::u32(1).into();
        let x = m.add(x, one);
        let x = m.let_(
            Scalar::U32,
            Expr::Math(crate::ir::MathOp::Abs, [x].into_iter().collect()),
        );
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
}
