//! The module's variables that the entry point uses.

use naga::{AddressSpace, Function, GlobalVariable, Handle, StorageAccess};

use super::lower::Lower;
use super::pointer::{Place, Pointer};
use super::texture::Texture;
use super::types::{Shape, Ty};
use super::{features, reach};
use crate::error::Result;
use crate::ir::{
    BufferAccess, BufferDecl, BufferId, BufferSpace, Memory, MemoryId, Region, RuntimeArray, Span,
};

/// Scalars up to which a variable lives in locals.
pub const LARGEST_SPREAD: u64 = 32;
/// Bytes of all workgroup variables. Every device has less; this bounds what the CPU allocates.
const LARGEST_WORKGROUP: u64 = 64 << 20;
/// What a variable of an invocation or workgroup is aligned to at most: no access is wider. Buffers
/// lie where the caller puts them.
const LARGEST_ALIGN: u32 = 32;
/// Bytes of immediates: what a kernel's parameters hold.
const LARGEST_IMMEDIATES: u64 = 4096;

impl Lower<'_> {
    /// Declares the variables that the entry point names.
    pub fn declare_globals(&mut self, entry: &Function) -> Result<()> {
        let mut used: Vec<Handle<GlobalVariable>> =
            reach::variables(self.module, entry).into_iter().collect();
        let module = self.module;
        used.sort_by_key(|&handle| {
            let variable = &module.global_variables[handle];
            let binding = match self.is_immediate(variable) {
                true => None,
                false => variable.binding.as_ref(),
            };
            (binding.map(|b| (b.group, b.binding)), handle.index())
        });
        for handle in used {
            self.declare_global(handle)?;
        }
        Ok(())
    }

    fn is_immediate(&self, variable: &GlobalVariable) -> bool {
        let name = variable.name.as_ref();
        name.is_some_and(|name| self.immediates.contains(name))
    }

    fn declare_global(&mut self, handle: Handle<GlobalVariable>) -> Result<()> {
        let variable = &self.module.global_variables[handle];
        let span = self.span(self.module.global_variables.get_span(handle));
        self.b.set_span(span);
        let name = variable.name.clone().unwrap_or_default();
        let inner = &self.module.types[variable.ty].inner;
        if let Some(texture) = Texture::of(inner) {
            let pointer = self.declare_texture(variable, texture, span)?;
            self.globals.insert(handle, pointer);
            return Ok(());
        }
        let Some(ty) = self.types.get(variable.ty) else {
            let what = format!("`{name}` is {}", features::of_type(self.module, inner));
            let error = self.unsupported(span, &what);
            return Err(match features::fix_of_type(inner) {
                Some(fix) => error.with_fix(fix),
                None => error,
            });
        };
        let space = match self.is_immediate(variable) {
            true => AddressSpace::Immediate,
            false => variable.space,
        };
        let pointer = match space {
            AddressSpace::Storage { access } => {
                let access = if access.intersects(StorageAccess::STORE | StorageAccess::ATOMIC) {
                    BufferAccess::ReadWrite
                } else {
                    BufferAccess::Read
                };
                self.declare_buffer(variable, ty, BufferSpace::Storage, access, span)?
            }
            AddressSpace::Uniform => {
                let access = BufferAccess::Read;
                self.declare_buffer(variable, ty, BufferSpace::Uniform, access, span)?
            }
            AddressSpace::WorkGroup => self.declare_workgroup(name, ty, span)?,
            AddressSpace::Immediate => self.declare_immediates(ty, span)?,
            AddressSpace::Private => {
                let indexed = self.indexed.globals.contains(&handle);
                let pointer = self.variable(&ty, &name, indexed, span);
                if let Some(init) = variable.init {
                    let value = self.constant_expression(init)?;
                    self.store(&pointer, &value);
                }
                pointer
            }
            other => {
                let what = format!("variables in the address space {other:?} are not supported");
                return Err(self.unsupported(span, &what));
            }
        };
        self.globals.insert(handle, pointer);
        Ok(())
    }

    /// A function's or the invocation's own variable. Its first use has to be an assignment, unless it
    /// is declared before any call: arrays are used again.
    pub fn variable(&mut self, ty: &Ty, name: &str, indexed: bool, span: Span) -> Pointer {
        if ty.scalars <= LARGEST_SPREAD && !indexed {
            return self.local_set(ty, name);
        }
        let fits = |id: &MemoryId| {
            let memory = &self.b.private[id.index()];
            memory.size == ty.size && memory.align >= ty.align.min(LARGEST_ALIGN)
        };
        if let Some(i) = self.free.iter().position(fits) {
            let region = Region::Private(self.free.remove(i));
            return Pointer::Memory(Place::whole(region, ty.clone()));
        }
        let memory = self.b.memory(Memory {
            name: name.to_string(),
            size: ty.size,
            align: ty.align.min(LARGEST_ALIGN),
            span,
        });
        Pointer::Memory(Place::whole(Region::Private(memory), ty.clone()))
    }

    pub fn declare_buffer(
        &mut self,
        variable: &GlobalVariable,
        ty: Ty,
        space: BufferSpace,
        access: BufferAccess,
        span: Span,
    ) -> Result<Pointer> {
        let name = variable.name.clone().unwrap_or_default();
        let Some(binding) = &variable.binding else {
            return Err(self.internal(span, "a buffer without a binding"));
        };
        let (group, binding) = (binding.group, binding.binding);
        // Sorted, so that equal ones are neighbours. naga does not look at those only named.
        if let Some(last) = self.buffers.last()
            && (last.group, last.binding) == (group, binding)
        {
            let what = format!(
                "`{name}` and `{}` are both bound at @group({group}) @binding({binding})",
                last.name
            );
            return Err(self
                .invalid(span, &what)
                .with_fix("Give each variable that the entry point uses a binding of its own."));
        }
        let (runtime, element_size) = ending(&ty);
        let id = BufferId(u32::try_from(self.buffers.len()).expect("bounded by the source"));
        self.buffers.push(BufferDecl {
            group,
            binding,
            name,
            space,
            access,
            min_size: ty.size,
            runtime,
            element_size,
            span,
        });
        Ok(Pointer::Memory(Place::whole(Region::Buffer(id), ty)))
    }

    fn declare_workgroup(&mut self, name: String, ty: Ty, span: Span) -> Result<Pointer> {
        let id = MemoryId(u32::try_from(self.b.workgroup.len()).expect("bounded by the source"));
        let taken: u64 = self.b.workgroup.iter().map(|m| m.size).sum();
        let total = taken.saturating_add(ty.size);
        if total > LARGEST_WORKGROUP {
            let what = format!(
                "the workgroup variables take {total} bytes with `{name}`, more than the {LARGEST_WORKGROUP} that are allowed"
            );
            return Err(self
                .invalid(span, &what)
                .with_fix("Make the workgroup arrays smaller."));
        }
        self.b.workgroup.push(Memory {
            name,
            size: ty.size,
            align: ty.align.min(LARGEST_ALIGN),
            span,
        });
        Ok(Pointer::Memory(Place::whole(Region::Workgroup(id), ty)))
    }

    fn declare_immediates(&mut self, ty: Ty, span: Span) -> Result<Pointer> {
        if self.immediates_size > 0 {
            let what = "an entry point uses one variable of immediates at most";
            return Err(self
                .invalid(span, what)
                .with_fix("Make one structure of them."));
        }
        if ty.size > LARGEST_IMMEDIATES {
            let what = format!(
                "the immediates take {} bytes, more than the {LARGEST_IMMEDIATES} that are allowed",
                ty.size
            );
            return Err(self
                .invalid(span, &what)
                .with_fix("Put the data into a uniform buffer."));
        }
        let size = u32::try_from(ty.size).expect("at most LARGEST_IMMEDIATES");
        self.immediates_size = size;
        Ok(Pointer::Memory(Place::whole(Region::Immediates, ty)))
    }
}

/// The runtime-sized array that ends a type, and the size of what it is made of.
fn ending(ty: &Ty) -> (Option<RuntimeArray>, u64) {
    let (offset, last) = match &ty.shape {
        Shape::Struct(members) => match members.last() {
            Some((offset, last)) => (*offset, last),
            None => return (None, ty.size),
        },
        _ => (0, ty),
    };
    match last.sequence() {
        Some(s) if s.is_array => {
            let stride = s.stride;
            let runtime = s.count.is_none().then_some(RuntimeArray { offset, stride });
            (runtime, stride)
        }
        _ => (None, ty.size),
    }
}
