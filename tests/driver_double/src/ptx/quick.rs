//! What is computed most often, without looking at names.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quick {
    Move,
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
