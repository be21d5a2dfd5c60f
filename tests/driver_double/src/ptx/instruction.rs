//! Instructions and their operands.

use super::code::{Address, Instruction, Kind, Space, Target};
use super::operand::{Operand, number, special};
use super::parse::{Parser, Result, Scope, width};
use super::quick;

impl Parser<'_> {
    pub fn instruction(&mut self, scope: &mut Scope, at: usize, line: u32) -> Result<Instruction> {
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
                if op == ["mov", "b64"] && self.peek() == Some("{") {
                    self.at += 1;
                    let low = self.operand(scope)?;
                    self.expect(",")?;
                    let high = self.operand(scope)?;
                    self.expect("}")?;
                    return Ok(Kind::Quick {
                        op: quick::Quick::Pack,
                        target,
                        args: [low, high, Operand::Value(0)],
                    });
                }
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
