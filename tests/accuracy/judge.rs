//! Runs a function over its operands and holds every result against what is promised.

use std::sync::Arc;

use vyre::backend::Backend;

use super::allowed::Allowed;
use super::device::{self, Columns, Type, compute};
use super::elementary::Elementary;
use super::exact::Exact;
use super::format::Format;
use super::formulas::Formula;
use super::number::{Rounded, error};
use super::points;
use super::precise::{self, Precise};

/// A line of the table.
pub struct Row {
    pub function: String,
    pub ty: &'static str,
    /// What WGSL's table allows; empty: nothing is said.
    pub wgsl: String,
    /// What vyre promises.
    pub ours: String,
    pub points: usize,
    /// How many of them are in the domain, finite, and so judged.
    pub judged: usize,
    /// In units in the last place, and the operands; `None` where bits are compared.
    pub largest: Option<(f64, String)>,
    /// The first few results that break a promise, and how many there are.
    pub failures: Vec<String>,
    pub failed: usize,
    /// Why the backend doesn't have it.
    pub refused: Option<String>,
}

impl Row {
    fn new(function: &str, format: Format, points: usize) -> Row {
        Row {
            function: function.into(),
            ty: format.name(),
            wgsl: String::new(),
            ours: String::new(),
            points,
            judged: 0,
            largest: None,
            failures: Vec::new(),
            failed: 0,
            refused: None,
        }
    }

    fn fail(&mut self, message: impl FnOnce() -> String) {
        self.failed += 1;
        if self.failures.len() < 3 {
            self.failures.push(message());
        }
    }

    fn record(&mut self, error: f64, operands: impl FnOnce() -> String) {
        if self.largest.as_ref().is_none_or(|(most, _)| error > *most) {
            self.largest = Some((error, operands()));
        }
    }

    /// What the table says of the backend that was run.
    pub fn measured(&self) -> String {
        match &self.largest {
            _ if self.refused.is_some() => "refused".into(),
            None => "same bits".into(),
            // Rounded up, so that the text is never below the number.
            Some((error, _)) if *error < 100.0 => {
                format!("{:.2}", (error * 100.0 - 1e-6).ceil().max(0.0) / 100.0)
            }
            Some((error, _)) if error.is_finite() => format!("{error:.1e}"),
            Some(_) => "∞".into(),
        }
    }
}

fn show(columns: &Columns, at: usize) -> String {
    let row = columns.row(at);
    let shown: Vec<String> = (columns.types.iter().zip(row).enumerate())
        .map(|(i, (ty, bits))| format!("{} = {}", device::name(i), ty.show(bits)))
        .collect();
    shown.join(", ")
}

fn floats(format: Format, columns: &Columns, at: usize) -> Vec<f64> {
    let row = columns.row(at);
    row.iter().map(|&bits| format.decode(bits)).collect()
}

fn same(ty: Type, seen: u64, expected: u64) -> bool {
    match ty {
        Type::Float(format) if format.decode(expected).is_nan() => format.decode(seen).is_nan(),
        Type::Halves => [0, 16].into_iter().all(|at| {
            let [seen, expected] = [seen, expected].map(|bits| bits >> at & 0xffff);
            same(Type::Float(Format::F16), seen, expected)
        }),
        _ => seen == expected,
    }
}

pub fn exact(
    backend: &Arc<dyn Backend>,
    function: &Exact,
    format: Format,
    count: usize,
    seed: u64,
) -> Row {
    let columns = operands(&function.operands, count, seed);
    let mut row = Row::new(&function.name, format, columns.len());
    if format != Format::F64 {
        row.wgsl = "correct".into();
    }
    row.ours = "same bits".into();
    let seen = match compute(backend, &function.expression, function.result, &columns) {
        Ok(seen) => seen,
        Err(error) => {
            row.refused = Some(error);
            return row;
        }
    };
    row.judged = seen.len();
    for (at, &seen) in seen.iter().enumerate() {
        let expected = (function.answer)(&columns.row(at));
        if !same(function.result, seen, expected) {
            let (ty, place) = (function.result, show(&columns, at));
            row.fail(|| {
                format!(
                    "{place}: saw {}, expected {}",
                    ty.show(seen),
                    ty.show(expected)
                )
            });
        }
    }
    row
}

fn operands(types: &[Type], count: usize, seed: u64) -> Columns {
    match *types {
        [Type::Float(format)] => {
            let max = format.max();
            let range = points::Range {
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                focus: &[(-2.0, 2.0), (-70000.0, 70000.0), (-max, max)],
                near: &[
                    0.5,
                    1.5,
                    2.5,
                    65504.0,
                    65520.0,
                    2147483648.0,
                    4294967296.0,
                    9.3e18,
                    1.9e19,
                ],
            };
            let mut columns = points::unary(format, &range, count, seed);
            columns.values[0].push(format.encode(f64::NAN));
            columns
        }
        [Type::Float(format), Type::I32] => {
            let mut columns = operands(&[Type::Float(format)], count, seed);
            let mut random = points::Random::new(seed + 1);
            let reach = u64::try_from(4 * format.most()).expect("positive");
            let exponent = |_| match random.below(16) {
                0 => random.next() & 0xffff_ffff,
                _ => random.below(reach).wrapping_sub(reach / 2) & 0xffff_ffff,
            };
            // An f16's operands are few: each with several exponents.
            let times = count.div_ceil(columns.len());
            columns.values[0] = columns.values[0].repeat(times);
            let exponents = (0..columns.len()).map(exponent).collect();
            columns.values.push(exponents);
            columns.types.push(Type::I32);
            columns
        }
        [Type::Float(format), ..] => points::several(format, types.len(), count, seed, None),
        _ => Columns {
            types: types.to_vec(),
            values: vec![points::integers(types[0], count, seed)],
        },
    }
}

pub fn formula(
    backend: &Arc<dyn Backend>,
    formula: &Formula,
    format: Format,
    count: usize,
    seed: u64,
) -> Row {
    let columns = operands(&vec![Type::Float(format); formula.operands], count, seed);
    let mut row = Row::new(formula.name, format, columns.len());
    let is_wide = format == Format::F64;
    row.ours = "same bits".into();
    if !is_wide {
        row.wgsl = formula.wgsl.into();
    }
    let seen = match compute(backend, formula.expression, Type::Float(format), &columns) {
        Ok(seen) => seen,
        Err(error) => {
            row.refused = Some(error);
            return row;
        }
    };
    for (at, &seen) in seen.iter().enumerate() {
        let x = floats(format, &columns, at);
        let numbers: Vec<Rounded> = x.iter().map(|&x| Rounded(format, x)).collect();
        let expected = (formula.rounded)(&numbers).1;
        let value = format.decode(seen);
        if !same(Type::Float(format), seen, format.encode(expected)) {
            let place = show(&columns, at);
            row.fail(|| format!("{place}: saw {value:e}, expected {expected:e}"));
        }
        if is_wide {
            row.judged += 1;
            continue;
        }
        let truth = (formula.real)(&x.iter().map(|&x| x.into()).collect::<Vec<_>>());
        if x.iter().any(|x| !x.is_finite()) || !truth.near.is_finite() {
            continue;
        }
        let intervals: Vec<_> = x.iter().map(|&x| Allowed::exactly(format, x)).collect();
        let allowed = (formula.allowed)(&intervals);
        if allowed.is_anything() || formula.wgsl == "infinite" {
            continue;
        }
        row.judged += 1;
        if !allowed.holds(value) {
            let place = show(&columns, at);
            row.fail(|| {
                format!(
                    "{place}: saw {value:e}, WGSL allows {:e} to {:e}",
                    allowed.low, allowed.high
                )
            });
        }
        row.record(error(format, truth, value), || show(&columns, at));
    }
    row
}

pub fn elementary(
    backend: &Arc<dyn Backend>,
    function: &Elementary,
    format: Format,
    count: usize,
    seed: u64,
) -> Row {
    let is_wide = format == Format::F64;
    let columns = match function.operands {
        1 => points::unary(format, &(function.domain)(format), count, seed),
        n => points::several(format, n, count, seed, function.more),
    };
    let mut row = Row::new(function.name, format, columns.len());
    // WGSL has no f64.
    let ours = if is_wide { Some(WIDE) } else { function.ours };
    row.ours = ours.map_or_else(String::new, |most| format!("{most} ULP"));
    if !is_wide {
        row.wgsl = function.wgsl.into();
    }
    let seen = match compute(backend, function.expression, Type::Float(format), &columns) {
        Ok(seen) => seen,
        Err(error) => {
            row.refused = Some(error);
            return row;
        }
    };
    let mut precise = Precise::new();
    for (at, &seen) in seen.iter().enumerate() {
        let x = floats(format, &columns, at);
        let value = format.decode(seen);
        if x.iter().any(|x| !x.is_finite()) {
            continue;
        }
        let rough = (function.truth)(&x);
        let off = if is_wide {
            // Overflow and poles are for the f32 rows.
            if !rough.is_finite() {
                continue;
            }
            let truth = (function.precise)(&x, &mut precise);
            match precise::nearest(&truth).is_finite() {
                true => precise::error(&truth, value),
                false => continue,
            }
        } else {
            if !rough.is_finite() {
                continue;
            }
            error(format, rough.into(), value)
        };
        row.judged += 1;
        if let Some(allowed) = function.allowed.filter(|_| !is_wide) {
            let operands: Vec<_> = x.iter().map(|&x| Allowed::exactly(format, x)).collect();
            let allowed = allowed(&operands, rough);
            if !allowed.holds(value) {
                let place = show(&columns, at);
                row.fail(|| {
                    format!(
                        "{place}: saw {value:e}, WGSL allows {:e} to {:e}",
                        allowed.low, allowed.high
                    )
                });
            }
        }
        if ours.is_some_and(|most| off > most) {
            let place = show(&columns, at);
            row.fail(|| format!("{place}: saw {value:e}, which is {off:.2} ULP from {rough:e}"));
        }
        row.record(off, || show(&columns, at));
    }
    row
}

/// What functions of f64 are held to, in units in the last place.
const WIDE: f64 = 4.0;
