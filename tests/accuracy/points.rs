//! Operands: special values, powers of two and their neighbours, denormals, and random numbers of every size.

use super::device::{Columns, Type};
use super::format::{Format, power};

/// xorshift64*, so that every run and machine has the same operands.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// From 0 up to 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 * power(-53)
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.fraction()
    }
}

/// Where the operands of a function of one number come from.
pub struct Range<'a> {
    pub low: f64,
    pub high: f64,
    /// Where to take many from, evenly.
    pub focus: &'a [(f64, f64)],
    /// Numbers whose neighbours are taken.
    pub near: &'a [f64],
}

pub fn specials(format: Format) -> Vec<f64> {
    let tiny = format.at(1);
    let normal = power(format.least());
    let some = [
        0.0,
        tiny,
        3.0 * tiny,
        format.step(normal, -1),
        normal,
        format.step(normal, 1),
        0.1,
        0.5,
        format.step(1.0, -1),
        1.0,
        format.step(1.0, 1),
        1.5,
        2.0,
        2.5,
        3.0,
        10.0,
        std::f64::consts::PI,
        format.step(format.max(), -1),
        format.max(),
        f64::INFINITY,
    ];
    let some = some.map(|x| format.nearest(x));
    (some.iter().flat_map(|&x| [x, -x]))
        .chain([f64::NAN])
        .collect()
}

/// Operands of a function of one float: all of them for f16, else so many.
pub fn unary(format: Format, range: &Range<'_>, count: usize, seed: u64) -> Columns {
    let (low, high) = (range.low, range.high);
    let inside = |x: &f64| low <= *x && *x <= high;
    let mut points: Vec<f64> = Vec::new();
    if format == Format::F16 {
        points.extend((0..=0xffff).map(|bits| format.decode(bits)).filter(inside));
    } else {
        points.extend(specials(format).iter().filter(|x| inside(x)));
        let first = format.least() - format.fraction().cast_signed();
        for exponent in first..=format.most() {
            let here = power(exponent);
            for by in -2..=2 {
                let x = format.step(here, by);
                points.extend([x, -x].iter().filter(|x| inside(x)));
            }
        }
        for &x in range.near {
            let x = format.nearest(x);
            points.extend((-64..=64).map(|by| format.step(x, by)).filter(inside));
        }
        let mut random = Random::new(seed);
        let (first, last) = (format.place(low), format.place(high));
        let width = last.abs_diff(first) + 1;
        while points.len() < count {
            let evenly = random.below(2) == 0 && !range.focus.is_empty();
            let x = if evenly {
                let (from, to) = range.focus[random.below(range.focus.len() as u64) as usize];
                format.nearest(random.between(from, to))
            } else {
                format.at(first.wrapping_add(random.below(width).cast_signed()))
            };
            points.extend([x].iter().filter(|x| inside(x)));
        }
    }
    Columns {
        types: vec![Type::Float(format)],
        values: vec![points.iter().map(|&x| format.encode(x)).collect()],
    }
}

/// Rows of several floats: pairs of special values, numbers of one size, of any size, and what `more` makes.
pub fn several(
    format: Format,
    operands: usize,
    count: usize,
    seed: u64,
    more: Option<fn(&mut Random) -> Vec<f64>>,
) -> Columns {
    let mut random = Random::new(seed);
    let specials = specials(format);
    let special = |random: &mut Random| specials[random.below(specials.len() as u64) as usize];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for &x in &specials {
        for &y in &specials {
            let mut row = vec![x, y];
            row.resize_with(operands, || special(&mut random));
            rows.push(row);
        }
    }
    let widest = f64::from(format.most());
    while rows.len() < count {
        let row = match random.below(if more.is_some() { 10 } else { 6 }) {
            0..=2 => (0..operands).map(|_| random.between(-2.0, 2.0)).collect(),
            3 => {
                let size = random.between(-widest, widest) as i32;
                let mut one = || random.between(-1.0, 1.0) * power(size);
                (0..operands).map(|_| one()).collect()
            }
            4 => {
                let end = format.infinity();
                let mut one = || {
                    let place = random.below(end + 1).cast_signed();
                    format.at(if random.below(2) == 0 { place } else { -place })
                };
                (0..operands).map(|_| one()).collect()
            }
            5 => {
                let one = |random: &mut Random| match random.below(2) {
                    0 => special(random),
                    _ => random.between(-2.0, 2.0),
                };
                (0..operands).map(|_| one(&mut random)).collect()
            }
            _ => more.map_or_else(Vec::new, |more| more(&mut random)),
        };
        rows.push(row);
    }
    let column = |at: usize| rows.iter().map(|row| format.encode(row[at])).collect();
    Columns {
        types: vec![Type::Float(format); operands],
        values: (0..operands).map(column).collect(),
    }
}

/// Integers: around the powers of two, and random ones of every length.
pub fn integers(ty: Type, count: usize, seed: u64) -> Vec<u64> {
    let mask = u64::MAX >> (64 - ty.bits());
    let mut random = Random::new(seed);
    let mut values: Vec<u64> = (0..ty.bits())
        .flat_map(|bit| {
            let here = 1u64 << bit;
            [here - 1, here, here + 1, here.wrapping_neg()]
        })
        .collect();
    while values.len() < count {
        let value = random.next() >> random.below(64);
        values.push(if random.below(2) == 0 {
            value
        } else {
            value.wrapping_neg()
        });
    }
    values.iter().map(|value| value & mask).collect()
}
