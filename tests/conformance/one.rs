//! Runs one vector.

use std::sync::Arc;
use std::time::{Duration, Instant};

use vyre::backend::{Backend, Binding, BindingSource, Dispatch, Format, ProgramDesc};
use vyre::cuda::ptx::{self, Target};
use vyre::front::Options;
use vyre::ir::uniformity;

use super::vectors::Vector;

pub enum Outcome {
    Passed,
    /// It did not load: the message.
    Refused(String),
    Failed(String),
}

/// How long loading took; only of programs that load.
#[derive(Clone, Copy)]
pub struct Times {
    /// On the backend under test.
    pub load: Duration,
    /// From IR to PTX.
    pub emission: Duration,
    /// From text to PTX.
    pub to_ptx: Duration,
}

const TARGET: Target = Target {
    sm: 90,
    ptx_version: (8, 0),
};

/// Loads, dispatches and compares; the failure says what was seen.
pub fn run(backend: &Arc<dyn Backend>, vector: &Vector) -> (Outcome, Option<Times>) {
    let overrides: Vec<(&str, f64)> = vector
        .overrides
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let start = Instant::now();
    let program = Arc::clone(backend).load(&ProgramDesc {
        entry_point: vector.entry.as_deref(),
        overrides: overrides.clone(),
        ..ProgramDesc::new(Format::Wgsl, vector.source.as_bytes())
    });
    let load = start.elapsed();
    let program = match program {
        Ok(program) => program,
        Err(error) => return (Outcome::Refused(error.message().to_string()), None),
    };
    let mut times = None;
    let outcome = emit(vector, &overrides)
        .map(|(emission, to_ptx)| {
            times = Some(Times {
                load,
                emission,
                to_ptx,
            })
        })
        .and_then(|()| dispatch(backend, &program, vector));
    let outcome = outcome.map_or_else(Outcome::Failed, |()| Outcome::Passed);
    (outcome, times)
}

/// Every program becomes PTX too, whatever the backend: how long the emission and the whole took.
fn emit(vector: &Vector, overrides: &[(&str, f64)]) -> Result<(Duration, Duration), String> {
    let options = Options {
        entry_point: vector.entry.as_deref(),
        overrides,
        subgroup_size: 32,
        ..Options::default()
    };
    let start = Instant::now();
    let program = vyre::front::wgsl::compile(&vector.source, &options)
        .map_err(|error| format!("PTX: {}", error.message()))?;
    let uniformity = uniformity::analyse(&program);
    let lowered = start.elapsed();
    ptx::emit(&program, &uniformity, TARGET, false)
        .map_err(|error| format!("PTX: {}", error.message()))?;
    let whole = start.elapsed();
    Ok((whole - lowered, whole))
}

fn dispatch(
    backend: &Arc<dyn Backend>,
    program: &Arc<dyn vyre::backend::Program>,
    vector: &Vector,
) -> Result<(), String> {
    let mut expected = Vec::new();
    let mut bindings = Vec::new();
    for recorded in &vector.buffers {
        let place = (recorded.group, recorded.binding);
        // A vector may list what the program does not use.
        let known = &program.reflection().bindings;
        if !known.iter().any(|info| (info.group, info.binding) == place) {
            continue;
        }
        let before = recorded.before.get();
        // Exactly this size: `arrayLength` and robust access depend on it.
        let buffer = Arc::clone(backend)
            .create_buffer(before.len() as u64)
            .map_err(|error| error.to_string())?;
        buffer
            .write(0, before.as_slice().into())
            .map_err(|error| error.to_string())?;
        bindings.push(Binding {
            group: recorded.group,
            binding: recorded.binding,
            source: BindingSource::Buffer {
                buffer: buffer.clone(),
                offset: 0,
                size: 0,
            },
        });
        expected.push((place, buffer, recorded.after.get()));
    }
    program
        .run(&mut Dispatch {
            workgroups: vector.workgroups,
            bindings,
            immediates: &[],
            timeout: Some(Duration::from_secs(20)),
            repeat: 1,
            cooperative: false,
            timed: false,
            times: 1,
        })
        .map_err(|error| format!("dispatch: {}", error.message()))?;
    for ((group, binding), buffer, after) in expected {
        let mut seen = vec![0; after.len()];
        buffer
            .read(0, seen.as_mut_slice().into())
            .map_err(|error| error.to_string())?;
        if let Some(at) = (0..after.len()).find(|&i| seen[i] != after[i]) {
            return Err(format!(
                "binding {group}.{binding}, byte {at} of {}: saw {}, expected {}",
                after.len(),
                around(&seen, at),
                around(&after, at)
            ));
        }
    }
    Ok(())
}

/// The word that holds a byte, as a number.
fn around(bytes: &[u8], at: usize) -> String {
    let start = at / 4 * 4;
    let word = &bytes[start..(start + 4).min(bytes.len())];
    let digits: String = word.iter().rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{digits}")
}
