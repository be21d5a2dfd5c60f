//! Intervals of integers, and what the operations of the IR make of them.
//!
//! Numbers are what the type says: an i32 of all ones is -1 here. A computation that may wrap gives all
//! of its type.

use crate::ir::{BinaryOp, Builtin, CompareOp, Const, MathOp, Scalar, UnaryOp};

/// `lo..=hi`, not empty. A bool is 0 or 1; of floats nothing is known, and theirs are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub lo: i128,
    pub hi: i128,
}

/// The lowest and the highest number of a type.
pub fn of_type(ty: Scalar) -> Interval {
    let (lo, hi) = match ty {
        Scalar::Bool => (0, 1),
        Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
        Scalar::U32 => (0, u32::MAX.into()),
        Scalar::U64 | Scalar::F16 | Scalar::F32 | Scalar::F64 => (0, u64::MAX.into()),
    };
    Interval { lo, hi }
}

/// A constant as a number; of a float, its bits.
pub fn number(c: Const) -> i128 {
    match c.ty {
        Scalar::I32 => (c.bits as u32).cast_signed().into(),
        Scalar::I64 => c.bits.cast_signed().into(),
        _ => c.bits.into(),
    }
}

impl Interval {
    pub fn new(lo: i128, hi: i128) -> Interval {
        debug_assert!(lo <= hi);
        Interval { lo, hi }
    }

    pub fn one(n: i128) -> Interval {
        Interval { lo: n, hi: n }
    }

    pub fn join(self, other: Interval) -> Interval {
        Interval::new(self.lo.min(other.lo), self.hi.max(other.hi))
    }

    /// What both allow; `None` if nothing is left, which says that the place is never reached.
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    pub fn is_within(self, other: Interval) -> bool {
        self.lo >= other.lo && self.hi <= other.hi
    }

    pub fn has(self, n: i128) -> bool {
        self.lo <= n && n <= self.hi
    }

    fn known(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }
}

/// The hull of what was computed exactly, if all of it is a number of the type.
fn exact<const N: usize>(ty: Scalar, ends: [Option<i128>; N]) -> Interval {
    let all = of_type(ty);
    let mut hull: Option<Interval> = None;
    for end in ends {
        let Some(end) = end.filter(|&end| all.has(end)) else {
            return all;
        };
        let end = Interval::one(end);
        hull = Some(hull.map_or(end, |hull| hull.join(end)));
    }
    hull.unwrap_or(all)
}

pub fn builtin(builtin: Builtin, size: [u32; 3], subgroup: u32) -> Interval {
    let of = |count: i128| Interval::new(0, (count - 1).max(0));
    let invocations: i128 = size.iter().map(|&n| i128::from(n)).product();
    let subgroup = i128::from(subgroup.max(1));
    let subgroups = ((invocations + subgroup - 1) / subgroup).max(1);
    match builtin {
        Builtin::LocalInvocationId(axis) => of(size[axis.index()].into()),
        Builtin::LocalInvocationIndex => of(invocations),
        Builtin::SubgroupInvocationId => of(subgroup.min(invocations)),
        Builtin::SubgroupId => of(subgroups),
        Builtin::SubgroupSize => Interval::one(subgroup),
        Builtin::NumSubgroups => Interval::one(subgroups),
        // Who asks is in one of them.
        Builtin::NumWorkgroups(_) => Interval::new(1, u32::MAX.into()),
        Builtin::WorkgroupId(_) => Interval::new(0, i128::from(u32::MAX) - 1),
        Builtin::GlobalInvocationId(_) => of_type(Scalar::U32),
    }
}

pub fn unary(op: UnaryOp, ty: Scalar, x: Interval) -> Interval {
    match op {
        UnaryOp::Neg => exact(ty, [Some(-x.lo), Some(-x.hi)]),
        UnaryOp::Not => {
            // The complement turns the type's numbers round.
            let all = of_type(ty);
            let turned = |n: i128| all.lo + (all.hi - n);
            Interval::new(turned(x.hi), turned(x.lo))
        }
    }
}

pub fn binary(op: BinaryOp, ty: Scalar, a: Interval, b: Interval) -> Interval {
    let all = of_type(ty);
    let corners = |f: fn(i128, i128) -> Option<i128>| {
        exact(
            ty,
            [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)],
        )
    };
    match op {
        BinaryOp::Add => exact(ty, [Some(a.lo + b.lo), Some(a.hi + b.hi)]),
        BinaryOp::Sub => exact(ty, [Some(a.lo - b.hi), Some(a.hi - b.lo)]),
        BinaryOp::Mul => corners(i128::checked_mul),
        BinaryOp::Div => divide(ty, a, b),
        BinaryOp::Rem => remainder(a, b),
        // An operand that is not negative clears the sign and all that is above it.
        BinaryOp::And => match (a.lo >= 0, b.lo >= 0) {
            (true, true) => Interval::new(0, a.hi.min(b.hi)),
            (true, false) => Interval::new(0, a.hi),
            (false, true) => Interval::new(0, b.hi),
            (false, false) => all,
        },
        BinaryOp::Or | BinaryOp::Xor if a.lo >= 0 && b.lo >= 0 => {
            // Every bit up to the highest that either may have.
            let bits = 128 - a.hi.max(b.hi).leading_zeros();
            let lo = match op {
                BinaryOp::Or => a.lo.max(b.lo),
                _ => 0,
            };
            Interval::new(lo, (1 << bits) - 1)
        }
        BinaryOp::Or | BinaryOp::Xor => all,
        BinaryOp::Shl | BinaryOp::Shr => shift(op, ty, a, b),
    }
}

fn shift(op: BinaryOp, ty: Scalar, a: Interval, count: Interval) -> Interval {
    let bits = i128::from(ty.bits());
    let (least, most) = match count.known() {
        Some(count) => (count.rem_euclid(bits), count.rem_euclid(bits)),
        None if count.lo >= 0 && count.hi < bits => (count.lo, count.hi),
        None => (0, bits - 1),
    };
    let ends = |f: fn(i128, i128) -> Option<i128>| {
        exact(
            ty,
            [f(a.lo, least), f(a.lo, most), f(a.hi, least), f(a.hi, most)],
        )
    };
    match op {
        BinaryOp::Shl => ends(|x, n| x.checked_mul(1 << n)),
        _ => ends(|x, n| Some(x >> n)),
    }
}

/// `x / 0` is x, and the lowest number divided by -1 itself.
fn divide(ty: Scalar, a: Interval, b: Interval) -> Interval {
    if a.lo >= 0 && b.lo >= 0 {
        // Division by 0 is as by 1.
        return Interval::new(a.lo / b.hi.max(1), a.hi / b.lo.max(1));
    }
    // No quotient is further from 0 than its dividend.
    let most = a.lo.abs().max(a.hi.abs());
    exact(ty, [Some(-most), Some(most)])
}

/// Of the dividend's sign, and no further from 0 than it; `x % 0` is 0.
fn remainder(a: Interval, b: Interval) -> Interval {
    let most = (b.lo.abs().max(b.hi.abs()) - 1).max(0);
    if a.lo >= 0 && b.lo > a.hi {
        return a;
    }
    Interval::new((-most).max(a.lo).min(0), most.min(a.hi).max(0))
}

pub fn convert(from: Scalar, to: Scalar, x: Interval) -> Interval {
    let all = of_type(to);
    match (from, to) {
        (from, _) if from.is_float() => all,
        (_, Scalar::Bool) => match x.known() {
            Some(n) => Interval::one((n != 0).into()),
            None if x.has(0) => all,
            None => Interval::one(1),
        },
        _ if x.is_within(all) => x,
        _ => all,
    }
}

pub fn bitcast(from: Scalar, to: Scalar, x: Interval) -> Interval {
    let all = of_type(to);
    if !from.is_int() || !to.is_int() {
        return all;
    }
    let turn = 1 << to.bits();
    // The numbers as they are, or all of them a turn of the type away.
    [0, -turn, turn]
        .into_iter()
        .map(|by| Interval::new(x.lo + by, x.hi + by))
        .find(|moved| moved.is_within(all))
        .unwrap_or(all)
}

pub fn math(op: MathOp, ty: Scalar, args: &[Interval]) -> Interval {
    let all = of_type(ty);
    match (op, args) {
        _ if !ty.is_int() => all,
        (MathOp::Min, [a, b]) => Interval::new(a.lo.min(b.lo), a.hi.min(b.hi)),
        (MathOp::Max, [a, b]) => Interval::new(a.lo.max(b.lo), a.hi.max(b.hi)),
        (MathOp::Abs, [a]) if a.lo >= 0 => *a,
        (MathOp::Abs, [a]) => exact(ty, [Some(0), Some(-a.lo), Some(a.hi.abs())]),
        (MathOp::CountOneBits | MathOp::CountLeadingZeros | MathOp::CountTrailingZeros, [_]) => {
            Interval::new(0, ty.bits().into())
        }
        _ => all,
    }
}

/// Whether a comparison of integers is decided.
pub fn compare(op: CompareOp, a: Interval, b: Interval) -> Option<bool> {
    let (surely, never) = match op {
        CompareOp::Lt => (a.hi < b.lo, a.lo >= b.hi),
        CompareOp::Le => (a.hi <= b.lo, a.lo > b.hi),
        CompareOp::Gt => (a.lo > b.hi, a.hi <= b.lo),
        CompareOp::Ge => (a.lo >= b.hi, a.hi < b.lo),
        CompareOp::Eq => (a.known().is_some() && a == b, a.hi < b.lo || a.lo > b.hi),
        CompareOp::Ne => (a.hi < b.lo || a.lo > b.hi, a.known().is_some() && a == b),
    };
    match (surely, never) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lo: i128, hi: i128) -> Interval {
        Interval::new(lo, hi)
    }

    /// Where operations wrap, change sign, or are something special.
    fn numbers(ty: Scalar) -> Vec<i128> {
        let all = of_type(ty);
        let near = |n: i128| (n - 3)..=(n + 3);
        let mut numbers: Vec<i128> = (near(all.lo).chain(near(0)).chain(near(100)))
            .chain(near(1 << 16))
            .chain(near(all.hi))
            .filter(|&n| all.has(n))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn wrapped(ty: Scalar, x: i128) -> i128 {
        let all = of_type(ty);
        (x - all.lo).rem_euclid(1 << ty.bits()) + all.lo
    }

    const ALL: [BinaryOp; 10] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::Shr,
    ];

    fn wide(op: BinaryOp, ty: Scalar, a: i128, b: i128) -> i128 {
        let count = b.rem_euclid(ty.bits().into());
        match op {
            BinaryOp::Shl => wrapped(ty, a << count),
            BinaryOp::Shr => a >> count,
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                let exact = match op {
                    BinaryOp::Div if b == 0 => a,
                    BinaryOp::Div => a / b,
                    BinaryOp::Rem if b == 0 => 0,
                    BinaryOp::Rem => a % b,
                    BinaryOp::And => a & b,
                    BinaryOp::Or => a | b,
                    _ => a ^ b,
                };
                wrapped(ty, exact)
            }
            BinaryOp::Add => wrapped(ty, a + b),
            BinaryOp::Sub => wrapped(ty, a - b),
            BinaryOp::Mul => wrapped(ty, a * b),
        }
    }

    #[test]
    fn every_result_of_two_operands_is_within_the_interval() {
        for ty in [Scalar::U32, Scalar::I32] {
            let numbers = numbers(ty);
            // Intervals between any two of them that are not far apart in the list.
            let intervals: Vec<Interval> = (0..numbers.len())
                .flat_map(|i| [0, 1, 4, 9, 20].map(|n| (i, i + n)))
                .filter(|&(_, j)| j < numbers.len())
                .map(|(i, j)| of(numbers[i], numbers[j]))
                .collect();
            for op in ALL {
                for &x in &intervals {
                    for &y in &intervals {
                        let found = binary(op, ty, x, y);
                        assert!(found.is_within(of_type(ty)));
                        let inside =
                            |i: Interval| numbers.iter().copied().filter(move |&n| i.has(n));
                        for a in inside(x) {
                            for b in inside(y) {
                                let r = wide(op, ty, a, b);
                                assert!(
                                    found.has(r),
                                    "{op:?} {ty}: {a}, {b} is {r}, not in {found:?}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn small_operands_are_tried_one_by_one() {
        for op in ALL {
            for (x, y) in [
                (of(0, 9), of(0, 3)),
                (of(5, 11), of(4, 7)),
                (of(-6, 3), of(-2, 5)),
                (of(-9, -2), of(1, 3)),
            ] {
                let found = binary(op, Scalar::I32, x, y);
                for a in x.lo..=x.hi {
                    for b in y.lo..=y.hi {
                        let r = wide(op, Scalar::I32, a, b);
                        assert!(found.has(r), "{op:?}: {a}, {b} is {r}, not in {found:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn intervals_are_as_narrow_as_indices_need() {
        let u = |op, a, b| binary(op, Scalar::U32, a, b);
        assert_eq!(u(BinaryOp::Add, of(0, 127), of(1, 128)), of(1, 255));
        assert_eq!(
            u(BinaryOp::Add, of(0, 127), of(1, 0xffff_ffff)),
            of_type(Scalar::U32)
        );
        assert_eq!(u(BinaryOp::Sub, of(256, 256), of(0, 256)), of(0, 256));
        assert_eq!(
            u(BinaryOp::Sub, of(255, 256), of(0, 256)),
            of_type(Scalar::U32)
        );
        assert_eq!(u(BinaryOp::Mul, of(0, 3), of(64, 64)), of(0, 192));
        assert_eq!(u(BinaryOp::Div, of(0, 128), of(2, 2)), of(0, 64));
        assert_eq!(u(BinaryOp::Div, of(7, 128), of(0, 2)), of(3, 128));
        assert_eq!(u(BinaryOp::Rem, of(0, 1000), of(10, 10)), of(0, 9));
        assert_eq!(u(BinaryOp::Rem, of(0, 5), of(10, 12)), of(0, 5));
        assert_eq!(
            u(BinaryOp::And, of(0, 0xffff_ffff), of(255, 255)),
            of(0, 255)
        );
        assert_eq!(u(BinaryOp::Shr, of(0, 0xffff_ffff), of(24, 24)), of(0, 255));
        assert_eq!(u(BinaryOp::Shl, of(0, 15), of(4, 4)), of(0, 240));
        let i = |op, a, b| binary(op, Scalar::I32, a, b);
        assert_eq!(i(BinaryOp::Rem, of(-100, 100), of(4, 4)), of(-3, 3));
        assert_eq!(i(BinaryOp::And, of(-100, 100), of(4, 4)), of(0, 4));
        assert_eq!(
            i(BinaryOp::Div, of_type(Scalar::I32), of(-1, -1)),
            of_type(Scalar::I32)
        );
        assert_eq!(
            bitcast(Scalar::U32, Scalar::I32, of(0xffff_fffe, 0xffff_ffff)),
            of(-2, -1)
        );
        assert_eq!(
            bitcast(Scalar::I32, Scalar::U32, of(-1, 0)),
            of_type(Scalar::U32)
        );
        assert_eq!(
            convert(Scalar::I32, Scalar::U64, of(-1, 0)),
            of_type(Scalar::U64)
        );
        assert_eq!(
            unary(UnaryOp::Not, Scalar::U32, of(0, 1)),
            of(0xffff_fffe, 0xffff_ffff)
        );
        assert_eq!(
            unary(UnaryOp::Neg, Scalar::I32, of_type(Scalar::I32)),
            of_type(Scalar::I32)
        );
    }
}
