//! What a kernel's parameters are given, held against what the kernel takes.

use super::scan::Parameter;
use crate::backend::PtxParameter;
use crate::error::{Error, Result, Status};
use crate::program::{Access, BindingInfo};

/// What one parameter is given; bindings by their index in the reflection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    Address(usize),
    Size(usize),
    Immediates,
}

/// A kernel's interface as its caller describes it.
#[derive(Debug)]
pub struct Interface {
    pub passed: Vec<Passed>,
    pub bindings: Vec<BindingInfo>,
    pub immediates_size: u32,
}

/// `taken`: the kernel's own parameters.
pub fn interface(
    kernel: &str,
    described: &[PtxParameter],
    taken: &[Parameter],
    most_immediates: u32,
) -> Result<Interface> {
    let refuse = |message: String| Error::new(Status::InvalidArgument, message);
    if described.len() != taken.len() {
        return Err(refuse(format!(
            "`{kernel}` takes {} parameters, but desc->parameter_count is {}",
            taken.len(),
            described.len()
        ))
        .with_fix("Describe each of the kernel's parameters, in its order."));
    }
    let mut bindings = Vec::<BindingInfo>::new();
    let mut immediates_size = None;
    for (index, (parameter, own)) in described.iter().zip(taken).enumerate() {
        let what = format!("desc->parameters[{index}] (`{}` of `{kernel}`)", own.name);
        match *parameter {
            PtxParameter::Address {
                group,
                binding,
                access,
            }
            | PtxParameter::Size {
                group,
                binding,
                access,
            } => {
                if own.size.is_some_and(|size| size != 8) {
                    return Err(refuse(format!(
                        "{what} is 8 bytes, an address or a size, but the kernel takes {} there",
                        own.size.unwrap_or_default()
                    )));
                }
                add(&mut bindings, group, binding, access, parameter, own).map_err(|other| {
                    refuse(format!(
                        "{what} says {access:?} of group {group}, binding {binding}, but another parameter says {other:?}"
                    ))
                    .with_fix("Give all parameters of one binding the same access.")
                })?;
            }
            PtxParameter::Immediates => {
                if immediates_size.is_some() {
                    return Err(refuse(format!("{what}: the immediates are passed twice"))
                        .with_fix("Pass all immediates as one parameter: a structure."));
                }
                let size = own.size.ok_or_else(|| {
                    refuse(format!(
                        "{what}: the size of this parameter's type is not known"
                    ))
                })?;
                let fits = |size: &u32| *size <= most_immediates;
                let size = u32::try_from(size).ok().filter(fits).ok_or_else(|| {
                    refuse(format!(
                        "{what} is {size} bytes of immediates; at most {most_immediates} are possible"
                    ))
                })?;
                immediates_size = Some(size);
            }
        }
    }
    bindings.sort_by_key(|info| (info.group, info.binding));
    let place = |group: u32, binding: u32| {
        (bindings
            .iter()
            .position(|info| (info.group, info.binding) == (group, binding)))
        .expect("each was added")
    };
    let passed = described.iter().map(|parameter| match *parameter {
        PtxParameter::Address { group, binding, .. } => Passed::Address(place(group, binding)),
        PtxParameter::Size { group, binding, .. } => Passed::Size(place(group, binding)),
        PtxParameter::Immediates => Passed::Immediates,
    });
    Ok(Interface {
        passed: passed.collect(),
        immediates_size: immediates_size.unwrap_or(0),
        bindings,
    })
}

/// Adds the binding unless it is there; the access that was told before if it is another one.
fn add(
    bindings: &mut Vec<BindingInfo>,
    group: u32,
    binding: u32,
    access: Access,
    parameter: &PtxParameter,
    own: &Parameter,
) -> Result<(), Access> {
    let is_address = matches!(parameter, PtxParameter::Address { .. });
    let known = (bindings.iter_mut()).find(|info| (info.group, info.binding) == (group, binding));
    match known {
        Some(info) if info.access != access => return Err(info.access),
        Some(info) if is_address => info.name.clone_from(&own.name),
        Some(_) => {}
        None => bindings.push(BindingInfo {
            group,
            binding,
            name: own.name.clone(),
            access,
            // What the kernel takes it for is not known.
            element_size: 1,
            min_size: 1,
            runtime_sized: true,
        }),
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn own(sizes: &[u64]) -> Vec<Parameter> {
        (sizes.iter().enumerate())
            .map(|(n, &size)| Parameter {
                name: format!("p{n}"),
                size: Some(size),
            })
            .collect()
    }

    const OUT: PtxParameter = PtxParameter::Address {
        group: 0,
        binding: 1,
        access: Access::ReadWrite,
    };
    const IN: PtxParameter = PtxParameter::Address {
        group: 0,
        binding: 0,
        access: Access::Read,
    };
    const SIZE: PtxParameter = PtxParameter::Size {
        group: 0,
        binding: 1,
        access: Access::ReadWrite,
    };

    #[test]
    fn parameters_point_to_sorted_bindings() {
        let described = [SIZE, OUT, PtxParameter::Immediates, IN];
        let found = interface("main", &described, &own(&[8, 8, 12, 8]), 2048).unwrap();
        let expected = [
            Passed::Size(1),
            Passed::Address(1),
            Passed::Immediates,
            Passed::Address(0),
        ];
        assert_eq!(found.passed, expected);
        assert_eq!(found.immediates_size, 12);
        let names: Vec<_> = found
            .bindings
            .iter()
            .map(|b| (&b.name[..], b.access))
            .collect();
        assert_eq!(names, [("p3", Access::Read), ("p1", Access::ReadWrite)]);
    }

    #[test]
    fn what_does_not_fit_the_kernel_is_refused_by_name() {
        let refused = |described: &[PtxParameter], sizes: &[u64]| {
            let error = interface("main", described, &own(sizes), 2048).unwrap_err();
            assert_eq!(error.status(), Status::InvalidArgument);
            error.message().to_owned()
        };
        assert!(
            refused(&[IN], &[8, 8]).contains("takes 2 parameters, but desc->parameter_count is 1")
        );
        assert!(refused(&[IN, OUT], &[8, 4]).contains("desc->parameters[1] (`p1` of `main`)"));
        assert!(refused(&[PtxParameter::Immediates; 2], &[8, 8]).contains("twice"));
        assert!(refused(&[PtxParameter::Immediates], &[4096]).contains("at most 2048"));
        let other = PtxParameter::Size {
            group: 0,
            binding: 1,
            access: Access::Read,
        };
        assert!(refused(&[OUT, other], &[8, 8]).contains("group 0, binding 1"));
    }
}
