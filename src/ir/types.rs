//! Scalars and the operands that carry them.

use std::fmt;

/// The type of every value: WGSL's scalars and the 64-bit extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// True or false; one byte in private and workgroup memory, never in a buffer.
    Bool,
    I32,
    U32,
    F32,
    F16,
    I64,
    U64,
    F64,
}

impl Scalar {
    /// Size in memory, in bytes.
    pub fn size(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            other => other.size() * 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    pub fn is_int(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I32 | Scalar::I64)
    }

    /// WGSL's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::F32 => "f32",
            Scalar::F16 => "f16",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::F64 => "f64",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value that is defined once, by one node, and never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

impl ValueId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A constant: the bit pattern in the low `ty.bits()` bits, the rest zero.
/// Floats are their IEEE 754 encodings; f16 is the 16-bit one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Const {
    pub ty: Scalar,
    pub bits: u64,
}

impl Const {
    pub fn bool(v: bool) -> Const {
        Const {
            ty: Scalar::Bool,
            bits: u64::from(v),
        }
    }

    pub fn u32(v: u32) -> Const {
        Const {
            ty: Scalar::U32,
            bits: u64::from(v),
        }
    }

    pub fn i32(v: i32) -> Const {
        Const {
            ty: Scalar::I32,
            bits: u64::from(v.cast_unsigned()),
        }
    }

    pub fn u64(v: u64) -> Const {
        Const {
            ty: Scalar::U64,
            bits: v,
        }
    }

    pub fn i64(v: i64) -> Const {
        Const {
            ty: Scalar::I64,
            bits: v.cast_unsigned(),
        }
    }

    pub fn f32(v: f32) -> Const {
        Const {
            ty: Scalar::F32,
            bits: u64::from(v.to_bits()),
        }
    }

    pub fn f64(v: f64) -> Const {
        Const {
            ty: Scalar::F64,
            bits: v.to_bits(),
        }
    }

    /// The zero of a type: also the value of zero-initialised memory.
    pub fn zero(ty: Scalar) -> Const {
        Const { ty, bits: 0 }
    }
}

/// What an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    Value(ValueId),
    Const(Const),
}

impl From<ValueId> for Operand {
    fn from(id: ValueId) -> Operand {
        Operand::Value(id)
    }
}

impl From<Const> for Operand {
    fn from(c: Const) -> Operand {
        Operand::Const(c)
    }
}
