//! Loads: what their barrier interval writes.

use super::*;
use crate::ir::{AtomicOp, BufferAccess, Const, NodeKind, Region, Scalar};

const READ_WRITE: BufferAccess = BufferAccess::ReadWrite;

/// `if buffer[0] == 0 { gridBarrier(); }`
fn barrier_if_zero(m: &mut Maker, region: Region) {
    let x = m.load(region, None);
    let c = m.is_zero(x);
    m.if_(c, |m| m.grid());
}

#[test]
fn loads_of_what_nobody_writes_agree() {
    accepted(|m| {
        for region in [
            m.storage("input", BufferAccess::Read),
            m.uniform("settings"),
            Region::Immediates,
            m.storage("untouched", READ_WRITE),
        ] {
            barrier_if_zero(m, region);
        }
    });
}

#[test]
fn a_load_at_a_varying_address_varies() {
    let cause = refused(|m| {
        let input = m.storage("input", BufferAccess::Read);
        let gid = m.gid();
        let x = m.load(input, Some(gid));
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    assert!(cause.load.is_some());
}

#[test]
fn a_load_under_a_varying_guard_varies() {
    refused(|m| {
        let input = m.storage("input", BufferAccess::Read);
        let mut access = m.access(input, None);
        access.guard = Some(m.varying());
        let value = m.value(Scalar::U32);
        let values = [value].into_iter().collect();
        m.push("load", NodeKind::Load { values, access });
        let c = m.is_zero(value.into());
        m.if_(c, |m| m.grid());
    });
}

#[test]
fn a_write_in_the_same_interval_spoils_the_load() {
    // Before the load.
    let cause = refused(|m| {
        let data = m.storage("data", READ_WRITE);
        m.store(data, None, Const::u32(1));
        barrier_if_zero(m, data);
    });
    assert!(matches!(cause.root.why, Why::Written { .. }));
    // After it: others may be ahead.
    refused(|m| {
        let data = m.storage("data", READ_WRITE);
        let x = m.load(data, None);
        m.store(data, None, Const::u32(1));
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    // In a branch, and by an atomic.
    refused(|m| {
        let data = m.storage("data", READ_WRITE);
        let c = m.varying();
        m.if_(c, |m| {
            m.atomic(AtomicOp::Max, data, Some(Const::u32(1).into()));
        });
        barrier_if_zero(m, data);
    });
}

#[test]
fn a_grid_barrier_ends_the_interval() {
    accepted(|m| {
        let data = m.storage("data", READ_WRITE);
        m.store(data, None, Const::u32(1));
        m.grid();
        barrier_if_zero(m, data);
    });
    accepted(|m| {
        let data = m.storage("data", READ_WRITE);
        let x = m.load(data, None);
        m.grid();
        m.store(data, None, Const::u32(1));
        let c = m.is_zero(x);
        m.if_(c, |m| m.grid());
    });
    // A barrier that only one way passes leaves the other way open.
    refused(|m| {
        let data = m.storage("data", READ_WRITE);
        m.store(data, None, Const::u32(1));
        let even = m.even();
        m.if_(even, |m| m.grid());
        barrier_if_zero(m, data);
    });
}

#[test]
fn a_workgroup_barrier_does_not_order_the_grid() {
    refused(|m| {
        let data = m.storage("data", READ_WRITE);
        m.store(data, None, Const::u32(1));
        m.workgroup();
        barrier_if_zero(m, data);
    });
}

#[test]
fn other_buffers_do_not_matter() {
    accepted(|m| {
        let data = m.storage("data", READ_WRITE);
        let other = m.storage("other", READ_WRITE);
        m.store(other, None, Const::u32(1));
        barrier_if_zero(m, data);
    });
}

/// The natural fixpoint: mark a change, meet, leave if there was none.
fn fixpoint(m: &mut Maker, changed: Region, separate: bool) {
    m.loop_(
        |m, l| {
            let c = m.varying();
            m.if_(c, |m| {
                m.atomic(AtomicOp::Or, changed, Some(Const::u32(1).into()));
            });
            m.grid();
            let x = m.atomic(AtomicOp::Load, changed, None);
            let done = m.is_zero(x);
            m.break_if(l, done);
            if separate {
                m.grid();
            }
        },
        |_, _| {},
    );
}

#[test]
fn the_fixpoint_exit_is_accepted_also_in_nested_loops() {
    accepted(|m| {
        let changed = m.storage("changed", READ_WRITE);
        fixpoint(m, changed, true);
        m.grid();
        fixpoint(m, changed, true);
    });
    accepted(|m| {
        let changed = m.storage("changed", READ_WRITE);
        m.loop_(
            |m, outer| {
                fixpoint(m, changed, true);
                m.grid();
                m.atomic(AtomicOp::Store, changed, Some(Const::u32(0).into()));
                m.grid();
                let done = m.even();
                m.break_if(outer, done);
            },
            |_, _| {},
        );
    });
}

#[test]
fn the_fixpoint_exit_without_a_second_barrier_races_and_is_refused() {
    // The next round's write may come before a slow invocation's load.
    let cause = refused(|m| {
        let changed = m.storage("changed", READ_WRITE);
        fixpoint(m, changed, false);
    });
    assert!(matches!(cause.root.why, Why::Written { .. }));
}

#[test]
fn a_write_after_the_loop_is_in_the_interval_of_its_last_load() {
    let (program, uniformity) = analysed(|m| {
        let changed = m.storage("changed", READ_WRITE);
        fixpoint(m, changed, true);
        m.store(changed, None, Const::u32(0));
    });
    assert!(uniformity.refusal(&program).is_some());
}

#[test]
fn results_of_atomics_vary() {
    for op in [AtomicOp::Add, AtomicOp::Exchange, AtomicOp::Min] {
        let cause = refused(|m| {
            let data = m.storage("data", READ_WRITE);
            let old = m.atomic(op, data, Some(Const::u32(1).into()));
            let c = m.is_zero(old);
            m.if_(c, |m| m.grid());
        });
        assert!(matches!(cause.root.why, Why::Atomic(_)));
    }
}

#[test]
fn workgroup_variables_agree_within_the_workgroup() {
    // Written and read across a workgroup barrier: fine for a workgroup barrier, not for the grid's.
    accepted(|m| {
        let shared = m.workgroup_variable("shared");
        let c = m.varying();
        m.if_(c, |m| m.store(shared, None, Const::u32(1)));
        m.workgroup();
        let x = m.load(shared, None);
        m.workgroup();
        m.store(shared, None, Const::u32(2));
        let c = m.is_zero(x);
        m.if_(c, |m| m.workgroup());
    });
    let cause = refused(|m| {
        let shared = m.workgroup_variable("shared");
        m.store(shared, None, Const::u32(1));
        m.workgroup();
        barrier_if_zero(m, shared);
    });
    assert_eq!(cause.root.level, Level::Workgroup);
    assert!(matches!(cause.root.why, Why::WorkgroupMemory(_)));
    // Without the barrier between, not even there.
    let cause = refused(|m| {
        let shared = m.workgroup_variable("shared");
        m.store(shared, None, Const::u32(1));
        let x = m.load(shared, None);
        let c = m.is_zero(x);
        m.if_(c, |m| m.workgroup());
    });
    assert_eq!(cause.root.level, Level::Varying);
}

#[test]
fn private_arrays_hold_what_was_stored() {
    accepted(|m| {
        let array = m.private_array("array");
        let n = m.load(Region::Immediates, None);
        m.store(Region::Private(array), Some(n), n);
        m.push("clear", NodeKind::Clear(array));
        barrier_if_zero(m, Region::Private(array));
    });
    refused(|m| {
        let array = m.private_array("array");
        let gid = m.gid();
        m.store(Region::Private(array), None, gid);
        barrier_if_zero(m, Region::Private(array));
    });
    refused(|m| {
        let array = m.private_array("array");
        let c = m.varying();
        m.if_(c, |m| m.store(Region::Private(array), None, Const::u32(1)));
        barrier_if_zero(m, Region::Private(array));
    });
    refused(|m| {
        let array = m.private_array("array");
        let gid = m.gid();
        m.store(Region::Private(array), Some(gid), Const::u32(1));
        barrier_if_zero(m, Region::Private(array));
    });
}
