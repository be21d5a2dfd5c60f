//! Branches and loops.

use super::program::Writer;
use super::types::{Scalar, Ty};

/// An open loop.
#[derive(Clone, Copy)]
pub struct Loop {
    /// Whether a `break` here leaves it and not a `switch`.
    breaks: bool,
    in_continuing: bool,
}

impl Writer {
    /// Writes statements in a scope of their own, up to `most` of them.
    fn scope(&mut self, most: usize) {
        let variables = self.variables.len();
        self.indent += 1;
        self.depth += 1;
        for _ in 0..=self.random.below(most) {
            self.statement();
        }
        self.depth -= 1;
        self.indent -= 1;
        self.variables.truncate(variables);
    }

    pub fn if_(&mut self) {
        let condition = self.expression(&Ty::BOOL, 2);
        let has_else = self.random.one_in(2);
        if self.random.one_in(2) {
            self.line(&format!("if {condition} {{"));
            self.scope(4);
            if has_else {
                self.line("} else {");
                self.scope(4);
            }
            return self.line("}");
        }
        match self.style.one_in(2) {
            true => {
                self.line(&format!("switch select(0u, 1u, {condition}) {{"));
                self.line("case 1u: {");
                self.switched(|writer| writer.scope(4));
                self.line("}");
                self.line("default: {");
                if has_else {
                    self.switched(|writer| writer.scope(4));
                }
                self.line("}");
            }
            false => {
                self.line(&format!("if {condition} {{"));
                self.switched(|writer| writer.scope(4));
                if has_else {
                    self.line("} else {");
                    self.switched(|writer| writer.scope(4));
                }
            }
        }
        self.line("}");
    }

    /// Writes what may stand in a `switch`, where `break` means that.
    fn switched(&mut self, write: impl FnOnce(&mut Writer)) {
        let loops = self.loops.clone();
        for open in &mut self.loops {
            open.breaks = false;
        }
        write(self);
        self.loops = loops;
    }

    pub fn switch(&mut self) {
        let s = *self.random.pick(&[Scalar::U32, Scalar::I32]);
        let selector = self.expression(&Ty::Scalar(s), 2);
        let x = s.suffix();
        let selector = self.named(&format!("{selector} % 6{x}"));
        let is_switch = self.style.one_in(2);
        if is_switch {
            self.line(&format!("switch {selector} {{"));
        }
        let cases: [&[u32]; 3] = [&[0, 3], &[1], &[]];
        for (at, case) in cases.iter().enumerate() {
            let head = match (is_switch, case) {
                (true, []) => "default: {".into(),
                (true, values) => {
                    let values: Vec<String> = values.iter().map(|v| format!("{v}{x}")).collect();
                    format!("case {}: {{", values.join(", "))
                }
                (false, []) => "{".into(),
                (false, values) => {
                    let values: Vec<String> = (values.iter())
                        .map(|v| format!("{selector} == {v}{x}"))
                        .collect();
                    format!("if {} {{", values.join(" || "))
                }
            };
            match is_switch || at == 0 {
                true => self.line(&head),
                false => self.line(&format!("}} else {head}")),
            }
            self.switched(|writer| writer.case(is_switch));
            if is_switch {
                self.line("}");
            }
        }
        self.line("}");
    }

    /// A case, which may end before its end.
    fn case(&mut self, is_switch: bool) {
        self.scope(3);
        if self.random.one_in(2) {
            return;
        }
        self.indent += 1;
        let condition = self.expression(&Ty::BOOL, 2);
        match is_switch {
            true => {
                self.line(&format!("if {condition} {{ break; }}"));
                self.scope(3);
            }
            false => {
                self.line(&format!("if !({condition}) {{"));
                self.scope(3);
                self.line("}");
            }
        }
        self.indent -= 1;
    }

    pub fn loop_(&mut self) {
        let limit = match self.random.one_in(2) {
            true => format!("{}u", 1 + self.random.below(4)),
            false => format!("{} % 4u", self.expression(&Ty::U32, 1)),
        };
        let (i, n) = (self.fresh(), self.fresh());
        self.line(&format!("let {n} = {limit};"));
        let goes_on = self.random.one_in(3);
        self.loops.push(Loop {
            breaks: true,
            in_continuing: false,
        });
        let variables = self.variables.len();
        self.variables.push(super::names::Variable {
            text: i.clone(),
            ty: Ty::U32,
            space: super::names::Space::Value,
        });
        match self.style.below(3) {
            0 if !goes_on => {
                self.line(&format!("for (var {i} = 0u; {i} < {n}; {i}++) {{"));
                self.scope(5);
            }
            0 | 1 => {
                self.line(&format!("var {i} = 0u;"));
                self.line("loop {");
                self.line(&format!("if {i} >= {n} {{ break; }}"));
                self.scope(5);
                self.continuing(goes_on);
                self.line(&format!("{i} += 1u;"));
                self.line("}");
            }
            _ => {
                self.line(&format!("var {i} = 0u;"));
                self.line(&format!("if {n} > 0u {{ loop {{"));
                self.scope(5);
                self.continuing(goes_on);
                self.line(&format!("{i}++;"));
                self.line(&format!("break if {i} == {n};"));
                self.line("} }");
            }
        }
        self.line("}");
        self.loops.pop();
        self.variables.truncate(variables);
    }

    fn continuing(&mut self, goes_on: bool) {
        self.line("continuing {");
        if goes_on {
            if let Some(open) = self.loops.last_mut() {
                open.in_continuing = true;
            }
            // No `return` may stand here.
            let result = self.result.take();
            self.assignment();
            self.result = result;
        }
    }

    /// `break` or `continue` under a condition.
    pub fn leave(&mut self) {
        let Some(&open) = self.loops.last() else {
            return self.assignment();
        };
        if open.in_continuing {
            return self.assignment();
        }
        let condition = self.expression(&Ty::BOOL, 2);
        let word = match self.random.one_in(2) && open.breaks {
            true => "break",
            false => "continue",
        };
        self.line(&format!("if {condition} {{ {word}; }}"));
    }
}
