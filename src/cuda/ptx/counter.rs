//! What a loop counts, and how often it turns.
//!
//! A loop counts a local if its header compares the local, and the local's only assignment in the loop is
//! the step at the end of each turn.

use super::header::{Definition, Header, Inside, step_of};
use crate::ir::{
    BinaryOp, Body, CompareOp, Const, Expr, LocalId, Operand, Program, Scalar, UnaryOp,
};

/// Turns that are followed one by one; those of all shifts and doublings.
pub const FOLLOWED: usize = 64;
/// Definitions that a step or a test is followed through.
const DEEPEST: u32 = 16;

pub struct Counter<'l, 'p> {
    program: &'p Program,
    header: Header<'p>,
    inside: &'l Inside<'p>,
    pub local: LocalId,
    /// The loop goes on while `local op bound`.
    pub op: CompareOp,
    pub bound: Operand,
    /// The local's next value.
    next: Operand,
}

impl<'l, 'p> Counter<'l, 'p> {
    pub fn of(
        program: &'p Program,
        header: Header<'p>,
        continuing: &'p Body,
        inside: &'l Inside<'p>,
    ) -> Option<Counter<'l, 'p>> {
        let (op, sides) = comparison(inside, header)?;
        let [this, that] = sides;
        [(op, this, that), (flipped(op), that, this)]
            .into_iter()
            .find_map(|(op, x, bound)| {
                let Some(&Expr::Local(local)) = let_of(inside, x) else {
                    return None;
                };
                let counts = program.local_type(local).is_int()
                    && inside.assigned.get(&local) == Some(&1)
                    && inside.is_invariant(program, bound);
                let next = step_of(local, continuing)
                    .filter(|next| counts && matches!(next, Operand::Value(_)))?;
                Some(Counter {
                    program,
                    header,
                    inside,
                    local,
                    op,
                    bound,
                    next,
                })
            })
    }

    /// What a turn adds to the local, or subtracts from it.
    pub fn step(&self) -> Option<(BinaryOp, Operand)> {
        let Some(&Expr::Binary(op, a, b)) = let_of(self.inside, self.next) else {
            return None;
        };
        let is_step = |x, step| self.is_own(x) && self.inside.is_invariant(self.program, step);
        match op {
            BinaryOp::Add | BinaryOp::Sub if is_step(a, b) => Some((op, b)),
            BinaryOp::Add if is_step(b, a) => Some((op, a)),
            _ => None,
        }
    }

    /// Whether it is what the local holds until the turn's end.
    fn is_own(&self, x: Operand) -> bool {
        matches!(let_of(self.inside, x), Some(&Expr::Local(local)) if local == self.local)
    }

    /// The most turns of a count by a constant below a constant, of one that is divided or shifted down, and of a short
    /// one.
    pub fn most(&self, starts: Option<&[Const]>) -> Option<u64> {
        (self.most_added(starts))
            .or_else(|| self.most_divided())
            .or_else(|| self.most_followed(starts?))
    }

    /// Of the turns from any of the starts, if they can be followed.
    fn most_followed(&self, starts: &[Const]) -> Option<u64> {
        let turns = |&start| Some(self.turns(start)?.len() as u64);
        let counts = starts.iter().map(turns).collect::<Option<Vec<_>>>()?;
        Some(counts.into_iter().max()? + 1)
    }

    fn most_added(&self, starts: Option<&[Const]>) -> Option<u64> {
        let (Operand::Const(bound), (BinaryOp::Add, Operand::Const(step))) =
            (self.bound, self.step()?)
        else {
            return None;
        };
        let step = u64::try_from(signed(step)).ok()?;
        let end = match self.op {
            CompareOp::Lt => signed(bound),
            CompareOp::Le => signed(bound) + 1,
            _ => return None,
        };
        // Only unsigned, or signed from a start that is known: else the range below is unknown.
        let lowest = match self.program.local_type(self.local).is_signed() {
            false => 0,
            true => starts?.iter().map(|&c| signed(c)).min()?.min(0),
        };
        let range = u64::try_from(end.checked_sub(lowest)?).ok()?;
        // The step must not jump over the type's end: with so short a range below it, it cannot.
        let ends_early = end <= i128::from(i32::MAX) - i128::from(step);
        ((1..=1 << 20).contains(&step) && ends_early).then(|| range.div_ceil(step) + 1)
    }

    /// An unsigned number, by two or more, until it is zero or still higher.
    fn most_divided(&self) -> Option<u64> {
        let ty = self.program.local_type(self.local);
        let (Some(&Expr::Binary(op, x, Operand::Const(by))), Operand::Const(bound)) =
            (let_of(self.inside, self.next), self.bound)
        else {
            return None;
        };
        let divides = match op {
            BinaryOp::Div => by.bits >= 2,
            BinaryOp::Shr => by.bits % u64::from(ty.bits()) >= 1,
            _ => false,
        };
        let ends_at_zero = match self.op {
            CompareOp::Gt => true,
            CompareOp::Ge => bound.bits > 0,
            CompareOp::Ne => bound.bits == 0,
            _ => false,
        };
        let ends = divides && ends_at_zero && self.is_own(x) && !ty.is_signed();
        ends.then(|| u64::from(ty.bits()) + 1)
    }

    /// The local at the start of each turn, if it starts as `start` and the turns are few.
    pub fn turns(&self, start: Const) -> Option<Vec<Const>> {
        let mut turns = Vec::new();
        let mut now = start;
        loop {
            let cond = self.value(self.header.cond, now, DEEPEST)?;
            if (cond.bits == 1) == self.header.leaves {
                return Some(turns);
            }
            if turns.len() == FOLLOWED {
                return None;
            }
            turns.push(now);
            now = self.value(self.next, now, DEEPEST)?;
        }
    }

    /// An operand while the local is `now`.
    fn value(&self, operand: Operand, now: Const, depth: u32) -> Option<Const> {
        let id = match operand {
            Operand::Const(c) => return Some(c),
            Operand::Value(id) => id,
        };
        let depth = depth.checked_sub(1)?;
        let ty = self.program.value_type(id);
        match *let_of(self.inside, operand)? {
            Expr::Local(local) => (local == self.local).then_some(now),
            Expr::Unary(UnaryOp::Not, x) if ty == Scalar::Bool => {
                Some(Const::bool(self.value(x, now, depth)?.bits == 0))
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(a, now, depth)?, self.value(b, now, depth)?);
                computed(op, a, b)
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.value(a, now, depth)?, self.value(b, now, depth)?);
                let holds = a.ty.is_int().then(|| holds(op, signed(a), signed(b)))?;
                Some(Const::bool(holds))
            }
            _ => None,
        }
    }
}

fn let_of<'p>(inside: &Inside<'p>, x: Operand) -> Option<&'p Expr> {
    let Operand::Value(id) = x else { return None };
    match inside.values.get(&id) {
        Some(&Definition::Let(expr)) => Some(expr),
        _ => None,
    }
}

/// The header's test, as what holds while the loop goes on.
fn comparison(inside: &Inside<'_>, header: Header<'_>) -> Option<(CompareOp, [Operand; 2])> {
    let mut goes_on = !header.leaves;
    let mut cond = header.cond;
    for _ in 0..DEEPEST {
        match *let_of(inside, cond)? {
            Expr::Unary(UnaryOp::Not, x) => {
                goes_on = !goes_on;
                cond = x;
            }
            Expr::Compare(op, a, b) => {
                return Some((if goes_on { op } else { inverse(op) }, [a, b]));
            }
            _ => return None,
        }
    }
    None
}

/// What holds when `op` does not; of integers.
fn inverse(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}

/// What says the same of the operands the other way round.
fn flipped(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        same => same,
    }
}

fn holds(op: CompareOp, a: i128, b: i128) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

/// A constant as a number.
pub fn signed(c: Const) -> i128 {
    match c.ty {
        Scalar::I32 => i128::from((c.bits as u32).cast_signed()),
        Scalar::I64 => i128::from(c.bits.cast_signed()),
        _ => i128::from(c.bits),
    }
}

/// What an operation makes of integers; nothing for what loops do not count by.
fn computed(op: BinaryOp, a: Const, b: Const) -> Option<Const> {
    let ty = a.ty;
    if !ty.is_int() {
        return None;
    }
    let width = u64::from(ty.bits());
    let (x, y) = (signed(a), signed(b));
    let count = (b.bits % width) as u32;
    let result = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div if y > 0 => x / y,
        BinaryOp::Rem if y > 0 => x % y,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => x << count,
        BinaryOp::Shr => x >> count,
        _ => return None,
    };
    let bits = result as u64 & (u64::MAX >> (64 - width));
    Some(Const { ty, bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_shift_as_they_do_in_a_program() {
        let of = |op, a, b| signed(computed(op, a, b).unwrap());
        assert_eq!(of(BinaryOp::Sub, Const::u32(0), Const::u32(1)), 0xffff_ffff);
        assert_eq!(
            of(BinaryOp::Add, Const::i32(i32::MAX), Const::i32(1)),
            i32::MIN.into()
        );
        assert_eq!(of(BinaryOp::Mul, Const::u32(1 << 31), Const::u32(2)), 0);
        assert_eq!(
            of(BinaryOp::Mul, Const::u64(u64::MAX), Const::u64(u64::MAX)),
            1
        );
        assert_eq!(of(BinaryOp::Shr, Const::i32(-8), Const::u32(33)), -4);
        assert_eq!(of(BinaryOp::Shl, Const::u64(1), Const::u32(63)), 1 << 63);
        assert_eq!(of(BinaryOp::Div, Const::i32(-7), Const::i32(2)), -3);
        assert_eq!(computed(BinaryOp::Div, Const::u32(7), Const::u32(0)), None);
        assert_eq!(
            computed(BinaryOp::Add, Const::f32(1.0), Const::f32(1.0)),
            None
        );
    }

    #[test]
    fn comparisons_are_turned_round() {
        for op in [
            CompareOp::Eq,
            CompareOp::Ne,
            CompareOp::Lt,
            CompareOp::Le,
            CompareOp::Gt,
            CompareOp::Ge,
        ] {
            for (a, b) in [(1, 2), (2, 2), (3, 2)] {
                assert_eq!(holds(op, a, b), holds(flipped(op), b, a));
                assert_eq!(holds(op, a, b), !holds(inverse(op), a, b));
            }
        }
    }
}
