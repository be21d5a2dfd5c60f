//! What the active invocations of a subgroup make of their operands; by recursion, where backends loop.

use super::{math, ops};
use vyre::ir::{BinaryOp, Fold, MathOp, Scalar, SubgroupOp};

/// One active invocation's part: its lane, its operand, and the lane that it names.
#[derive(Clone, Copy)]
pub struct Part {
    pub lane: u32,
    pub operand: u64,
    pub named: u64,
}

fn fold(fold: Fold, ty: Scalar, a: u64, b: u64) -> u64 {
    let op = match fold {
        Fold::Min => return math::math(MathOp::Min, ty, &[a, b]),
        Fold::Max => return math::math(MathOp::Max, ty, &[a, b]),
        Fold::Add => BinaryOp::Add,
        Fold::Mul => BinaryOp::Mul,
        Fold::And => BinaryOp::And,
        Fold::Or => BinaryOp::Or,
        Fold::Xor => BinaryOp::Xor,
    };
    ops::binary(op, ty, a, b)
}

/// The tree over ranks `from..to`.
fn tree(op: Fold, ty: Scalar, parts: &[Part]) -> u64 {
    if let [one] = parts {
        return one.operand;
    }
    let (left, right) = parts.split_at(parts.len().next_power_of_two() / 2);
    fold(op, ty, tree(op, ty, left), tree(op, ty, right))
}

/// What `rank` holds once the scan has come to `distance`.
fn scanned(op: Fold, ty: Scalar, parts: &[Part], rank: usize, distance: usize) -> u64 {
    let Some(half) = (distance > 1).then_some(distance / 2) else {
        return parts[rank].operand;
    };
    let own = scanned(op, ty, parts, rank, half);
    match rank.checked_sub(half) {
        Some(before) => fold(op, ty, scanned(op, ty, parts, before, half), own),
        None => own,
    }
}

/// The results, in the order of the parts.
pub fn results(op: SubgroupOp, ty: Scalar, parts: &[Part]) -> Vec<u64> {
    let one = |rank: usize| match op {
        SubgroupOp::Ballot => parts.iter().fold(0, |all, p| all | p.operand << p.lane),
        SubgroupOp::All => parts.iter().all(|p| p.operand == 1).into(),
        SubgroupOp::Any => parts.iter().any(|p| p.operand == 1).into(),
        SubgroupOp::Reduce(op) => tree(op, ty, parts),
        SubgroupOp::Inclusive(op) => scanned(op, ty, parts, rank, 32),
        SubgroupOp::Exclusive(op) => match (rank.checked_sub(1), op) {
            (Some(before), op) => scanned(op, ty, parts, before, 32),
            (None, Fold::Add) => 0,
            (None, _) => ops::convert(Scalar::U32, ty, 1),
        },
        SubgroupOp::First => parts[0].operand,
        SubgroupOp::Shuffle => {
            let named = parts
                .iter()
                .find(|p| u64::from(p.lane) == parts[rank].named);
            named.unwrap_or(&parts[rank]).operand
        }
    };
    (0..parts.len()).map(one).collect()
}
