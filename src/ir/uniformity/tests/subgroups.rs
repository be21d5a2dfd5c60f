//! What each subgroup agrees on, and the operations of subgroups.

use super::*;
use crate::ir::{Axis, Builtin, Const, Fold, Operand, SubgroupOp};

const SUM: SubgroupOp = SubgroupOp::Reduce(Fold::Add);

fn sum(m: &mut Maker) -> Operand {
    let lane = m.builtin(Builtin::SubgroupInvocationId);
    m.subgroup(SUM, lane, None)
}

fn sum_if_zero(m: &mut Maker, x: Operand) {
    let c = m.is_zero(x);
    m.if_(c, |m| {
        sum(m);
    });
}

#[test]
fn operations_are_proven_where_each_subgroup_agrees() {
    accepted(|m| {
        sum(m);
    });
    accepted(|m| {
        let id = m.builtin(Builtin::SubgroupId);
        sum_if_zero(m, id);
    });
    accepted(|m| {
        let id = m.builtin(Builtin::WorkgroupId(Axis::X));
        sum_if_zero(m, id);
    });
    accepted(|m| {
        let result = sum(m);
        sum_if_zero(m, result);
    });
    let cause = refused(|m| {
        let id = m.builtin(Builtin::SubgroupInvocationId);
        sum_if_zero(m, id);
    });
    assert_eq!(cause.root.level, Level::Varying);
}

#[test]
fn the_subgroups_own_is_not_even_enough_for_a_workgroup() {
    let cause = refused(|m| {
        let result = sum(m);
        let c = m.is_zero(result);
        m.if_(c, |m| m.workgroup());
    });
    assert_eq!(
        (cause.root.level, cause.root.why),
        (Level::Subgroup, Why::Subgroup)
    );
    let (program, uniformity) = analysed(|m| {
        let result = sum(m);
        let c = m.is_zero(result);
        m.if_(c, |m| m.grid());
    });
    let error = uniformity.refusal(&program).expect("it is not proven");
    let text = error.message();
    assert!(text.contains("differs between subgroups"), "{text}");
    assert!(
        text.contains("is the result of a subgroup operation"),
        "{text}"
    );
}

#[test]
fn results_are_the_subgroups_if_all_of_it_came() {
    for (op, level) in [
        (SUM, Level::Subgroup),
        (SubgroupOp::First, Level::Subgroup),
        (SubgroupOp::Inclusive(Fold::Add), Level::Varying),
        (SubgroupOp::Shuffle, Level::Varying),
    ] {
        let mut result = None;
        let (_, uniformity) = analysed(|m| {
            let x = m.gid();
            let lane = (op == SubgroupOp::Shuffle).then_some(Const::u32(0).into());
            result = Some(m.subgroup(op, x, lane));
        });
        let Some(Operand::Value(result)) = result else {
            unreachable!()
        };
        assert_eq!(uniformity.values[result.index()], level, "{op:?}");
    }
}

#[test]
fn nothing_is_shared_where_subgroups_go_by_themselves() {
    let shared = |lonely: bool| {
        let mut value = None;
        let (_, uniformity) = analysed(|m| {
            let id = m.builtin(Builtin::WorkgroupId(Axis::X));
            value = Some(id);
            match lonely {
                true => {
                    let own = m.builtin(Builtin::SubgroupId);
                    sum_if_zero(m, own);
                }
                false => sum_if_zero(m, id),
            }
        });
        match value {
            Some(Operand::Value(value)) => uniformity.values[value.index()],
            _ => unreachable!(),
        }
    };
    assert_eq!(shared(false), Level::Workgroup);
    assert_eq!(shared(true), Level::Varying);
}
