//! What is computed most often, without looking at names.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quick {
    Move,
    /// Two registers of 32 bits in one of 64.
    Pack,
    Add,
    Sub,
    Mul,
    Mad,
    And,
    Or,
    Xor,
    Not,
    Select,
    ShiftLeft32,
    ShiftRight32,
    ShiftLeft64,
    ShiftRight64,
    WideUnsigned,
    WideSigned,
    MadWideUnsigned,
    MadWideSigned,
    Low32,
    SignExtend32,
    Set(Relation, Of),
    AddF32,
    SubF32,
    MulF32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    U32,
    S32,
    U64,
    S64,
}

fn relation(name: &str) -> Option<Relation> {
    Some(match name {
        "eq" => Relation::Equal,
        "ne" => Relation::Unequal,
        "lt" | "lo" => Relation::Less,
        "le" | "ls" => Relation::LessEqual,
        "gt" | "hi" => Relation::Greater,
        "ge" | "hs" => Relation::GreaterEqual,
        _ => return None,
    })
}

/// The quick way of an instruction, if there is one. The result's register cuts it to its bits.
pub fn of(op: &[&str]) -> Option<Quick> {
    Some(match *op {
        ["mov", _] | ["cvta", ..] => Quick::Move,
        ["add", "u32" | "s32" | "u64" | "s64"] => Quick::Add,
        ["sub", "u32" | "s32" | "u64" | "s64"] => Quick::Sub,
        ["mul", "lo", "u32" | "s32" | "u64" | "s64"] => Quick::Mul,
        ["mad", "lo", "u32" | "s32" | "u64" | "s64"] => Quick::Mad,
        ["and", "b32" | "b64" | "pred"] => Quick::And,
        ["or", "b32" | "b64" | "pred"] => Quick::Or,
        ["xor", "b32" | "b64" | "pred"] => Quick::Xor,
        ["not", "b32" | "b64" | "pred"] => Quick::Not,
        ["selp", _] => Quick::Select,
        ["shl", "b32"] => Quick::ShiftLeft32,
        ["shr", "u32" | "b32"] => Quick::ShiftRight32,
        ["shl", "b64"] => Quick::ShiftLeft64,
        ["shr", "u64" | "b64"] => Quick::ShiftRight64,
        ["mul", "wide", "u32"] => Quick::WideUnsigned,
        ["mul", "wide", "s32"] => Quick::WideSigned,
        ["mad", "wide", "u32"] => Quick::MadWideUnsigned,
        ["mad", "wide", "s32"] => Quick::MadWideSigned,
        ["cvt", "u64" | "u32" | "s32", "u32"] | ["cvt", "u32" | "s32", "u64" | "s64" | "s32"] => {
            Quick::Low32
        }
        ["cvt", "s64" | "u64", "s32"] => Quick::SignExtend32,
        ["setp", name, "u32" | "b32"] => Quick::Set(relation(name)?, Of::U32),
        ["setp", name, "s32"] => Quick::Set(relation(name)?, Of::S32),
        ["setp", name, "u64" | "b64"] => Quick::Set(relation(name)?, Of::U64),
        ["setp", name, "s64"] => Quick::Set(relation(name)?, Of::S64),
        ["add", "rn", "f32"] => Quick::AddF32,
        ["sub", "rn", "f32"] => Quick::SubF32,
        ["mul", "rn", "f32"] => Quick::MulF32,
        _ => return None,
    })
}

fn float(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn signed(x: u64) -> u64 {
    i64::from(x as i32).cast_unsigned()
}

fn shift(count: u64) -> u32 {
    count as u32
}

#[inline(always)]
pub fn compute(op: Quick, [a, b, c]: [u64; 3]) -> u64 {
    match op {
        Quick::Move => a,
        Quick::Pack => a & u64::from(u32::MAX) | b << 32,
        Quick::Add => a.wrapping_add(b),
        Quick::Sub => a.wrapping_sub(b),
        Quick::Mul => a.wrapping_mul(b),
        Quick::Mad => a.wrapping_mul(b).wrapping_add(c),
        Quick::And => a & b,
        Quick::Or => a | b,
        Quick::Xor => a ^ b,
        Quick::Not => !a,
        Quick::Select => match c & 1 {
            1 => a,
            _ => b,
        },
        Quick::ShiftLeft32 => u64::from((a as u32).checked_shl(shift(b)).unwrap_or(0)),
        Quick::ShiftRight32 => u64::from((a as u32).checked_shr(shift(b)).unwrap_or(0)),
        Quick::ShiftLeft64 => a.checked_shl(shift(b)).unwrap_or(0),
        Quick::ShiftRight64 => a.checked_shr(shift(b)).unwrap_or(0),
        Quick::WideUnsigned => u64::from(a as u32) * u64::from(b as u32),
        Quick::WideSigned => signed(a).wrapping_mul(signed(b)),
        Quick::MadWideUnsigned => (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c),
        Quick::MadWideSigned => signed(a).wrapping_mul(signed(b)).wrapping_add(c),
        Quick::Low32 => u64::from(a as u32),
        Quick::SignExtend32 => signed(a),
        Quick::Set(relation, of) => {
            let order = match of {
                Of::U32 => (a as u32).cmp(&(b as u32)),
                Of::S32 => (a as i32).cmp(&(b as i32)),
                Of::U64 => a.cmp(&b),
                Of::S64 => a.cast_signed().cmp(&b.cast_signed()),
            };
            u64::from(match relation {
                Relation::Equal => order.is_eq(),
                Relation::Unequal => order.is_ne(),
                Relation::Less => order.is_lt(),
                Relation::LessEqual => order.is_le(),
                Relation::Greater => order.is_gt(),
                Relation::GreaterEqual => order.is_ge(),
            })
        }
        Quick::AddF32 => (float(a) + float(b)).to_bits().into(),
        Quick::SubF32 => (float(a) - float(b)).to_bits().into(),
        Quick::MulF32 => (float(a) * float(b)).to_bits().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::compute;

    const EDGES: [u64; 9] = [
        0,
        1,
        31,
        32,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 63,
        u64::MAX,
    ];

    #[test]
    fn quick_is_as_slow_would_be() {
        let ops = "add.u32 sub.s32 mul.lo.u32 mad.lo.u32 and.b32 or.b64 xor.b32 not.b32 selp.b32 shl.b32 shr.u32 \
            shl.b64 shr.u64 mul.wide.u32 add.u64 sub.s64 mul.lo.u64 cvt.u64.u32 cvt.u32.u64 cvt.s64.s32 \
            setp.eq.u32 setp.ne.u32 setp.lt.s32 setp.le.u32 setp.gt.s64 setp.ge.u64 add.rn.f32 mul.rn.f32 and.pred";
        for op in ops.split_whitespace() {
            let parts: Vec<&str> = op.split('.').collect();
            let quick = of(&parts).unwrap_or_else(|| panic!("{op} is quick"));
            let ty = parts[if parts[0] == "cvt" {
                1
            } else {
                parts.len() - 1
            }];
            let bits = match (parts[0], parts[1]) {
                ("setp", _) => 1,
                ("mul", "wide") => 64,
                _ => compute::width(ty),
            };
            let mask = u64::MAX >> (64 - bits);
            // Registers hold no more than their bits.
            let taken = match ty {
                "pred" => 1,
                _ => u64::MAX >> (64 - compute::width(parts[parts.len() - 1])),
            };
            for a in EDGES {
                for b in EDGES {
                    let args = [a & taken, b & taken, (a ^ b) & taken];
                    let (seen, expected) =
                        (super::compute(quick, args), compute::compute(&parts, &args));
                    let is_nan = ty == "f32" && f32::from_bits(expected as u32).is_nan();
                    assert!(
                        is_nan || seen & mask == expected & mask,
                        "{op} of {args:x?}: {seen:x}, {expected:x}"
                    );
                }
            }
        }
    }
}
