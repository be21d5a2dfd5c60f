//! Functions that WGSL gives an error bound, and where their operands come from.

use std::f64::consts::PI;

use super::allowed::Allowed;
use super::format::{Format, power};
use super::number::Number;
use super::points::{Random, Range};
use super::precise::{self, Precise};

/// A function of one or two floats.
pub struct Elementary {
    pub name: &'static str,
    pub expression: &'static str,
    pub operands: usize,
    /// In f64, good to at least 44 bits.
    pub truth: fn(&[f64]) -> f64,
    /// In as many bits as one likes.
    pub precise: fn(&[f64], &mut Precise) -> precise::Big,
    /// What WGSL says of f32, or of both.
    pub wgsl: &'static str,
    /// The results that WGSL allows; `None` where it makes no promise.
    pub allowed: Option<fn(&[Allowed], f64) -> Allowed>,
    /// Where the operands are, the first one's if there are several.
    pub domain: fn(Format) -> Range<'static>,
    /// Of a second operand.
    pub more: Option<fn(&mut Random) -> Vec<f64>>,
    /// The units in the last place that vyre promises; `None` where it promises nothing.
    pub ours: Option<f64>,
    /// Whether f64 is held to the bound for f64.
    pub has_wide: bool,
}

const INFINITE: f64 = f64::INFINITY;

/// All finite numbers of a format.
fn all(format: Format, focus: &'static [(f64, f64)], near: &'static [f64]) -> Range<'static> {
    let max = format.max();
    Range {
        low: -max,
        high: max,
        focus,
        near,
    }
}

fn from(low: f64, high: f64, format: Format) -> Range<'static> {
    let max = format.max();
    let (low, high) = (low.max(-max), high.min(max));
    Range {
        low: format.around(low).1,
        high: format.around(high).0,
        focus: &[],
        near: &[],
    }
}

/// Also near the multiples of pi / 2, where results are near zero.
fn turn(format: Format) -> Range<'static> {
    Range {
        focus: &[(-PI, PI)],
        near: &[PI / 4.0, PI / 2.0, 3.0 * PI / 4.0, PI, -PI / 2.0, -PI],
        ..from(-PI, PI, format)
    }
}

const FAR: f64 = 35_184_372_088_832.0;

fn turns(format: Format) -> Range<'static> {
    Range {
        focus: &[(-100.0, 100.0), (-1e6, 1e6), (-FAR, FAR)],
        near: &[11.0 * PI, 22.0 * PI, 355.0 * PI, 355.0 * PI / 2.0, 1e5 * PI],
        ..from(-FAR, FAR, format)
    }
}

fn beyond(format: Format) -> Range<'static> {
    Range {
        // 16367173 * 2^72, the f32 that is closest to a multiple of pi / 2.
        near: &[16_367_173.0 * 4_722_366_482_869_645_213_696.0],
        ..from(FAR, INFINITE, format)
    }
}

fn unit(format: Format) -> Range<'static> {
    Range {
        focus: &[(-1.0, 1.0), (0.99, 1.0), (-1.0, -0.99)],
        near: &[-1.0, -0.5, 0.5, 1.0, std::f64::consts::FRAC_1_SQRT_2],
        ..from(-1.0, 1.0, format)
    }
}

fn positive(format: Format) -> Range<'static> {
    Range {
        focus: &[(0.5, 2.0), (0.9, 1.1), (0.0, 100.0)],
        near: &[
            0.5,
            std::f64::consts::FRAC_1_SQRT_2,
            1.0,
            std::f64::consts::SQRT_2,
            2.0,
        ],
        ..from(0.0, INFINITE, format)
    }
}

fn above_one(format: Format) -> Range<'static> {
    Range {
        focus: &[(1.0, 1.0001), (1.0, 1.1), (1.0, 2.0), (1.0, 100.0)],
        near: &[1.0, 1.25, 2.0],
        ..from(1.0, INFINITE, format)
    }
}

/// With where results begin to overflow and end to be denormal, in each format.
fn exponents(format: Format) -> Range<'static> {
    const NEAR: &[f64] = &[
        0.0,
        0.346_573_590_279_972_6,
        1.0,
        11.089,
        88.722_839,
        -87.336_544,
        -103.972_08,
        709.782_712_893_384,
        -708.396_418_532_264_1,
        -745.133_219_101_941_1,
        127.0,
        128.0,
        -126.0,
        -149.0,
        -150.0,
        1023.0,
        1024.0,
        -1022.0,
        -1074.0,
        -1075.0,
        15.0,
        16.0,
        -14.0,
        -24.0,
        -25.0,
        89.415,
        -89.415,
    ];
    const WIDE: &[(f64, f64)] = &[
        (-1.0, 1.0),
        (-20.0, 20.0),
        (-150.0, 150.0),
        (-1080.0, 1080.0),
    ];
    const SMALL: &[(f64, f64)] = &[(-1.0, 1.0), (-20.0, 20.0), (-150.0, 130.0), (-105.0, 90.0)];
    match format {
        Format::F64 => all(format, WIDE, NEAR),
        _ => all(format, SMALL, NEAR),
    }
}

fn any(format: Format) -> Range<'static> {
    const FOCUS: &[(f64, f64)] = &[(-1.0, 1.0), (-10.0, 10.0)];
    all(
        format,
        FOCUS,
        &[
            0.0,
            0.25,
            0.414_213_562_373_095,
            0.5,
            1.0,
            2.414_213_562_373_095,
            30.0,
        ],
    )
}

/// Bases near one with large exponents, and results over the whole range.
fn powers(random: &mut Random) -> Vec<f64> {
    match random.below(3) {
        0 => {
            let x = 1.0 + random.between(-1.0, 1.0) * power(-(random.below(24) as i32));
            vec![
                x.abs(),
                random.between(-1.0, 1.0) * power(random.below(30) as i32),
            ]
        }
        1 => {
            let log = random.between(-126.0, 126.0);
            let result = random.between(-150.0, 128.0);
            vec![log.exp2(), result / log]
        }
        _ => {
            let x = random.between(0.0, 16.0);
            vec![x, (random.below(64) as f64 - 32.0) / 2.0]
        }
    }
}

fn angles(random: &mut Random) -> Vec<f64> {
    let radius = power(random.below(20) as i32 - 10);
    let around = random.between(-PI, PI);
    match random.below(2) {
        0 => vec![radius * around.sin(), radius * around.cos()],
        _ => {
            let small = power(-(random.below(30) as i32));
            let sign = if random.below(2) == 0 { -1.0 } else { 1.0 };
            vec![radius * around * small, sign * radius]
        }
    }
}

fn acosh(x: f64) -> f64 {
    // What the square is above one, so that nothing cancels near one.
    let above = x - 1.0;
    if above > 1e15 {
        return x.ln() + std::f64::consts::LN_2;
    }
    (above + (above * (above + 2.0)).sqrt()).ln_1p()
}

fn one(x: Allowed) -> Allowed {
    x.constant(1.0)
}

/// The larger of two bounds around one truth.
fn worse(x: Allowed, truth: f64, f32: f64, f16: f64, inherited: Allowed) -> Allowed {
    let error = if x.format == Format::F16 { f16 } else { f32 };
    x.absolute(truth, error).or(inherited)
}

fn hyperbolic(x: Allowed, f: fn(Allowed, Allowed) -> Allowed) -> Allowed {
    f(x.exp(), x.neg().exp()).mul(x.constant(0.5))
}

fn sinh(x: Allowed) -> Allowed {
    hyperbolic(x, Number::sub)
}

fn cosh(x: Allowed) -> Allowed {
    hyperbolic(x, Number::add)
}

/// 3.91e-3 and the like: of f16.
const ARC16: f64 = 3.91e-3;

macro_rules! elementary {
    ($($name:literal $expression:literal $wgsl:literal $($x:ident)+, $truth:expr, $precise:expr, $allowed:expr, $domain:expr;)+) => {
        vec![$(Elementary {
            name: $name,
            expression: $expression,
            operands: [$(stringify!($x)),+].len(),
            truth: |operands| {
                let [$($x),+] = *operands else { unreachable!("as many operands as the function has") };
                $truth
            },
            precise: $precise,
            wgsl: $wgsl,
            allowed: $allowed,
            domain: $domain,
            more: None,
            ours: Some(1.0),
            has_wide: true,
        }),+]
    };
}

pub fn elementary() -> Vec<Elementary> {
    let mut all = elementary! {
        "acos" "acos(a)" "6.77e-5 (f16: 3.91e-3) or atan2(sqrt(1 - x * x), x)" x, x.acos(), |x, p| p.of(x[0], |x, p, r, c| x.acos(p, r, c)),
            Some(|x, t| { let x = x[0]; worse(x, t, 6.77e-5, ARC16, one(x).sub(x.mul(x)).sqrt().atan2(x)) }), unit;
        "asin" "asin(a)" "6.81e-5 (f16: 3.91e-3) or atan2(x, sqrt(1 - x * x))" x, x.asin(), |x, p| p.of(x[0], |x, p, r, c| x.asin(p, r, c)),
            Some(|x, t| { let x = x[0]; worse(x, t, 6.81e-5, ARC16, x.atan2(one(x).sub(x.mul(x)).sqrt())) }), unit;
        "atan" "atan(a)" "4096 ULP (f16: 5 ULP)" x, x.atan(), |x, p| p.of(x[0], |x, p, r, c| x.atan(p, r, c)),
            Some(|x, t| x[0].units(t, if x[0].format == Format::F16 { 5.0 } else { 4096.0 })), any;
        "acosh" "acosh(a)" "log(x + sqrt(x * x - 1))" x, acosh(x), |x, p| p.of(x[0], |x, p, r, c| x.acosh(p, r, c)),
            Some(|x, _| { let x = x[0]; x.add(x.mul(x).sub(one(x)).sqrt()).log() }), above_one;
        "asinh" "asinh(a)" "log(x + sqrt(x * x + 1))" x, x.asinh(), |x, p| p.of(x[0], |x, p, r, c| x.asinh(p, r, c)),
            Some(|x, _| { let x = x[0]; x.add(x.mul(x).add(one(x)).sqrt()).log() }), any;
        "atanh" "atanh(a)" "log((1 + x) / (1 - x)) * 0.5" x, (0.5 * (2.0 * x.abs() / (1.0 - x.abs())).ln_1p()).copysign(x), |x, p| p.of(x[0], |x, p, r, c| x.atanh(p, r, c)),
            Some(|x, _| { let x = x[0]; one(x).add(x).div(one(x).sub(x)).log().mul(x.constant(0.5)) }), unit;
        "sinh" "sinh(a)" "(exp(x) - exp(-x)) * 0.5" x, x.sinh(), |x, p| p.of(x[0], |x, p, r, c| x.sinh(p, r, c)),
            Some(|x, _| sinh(x[0])), exponents;
        "cosh" "cosh(a)" "(exp(x) + exp(-x)) * 0.5" x, x.cosh(), |x, p| p.of(x[0], |x, p, r, c| x.cosh(p, r, c)),
            Some(|x, _| cosh(x[0])), exponents;
        "tanh" "tanh(a)" "1e-5 or sinh(x) / cosh(x)" x, x.tanh(), |x, p| p.of(x[0], |x, p, r, c| x.tanh(p, r, c)),
            Some(|x, t| worse(x[0], t, 1e-5, 1e-5, sinh(x[0]).div(cosh(x[0])))), any;
        "sin, to π" "sin(a)" "2⁻¹¹ (f16: 2⁻⁷)" x, x.sin(), |x, p| p.of(x[0], |x, p, r, c| x.sin(p, r, c)),
            Some(|x, _| x[0].sin()), turn;
        "cos, to π" "cos(a)" "2⁻¹¹ (f16: 2⁻⁷)" x, x.cos(), |x, p| p.of(x[0], |x, p, r, c| x.cos(p, r, c)),
            Some(|x, _| x[0].cos()), turn;
        "tan, to π" "tan(a)" "sin(x) / cos(x)" x, x.tan(), |x, p| p.of(x[0], |x, p, r, c| x.tan(p, r, c)),
            Some(|x, _| x[0].sin().div(x[0].cos())), turn;
        "sin, to 2⁴⁵" "sin(a)" "" x, x.sin(), |x, p| p.of(x[0], |x, p, r, c| x.sin(p, r, c)), None, turns;
        "cos, to 2⁴⁵" "cos(a)" "" x, x.cos(), |x, p| p.of(x[0], |x, p, r, c| x.cos(p, r, c)), None, turns;
        "tan, to 2⁴⁵" "tan(a)" "" x, x.tan(), |x, p| p.of(x[0], |x, p, r, c| x.tan(p, r, c)), None, turns;
        "sin, beyond" "sin(a)" "" x, x.sin(), |x, p| p.of(x[0], |x, p, r, c| x.sin(p, r, c)), None, beyond;
        "cos, beyond" "cos(a)" "" x, x.cos(), |x, p| p.of(x[0], |x, p, r, c| x.cos(p, r, c)), None, beyond;
        "tan, beyond" "tan(a)" "" x, x.tan(), |x, p| p.of(x[0], |x, p, r, c| x.tan(p, r, c)), None, beyond;
        "exp" "exp(a)" "3 + 2 * |x| ULP (f16: 1 + 2 * |x|)" x, x.exp(), |x, p| p.of(x[0], |x, p, r, c| x.exp(p, r, c)),
            Some(|x, _| x[0].exp()), exponents;
        "exp2" "exp2(a)" "3 + 2 * |x| ULP (f16: 1 + 2 * |x|)" x, x.exp2(), |x, p| p.exp2(x[0]),
            Some(|x, _| x[0].exp2()), exponents;
        "log" "log(a)" "2⁻²¹ (f16: 2⁻⁷) in [0.5, 2], else 3 ULP" x, x.ln(), |x, p| p.of(x[0], |x, p, r, c| x.ln(p, r, c)),
            Some(|x, _| x[0].log()), positive;
        "log2" "log2(a)" "2⁻²¹ (f16: 2⁻⁷) in [0.5, 2], else 3 ULP" x, x.log2(), |x, p| p.log2(x[0]),
            Some(|x, _| x[0].log2()), positive;
        "inverseSqrt" "inverseSqrt(a)" "2 ULP" x, 1.0 / x.sqrt(), |x, p| p.of(x[0], |x, p, r, _| x.sqrt(p, r).reciprocal(p, r)),
            Some(|x, _| x[0].inverse_sqrt()), positive;
        "atan2" "atan2(a, b)" "4096 ULP (f16: 5 ULP)" y x, if x == 0.0 && y == 0.0 { f64::NAN } else { y.atan2(x) }, |x, p| p.atan2(x[0], x[1]),
            Some(|x, _| x[0].atan2(x[1])), any;
        "pow" "pow(a, b)" "exp2(y * log2(x))" x y, if x > 0.0 { x.powf(y) } else { f64::NAN }, |x, p| p.pow(x[0], x[1]),
            Some(|x, _| x[1].mul(x[0].log2()).exp2()), any;
    };
    for function in &mut all {
        match function.name {
            "atan2" => function.more = Some(angles),
            "pow" => function.more = Some(powers),
            // The device's approximation.
            "inverseSqrt" => function.ours = Some(2.0),
            name if name.ends_with("beyond") => {
                function.ours = None;
                // A precise reduction of such numbers takes thousands of bits.
                function.has_wide = false;
            }
            _ => {}
        }
    }
    all
}
