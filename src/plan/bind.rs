//! Which bytes each of the program's bindings gets.

use smallvec::{SmallVec, smallvec};

use crate::backend::{Binding, BindingSource};
use crate::error::{Error, Result, Status};
use crate::program::{Access, BindingInfo, Reflection};

/// Offsets into a buffer are multiples of this. Buffers start on such an address and no instruction of a
/// backend moves more bytes at once: larger vectors, of four 64-bit scalars, are moved in halves.
pub const OFFSET_ALIGNMENT: u64 = 16;

/// The bytes of one of the program's bindings, in the order of the reflection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Index into the dispatch's bindings.
    pub binding: usize,
    /// Into the buffer; 0 for host bytes.
    pub offset: u64,
    pub size: u64,
}

/// Matches bindings with what the program declares.
///
/// Ranges that share memory are refused if the program writes one of them: the proof that a grid barrier
/// is uniform relies on a load from one binding not changing when another is stored to. They are
/// compared by address, so buffers imported over the same memory and host bytes count too.
pub fn bind(reflection: &Reflection, bindings: &[Binding<'_>]) -> Result<SmallVec<[Planned; 8]>> {
    let mut planned = SmallVec::new();
    bind_onto(&mut planned, reflection, bindings)?;
    Ok(planned)
}

/// As [`bind`], behind what others bind.
#[inline]
pub fn bind_onto(
    planned: &mut SmallVec<[Planned; 8]>,
    reflection: &Reflection,
    bindings: &[Binding<'_>],
) -> Result<()> {
    let declared = &reflection.bindings;
    if declared.is_empty() && bindings.is_empty() {
        return Ok(());
    }
    let mut found: SmallVec<[Option<usize>; 8]> = smallvec![None; declared.len()];
    // More bindings than the program has end this early: one of them is superfluous or named twice.
    for (index, given) in bindings.iter().enumerate() {
        let key = (given.group, given.binding);
        let slot = declared
            .binary_search_by_key(&key, |info| (info.group, info.binding))
            .map_err(|_| superfluous(reflection, index, key))?;
        if let Some(first) = found[slot].replace(index) {
            return Err(mismatch(format!(
                "bindings[{first}] and bindings[{index}] are both {}",
                title(&declared[slot])
            )));
        }
    }
    let first = planned.len();
    for (info, index) in declared.iter().zip(found) {
        let index = index.ok_or_else(|| mismatch(format!("{} is missing", title(info))))?;
        planned.push(range(info, index, &bindings[index])?);
    }
    check_overlap(declared, bindings, &planned[first..])
}

fn mismatch(message: String) -> Error {
    Error::new(Status::BindingMismatch, message)
}

fn title(info: &BindingInfo) -> String {
    format!(
        "binding \"{}\" (group {}, binding {})",
        info.name, info.group, info.binding
    )
}

fn superfluous(reflection: &Reflection, index: usize, (group, binding): (u32, u32)) -> Error {
    mismatch(format!(
        "bindings[{index}] is group {group}, binding {binding}, which entry point \"{}\" does not use",
        reflection.entry_point
    ))
    .with_fix("Leave it out: only the bindings that the entry point uses, as vyre_program_binding() lists them, are bound.")
}

fn range(info: &BindingInfo, index: usize, given: &Binding<'_>) -> Result<Planned> {
    let (offset, size) = match &given.source {
        BindingSource::Buffer {
            buffer,
            offset,
            size,
        } => buffer_range(info, index, buffer.size(), *offset, *size)?,
        BindingSource::Host {
            input,
            output,
            size,
        } => {
            let lent = [
                input.as_ref().map(|i| i.len()),
                output.as_ref().map(|o| o.len()),
            ];
            check_host(info, index, lent, *size)?;
            (0, *size)
        }
    };
    if size < info.min_size {
        return Err(mismatch(format!(
            "bindings[{index}] gives {} {size} bytes, at least {} are needed",
            title(info),
            info.min_size
        ))
        .with_fix("Bind a range of at least the binding's min_size."));
    }
    Ok(Planned {
        binding: index,
        offset,
        size,
    })
}

fn buffer_range(
    info: &BindingInfo,
    index: usize,
    held: u64,
    offset: u64,
    size: u64,
) -> Result<(u64, u64)> {
    if !offset.is_multiple_of(OFFSET_ALIGNMENT) {
        return Err(Error::new(
            Status::InvalidArgument,
            format!(
                "bindings[{index}].offset is {offset}, of {}; a multiple of {OFFSET_ALIGNMENT} was expected",
                title(info)
            ),
        ));
    }
    let rest = held.checked_sub(offset);
    match rest {
        Some(rest) if size <= rest => Ok((offset, if size == 0 { rest } else { size })),
        _ => Err(Error::new(
            Status::OutOfRange,
            format!(
                "bindings[{index}], of {}: offset {offset} + size {size} is outside the buffer's {held} bytes",
                title(info)
            ),
        )),
    }
}

/// Host bytes must fit the access, or results would go nowhere without a word.
fn check_host(
    info: &BindingInfo,
    index: usize,
    [input, output]: [Option<usize>; 2],
    size: u64,
) -> Result<()> {
    for (len, name) in [(input, "host_in"), (output, "host_out")] {
        if len.is_some_and(|len| len as u64 != size) {
            return Err(Error::new(
                Status::InvalidArgument,
                format!("bindings[{index}].{name} has {len:?} bytes but size is {size}"),
            ));
        }
    }
    let wrong = |what: &str, why: &str, fix: &str| {
        Err(mismatch(format!(
            "bindings[{index}].{what} for {}: {why}",
            title(info)
        ))
        .with_fix(fix))
    };
    match info.access {
        Access::ReadWrite if output.is_none() => wrong(
            "host_out is missing",
            "the program writes it, and the result would be lost",
            "Pass host_out: where the result goes. It may equal host_in.",
        ),
        Access::Read | Access::Uniform if output.is_some() => wrong(
            "host_out is given",
            "the program only reads it, and nothing would be written there",
            "Pass NULL as host_out, or declare the binding read_write.",
        ),
        Access::Read | Access::Uniform if input.is_none() => wrong(
            "host_in is missing",
            "the program only reads it",
            "Pass host_in: the bytes that the program reads.",
        ),
        _ => Ok(()),
    }
}

/// Addresses that a binding covers: [start, end).
struct Span {
    start: u64,
    end: u64,
    written: bool,
}

impl Span {
    fn new(start: u64, size: u64, written: bool) -> Span {
        Span {
            start,
            end: start.saturating_add(size),
            written,
        }
    }

    fn conflicts(&self, other: &Span) -> bool {
        (self.written || other.written) && self.start < other.end && other.start < self.end
    }
}

fn spans(info: &BindingInfo, given: &Binding<'_>, planned: &Planned) -> SmallVec<[Span; 2]> {
    match &given.source {
        BindingSource::Buffer { buffer, .. } => {
            let start = buffer.native_pointer().saturating_add(planned.offset);
            let written = info.access == Access::ReadWrite;
            smallvec![Span::new(start, planned.size, written)]
        }
        BindingSource::Host { input, output, .. } => {
            let input = input.map(|input| Span::new(input.as_ptr() as u64, planned.size, false));
            let output = output
                .as_ref()
                .map(|output| Span::new(output.address(), planned.size, true));
            input.into_iter().chain(output).collect()
        }
    }
}

fn check_overlap(
    declared: &[BindingInfo],
    bindings: &[Binding<'_>],
    planned: &[Planned],
) -> Result<()> {
    let mut seen: SmallVec<[(usize, Span); 16]> = SmallVec::new();
    for (at, (info, plan)) in declared.iter().zip(planned).enumerate() {
        let own = spans(info, &bindings[plan.binding], plan);
        for span in &own {
            if let Some((other, _)) = seen.iter().find(|(_, old)| old.conflicts(span)) {
                return Err(mismatch(format!(
                    "{} and {} share memory, and the program writes it",
                    title(&declared[*other]),
                    title(info)
                ))
                .with_fix("Bind ranges that don't overlap, or only ranges that the program does not write."));
            }
        }
        // A binding's own input and output may share memory: it is copied in before and out after.
        seen.extend(own.into_iter().map(|span| (at, span)));
    }
    Ok(())
}

#[cfg(test)]
#[path = "bind_tests.rs"]
mod tests;
