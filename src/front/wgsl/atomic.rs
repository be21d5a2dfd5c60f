//! Atomic operations, and the stores that are atomic.

use naga::{AtomicFunction, Expression, Handle};
use smallvec::SmallVec;

use super::frame::Frame;
use super::lower::Lower;
use super::pointer::Pointer;
use super::types::Shape;
use super::value::Value;
use crate::error::Result;
use crate::ir::{AtomicOp, Const, Operand, Scalar, Span};

impl<'a> Lower<'a> {
    pub fn check_atomic(&self, scalar: Scalar, span: Span) -> Result<()> {
        if scalar.is_int() {
            return Ok(());
        }
        Err(self
            .unsupported(
                span,
                &format!("atomic operations on {scalar} are not supported"),
            )
            .with_fix("Use an atomic u32 with atomicCompareExchangeWeak and bitcast."))
    }

    /// A store, atomic if what is stored to is.
    pub fn store_any(&mut self, pointer: &Pointer, value: &Value, span: Span) -> Result<()> {
        let Pointer::Memory(place) = pointer else {
            self.store(pointer, value);
            return Ok(());
        };
        let Shape::Atomic(scalar) = place.ty.shape else {
            self.store(pointer, value);
            return Ok(());
        };
        self.check_atomic(scalar, span)?;
        if let Some(access) = self.atomic_access(place) {
            let operand = value.scalars(&place.ty)[0];
            self.b.atomic(AtomicOp::Store, access, Some(operand));
        }
        Ok(())
    }

    pub fn atomic(
        &mut self,
        frame: &mut Frame<'a>,
        pointer: Handle<Expression>,
        fun: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let span = self.expression_span(frame, result.unwrap_or(pointer));
        let target = self.pointer(frame, pointer)?;
        let value = self.operand(frame, value)?;
        let (place, scalar) = match &target {
            Pointer::Memory(place) => match place.ty.shape {
                Shape::Atomic(scalar) => (place, scalar),
                _ => return Err(self.internal(span, "an atomic operation on a plain value")),
            },
            Pointer::Locals(_) => {
                return Err(self.internal(span, "an atomic operation on a local variable"));
            }
        };
        self.check_atomic(scalar, span)?;
        let compare = match fun {
            AtomicFunction::Exchange {
                compare: Some(compare),
            } => Some(self.operand(frame, compare)?),
            _ => None,
        };
        self.b.set_span(span);
        let access = self.atomic_access(place);
        let outcome: SmallVec<[Operand; 4]> = match (access, compare) {
            (None, None) => SmallVec::from_slice(&[Const::zero(scalar).into()]),
            (None, Some(_)) => {
                SmallVec::from_slice(&[Const::zero(scalar).into(), Const::bool(false).into()])
            }
            (Some(access), Some(compare)) => {
                let (old, exchanged) = self.b.compare_exchange(access, compare, value);
                SmallVec::from_slice(&[old, exchanged])
            }
            (Some(access), None) => {
                SmallVec::from_slice(&[self.b.atomic(op(fun), access, Some(value))])
            }
        };
        match result {
            Some(result) => self.define(frame, result, Value::Scalars(outcome)),
            None => Ok(()),
        }
    }
}

fn op(fun: AtomicFunction) -> AtomicOp {
    match fun {
        AtomicFunction::Add => AtomicOp::Add,
        AtomicFunction::Subtract => AtomicOp::Sub,
        AtomicFunction::And => AtomicOp::And,
        AtomicFunction::ExclusiveOr => AtomicOp::Xor,
        AtomicFunction::InclusiveOr => AtomicOp::Or,
        AtomicFunction::Min => AtomicOp::Min,
        AtomicFunction::Max => AtomicOp::Max,
        AtomicFunction::Exchange { .. } => AtomicOp::Exchange,
    }
}
