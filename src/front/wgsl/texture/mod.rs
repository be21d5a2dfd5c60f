//! Textures, which are bound as buffers.
//!
//! A texture's buffer begins with a header of four u32: width, height, depth or number of layers, and
//! format. Its texels follow, row by row and layer by layer, without gaps. So a texture is a structure with
//! a runtime-sized array, bound, guarded and analysed like any other; `docs/wgsl.md` says it to users.
//! `format` is how the texels of storage textures lie, `texel` takes them apart and puts them together,
//! `access` finds them and lowers what is done with textures.

mod access;
mod format;
mod texel;

use naga::common::wgsl::ToWgsl;
use naga::{GlobalVariable, ImageClass, ImageDimension, StorageAccess, TypeInner};

use super::lower::Lower;
use super::pointer::Pointer;
use super::types::{self, Type};
use crate::error::Result;
use crate::ir::{BufferAccess, BufferSpace, Region, Scalar, Span};
use format::Format;

/// Bytes before the texels.
const HEADER: u64 = 16;

/// What the program knows of a texture.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Coordinates, without the layer.
    axes: usize,
    arrayed: bool,
    texels: Texels,
    writes: bool,
}

#[derive(Clone, Copy, Debug)]
enum Texels {
    /// As the header says, of this type when they are read.
    Sampled(Scalar),
    Stored(Format),
}

impl Texture {
    /// `None`: not a texture, or one that is refused.
    pub fn of(inner: &TypeInner) -> Option<Texture> {
        let TypeInner::Image {
            dim,
            arrayed,
            class,
        } = *inner
        else {
            return None;
        };
        let axes = match dim {
            ImageDimension::D1 => 1,
            ImageDimension::D2 => 2,
            ImageDimension::D3 => 3,
            ImageDimension::Cube => return None,
        };
        let (texels, access) = match class {
            ImageClass::Sampled { kind, multi: false } => {
                let scalar = types::scalar(naga::Scalar { kind, width: 4 })?;
                (Texels::Sampled(scalar), StorageAccess::LOAD)
            }
            ImageClass::Storage { format, access } => (Texels::Stored(Format::of(format)?), access),
            _ => return None,
        };
        // There are no arrays of the others.
        let arrayed = arrayed && dim == ImageDimension::D2;
        Some(Texture {
            axes,
            arrayed,
            texels,
            writes: access.contains(StorageAccess::STORE),
        })
    }

    /// Bytes between the elements that the texels are counted in: of a texture whose header chooses the
    /// format, those of the smallest texel.
    fn stride(self) -> u64 {
        match self.texels {
            Texels::Sampled(_) => 4,
            Texels::Stored(format) => format.size(),
        }
    }
}

impl Lower<'_> {
    pub(super) fn declare_texture(
        &mut self,
        variable: &GlobalVariable,
        texture: Texture,
        span: Span,
    ) -> Result<Pointer> {
        let words = u32::try_from(texture.stride() / 4).expect("a texel has at most 4 words");
        let header = Type::words(4);
        let ty = Type::headed(header, Type::words(words));
        debug_assert_eq!(ty.size, HEADER + texture.stride());
        let access = match texture.writes {
            true => BufferAccess::ReadWrite,
            false => BufferAccess::Read,
        };
        let pointer = self.declare_buffer(variable, ty, BufferSpace::Storage, access, span)?;
        if let Pointer::Memory(place) = &pointer
            && let Region::Buffer(buffer) = place.region
        {
            self.textures.insert(buffer, texture);
        }
        Ok(pointer)
    }
}

/// "... are not supported", for a texture that is refused.
pub fn refusal(dim: ImageDimension, class: ImageClass) -> String {
    match class {
        ImageClass::External => "an external texture: external textures".to_string(),
        ImageClass::Depth { .. } => "a depth texture: depth textures".to_string(),
        ImageClass::Sampled { multi: true, .. } => {
            "a multisampled texture: multisampled textures".to_string()
        }
        _ if dim == ImageDimension::Cube => "a cube texture: cube textures".to_string(),
        ImageClass::Storage { format, .. } => {
            let name = format.to_wgsl();
            format!("a storage texture of {name}: storage textures of {name}")
        }
        ImageClass::Sampled { .. } => {
            "a texture of a type that cannot be sampled: such textures".to_string()
        }
    }
}

/// What to do instead of using a texture that is refused.
pub fn fix(dim: ImageDimension, class: ImageClass) -> &'static str {
    match class {
        ImageClass::Storage { .. } if dim != ImageDimension::Cube => {
            "Use a format whose texels take 4, 8 or 16 bytes, such as r32uint, rgba8unorm or rgba16float; docs/wgsl.md has the list."
        }
        ImageClass::Sampled { multi: false, .. } if dim == ImageDimension::Cube => {
            "Use a `texture_2d_array` with a layer for each face."
        }
        ImageClass::Depth { multi: false } => {
            "Use a `texture_2d<f32>` or a `texture_2d_array<f32>`."
        }
        ImageClass::Sampled { multi: true, .. } | ImageClass::Depth { multi: true } => {
            "Use a `texture_2d_array` with a layer for each sample."
        }
        _ => "Use a `texture_2d<f32>`.",
    }
}
