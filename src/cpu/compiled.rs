//! A program ready to run: machine code and what a dispatch has to know about it.

use crate::backend::{ProgramDesc, Retained};
use crate::cpu::emit::{self, Code};
use crate::cpu::frame::Frame;
use crate::cpu::subgroup::{self, Collective};
use crate::error::{Error, Result, Status};
use crate::front::Options;
use crate::ir::phases::Phases;
use crate::ir::{Barrier, BufferAccess, BufferDecl, BufferSpace, Program, Scope, Source};
use crate::program::{self, Checked, Limits, Reflection};

pub struct Compiled {
    pub reflection: Reflection,
    pub code: Code,
    pub frame: Frame,
    pub buffers: Vec<BufferDecl>,
    barriers: Vec<Barrier>,
    /// By barrier id.
    collectives: Vec<Option<Collective>>,
    source: Source,
}

impl Compiled {
    pub fn of(desc: &ProgramDesc<'_>, limits: &Limits) -> Result<Compiled> {
        program::on_a_large_stack(|| Compiled::compile(desc, limits))
    }

    fn compile(desc: &ProgramDesc<'_>, limits: &Limits) -> Result<Compiled> {
        let options = Options {
            entry_point: desc.entry_point,
            label: desc.label,
            overrides: &desc.overrides,
            unchecked: desc.flags.unchecked,
            subgroup_size: super::SUBGROUP_SIZE,
        };
        Compiled::from_checked(program::build(
            desc.code,
            &options,
            desc.flags.trust_uniformity,
            limits,
        )?)
    }

    fn from_checked(checked: Checked) -> Result<Compiled> {
        let program = checked.program;
        let phases = Phases::of(&program, &checked.uniformity);
        check_size(&program, &phases)?;
        let frame = Frame::of(&program, &phases.slots);
        let code = emit::compile(&program, &phases, &frame)?;
        let collectives = subgroup::collectives(&program, &phases);
        Ok(Compiled {
            reflection: Reflection::of(&program, u64::MAX),
            code,
            frame,
            buffers: program.buffers,
            barriers: program.barriers,
            collectives,
            source: program.source,
        })
    }

    /// Whether the grid, and not only the workgroup, meets at this resume code.
    pub fn is_grid_barrier(&self, code: u32) -> bool {
        self.barrier(code)
            .is_some_and(|barrier| barrier.scope == Scope::Grid)
    }

    /// Whether subgroups meet at this resume code.
    pub fn is_for_subgroup(&self, code: u32) -> bool {
        self.barrier(code)
            .is_some_and(|barrier| barrier.scope == Scope::Subgroup)
    }

    /// What they exchange there.
    pub fn collective(&self, code: u32) -> Option<Collective> {
        let index = code.checked_sub(1)?;
        self.collectives.get(index as usize).copied().flatten()
    }

    fn barrier(&self, code: u32) -> Option<Barrier> {
        let index = code.checked_sub(1)?;
        self.barriers.get(index as usize).copied()
    }

    /// Where a resume code is, in words.
    pub fn place(&self, code: u32) -> String {
        match self.barrier(code) {
            None => "the end of the program".into(),
            Some(barrier) => {
                let name = match barrier.scope {
                    Scope::Grid => "the gridBarrier()",
                    Scope::Workgroup => "the workgroup barrier",
                    Scope::Subgroup => "the subgroup operation",
                };
                match self.source.position(barrier.span) {
                    Some(at) => format!("{name} at {}:{}", at.line, at.column),
                    None => name.into(),
                }
            }
        }
    }

    /// An error that points at the first of these resume codes that is a barrier.
    pub fn error_at(&self, status: Status, codes: [u32; 2], what: &str) -> Error {
        let span = codes
            .iter()
            .find_map(|&code| self.barrier(code))
            .map(|barrier| barrier.span)
            .unwrap_or_default();
        self.source.error_as(status, span, what)
    }

    pub fn is_written(buffer: &BufferDecl) -> bool {
        buffer.space == BufferSpace::Storage && buffer.access == BufferAccess::ReadWrite
    }
}

impl Retained for Compiled {
    fn size(&self) -> u64 {
        (self.code.size() + self.source.text().len()) as u64
    }
}

/// Most basic blocks that are emitted, all segments together: some seconds of work.
const MOST_BLOCKS: usize = 100_000;

/// Code that several barriers lead to is emitted behind each of them. Hundreds of barriers, each under a
/// condition of its own, lead to each other in any combination.
fn check_size(program: &Program, phases: &Phases<'_>) -> Result<()> {
    let blocks: usize = (phases.segments.iter().flatten())
        .map(|segment| segment.blocks.len())
        .sum();
    if blocks <= MOST_BLOCKS {
        return Ok(());
    }
    Err(Error::new(
        Status::InvalidProgram,
        format!(
            "entry point `{}`: its {} barrier sites (subgroup operations count) cut it into {blocks} basic blocks, more than {MOST_BLOCKS}; \
             what several conditional barriers lead to counts behind each of them",
            program.entry_point,
            program.barriers.len(),
        ),
    )
    .with_fix("Put the barriers into a loop, or more of them outside of conditions, or split the program."))
}
