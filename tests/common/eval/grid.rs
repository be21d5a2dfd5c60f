//! All invocations of a launch, from barrier to barrier.

use super::EvalError;
use super::invocation::{Ids, Invocation, Stop};
use super::memory::Shared;
use vyre::ir::{BarrierId, Program, Scope};

/// Where a workgroup stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    AtGridBarrier(BarrierId),
    Done,
}

struct Workgroup<'p> {
    memory: Vec<Vec<u8>>,
    invocations: Vec<Invocation<'p>>,
}

/// Runs a program over a grid. Each buffer has the bytes of its bound range.
pub fn run(
    program: &Program,
    workgroups: [u32; 3],
    buffers: &mut [Vec<u8>],
    immediates: &[u8],
) -> Result<(), EvalError> {
    let mut groups = start(program, workgroups);
    loop {
        let mut places = Vec::new();
        for group in &mut groups {
            places.push(phase(program, group, buffers, immediates)?);
        }
        let Some(&first) = places.first() else {
            return Ok(());
        };
        if let Some(other) = places.iter().position(|&place| place != first) {
            return Err(EvalError::Disagreement(format!(
                "workgroup 0 is at {first:?}, workgroup {other} at {:?}",
                places[other]
            )));
        }
        if first == Place::Done {
            return Ok(());
        }
    }
}

fn start(program: &Program, workgroups: [u32; 3]) -> Vec<Workgroup<'_>> {
    let mut groups = Vec::new();
    for workgroup in coordinates(workgroups) {
        let invocations = coordinates(program.workgroup_size)
            .enumerate()
            .map(|(index, local)| {
                let ids = Ids {
                    workgroups,
                    workgroup,
                    local,
                    index: index as u32,
                };
                Invocation::new(program, ids)
            })
            .collect();
        let memory = (program.workgroup.iter())
            .map(|m| vec![0; m.size as usize])
            .collect();
        groups.push(Workgroup {
            memory,
            invocations,
        });
    }
    groups
}

/// All places of a box, x fastest.
fn coordinates(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let [x, y, z] = size;
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
}

/// Runs a workgroup to its next grid barrier or its end.
fn phase(
    program: &Program,
    group: &mut Workgroup<'_>,
    buffers: &mut [Vec<u8>],
    immediates: &[u8],
) -> Result<Place, EvalError> {
    loop {
        let mut stops = Vec::new();
        for invocation in &mut group.invocations {
            let mut shared = Shared {
                program,
                buffers,
                workgroup: &mut group.memory,
                immediates,
            };
            stops.push(invocation.resume(&mut shared)?);
        }
        let first = stops[0];
        if let Some(other) = stops.iter().position(|&stop| stop != first) {
            return Err(EvalError::Disagreement(format!(
                "invocation 0 is at {first:?}, invocation {other} at {:?}",
                stops[other]
            )));
        }
        match first {
            Stop::Done => return Ok(Place::Done),
            Stop::Barrier(id) => match program.barriers[id.index()].scope {
                Scope::Grid => return Ok(Place::AtGridBarrier(id)),
                Scope::Workgroup => {}
            },
        }
    }
}
