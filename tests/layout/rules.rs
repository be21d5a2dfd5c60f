//! Sizes, alignments and offsets by the tables of WGSL's "Alignment and Size" and "Structure Member Layout".

use std::fmt::Write;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    U32,
    I32,
    F32,
    F16,
    U64,
    F64,
}

impl Scalar {
    pub fn name(self) -> &'static str {
        match self {
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::F32 => "f32",
            Scalar::F16 => "f16",
            Scalar::U64 => "u64",
            Scalar::F64 => "f64",
        }
    }

    fn size(self) -> u64 {
        match self {
            Scalar::F16 => 2,
            Scalar::U32 | Scalar::I32 | Scalar::F32 => 4,
            Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The bytes of a small whole number.
    pub fn bytes(self, value: u32) -> Vec<u8> {
        match self {
            Scalar::U32 | Scalar::I32 => value.to_le_bytes().to_vec(),
            Scalar::F32 => (value as f32).to_le_bytes().to_vec(),
            Scalar::U64 => u64::from(value).to_le_bytes().to_vec(),
            Scalar::F64 => f64::from(value).to_le_bytes().to_vec(),
            Scalar::F16 => {
                assert!((1..=2048).contains(&value), "not exact in f16");
                let exponent = value.ilog2();
                let fraction = (value << 10 >> exponent) as u16 & 0x3ff;
                ((exponent as u16 + 15) << 10 | fraction)
                    .to_le_bytes()
                    .to_vec()
            }
        }
    }
}

#[derive(Clone, Debug)]
pub enum Type {
    Scalar(Scalar),
    Atomic(Scalar),
    Vector(u64, Scalar),
    /// Columns, rows.
    Matrix(u64, u64, Scalar),
    Array(Rc<Type>, u64),
    Struct(Rc<Struct>),
}

#[derive(Debug)]
pub struct Struct {
    pub name: String,
    pub members: Vec<Member>,
}

#[derive(Debug)]
pub struct Member {
    pub ty: Type,
    pub align: Option<u64>,
    pub size: Option<u64>,
    /// The attributes as the source spells them.
    pub attributes: String,
}

fn round_up(align: u64, size: u64) -> u64 {
    size.div_ceil(align) * align
}

/// Of a vector of `n`: "vec2 8, vec3 16, vec4 16", for components of 4 bytes.
fn vector_align(n: u64, scalar: Scalar) -> u64 {
    let components = if n == 2 { 2 } else { 4 };
    components * scalar.size()
}

impl Type {
    pub fn align(&self) -> u64 {
        match self {
            Type::Scalar(s) | Type::Atomic(s) => s.size(),
            Type::Vector(n, s) | Type::Matrix(_, n, s) => vector_align(*n, *s),
            Type::Array(of, _) => of.align(),
            Type::Struct(s) => s.members.iter().map(Member::align).max().unwrap(),
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            Type::Scalar(s) | Type::Atomic(s) => s.size(),
            Type::Vector(n, s) => n * s.size(),
            // SizeOf(array<vecR, C>)
            Type::Matrix(c, r, s) => c * round_up(vector_align(*r, *s), r * s.size()),
            Type::Array(of, n) => n * of.stride(),
            Type::Struct(s) => {
                let last = s.members.len() - 1;
                let past = s.offset(last) + s.members[last].size();
                round_up(self.align(), past)
            }
        }
    }

    pub fn stride(&self) -> u64 {
        round_up(self.align(), self.size())
    }

    pub fn name(&self) -> String {
        match self {
            Type::Scalar(s) => s.name().to_string(),
            Type::Atomic(s) => format!("atomic<{}>", s.name()),
            Type::Vector(n, s) => format!("vec{n}<{}>", s.name()),
            Type::Matrix(c, r, s) => format!("mat{c}x{r}<{}>", s.name()),
            Type::Array(of, n) => format!("array<{}, {n}>", of.name()),
            Type::Struct(s) => s.name.clone(),
        }
    }
}

impl Member {
    fn align(&self) -> u64 {
        self.align.unwrap_or_else(|| self.ty.align())
    }

    fn size(&self) -> u64 {
        self.size.unwrap_or_else(|| self.ty.size())
    }
}

impl Struct {
    pub fn offset(&self, member: usize) -> u64 {
        match member {
            0 => 0,
            _ => {
                let before = member - 1;
                let past = self.offset(before) + self.members[before].size();
                round_up(self.members[member].align(), past)
            }
        }
    }

    pub fn declaration(&self) -> String {
        let mut text = format!("struct {} {{\n", self.name);
        for (i, member) in self.members.iter().enumerate() {
            let _ = writeln!(text, "  {}m{i}: {},", member.attributes, member.ty.name());
        }
        text + "}\n"
    }
}

/// One number in a type.
pub struct Leaf {
    pub path: String,
    pub offset: u64,
    pub scalar: Scalar,
    pub is_atomic: bool,
}

pub fn leaves(ty: &Type) -> Vec<Leaf> {
    fn walk(ty: &Type, path: &str, at: u64, leaves: &mut Vec<Leaf>) {
        match ty {
            Type::Scalar(scalar) | Type::Atomic(scalar) => leaves.push(Leaf {
                path: path.to_string(),
                offset: at,
                scalar: *scalar,
                is_atomic: matches!(ty, Type::Atomic(_)),
            }),
            Type::Vector(n, s) => {
                for i in 0..*n {
                    let name = ["x", "y", "z", "w"][i as usize];
                    let step = i * s.size();
                    walk(
                        &Type::Scalar(*s),
                        &format!("{path}.{name}"),
                        at + step,
                        leaves,
                    );
                }
            }
            Type::Matrix(c, r, s) => {
                let column = Type::Vector(*r, *s);
                for i in 0..*c {
                    walk(
                        &column,
                        &format!("{path}[{i}]"),
                        at + i * column.stride(),
                        leaves,
                    );
                }
            }
            Type::Array(of, n) => {
                for i in 0..*n {
                    walk(of, &format!("{path}[{i}]"), at + i * of.stride(), leaves);
                }
            }
            Type::Struct(s) => {
                for (i, member) in s.members.iter().enumerate() {
                    walk(
                        &member.ty,
                        &format!("{path}.m{i}"),
                        at + s.offset(i),
                        leaves,
                    );
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(ty, "", 0, &mut found);
    found
}
