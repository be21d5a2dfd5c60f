//! A program as PTX with its interface: all that compiling finds out without the device. It is what the
//! cache on disk keeps.

use super::SUBGROUP_SIZE;
use super::ptx::{self, Ptx, Target};
use crate::backend::ProgramDesc;
use crate::error::Result;
use crate::front::Options;
use crate::ir::BufferDecl;
use crate::program::{self, Limits, Reflection};

#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// Without what the description and the device add: the label, and how many workgroups fit.
    pub reflection: Reflection,
    pub buffers: Vec<BufferDecl>,
    pub ptx: Ptx,
}

impl Emitted {
    pub fn of(desc: &ProgramDesc<'_>, limits: &Limits, target: Target) -> Result<Emitted> {
        let options = Options {
            entry_point: desc.entry_point,
            label: desc.label,
            overrides: &desc.overrides,
            unchecked: desc.flags.unchecked,
            subgroup_size: SUBGROUP_SIZE,
        };
        program::on_a_large_stack(|| {
            let trust = desc.flags.trust_uniformity;
            let checked = program::build(desc.code, &options, trust, limits)?;
            let ptx = ptx::emit(&checked.program, &checked.uniformity, target)?;
            let mut reflection = Reflection::of(&checked.program, 0);
            reflection.label = None;
            Ok(Emitted {
                reflection,
                buffers: checked.program.buffers,
                ptx,
            })
        })
    }
}
