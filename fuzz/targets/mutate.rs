//! Changes a text word by word, so that much of it goes on to make sense.

use vyre::front::wgsl::tokens::tokens;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 33) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Numbers at the edges of something.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "65535",
    "65536",
    "0x7fffffff",
    "2147483648",
    "4294967295u",
    "0xffffffffffffffffu",
    "0u",
    "1i",
    "-1",
    "1e30f",
    "0.0",
    "1e-45f",
    "65504h",
];

const TYPES: [&str; 16] = [
    "u32",
    "i32",
    "f32",
    "f16",
    "bool",
    "u64",
    "i64",
    "f64",
    "vec2<u32>",
    "vec3f",
    "vec4<bool>",
    "mat2x3<f32>",
    "array<u32, 3>",
    "array<vec3<f32>, 2>",
    "atomic<u32>",
    "array<array<i32, 2>, 2>",
];

const OPERATORS: [&str; 18] = [
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", ">=", "==", "!=", "&&", "||", "=",
    "+=",
];

const STATEMENTS: [&str; 14] = [
    "gridBarrier();",
    "workgroupBarrier();",
    "return;",
    "break;",
    "continue;",
    "loop { break; }",
    "{}",
    "if true { return; }",
    "for (var q = 0u; q < 3u; q++) { ",
    "}",
    "switch 1u { default: {} }",
    "storageBarrier();",
    "discard;",
    "var q = 1;",
];

/// One change. `None`: there is nothing to change.
fn change(text: &str, random: &mut Random) -> Option<String> {
    let all: Vec<(usize, usize)> = tokens(text).map(|t| (t.at, t.at + t.text.len())).collect();
    if all.is_empty() {
        return None;
    }
    let at = random.below(all.len());
    let (start, end) = all[at];
    let to = (at + 1 + random.below(12)).min(all.len());
    let span = start..all[to - 1].1;
    let other = *random.pick(&all);
    let is_number = text[start..].starts_with(|c: char| c.is_ascii_digit());
    let replaced = |range: std::ops::Range<usize>, by: &str| {
        format!("{} {by} {}", &text[..range.start], &text[range.end..])
    };
    Some(match random.below(12) {
        0 => replaced(span, ""),
        1 => replaced(other.0..other.0, &text[span]),
        2 | 3 => replaced(start..end, &text[other.0..other.1]),
        4 | 5 if is_number => replaced(start..end, random.pick::<&str>(&NUMBERS)),
        4 => replaced(start..end, random.pick::<&str>(&OPERATORS)),
        5 => replaced(start..end, random.pick::<&str>(&TYPES)),
        6 => replaced(end..end, random.pick::<&str>(&STATEMENTS)),
        7 => replaced(start..end, &format!("({})", &text[other.0..other.1])),
        8 => replaced(
            start..end,
            &format!("{}[{}]", &text[start..end], &text[other.0..other.1]),
        ),
        9 => replaced(span.clone(), &text[span].repeat(2 + random.below(40))),
        // A statement again, elsewhere.
        _ => {
            let ends: Vec<usize> = text
                .match_indices([';', '{', '}'])
                .map(|(i, _)| i + 1)
                .collect();
            let from = random.below(ends.len());
            let to = (from + 1 + random.below(2)).min(ends.len().saturating_sub(1));
            let statement = &text[*ends.get(from)?..(*ends.get(to)?).max(ends[from])];
            let place = *random.pick(&ends);
            format!("{}{statement}{}", &text[..place], &text[place..])
        }
    })
}

/// Up to four changes; `None` if the bytes are no text, or became too long.
pub fn mutated(data: &[u8], seed: u32, most: usize) -> Option<Vec<u8>> {
    let mut random = Random(u64::from(seed));
    let mut text = std::str::from_utf8(data).ok()?.to_owned();
    for _ in 0..=random.below(4) {
        text = change(&text, &mut random)?;
    }
    (text.len() <= most).then(|| text.into_bytes())
}
