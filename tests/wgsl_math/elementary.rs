//! Roots, powers, logarithms, trigonometry.

use super::harness::on_cuda;
use super::{assert_close, each, one};

const WILD: [f32; 8] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    1.0,
    -1.0,
    f32::MAX,
];

type Unary = (&'static str, fn(f64) -> f64, &'static [f32]);

const UNARY: [Unary; 19] = [
    ("sqrt", f64::sqrt, &[2.0, 1e-40, 0.3]),
    ("inverseSqrt", |x| 1.0 / x.sqrt(), &[2.0, 4.0, 1e-20]),
    ("sin", f64::sin, &[0.5, -3.0, 100.0, 1e5, 1e-10]),
    ("cos", f64::cos, &[0.5, -3.0, 100.0, 1e5, 1e-10]),
    ("tan", f64::tan, &[0.5, -3.0, 1.57, 1e-10]),
    ("asin", f64::asin, &[0.5, -0.99, 1.5]),
    ("acos", f64::acos, &[0.5, -0.99, 1.5]),
    ("atan", f64::atan, &[0.5, -7.0, 1e20]),
    ("sinh", f64::sinh, &[0.5, -7.0, 100.0]),
    ("cosh", f64::cosh, &[0.5, -7.0, 100.0]),
    ("tanh", f64::tanh, &[0.5, -7.0, 100.0]),
    ("asinh", f64::asinh, &[0.5, -7.0, 1e10]),
    ("acosh", f64::acosh, &[1.5, 7.0, 0.5]),
    // Rust's own loses digits where the operand is negative.
    ("atanh", |x| x.abs().atanh().copysign(x), &[0.5, -0.99, 1.5]),
    ("exp", f64::exp, &[0.5, -7.0, 88.0, 89.0, -200.0]),
    ("exp2", f64::exp2, &[0.5, -7.0, 127.5, 128.0, -149.0]),
    ("log", f64::ln, &[0.5, 7.0, 1e-40, 1e30]),
    ("log2", f64::log2, &[0.5, 7.0, 1e-40, 1e30]),
    ("fract", |x| x - x.floor(), &[0.5, -0.25, 3.75, 8_388_609.0]),
];

#[test]
fn functions_of_one_number_are_close() {
    for (name, exact, extra) in UNARY {
        // WGSL promises nothing beyond pi, and the device's sine nothing beyond 2^45.
        let periodic = on_cuda() && ["sin", "cos", "tan"].contains(&name);
        let inputs: Vec<[f32; 1]> = (WILD.iter().chain(extra))
            .filter(|&&x| !(periodic && x.is_finite() && x.abs() > 3e13))
            .map(|&x| [x])
            .collect();
        let seen: Vec<f32> = one(&format!("{name}(a)"), &inputs);
        for ([x], seen) in inputs.iter().zip(seen) {
            assert_close(name, &[*x], seen, exact(f64::from(*x)), 2);
        }
    }
}

#[test]
fn functions_of_two_numbers_are_close() {
    let values = [0.5f32, -0.5, 2.0, -3.0, 0.0, 1.0, 10.25, f32::INFINITY];
    let rows: Vec<[f32; 2]> = values
        .iter()
        .flat_map(|&x| values.map(|y| [x, y]))
        .collect();
    let seen: Vec<Vec<f32>> = each("", &["pow(a, b)", "atan2(a, b)"], &rows);
    for (&[x, y], seen) in rows.iter().zip(seen) {
        let (wide_x, wide_y) = (f64::from(x), f64::from(y));
        assert_close("pow", &[x, y], seen[0], wide_x.powf(wide_y), 2);
        assert_close("atan2", &[x, y], seen[1], wide_x.atan2(wide_y), 2);
    }
}

#[test]
fn the_other_float_types_compute_in_their_own_width() {
    for (name, exact, extra) in UNARY {
        // On CUDA a load that needs others in f64 is refused, which tests/ptx.rs looks at.
        let has_wide = !on_cuda() || ["sqrt", "fract"].contains(&name);
        let wide: Vec<[f64; 1]> = (extra.iter().filter(|_| has_wide))
            .map(|&x| [f64::from(x)])
            .collect();
        let seen: Vec<f64> = match has_wide {
            true => one(&format!("{name}(a)"), &wide),
            false => Vec::new(),
        };
        for ([x], seen) in wide.iter().zip(seen) {
            let expected = exact(*x);
            let close = seen == expected
                || (seen - expected).abs() <= 4.0 * f64::EPSILON * expected.abs()
                || seen.is_nan() && expected.is_nan();
            assert!(close, "{name}({x}): saw {seen:e}, expected {expected:e}");
        }
        // 0.5 and 1.5 are exact in f16.
        let narrow = [[0.5f32], [1.5]];
        let seen: Vec<f32> = one(&format!("f32({name}(f16(a)))"), &narrow);
        for ([x], seen) in narrow.iter().zip(seen) {
            let expected = exact(f64::from(*x)) as f32;
            let close = (seen - expected).abs() <= expected.abs() / 1024.0
                || seen.is_nan() && expected.is_nan();
            assert!(close, "{name}(f16 {x}): saw {seen}, expected {expected}");
        }
    }
}

#[test]
fn vectors_go_component_by_component() {
    let seen: Vec<Vec<f32>> = each(
        "let v = sin(vec3(a, b, c)); let p = pow(vec2(a, b), vec2(b, c)); let l = ldexp(vec2(a, b), vec2<i32>(vec2(b, c)));",
        &["v.x", "v.y", "v.z", "p.x", "p.y", "l.x", "l.y"],
        &[[0.5f32, 1.0, 2.0]],
    );
    let expected = [
        0.5f64.sin(),
        1f64.sin(),
        2f64.sin(),
        0.5,
        1.0,
        0.5 * 2.0,
        4.0,
    ];
    for (seen, expected) in seen[0].iter().zip(expected) {
        assert_close("a component", &[], *seen, expected, 2);
    }
}
