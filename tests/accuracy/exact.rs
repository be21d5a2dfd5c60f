//! Functions with one right answer: bits in, bits out.

use super::device::Type;
use super::format::{Format, power};
use super::number::{Number, Rounded, largest, least};

/// What a function makes of the bits of its operands; any NaN is as good as another.
pub type Answer = Box<dyn Fn(&[u64]) -> u64 + Send + Sync>;

pub struct Exact {
    pub name: String,
    pub expression: String,
    pub operands: Vec<Type>,
    pub result: Type,
    pub answer: Answer,
}

type OnFloats = fn(Format, &[f64]) -> f64;

const FLOATS: &[(&str, &str, usize, OnFloats)] = &[
    ("-x", "-a", 1, |_, x| -x[0]),
    ("abs", "abs(a)", 1, |_, x| x[0].abs()),
    ("ceil", "ceil(a)", 1, |_, x| x[0].ceil()),
    ("floor", "floor(a)", 1, |_, x| x[0].floor()),
    ("round", "round(a)", 1, |_, x| x[0].round_ties_even()),
    ("trunc", "trunc(a)", 1, |_, x| x[0].trunc()),
    ("sign", "sign(a)", 1, |_, x| match x[0] {
        x if x > 0.0 => 1.0,
        x if x < 0.0 => -1.0,
        x => x,
    }),
    ("saturate", "saturate(a)", 1, |_, x| {
        least(largest(x[0], 0.0), 1.0)
    }),
    ("length, 1", "length(a)", 1, |_, x| x[0].abs()),
    ("modf, fract", "modf(a).fract", 1, |format, x| {
        format.nearest(x[0] - x[0].trunc())
    }),
    ("modf, whole", "modf(a).whole", 1, |_, x| x[0].trunc()),
    ("frexp, fract", "frexp(a).fract", 1, |_, x| frexp(x[0]).0),
    ("min", "min(a, b)", 2, |_, x| least(x[0], x[1])),
    ("max", "max(a, b)", 2, |_, x| largest(x[0], x[1])),
    ("step", "step(a, b)", 2, |_, x| {
        f64::from(u8::from(x[0] <= x[1]))
    }),
    ("clamp", "clamp(a, b, c)", 3, |_, x| {
        least(largest(x[0], x[1]), x[2])
    }),
    ("select", "select(a, b, c < 1)", 3, |_, x| {
        if x[2] < 1.0 { x[1] } else { x[0] }
    }),
    (
        "transpose",
        "transpose(mat2x2(a, b, c, d))[0][1]",
        4,
        |_, x| x[2],
    ),
];

type Comparison = fn(f64, f64) -> bool;

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", |x, y| x == y),
    ("!=", |x, y| x != y),
    ("<", |x, y| x < y),
    ("<=", |x, y| x <= y),
    (">", |x, y| x > y),
    (">=", |x, y| x >= y),
];

/// Fraction in [0.5, 1) and exponent; what has none is itself, with exponent 0.
pub fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Denormal numbers are scaled up first, exactly.
    let (scaled, offset) = if x.abs() < power(-1022) {
        (x * power(100), 100)
    } else {
        (x, 0)
    };
    let exponent = (scaled.abs().to_bits() >> 52) as i32 - 1022;
    let fraction = f64::from_bits(scaled.to_bits() & !(0x7ff << 52) | 1022 << 52);
    (fraction, exponent - offset)
}

/// `x * 2^exponent`, rounded once.
fn ldexp(format: Format, x: f64, exponent: i32) -> f64 {
    let (fraction, own) = frexp(x);
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = own.saturating_add(exponent);
    if exponent > 1024 {
        return f64::INFINITY.copysign(x);
    }
    if format != Format::F64 {
        // The fraction has few bits, and is exact at any exponent that matters.
        return format.nearest(fraction * power(exponent.max(-1000)));
    }
    if exponent >= -1021 {
        return fraction * 2.0 * power(exponent - 1);
    }
    // In units of the smallest number.
    let units = (fraction * power((exponent + 1074).max(-100))).round_ties_even();
    f64::from_bits(units.abs() as u64).copysign(x)
}

fn integer(ty: Type, value: i128) -> u64 {
    value as u64 & (u64::MAX >> (64 - ty.bits()))
}

fn as_integer(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::I32 => i128::from((bits as u32).cast_signed()),
        Type::I64 => i128::from(bits.cast_signed()),
        _ => i128::from(bits),
    }
}

/// Truncated, and what is out of range goes to the last integer that the format can express.
fn to_integer(format: Format, ty: Type, x: f64) -> u64 {
    let bits = ty.bits().cast_signed();
    let (low, end) = match ty {
        Type::I32 | Type::I64 => (-power(bits - 1), power(bits - 1)),
        _ => (0.0, power(bits)),
    };
    let finite = format.max();
    let high = match format {
        _ if end > finite => finite,
        // 53 bits have room for every integer of 32.
        Format::F64 if bits == 32 => end - 1.0,
        _ => format.step(end, -1),
    };
    if x.is_nan() {
        return 0;
    }
    integer(ty, x.trunc().clamp(low.max(-finite), high) as i128)
}

/// From an integer, rounded once.
fn from_integer(format: Format, ty: Type, bits: u64) -> u64 {
    let x = as_integer(ty, bits);
    match format {
        // An f16 is infinite long before an f64 rounds.
        Format::F16 => format.encode(x as f64),
        Format::F32 => u64::from((x as f32).to_bits()),
        Format::F64 => (x as f64).to_bits(),
    }
}

const INTEGERS: [Type; 4] = [Type::I32, Type::U32, Type::I64, Type::U64];
const FORMATS: [Format; 3] = [Format::F16, Format::F32, Format::F64];

pub fn exact(format: Format) -> Vec<Exact> {
    let float = Type::Float(format);
    let mut all: Vec<Exact> = Vec::new();
    let mut add = |name: String, expression: String, operands: Vec<Type>, result, answer| {
        all.push(Exact {
            name,
            expression,
            operands,
            result,
            answer,
        });
    };
    for &(name, expression, count, answer) in FLOATS {
        let answer: Answer = Box::new(move |bits| {
            let x: Vec<f64> = bits.iter().map(|&bits| format.decode(bits)).collect();
            format.encode(answer(format, &x))
        });
        add(
            name.into(),
            expression.into(),
            vec![float; count],
            float,
            answer,
        );
    }
    for (op, holds) in COMPARISONS {
        let answer: Answer =
            Box::new(move |bits| u64::from(holds(format.decode(bits[0]), format.decode(bits[1]))));
        let expression = format!("u32(a {op} b)");
        add(
            format!("x {op} y"),
            expression,
            vec![float; 2],
            Type::U32,
            answer,
        );
    }
    add(
        "frexp, exp".into(),
        "i32(frexp(a).exp)".into(),
        vec![float],
        Type::I32,
        Box::new(move |bits| integer(Type::I32, frexp(format.decode(bits[0])).1.into())),
    );
    add(
        "ldexp".into(),
        "ldexp(a, b)".into(),
        vec![float, Type::I32],
        float,
        Box::new(move |bits| {
            let exponent = (bits[1] as u32).cast_signed();
            format.encode(ldexp(format, format.decode(bits[0]), exponent))
        }),
    );
    for ty in INTEGERS {
        add(
            format!("{}(x)", ty.name()),
            format!("{}(a)", ty.name()),
            vec![float],
            ty,
            Box::new(move |bits| to_integer(format, ty, format.decode(bits[0]))),
        );
        add(
            format!("{}(x of {})", format.name(), ty.name()),
            format!("{}(a)", format.name()),
            vec![ty],
            float,
            Box::new(move |bits| from_integer(format, ty, bits[0])),
        );
    }
    for to in FORMATS.into_iter().filter(|&to| to != format) {
        add(
            format!("{}(x)", to.name()),
            format!("{}(a)", to.name()),
            vec![float],
            Type::Float(to),
            Box::new(move |bits| to.encode(format.decode(bits[0]))),
        );
    }
    add(
        "bool(x)".into(),
        "u32(bool(a))".into(),
        vec![float],
        Type::U32,
        Box::new(move |bits| {
            let x = format.decode(bits[0]);
            // An f32 that is denormal counts as zero.
            let zero = x == 0.0 || format == Format::F32 && x.abs() < power(-126);
            u64::from(!zero)
        }),
    );
    if format == Format::F32 {
        packing(&mut add);
    }
    all
}

/// The functions between f32s and parts of a u32.
fn packing(add: &mut impl FnMut(String, String, Vec<Type>, Type, Answer)) {
    let format = Format::F32;
    let float = Type::Float(format);
    add(
        "quantizeToF16".into(),
        "quantizeToF16(a)".into(),
        vec![float],
        float,
        Box::new(move |bits| format.encode(Format::F16.nearest(format.decode(bits[0])))),
    );
    add(
        "pack2x16float".into(),
        "pack2x16float(vec2(a, b))".into(),
        vec![float; 2],
        Type::Halves,
        Box::new(move |bits| {
            let half = |at: usize| Format::F16.encode(format.decode(bits[at]));
            half(0) | half(1) << 16
        }),
    );
    add(
        "unpack2x16float".into(),
        "unpack2x16float(a).y".into(),
        vec![Type::U32],
        float,
        Box::new(move |bits| format.encode(Format::F16.decode(bits[0] >> 16))),
    );
    for (name, width, signed) in [
        ("4x8snorm", 8, true),
        ("4x8unorm", 8, false),
        ("2x16snorm", 16, true),
        ("2x16unorm", 16, false),
    ] {
        let fields = 32 / width;
        let scale = power(width - i32::from(signed)) - 1.0;
        let names = ["a", "b", "c", "d"][..fields as usize].join(", ");
        add(
            format!("pack{name}"),
            format!("pack{name}(vec{fields}({names}))"),
            vec![float; fields as usize],
            Type::U32,
            Box::new(move |bits| {
                let code = |x: f64| {
                    let low = if signed { -1.0 } else { 0.0 };
                    let x = Rounded(format, least(largest(x, low), 1.0));
                    let x = x.constant(0.5).add(x.constant(scale).mul(x)).floor().1;
                    (x as i64).cast_unsigned() & ((1 << width) - 1)
                };
                let parts = bits.iter().enumerate();
                parts.fold(0, |all, (at, &x)| {
                    all | code(format.decode(x)) << (at as i32 * width)
                })
            }),
        );
        add(
            format!("unpack{name}"),
            format!("unpack{name}(a).y"),
            vec![Type::U32],
            float,
            Box::new(move |bits| {
                let field = bits[0] >> width & ((1 << width) - 1);
                let is_low = signed && field >> (width - 1) == 1;
                let whole = field as f64 - if is_low { power(width) } else { 0.0 };
                format.encode((whole / scale).max(-1.0))
            }),
        );
    }
}
