//! Operations in which the invocations of a subgroup take part.

use super::Scalar;

/// How two values become one. Floats as the operations of [`BinaryOp`](super::BinaryOp) and
/// [`MathOp`](super::MathOp) of the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    Add,
    Mul,
    Min,
    Max,
    /// Integers only, as the next two.
    And,
    Or,
    Xor,
}

/// What the *active* invocations of a subgroup, those that came to the operation together, make of their
/// operands. They are ranked by their index, from 0.
///
/// Rounding depends on the order, so there is one. A reduction is a tree: at distance 1, then 2, 4, 8 and 16,
/// what rank r holds is combined with what rank r + distance holds, if there is one; rank 0 then holds the
/// result. A scan combines, at the same distances, what rank r - distance holds with what rank r holds, for
/// all ranks at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubgroupOp {
    /// bool to u32: bit i is the operand of the invocation with the subgroup invocation id i, 0 if it is not
    /// active.
    Ballot,
    /// On bool.
    All,
    Any,
    Reduce(Fold),
    /// Each invocation's own operand is the last that is combined.
    Inclusive(Fold),
    /// All lower ranks' operands; of rank 0, the number that changes nothing (`Add` and `Mul` only).
    Exclusive(Fold),
    /// The operand of rank 0.
    First,
    /// The operand of the invocation with the subgroup invocation id `lane`; of the invocation itself if no
    /// active one has it.
    Shuffle,
}

impl SubgroupOp {
    /// The results' type, if the operation takes operands of type `of`.
    pub fn result(self, of: Scalar) -> Option<Scalar> {
        let fits = match self {
            SubgroupOp::Ballot | SubgroupOp::All | SubgroupOp::Any => of == Scalar::Bool,
            SubgroupOp::Reduce(Fold::And | Fold::Or | Fold::Xor) => of.is_int(),
            SubgroupOp::Exclusive(fold) | SubgroupOp::Inclusive(fold) => {
                matches!(fold, Fold::Add | Fold::Mul) && of != Scalar::Bool
            }
            SubgroupOp::Reduce(_) | SubgroupOp::First | SubgroupOp::Shuffle => of != Scalar::Bool,
        };
        let result = match self {
            SubgroupOp::Ballot => Scalar::U32,
            _ => of,
        };
        fits.then_some(result)
    }

    /// Whether all active invocations get the same.
    pub fn is_shared(self) -> bool {
        match self {
            SubgroupOp::Ballot
            | SubgroupOp::All
            | SubgroupOp::Any
            | SubgroupOp::Reduce(_)
            | SubgroupOp::First => true,
            SubgroupOp::Inclusive(_) | SubgroupOp::Exclusive(_) | SubgroupOp::Shuffle => false,
        }
    }
}
