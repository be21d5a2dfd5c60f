//! Writes programs whose indices are almost, or just, within their arrays.

use crate::random::Random;

pub struct Case {
    pub source: String,
    pub workgroups: [u32; 3],
    pub buffers: Vec<Vec<u8>>,
    pub immediates: Vec<u8>,
}

struct Writer {
    random: Random,
    text: String,
    depth: usize,
    /// Counters of the open loops.
    counters: Vec<String>,
    names: usize,
}

const U32S: [&str; 3] = ["a", "b", "c"];
const I32S: [&str; 2] = ["s", "t"];
const EDGES: [u32; 14] = [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 0xffff_ffff];
const ARRAYS: [&str; 4] = ["w", "v", "out", "input"];

/// A program that ends: every loop spends fuel.
pub fn program(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let mut words = |count: usize| -> Vec<u8> {
        (0..count)
            .flat_map(|_| {
                let word = match random.below(3) {
                    0 => *random.pick(&EDGES),
                    _ => random.below(40) as u32,
                };
                word.to_le_bytes()
            })
            .collect()
    };
    let buffers = vec![words(9), words(17)];
    let immediates = words(4);
    let workgroups = [1 + random.below(2) as u32, 1, 1];
    let mut writer = Writer {
        random,
        text: String::new(),
        depth: 0,
        counters: Vec::new(),
        names: 0,
    };
    writer.block(7);
    let source = format!(
        "struct P {{ n: u32, m: u32, i: i32, j: i32 }} var<immediate> p: P;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
var<workgroup> w: array<u32, 16>;
var<private> v: array<u32, 8>;
@compute @workgroup_size(4, 2) fn main(@builtin(local_invocation_index) lid: u32, @builtin(local_invocation_id) id: vec3u,
    @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {{
var fuel = 0u; var a = p.n & 15u; var b = lid; var c = 3u; var s = p.i; var t = 5; var ok = false;
{}
out[lid] = a ^ b ^ c ^ bitcast<u32>(s ^ t) ^ fuel; }}",
        writer.text
    );
    Case {
        source,
        workgroups,
        buffers,
        immediates,
    }
}

impl Writer {
    fn line(&mut self, words: &str) {
        self.text.push_str(words);
        self.text.push('\n');
    }

    fn number(&mut self) -> u32 {
        *self.random.pick(&EDGES)
    }

    fn variable(&mut self) -> String {
        if !self.counters.is_empty() && self.random.one_in(2) {
            let counters = self.counters.clone();
            return self.random.pick(&counters).clone();
        }
        match self.random.below(9) {
            0 => "lid".into(),
            1 => "id.x".into(),
            2 => "p.m".into(),
            3 => "arrayLength(&out)".into(),
            4 => "groups.x".into(),
            _ => (*self.random.pick(&U32S)).into(),
        }
    }

    /// Of a u32.
    fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(4) {
                0 => format!("{}u", self.number()),
                _ => self.variable(),
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        match self.random.below(17) {
            16 => format!("({a} % {b})"),
            0..=2 => format!("({a} + {b})"),
            3..=5 => format!("({a} - {b})"),
            6 => format!("({a} * {b})"),
            7 => format!("({a} / {b})"),
            8 => format!("({a} % {}u)", 1 + self.random.below(17)),
            9 => format!("({a} & {}u)", *self.random.pick(&[3, 7, 15])),
            10 => format!("({a} >> ({b} & 3u))"),
            11 => format!("({a} << ({b} & 3u))"),
            12 => format!("min({a}, {b})"),
            13 => format!("max({a}, {b})"),
            14 => {
                let cond = self.condition(1);
                format!("select({a}, {b}, {cond})")
            }
            _ => {
                let index = self.value(1);
                format!("{}[{index}]", self.random.pick(&ARRAYS))
            }
        }
    }

    /// Of an i32.
    fn signed(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.one_in(3) {
            return match self.random.below(5) {
                0 => format!("{}", self.random.below(24) as i32 - 6),
                1 => "p.j".into(),
                2 => format!("i32({})", self.variable()),
                _ => (*self.random.pick(&I32S)).into(),
            };
        }
        let (a, b) = (self.signed(depth - 1), self.signed(depth - 1));
        match self.random.below(9) {
            0 | 1 => format!("({a} + {b})"),
            2 | 3 => format!("({a} - {b})"),
            4 => format!("({a} / {b})"),
            5 => format!("({a} % {b})"),
            6 => format!("max({a}, {b})"),
            7 => format!("min({a}, {b})"),
            _ => format!("abs({a})"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 && self.random.one_in(3) {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.random.below(6) {
                0 | 1 => format!("({a} && {b})"),
                2 => format!("({a} || {b})"),
                3 => format!("(({a}) & ({b}))"),
                4 => format!("(({a}) | ({b}))"),
                _ => format!("!({a})"),
            };
        }
        if self.random.one_in(12) {
            return "ok".into();
        }
        let relation = *self
            .random
            .pick(&["<", "<", "<", "<=", ">", ">=", "==", "!="]);
        if self.random.one_in(4) {
            let (a, b) = (self.signed(1), self.signed(0));
            return format!("{a} {relation} {b}");
        }
        let a = if self.random.one_in(2) {
            self.variable()
        } else {
            self.value(1)
        };
        let b = if self.random.one_in(2) {
            format!("{}u", self.number())
        } else {
            self.value(1)
        };
        format!("{a} {relation} {b}")
    }

    fn block(&mut self, most: usize) {
        self.depth += 1;
        for _ in 0..1 + self.random.below(most) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn index(&mut self) -> String {
        if self.random.one_in(4) {
            return self.signed(1);
        }
        if self.random.one_in(2) {
            self.variable()
        } else {
            self.value(1)
        }
    }

    fn statement(&mut self) {
        let kind = self.random.below(if self.depth < 5 { 18 } else { 8 });
        match kind {
            0..=3 => {
                let (array, index) = (*self.random.pick(&ARRAYS[..3]), self.index());
                let value = self.value(1);
                self.line(&format!("{array}[{index}] = {value};"));
            }
            4 | 5 => {
                let (name, value) = (*self.random.pick(&U32S), self.value(2));
                self.line(&format!("{name} = {value};"));
            }
            6 => {
                let (name, value) = (*self.random.pick(&I32S), self.signed(2));
                self.line(&format!("{name} = {value};"));
            }
            7 => self.leave(),
            8..=10 => {
                let cond = self.condition(2);
                self.line(&format!("if {cond} {{"));
                self.block(3);
                if self.random.one_in(3) {
                    self.line("} else {");
                    self.block(3);
                }
                self.line("}");
            }
            11 | 12 => self.counting_loop(),
            13..=16 => self.tested_index(),
            _ if self.random.one_in(3) => {
                let selector = self.variable();
                self.line(&format!("switch {selector} {{ case 0u, 7u: {{"));
                self.block(2);
                self.line("} case 16u: {");
                self.block(2);
                self.line("} default: {");
                self.block(2);
                self.line("} }");
            }
            _ => self.free_loop(),
        }
    }

    /// A test of a variable, and an index made of it.
    fn tested_index(&mut self) {
        let (name, other) = (self.variable(), self.variable());
        let (end, step) = (*self.random.pick(&[7, 8, 9, 15, 16]), self.random.below(3));
        let array = *self.random.pick(&["w", "w", "v", "out"]);
        let test = match self.random.below(8) {
            0 => format!("{name} <= {end}u"),
            1 => format!("{name} < arrayLength(&out)"),
            2 => format!("{name} >= {step}u && {name} < {end}u"),
            3 => format!("{name} < {other} && {other} < {end}u"),
            4 => format!("{name} < {end}u || {other} < {end}u"),
            5 => format!("!({name} >= {end}u || {other} > {step}u)"),
            _ => format!("{name} < {end}u"),
        };
        self.line(&format!("if {test} {{"));
        if self.random.one_in(4) {
            self.block(2);
        }
        let index = match self.random.below(8) {
            0 => format!("{name} + {step}u"),
            1 => format!("{name} - {step}u"),
            2 => format!("{name} * 2u"),
            3 => format!("{name} + {other}"),
            4 => format!("{other} - {name}"),
            5 => format!("i32({name})"),
            _ => name.clone(),
        };
        self.line(&format!("{array}[{index}] += 1u;"));
        self.line("}");
    }

    fn leave(&mut self) {
        let cond = self.condition(2);
        match self.random.below(4) {
            0 if !self.counters.is_empty() => self.line(&format!("if {cond} {{ continue; }}")),
            1 | 2 if !self.counters.is_empty() => self.line(&format!("if {cond} {{ break; }}")),
            3 if self.random.one_in(3) => self.line(&format!("if {cond} {{ return; }}")),
            _ => self.line(&format!("ok = {cond};")),
        }
    }

    fn counting_loop(&mut self) {
        let name = format!("k{}", self.names);
        self.names += 1;
        let start = if self.random.one_in(2) {
            format!("{}u", self.number())
        } else {
            self.value(1)
        };
        let end = if self.random.one_in(2) {
            format!("{}u", self.number())
        } else {
            self.value(1)
        };
        let (relation, step) = *self.random.pick(&[
            ("<", "+= 1u"),
            ("<", "+= 1u"),
            ("<=", "+= 1u"),
            ("<", "*= 2u"),
            ("<", "+= 3u"),
            (">", "/= 2u"),
            (">", "-= 1u"),
            (">=", "-= 1u"),
            ("!=", "+= 1u"),
            (">", ">>= 1u"),
        ]);
        self.line(&format!(
            "for (var {name} = {start}; {name} {relation} {end}; {name} {step}) {{ fuel += 1u; if fuel > 90u {{ break; }}"
        ));
        self.counters.push(name.clone());
        self.block(4);
        if self.random.one_in(6) {
            let value = self.value(1);
            let cond = self.condition(1);
            self.line(&format!("if {cond} {{ {name} = {value}; }}"));
            self.block(2);
        }
        self.counters.pop();
        self.line("}");
    }

    fn free_loop(&mut self) {
        let name = format!("k{}", self.names);
        self.names += 1;
        let start = self.value(1);
        self.line(&format!(
            "var {name} = {start}; loop {{ fuel += 1u; if fuel > 90u {{ break; }}"
        ));
        self.counters.push(name.clone());
        self.block(4);
        let step = self.value(1);
        self.line(&format!("continuing {{ {name} = {step};"));
        if self.random.one_in(2) {
            let array = *self.random.pick(&ARRAYS[..3]);
            self.line(&format!("{array}[{name}] = 1u;"));
        }
        if self.random.one_in(2) {
            let cond = self.condition(0);
            self.line(&format!("break if {cond};"));
        }
        self.line("} }");
        self.counters.pop();
        // What it left.
        let array = *self.random.pick(&ARRAYS[..3]);
        self.line(&format!("{array}[{name}] = 2u;"));
    }
}
