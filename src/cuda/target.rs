//! For which machine programs are emitted: the newest that driver and device both know, found by trying.

use super::context::Entered;
use super::device::Device;
use super::driver::code;
use super::module::Module;
use super::ptx::Target;
use crate::error::{Error, Result};
use std::sync::Arc;

/// Machines with the oldest PTX version that names them, newest first. Older text than needed loads on
/// more drivers.
const MACHINES: [Target; 13] = [
    target(121, 8, 8),
    target(120, 8, 7),
    target(103, 8, 8),
    target(101, 8, 6),
    target(100, 8, 6),
    target(90, 7, 8),
    target(89, 7, 8),
    target(87, 7, 4),
    target(86, 7, 1),
    target(80, 7, 0),
    target(75, 6, 3),
    target(72, 6, 1),
    target(70, 6, 0),
];

const fn target(sm: u32, major: u32, minor: u32) -> Target {
    Target {
        sm,
        ptx_version: (major, minor),
    }
}

/// Machines to try for a device of compute capability `sm`, best first: code of an older machine runs on
/// newer ones.
fn candidates(sm: u32) -> impl Iterator<Item = Target> {
    MACHINES.into_iter().filter(move |machine| machine.sm <= sm)
}

/// The best target that the driver loads.
pub fn newest(device: &Arc<Device>, entered: &Entered<'_>) -> Result<Target> {
    let mut refusal: Option<Error> = None;
    for target in candidates(device.capabilities.sm()) {
        match Module::load(device, entered, probe(target).as_bytes()) {
            Ok(_) => return Ok(target),
            Err(error) if says_target(error.native_code()) => {
                refusal.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    Err(refusal.unwrap_or_else(|| {
        device.context.error(
            code::NO_BINARY_FOR_GPU,
            "finding a PTX target for this device",
        )
    }))
}

/// Whether a module may have been refused for its target alone.
fn says_target(code: i32) -> bool {
    matches!(
        code,
        code::INVALID_IMAGE
            | code::NO_BINARY_FOR_GPU
            | code::INVALID_PTX
            | code::UNSUPPORTED_PTX_VERSION
    )
}

fn probe(target: Target) -> String {
    let (major, minor) = target.ptx_version;
    format!(
        ".version {major}.{minor}\n.target sm_{}\n.address_size 64\n.visible .entry probe() {{ ret; }}\n",
        target.sm
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_its_own_machine_first_and_then_older_ones() {
        let of = |sm| candidates(sm).map(|machine| machine.sm).collect::<Vec<_>>();
        assert_eq!(of(90)[..2], [90, 89]);
        assert_eq!(of(79)[0], 75);
        assert_eq!(of(70), [70]);
        assert!(of(69).is_empty());
        assert!(MACHINES.is_sorted_by(|a, b| a.sm > b.sm));
    }
}
