//! Words to a module: what the emitter writes, and what else comes up in kernels by hand.

use std::collections::HashMap;

use super::code::{Address, Instruction, Kernel, Kind, Module, Space, Target, Variable};
use super::operand::{Operand, number, special};
use super::quick;
use super::words::{Word, words};

/// What is wrong, and in which line.
#[derive(Debug)]
pub struct Complaint {
    pub line: u32,
    pub what: String,
}

type Result<T> = std::result::Result<T, Complaint>;

pub struct Parsed {
    pub version: (u32, u32),
    pub target: u32,
    pub module: Module,
    /// By number, as operands name them.
    pub names: Vec<String>,
}

struct Parser<'t> {
    words: Vec<Word<'t>>,
    at: usize,
    names: Vec<String>,
    shared: HashMap<String, u64>,
    shared_bytes: usize,
    /// Declared without a size: behind everything else.
    dynamic: Vec<String>,
    module: Module,
}

/// The places of a kernel's own names.
#[derive(Default)]
struct Scope {
    registers: HashMap<String, Target>,
    count: u32,
    /// Places in their space.
    shared: HashMap<String, u64>,
    local: HashMap<String, u64>,
    parameters: HashMap<String, u64>,
    labels: HashMap<String, usize>,
    /// Branches and the labels that they go to.
    branches: Vec<(usize, String, u32)>,
}

pub fn parse(text: &str) -> Result<Parsed> {
    let mut parser = Parser {
        words: words(text),
        at: 0,
        names: Vec::new(),
        shared: HashMap::new(),
        shared_bytes: 0,
        dynamic: Vec::new(),
        module: Module::default(),
    };
    let mut version = None;
    let mut target = None;
    while let Some(word) = parser.next() {
        match word.text {
            ".version" => {
                let number = parser.name()?;
                let parts = number.split_once('.');
                let parse = |(a, b): (&str, &str)| Some((a.parse().ok()?, b.parse().ok()?));
                version = Some(parts.and_then(parse).ok_or_else(|| Complaint {
                    line: word.line,
                    what: format!("Unsupported .version {number}"),
                })?);
            }
            ".target" => {
                let name = parser.name()?;
                let digits = name.trim_start_matches("sm_").trim_end_matches(['a', 'f']);
                target = Some(
                    digits
                        .parse()
                        .map_err(|_| parser.complain(format!("Unknown .target '{name}'")))?,
                );
                while parser.peek() == Some(",") {
                    parser.at += 2;
                }
            }
            ".address_size" => {
                parser.name()?;
            }
            ".visible" | ".extern" | ".weak" | ".common" => {}
            ".global" | ".const" => parser.variable()?,
            ".shared" => {
                let (name, size) = parser.declaration()?;
                match size {
                    Some(size) => {
                        parser.shared.insert(name, parser.shared_bytes as u64);
                        parser.shared_bytes += size.next_multiple_of(16);
                    }
                    None => parser.dynamic.push(name),
                }
            }
            ".entry" => {
                let kernel = parser.entry()?;
                parser.module.kernels.push(kernel);
            }
            ".file" => {
                while parser
                    .peek()
                    .is_some_and(|word| number(word).is_some() || word.starts_with(['"', ',']))
                {
                    parser.at += 1;
                }
            }
            _ => {
                return Err(
                    parser.complain(format!("Parsing error near '{}': syntax error", word.text))
                );
            }
        }
    }
    let end = parser.words.last().map_or(1, |word| word.line);
    let missing = |what: &str| Complaint {
        line: end,
        what: format!("Missing {what} directive"),
    };
    Ok(Parsed {
        version: version.ok_or_else(|| missing(".version"))?,
        target: target.ok_or_else(|| missing(".target"))?,
        module: parser.module,
        names: parser.names,
    })
}

fn width(ty: &str) -> Option<u64> {
    Some(match ty.trim_start_matches('.') {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" => 32,
        "b64" | "u64" | "s64" | "f64" => 64,
        _ => return None,
    })
}

fn mask(bits: u64) -> u64 {
    u64::MAX >> (64 - bits)
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Option<Word<'t>> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    fn peek(&self) -> Option<&'t str> {
        self.words.get(self.at).map(|word| word.text)
    }

    /// About the word before.
    fn complain(&self, what: String) -> Complaint {
        let at = self
            .at
            .saturating_sub(1)
            .min(self.words.len().saturating_sub(1));
        let line = self.words.get(at).map_or(1, |word| word.line);
        Complaint { line, what }
    }

    fn name(&mut self) -> Result<&'t str> {
        match self.next() {
            Some(word) => Ok(word.text),
            None => Err(self.complain("Parsing error: unexpected end of file".into())),
        }
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        let found = self.name()?;
        match found == sign {
            true => Ok(()),
            false => Err(self.complain(format!("Parsing error near '{found}': syntax error"))),
        }
    }

    /// `[.align N] .type name[size]`, and its bytes if it has a size.
    fn declaration(&mut self) -> Result<(String, Option<usize>)> {
        let (name, size) = self.declared()?;
        self.expect(";")?;
        Ok((name, size))
    }

    fn declared(&mut self) -> Result<(String, Option<usize>)> {
        let mut element = 4;
        loop {
            let word = self.name()?;
            if word == ".align" {
                self.name()?;
            } else if let Some(bits) = width(word).filter(|_| word.starts_with('.')) {
                element = bits as usize / 8;
            } else if !word.starts_with('.') {
                if self.peek() != Some("[") {
                    return Ok((word.to_owned(), Some(element)));
                }
                self.expect("[")?;
                let count = self.name()?;
                if count == "]" {
                    return Ok((word.to_owned(), None));
                }
                self.expect("]")?;
                let count =
                    number(count).ok_or_else(|| self.complain(format!("'{count}' is no size")))?;
                return Ok((word.to_owned(), Some(element * count as usize)));
            }
        }
    }

    /// A variable of the module's, perhaps with bytes or words.
    fn variable(&mut self) -> Result<()> {
        let start = self.at;
        let (name, size) = self.declared()?;
        let ty = (self.words[start..self.at].iter())
            .find_map(|word| width(word.text).filter(|_| word.text.starts_with('.')));
        let element = ty.unwrap_or(32) as usize / 8;
        let mut bytes = Vec::new();
        if self.peek() == Some("=") {
            self.at += 1;
            while let Some(word) = self.peek().filter(|&word| word != ";") {
                self.at += 1;
                if let Some(value) = number(word) {
                    bytes.extend_from_slice(&value.to_le_bytes()[..element]);
                } else if !matches!(word, "{" | "}" | ",") {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        self.expect(";")?;
        let size = size.unwrap_or(bytes.len());
        bytes.resize(size, 0);
        self.names.push(name.clone());
        self.module.variables.insert(name, Variable { size, bytes });
        Ok(())
    }

    fn entry(&mut self) -> Result<Kernel> {
        let mut kernel = Kernel {
            name: self.name()?.to_owned(),
            ..Kernel::default()
        };
        let mut scope = Scope::default();
        if self.peek() == Some("(") {
            self.parameters(&mut kernel, &mut scope)?;
        }
        loop {
            match self.name()? {
                "{" => break,
                ".reqntid" => {
                    let mut size = [1; 3];
                    for (axis, place) in size.iter_mut().enumerate() {
                        if axis > 0 {
                            if self.peek() != Some(",") {
                                break;
                            }
                            self.at += 1;
                        }
                        let word = self.name()?;
                        *place = word
                            .parse()
                            .map_err(|_| self.complain(format!("'{word}' is no size")))?;
                    }
                    kernel.required = Some(size);
                }
                word if word.starts_with('.') || number(word).is_some() || word == "," => {}
                word => {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        let mut shared_bytes = self.shared_bytes;
        // What registers were called outside of the braces that are open.
        let mut outside = Vec::new();
        loop {
            let line = self.words.get(self.at).map_or(1, |word| word.line);
            match self.name()? {
                "{" => outside.push(scope.registers.clone()),
                "}" => match outside.pop() {
                    Some(registers) => scope.registers = registers,
                    None => break,
                },
                ";" => {}
                ".reg" => self.registers(&mut scope)?,
                ".shared" => {
                    let (name, size) = self.declaration()?;
                    scope.shared.insert(name, shared_bytes as u64);
                    shared_bytes += size.unwrap_or(0).next_multiple_of(16);
                }
                ".local" => {
                    let (name, size) = self.declaration()?;
                    scope.local.insert(name, kernel.local as u64);
                    kernel.local += size.unwrap_or(0).next_multiple_of(16);
                }
                ".loc" | ".pragma" => {
                    while self.peek().is_some_and(|word| {
                        number(word).is_some() || word.starts_with(['"', ',', ';'])
                    }) {
                        self.at += 1;
                    }
                }
                word if self.peek() == Some(":") => {
                    self.at += 1;
                    if scope
                        .labels
                        .insert(word.to_owned(), kernel.code.len())
                        .is_some()
                    {
                        return Err(
                            self.complain(format!("Duplicate definition of label '{word}'"))
                        );
                    }
                }
                _ => {
                    self.at -= 1;
                    let instruction = self.instruction(&mut scope, kernel.code.len(), line)?;
                    kernel.code.push(instruction);
                }
            }
        }
        kernel.code.push(Instruction {
            guard: None,
            kind: Kind::End,
            line: 0,
        });
        for (at, label, line) in std::mem::take(&mut scope.branches) {
            let what = format!("Unknown symbol '{label}'");
            let to = *scope.labels.get(&label).ok_or(Complaint { line, what })?;
            kernel.code[at].kind = Kind::Branch(to);
        }
        kernel.shared = shared_bytes;
        kernel.registers = scope.count as usize;
        Ok(kernel)
    }

    fn parameters(&mut self, kernel: &mut Kernel, scope: &mut Scope) -> Result<()> {
        self.expect("(")?;
        while self.peek() != Some(")") {
            self.expect(".param")?;
            let (name, size) = self.declared()?;
            let size =
                size.ok_or_else(|| self.complain(format!("parameter '{name}' has no size")))?;
            let at = kernel.parameter_bytes.next_multiple_of(16);
            kernel.parameters.push((at, size));
            kernel.parameter_bytes = at + size;
            scope.parameters.insert(name, at as u64);
            match self.peek() {
                Some(",") => self.at += 1,
                Some(")") => {}
                _ => {
                    let word = self.name()?;
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
        self.expect(")")
    }

    /// `.reg .b32 %r<8>;` or `.reg .pred %p, %q;`
    fn registers(&mut self, scope: &mut Scope) -> Result<()> {
        let ty = self.name()?;
        let bits = width(ty).ok_or_else(|| self.complain(format!("Unknown type '{ty}'")))?;
        let mut add = |name: String| {
            let register = scope.count;
            scope.count += 1;
            scope.registers.insert(
                name,
                Target {
                    register,
                    mask: mask(bits),
                },
            );
        };
        loop {
            let name = self.name()?;
            if self.peek() == Some("<") {
                self.at += 1;
                let count = self.name()?;
                let count = number(count)
                    .ok_or_else(|| self.complain(format!("'{count}' is no number")))?;
                self.expect(">")?;
                (0..count).for_each(|n| add(format!("{name}{n}")));
            } else {
                add(name.to_owned());
            }
            match self.name()? {
                "," => {}
                ";" => return Ok(()),
                word => {
                    return Err(self.complain(format!("Parsing error near '{word}': syntax error")));
                }
            }
        }
    }

    fn instruction(&mut self, scope: &mut Scope, at: usize, line: u32) -> Result<Instruction> {
        let mut guard = None;
        if self.peek() == Some("@") {
            self.at += 1;
            let when = self.peek() != Some("!");
            self.at += usize::from(!when);
            guard = Some((self.target(scope)?.register, when));
        }
        let name = self.name()?;
        // The names live as long as the process, like the instructions of modules that are in use.
        let op: Vec<&'static str> = name.split('.').map(known).collect::<Option<_>>().ok_or_else(|| {
            self.complain(format!("Parsing error near '{name}': syntax error (or the driver double does not know it)"))
        })?;
        let kind = self.kind(scope, &op, at, line)?;
        self.expect(";")?;
        Ok(Instruction { guard, kind, line })
    }

    fn kind(
        &mut self,
        scope: &mut Scope,
        op: &[&'static str],
        at: usize,
        line: u32,
    ) -> Result<Kind> {
        let is = |part: &str| op.contains(&part);
        Ok(match op[0] {
            "bra" => {
                let label = self.name()?.to_owned();
                scope.branches.push((at, label, line));
                Kind::Nothing
            }
            "ret" | "exit" => Kind::End,
            "fence" | "membar" => Kind::Nothing,
            "bar" | "barrier" if !is("warp") => {
                let is_vote = is("red");
                let target = if is_vote {
                    Some(self.target_and_comma(scope)?)
                } else {
                    None
                };
                if self.operand(scope)? != Operand::Value(0) {
                    return Err(self.complain("the driver double knows barrier 0 only".into()));
                }
                let vote = match target {
                    Some(target) => {
                        self.expect(",")?;
                        Some((target, self.operand(scope)?))
                    }
                    None => None,
                };
                if is_vote && !is("or") {
                    return Err(self.complain("the driver double knows no vote but or".into()));
                }
                Kind::Barrier(vote)
            }
            "bar" | "shfl" | "vote" | "redux" | "activemask" => {
                let target = match op[0] {
                    "bar" => None,
                    _ => Some(self.target(scope)?),
                };
                if target.is_some() && self.peek() == Some(",") {
                    self.at += 1;
                }
                let args = match self.peek() {
                    Some(";") => Vec::new(),
                    _ => self.operands(scope)?,
                };
                Kind::Warp {
                    op: op.to_vec(),
                    target,
                    args,
                }
            }
            "ld" | "ldu" => {
                let targets = self.targets(scope)?;
                self.expect(",")?;
                let from = self.address(scope, op)?;
                let is_global = from.space == Space::Global;
                Kind::Load {
                    targets,
                    from,
                    waits: is_global && (is("acquire") || is("volatile")),
                    reports: is_global && is("relaxed"),
                }
            }
            "st" => {
                let to = self.address(scope, op)?;
                self.expect(",")?;
                let values = match self.peek() {
                    Some("{") => {
                        self.at += 1;
                        let values = self.operands(scope)?;
                        self.expect("}")?;
                        values
                    }
                    _ => vec![self.operand(scope)?],
                };
                Kind::Store { to, values }
            }
            "atom" | "red" => {
                let target = match op[0] {
                    "atom" => Some(self.target_and_comma(scope)?),
                    _ => None,
                };
                let at = self.address(scope, op)?;
                self.expect(",")?;
                let values = self.operands(scope)?;
                let names = ["add", "and", "or", "xor", "min", "max", "exch", "cas"];
                let Some(&name) = op.iter().find(|part| names.contains(part)) else {
                    return Err(self.complain(format!("Unknown operation '{}'", op.join("."))));
                };
                let arrives =
                    at.space == Space::Global && name == "add" && (is("acq_rel") || is("release"));
                Kind::Atomic {
                    target,
                    at,
                    op: [name, op[op.len() - 1]],
                    values,
                    arrives,
                }
            }
            _ => {
                let target = self.target_and_comma(scope)?;
                let args = self.operands(scope)?;
                match quick::of(op) {
                    Some(op) if args.len() <= 3 => {
                        let of = |n: usize| args.get(n).copied().unwrap_or(Operand::Value(0));
                        Kind::Quick {
                            op,
                            target,
                            args: [of(0), of(1), of(2)],
                        }
                    }
                    _ => Kind::Compute {
                        op: op.to_vec(),
                        target,
                        args,
                    },
                }
            }
        })
    }

    fn target(&mut self, scope: &Scope) -> Result<Target> {
        let name = self.name()?;
        (scope.registers.get(name).copied())
            .ok_or_else(|| self.complain(format!("Unknown symbol '{name}'")))
    }

    fn target_and_comma(&mut self, scope: &Scope) -> Result<Target> {
        let target = self.target(scope)?;
        self.expect(",")?;
        Ok(target)
    }

    fn targets(&mut self, scope: &Scope) -> Result<Vec<Target>> {
        if self.peek() != Some("{") {
            return Ok(vec![self.target(scope)?]);
        }
        self.at += 1;
        let mut targets = vec![self.target(scope)?];
        while self.peek() == Some(",") {
            self.at += 1;
            targets.push(self.target(scope)?);
        }
        self.expect("}")?;
        Ok(targets)
    }

    fn operands(&mut self, scope: &Scope) -> Result<Vec<Operand>> {
        let mut operands = vec![self.operand(scope)?];
        while self.peek() == Some(",") {
            self.at += 1;
            operands.push(self.operand(scope)?);
        }
        Ok(operands)
    }

    fn operand(&mut self, scope: &Scope) -> Result<Operand> {
        let name = self.name()?;
        if name == "-" {
            let digits = self.name()?;
            let value =
                number(digits).ok_or_else(|| self.complain(format!("'{digits}' is no number")))?;
            return Ok(Operand::Value(value.wrapping_neg()));
        }
        if let Some(register) = scope.registers.get(name) {
            return Ok(Operand::Register(register.register));
        }
        if let Some(value) = number(name) {
            return Ok(Operand::Value(value));
        }
        if let Some(special) = special(name) {
            return Ok(Operand::Special(special));
        }
        if name == "WARP_SZ" {
            return Ok(Operand::Value(32));
        }
        let places = [&scope.parameters, &scope.shared, &self.shared, &scope.local];
        if let Some(place) = places.iter().find_map(|places| places.get(name)) {
            return Ok(Operand::Value(*place));
        }
        if self.dynamic.iter().any(|dynamic| dynamic == name) {
            return Ok(Operand::Dynamic);
        }
        match self.names.iter().position(|known| known == name) {
            Some(number) => Ok(Operand::Variable(number as u32)),
            None => Err(self.complain(format!("Unknown symbol '{name}'"))),
        }
    }

    fn address(&mut self, scope: &Scope, op: &[&str]) -> Result<Address> {
        let ty = op[op.len() - 1];
        let bits = width(ty).ok_or_else(|| self.complain(format!("Unknown type '{ty}'")))?;
        self.expect("[")?;
        let base = self.operand(scope)?;
        let mut offset = 0;
        if self.peek() == Some("+") {
            self.at += 1;
            match self.operand(scope)? {
                Operand::Value(value) => offset = value,
                _ => return Err(self.complain("an offset is a number".into())),
            }
        }
        self.expect("]")?;
        let spaces = [
            ("shared", Space::Shared),
            ("local", Space::Local),
            ("param", Space::Param),
        ];
        let space = (spaces.iter().find(|(name, _)| op.contains(name)))
            .map_or(Space::Global, |found| found.1);
        Ok(Address {
            space,
            base,
            offset,
            size: bits as usize / 8,
        })
    }
}

/// The parts of instructions' names, which are known as long as the process lives.
fn known(part: &str) -> Option<&'static str> {
    const PARTS: &str = "abs acq_rel acquire activemask add aligned all and any arrive atom b16 b32 b64 b8 ballot bar barrier bfly \
        bra brev bfe bfi ca cas cg clz const copysign cluster cos cs cta cv cvt cvta div down dec eq equ exch exit ex2 approx \
        f16 f16x2 f32 f64 fence fma fns ftz full ge geu global gpu gt gtu hi hs idx inc ld ldu le leu lg2 lo local ls lt ltu mad \
        max membar min mov mul nan nc ne neg neu not num or param popc pred prmt rcp red redux relaxed release rem ret rm rmi rn \
        rni rp rpi rsqrt rz rzi s16 s32 s64 s8 sat sc selp set setp shared shfl shl shr sin sqrt st sub sync sys tanh testp to \
        u16 u32 u64 u8 uni up v2 v4 volatile vote warp weak wide wb wt xor mulhi bar sync sad slct";
    PARTS.split_whitespace().find(|known| *known == part)
}
