//! Expressions. A literal is only ever the right operand: constant expressions that overflow are
//! errors in WGSL.

use super::INPUTS;
use super::names::{Level, Ty};
use super::statements::Writer;

impl Writer {
    /// An expression on which `level` agrees.
    pub fn expression(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        if depth == 0 || self.random.one_in(4) {
            return self.leaf(ty, level);
        }
        match ty {
            Ty::Bool => self.condition(level, depth),
            _ if self.random.one_in(6) => self.function(ty, level, depth),
            _ if self.random.one_in(6) => {
                let accept = self.expression(ty, level, depth - 1);
                let reject = self.expression(ty, level, depth - 1);
                let condition = self.expression(Ty::Bool, level, depth - 1);
                format!("select({reject}, {accept}, {condition})")
            }
            _ if self.random.one_in(5) => self.converted(ty, level, depth),
            _ => self.arithmetic(ty, level, depth),
        }
    }

    pub fn literal(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bool => ["true", "false"][self.random.below(2)].into(),
            _ => {
                let value = self.random.word() & 0x7fff_ffff;
                format!("{value}{}", ty.suffix())
            }
        }
    }

    fn leaf(&mut self, ty: Ty, level: Level) -> String {
        if self.random.one_in(4)
            && let Some(load) = self.load(ty, level)
        {
            return load;
        }
        let fitting: Vec<String> = (self.variables.iter())
            .filter(|v| v.ty == ty && v.level <= level)
            .map(|v| v.name.clone())
            .collect();
        // The program starts with one variable of each type at each level.
        self.random.pick(&fitting).clone()
    }

    /// Something from memory; never of what an exchange may not read now.
    fn load(&mut self, ty: Ty, level: Level) -> Option<String> {
        let private = ty == Ty::U32 && level == Level::Varying && !self.arrays.is_empty();
        if private && self.random.below(4) > 0 {
            let array = self.random.pick(&self.arrays).clone();
            let index = self.leaf_variable(Ty::U32, level);
            // Beyond its end at times.
            let modulus = array.length + self.random.below(2) as u32;
            return Some(format!("{}[{index} % {modulus}u]", array.name));
        }
        let index = self.leaf_variable(Ty::U32, level);
        match (ty, self.random.below(3)) {
            (Ty::U32, 0) => Some(format!("input[{index} % {INPUTS}u]")),
            (Ty::U32, 1) if self.mail_is_open => {
                let modulus = ["% n", ""][self.random.below(2)];
                Some(format!("mail[{index} {modulus}]"))
            }
            (Ty::U64, _) if self.mail_is_open => Some(format!("wide[{index} % n]")),
            (Ty::U64, _) if level == Level::Varying => Some("wide[me]".into()),
            (Ty::U32, _) if self.board_is_open && level >= Level::Workgroup => {
                let size = self.invocations;
                Some(format!("board[{index} % {size}u]"))
            }
            (Ty::U32, _) if level == Level::Varying => {
                Some(["mail[me]", "board[local]"][self.random.below(2)].into())
            }
            _ => None,
        }
    }

    fn leaf_variable(&mut self, ty: Ty, level: Level) -> String {
        let fitting: Vec<String> = (self.variables.iter())
            .filter(|v| v.ty == ty && v.level <= level)
            .map(|v| v.name.clone())
            .collect();
        self.random.pick(&fitting).clone()
    }

    fn condition(&mut self, level: Level, depth: u32) -> String {
        let ty = *self.random.pick(&Ty::INTS);
        match self.random.below(8) {
            0 => {
                let x = self.expression(Ty::Bool, level, depth - 1);
                format!("(!{x})")
            }
            1 | 2 => {
                let op = *self.random.pick(&["&&", "||", "==", "!=", "&", "|"]);
                let a = self.expression(Ty::Bool, level, depth - 1);
                let b = self.expression(Ty::Bool, level, depth - 1);
                format!("({a} {op} {b})")
            }
            3 => {
                let x = self.expression(Ty::U32, level, depth - 1);
                let n = 2 + self.random.below(4);
                format!("({x} % {n}u == {}u)", self.random.below(n))
            }
            _ => {
                let op = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                let a = self.expression(ty, level, depth - 1);
                let b = self.right(ty, level, depth);
                format!("({a} {op} {b})")
            }
        }
    }

    fn right(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        match self.random.one_in(3) {
            true => self.literal(ty),
            false => self.expression(ty, level, depth - 1),
        }
    }

    fn arithmetic(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        let a = self.expression(ty, level, depth - 1);
        match self.random.below(12) {
            0 if ty.is_signed() => format!("(-({a}))"),
            0 | 1 => format!("(~({a}))"),
            2 | 3 => {
                let op = ["<<", ">>"][self.random.below(2)];
                let count = match self.random.one_in(2) {
                    true => format!("{}u", self.random.below(ty.bits() as usize)),
                    false => self.expression(Ty::U32, level, depth - 1),
                };
                format!("({a} {op} {count})")
            }
            4 => {
                let op = ["/", "%"][self.random.below(2)];
                let b = match self.random.one_in(2) {
                    true => format!("{}{}", 1 + self.random.below(9), ty.suffix()),
                    false => self.expression(ty, level, depth - 1),
                };
                format!("({a} {op} {b})")
            }
            _ => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                let b = self.right(ty, level, depth);
                format!("({a} {op} {b})")
            }
        }
    }

    fn converted(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        let from = *self.random.pick(&Ty::ALL);
        let x = self.expression(from, level, depth - 1);
        match (from, ty) {
            (Ty::Bool, Ty::I64 | Ty::U64) => {
                let one = format!("1{}", ty.suffix());
                format!("select(0{}, {one}, {x})", ty.suffix())
            }
            (Ty::I32, Ty::U32) | (Ty::U32, Ty::I32) if self.random.one_in(2) => {
                format!("bitcast<{}>({x})", ty.name())
            }
            _ => format!("{}({x})", ty.name()),
        }
    }

    fn function(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        let a = self.expression(ty, level, depth - 1);
        let b = self.expression(ty, level, depth - 1);
        let narrow = ty.bits() == 32;
        match self.random.below(16) {
            0 => format!("min({a}, {b})"),
            1 => format!("max({a}, {b})"),
            2 => format!("abs({a})"),
            3 if ty == Ty::U32 => format!("mix_up({a}, {b})"),
            4 if narrow => format!("countOneBits({a})"),
            5 if narrow => format!("reverseBits({a})"),
            6 if narrow => format!("countLeadingZeros({a})"),
            8 if narrow => format!("countTrailingZeros({a})"),
            10 => format!("firstLeadingBit({a})"),
            11 => format!("firstTrailingBit({a})"),
            12 => {
                let range = self.bit_range(ty, level, depth);
                format!("extractBits({a}, {range})")
            }
            13 => {
                let range = self.bit_range(ty, level, depth);
                format!("insertBits({a}, {b}, {range})")
            }
            14 => {
                let c = self.expression(ty, level, depth - 1);
                format!("dot(vec3({a}, {b}, {c}), vec3({c}, {a}, {b}))")
            }
            15 => {
                let c = self.expression(ty, level, depth - 1);
                format!("clamp({a}, {b}, {c})")
            }
            _ => {
                let c = self.expression(ty, level, depth - 1);
                format!("max({a}, min({b}, {c}))")
            }
        }
    }

    /// An offset and a count, reaching beyond the width at times.
    fn bit_range(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        let modulus = ty.bits() + 8;
        let offset = self.expression(Ty::U32, level, depth - 1);
        let count = self.expression(Ty::U32, level, depth - 1);
        match self.random.one_in(4) {
            true => format!("{offset}, {count}"),
            false => format!("{offset} % {modulus}u, {count} % {modulus}u"),
        }
    }
}
