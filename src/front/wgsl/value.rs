//! The value of a WGSL expression after lowering, and taking it apart.

use smallvec::SmallVec;

use super::lower::{BIG, Lower};
use super::pointer::{Place, Pointer, constant_index};
use super::types::{Ty, Type};
use crate::error::Result;
use crate::ir::{CompareOp, Const, MemoryId, Operand, Region};

/// A value as components: a scalar is 1, a vecN is N, a matCxR is C*R column by column; members
/// and elements one after the other.
pub type Components = SmallVec<[Operand; 4]>;

#[derive(Clone, Debug)]
pub enum Value {
    Scalars(Components),
    /// More than `BIG` scalars, in memory that nobody writes any more.
    Memory(Place),
    /// The zero value of more than `BIG` scalars.
    Zero,
    Pointer(Pointer),
}

impl Value {
    pub fn scalar(x: Operand) -> Value {
        Value::Scalars(SmallVec::from_slice(&[x]))
    }

    pub fn zero(ty: &Ty) -> Value {
        if ty.scalars > BIG {
            return Value::Zero;
        }
        Value::Scalars(zeros(ty))
    }

    /// The components of a value of few scalars.
    pub fn scalars(&self, ty: &Ty) -> Components {
        match self {
            Value::Scalars(scalars) => scalars.clone(),
            Value::Zero => zeros(ty),
            Value::Memory(_) | Value::Pointer(_) => {
                unreachable!("values in memory are taken apart before they are computed with")
            }
        }
    }
}

fn zeros(ty: &Ty) -> Components {
    ty.leaves()
        .iter()
        .map(|&(_, scalar)| Const::zero(scalar).into())
        .collect()
}

/// Elements up to which a dynamically indexed array value becomes a chain of selects.
const CHAIN: u32 = 8;
/// Bytes of one constant table.
const LARGEST_TABLE: u64 = 16 << 20;

impl Lower<'_> {
    /// A member, element, column or component at a constant index.
    pub fn part(&mut self, value: &Value, ty: &Ty, index: u32) -> Option<Value> {
        let (offset, first, part) = ty.part(index)?;
        Some(match value {
            Value::Scalars(scalars) => {
                let count = usize::try_from(part.scalars).ok()?;
                Value::Scalars(SmallVec::from_slice(scalars.get(first..first + count)?))
            }
            Value::Memory(place) => self.load_place(&place.at(offset, part)),
            Value::Zero => Value::zero(&part),
            Value::Pointer(_) => return None,
        })
    }

    /// An element, column or component at an index known at run time; out of bounds gives zero.
    pub fn part_dynamic(
        &mut self,
        value: &Value,
        ty: &Ty,
        index: Operand,
    ) -> Result<Option<Value>> {
        let Some(sequence) = ty.sequence() else {
            return Ok(None);
        };
        let count = sequence.count.unwrap_or(0);
        if let Operand::Const(c) = index {
            let inside = constant_index(c)
                .and_then(|i| u32::try_from(i).ok())
                .filter(|&i| i < count);
            return Ok(match inside {
                Some(i) => self.part(value, ty, i),
                None => Some(Value::zero(&sequence.of)),
            });
        }
        let place = match value {
            Value::Zero => return Ok(Some(Value::zero(&sequence.of))),
            Value::Memory(place) => place.clone(),
            Value::Pointer(_) => return Ok(None),
            Value::Scalars(scalars) => {
                let constant = scalars.iter().all(|x| matches!(x, Operand::Const(_)));
                if constant && sequence.is_array {
                    self.table(value, ty)?.expect("all scalars are constant")
                } else if count <= CHAIN {
                    let element = usize::try_from(sequence.of.scalars).unwrap_or(0);
                    return Ok(Some(Value::Scalars(self.chain(scalars, element, index))));
                } else {
                    self.spill(value, ty)
                }
            }
        };
        let pointer = self.step_dynamic(&Pointer::Memory(place), index);
        Ok(pointer.map(|pointer| self.load(&pointer)))
    }

    fn chain(&mut self, scalars: &[Operand], element: usize, index: Operand) -> Components {
        let ty = self.b.ty(index);
        let mut picked: Components = scalars[..element]
            .iter()
            .map(|&x| Const::zero(self.b.ty(x)).into())
            .collect();
        for (i, candidate) in scalars.chunks(element).enumerate() {
            let i = self.b.constant(ty, i as f64);
            let here = self.b.compare(CompareOp::Eq, index, i);
            for (value, &x) in picked.iter_mut().zip(candidate) {
                *value = self.b.select(here, x, *value);
            }
        }
        picked
    }

    /// Puts a value into private memory of its own.
    pub fn spill(&mut self, value: &Value, ty: &Ty) -> Place {
        let place = self.temporary(ty);
        self.store_place(&place, value);
        place
    }

    /// Puts a value where a dynamic index can reach it, unless a chain of selects does as well.
    pub fn make_indexable(&mut self, value: Value, ty: &Ty) -> Result<Value> {
        let Value::Scalars(scalars) = &value else {
            return Ok(value);
        };
        let small = ty.sequence().is_none_or(|s| s.count.unwrap_or(0) <= CHAIN);
        let constant = scalars.iter().all(|x| matches!(x, Operand::Const(_)));
        if small && !constant {
            return Ok(value);
        }
        Ok(Value::Memory(match self.table(&value, ty)? {
            Some(table) => table,
            None => self.spill(&value, ty),
        }))
    }

    /// A constant table with the value, if the value is constant.
    fn table(&mut self, value: &Value, ty: &Ty) -> Result<Option<Place>> {
        if ty.size > LARGEST_TABLE {
            let what = format!(
                "a constant takes {} bytes, more than the {LARGEST_TABLE} that are allowed",
                ty.size
            );
            return Err(self.invalid(self.b.span(), &what));
        }
        let size = usize::try_from(ty.size).expect("at most LARGEST_TABLE");
        let mut bytes = vec![0; size];
        if !self.write_constant(&mut bytes, value, ty) {
            return Ok(None);
        }
        Ok(Some(self.constant_table(bytes, ty)))
    }

    /// False if the value is not constant.
    fn write_constant(&self, bytes: &mut [u8], value: &Value, ty: &Type) -> bool {
        match value {
            Value::Zero => true,
            Value::Scalars(scalars) => {
                for (&(offset, scalar), &x) in ty.leaves().iter().zip(scalars) {
                    let Operand::Const(c) = x else { return false };
                    let at = usize::try_from(offset).expect("within the table");
                    let width = scalar.size() as usize;
                    bytes[at..at + width].copy_from_slice(&c.bits.to_le_bytes()[..width]);
                }
                true
            }
            Value::Memory(Place {
                region: Region::Constant(id),
                index: None,
                guard: None,
                offset,
                ..
            }) => {
                let at = usize::try_from(*offset).expect("within the table");
                bytes.copy_from_slice(&self.b.constants[id.index()][at..at + bytes.len()]);
                true
            }
            Value::Memory(_) | Value::Pointer(_) => false,
        }
    }

    /// Puts parts together. Vectors and matrices may be made of shorter vectors.
    pub fn compose(&mut self, ty: &Ty, parts: &[Value]) -> Result<Value> {
        if ty.scalars <= BIG {
            let mut scalars = Components::new();
            for part in parts {
                match part {
                    Value::Scalars(s) => scalars.extend_from_slice(s),
                    _ => unreachable!("a part has no more scalars than the whole"),
                }
            }
            return Ok(Value::Scalars(scalars));
        }
        if let Some(table) = self.constant_parts(ty, parts)? {
            return Ok(Value::Memory(table));
        }
        let place = self.temporary(ty);
        for (i, part) in (0u32..).zip(parts) {
            let (offset, _, part_ty) = ty.part(i).expect("naga has counted the parts");
            self.store_place(&place.at(offset, part_ty), part);
        }
        Ok(Value::Memory(place))
    }

    fn constant_parts(&mut self, ty: &Ty, parts: &[Value]) -> Result<Option<Place>> {
        let constant = parts.iter().all(|part| match part {
            Value::Scalars(s) => s.iter().all(|x| matches!(x, Operand::Const(_))),
            Value::Zero => true,
            Value::Memory(place) => {
                matches!(place.region, Region::Constant(_))
                    && place.index.is_none()
                    && place.guard.is_none()
            }
            Value::Pointer(_) => false,
        });
        if !constant || ty.size > LARGEST_TABLE {
            return Ok(None);
        }
        let size = usize::try_from(ty.size).expect("at most LARGEST_TABLE");
        let mut bytes = vec![0; size];
        for (i, part) in (0u32..).zip(parts) {
            let (offset, _, part_ty) = ty.part(i).expect("naga has counted the parts");
            let at = usize::try_from(offset).expect("within the table");
            let end = at + usize::try_from(part_ty.size).expect("within the table");
            self.write_constant(&mut bytes[at..end], part, &part_ty);
        }
        Ok(Some(self.constant_table(bytes, ty)))
    }

    fn constant_table(&mut self, bytes: Vec<u8>, ty: &Ty) -> Place {
        let next = MemoryId(u32::try_from(self.b.constants.len()).expect("bounded by the source"));
        let id = *self.tables.entry(bytes.clone()).or_insert(next);
        if id == next {
            self.b.constants.push(bytes);
        }
        Place::whole(Region::Constant(id), ty.clone())
    }
}
