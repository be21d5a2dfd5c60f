//! Rounding, ranges, signs, and numbers taken apart.

use super::{assert_close, each, one};

const FLOATS: [f32; 16] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.3,
    -7.9,
    8_388_609.0,
    1e30,
    -1e-40,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
];

/// The same bits, or both NaN.
fn assert_same(what: &str, row: &[f32], seen: f32, expected: f32) {
    let same = seen.to_bits() == expected.to_bits() || seen.is_nan() && expected.is_nan();
    assert!(
        same,
        "{what} of {row:?}: saw {seen:e}, expected {expected:e}"
    );
}

type Function = (&'static str, fn(f32) -> f32);

#[test]
fn numbers_round_and_keep_their_signs() {
    let functions: [Function; 9] = [
        ("floor(a)", f32::floor),
        ("ceil(a)", f32::ceil),
        ("trunc(a)", f32::trunc),
        ("round(a)", f32::round_ties_even),
        ("abs(a)", f32::abs),
        ("sign(vec2(1.0, a)).y", |x| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                x
            }
        }),
        ("saturate(a)", |x| if x > 0.0 { x.min(1.0) } else { 0.0 }),
        ("degrees(a)", |x| x * 57.295_78),
        ("radians(a)", |x| x * 0.017_453_292),
    ];
    let rows = FLOATS.map(|x| [x]);
    for (call, expected) in functions {
        let seen: Vec<f32> = one(call, &rows);
        for (row, seen) in rows.iter().zip(seen) {
            assert_same(call, row, seen, expected(row[0]));
        }
    }
}

#[test]
fn signs_of_integers() {
    let rows = [[0], [5], [-5], [i32::MIN], [i32::MAX]];
    let seen: Vec<i32> = one("sign(a)", &rows);
    assert_eq!(seen, [0, 1, -1, -1, 1]);
    let seen: Vec<i64> = one("sign(a)", &[[0i64], [1 << 40], [i64::MIN]]);
    assert_eq!(seen, [0, 1, -1]);
    let seen: Vec<i32> = one("abs(a)", &rows);
    assert_eq!(seen, [0, 5, 5, i32::MIN, i32::MAX]);
}

/// What an assembler may make one instruction of, and must not lose a sign of.
#[test]
fn extremes_of_three_keep_their_signs() {
    let values = [0, 1, -1, 7, -9, 100, -100, i32::MAX, i32::MIN];
    let rows: Vec<[i32; 3]> = (values.iter())
        .flat_map(|&a| values.map(|b| [a, b]))
        .flat_map(|[a, b]| values.map(|c| [a, b, c]))
        .collect();
    let outputs = [
        "max(max(a, -b), c)",
        "min(min(a, -b), c)",
        "max(c, max(-a, -b))",
        "max(max(a, 0 - b), c)",
        "min(min(a, b * -1), c)",
        "max(abs(a), min(b, c))",
        "max(max(a, ~b), c)",
        "i32(max(max(u32(a), 0u - u32(b)), u32(c)))",
        "i32(min(min(u32(a), ~u32(b)), u32(c)))",
    ];
    let seen: Vec<Vec<i32>> = each("", &outputs, &rows);
    for ([a, b, c], seen) in rows.into_iter().zip(seen) {
        let minus = |x: i32| x.wrapping_neg();
        let (ua, ub, uc) = (a as u32, b as u32, c as u32);
        let expected = [
            a.max(minus(b)).max(c),
            a.min(minus(b)).min(c),
            minus(a).max(minus(b)).max(c),
            a.max(minus(b)).max(c),
            a.min(minus(b)).min(c),
            a.wrapping_abs().max(b.min(c)),
            a.max(!b).max(c),
            ua.max(ub.wrapping_neg()).max(uc) as i32,
            ua.min(!ub).min(uc) as i32,
        ];
        assert_eq!(seen, expected, "of {a}, {b}, {c}");
    }
}

#[test]
fn division_by_constants_is_exact() {
    const DIVISORS: [u32; 14] = [
        1,
        2,
        3,
        5,
        7,
        10,
        64,
        641,
        65_537,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        u32::MAX,
    ];
    let near = |x: u32| [x.wrapping_sub(1), x, x.wrapping_add(1)];
    let rows: Vec<[u32; 1]> = (DIVISORS.iter())
        .flat_map(|&d| {
            near(d)
                .into_iter()
                .chain(near(d.wrapping_mul(3)))
                .chain(near(u32::MAX / d * d))
        })
        .map(|x| [x])
        .collect();
    let outputs: Vec<String> = (DIVISORS.iter())
        .flat_map(|d| [format!("a / {d}u"), format!("a % {d}u")])
        .collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let seen: Vec<Vec<u32>> = each("", &outputs, &rows);
    for ([x], seen) in rows.into_iter().zip(seen) {
        let expected: Vec<u32> = DIVISORS.iter().flat_map(|&d| [x / d, x % d]).collect();
        assert_eq!(seen, expected, "of {x}");
    }
}

#[test]
fn numbers_are_clamped() {
    let rows = [
        [5, 0, 3],
        [-5, 0, 3],
        [2, 0, 3],
        [i32::MIN, -1, i32::MAX],
        [2, 9, 4],
    ];
    let seen: Vec<i32> = one("clamp(a, b, c)", &rows);
    assert_eq!(seen, rows.map(|[x, low, high]| x.max(low).min(high)));
    let unsigned = rows.map(|row| row.map(i32::cast_unsigned));
    let seen: Vec<u32> = one("clamp(vec2(a), vec2(b), vec2(c)).y", &unsigned);
    assert_eq!(seen, unsigned.map(|[x, low, high]| x.max(low).min(high)));
    let seen: Vec<i64> = one("clamp(a, b, c)", &[[i64::MIN, -(1 << 40), 0]]);
    assert_eq!(seen, [-(1 << 40)]);
    let rows = [
        [5.0f32, 0.0, 3.0],
        [-0.5, -1.0, 1.0],
        [f32::NAN, 1.0, 2.0],
        [f32::INFINITY, 0.0, 9.0],
    ];
    let seen: Vec<f32> = one("clamp(a, b, c)", &rows);
    assert_eq!(seen, [3.0, -0.5, 1.0, 9.0]);
    let seen: Vec<f64> = one("clamp(a, b, c)", &[[5.0f64, 0.0, 3.0]]);
    assert_eq!(seen, [3.0]);
}

#[test]
fn smallest_and_largest_ignore_nan() {
    let rows = [
        [1.0f32, 2.0],
        [f32::NAN, 2.0],
        [3.0, f32::NAN],
        [-0.0, 0.0],
        [0.0, -0.0],
    ];
    let seen: Vec<Vec<f32>> = each("", &["min(a, b)", "max(a, b)"], &rows);
    let expected = [[1.0, 2.0], [2.0, 2.0], [3.0, 3.0], [-0.0, 0.0], [-0.0, 0.0]];
    for ((row, seen), expected) in rows.iter().zip(seen).zip(expected) {
        assert_same("min", row, seen[0], expected[0]);
        assert_same("max", row, seen[1], expected[1]);
    }
}

#[test]
fn numbers_move_between_ranges() {
    let rows = [
        [1.0f32, 3.0, 0.25],
        [-2.0, 2.0, 0.5],
        [5.0, 6.0, 0.0],
        [5.0, 6.5, 1.0],
        [0.0, 1.0, 2.0],
        [0.0, 1.0, -2.0],
    ];
    let outputs = [
        "mix(a, b, c)",
        "mix(vec2(0.0, a), vec2(1.0, b), c).y",
        "mix(vec2(0.0, a), vec2(1.0, b), vec2(0.5, c)).y",
        "step(a, c)",
        "step(vec2(c), vec2(a)).y",
        "smoothstep(a, b, c)",
        "fma(a, b, c)",
    ];
    let seen: Vec<Vec<f32>> = each("", &outputs, &rows);
    for (row, seen) in rows.iter().zip(seen) {
        let [a, b, c] = row.map(f64::from);
        let mixed = a * (1.0 - c) + b * c;
        let t = ((c - a) / (b - a)).clamp(0.0, 1.0);
        let expected = [
            mixed,
            mixed,
            mixed,
            f64::from(u8::from(a <= c)),
            f64::from(u8::from(c <= a)),
            t * t * (3.0 - 2.0 * t),
            a * b + c,
        ];
        for ((what, seen), expected) in outputs.iter().zip(seen).zip(expected) {
            assert_close(what, row, seen, expected, 4);
        }
    }
}

#[test]
fn fused_products_round_once() {
    let x = 1.0 + f32::EPSILON;
    let seen: Vec<f32> = one("fma(a, a, -b)", &[[x, 1.0 + 2.0 * f32::EPSILON]]);
    assert_eq!(seen, [f32::EPSILON * f32::EPSILON]);
}

#[test]
fn numbers_split_into_whole_and_fraction() {
    let rows = [[1.5f32], [-1.25], [0.0], [1e30], [-0.75]];
    let outputs = ["s.fract", "s.whole", "v.fract.y", "v.whole.x"];
    let seen: Vec<Vec<f32>> = each(
        "let s = modf(a); let v = modf(vec2(a + 1.0, a));",
        &outputs,
        &rows,
    );
    for ([x], seen) in rows.iter().zip(seen) {
        let fract = x - x.trunc();
        assert_eq!(seen, [fract, x.trunc(), fract, (x + 1.0).trunc()], "{x}");
    }
    let seen: Vec<Vec<f64>> = each("let s = modf(a);", &["s.fract", "s.whole"], &[[-2.5f64]]);
    assert_eq!(seen[0], [-0.5, -2.0]);
    let seen: Vec<Vec<f32>> = each(
        "let s = modf(f16(a));",
        &["f32(s.fract)", "f32(s.whole)"],
        &[[-2.5f32]],
    );
    assert_eq!(seen[0], [-0.5, -2.0]);
}

#[test]
fn numbers_split_into_fraction_and_exponent() {
    // (number, fraction, exponent)
    let known = [
        (8.0f32, 0.5, 4.0),
        (-3.0, -0.75, 2.0),
        (0.1, 0.8, -3.0),
        (0.0, 0.0, 0.0),
        (f32::from_bits(1), 0.5, -148.0),
        (f32::MAX, 0.999_999_94, 128.0),
    ];
    let rows = known.map(|(x, ..)| [x]);
    let outputs = [
        "s.fract",
        "f32(s.exp)",
        "v.fract.y",
        "f32(v.exp.y)",
        "f32(v.exp.x)",
        "ldexp(s.fract, s.exp)",
    ];
    let seen: Vec<Vec<f32>> = each(
        "let s = frexp(a); let v = frexp(vec2(1.0, a));",
        &outputs,
        &rows,
    );
    for ((x, fraction, exponent), seen) in known.into_iter().zip(seen) {
        assert_eq!(
            seen,
            [fraction, exponent, fraction, exponent, 1.0, x],
            "{x}"
        );
    }
    let seen: Vec<Vec<f64>> = each(
        "let s = frexp(a);",
        &["s.fract", "f64(s.exp)"],
        &[[1e300f64], [-5e-324]],
    );
    assert_eq!(seen, [[1e300 / 2f64.powi(997), 997.0], [-0.5, -1073.0]]);
}

#[test]
fn powers_of_two_scale() {
    let seen: Vec<Vec<f32>> = each(
        "",
        &["ldexp(a, i32(b))", "f32(ldexp(f16(a), i32(b)))"],
        &[[1.5f32, 3.0], [-1.0, -2.0], [1.0, 20.0], [1.0, -30.0]],
    );
    assert_eq!(
        seen,
        [
            [12.0, 12.0],
            [-0.25, -0.25],
            [1_048_576.0, f32::INFINITY],
            [2f32.powi(-30), 0.0]
        ]
    );
    let seen: Vec<f32> = one(
        "ldexp(a, i32(b))",
        &[
            [1.0f32, -149.0],
            [1.0, -151.0],
            [f32::MIN_POSITIVE, 200.0],
            [0.0, 100.0],
        ],
    );
    assert_eq!(seen, [f32::from_bits(1), 0.0, 2f32.powi(74), 0.0]);
    let seen: Vec<f64> = one("ldexp(a, i32(b))", &[[0.75f64, 1000.0]]);
    assert_eq!(seen, [0.75 * 2f64.powi(1000)]);
}

#[test]
fn conversions_between_all_widths() {
    let seen: Vec<i64> = one(
        "i64(a) + i64(i32(a)) + i64(u32(a))",
        &[[f64::from(1 << 20)], [-1.0]],
    );
    assert_eq!(seen, [3 << 20, -2]);
    let seen: Vec<u64> = one("u64(a)", &[[1e30f32], [-1.0], [4096.5]]);
    assert_eq!(seen, [18_446_742_974_197_923_840, 0, 4096]);
    let seen: Vec<f32> = one("f32(f16(a)) + f32(u64(a)) + f32(bool(a))", &[[3i64], [0]]);
    assert_eq!(seen, [7.0, 0.0]);
    let seen: Vec<f64> = one("f64(a) + f64(f32(a))", &[[(1u64 << 53) + 2]]);
    assert_eq!(seen, [2f64.powi(54) + 2.0]);
}

#[test]
fn vectors_of_bool_join() {
    let seen: Vec<u32> = one(
        "u32(all(vec3(a, b, c) > vec3(1u))) + 2u * u32(any(vec3(a, b, c) > vec3(1u))) + 4u * u32(all(a > 1u))",
        &[[2u32, 2, 2], [0, 0, 2], [0, 0, 0], [2, 0, 0]],
    );
    assert_eq!(seen, [7, 2, 0, 6]);
}

#[test]
fn only_zeros_and_denormals_are_false() {
    let rows = [
        [0.0f32],
        [-0.0],
        [-1e-40],
        [f32::MIN_POSITIVE],
        [-2.0],
        [f32::NAN],
    ];
    let seen: Vec<u32> = one("u32(bool(a))", &rows);
    assert_eq!(seen, [0, 0, 0, 1, 1, 1]);
}
