//! Types, and the room they take.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
}

impl Scalar {
    pub const ALL: [Scalar; 7] = [
        Scalar::Bool,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F16,
        Scalar::F32,
    ];
    pub const NUMBERS: [Scalar; 6] = [
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F16,
        Scalar::F32,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::I64 => "i64",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::F32 => "f32",
        }
    }

    pub fn suffix(self) -> &'static str {
        match self {
            Scalar::Bool => "",
            Scalar::I32 => "i",
            Scalar::U32 => "u",
            Scalar::I64 => "li",
            Scalar::U64 => "lu",
            Scalar::F16 => "h",
            Scalar::F32 => "f",
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32)
    }

    pub fn is_signed(self) -> bool {
        !matches!(self, Scalar::Bool | Scalar::U32 | Scalar::U64)
    }

    pub fn bits(self) -> u32 {
        8 * self.size()
    }

    fn size(self) -> u32 {
        match self {
            Scalar::F16 => 2,
            Scalar::I64 | Scalar::U64 => 8,
            _ => 4,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Scalar(Scalar),
    Vector(u32, Scalar),
    /// Columns, rows.
    Matrix(u32, u32, Scalar),
    Array(Box<Ty>, u32),
    /// By number.
    Struct(usize),
}

impl Ty {
    pub const U32: Ty = Ty::Scalar(Scalar::U32);
    pub const BOOL: Ty = Ty::Scalar(Scalar::Bool);

    pub fn name(&self) -> String {
        match self {
            Ty::Scalar(s) => s.name().into(),
            Ty::Vector(n, s) => format!("vec{n}<{}>", s.name()),
            Ty::Matrix(c, r, s) => format!("mat{c}x{r}<{}>", s.name()),
            Ty::Array(of, n) => format!("array<{}, {n}>", of.name()),
            Ty::Struct(n) => format!("S{n}"),
        }
    }

    /// The name as a part of another name.
    pub fn word(&self) -> String {
        (self.name().chars())
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect()
    }
}

pub struct Member {
    pub ty: Ty,
    /// What stands before its name.
    pub attributes: String,
    align: u32,
    size: u32,
}

pub struct Struct {
    pub members: Vec<Member>,
    pub has_bool: bool,
}

/// All structures of a program.
#[derive(Default)]
pub struct Types(pub Vec<Struct>);

impl Types {
    pub fn has_bool(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Scalar(s) | Ty::Vector(_, s) => *s == Scalar::Bool,
            Ty::Matrix(..) => false,
            Ty::Array(of, _) => self.has_bool(of),
            Ty::Struct(n) => self.0[*n].has_bool,
        }
    }

    pub fn align(&self, ty: &Ty) -> u32 {
        let vector = |n: u32, s: Scalar| n.next_power_of_two() * s.size();
        match ty {
            Ty::Scalar(s) => s.size(),
            Ty::Vector(n, s) | Ty::Matrix(_, n, s) => vector(*n, *s),
            Ty::Array(of, _) => self.align(of),
            Ty::Struct(n) => {
                let members = self.0[*n].members.iter();
                members.map(|m| m.align).max().unwrap_or(1)
            }
        }
    }

    pub fn size(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Scalar(s) => s.size(),
            Ty::Vector(n, s) => n * s.size(),
            Ty::Matrix(c, ..) => c * self.align(ty),
            Ty::Array(of, n) => n * self.size(of).next_multiple_of(self.align(of)),
            Ty::Struct(n) => {
                let end = (self.0[*n].members.iter())
                    .fold(0, |at: u32, m| at.next_multiple_of(m.align) + m.size);
                end.next_multiple_of(self.align(ty))
            }
        }
    }

    /// A member whose alignment is `2^aligned` times what it needs, and whose size that many bytes more.
    pub fn member(&self, ty: Ty, aligned: Option<u32>, longer: Option<u32>) -> Member {
        let (mut align, mut size) = (self.align(&ty), self.size(&ty));
        let mut attributes = String::new();
        if let Some(by) = aligned {
            align <<= by;
            attributes += &format!("@align({align}) ");
        }
        if let Some(by) = longer {
            size += by;
            attributes += &format!("@size({size}) ");
        }
        Member {
            ty,
            attributes,
            align,
            size,
        }
    }
}
