//! Vectors in a u32 and back.

use super::{each, one};

const FLOATS: [[f32; 4]; 6] = [
    [0.0, 1.0, -1.0, 0.5],
    [2.0, -2.0, f32::INFINITY, f32::NEG_INFINITY],
    [0.3, -0.3, 0.999, -0.999],
    [0.001_960_8, -0.003_937, 0.25, -0.75],
    [-0.0, 1e-40, 65504.0, 1e-7],
    [65519.9, 65520.0, -1e10, 0.333_333_34],
];

fn packed<const N: usize>(width: u32, codes: [i64; N]) -> u32 {
    let mask = (1i64 << width) - 1;
    let fields = codes.iter().zip(0..);
    fields.fold(0, |all, (&code, at)| {
        all | ((code & mask) as u32) << (at * width)
    })
}

/// WGSL's code of a normalised number.
fn code(x: f32, low: f32, scale: f32) -> i64 {
    (0.5 + scale * x.clamp(low, 1.0)).floor() as i64
}

#[test]
fn normalised_numbers_round_to_their_codes() {
    let outputs = [
        "pack4x8snorm(vec4(a, b, c, d))",
        "pack4x8unorm(vec4(a, b, c, d))",
        "pack2x16snorm(vec2(a, b))",
        "pack2x16unorm(vec2(c, d))",
    ];
    let seen: Vec<Vec<u32>> = each("", &outputs, &FLOATS);
    for (row, seen) in FLOATS.iter().zip(seen) {
        let [a, b, c, d] = *row;
        let expected = [
            packed(8, row.map(|x| code(x, -1.0, 127.0))),
            packed(8, row.map(|x| code(x, 0.0, 255.0))),
            packed(16, [a, b].map(|x| code(x, -1.0, 32767.0))),
            packed(16, [c, d].map(|x| code(x, 0.0, 65535.0))),
        ];
        assert_eq!(seen, expected, "{row:?}");
    }
}

#[test]
fn codes_stand_for_normalised_numbers() {
    let words = [
        [0u32],
        [0x8081_7f01],
        [0xffff_8000],
        [0x7fff_8001],
        [0x1234_fedc],
    ];
    let names = [
        ("unpack4x8snorm(a)", 8, true),
        ("unpack4x8unorm(a)", 8, false),
        ("unpack2x16snorm(a)", 16, true),
        ("unpack2x16unorm(a)", 16, false),
    ];
    for (call, width, signed) in names {
        let fields = 32 / width;
        let outputs: Vec<String> = (0..fields).map(|at| format!("r[{at}]")).collect();
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        let seen: Vec<Vec<f32>> = each(&format!("let r = {call};"), &outputs, &words);
        for ([word], seen) in words.iter().zip(seen) {
            let expected: Vec<f32> = (0..fields)
                .map(|at| {
                    let up = word << (32 - width - at * width);
                    match signed {
                        true => {
                            let code = up.cast_signed() >> (32 - width);
                            (code as f32 / ((1 << (width - 1)) - 1) as f32).max(-1.0)
                        }
                        false => (up >> (32 - width)) as f32 / ((1u32 << width) - 1) as f32,
                    }
                })
                .collect();
            assert_eq!(seen, expected, "{call} of {word:#x}");
        }
    }
}

#[test]
fn halves_pack_rounded_and_unpack_exactly() {
    // (number, its half); the last ones round up to even, down to even, and to a denormal.
    let known = [
        (0.0f32, 0u32),
        (-0.0, 0x8000),
        (1.0, 0x3c00),
        (-2.0, 0xc000),
        (65504.0, 0x7bff),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (f32::NEG_INFINITY, 0xfc00),
        (1.0 + 3.0 / 2048.0, 0x3c02),
        (1.0 + 1.0 / 2048.0, 0x3c00),
        (5.960_464_5e-8, 1),
    ];
    for pair in known.windows(2) {
        let [(x, low), (y, high)] = [pair[0], pair[1]];
        let seen: Vec<u32> = one("pack2x16float(vec2(a, b))", &[[x, y]]);
        assert_eq!(seen, [high << 16 | low], "{x} {y}");
    }
    let exact = [
        [0u32],
        [0x3c00_8000],
        [0x7bff_c000],
        [0xfc00_0001],
        [0x7c00_0400],
    ];
    let seen: Vec<Vec<f32>> = each("let r = unpack2x16float(a);", &["r.x", "r.y"], &exact);
    let expected = [
        [0.0, 0.0],
        [-0.0, 1.0],
        [-2.0, 65504.0],
        [5.960_464_5e-8, f32::NEG_INFINITY],
        [6.103_515_6e-5, f32::INFINITY],
    ];
    assert_eq!(seen, expected);
    assert!(seen[1][0].is_sign_negative());
    let seen: Vec<f32> = one("unpack2x16float(a).y", &[[0x7e00_0000u32]]);
    assert!(seen[0].is_nan());
}

#[test]
fn numbers_quantize_to_halves() {
    let rows = [
        [1.0f32 + 1.0 / 4096.0],
        [0.1],
        [-3.0],
        [6e-8],
        [f32::INFINITY],
        [f32::NAN],
    ];
    let seen: Vec<f32> = one("quantizeToF16(vec2(1.0, a)).y", &rows);
    assert_eq!(
        seen[..5],
        [1.0, 0.099_975_586, -3.0, 5.960_464_5e-8, f32::INFINITY]
    );
    assert!(seen[5].is_nan());
}

#[test]
fn bytes_pack_and_unpack() {
    let rows = [
        [0i32, 1, -1, 127],
        [128, -128, -129, 300],
        [i32::MAX, i32::MIN, 255, 256],
    ];
    let outputs = [
        "pack4xI8(vec4(a, b, c, d))",
        "pack4xI8Clamp(vec4(a, b, c, d))",
        "pack4xU8(vec4<u32>(vec4(a, b, c, d)))",
        "pack4xU8Clamp(vec4<u32>(vec4(a, b, c, d)))",
    ];
    let unsigned = outputs.map(|output| format!("bitcast<i32>({output})"));
    let seen: Vec<Vec<i32>> = each("", &unsigned.each_ref().map(String::as_str), &rows);
    for (row, seen) in rows.iter().zip(seen) {
        let plain = packed(8, row.map(i64::from));
        let expected = [
            plain,
            packed(8, row.map(|x| i64::from(x.clamp(-128, 127)))),
            plain,
            packed(8, row.map(|x| i64::from(x.cast_unsigned().min(255)))),
        ];
        assert_eq!(seen, expected.map(u32::cast_signed), "{row:?}");
    }
    let seen: Vec<Vec<i32>> = each(
        "let s = unpack4xI8(a); let u = vec4<i32>(unpack4xU8(a));",
        &["s.x", "s.y", "s.z", "s.w", "u.x", "u.y", "u.z", "u.w"],
        &[[0x80ff_7f01u32]],
    );
    assert_eq!(seen[0], [1, 127, -1, -128, 1, 127, 255, 128]);
}

#[test]
fn packed_bytes_have_a_dot_product() {
    let rows = [
        [0x8080_8080u32, 0x8080_8080],
        [0x01ff_7f02, 0x03fe_8005],
        [u32::MAX, u32::MAX],
    ];
    let seen: Vec<Vec<u32>> = each(
        "",
        &["bitcast<u32>(dot4I8Packed(a, b))", "dot4U8Packed(a, b)"],
        &rows,
    );
    for ([x, y], seen) in rows.iter().zip(seen) {
        let fields = || x.to_le_bytes().into_iter().zip(y.to_le_bytes());
        let signed: i32 = fields()
            .map(|(x, y)| i32::from(x.cast_signed()) * i32::from(y.cast_signed()))
            .sum();
        let unsigned: u32 = fields().map(|(x, y)| u32::from(x) * u32::from(y)).sum();
        assert_eq!(seen, [signed.cast_unsigned(), unsigned], "{x:#x} {y:#x}");
    }
}
