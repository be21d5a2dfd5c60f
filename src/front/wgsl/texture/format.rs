//! How the texels of storage textures lie.

use naga::StorageFormat;

use crate::ir::Scalar;

/// What a component's bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 0 to 1, in equal steps.
    Unorm,
    /// -1 to 1, in equal steps.
    Snorm,
    Uint,
    Sint,
    Float,
}

/// Components side by side from the lowest bit of the first u32 on; none reaches over two.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub kind: Kind,
    /// Bits of each component.
    pub widths: &'static [u32],
    /// Blue comes first.
    pub is_bgra: bool,
}

impl Format {
    const fn new(kind: Kind, widths: &'static [u32]) -> Format {
        Format {
            kind,
            widths,
            is_bgra: false,
        }
    }

    pub const RGBA8_UNORM: Format = Format::new(Kind::Unorm, &[8; 4]);
    pub const RGBA8_UINT: Format = Format::new(Kind::Uint, &[8; 4]);
    pub const RGBA8_SINT: Format = Format::new(Kind::Sint, &[8; 4]);
    pub const RGBA16_FLOAT: Format = Format::new(Kind::Float, &[16; 4]);

    /// `None`: refused. Invocations that store to neighbours must not touch one u32, so texels smaller
    /// than that are; rg11b10ufloat has floats of its own, and the texels of r64uint are only for atomics.
    pub fn of(format: StorageFormat) -> Option<Format> {
        use StorageFormat as F;
        let (kind, widths): (Kind, &'static [u32]) = match format {
            F::Rgba8Unorm => return Some(Format::RGBA8_UNORM),
            F::Bgra8Unorm => {
                return Some(Format {
                    is_bgra: true,
                    ..Format::RGBA8_UNORM
                });
            }
            F::Rgba8Snorm => (Kind::Snorm, &[8; 4]),
            F::Rgba8Uint => return Some(Format::RGBA8_UINT),
            F::Rgba8Sint => return Some(Format::RGBA8_SINT),
            F::Rgb10a2Uint => (Kind::Uint, &[10, 10, 10, 2]),
            F::Rgb10a2Unorm => (Kind::Unorm, &[10, 10, 10, 2]),
            F::Rg16Unorm => (Kind::Unorm, &[16; 2]),
            F::Rg16Snorm => (Kind::Snorm, &[16; 2]),
            F::Rg16Uint => (Kind::Uint, &[16; 2]),
            F::Rg16Sint => (Kind::Sint, &[16; 2]),
            F::Rg16Float => (Kind::Float, &[16; 2]),
            F::Rgba16Unorm => (Kind::Unorm, &[16; 4]),
            F::Rgba16Snorm => (Kind::Snorm, &[16; 4]),
            F::Rgba16Uint => (Kind::Uint, &[16; 4]),
            F::Rgba16Sint => (Kind::Sint, &[16; 4]),
            F::Rgba16Float => return Some(Format::RGBA16_FLOAT),
            F::R32Uint => (Kind::Uint, &[32]),
            F::R32Sint => (Kind::Sint, &[32]),
            F::R32Float => (Kind::Float, &[32]),
            F::Rg32Uint => (Kind::Uint, &[32; 2]),
            F::Rg32Sint => (Kind::Sint, &[32; 2]),
            F::Rg32Float => (Kind::Float, &[32; 2]),
            F::Rgba32Uint => (Kind::Uint, &[32; 4]),
            F::Rgba32Sint => (Kind::Sint, &[32; 4]),
            F::Rgba32Float => (Kind::Float, &[32; 4]),
            F::R8Unorm
            | F::R8Snorm
            | F::R8Uint
            | F::R8Sint
            | F::R16Uint
            | F::R16Sint
            | F::R16Float
            | F::R16Unorm
            | F::R16Snorm
            | F::Rg8Unorm
            | F::Rg8Snorm
            | F::Rg8Uint
            | F::Rg8Sint
            | F::Rg11b10Ufloat
            | F::R64Uint => return None,
        };
        Some(Format::new(kind, widths))
    }

    /// Four components of 32 bits.
    pub fn full(scalar: Scalar) -> Format {
        Format::new(kind(scalar), &[32; 4])
    }

    /// One component of 32 bits.
    pub fn single(scalar: Scalar) -> Format {
        Format::new(kind(scalar), &[32])
    }

    /// Bytes of a texel: 4, 8 or 16.
    pub fn size(self) -> u64 {
        u64::from(self.widths.iter().sum::<u32>() / 8)
    }

    /// The type of a component in the program.
    pub fn scalar(self) -> Scalar {
        match self.kind {
            Kind::Unorm | Kind::Snorm | Kind::Float => Scalar::F32,
            Kind::Uint => Scalar::U32,
            Kind::Sint => Scalar::I32,
        }
    }

    /// The u32 of each component and the lowest of its bits there.
    pub fn places(self) -> impl Iterator<Item = (usize, u32, u32)> {
        let mut at = 0;
        self.widths.iter().map(move |&width| {
            let place = (at as usize / 32, at % 32, width);
            at += width;
            place
        })
    }
}

fn kind(scalar: Scalar) -> Kind {
    match scalar {
        Scalar::U32 => Kind::Uint,
        Scalar::I32 => Kind::Sint,
        _ => Kind::Float,
    }
}
