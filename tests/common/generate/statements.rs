//! Statements and the program around them.

use super::names::{Array, Level, Ty, Variable};
use super::random::Random;
use super::{COUNTERS, OUTPUTS};

/// An open loop.
#[derive(Clone, Copy)]
struct Loop {
    /// Who agrees on its rounds.
    level: Level,
    /// Whether a `break` here leaves it and not a `switch`.
    breaks: bool,
    in_continuing: bool,
}

pub struct Writer {
    pub random: Random,
    pub variables: Vec<Variable>,
    pub arrays: Vec<Array>,
    /// Whether everyone's elements of `mail` and `wide` may be read and not written.
    pub mail_is_open: bool,
    /// The same of `board`.
    pub board_is_open: bool,
    pub invocations: u32,
    size: [u32; 3],
    counting: &'static str,
    text: String,
    indent: usize,
    names: usize,
    /// Statements still to be written.
    budget: usize,
    /// Who agrees on reaching this place.
    flow: Level,
    loops: Vec<Loop>,
    /// Whether this is inside of a `continuing`, however deep.
    continuing: bool,
    depth: usize,
    /// Whether conditions may vary where they should agree.
    is_wild: bool,
}

impl Writer {
    pub fn new(mut random: Random, size: [u32; 3], is_wild: bool) -> Writer {
        let counting = *random.pick(&["Add", "Max", "Min", "Xor", "Or", "And"]);
        let budget = 15 + random.below(60);
        Writer {
            random,
            variables: Vec::new(),
            arrays: Vec::new(),
            mail_is_open: false,
            board_is_open: false,
            invocations: size.iter().product(),
            size,
            counting,
            text: String::new(),
            indent: 0,
            names: 0,
            budget,
            flow: Level::Grid,
            loops: Vec::new(),
            continuing: false,
            depth: 0,
            is_wild,
        }
    }

    pub fn program(mut self) -> String {
        self.text.push_str(DECLARATIONS);
        let [x, y, z] = self.size;
        let size = self.invocations;
        self.line(&format!("var<workgroup> board: array<u32, {size}>;"));
        self.text.push_str(FUNCTIONS);
        self.line(&format!("@compute @workgroup_size({x}, {y}, {z})"));
        self.text.push_str(ENTRY);
        self.indent = 1;
        self.line(&format!(
            "let n = groups.x * groups.y * groups.z * {size}u;"
        ));
        self.line(&format!(
            "let me = gid.x + (gid.y + gid.z * groups.y * {y}u) * groups.x * {x}u;"
        ));
        self.first_variables();
        while self.budget > 0 {
            self.statement();
        }
        self.finish();
        self.text
    }

    fn first_variables(&mut self) {
        for (name, level) in [
            ("n", Level::Grid),
            ("group.x", Level::Workgroup),
            ("gid.x", Level::Varying),
            ("local", Level::Varying),
            ("me", Level::Varying),
        ] {
            self.variables.push(Variable {
                name: name.into(),
                ty: Ty::U32,
                level,
                is_mutable: false,
            });
        }
        for ty in Ty::ALL {
            for (level, from) in [
                (Level::Grid, "input[3]"),
                (Level::Workgroup, "(group.y + group.x * 5u)"),
                (Level::Varying, "input[me % 64u]"),
            ] {
                let name = self.name();
                let from = match ty {
                    Ty::Bool => format!("{from} % 3u == 1u"),
                    _ => format!("{}({from})", ty.name()),
                };
                self.line(&format!("var {name} = {from};"));
                self.declare(name, ty, level);
            }
        }
    }

    /// Everything that was computed goes out.
    fn finish(&mut self) {
        // From here on no barrier follows.
        if self.random.one_in(3) {
            let condition = self.expression(Ty::Bool, Level::Varying, 2);
            self.line(&format!("if {condition} {{ return; }}"));
        }
        let mut sum = String::from("mail[me]");
        for variable in self.variables.clone() {
            let term = match variable.ty {
                Ty::U32 => variable.name,
                Ty::I64 | Ty::U64 => format!("u32({0}) ^ u32({0} >> 32u)", variable.name),
                _ => format!("u32({})", variable.name),
            };
            sum = format!("mix_up({sum}, {term})");
        }
        self.line(&format!("output[me * {OUTPUTS}u] = {sum};"));
        self.line("output[me * 6u + 1u] = u32(wide[me]) ^ board[local];");
        self.line("output[me * 6u + 2u] = u32(atomicLoad(&own[me]));");
        self.line("atomicAdd(&own[me], 1);");
        let counting = self.counting;
        self.line(&format!(
            "atomic{counting}(&counters[me % {COUNTERS}u], me);"
        ));
        self.indent = 0;
        self.line("}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn declare(&mut self, name: String, ty: Ty, level: Level) {
        self.variables.push(Variable {
            name,
            ty,
            level,
            is_mutable: true,
        });
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&"    ".repeat(self.indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes statements in a scope of their own, up to `most` of them.
    fn scope(&mut self, flow: Level, most: usize) {
        let outer = std::mem::replace(&mut self.flow, flow);
        let (variables, arrays) = (self.variables.len(), self.arrays.len());
        self.indent += 1;
        self.depth += 1;
        for _ in 0..=self.random.below(most) {
            self.statement();
        }
        self.depth -= 1;
        self.indent -= 1;
        self.variables.truncate(variables);
        self.arrays.truncate(arrays);
        self.flow = outer;
    }

    /// A value that decides what runs.
    fn decider(&mut self, ty: Ty, level: Level, depth: u32) -> String {
        let level = match self.is_wild && self.random.one_in(3) {
            true => Level::Varying,
            false => level,
        };
        self.expression(ty, level, depth)
    }

    fn level(&mut self) -> Level {
        *self.random.pick(&Level::ALL)
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        let nests = self.depth < 5 && self.budget > 0;
        match self.random.below(30) {
            0..=5 => self.assignment(),
            6 | 7 => self.declaration(),
            8 | 9 => self.array(),
            10..=12 if nests => self.if_(),
            13 if nests => self.switch(),
            14..=17 if nests && self.loops.len() < 3 => self.loop_(),
            18 | 19 => self.leave(),
            20 | 21 if nests && self.flow == Level::Grid => self.exchange(true),
            22 | 23 if nests && self.flow <= Level::Workgroup => self.exchange(false),
            24 => self.barrier(),
            25 => self.count(),
            26 => self.own(),
            27 => self.call(),
            28 if self.may_return() && self.random.one_in(4) => {
                let condition = self.decider(Ty::Bool, Level::Grid, 2);
                self.line(&format!(
                    "if {condition} {{ output[me * 6u + 3u] = 7u; return; }}"
                ));
            }
            _ => self.put(),
        }
    }

    /// The whole grid returns together; WGSL forbids it in `continuing`.
    fn may_return(&self) -> bool {
        self.flow == Level::Grid && !self.continuing
    }

    fn assignment(&mut self) {
        let flow = self.flow;
        let fitting: Vec<Variable> = (self.variables.iter())
            .filter(|v| v.is_mutable && v.level >= flow)
            .cloned()
            .collect();
        let target = self.random.pick(&fitting).clone();
        let value = self.expression(target.ty, target.level, 3);
        self.line(&format!("{} = {value};", target.name));
    }

    fn declaration(&mut self) {
        let ty = *self.random.pick(&Ty::ALL);
        let level = self.level().max(self.flow);
        let value = self.expression(ty, level, 3);
        let name = self.name();
        if self.random.one_in(2) {
            self.line(&format!("let {name} = {value};"));
            self.declare(name, ty, level);
            if let Some(last) = self.variables.last_mut() {
                last.is_mutable = false;
            }
        } else {
            self.line(&format!("var {name}: {} = {value};", ty.name()));
            self.declare(name, ty, level);
        }
    }

    fn array(&mut self) {
        if self.arrays.is_empty() || self.random.one_in(3) {
            let name = self.name();
            let length = 2 + self.random.below(7) as u32;
            self.line(&format!("var {name}: array<u32, {length}>;"));
            self.arrays.push(Array { name, length });
        }
        let at = self.random.below(self.arrays.len());
        let array = self.arrays[at].clone();
        let index = self.expression(Ty::U32, Level::Varying, 1);
        let value = self.expression(Ty::U32, Level::Varying, 2);
        let length = array.length + self.random.below(2) as u32;
        self.line(&format!("{}[{index} % {length}u] = {value};", array.name));
    }

    fn if_(&mut self) {
        let level = self.level().max(self.flow);
        let condition = self.decider(Ty::Bool, level, 2);
        self.line(&format!("if {condition} {{"));
        self.scope(level, 4);
        if self.random.one_in(2) {
            self.line("} else {");
            self.scope(level, 4);
        }
        self.line("}");
    }

    fn switch(&mut self) {
        let level = self.level().max(self.flow);
        let ty = [Ty::U32, Ty::I32][self.random.below(2)];
        let s = ty.suffix();
        let selector = self.decider(ty, level, 2);
        self.line(&format!("switch {selector} % 5{s} {{"));
        // `break` means the switch in here.
        let loops = self.loops.clone();
        for open in &mut self.loops {
            open.breaks = false;
        }
        for case in [
            format!("case 0{s}, 3{s}"),
            format!("case 1{s}"),
            "default".into(),
        ] {
            self.line(&format!("{case}: {{"));
            self.scope(level, 3);
            self.line("}");
        }
        self.loops = loops;
        self.line("}");
    }

    fn loop_(&mut self) {
        let level = self.level().max(self.flow);
        let i = self.name();
        let limit = match self.random.one_in(2) {
            true => format!("{}u", 1 + self.random.below(4)),
            false => format!("({} % 4u)", self.decider(Ty::U32, level, 1)),
        };
        self.loops.push(Loop {
            level,
            breaks: true,
            in_continuing: false,
        });
        self.variables.push(Variable {
            name: i.clone(),
            ty: Ty::U32,
            level,
            is_mutable: false,
        });
        match self.random.below(3) {
            0 => {
                self.line(&format!("for (var {i} = 0u; {i} < {limit}; {i}++) {{"));
                self.scope(level, 6);
                self.line("}");
            }
            1 => {
                let stop = self.name();
                self.line(&format!("var {i} = 0u; let {stop} = {limit};"));
                self.line(&format!("while {i} < {stop} {{"));
                self.line(&format!("    {i}++;"));
                self.scope(level, 6);
                self.line("}");
            }
            _ => {
                let stop = self.name();
                self.line(&format!("var {i} = 0u; let {stop} = {limit};"));
                self.line("loop {");
                self.scope(level, 6);
                self.line("    continuing {");
                if let Some(open) = self.loops.last_mut() {
                    open.in_continuing = true;
                }
                let outer = std::mem::replace(&mut self.continuing, true);
                self.indent += 1;
                self.scope(level, 2);
                self.continuing = outer;
                self.line(&format!("    {i}++;"));
                self.line(&format!("    break if {i} >= {stop};"));
                self.line("}");
                self.indent -= 1;
                self.line("}");
            }
        }
        self.loops.pop();
        // Those that stay declared after their loop keep its level for what follows only if all left together,
        // which they did: rounds and exits are of the loop's level.
        self.variables.retain(|v| v.name != i);
    }

    /// `break` or `continue` under a condition.
    fn leave(&mut self) {
        let Some(&open) = self.loops.last() else {
            return self.assignment();
        };
        if self.flow > open.level || open.in_continuing {
            return self.assignment();
        }
        let condition = self.decider(Ty::Bool, open.level, 2);
        let word = match open.breaks && self.random.one_in(2) {
            true => "break",
            false => "continue",
        };
        self.line(&format!("if {condition} {{ {word}; }}"));
    }

    /// Between two barriers everyone reads what everyone wrote before.
    fn exchange(&mut self, grid: bool) {
        if grid && self.mail_is_open || !grid && self.board_is_open {
            return self.assignment();
        }
        let value = self.expression(Ty::U32, Level::Varying, 3);
        let barrier = if grid {
            "gridBarrier();"
        } else {
            "workgroupBarrier();"
        };
        if grid {
            self.line(&format!("mail[me] = {value};"));
            let wide = self.expression(Ty::U64, Level::Varying, 2);
            self.line(&format!("wide[me] = {wide};"));
            self.mail_is_open = true;
        } else {
            self.line(&format!("board[local] = {value};"));
            self.board_is_open = true;
        }
        self.line(barrier);
        // Who left from here would miss the second barrier.
        let loops = std::mem::take(&mut self.loops);
        self.line("{");
        self.scope(self.flow, 5);
        self.line("}");
        self.loops = loops;
        self.line(barrier);
        match grid {
            true => self.mail_is_open = false,
            false => self.board_is_open = false,
        }
    }

    fn barrier(&mut self) {
        match self.flow {
            Level::Grid if self.random.one_in(2) => self.line("gridBarrier();"),
            Level::Grid | Level::Workgroup => self.line("workgroupBarrier();"),
            Level::Varying => self.assignment(),
        }
    }

    fn count(&mut self) {
        let index = self.expression(Ty::U32, Level::Varying, 1);
        let value = self.expression(Ty::U32, Level::Varying, 2);
        let counting = self.counting;
        let modulus = COUNTERS as usize + self.random.below(2);
        self.line(&format!(
            "atomic{counting}(&counters[{index} % {modulus}u], {value});"
        ));
    }

    /// Atomics on the invocation's own word, with their results.
    fn own(&mut self) {
        let value = self.expression(Ty::I32, Level::Varying, 2);
        let op = *self
            .random
            .pick(&["Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"]);
        let name = self.name();
        match self.random.one_in(4) {
            true => {
                let compare = self.expression(Ty::I32, Level::Varying, 1);
                self.line(&format!(
                    "let {name} = atomicCompareExchangeWeak(&own[me], {compare}, {value}).old_value;"
                ));
            }
            false => self.line(&format!("let {name} = atomic{op}(&own[me], {value});")),
        }
        self.variables.push(Variable {
            name,
            ty: Ty::I32,
            level: Level::Varying,
            is_mutable: false,
        });
    }

    /// Calls with pointers, and one that meets at barriers.
    fn call(&mut self) {
        if self.flow == Level::Grid && !self.mail_is_open && self.random.one_in(2) {
            let value = self.expression(Ty::U32, Level::Varying, 2);
            let turns = self.random.below(3);
            let name = self.name();
            self.line(&format!("let {name} = pass_on(me, n, {value}, {turns}u);"));
            self.variables.push(Variable {
                name,
                ty: Ty::U32,
                level: Level::Varying,
                is_mutable: false,
            });
            return;
        }
        let fitting: Vec<String> = (self.variables.iter())
            .filter(|v| v.is_mutable && v.level == Level::Varying && v.ty == Ty::U32)
            .map(|v| v.name.clone())
            .collect();
        let target = self.random.pick(&fitting).clone();
        let value = self.expression(Ty::U32, Level::Varying, 2);
        self.line(&format!("{target} ^= stir(&{target}, {value});"));
    }

    fn put(&mut self) {
        let value = self.expression(Ty::U32, Level::Varying, 2);
        let slot = 4 + self.random.below(2);
        match self.random.one_in(2) {
            true => self.line(&format!("output[me * {OUTPUTS}u + {slot}u] = {value};")),
            false => self.line(&format!("output[me * {OUTPUTS}u + {slot}u] ^= {value};")),
        }
    }
}

const DECLARATIONS: &str = "\
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@group(0) @binding(2) var<storage, read_write> mail: array<u32>;
@group(0) @binding(3) var<storage, read_write> wide: array<u64>;
@group(0) @binding(4) var<storage, read_write> counters: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> own: array<atomic<i32>>;
";

const FUNCTIONS: &str = "
fn mix_up(a: u32, b: u32) -> u32 {
    if a % 5u == 0u { return b * 31u; }
    return (a << 7u) ^ (a >> 3u) ^ b;
}
fn stir(at: ptr<function, u32>, by: u32) -> u32 {
    var steps = by % 4u;
    loop {
        if steps == 0u { break; }
        *at = mix_up(*at, steps);
        if *at % 7u == 3u { return steps + 100u; }
        steps--;
    }
    *at += 1u;
    return by;
}
fn pass_on(me: u32, n: u32, value: u32, turns: u32) -> u32 {
    var held = value;
    for (var turn = 0u; turn < turns; turn++) {
        mail[me] = held;
        gridBarrier();
        held = mail[(me + turn + 1u) % n];
        gridBarrier();
        if turns == 7u { return 1u; }
    }
    return held;
}
";

const ENTRY: &str = "\
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
";
