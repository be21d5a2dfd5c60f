//! A program as PTX with its interface: all that compiling finds out without the device. It is what the
//! cache on disk keeps.

use super::SUBGROUP_SIZE;
use super::ptx::{self, Ptx, Target};
use crate::backend::{Format, ProgramDesc, ProgramFlags};
use crate::error::Result;
use crate::front::Options;
use crate::ir::BufferDecl;
use crate::program::{self, Checked, Limits, Reflection};

#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// Without what the description and the device add: the label, and how many workgroups fit.
    pub reflection: Reflection,
    pub buffers: Vec<BufferDecl>,
    pub ptx: Ptx,
}

impl Emitted {
    pub fn of(desc: &ProgramDesc<'_>, limits: &Limits, target: Target) -> Result<Emitted> {
        program::on_a_large_stack(|| {
            let Checked {
                program,
                uniformity,
            } = checked(desc, limits)?;
            let ptx = ptx::emit(&program, &uniformity, target, desc.flags.fast_math)?;
            let mut reflection = Reflection::of(&program, 0);
            reflection.label = None;
            Ok(Emitted {
                reflection,
                buffers: program.buffers,
                ptx,
            })
        })
    }
}

fn checked(desc: &ProgramDesc<'_>, limits: &Limits) -> Result<Checked> {
    let options = Options {
        entry_point: desc.entry_point,
        label: desc.label,
        overrides: &desc.overrides,
        unchecked: desc.flags.unchecked,
        subgroup_size: SUBGROUP_SIZE,
    };
    program::build(desc.code, &options, desc.flags.trust_uniformity, limits)
}

/// What a program was compiled from, to compile it once more for another contract.
pub struct Source {
    code: Box<[u8]>,
    entry_point: Option<Box<str>>,
    label: Option<Box<str>>,
    flags: ProgramFlags,
    overrides: Vec<(Box<str>, f64)>,
}

impl Source {
    pub fn of(desc: &ProgramDesc<'_>) -> Source {
        let owned = |&(name, value): &(&str, f64)| (name.into(), value);
        Source {
            code: desc.code.into(),
            entry_point: desc.entry_point.map(Into::into),
            label: desc.label.map(Into::into),
            flags: desc.flags,
            overrides: desc.overrides.iter().map(owned).collect(),
        }
    }

    /// The program as text under the module-scope contract.
    pub fn export(&self, limits: &Limits, target: Target) -> Result<String> {
        let desc = ProgramDesc {
            entry_point: self.entry_point.as_deref(),
            label: self.label.as_deref(),
            flags: self.flags,
            overrides: (self.overrides.iter())
                .map(|(name, value)| (&**name, *value))
                .collect(),
            ..ProgramDesc::new(Format::Wgsl, &self.code)
        };
        program::on_a_large_stack(|| {
            let checked = checked(&desc, limits)?;
            ptx::export(
                &checked.program,
                &checked.uniformity,
                target,
                self.flags.fast_math,
            )
        })
    }
}
