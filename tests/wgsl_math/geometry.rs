//! Vectors and matrices.

use super::{assert_close, each, one};

const ROWS: [[f32; 6]; 3] = [
    [1.0, 2.0, 3.0, 4.0, -5.0, 6.0],
    [0.25, -1.5, 0.0, 8.0, 0.125, -2.0],
    [-3.0, 0.5, 7.0, 1.0, 1.0, 1.0],
];

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Both vectors of a row.
fn halves(row: &[f32; 6]) -> ([f64; 3], [f64; 3]) {
    let wide = row.map(f64::from);
    ([wide[0], wide[1], wide[2]], [wide[3], wide[4], wide[5]])
}

const SETUP: &str = "let v = vec3(a, b, c); let w = vec3(d, e, f);";

#[test]
fn products_lengths_and_distances() {
    let outputs = [
        "dot(v, w)",
        "length(v)",
        "distance(v, w)",
        "length(a)",
        "distance(a, d)",
        "cross(v, w).x",
        "cross(v, w).y",
        "cross(v, w).z",
        "normalize(v).x",
        "normalize(v).z",
        "dot(v.xy, w.xy)",
        "length(vec4(v, d))",
    ];
    let seen: Vec<Vec<f32>> = each(SETUP, &outputs, &ROWS);
    for (row, seen) in ROWS.iter().zip(seen) {
        let (v, w) = halves(row);
        let way = [v[0] - w[0], v[1] - w[1], v[2] - w[2]];
        let length = dot(&v, &v).sqrt();
        let expected = [
            dot(&v, &w),
            length,
            dot(&way, &way).sqrt(),
            v[0].abs(),
            way[0].abs(),
            v[1] * w[2] - v[2] * w[1],
            v[2] * w[0] - v[0] * w[2],
            v[0] * w[1] - v[1] * w[0],
            v[0] / length,
            v[2] / length,
            dot(&v[..2], &w[..2]),
            (dot(&v, &v) + w[0] * w[0]).sqrt(),
        ];
        for ((what, seen), expected) in outputs.iter().zip(seen).zip(expected) {
            assert_close(what, row, seen, expected, 3);
        }
    }
}

#[test]
fn mirrors_and_lenses() {
    let outputs = [
        "reflect(v, w).x",
        "reflect(v, w).y",
        "reflect(v, w).z",
        "faceForward(v, w, vec3(1.0, a, 0.0)).x",
        "faceForward(v, w, vec3(1.0, a, 0.0)).z",
    ];
    let seen: Vec<Vec<f32>> = each(SETUP, &outputs, &ROWS);
    for (row, seen) in ROWS.iter().zip(seen) {
        let (v, w) = halves(row);
        let twice = 2.0 * dot(&w, &v);
        let turned = if w[0] + w[1] * v[0] < 0.0 { 1.0 } else { -1.0 };
        let expected = [
            v[0] - twice * w[0],
            v[1] - twice * w[1],
            v[2] - twice * w[2],
            turned * v[0],
            turned * v[2],
        ];
        for ((what, seen), expected) in outputs.iter().zip(seen).zip(expected) {
            assert_close(what, row, seen, expected, 3);
        }
    }
}

#[test]
fn refraction_bends_until_it_reflects_totally() {
    let seen: Vec<Vec<f32>> = each(
        "let r = refract(vec2(a, b), vec2(0.0, 1.0), c);",
        &["r.x", "r.y"],
        &[[0.6f32, -0.8, 0.5], [0.6, -0.8, 2.0], [0.0, -1.0, 1.5]],
    );
    let k: f64 = 1.0 - 0.25 * (1.0 - 0.8f64 * 0.8);
    assert_close("refract", &[], seen[0][0], 0.3, 4);
    assert_close("refract", &[], seen[0][1], -0.4 - (-0.4 + k.sqrt()), 4);
    assert_eq!(seen[1], [0.0, 0.0]);
    assert_eq!(seen[2], [0.0, -1.0]);
}

#[test]
fn dot_products_of_integers_wrap() {
    let product = |x: [i32; 4]| {
        x[0].wrapping_mul(x[2])
            .wrapping_add(x[1].wrapping_mul(x[3]))
    };
    let rows = [
        [1, 2, 3, 4],
        [i32::MAX, i32::MIN, 3, 7],
        [i32::MIN, -1, -1, i32::MAX],
    ];
    let seen: Vec<i32> = one("dot(vec2(a, b), vec2(c, d))", &rows);
    assert_eq!(seen, rows.map(product));
    let unsigned = rows.map(|row| row.map(i32::cast_unsigned));
    let seen: Vec<u32> = one("dot(vec2(a, b), vec2(c, d))", &unsigned);
    assert_eq!(seen, rows.map(|row| product(row).cast_unsigned()));
    let seen: Vec<u64> = one(
        "dot(vec3(a, b, a), vec3(b, b, 3lu))",
        &[[1u64 << 40, 1 << 30]],
    );
    assert_eq!(seen, [(1u64 << 60) + (3 << 40)]);
    let seen: Vec<i64> = one("dot(vec2(a, b), vec2(b, b))", &[[-(1i64 << 40), 3]]);
    assert_eq!(seen, [-(3i64 << 40) + 9]);
}

#[test]
fn matrices_transpose() {
    let seen: Vec<Vec<f32>> = each(
        "let m = mat3x2(a, b, c, d, e, f); let t = transpose(m); let back = transpose(t);",
        &[
            "t[0].x",
            "t[0].y",
            "t[0].z",
            "t[1].x",
            "t[1].y",
            "t[1].z",
            "back[1].x",
            "back[2].y",
        ],
        &[[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]],
    );
    assert_eq!(seen[0], [1.0, 3.0, 5.0, 2.0, 4.0, 6.0, 3.0, 6.0]);
}

#[test]
fn determinants_of_every_size() {
    let seen: Vec<Vec<f32>> = each(
        "let three = mat3x3(a, b, c, d, e, f, g, h, i);
        let four = mat4x4(vec4(three[0], 0.0), vec4(a, b, c, 2.0), vec4(three[1], 0.0), vec4(three[2], 0.0));
        let half = determinant(mat2x2<f16>(mat2x2(a, b, d, e)));",
        &[
            "determinant(mat2x2(a, b, d, e))",
            "determinant(three)",
            "determinant(transpose(three))",
            "determinant(four)",
            "f32(half)",
        ],
        &[
            [2f32, -3.0, 1.0, 2.0, 0.0, -1.0, 1.0, 4.0, 5.0],
            [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        ],
    );
    // The fourth row of `four` is zero but for the 2 in its second column, where the sign is plus.
    assert_eq!(seen[0], [6.0, 49.0, 49.0, 98.0, 6.0]);
    assert_eq!(seen[1], [1.0, 1.0, 1.0, 2.0, 1.0]);
}
