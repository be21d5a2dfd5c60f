//! A compiled program as bytes: numbers little-endian, lists and texts behind their length.

use crate::cuda::emitted::Emitted;
use crate::cuda::ptx::abi::{
    BufferParameters, ControlParameters, MOST_PARAMETERS, ParameterLayout,
};
use crate::cuda::ptx::{Ptx, SharedMemory};
use crate::ir::{BufferAccess, BufferDecl, BufferSpace, RuntimeArray, Span};
use crate::program::{BindingInfo, Reflection};

/// Names every field, so that none is forgotten when one is added.
pub fn encode(emitted: &Emitted) -> Vec<u8> {
    let Emitted {
        reflection,
        buffers,
        ptx,
    } = emitted;
    let Reflection {
        entry_point,
        // The description's and the device's to add.
        label: _,
        max_cooperative_workgroups: _,
        workgroup_size,
        workgroup_memory,
        immediates_size,
        // Made from the buffers.
        bindings: _,
        grid_barriers,
        workgroup_barriers,
    } = reflection;
    let Ptx {
        text,
        kernel,
        shared: SharedMemory { fixed, dynamic },
        parameters,
    } = ptx;
    let mut out = Writer(Vec::with_capacity(text.len() + 1024));
    out.text(entry_point);
    for size in workgroup_size {
        out.u32(*size);
    }
    out.u64(*workgroup_memory);
    out.u32(*immediates_size);
    out.u32(*grid_barriers);
    out.u32(*workgroup_barriers);
    out.length(buffers.len());
    for buffer in buffers {
        out.buffer(buffer);
    }
    out.text(text);
    out.text(kernel);
    out.u64(*fixed);
    out.u64(*dynamic);
    out.parameters(parameters);
    out.0
}

/// What `encode` wrote, or what is wrong with it.
pub fn decode(bytes: &[u8]) -> Result<Emitted, String> {
    let mut from = Reader(bytes);
    let decoded = emitted(&mut from);
    match decoded {
        None => Err(format!(
            "its content is wrong at byte {} of {}",
            bytes.len() - from.0.len(),
            bytes.len()
        )),
        Some(_) if !from.0.is_empty() => Err(format!("{} bytes are left over", from.0.len())),
        Some(emitted) if !is_consistent(&emitted) => Err("its parts do not fit together".into()),
        Some(emitted) => Ok(emitted),
    }
}

fn emitted(from: &mut Reader<'_>) -> Option<Emitted> {
    let entry_point = from.text()?;
    let workgroup_size = [from.u32()?, from.u32()?, from.u32()?];
    let workgroup_memory = from.u64()?;
    let immediates_size = from.u32()?;
    let grid_barriers = from.u32()?;
    let workgroup_barriers = from.u32()?;
    let buffers = from.list(Reader::buffer)?;
    let ptx = Ptx {
        text: from.text()?,
        kernel: from.text()?,
        shared: SharedMemory {
            fixed: from.u64()?,
            dynamic: from.u64()?,
        },
        parameters: from.parameters()?,
    };
    Some(Emitted {
        reflection: Reflection {
            entry_point,
            label: None,
            workgroup_size,
            workgroup_memory,
            immediates_size,
            bindings: buffers.iter().map(BindingInfo::of).collect(),
            grid_barriers,
            workgroup_barriers,
            max_cooperative_workgroups: 0,
        },
        buffers,
        ptx,
    })
}

/// Whether a launch may rely on it: what is divided by is not zero, and what is written stays in its block.
fn is_consistent(emitted: &Emitted) -> bool {
    let Emitted {
        reflection,
        buffers,
        ptx,
    } = emitted;
    let ParameterLayout {
        size,
        workgroups,
        buffers: places,
        immediates,
        control,
    } = &ptx.parameters;
    let fits = |at: u32, bytes: u32| at.checked_add(bytes).is_some_and(|end| end <= *size);
    let invocations = (reflection.workgroup_size.iter())
        .try_fold(1u32, |product, &size| product.checked_mul(size))
        .unwrap_or(0);
    *size <= MOST_PARAMETERS
        && invocations > 0
        && fits(*workgroups, 12)
        && fits(*immediates, reflection.immediates_size)
        && buffers.len() == places.len()
        && (places.iter()).all(|place| fits(place.base, 8) && fits(place.length, 4))
        && control.is_none_or(|at| fits(at.slot, ControlParameters::SIZE))
        && (buffers.iter()).all(|buffer| buffer.runtime.is_none_or(|array| array.stride > 0))
        && buffers.is_sorted_by(|a, b| (a.group, a.binding) < (b.group, b.binding))
        && ptx.shared.dynamic <= u64::from(u32::MAX)
        && !ptx.text.contains('\0')
        && !ptx.kernel.contains('\0')
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.u64(length as u64);
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn buffer(&mut self, buffer: &BufferDecl) {
        let BufferDecl {
            group,
            binding,
            name,
            space,
            access,
            min_size,
            runtime,
            element_size,
            span: Span { start, end },
        } = buffer;
        self.u32(*group);
        self.u32(*binding);
        self.text(name);
        self.flag(match space {
            BufferSpace::Storage => false,
            BufferSpace::Uniform => true,
        });
        self.flag(match access {
            BufferAccess::Read => false,
            BufferAccess::ReadWrite => true,
        });
        self.u64(*min_size);
        self.flag(runtime.is_some());
        if let Some(RuntimeArray { offset, stride }) = runtime {
            self.u64(*offset);
            self.u64(*stride);
        }
        self.u64(*element_size);
        self.u32(*start);
        self.u32(*end);
    }

    fn parameters(&mut self, layout: &ParameterLayout) {
        let ParameterLayout {
            size,
            workgroups,
            buffers,
            immediates,
            control,
        } = layout;
        self.u32(*size);
        self.u32(*workgroups);
        self.length(buffers.len());
        for BufferParameters { base, length } in buffers {
            self.u32(*base);
            self.u32(*length);
        }
        self.u32(*immediates);
        self.flag(control.is_some());
        if let Some(control) = control {
            self.u32(control.slot);
        }
    }
}

/// What is left to read. Whatever is not there or is no value gives `None`.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, size: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        let text = std::str::from_utf8(self.take(length)?).ok()?;
        Some(text.to_owned())
    }

    fn flag(&mut self) -> Option<bool> {
        match self.take(1)? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    /// A list grows as its items are found: its length alone allocates nothing.
    fn list<T>(&mut self, item: impl Fn(&mut Reader<'b>) -> Option<T>) -> Option<Vec<T>> {
        let length = self.length()?;
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn buffer(&mut self) -> Option<BufferDecl> {
        Some(BufferDecl {
            group: self.u32()?,
            binding: self.u32()?,
            name: self.text()?,
            space: match self.flag()? {
                false => BufferSpace::Storage,
                true => BufferSpace::Uniform,
            },
            access: match self.flag()? {
                false => BufferAccess::Read,
                true => BufferAccess::ReadWrite,
            },
            min_size: self.u64()?,
            runtime: match self.flag()? {
                false => None,
                true => Some(RuntimeArray {
                    offset: self.u64()?,
                    stride: self.u64()?,
                }),
            },
            element_size: self.u64()?,
            span: Span {
                start: self.u32()?,
                end: self.u32()?,
            },
        })
    }

    fn parameters(&mut self) -> Option<ParameterLayout> {
        Some(ParameterLayout {
            size: self.u32()?,
            workgroups: self.u32()?,
            buffers: self.list(|from| {
                Some(BufferParameters {
                    base: from.u32()?,
                    length: from.u32()?,
                })
            })?,
            immediates: self.u32()?,
            control: match self.flag()? {
                false => None,
                true => {
                    let start = self.u32()?;
                    // Beyond any block, and checked against this one's size later.
                    Some(ControlParameters::starting(start.min(MOST_PARAMETERS)))
                }
            },
        })
    }
}
