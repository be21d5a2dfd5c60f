//! naga's types as lowering needs them: layout, and how many scalars they hold.

use std::collections::HashMap;
use std::rc::Rc;

use naga::proc::{IndexableLength, Layouter};
use naga::{Handle, Module, ScalarKind, TypeInner};

use super::layout::Alignments;
use crate::ir::Scalar;

pub type Ty = Rc<Type>;

#[derive(Debug)]
pub struct Type {
    pub shape: Shape,
    /// In bytes; a runtime-sized array counts with one element.
    pub size: u64,
    pub align: u32,
    /// Scalars in the type, counted as `size` is.
    pub scalars: u64,
}

#[derive(Debug)]
pub enum Shape {
    Scalar(Scalar),
    Atomic(Scalar),
    Sequence(Sequence),
    /// Offset and type of each member.
    Struct(Vec<(u64, Ty)>),
}

/// What an index selects from: a vector's components, a matrix's columns, an array's elements.
#[derive(Clone, Debug)]
pub struct Sequence {
    pub of: Ty,
    /// `None`: sized by the bound range.
    pub count: Option<u32>,
    pub stride: u64,
    pub is_array: bool,
}

impl Type {
    pub fn scalar(scalar: Scalar) -> Ty {
        Rc::new(Type {
            shape: Shape::Scalar(scalar),
            size: u64::from(scalar.size()),
            align: scalar.size(),
            scalars: 1,
        })
    }

    fn vector(size: naga::VectorSize, scalar: Scalar) -> Ty {
        Type::row(size as u32, scalar)
    }

    fn row(count: u32, scalar: Scalar) -> Ty {
        let width = scalar.size();
        Rc::new(Type {
            shape: Shape::Sequence(Sequence {
                of: Type::scalar(scalar),
                count: Some(count),
                stride: u64::from(width),
                is_array: false,
            }),
            size: u64::from(count * width),
            align: count.next_power_of_two() * width,
            scalars: u64::from(count),
        })
    }

    /// One, two or four u32.
    pub fn words(count: u32) -> Ty {
        Type::row(count, Scalar::U32)
    }

    /// A structure that ends in a runtime-sized array of `of`.
    pub fn headed(head: Ty, of: Ty) -> Ty {
        let array = Rc::new(Type {
            size: of.size,
            align: of.align,
            scalars: of.scalars,
            shape: Shape::Sequence(Sequence {
                stride: of.size,
                of,
                count: None,
                is_array: true,
            }),
        });
        let start = head.size.next_multiple_of(u64::from(array.align));
        Rc::new(Type {
            size: start + array.size,
            align: head.align.max(array.align),
            scalars: head.scalars + array.scalars,
            shape: Shape::Struct(vec![(0, head), (start, array)]),
        })
    }

    /// The sequence that an index into the type selects from.
    pub fn sequence(&self) -> Option<&Sequence> {
        match &self.shape {
            Shape::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// Byte offset, scalar offset and type of a member, element, column or component.
    pub fn part(&self, index: u32) -> Option<(u64, usize, Ty)> {
        match &self.shape {
            Shape::Scalar(_) | Shape::Atomic(_) => None,
            Shape::Sequence(s) => {
                let at = u64::from(index);
                let scalars = usize::try_from(at.checked_mul(s.of.scalars)?).ok()?;
                Some((at.checked_mul(s.stride)?, scalars, s.of.clone()))
            }
            Shape::Struct(members) => {
                let (offset, ty) = members.get(index as usize)?;
                let before: u64 = members[..index as usize]
                    .iter()
                    .map(|(_, ty)| ty.scalars)
                    .sum();
                Some((*offset, usize::try_from(before).ok()?, ty.clone()))
            }
        }
    }

    /// Offset and type of every scalar, in order. Only for types of few scalars.
    pub fn leaves(&self) -> Vec<(u64, Scalar)> {
        let mut leaves = Vec::new();
        self.collect_leaves(0, &mut leaves);
        leaves
    }

    fn collect_leaves(&self, base: u64, leaves: &mut Vec<(u64, Scalar)>) {
        match &self.shape {
            Shape::Scalar(scalar) | Shape::Atomic(scalar) => leaves.push((base, *scalar)),
            Shape::Sequence(s) => {
                for i in 0..u64::from(s.count.unwrap_or(1)) {
                    s.of.collect_leaves(base + i * s.stride, leaves);
                }
            }
            Shape::Struct(members) => {
                for (offset, ty) in members {
                    ty.collect_leaves(base + offset, leaves);
                }
            }
        }
    }
}

/// The IR's scalar, if it has this one.
pub fn scalar(scalar: naga::Scalar) -> Option<Scalar> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Scalar::Bool,
        (ScalarKind::Sint, 4) => Scalar::I32,
        (ScalarKind::Uint, 4) => Scalar::U32,
        (ScalarKind::Float, 4) => Scalar::F32,
        (ScalarKind::Float, 2) => Scalar::F16,
        (ScalarKind::Sint, 8) => Scalar::I64,
        (ScalarKind::Uint, 8) => Scalar::U64,
        (ScalarKind::Float, 8) => Scalar::F64,
        _ => return None,
    })
}

/// The types of a module that hold data.
pub struct Types(HashMap<Handle<naga::Type>, Ty>);

impl Types {
    /// Fails when naga cannot lay a type out; says why.
    pub fn new(module: &Module, alignments: &Alignments) -> Result<Types, String> {
        let mut layouter = Layouter::default();
        layouter
            .update(module.to_ctx())
            .map_err(|error| error.inner.to_string())?;
        let mut types = Types(HashMap::new());
        for (handle, _) in module.types.iter() {
            if let Some(ty) = types.convert(module, &layouter, handle, alignments) {
                types.0.insert(handle, Rc::new(ty));
            }
        }
        Ok(types)
    }

    fn convert(
        &self,
        module: &Module,
        layouter: &Layouter,
        handle: Handle<naga::Type>,
        alignments: &Alignments,
    ) -> Option<Type> {
        let declared = &module.types[handle];
        let layout = layouter[handle];
        let size = u64::from(layout.size);
        let mut align = layout.alignment * 1;
        let (shape, scalars) = match declared.inner {
            TypeInner::Array {
                base,
                size: length,
                stride,
            } => {
                let of = self.0.get(&base)?.clone();
                let count = match length.resolve(module.to_ctx()).ok()? {
                    IndexableLength::Known(n) => Some(n),
                    IndexableLength::Dynamic => None,
                };
                let scalars = of.scalars.checked_mul(u64::from(count.unwrap_or(1)))?;
                align = of.align;
                let sequence = Sequence {
                    of,
                    count,
                    stride: u64::from(stride),
                    is_array: true,
                };
                (Shape::Sequence(sequence), scalars)
            }
            TypeInner::Struct { ref members, .. } => {
                let members = members
                    .iter()
                    .map(|m| Some((u64::from(m.offset), self.0.get(&m.ty)?.clone())))
                    .collect::<Option<Vec<_>>>()?;
                let largest = members.iter().map(|(_, ty)| ty.align).max();
                align = alignments.of(declared.name.as_deref(), largest.unwrap_or(1));
                let scalars = members.iter().map(|(_, ty)| ty.scalars).sum();
                (Shape::Struct(members), scalars)
            }
            TypeInner::Atomic(s) => (Shape::Atomic(scalar(s)?), 1),
            ref other => return Rc::into_inner(value_type(other)?),
        };
        Some(Type {
            shape,
            size,
            align,
            scalars,
        })
    }

    pub fn get(&self, handle: Handle<naga::Type>) -> Option<Ty> {
        self.0.get(&handle).cloned()
    }

    pub fn resolve(&self, resolution: &naga::proc::TypeResolution) -> Option<Ty> {
        match resolution {
            naga::proc::TypeResolution::Handle(handle) => self.get(*handle),
            naga::proc::TypeResolution::Value(inner) => value_type(inner),
        }
    }
}

/// Scalars, vectors and matrices: what needs no other type.
fn value_type(inner: &TypeInner) -> Option<Ty> {
    Some(match *inner {
        TypeInner::Scalar(s) => Type::scalar(scalar(s)?),
        TypeInner::Vector { size, scalar: s } => Type::vector(size, scalar(s)?),
        TypeInner::Matrix {
            columns,
            rows,
            scalar: s,
        } => {
            let column = Type::vector(rows, scalar(s)?);
            let count = columns as u32;
            let stride = u64::from(column.align);
            Rc::new(Type {
                size: u64::from(count) * stride,
                align: column.align,
                scalars: u64::from(count) * column.scalars,
                shape: Shape::Sequence(Sequence {
                    of: column,
                    count: Some(count),
                    stride,
                    is_array: false,
                }),
            })
        }
        _ => return None,
    })
}
