//! A program as a module of the caller's: what stands around the kernel under the module-scope contract.

use std::fmt::Write;

use super::SharedMemory;
use crate::error::{Error, Result, Status};
use crate::ir::{Body, NodeKind, Program, Scope, Span};

/// The counter counts on to the number of barriers in the text times the workgroups, so each barrier in the
/// text may be passed once.
pub fn check(program: &Program) -> Result<()> {
    let Some(span) = barrier_in_a_loop(program, &program.body, false) else {
        return Ok(());
    };
    let message = "this gridBarrier() stands in a loop that is not unrolled: under the module-scope contract each is passed at most once";
    let error: Error = (program.source).error_as(Status::Unsupported, span, message);
    Err(error.with_fix("Unroll the loop in the source, or dispatch the program itself, which may have barriers in loops."))
}

fn barrier_in_a_loop(program: &Program, body: &Body, in_loop: bool) -> Option<Span> {
    let find = |body: &Body, in_loop: bool| barrier_in_a_loop(program, body, in_loop);
    body.0.iter().find_map(|node| match &node.kind {
        NodeKind::Barrier(id) => {
            let is_grid = program.barriers[id.index()].scope == Scope::Grid;
            (in_loop && is_grid).then_some(node.span)
        }
        NodeKind::If { accept, reject, .. } => {
            find(accept, in_loop).or_else(|| find(reject, in_loop))
        }
        NodeKind::Block { body, .. } => find(body, in_loop),
        NodeKind::Loop {
            body, continuing, ..
        } => find(body, true).or_else(|| find(continuing, true)),
        NodeKind::Switch { cases, default, .. } => (cases.iter())
            .find_map(|case| find(&case.body, in_loop))
            .or_else(|| find(default, in_loop)),
        _ => None,
    })
}

/// An address and a size for each buffer, and the immediates if there are any.
pub fn parameters(program: &Program) -> String {
    let mut list: Vec<String> = (0..program.buffers.len())
        .flat_map(|i| {
            [
                format!(".param .u64 vyre_address_{i}"),
                format!(".param .u64 vyre_size_{i}"),
            ]
        })
        .collect();
    if program.immediates_size > 0 {
        let size = program.immediates_size;
        list.push(format!(".param .align 16 .b8 vyre_immediates[{size}]"));
    }
    match list.is_empty() {
        true => String::new(),
        false => format!("\n\t{}\n", list.join(",\n\t")),
    }
}

/// How to describe the kernel's parameters, and the words that the workgroups share.
pub fn declarations(program: &Program, shared: SharedMemory) -> String {
    let mut text = String::from("// Parameters, in order:\n");
    for (i, buffer) in program.buffers.iter().enumerate() {
        let _ = writeln!(
            text,
            "//   vyre_address_{i}, vyre_size_{i}: address and size in bytes of group {}, binding {}",
            buffer.group, buffer.binding,
        );
    }
    if program.immediates_size > 0 {
        text.push_str("//   vyre_immediates: the immediates\n");
    }
    if shared.dynamic > 0 {
        let _ = writeln!(
            text,
            "// Workgroup memory to ask for: {} bytes",
            shared.dynamic
        );
    }
    if program.has_grid_barrier() {
        text.push_str(
            "// Zeroed before each launch. The first counts arrivals; the second, if it is not zero, tells who waits to leave.\n\
             .visible .global .align 128 .u32 _vyre_grid_barrier;\n\
             .visible .global .align 128 .u32 _vyre_grid_abort;\n",
        );
    }
    text.push('\n');
    text
}
