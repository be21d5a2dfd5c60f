//! What a dispatch needs, checked once, for any backend.
use crate::backend::{BackendInfo, Binding, BindingSource, Buffer};
use crate::error::Result;
use crate::program::Reflection;
pub struct Planned {
    pub binding: usize,
    pub offset: u64,
    pub size: u64,
}
pub struct LaunchPlan {
    pub workgroups: [u32; 3],
    pub total: u64,
}
pub fn bind(r: &Reflection, b: &[Binding<'_>]) -> Result<smallvec::SmallVec<[Planned; 8]>> {
    Ok(r.bindings
        .iter()
        .map(|i| {
            let n = b
                .iter()
                .position(|x| x.group == i.group && x.binding == i.binding)
                .unwrap();
            match &b[n].source {
                BindingSource::Buffer {
                    buffer,
                    offset,
                    size,
                } => Planned {
                    binding: n,
                    offset: *offset,
                    size: if *size == 0 {
                        buffer.size() - offset
                    } else {
                        *size
                    },
                },
                BindingSource::Host { size, .. } => Planned {
                    binding: n,
                    offset: 0,
                    size: *size,
                },
            }
        })
        .collect())
}
pub fn launch(_r: &Reflection, i: &BackendInfo, w: [u32; 3], _im: &[u8]) -> Result<LaunchPlan> {
    let w = if w == [0; 3] { [i.units, 1, 1] } else { w };
    Ok(LaunchPlan {
        workgroups: w,
        total: w.iter().map(|&x| u64::from(x)).product(),
    })
}
