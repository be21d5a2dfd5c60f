//! Expressions. A literal is only ever the right operand: constant expressions that overflow are
//! errors in WGSL.

use super::program::Writer;
use super::types::{Scalar, Ty};

impl Writer {
    /// An expression of this type, which reads variables as they are now.
    pub fn expression(&mut self, ty: &Ty, depth: u32) -> String {
        let is_leaf = depth == 0 || self.random.one_in(4);
        let value = match self.read_if(is_leaf, ty) {
            Some(read) => read,
            None => match ty {
                Ty::Scalar(s) if depth == 0 => self.base(*s),
                Ty::Scalar(s) => self.scalar(*s, depth - 1),
                Ty::Vector(n, s) => self.vector(*n, *s, depth.saturating_sub(1)),
                Ty::Matrix(c, r, s) => self.matrix([*c, *r], *s, depth.saturating_sub(1)),
                _ => self.composed(ty, depth.saturating_sub(1)),
            },
        };
        self.hoisted(value)
    }

    fn read_if(&mut self, is_leaf: bool, ty: &Ty) -> Option<String> {
        match is_leaf {
            true => self.read(ty),
            false => None,
        }
    }

    /// The same value by a name or as it is.
    fn hoisted(&mut self, value: String) -> String {
        if !self.statements_fit || !self.style.one_in(12) {
            return value;
        }
        self.named(&value)
    }

    /// A name for a value.
    pub fn named(&mut self, value: &str) -> String {
        let name = self.fresh();
        let word = *self.style.pick(&["let", "let", "var"]);
        self.line(&format!("{word} {name} = {value};"));
        name
    }

    /// A variable that the program starts with.
    fn base(&mut self, s: Scalar) -> String {
        let names: Vec<String> = (self.variables.iter())
            .filter(|v| v.ty == Ty::Scalar(s))
            .map(|v| v.text.clone())
            .collect();
        self.random.pick(&names).clone()
    }

    pub fn literal(&mut self, s: Scalar) -> String {
        let suffix = s.suffix();
        match s {
            Scalar::Bool => ["true", "false"][self.random.below(2)].into(),
            _ if s.is_float() => {
                let numbers = [
                    "0.0", "0.5", "1.0", "2.0", "3.25", "1024.0", "0.0625", "0.1",
                ];
                let number = *self.random.pick(&numbers);
                let negative = self.random.one_in(4);
                let sign = if negative { "-" } else { "" };
                match self.style.one_in(3) {
                    // Abstract numbers become what is needed.
                    true => format!("{}({sign}{number})", s.name()),
                    false => format!("({sign}{number}{suffix})"),
                }
            }
            _ => format!("{}{suffix}", 1 + self.random.word() % 0x7fff_fffe),
        }
    }

    /// A right operand.
    fn right(&mut self, s: Scalar, depth: u32) -> String {
        let constants: Vec<String> = (self.constants.iter())
            .filter(|(_, of)| *of == s)
            .map(|(name, _)| name.clone())
            .collect();
        match self.random.below(6) {
            0 | 1 => self.literal(s),
            2 if !constants.is_empty() => self.random.pick(&constants).clone(),
            _ => self.expression(&Ty::Scalar(s), depth),
        }
    }

    fn scalar(&mut self, s: Scalar, depth: u32) -> String {
        if s != Scalar::Bool && self.random.one_in(5) {
            return self.converted(s, depth);
        }
        if self.random.one_in(8) {
            let ty = Ty::Scalar(s);
            return self.selected(&ty, depth);
        }
        match s {
            Scalar::Bool => self.condition(depth),
            Scalar::F16 | Scalar::F32 => self.float(s, depth),
            _ => self.integer(s, depth),
        }
    }

    fn selected(&mut self, ty: &Ty, depth: u32) -> String {
        let reject = self.expression(ty, depth);
        let accept = self.expression(ty, depth);
        let condition = self.expression(&Ty::BOOL, depth);
        match self.style.one_in(3) {
            true => format!("select({accept}, {reject}, !({condition}))"),
            false => format!("select({reject}, {accept}, {condition})"),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        match self.random.below(8) {
            0 => {
                let x = self.expression(&Ty::BOOL, depth);
                match self.style.one_in(2) {
                    true => format!("(({x}) == false)"),
                    false => format!("(!({x}))"),
                }
            }
            1 | 2 => {
                let a = self.expression(&Ty::BOOL, depth);
                let b = self.expression(&Ty::BOOL, depth);
                let and = self.random.one_in(2);
                let forms = match and {
                    true => ["&&", "&"],
                    false => ["||", "|"],
                };
                format!("(({a}) {} ({b}))", self.style.pick(&forms))
            }
            3 => {
                let n = 2 + self.random.below(3) as u32;
                let v = self.expression(&Ty::Vector(n, Scalar::Bool), depth);
                format!("{}({v})", self.random.pick(&["any", "all"]))
            }
            _ => {
                let s = *self.random.pick(&Scalar::NUMBERS);
                let a = self.expression(&Ty::Scalar(s), depth);
                let b = self.right(s, depth);
                let (op, turned) = *self.random.pick(&COMPARISONS);
                match self.style.one_in(3) {
                    true => format!("({b} {turned} {a})"),
                    false => format!("({a} {op} {b})"),
                }
            }
        }
    }

    fn integer(&mut self, s: Scalar, depth: u32) -> String {
        let ty = Ty::Scalar(s);
        let a = self.expression(&ty, depth);
        match self.random.below(18) {
            0 if s.is_signed() => format!("(-({a}))"),
            0 | 1 => format!("(~({a}))"),
            2 | 3 => {
                let op = *self.random.pick(&["<<", ">>"]);
                let count = match self.random.one_in(2) {
                    true => format!("{}u", self.random.below(s.bits() as usize)),
                    false => self.expression(&Ty::U32, depth),
                };
                format!("({a} {op} {count})")
            }
            4 | 5 => {
                let op = *self.random.pick(&["/", "%"]);
                let b = match self.random.one_in(2) {
                    true => format!("{}{}", 1 + self.random.below(9), s.suffix()),
                    false => self.expression(&ty, depth),
                };
                format!("({a} {op} {b})")
            }
            6..=9 => {
                let b = self.expression(&ty, depth);
                self.integer_function(s, &a, &b, depth)
            }
            _ => {
                let b = self.right(s, depth);
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                match self.style.one_in(3) {
                    true if op == "-" => format!("({a} + (~({b})) + 1{})", s.suffix()),
                    true => format!("({b} {op} {a})"),
                    false => format!("({a} {op} {b})"),
                }
            }
        }
    }

    fn integer_function(&mut self, s: Scalar, a: &str, b: &str, depth: u32) -> String {
        let narrow = s.bits() == 32;
        match self.random.below(12) {
            0 => format!("min({a}, {b})"),
            1 => format!("max({a}, {b})"),
            2 => format!("abs({a})"),
            3 if narrow => format!("countOneBits({a})"),
            4 if narrow => format!("reverseBits({a})"),
            5 if narrow => format!("countLeadingZeros({a})"),
            6 if narrow => format!("countTrailingZeros({a})"),
            7 => format!("firstLeadingBit({a})"),
            8 => format!("firstTrailingBit({a})"),
            9 if s.is_signed() => format!("sign({a})"),
            10 => format!("extractBits({a}, u32({b}) % 70u, u32({a}) % 40u)"),
            _ => {
                let n = 2 + self.random.below(3) as u32;
                let v = self.expression(&Ty::Vector(n, s), depth);
                let w = self.expression(&Ty::Vector(n, s), depth);
                format!("dot({v}, {w})")
            }
        }
    }

    fn float(&mut self, s: Scalar, depth: u32) -> String {
        let ty = Ty::Scalar(s);
        let a = self.expression(&ty, depth);
        match self.random.below(20) {
            0 => format!("(-({a}))"),
            1 => {
                let functions = [
                    "abs", "floor", "ceil", "trunc", "round", "fract", "sign", "saturate",
                ];
                format!("{}({a})", self.random.pick(&functions))
            }
            2 => match self.random.one_in(3) {
                true => format!("sqrt({a})"),
                false => format!("sqrt(abs({a}))"),
            },
            3 | 4 => {
                let b = self.expression(&ty, depth);
                let c = self.expression(&ty, depth);
                match self.random.below(4) {
                    0 => format!("clamp({a}, {b}, {c})"),
                    1 => format!("mix({a}, {b}, {c})"),
                    _ => format!("fma({a}, {b}, {c})"),
                }
            }
            5 | 6 => {
                let b = self.expression(&ty, depth);
                format!("{}({a}, {b})", self.random.pick(&["min", "max", "step"]))
            }
            7 => {
                let n = 2 + self.random.below(3) as u32;
                let v = self.expression(&Ty::Vector(n, s), depth);
                let w = self.expression(&Ty::Vector(n, s), depth);
                format!("dot({v}, {w})")
            }
            8 if s == Scalar::F32 => format!("quantizeToF16({a})"),
            8 => format!("modf({a}).whole"),
            // Of f16 it is not supported.
            9 if s == Scalar::F32 => format!("frexp({a}).fract"),
            9 => format!("modf({a}).fract"),
            10 => format!("ldexp({a}, {} % 20i)", self.base(Scalar::I32)),
            11 => {
                let n = 2 + self.random.below(3) as u32;
                let m = self.expression(&Ty::Matrix(n, n, s), depth);
                format!("determinant({m})")
            }
            _ => {
                let b = self.right(s, depth);
                let op = *self.random.pick(&["+", "-", "*", "/", "+", "*", "%"]);
                match self.style.one_in(3) {
                    true if matches!(op, "+" | "*") => format!("({b} {op} {a})"),
                    true if op == "-" => format!("({a} + (-({b})))"),
                    _ => format!("({a} {op} {b})"),
                }
            }
        }
    }

    /// From another scalar, by value or by bits.
    fn converted(&mut self, s: Scalar, depth: u32) -> String {
        let from = *self.random.pick(&Scalar::ALL);
        let by_bits = self.random.one_in(2);
        let x = self.expression(&Ty::Scalar(from), depth);
        let name = s.name();
        if by_bits && from.is_float() && !s.is_float() && from.bits() == s.bits() {
            return format!("bitcast<{name}>(clean_{}({x}))", from.name());
        }
        if by_bits && from.bits() == s.bits() && from != Scalar::Bool && from != Scalar::F16 {
            return format!("bitcast<{name}>({x})");
        }
        if by_bits && from == Scalar::U32 && s == Scalar::F16 {
            // naga does not know that a bitcast may give a vector.
            let pair = self.named_if_fits(&format!("unpack2x16float({x})"));
            return format!("f16({pair}.y)");
        }
        match (from, s) {
            (Scalar::Bool, Scalar::I64 | Scalar::U64) => {
                format!("select(0{0}, 1{0}, {x})", s.suffix())
            }
            _ => format!("{name}({x})"),
        }
    }

    fn named_if_fits(&mut self, value: &str) -> String {
        match self.statements_fit && self.style.one_in(2) {
            true => self.named(value),
            false => value.into(),
        }
    }

    fn vector(&mut self, n: u32, s: Scalar, depth: u32) -> String {
        let ty = Ty::Vector(n, s);
        if depth > 0 {
            match self.random.below(10) {
                0 => return self.selected(&ty, depth),
                1 => {
                    let condition = self.expression(&Ty::Vector(n, Scalar::Bool), depth - 1);
                    let a = self.expression(&ty, depth - 1);
                    let b = self.expression(&ty, depth - 1);
                    return format!("select({a}, {b}, {condition})");
                }
                2 if s == Scalar::Bool => {
                    let of = *self.random.pick(&Scalar::NUMBERS);
                    let of = Ty::Vector(n, of);
                    let a = self.expression(&of, depth - 1);
                    let b = self.expression(&of, depth - 1);
                    let (op, _) = *self.random.pick(&COMPARISONS);
                    return format!("({a} {op} {b})");
                }
                3..=6 if s != Scalar::Bool => return self.vector_arithmetic(n, s, depth - 1),
                7 if s.is_float() => {
                    let c = 2 + self.random.below(3) as u32;
                    let m = self.expression(&Ty::Matrix(c, n, s), depth - 1);
                    let v = self.expression(&Ty::Vector(c, s), depth - 1);
                    return format!("({m} * {v})");
                }
                8 if s != Scalar::Bool => {
                    let from = *self.random.pick(&[Scalar::I32, Scalar::U32, Scalar::F32]);
                    let x = self.expression(&Ty::Vector(n, from), depth - 1);
                    return format!("{}({x})", ty.name());
                }
                _ => {}
            }
        }
        self.composed(&ty, depth)
    }

    fn vector_arithmetic(&mut self, n: u32, s: Scalar, depth: u32) -> String {
        let ty = Ty::Vector(n, s);
        let a = self.expression(&ty, depth);
        if self.random.one_in(5) {
            let b = self.expression(&ty, depth);
            let function = match (n, s.is_float()) {
                (3, true) if self.random.one_in(2) => "cross",
                _ => *self.random.pick(&["min", "max"]),
            };
            return format!("{function}({a}, {b})");
        }
        let by_scalar = self.random.one_in(3);
        let b = match by_scalar {
            true => self.expression(&Ty::Scalar(s), depth),
            false => self.expression(&ty, depth),
        };
        let op = *self.random.pick(&["+", "-", "*", "/"]);
        if !self.statements_fit || !self.style.one_in(3) {
            return format!("({a} {op} {b})");
        }
        let (a, b) = (self.named(&a), self.named(&b));
        let parts: Vec<String> = (0..n)
            .map(|i| match by_scalar {
                true => format!("{a}[{i}] {op} {b}"),
                false => format!("{a}[{i}] {op} {b}[{i}]"),
            })
            .collect();
        format!("{}({})", ty.name(), parts.join(", "))
    }

    fn matrix(&mut self, size: [u32; 2], s: Scalar, depth: u32) -> String {
        let [c, r] = size;
        let ty = Ty::Matrix(c, r, s);
        if depth == 0 {
            return self.composed(&ty, depth);
        }
        match self.random.below(6) {
            0 => {
                let a = self.expression(&ty, depth - 1);
                let b = self.expression(&ty, depth - 1);
                format!("({a} {} {b})", self.random.pick(&["+", "-"]))
            }
            1 => {
                let a = self.expression(&ty, depth - 1);
                let b = self.expression(&Ty::Scalar(s), depth - 1);
                match self.style.one_in(2) {
                    true => format!("({b} * {a})"),
                    false => format!("({a} * {b})"),
                }
            }
            2 => {
                let of = 2 + self.random.below(3) as u32;
                let a = self.expression(&Ty::Matrix(of, r, s), depth - 1);
                let b = self.expression(&Ty::Matrix(c, of, s), depth - 1);
                format!("({a} * {b})")
            }
            3 => {
                let a = self.expression(&Ty::Matrix(r, c, s), depth - 1);
                format!("transpose({a})")
            }
            _ => self.composed(&ty, depth),
        }
    }

    /// Out of its parts.
    pub fn composed(&mut self, ty: &Ty, depth: u32) -> String {
        let parts = self.parts(ty, depth);
        self.constructed(ty, &parts)
    }

    /// Values of everything that a type is made of.
    pub fn parts(&mut self, ty: &Ty, depth: u32) -> Vec<String> {
        let of: Vec<Ty> = match ty {
            Ty::Scalar(_) => vec![ty.clone()],
            Ty::Vector(n, s) => vec![Ty::Scalar(*s); *n as usize],
            Ty::Matrix(c, r, s) => vec![Ty::Vector(*r, *s); *c as usize],
            Ty::Array(of, n) => vec![(**of).clone(); *n as usize],
            Ty::Struct(n) => (self.types.0[*n].members.iter())
                .map(|m| m.ty.clone())
                .collect(),
        };
        of.iter().map(|ty| self.expression(ty, depth)).collect()
    }

    pub fn constructed(&mut self, ty: &Ty, parts: &[String]) -> String {
        let all = parts.join(", ");
        match ty {
            Ty::Scalar(_) => all,
            Ty::Vector(n, s) if *n > 2 && self.style.one_in(4) => {
                let rest = parts[2..].join(", ");
                let (name, s) = (ty.name(), s.name());
                match self.style.one_in(2) {
                    true => format!("{name}(vec2<{s}>({}, {}), {rest})", parts[0], parts[1]),
                    false => {
                        let tail = parts[1..].join(", ");
                        format!("{name}({}, vec{}<{s}>({tail}))", parts[0], n - 1)
                    }
                }
            }
            Ty::Vector(n, _) => match self.style.one_in(4) {
                true => format!("vec{n}({all})"),
                false => format!("{}({all})", ty.name()),
            },
            Ty::Array(..) => match self.style.one_in(4) {
                true => format!("array({all})"),
                false => format!("{}({all})", ty.name()),
            },
            _ => format!("{}({all})", ty.name()),
        }
    }
}

/// Comparisons, and what they are with the operands the other way round.
const COMPARISONS: [(&str, &str); 6] = [
    ("==", "=="),
    ("!=", "!="),
    ("<", ">"),
    ("<=", ">="),
    (">", "<"),
    (">=", "<="),
];
