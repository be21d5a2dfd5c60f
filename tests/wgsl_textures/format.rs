//! Formats of texels, apart from the library's: WGSL's table of channel formats.

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Float,
}

use Kind::{Float, Sint, Snorm, Uint, Unorm};

#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    pub kind: Kind,
    pub widths: &'static [u32],
}

const fn format(name: &'static str, kind: Kind, widths: &'static [u32]) -> Format {
    Format { name, kind, widths }
}

/// All that are supported.
pub const FORMATS: [Format; 26] = [
    format("rgba8unorm", Unorm, &[8, 8, 8, 8]),
    format("bgra8unorm", Unorm, &[8, 8, 8, 8]),
    format("rgba8snorm", Snorm, &[8, 8, 8, 8]),
    format("rgba8uint", Uint, &[8, 8, 8, 8]),
    format("rgba8sint", Sint, &[8, 8, 8, 8]),
    format("rgb10a2uint", Uint, &[10, 10, 10, 2]),
    format("rgb10a2unorm", Unorm, &[10, 10, 10, 2]),
    format("rg16unorm", Unorm, &[16, 16]),
    format("rg16snorm", Snorm, &[16, 16]),
    format("rg16uint", Uint, &[16, 16]),
    format("rg16sint", Sint, &[16, 16]),
    format("rg16float", Float, &[16, 16]),
    format("rgba16unorm", Unorm, &[16, 16, 16, 16]),
    format("rgba16snorm", Snorm, &[16, 16, 16, 16]),
    format("rgba16uint", Uint, &[16, 16, 16, 16]),
    format("rgba16sint", Sint, &[16, 16, 16, 16]),
    format("rgba16float", Float, &[16, 16, 16, 16]),
    format("r32uint", Uint, &[32]),
    format("r32sint", Sint, &[32]),
    format("r32float", Float, &[32]),
    format("rg32uint", Uint, &[32, 32]),
    format("rg32sint", Sint, &[32, 32]),
    format("rg32float", Float, &[32, 32]),
    format("rgba32uint", Uint, &[32, 32, 32, 32]),
    format("rgba32sint", Sint, &[32, 32, 32, 32]),
    format("rgba32float", Float, &[32, 32, 32, 32]),
];

impl Format {
    /// Of a component in the program.
    pub fn ty(&self) -> &'static str {
        match self.kind {
            Unorm | Snorm | Float => "f32",
            Uint => "u32",
            Sint => "i32",
        }
    }

    pub fn words(&self) -> usize {
        self.widths.iter().sum::<u32>() as usize / 32
    }

    /// The largest whole number that the first component's codes go up to.
    pub fn largest(&self) -> u32 {
        let bits = match self.kind {
            Snorm | Sint => self.widths[0] - 1,
            // Whole numbers that binary16 has.
            Float => 11,
            _ => self.widths[0],
        };
        (u64::MAX >> (64 - bits)) as u32
    }

    /// Where component `i` lies among the texel's.
    fn place(&self, i: usize) -> usize {
        match self.name {
            "bgra8unorm" => [2, 1, 0, 3][i],
            _ => i,
        }
    }

    /// The four components, as bits of their type.
    pub fn decode(&self, texel: &[u32]) -> [u32; 4] {
        let whole = texel
            .iter()
            .rev()
            .fold(0u128, |sum, &word| sum << 32 | u128::from(word));
        std::array::from_fn(|i| {
            let at = self.place(i);
            let Some(&width) = self.widths.get(at) else {
                let one = if self.ty() == "f32" {
                    1f32.to_bits()
                } else {
                    1
                };
                return if i == 3 { one } else { 0 };
            };
            let start: u32 = self.widths[..at].iter().sum();
            let bits = (whole >> start) as u64 & (u64::MAX >> (64 - width));
            let signed = ((bits << (64 - width)) as i64) >> (64 - width);
            let most = (1u64 << (width - 1)) - 1;
            match self.kind {
                Uint => bits as u32,
                Sint => signed as i32 as u32,
                Unorm => (bits as f32 / (2 * most + 1) as f32).to_bits(),
                Snorm => (signed as f32 / most as f32).max(-1.0).to_bits(),
                Float if width == 16 => (half(bits as u16) as f32).to_bits(),
                Float => bits as u32,
            }
        })
    }

    /// The texel's words; `components` are bits of their type.
    pub fn encode(&self, components: [u32; 4]) -> Vec<u32> {
        let mut whole = 0u128;
        let mut start = 0;
        for (at, &width) in self.widths.iter().enumerate() {
            let component = components[self.place(at)];
            let x = f32::from_bits(component);
            let most = (1u64 << (width - 1)) - 1;
            let bits = match self.kind {
                Uint => u64::from(component).min(2 * most + 1),
                Sint => {
                    let x = i64::from(component as i32);
                    x.clamp(-(most as i64) - 1, most as i64) as u64
                }
                Unorm => ((2 * most + 1) as f32 * x.clamp(0.0, 1.0) + 0.5).floor() as u64,
                Snorm => (most as f32 * x.clamp(-1.0, 1.0) + 0.5).floor() as i64 as u64,
                Float if width == 16 => u64::from(to_half(f64::from(x))),
                Float => u64::from(component),
            };
            whole |= u128::from(bits & (u64::MAX >> (64 - width))) << start;
            start += width;
        }
        (0..self.words())
            .map(|i| (whole >> (32 * i)) as u32)
            .collect()
    }

    /// Equal bits, or both not a number.
    pub fn same(&self, expected: &[u32], seen: &[u32]) {
        assert_eq!(expected.len(), seen.len());
        let is_nan = |bits: u32| self.ty() == "f32" && f32::from_bits(bits).is_nan();
        for (i, (&a, &b)) in expected.iter().zip(seen).enumerate() {
            let (texel, component) = (i / 4, i % 4);
            assert!(
                a == b || is_nan(a) && is_nan(b),
                "{}: component {component} of texel {texel} is {b:#x}, expected {a:#x}",
                self.name
            );
        }
    }
}

/// A binary16 number.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023) / 1024.0;
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// The nearest binary16 number, of two the even one; infinity from the middle behind the largest on.
fn to_half(x: f64) -> u16 {
    let sign = u16::from(x.is_sign_negative()) << 15;
    let x = x.abs();
    if x >= 65520.0 {
        return sign | 0x7c00;
    }
    // The largest that is not above.
    let (mut low, mut high) = (0u16, 0x7c00);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if half(middle) <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    let above = if high == 0x7c00 { 65536.0 } else { half(high) };
    let (down, up) = (x - half(low), above - x);
    let takes_up = up < down || up == down && low % 2 == 1;
    sign | if takes_up { high } else { low }
}
