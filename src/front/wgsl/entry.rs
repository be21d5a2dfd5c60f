//! Choosing the entry point, and what it is given.

use naga::{Binding, BuiltIn, Module, ShaderStage};
use smallvec::smallvec;

use super::frame::Frame;
use super::lower::{Lower, clamp};
use super::value::{Components, Value};
use crate::error::{Error, Result, Status};
use crate::ir::{Axis, Builtin, Const, Expr, Operand, Scalar, Source, Span};

/// The index of the entry point that is asked for.
pub fn select(module: &Module, source: &Source, name: Option<&str>) -> Result<usize> {
    let entries = &module.entry_points;
    let compute: Vec<usize> = (0..entries.len())
        .filter(|&i| entries[i].stage == ShaderStage::Compute)
        .collect();
    let names = compute
        .iter()
        .map(|&i| format!("`{}`", entries[i].name))
        .collect::<Vec<_>>()
        .join(", ");
    let available = if compute.is_empty() {
        "the program has no compute entry point".to_string()
    } else {
        format!("the program has {names}")
    };
    let Some(name) = name else {
        return match compute[..] {
            [only] => Ok(only),
            [] => Err(source
                .error(Span::default(), &available)
                .with_fix("Add a function with @compute and @workgroup_size.")),
            _ => Err(source
                .error(
                    Span::default(),
                    &format!("no entry point was named, and {available}"),
                )
                .with_fix("Name the entry point to load.")),
        };
    };
    if let Some(&found) = compute.iter().find(|&&i| entries[i].name == name) {
        return Ok(found);
    }
    if let Some(other) = entries.iter().find(|e| e.name == name) {
        let span = declaration_span(source, &other.name);
        let what = format!(
            "`{name}` is a {} entry point: only compute entry points are supported",
            stage_name(other.stage)
        );
        return Err(source.error_as(Status::Unsupported, span, &what));
    }
    let what = format!("there is no entry point `{name}`: {available}");
    Err(source
        .error(Span::default(), &what)
        .with_fix("Correct the entry point's name."))
}

fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        ShaderStage::Task => "task",
        ShaderStage::Mesh => "mesh",
        ShaderStage::Compute => "compute",
        _ => "ray tracing",
    }
}

/// Where a function's name stands in its declaration; naga keeps no span of entry points.
pub fn declaration_span(source: &Source, name: &str) -> Span {
    let text = source.text();
    for (at, _) in text.match_indices(name) {
        let before = text[..at].trim_end();
        let after = text[at + name.len()..].trim_start();
        if before.ends_with("fn") && after.starts_with('(') {
            return clamp(source, (at..at + name.len()).into());
        }
    }
    Span::default()
}

/// No dimension may be zero.
pub fn workgroup_size(source: &Source, entry: &naga::EntryPoint) -> Result<[u32; 3]> {
    let size = entry.workgroup_size;
    if size.contains(&0) {
        let what = format!("the workgroup size of `{}` is {size:?}", entry.name);
        return Err(source
            .error(declaration_span(source, &entry.name), &what)
            .with_fix("Make each dimension at least 1."));
    }
    Ok(size)
}

impl<'a> Lower<'a> {
    /// What the launch gives the entry point's parameters.
    pub fn inputs(&mut self, frame: &mut Frame<'a>) -> Result<()> {
        let function = frame.function;
        for argument in &function.arguments {
            let value = match &argument.binding {
                Some(binding) => self.input(binding)?,
                None => {
                    let naga::TypeInner::Struct { members, .. } =
                        &self.module.types[argument.ty].inner
                    else {
                        return Err(self.internal(Span::default(), "a parameter without binding"));
                    };
                    let mut parts = Components::new();
                    for member in members {
                        let Some(binding) = &member.binding else {
                            return Err(self.internal(Span::default(), "a member without binding"));
                        };
                        parts.extend(self.input(binding)?);
                    }
                    parts
                }
            };
            frame.arguments.push(Value::Scalars(value));
        }
        Ok(())
    }

    fn input(&mut self, binding: &Binding) -> Result<Components> {
        let Binding::BuiltIn(builtin) = binding else {
            return Err(self.unsupported(
                Span::default(),
                "compute entry points have no inputs at locations",
            ));
        };
        Ok(match builtin {
            BuiltIn::GlobalInvocationId => self.vector(Builtin::GlobalInvocationId),
            BuiltIn::LocalInvocationId => self.vector(Builtin::LocalInvocationId),
            BuiltIn::WorkGroupId => self.vector(Builtin::WorkgroupId),
            BuiltIn::NumWorkGroups => self.vector(Builtin::NumWorkgroups),
            BuiltIn::WorkGroupSize => self
                .b
                .workgroup_size
                .iter()
                .map(|&n| Const::u32(n).into())
                .collect(),
            BuiltIn::LocalInvocationIndex => smallvec![self.builtin(Builtin::LocalInvocationIndex)],
            BuiltIn::SubgroupSize => smallvec![self.builtin(Builtin::SubgroupSize)],
            BuiltIn::SubgroupInvocationId => smallvec![self.builtin(Builtin::SubgroupInvocationId)],
            BuiltIn::SubgroupId => smallvec![self.builtin(Builtin::SubgroupId)],
            BuiltIn::NumSubgroups => smallvec![self.builtin(Builtin::NumSubgroups)],
            other => {
                let what = format!("the builtin {other:?} is not one of compute entry points");
                return Err(self.unsupported(Span::default(), &what));
            }
        })
    }

    fn vector(&mut self, builtin: fn(Axis) -> Builtin) -> Components {
        Axis::ALL
            .iter()
            .map(|&axis| self.builtin(builtin(axis)))
            .collect()
    }

    fn builtin(&mut self, builtin: Builtin) -> Operand {
        // An axis of one invocation has one index.
        if let Builtin::LocalInvocationId(axis) = builtin
            && self.b.workgroup_size[axis.index()] == 1
        {
            return Const::u32(0).into();
        }
        self.b.emit(Scalar::U32, Expr::Builtin(builtin))
    }
}

/// The fault of a program whose lowering panicked.
pub fn panicked(payload: &(dyn std::any::Any + Send)) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_string());
    Error::new(Status::Internal, format!("the front end panicked: {text}"))
}
