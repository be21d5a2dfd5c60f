//! What lowering one entry point keeps.

use std::collections::{HashMap, HashSet};

use naga::valid::ModuleInfo;
use naga::{Expression, GlobalVariable, Handle, Module};

use super::entry;
use super::frame::{Exit, Frame};
use super::indexed::Indexed;
use super::layout::Alignments;
use super::pointer::Pointer;
use super::texture::Texture;
use super::types::{Ty, Types};
use super::value::Value;
use crate::error::{Error, Result, Status};
use crate::front::build::Builder;
use crate::front::{Options, flatten, prune, renumber};
use crate::ir::{
    BufferAccess, BufferDecl, BufferId, LocalId, MemoryId, NodeKind, Program, Source, Span,
};

/// Values of more scalars than this stay in memory and are copied in loops.
pub const BIG: u64 = 64;

pub struct Lower<'a> {
    pub module: &'a Module,
    pub info: &'a ModuleInfo,
    /// The user's text.
    pub source: &'a Source,
    pub types: Types,
    pub b: Builder,
    pub unchecked: bool,
    pub indexed: Indexed,
    pub buffers: Vec<BufferDecl>,
    pub immediates_size: u32,
    pub globals: HashMap<Handle<GlobalVariable>, Pointer>,
    pub textures: HashMap<BufferId, Texture>,
    /// Names of the module's buffers that are immediates.
    pub immediates: &'a HashSet<String>,
    /// Constant tables by their bytes.
    pub tables: HashMap<Vec<u8>, MemoryId>,
    /// Module-scope constant expressions that have been lowered.
    pub constants: HashMap<Handle<Expression>, Value>,
    /// Private arrays of calls that have ended, to be used again.
    pub free: Vec<MemoryId>,
    /// Calls that are being inlined.
    pub depth: u32,
}

impl<'a> Lower<'a> {
    pub fn span(&self, span: naga::Span) -> Span {
        clamp(self.source, span)
    }

    pub fn invalid(&self, span: Span, what: &str) -> Error {
        self.source.error(span, what)
    }

    pub fn unsupported(&self, span: Span, what: &str) -> Error {
        self.source.error_as(Status::Unsupported, span, what)
    }

    /// For what naga's validation excludes.
    pub fn internal(&self, span: Span, what: &str) -> Error {
        self.source.error_as(
            Status::Internal,
            span,
            &format!("the front end was surprised by {what}"),
        )
    }

    /// An error once the program has grown past every bound.
    pub fn check_budget(&self) -> Result<()> {
        let span = self.b.statement();
        if self.b.is_too_deep() {
            let what = "the program is nested too deeply when its calls are inlined";
            return Err(self
                .invalid(span, what)
                .with_fix("Nest calls and blocks less."));
        }
        if !self.b.is_exhausted() {
            return Ok(());
        }
        Err(self
            .invalid(
                span,
                "the program grows too large when its calls are inlined",
            )
            .with_fix("Call functions from fewer places, or put repeated calls into a loop."))
    }

    pub fn is_read_only(&self, buffer: BufferId) -> bool {
        self.buffers[buffer.index()].access == BufferAccess::Read
    }

    pub fn local_set(&mut self, ty: &Ty, name: &str) -> Pointer {
        let locals: Vec<LocalId> = ty
            .leaves()
            .iter()
            .map(|&(_, scalar)| self.b.local(scalar, name))
            .collect();
        Pointer::locals(locals.into(), ty.clone())
    }
}

/// A span within the user's text: what was appended to it counts as its end.
pub fn clamp(source: &Source, span: naga::Span) -> Span {
    let Some(range) = span.to_range() else {
        return Span::default();
    };
    let end = source.text().len();
    let at = |i: usize| u32::try_from(i.min(end)).unwrap_or(u32::MAX);
    Span::new(at(range.start), at(range.end))
}

/// Bytes of all private arrays of one invocation: with the many invocations of a workgroup this
/// has to fit into memory.
const LARGEST_PRIVATE: u64 = 1 << 20;

/// Lowers an entry point of a valid module without overrides.
pub fn lower(
    source: &Source,
    options: &Options<'_>,
    (module, info): (&Module, &ModuleInfo),
    (alignments, immediates): (&Alignments, &HashSet<String>),
    entry: usize,
) -> Result<Program> {
    let entry_point = &module.entry_points[entry];
    let workgroup_size = entry::workgroup_size(source, entry_point)?;
    let types =
        Types::new(module, alignments).map_err(|why| source.error(Span::default(), &why))?;
    let mut lower = Lower {
        module,
        info,
        source,
        types,
        b: Builder::new(workgroup_size),
        unchecked: options.unchecked,
        indexed: Indexed::new(module, info, entry),
        buffers: Vec::new(),
        immediates_size: 0,
        globals: HashMap::new(),
        textures: HashMap::new(),
        immediates,
        tables: HashMap::new(),
        constants: HashMap::new(),
        free: Vec::new(),
        depth: 0,
    };
    let entry_info = info.get_entry_point(entry);
    let mut frame = Frame::new(&entry_point.function, entry_info, None, Exit::Entry);
    lower.declare_globals(&entry_point.function)?;
    lower.inputs(&mut frame)?;
    lower.function(&mut frame)?;
    lower.check_private()?;
    let mut program = Program {
        source: source.clone(),
        entry_point: entry_point.name.clone(),
        workgroup_size,
        buffers: lower.buffers,
        workgroup: lower.b.workgroup.split_off(0),
        private: lower.b.private.split_off(0),
        constants: lower.b.constants.split_off(0),
        immediates_size: lower.immediates_size,
        body: lower.b.finish(),
        values: lower.b.values,
        locals: lower.b.locals,
        barriers: lower.b.barriers,
    };
    // naga ends every function with a `return`.
    if matches!(program.body.0.last(), Some(node) if node.kind == NodeKind::Return) {
        program.body.0.pop();
    }
    flatten::flatten(&mut program);
    prune::prune(&mut program);
    renumber::renumber(&mut program);
    Ok(program)
}

impl Lower<'_> {
    fn check_private(&self) -> Result<()> {
        let total = self
            .b
            .private
            .iter()
            .fold(0u64, |sum, memory| sum.saturating_add(memory.size));
        if total <= LARGEST_PRIVATE {
            return Ok(());
        }
        let largest = self
            .b
            .private
            .iter()
            .max_by_key(|m| (m.size, m.span.is_known()));
        let span = largest.map_or(Span::default(), |memory| memory.span);
        let what = format!(
            "the arrays of one invocation take {total} bytes, more than the {LARGEST_PRIVATE} that are allowed"
        );
        Err(self
            .invalid(span, &what)
            .with_fix("Make the arrays of functions and private variables smaller, or keep them in a storage buffer."))
    }
}
