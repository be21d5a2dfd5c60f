//! Where a WGSL pointer points, and stepping from it to a part.

use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::lower::Lower;
use super::types::{Sequence, Ty};
use crate::ir::{BinaryOp, CompareOp, Const, Expr, LocalId, Operand, Region, Scalar};

/// A typed place in byte-addressed memory; see [`crate::ir::Access`] for the parts.
#[derive(Clone, Debug)]
pub struct Place {
    pub region: Region,
    pub index: Option<Operand>,
    pub offset: u64,
    pub guard: Option<Operand>,
    pub ty: Ty,
}

impl Place {
    pub fn whole(region: Region, ty: Ty) -> Place {
        Place {
            region,
            index: None,
            offset: 0,
            guard: None,
            ty,
        }
    }

    pub fn at(&self, offset: u64, ty: Ty) -> Place {
        Place {
            offset: self.offset + offset,
            ty,
            ..self.clone()
        }
    }
}

/// A part of a variable that lives in locals, one for each scalar.
#[derive(Clone, Debug)]
pub struct Spread {
    pub locals: Rc<[LocalId]>,
    /// The first local of the part and when it is that one. At most one condition holds; if none
    /// does, the pointer is out of bounds.
    pub choices: SmallVec<[Choice; 1]>,
    pub ty: Ty,
}

#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// `None`: always.
    pub cond: Option<Operand>,
    pub first: usize,
}

#[derive(Clone, Debug)]
pub enum Pointer {
    Memory(Place),
    Locals(Spread),
}

impl Pointer {
    pub fn locals(locals: Rc<[LocalId]>, ty: Ty) -> Pointer {
        Pointer::Locals(Spread {
            locals,
            choices: smallvec![Choice {
                cond: None,
                first: 0
            }],
            ty,
        })
    }
}

impl Lower<'_> {
    /// A member, or an element at a constant index that naga has checked as far as it is known.
    pub fn step(&mut self, pointer: &Pointer, index: u32) -> Option<Pointer> {
        match pointer {
            Pointer::Memory(place) => Some(Pointer::Memory(match place.ty.sequence().cloned() {
                Some(s) => self.element(place, &s, Const::u32(index).into()),
                None => {
                    let (offset, _, ty) = place.ty.part(index)?;
                    place.at(offset, ty)
                }
            })),
            Pointer::Locals(spread) => {
                let (_, scalars, ty) = spread.ty.part(index)?;
                let mut part = spread.clone();
                part.ty = ty;
                for choice in &mut part.choices {
                    choice.first += scalars;
                }
                Some(Pointer::Locals(part))
            }
        }
    }

    /// An element at an index known at run time.
    pub fn step_dynamic(&mut self, pointer: &Pointer, index: Operand) -> Option<Pointer> {
        match pointer {
            Pointer::Memory(place) => {
                let sequence = place.ty.sequence()?.clone();
                Some(Pointer::Memory(self.element(place, &sequence, index)))
            }
            Pointer::Locals(spread) => {
                let sequence = spread.ty.sequence()?.clone();
                Some(Pointer::Locals(self.choose(spread, &sequence, index)?))
            }
        }
    }

    fn element(&mut self, place: &Place, sequence: &Sequence, index: Operand) -> Place {
        let mut element = place.at(0, sequence.of.clone());
        if let Operand::Const(c) = index {
            let Some(i) = constant_index(c).filter(|&i| {
                sequence.count.is_none_or(|n| i < u64::from(n)) && i <= u64::from(u32::MAX)
            }) else {
                element.guard = Some(Const::bool(false).into());
                return element;
            };
            element.offset += i * sequence.stride;
            // The smallest bound range holds one element of a runtime-sized array.
            if sequence.count.is_none() && i > 0 && !self.unchecked {
                let inside = self.below_length(place.region, index);
                element.guard = self.both(place.guard, inside);
            }
            return element;
        }
        let wide = self.widen_index(index);
        let stride = Const::u64(sequence.stride).into();
        let bytes = self.b.binary(BinaryOp::Mul, wide, stride);
        element.index = Some(match place.index {
            Some(base) => self.b.binary(BinaryOp::Add, base, bytes),
            None => bytes,
        });
        if !self.unchecked {
            let inside = match sequence.count {
                Some(count) => self.below(index, count),
                None => self.below_length(place.region, index),
            };
            element.guard = self.both(place.guard, inside);
        }
        element
    }

    /// An index as u64. A negative one becomes huge, so that it is out of every bound.
    pub fn widen_index(&mut self, index: Operand) -> Operand {
        let ty = self.b.ty(index);
        if ty.is_signed() {
            let wide = self.b.convert(Scalar::I64, index);
            return self.b.bitcast(Scalar::U64, wide);
        }
        self.b.convert(Scalar::U64, index)
    }

    /// Whether an index is in `0..count`.
    fn below(&mut self, index: Operand, count: u32) -> Operand {
        if self.b.upper(index) < u64::from(count) {
            return Const::bool(true).into();
        }
        // Counts stay below 2^31 (naga bounds types to 1 GiB), so a negative index read as
        // unsigned is above every one.
        let unsigned = match self.b.ty(index) {
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            other => other,
        };
        let index = self.b.bitcast(unsigned, index);
        let count = self.b.constant(unsigned, f64::from(count));
        self.b.compare(CompareOp::Lt, index, count)
    }

    /// Whether an index is within the bound range's runtime-sized array.
    fn below_length(&mut self, region: Region, index: Operand) -> Operand {
        let Region::Buffer(buffer) = region else {
            unreachable!("naga allows runtime-sized arrays in storage buffers only")
        };
        let length = self.b.emit(Scalar::U32, Expr::ArrayLength(buffer));
        if self.b.ty(index) == Scalar::U32 {
            return self.b.compare(CompareOp::Lt, index, length);
        }
        // A length may reach past 2^31: a negative index must not wrap into it.
        let index = self.widen_index(index);
        let length = self.b.convert(Scalar::U64, length);
        self.b.compare(CompareOp::Lt, index, length)
    }

    /// Both guards hold; `None` for always.
    pub fn both(&mut self, outer: Option<Operand>, inner: Operand) -> Option<Operand> {
        let both = match outer {
            Some(outer) => self.b.binary(BinaryOp::And, outer, inner),
            None => inner,
        };
        (both != Const::bool(true).into()).then_some(both)
    }

    fn choose(&mut self, spread: &Spread, sequence: &Sequence, index: Operand) -> Option<Spread> {
        let count = sequence.count?;
        let scalars = usize::try_from(sequence.of.scalars).ok()?;
        let ty = self.b.ty(index);
        let mut part = Spread {
            locals: spread.locals.clone(),
            choices: SmallVec::new(),
            ty: sequence.of.clone(),
        };
        for i in 0..count {
            let i_constant = self.b.constant(ty, f64::from(i));
            let here = self.b.compare(CompareOp::Eq, index, i_constant);
            if here == Const::bool(false).into() {
                continue;
            }
            for choice in &spread.choices {
                part.choices.push(Choice {
                    cond: self.both(choice.cond, here),
                    first: choice.first + i as usize * scalars,
                });
            }
        }
        Some(part)
    }
}

/// A constant index that is not negative.
pub fn constant_index(c: Const) -> Option<u64> {
    match c.ty {
        Scalar::I32 => u64::try_from((c.bits as u32).cast_signed()).ok(),
        Scalar::I64 => u64::try_from(c.bits.cast_signed()).ok(),
        _ => Some(c.bits),
    }
}
