//! Functions on the bits of integers.

use super::{each, one};

const INTS: [i32; 12] = [
    0,
    1,
    -1,
    2,
    -2,
    i32::MAX,
    i32::MIN,
    0x00ff_0000,
    0x1234_5678,
    -0x1234_5678,
    1 << 30,
    -(1 << 30),
];

/// Offsets and counts, inside the widths and beyond.
const RANGES: [[u32; 2]; 14] = [
    [0, 0],
    [0, 1],
    [0, 32],
    [4, 8],
    [31, 1],
    [31, 9],
    [32, 0],
    [32, 4],
    [40, 24],
    [u32::MAX, 3],
    [3, u32::MAX],
    [u32::MAX, u32::MAX],
    [0, 64],
    [63, 1],
];

/// Bits `offset..offset + count` of `x`, one at a time.
fn extracted(x: u64, width: u32, [offset, count]: [u32; 2], signed: bool) -> u64 {
    let offset = offset.min(width);
    let count = count.min(width - offset);
    let bit = |at: u32| x >> at & 1;
    (0..width)
        .filter(|_| count > 0)
        .map(|at| match at < count {
            true => bit(offset + at) << at,
            false if signed => bit(offset + count - 1) << at,
            false => 0,
        })
        .sum()
}

fn inserted(x: u64, bits: u64, width: u32, [offset, count]: [u32; 2]) -> u64 {
    let offset = offset.min(width);
    let count = count.min(width - offset);
    (0..width)
        .map(|at| match at >= offset && at - offset < count {
            true => (bits >> (at - offset) & 1) << at,
            false => x & 1 << at,
        })
        .sum()
}

#[test]
fn bits_are_extracted_and_inserted_within_the_width() {
    let rows: Vec<[u32; 4]> = INTS
        .iter()
        .flat_map(|&x| {
            RANGES.map(|[offset, count]| [x.cast_unsigned(), !0x0f0f_1248, offset, count])
        })
        .collect();
    let outputs = [
        "extractBits(a, c, d)",
        "bitcast<u32>(extractBits(bitcast<i32>(a), c, d))",
        "insertBits(a, b, c, d)",
        "bitcast<u32>(insertBits(bitcast<i32>(a), bitcast<i32>(b), c, d))",
        "extractBits(vec2(b, a), c, d).y",
        "insertBits(vec2(b, a), vec2(a, b), c, d).y",
    ];
    let seen: Vec<Vec<u32>> = each("", &outputs, &rows);
    for (&[a, b, offset, count], seen) in rows.iter().zip(seen) {
        let (a, b, range) = (u64::from(a), u64::from(b), [offset, count]);
        let plain = extracted(a, 32, range, false) as u32;
        let signed = extracted(a, 32, range, true) as u32;
        let put = inserted(a, b, 32, range) as u32;
        assert_eq!(
            seen,
            [plain, signed, put, put, plain, put],
            "{a:x} {range:?}"
        );
    }
}

#[test]
fn wide_bits_are_extracted_and_inserted_within_the_width() {
    let values = [
        0u64,
        u64::MAX,
        1 << 63,
        0x0123_4567_89ab_cdef,
        0xfedc_ba98_7654_3210,
    ];
    let rows: Vec<[u64; 4]> = values
        .iter()
        .flat_map(|&x| {
            RANGES.map(|[offset, count]| {
                [
                    x,
                    !0x0f0f_1248_5555_0001,
                    u64::from(offset),
                    u64::from(count),
                ]
            })
        })
        .collect();
    let outputs = [
        "extractBits(a, u32(c), u32(d))",
        "bitcast<u64>(extractBits(bitcast<i64>(a), u32(c), u32(d)))",
        "insertBits(a, b, u32(c), u32(d))",
        "bitcast<u64>(insertBits(bitcast<i64>(a), bitcast<i64>(b), u32(c), u32(d)))",
    ];
    let seen: Vec<Vec<u64>> = each("", &outputs, &rows);
    for (&[a, b, offset, count], seen) in rows.iter().zip(seen) {
        let range = [offset as u32, count as u32];
        let put = inserted(a, b, 64, range);
        let expected = [
            extracted(a, 64, range, false),
            extracted(a, 64, range, true),
            put,
            put,
        ];
        assert_eq!(seen, expected, "{a:x} {range:?}");
    }
}

/// The highest bit that differs from all above it.
fn leading(x: i128, width: u32) -> i32 {
    (0..width as i32)
        .rev()
        .find(|&at| (x >> at & 1 == 1) != (x < 0))
        .unwrap_or(-1)
}

fn trailing(x: i128) -> i32 {
    if x == 0 {
        -1
    } else {
        x.trailing_zeros() as i32
    }
}

#[test]
fn bits_are_found_and_counted() {
    let rows = INTS.map(|x| [x]);
    let outputs = [
        "firstLeadingBit(a)",
        "bitcast<i32>(firstLeadingBit(bitcast<u32>(a)))",
        "firstTrailingBit(a)",
        "bitcast<i32>(firstTrailingBit(bitcast<u32>(a)))",
        "countOneBits(a)",
        "countLeadingZeros(a)",
        "countTrailingZeros(a)",
        "reverseBits(a)",
        "firstLeadingBit(vec2(1i, a)).y",
    ];
    let seen: Vec<Vec<i32>> = each("", &outputs, &rows);
    for (&x, seen) in INTS.iter().zip(seen) {
        let (signed, unsigned) = (i128::from(x), i128::from(x.cast_unsigned()));
        let expected = [
            leading(signed, 32),
            leading(unsigned, 32),
            trailing(signed),
            trailing(unsigned),
            x.count_ones() as i32,
            x.leading_zeros() as i32,
            x.trailing_zeros() as i32,
            x.reverse_bits(),
            leading(signed, 32),
        ];
        assert_eq!(seen, expected, "{x:#x}");
    }
}

#[test]
fn wide_bits_are_found() {
    let values = [0i64, 1, -1, i64::MIN, i64::MAX, 1 << 40, -(1 << 40)];
    let outputs = [
        "firstLeadingBit(a)",
        "bitcast<i64>(firstLeadingBit(bitcast<u64>(a)))",
        "firstTrailingBit(a)",
        "bitcast<i64>(firstTrailingBit(bitcast<u64>(a)))",
    ];
    let seen: Vec<Vec<i64>> = each("", &outputs, &values.map(|x| [x]));
    for (&x, seen) in values.iter().zip(seen) {
        let (signed, unsigned) = (i128::from(x), i128::from(x.cast_unsigned()));
        let expected = [
            leading(signed, 64),
            leading(unsigned, 64),
            trailing(signed),
            trailing(unsigned),
        ];
        assert_eq!(seen, expected.map(i64::from), "{x:#x}");
    }
}

#[test]
fn bits_keep_when_their_type_changes() {
    let seen: Vec<u32> = one(
        "bitcast<u32>(bitcast<f32>(bitcast<i32>(a)))",
        &[[0x7fc0_1234u32], [1], [u32::MAX]],
    );
    assert_eq!(seen, [0x7fc0_1234, 1, u32::MAX]);
    let seen: Vec<u64> = one(
        "bitcast<u64>(bitcast<f64>(bitcast<i64>(a)))",
        &[[1u64 << 63 | 5]],
    );
    assert_eq!(seen, [1 << 63 | 5]);
    let seen: Vec<f32> = one("bitcast<vec2<f32>>(vec2(a, a + 1u)).y", &[[0x3f7f_ffffu32]]);
    assert_eq!(seen, [1.0]);
}
