//! Subgroup operations, and the directives that enable them.

use std::borrow::Cow;

use naga::{
    CollectiveOperation, Direction, EntryPoint, Expression, GatherMode, Handle, Module,
    SubgroupOperation,
};
use smallvec::smallvec;

use super::frame::Frame;
use super::lower::Lower;
use super::tokens::tokens;
use super::value::{Components, Value};
use crate::error::Result;
use crate::ir::{BinaryOp, Builtin, Const, Expr, Fold, Operand, Scalar, SubgroupOp};

/// naga refuses longer dimensions of a workgroup.
const LARGEST: u32 = 0x4000;

impl<'a> Lower<'a> {
    pub fn ballot(
        &mut self,
        frame: &mut Frame<'a>,
        predicate: Option<Handle<Expression>>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let votes = match predicate {
            Some(predicate) => self.operand(frame, predicate)?,
            None => Const::bool(true).into(),
        };
        self.b.set_span(self.expression_span(frame, result));
        let low = self.b.subgroup(SubgroupOp::Ballot, &[votes], None)[0];
        // Subgroups are no larger than the first of the four words.
        let zero: Operand = Const::u32(0).into();
        let words: Components = smallvec![low, zero, zero, zero];
        self.define(frame, result, Value::Scalars(words))
    }

    pub fn collective(
        &mut self,
        frame: &mut Frame<'a>,
        (op, over): (SubgroupOperation, CollectiveOperation),
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let fold = match op {
            SubgroupOperation::All => Err(SubgroupOp::All),
            SubgroupOperation::Any => Err(SubgroupOp::Any),
            SubgroupOperation::Add => Ok(Fold::Add),
            SubgroupOperation::Mul => Ok(Fold::Mul),
            SubgroupOperation::Min => Ok(Fold::Min),
            SubgroupOperation::Max => Ok(Fold::Max),
            SubgroupOperation::And => Ok(Fold::And),
            SubgroupOperation::Or => Ok(Fold::Or),
            SubgroupOperation::Xor => Ok(Fold::Xor),
        };
        let op = match (fold, over) {
            (Err(vote), _) => vote,
            (Ok(fold), CollectiveOperation::Reduce) => SubgroupOp::Reduce(fold),
            (Ok(fold), CollectiveOperation::InclusiveScan) => SubgroupOp::Inclusive(fold),
            (Ok(fold), CollectiveOperation::ExclusiveScan) => SubgroupOp::Exclusive(fold),
        };
        self.exchange(frame, op, argument, None, result)
    }

    pub fn gather(
        &mut self,
        frame: &mut Frame<'a>,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let own = |lower: &mut Self| {
            let expr = Expr::Builtin(Builtin::SubgroupInvocationId);
            lower.b.emit(Scalar::U32, expr)
        };
        let lane = match mode {
            GatherMode::BroadcastFirst => {
                return self.exchange(frame, SubgroupOp::First, argument, None, result);
            }
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) => self.operand(frame, lane)?,
            GatherMode::ShuffleDown(by) => {
                let (own, by) = (own(self), self.operand(frame, by)?);
                self.b.binary(BinaryOp::Add, own, by)
            }
            GatherMode::ShuffleUp(by) => {
                // Below lane 0 it wraps to a number that no lane has.
                let (own, by) = (own(self), self.operand(frame, by)?);
                self.b.binary(BinaryOp::Sub, own, by)
            }
            GatherMode::ShuffleXor(mask) => {
                let (own, mask) = (own(self), self.operand(frame, mask)?);
                self.b.binary(BinaryOp::Xor, own, mask)
            }
            GatherMode::QuadBroadcast(lane) => {
                let (own, lane) = (own(self), self.operand(frame, lane)?);
                let quad = self.b.binary(BinaryOp::And, own, Const::u32(!3).into());
                self.b.binary(BinaryOp::Add, quad, lane)
            }
            GatherMode::QuadSwap(direction) => {
                let mask = match direction {
                    Direction::X => 1,
                    Direction::Y => 2,
                    Direction::Diagonal => 3,
                };
                let own = own(self);
                self.b.binary(BinaryOp::Xor, own, Const::u32(mask).into())
            }
        };
        self.exchange(frame, SubgroupOp::Shuffle, argument, Some(lane), result)
    }

    fn exchange(
        &mut self,
        frame: &mut Frame<'a>,
        op: SubgroupOp,
        argument: Handle<Expression>,
        lane: Option<Operand>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let operands = self.components(frame, argument)?;
        let span = self.expression_span(frame, result);
        self.b.set_span(span);
        if operands.iter().any(|&x| op.result(self.b.ty(x)).is_none()) {
            return Err(self.internal(span, "a subgroup operation on values of another type"));
        }
        let results = self.b.subgroup(op, &operands, lane);
        self.define(frame, result, Value::Scalars(results))
    }
}

/// The module for naga to validate: it refuses `subgroup_id` and `subgroup_invocation_id` in workgroups of several
/// dimensions, as other languages do not say how those are cut. Ours are, by `local_invocation_index`.
pub fn in_one_dimension(module: &Module) -> Cow<'_, Module> {
    let is_flat = |entry: &EntryPoint| entry.workgroup_size[1..] == [1, 1];
    if module.entry_points.iter().all(is_flat) {
        return Cow::Borrowed(module);
    }
    let mut module = module.clone();
    for entry in &mut module.entry_points {
        for size in &mut entry.workgroup_size[1..] {
            // What is too large or zero is still refused.
            if (1..=LARGEST).contains(size) {
                *size = 1;
            }
        }
    }
    Cow::Owned(module)
}

/// What naga does not know the name of, but lets a program use.
const KNOWN: [&str; 3] = ["subgroups", "subgroup_id", "subgroup_uniformity"];

/// The text without `enable subgroups;` and the like, which naga refuses: spaces stand in their place, so that
/// spans stay true.
pub fn without_directives(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut tokens = tokens(text);
    while let Some(word) = tokens.next() {
        if !matches!(word.text, "enable" | "requires" | "diagnostic") {
            break;
        }
        // Each name with the comma behind it, from where to where.
        let mut names: Vec<(&str, std::ops::Range<usize>)> = Vec::new();
        let mut end = text.len();
        for token in tokens.by_ref() {
            let past = token.at + token.text.len();
            match (token.text, names.last_mut()) {
                (";", _) => {
                    end = past;
                    break;
                }
                (",", Some((_, range))) => range.end = past,
                (name, _) => names.push((name, token.at..past)),
            }
        }
        let is_known = |name: &str| word.text != "diagnostic" && KNOWN.contains(&name);
        if !names.is_empty() && names.iter().all(|(name, _)| is_known(name)) {
            blank(&mut bytes[word.at..end]);
            continue;
        }
        for (_, range) in names.into_iter().filter(|(name, _)| is_known(name)) {
            blank(&mut bytes[range]);
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
}

/// Lines keep their ends, and comments of any letters become as many spaces as they have bytes.
fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_directives;

    #[test]
    fn only_what_naga_does_not_know_goes() {
        let cases = [
            (
                "enable subgroups;\nfn f() {}",
                "                 \nfn f() {}",
            ),
            ("enable f16, subgroups; x", "enable f16,          ; x"),
            ("enable subgroups, f16; x", "enable            f16; x"),
            (
                "enable f16; enable subgroups; x",
                "enable f16;                   x",
            ),
            ("requires subgroup_id; x", "                      x"),
            ("// enable subgroups;\nx", "// enable subgroups;\nx"),
            (
                "fn f() { enable subgroups; }",
                "fn f() { enable subgroups; }",
            ),
            ("enable", "enable"),
            ("enable subgroups", "                "),
        ];
        for (text, kept) in cases {
            assert_eq!(without_directives(text), kept);
        }
    }
}
