//! All invocations of a launch, from barrier to barrier.

use super::invocation::{Ids, Invocation, Stop};
use super::memory::Shared;
use super::subgroup::{self, Part};
use super::{EvalError, SUBGROUP_SIZE};
use vyre::ir::{BarrierId, NodeKind, Program, Scope};

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
    let mut stops = vec![None; group.invocations.len()];
    loop {
        for (invocation, stop) in group.invocations.iter_mut().zip(&mut stops) {
            // The others wait.
            if stop.is_none() {
                let mut shared = Shared {
                    program,
                    buffers,
                    workgroup: &mut group.memory,
                    immediates,
                };
                *stop = Some(invocation.resume(&mut shared)?);
            }
        }
        let site = |stop: &Option<Stop>| match stop {
            Some(Stop::Barrier(id)) => {
                (program.barriers[id.index()].scope == Scope::Subgroup).then_some(*id)
            }
            _ => None,
        };
        if let Some(first) = stops.iter().filter_map(site).min() {
            let here = Some(Stop::Barrier(first));
            let subgroups = (group.invocations.chunks_mut(SUBGROUP_SIZE as usize))
                .zip(stops.chunks(SUBGROUP_SIZE as usize));
            for (subgroup, stops) in subgroups {
                exchange(program, subgroup, |lane| stops[lane] == here);
            }
            stops
                .iter_mut()
                .filter(|stop| **stop == here)
                .for_each(|stop| *stop = None);
            continue;
        }
        let first = stops[0];
        if let Some(other) = stops.iter().position(|&stop| stop != first) {
            return Err(EvalError::Disagreement(format!(
                "invocation 0 is at {first:?}, invocation {other} at {:?}",
                stops[other]
            )));
        }
        match first {
            None | Some(Stop::Done) => return Ok(Place::Done),
            Some(Stop::Barrier(id)) => match program.barriers[id.index()].scope {
                Scope::Grid => return Ok(Place::AtGridBarrier(id)),
                Scope::Workgroup | Scope::Subgroup => stops.fill(None),
            },
        }
    }
}

/// Gives those of a subgroup who stand at an operation their results.
fn exchange(program: &Program, subgroup: &mut [Invocation<'_>], is_here: impl Fn(usize) -> bool) {
    let here: Vec<usize> = (0..subgroup.len()).filter(|&lane| is_here(lane)).collect();
    let stopped_at = here.first().and_then(|&lane| subgroup[lane].stopped_at());
    let Some(NodeKind::Subgroup {
        op,
        operands,
        lane: named,
        results,
        ..
    }) = stopped_at
    else {
        return;
    };
    for (&operand, &result) in operands.iter().zip(results) {
        let part = |&lane: &usize| Part {
            lane: lane as u32,
            operand: subgroup[lane].operand(operand),
            named: named.map_or(0, |named| subgroup[lane].operand(named)),
        };
        let parts: Vec<Part> = here.iter().map(part).collect();
        let values = subgroup::results(*op, program.operand_type(operand), &parts);
        for (&lane, value) in here.iter().zip(values) {
            subgroup[lane].define(result, value);
        }
    }
}
