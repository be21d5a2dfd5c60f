//! Built-in functions: run on the CPU with operands from a buffer, compared with Rust's own arithmetic.

mod harness;

#[path = "wgsl_math/bits.rs"]
mod bits;
#[path = "wgsl_math/elementary.rs"]
mod elementary;
#[path = "wgsl_math/geometry.rs"]
mod geometry;
#[path = "wgsl_math/numbers.rs"]
mod numbers;
#[path = "wgsl_math/packing.rs"]
mod packing;

/// What the buffers' elements may be.
pub trait Element: Copy {
    const NAME: &'static str;
    fn words(self) -> Vec<u32>;
    fn from_words(words: &[u32]) -> Self;
    const WORDS: usize = size_of::<Self>() / 4;
}

macro_rules! elements {
    ($($ty:ident)+) => {$(
        impl Element for $ty {
            const NAME: &'static str = stringify!($ty);

            fn words(self) -> Vec<u32> {
                self.to_ne_bytes().chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect()
            }

            fn from_words(words: &[u32]) -> Self {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                Self::from_ne_bytes(bytes.try_into().unwrap())
            }
        }
    )+};
}

elements! { f32 f64 i32 u32 i64 u64 }

/// Runs once for each row of operands, which are `a`, `b`, `c` and so on; the rows of `outputs`.
pub fn each<I: Element, O: Element, const N: usize>(
    setup: &str,
    outputs: &[&str],
    rows: &[[I; N]],
) -> Vec<Vec<O>> {
    let mut body = String::new();
    for at in 0..N {
        let name = char::from(b'a' + at as u8);
        body += &format!("let {name} = input[group.x * {N} + {at}];\n");
    }
    body += setup;
    for (at, output) in outputs.iter().enumerate() {
        body += &format!("\nout[group.x * {} + {at}] = {output};", outputs.len());
    }
    let enable = if body.contains("f16") {
        "enable f16;"
    } else {
        ""
    };
    let text = format!(
        "{enable}
        @group(0) @binding(0) var<storage, read> input: array<{}>;
        @group(0) @binding(1) var<storage, read_write> out: array<{}>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3<u32>) {{ {body} }}",
        I::NAME,
        O::NAME,
    );
    let input = rows.iter().flatten().flat_map(|x| x.words()).collect();
    let room = vec![0x5a5a_5a5a; rows.len() * outputs.len() * O::WORDS];
    let after = harness::run(1, &text, [rows.len() as u32, 1, 1], &[input, room]);
    after[1]
        .chunks(outputs.len() * O::WORDS)
        .map(|row| row.chunks(O::WORDS).map(O::from_words).collect())
        .collect()
}

/// One output.
pub fn one<I: Element, O: Element, const N: usize>(output: &str, rows: &[[I; N]]) -> Vec<O> {
    each("", &[output], rows)
        .into_iter()
        .map(|row: Vec<O>| row[0])
        .collect()
}

/// How many floats lie between the two; NaN is NaN only.
pub fn ulps(seen: f32, expected: f32) -> u64 {
    if seen.is_nan() || expected.is_nan() {
        return if seen.is_nan() && expected.is_nan() {
            0
        } else {
            u64::MAX
        };
    }
    let key = |x: f32| {
        let magnitude = i64::from(x.to_bits() & 0x7fff_ffff);
        if x.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    };
    key(seen).abs_diff(key(expected))
}

pub fn assert_close(what: &str, operands: &[f32], seen: f32, expected: f64, most: u64) {
    let rounded = expected as f32;
    assert!(
        ulps(seen, rounded) <= most,
        "{what} of {operands:?}: saw {seen:e}, expected {rounded:e} within {most} ULP"
    );
}
