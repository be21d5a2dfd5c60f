//! What instructions compute, as the PTX manual says; what it leaves open panics.

use std::cmp::Ordering;

fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn low(x: u64, bits: u32) -> u64 {
    x & (u64::MAX >> (64 - bits))
}

/// An integer of a type like s32.
fn integer(ty: &str, x: u64) -> i128 {
    let bits = width(ty);
    match ty.as_bytes()[0] {
        b's' => i128::from((x << (64 - bits)).cast_signed() >> (64 - bits)),
        _ => i128::from(low(x, bits)),
    }
}

pub fn width(ty: &str) -> u32 {
    match ty {
        "pred" => 1,
        ty => ty[1..].parse().expect("a width"),
    }
}

/// The f16's value; finite ones by their definition.
pub fn half(x: u64) -> f64 {
    let (fraction, sign) = ((x & 0x3ff) as f64, if x & 0x8000 == 0 { 1.0 } else { -1.0 });
    sign * match x >> 10 & 31 {
        0 => fraction * f64::powi(2.0, -24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * f64::powi(2.0, e as i32 - 25),
    }
}

/// The nearest f16, by trying: the even one of two that are as near.
fn to_half(x: f64) -> u64 {
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    let size = x.abs();
    if x.is_nan() {
        return 0x7fff;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    let (mut below, mut above) = (0, 0x7c00);
    while above - below > 1 {
        let middle = (below + above) / 2;
        if half(middle) <= size {
            below = middle
        } else {
            above = middle
        }
    }
    let next = if above == 0x7c00 {
        65536.0
    } else {
        half(above)
    };
    let (down, up) = (size - half(below), next - size);
    sign | match down.total_cmp(&up) {
        Ordering::Less => below,
        Ordering::Greater => above,
        Ordering::Equal if below % 2 == 0 => below,
        Ordering::Equal => above,
    }
}

pub fn compute(op: &[&str], x: &[u64]) -> u64 {
    let ty = op[op.len() - 1];
    match (op[0], ty) {
        ("setp", _) => u64::from(relation(op[1], ty, x[0], x[1])),
        ("selp", _) => {
            if x[2] & 1 == 1 {
                x[0]
            } else {
                x[1]
            }
        }
        ("cvt", _) => convert(op, x[0]),
        ("fns", _) => nth_set(x[0], x[1], x[2] as u32 as i32),
        ("rsqrt", "f32") => f32::to_bits((1.0 / f64::from(f32_of(x[0])).sqrt()) as f32).into(),
        (_, "f32") => u64::from(float32(op, x).to_bits()),
        (_, "f64") => float64(op, x).to_bits(),
        _ => bits_and_integers(op, ty, x),
    }
}

/// The place of the `count`-th bit that is set from `base` on, downward if negative.
fn nth_set(mask: u64, base: u64, count: i32) -> u64 {
    assert!(base < 32 && count != 0, "fns of {base}, {count}");
    let is_set = |&bit: &u64| mask >> bit & 1 == 1;
    let nth = count.unsigned_abs() as usize - 1;
    let found = match count > 0 {
        true => (base..32).filter(is_set).nth(nth),
        false => (0..=base).rev().filter(is_set).nth(nth),
    };
    found.unwrap_or(0xffff_ffff)
}

/// `min` and `max`: the number of the two; PTX orders zeros, but the code must not count on it, so the
/// first of equals is taken.
macro_rules! extreme {
    ($a:expr, $b:expr, $least:expr) => {
        match ($a.is_nan(), $b.is_nan()) {
            (true, _) => $b,
            (_, true) => $a,
            _ if ($a <= $b) == $least || $a == $b => $a,
            _ => $b,
        }
    };
}

fn float32(op: &[&str], x: &[u64]) -> f32 {
    let v = |i: usize| f32_of(x[i]);
    match op[..op.len() - 1] {
        ["add", "rn"] => v(0) + v(1),
        ["sub", "rn"] => v(0) - v(1),
        ["mul", "rn"] => v(0) * v(1),
        ["div", "rn"] => v(0) / v(1),
        ["fma", "rn"] => v(0).mul_add(v(1), v(2)),
        ["sqrt", "rn"] => v(0).sqrt(),
        ["min"] => extreme!(v(0), v(1), true),
        ["max"] => extreme!(v(0), v(1), false),
        _ => panic!("what is {op:?}?"),
    }
}

fn float64(op: &[&str], x: &[u64]) -> f64 {
    let v = |i: usize| f64::from_bits(x[i]);
    match op[..op.len() - 1] {
        ["add", "rn"] => v(0) + v(1),
        ["sub", "rn"] => v(0) - v(1),
        ["mul", "rn"] => v(0) * v(1),
        ["div", "rn"] => v(0) / v(1),
        ["fma", "rn"] => v(0).mul_add(v(1), v(2)),
        ["sqrt", "rn"] => v(0).sqrt(),
        ["min"] => extreme!(v(0), v(1), true),
        ["max"] => extreme!(v(0), v(1), false),
        _ => panic!("what is {op:?}?"),
    }
}

fn relation(name: &str, ty: &str, a: u64, b: u64) -> bool {
    let order = match ty {
        "f32" => f32_of(a).partial_cmp(&f32_of(b)),
        "f64" => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        ty => Some(integer(ty, a).cmp(&integer(ty, b))),
    };
    match name {
        "num" => order.is_some(),
        "eq" => order == Some(Ordering::Equal),
        "ne" => order.is_some_and(|o| o != Ordering::Equal),
        "neu" => order != Some(Ordering::Equal),
        "lt" => order == Some(Ordering::Less),
        "le" => order.is_some_and(|o| o != Ordering::Greater),
        "gt" => order == Some(Ordering::Greater),
        "ge" => order.is_some_and(|o| o != Ordering::Less),
        _ => panic!("what is setp.{name}?"),
    }
}

fn convert(op: &[&str], x: u64) -> u64 {
    let (to, from) = (op[op.len() - 2], op[op.len() - 1]);
    let rounding = if op.len() == 4 { op[1] } else { "" };
    let is_float = |ty: &str| ty.starts_with('f');
    if !is_float(from) && !is_float(to) {
        return low(integer(from, x) as u64, width(to));
    }
    if !is_float(from) {
        assert_eq!(rounding, "rn");
        return match to {
            "f32" => u64::from((integer(from, x) as f32).to_bits()),
            _ => (integer(from, x) as f64).to_bits(),
        };
    }
    let value = match from {
        "f16" => half(x),
        "f32" => f64::from(f32_of(x)),
        _ => f64::from_bits(x),
    };
    let value = match rounding {
        "rni" => value.round_ties_even(),
        "rzi" => value.trunc(),
        "rmi" => value.floor(),
        "rpi" => value.ceil(),
        _ => value,
    };
    match to {
        "f16" => to_half(value),
        "f32" => u64::from((value as f32).to_bits()),
        "f64" => value.to_bits(),
        // The manual's NaN, which differs from what WGSL wants.
        to if value.is_nan() && (width(to) == 64 || from == "f64") => 1 << (width(to) - 1),
        "s32" => u64::from((value as i32).cast_unsigned()),
        "u32" => u64::from(value as u32),
        "s64" => (value as i64).cast_unsigned(),
        "u64" => value as u64,
        _ => panic!("what is {op:?}?"),
    }
}

fn bits_and_integers(op: &[&str], ty: &str, x: &[u64]) -> u64 {
    let bits = width(ty);
    let v = |i: usize| integer(ty, x[i]);
    let result = match op[..op.len() - 1] {
        ["mov"] | ["cvta", "to"] => x[0],
        ["add"] => v(0).wrapping_add(v(1)) as u64,
        ["sub"] => v(0).wrapping_sub(v(1)) as u64,
        ["mul", "hi"] => (low(x[0], 32) * low(x[1], 32)) >> 32,
        ["mul", "lo"] => x[0].wrapping_mul(x[1]),
        ["mad", "lo"] => x[0].wrapping_mul(x[1]).wrapping_add(x[2]),
        ["mul", "wide"] => return low(x[0], 32) * low(x[1], 32),
        ["div" | "rem"] => {
            let overflows = ty.starts_with('s') && v(1) == -1 && v(0) == -1 << (bits - 1);
            assert!(v(1) != 0 && !overflows, "{op:?} of {x:?} is undefined");
            if op[0] == "div" {
                (v(0) / v(1)) as u64
            } else {
                (v(0) % v(1)) as u64
            }
        }
        ["min"] => v(0).min(v(1)) as u64,
        ["max"] => v(0).max(v(1)) as u64,
        ["neg"] => (-v(0)) as u64,
        ["not"] => !x[0],
        ["and"] => x[0] & x[1],
        ["or"] => x[0] | x[1],
        ["xor"] => x[0] ^ x[1],
        // Counts are clamped.
        ["shl"] => {
            if low(x[1], 32) >= u64::from(bits) {
                0
            } else {
                x[0] << low(x[1], 32)
            }
        }
        ["shr"] => (v(0) >> low(x[1], 32).min(u64::from(bits))) as u64,
        ["popc"] => return low(x[0], bits).count_ones().into(),
        ["clz"] => return (low(x[0], bits).leading_zeros() - (64 - bits)).into(),
        ["brev"] => low(x[0], bits).reverse_bits() >> (64 - bits),
        _ => panic!("what is {op:?}?"),
    };
    low(result, bits)
}
