//! Where the parts of types lie.
//!
//! naga places a member as its `@align` says, but forgets the attribute when the structure itself
//! becomes a member or an element, and then places that one wrongly. So all structures are laid out
//! anew, by the rules of the WGSL specification, before naga validates the module.

use std::collections::HashMap;

use naga::valid::MAX_TYPE_SIZE;
use naga::{ArraySize, Handle, Module, Scalar, Type, TypeInner, VectorSize};

use super::attributes::{Attributes, Member};
use super::lower::clamp;
use crate::error::Result;
use crate::ir::Source;

/// Alignments of the structures that naga takes for less aligned than they are, by name.
#[derive(Clone, Debug, Default)]
pub struct Alignments(HashMap<String, u32>);

impl Alignments {
    /// `members` is the largest alignment of a member.
    pub fn of(&self, name: Option<&str>, members: u32) -> u32 {
        let own = name.and_then(|name| self.0.get(name));
        own.map_or(members, |&own| own.max(members))
    }
}

#[derive(Clone, Copy)]
struct Layout {
    size: u64,
    align: u32,
}

/// Corrects the offsets and strides of `module`'s types.
pub fn correct(
    module: &mut Module,
    attributes: &Attributes,
    source: &Source,
) -> Result<Alignments> {
    let mut alignments = Alignments::default();
    let mut layouts: HashMap<Handle<Type>, Layout> = HashMap::new();
    let handles: Vec<Handle<Type>> = module.types.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        let mut ty = module.types[handle].clone();
        let span = clamp(source, module.types.get_span(handle));
        let too_large = || {
            let name = match &ty.name {
                Some(name) => format!("`{name}`"),
                None => "the type".to_string(),
            };
            let what = format!("{name} is larger than the {MAX_TYPE_SIZE} bytes that are allowed");
            source
                .error(span, &what)
                .with_fix("Make the structure smaller.")
        };
        let layout = match &mut ty.inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => vector(1, *scalar),
            TypeInner::Vector { size, scalar } => vector(count(*size), *scalar),
            TypeInner::Matrix {
                columns,
                rows,
                scalar,
            } => {
                let column = vector(count(*rows), *scalar);
                Layout {
                    size: u64::from(count(*columns)) * u64::from(column.align),
                    align: column.align,
                }
            }
            TypeInner::Array { base, size, stride } => {
                let Some(&of) = layouts.get(base) else {
                    continue;
                };
                // Sizes that overrides give are checked when those have values.
                let count = match size {
                    ArraySize::Constant(count) => count.get(),
                    ArraySize::Pending(_) | ArraySize::Dynamic => 1,
                };
                let step = of.size.next_multiple_of(u64::from(of.align));
                *stride = bounded(step).ok_or_else(too_large)?;
                Layout {
                    size: step * u64::from(count),
                    align: of.align,
                }
            }
            TypeInner::Struct { members, span } => {
                let said = ty.name.as_ref().and_then(|name| attributes.get(name));
                let Some(layout) = structure(members, said, &layouts).map_err(|()| too_large())?
                else {
                    continue;
                };
                *span = bounded(layout.size).ok_or_else(too_large)?;
                if let (Some(name), Some(_)) = (&ty.name, said) {
                    alignments.0.insert(name.clone(), layout.align);
                }
                layout
            }
            _ => continue,
        };
        bounded(layout.size).ok_or_else(too_large)?;
        layouts.insert(handle, layout);
        // A type that stays as it is cannot be put in place of itself.
        if module.types[handle] != ty {
            module.types.replace(handle, ty);
        }
    }
    Ok(alignments)
}

fn bounded(size: u64) -> Option<u32> {
    u32::try_from(size)
        .ok()
        .filter(|&size| size <= MAX_TYPE_SIZE)
}

fn count(size: VectorSize) -> u32 {
    size as u32
}

/// A scalar is a vector of one.
fn vector(count: u32, scalar: Scalar) -> Layout {
    let width = u32::from(scalar.width);
    Layout {
        size: u64::from(count * width),
        align: count.next_power_of_two() * width,
    }
}

/// Places the members. `None`: one holds no data, such as a texture. An error: too large.
fn structure(
    members: &mut [naga::StructMember],
    said: Option<&Vec<Member>>,
    layouts: &HashMap<Handle<Type>, Layout>,
) -> std::result::Result<Option<Layout>, ()> {
    let (mut end, mut align) = (0u64, 1u32);
    for (i, member) in members.iter_mut().enumerate() {
        let Some(own) = layouts.get(&member.ty) else {
            return Ok(None);
        };
        let said = said.and_then(|members| members.get(i));
        let member_align = said.and_then(|said| said.align).unwrap_or(own.align);
        let offset = end.next_multiple_of(u64::from(member_align));
        member.offset = bounded(offset).ok_or(())?;
        end = offset + said.and_then(|said| said.size).map_or(own.size, u64::from);
        align = align.max(member_align);
    }
    Ok(Some(Layout {
        size: end.next_multiple_of(u64::from(align)),
        align,
    }))
}
