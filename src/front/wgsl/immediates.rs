//! Immediates that naga has no bits for.
//!
//! naga's validator notes in 64 bits which words of immediates a function reads, and overflows on those beyond. So
//! larger ones pass it by as what they are like, buffers that are only read, and lowering makes immediates of them
//! again.

use std::collections::HashSet;

use naga::{AddressSpace, Module, ResourceBinding, StorageAccess};

/// Bytes of the words that naga notes.
const NOTED: u32 = 64 * 4;

/// Makes buffers of `module`'s large immediates; their names.
pub fn disguise(module: &mut Module) -> HashSet<String> {
    let mut names = HashSet::new();
    let large: Vec<_> = (module.global_variables.iter())
        .filter(|(_, variable)| {
            let inner = &module.types[variable.ty].inner;
            variable.space == AddressSpace::Immediate
                // Refused as they stand.
                && !inner.is_dynamically_sized(&module.types)
                && inner.size(module.to_ctx()) > NOTED
        })
        .map(|(handle, _)| handle)
        .collect();
    for handle in large {
        // The binding means nothing, but must be no one else's.
        let group = free_group(module);
        let variable = &mut module.global_variables[handle];
        variable.space = AddressSpace::Storage {
            access: StorageAccess::LOAD,
        };
        variable.binding = Some(ResourceBinding { group, binding: 0 });
        names.extend(variable.name.clone());
    }
    names
}

fn free_group(module: &Module) -> u32 {
    let variables = module.global_variables.iter();
    let used: HashSet<u32> = variables
        .filter_map(|(_, variable)| Some(variable.binding.as_ref()?.group))
        .collect();
    let mut groups = (0..=u32::MAX).rev();
    let free = groups.find(|group| !used.contains(group));
    free.expect("a text has fewer variables than there are numbers")
}
