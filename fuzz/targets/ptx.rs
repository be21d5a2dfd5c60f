//! Any bytes as a PTX module with a description of its parameters, held against each other as a load does, without a driver.
//!
//! The first byte says how many parameters are described and how; as many bytes follow, and the text is the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vyre::backend::{Format, ProgramDesc, PtxParameter};
use vyre::error::Status;
use vyre::program::Access;

fn parameter(byte: u8) -> PtxParameter {
    let access = match byte >> 2 & 3 {
        0 => Access::Read,
        1 => Access::Uniform,
        _ => Access::ReadWrite,
    };
    let (group, binding) = (u32::from(byte >> 7), u32::from(byte >> 4 & 7));
    match byte & 3 {
        0 => PtxParameter::Immediates,
        1 => PtxParameter::Size {
            group,
            binding,
            access,
        },
        _ => PtxParameter::Address {
            group,
            binding,
            access,
        },
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&head, rest)) = data.split_first() else {
        return;
    };
    let count = usize::from(head & 15).min(rest.len());
    let (parameters, text) = rest.split_at(count);
    let desc = ProgramDesc {
        entry_point: (head & 16 != 0).then_some("main"),
        parameters: parameters.iter().map(|&byte| parameter(byte)).collect(),
        workgroup_size: [u32::from(head >> 5); 3],
        ..ProgramDesc::new(Format::Ptx, text)
    };
    if let Err(error) = vyre::cuda::check_ptx(&desc, 4096) {
        assert_ne!(error.status(), Status::Internal, "{error}");
    }
});
