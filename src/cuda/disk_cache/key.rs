//! All that a compiled program depends on, as one digest.

use sha2::{Digest, Sha256};

use crate::backend::{Format, ProgramDesc, ProgramFlags};
use crate::cuda::SUBGROUP_SIZE;
use crate::cuda::ptx::Target;
use crate::program::Limits;

pub const DIGEST_SIZE: usize = 32;

/// This library's version, and a digest of its sources: what one compiler wrote is not what another would.
const COMPILER: [&str; 2] = [env!("CARGO_PKG_VERSION"), env!("VYRE_SOURCES")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u8; DIGEST_SIZE]);

impl Key {
    /// Everything is named here, so that a new field is either digested or left out on purpose.
    pub fn of(desc: &ProgramDesc<'_>, limits: &Limits, target: Target) -> Key {
        let ProgramDesc {
            format,
            code,
            entry_point,
            // Stands in messages only, and failures are not cached.
            label: _,
            flags,
            overrides,
            // Of PTX programs, which need no compiling.
            parameters: _,
            workgroup_size: _,
            workgroup_memory: _,
        } = desc;
        let ProgramFlags {
            unchecked,
            fast_math,
            trust_uniformity,
        } = *flags;
        let Limits {
            workgroup_size,
            workgroup_invocations,
            workgroup_memory,
            immediates_size,
        } = *limits;
        let Target {
            sm,
            ptx_version: (major, minor),
        } = target;

        let mut digest = Fields(Sha256::new());
        for part in COMPILER {
            digest.bytes(part.as_bytes());
        }
        digest.number(match format {
            Format::Wgsl => 0,
            Format::Ptx => 1,
        });
        digest.bytes(code);
        digest.number(u64::from(entry_point.is_some()));
        digest.bytes(entry_point.unwrap_or_default().as_bytes());
        for flag in [unchecked, fast_math, trust_uniformity] {
            digest.number(u64::from(flag));
        }
        digest.number(overrides.len() as u64);
        for (name, value) in overrides {
            digest.bytes(name.as_bytes());
            digest.number(value.to_bits());
        }
        for size in workgroup_size {
            digest.number(u64::from(size));
        }
        digest.number(u64::from(workgroup_invocations));
        digest.number(workgroup_memory);
        for number in [immediates_size, sm, major, minor, SUBGROUP_SIZE] {
            digest.number(u64::from(number));
        }
        Key(digest.0.finalize().into())
    }

    pub fn bytes(&self) -> &[u8; DIGEST_SIZE] {
        &self.0
    }

    /// Nothing of the program's text gets into the name.
    pub fn file_name(&self) -> String {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        hex + EXTENSION
    }

    /// Whether a file may be one of the cache's.
    pub fn is_file_name(name: &str) -> bool {
        let hex = name.strip_suffix(EXTENSION).unwrap_or_default();
        hex.len() == 2 * DIGEST_SIZE && hex.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
    }
}

const EXTENSION: &str = ".vyre-ptx";

/// A digest of a sequence of fields; none can run into the next, as each says how long it is.
struct Fields(Sha256);

impl Fields {
    fn number(&mut self, value: u64) {
        self.0.update(value.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::disk_cache::tests::{LIMITS, TARGET, desc};

    #[test]
    fn everything_that_matters_makes_another_key_and_the_label_does_not() {
        let base = desc("text");
        let of = |desc: &ProgramDesc<'_>| Key::of(desc, &LIMITS, TARGET);
        let mut labelled = base.clone();
        labelled.label = Some("name.wgsl");
        assert_eq!(of(&base), of(&labelled));

        let mut keys = vec![of(&base), of(&desc("texT"))];
        let mut with = |change: &dyn Fn(&mut ProgramDesc<'_>)| {
            let mut changed = base.clone();
            change(&mut changed);
            keys.push(of(&changed));
        };
        with(&|desc| desc.entry_point = Some(""));
        with(&|desc| desc.entry_point = Some("main"));
        with(&|desc| desc.flags.unchecked = true);
        with(&|desc| desc.flags.fast_math = true);
        with(&|desc| desc.flags.trust_uniformity = true);
        with(&|desc| desc.overrides = vec![("a", 0.0)]);
        with(&|desc| desc.overrides = vec![("a", -0.0)]);
        with(&|desc| desc.overrides = vec![("b", 0.0)]);
        with(&|desc| desc.overrides = vec![("a", 0.0), ("b", 0.0)]);
        let mut sm = TARGET;
        sm.sm += 1;
        keys.push(Key::of(&base, &LIMITS, sm));
        let mut version = TARGET;
        version.ptx_version.1 += 1;
        keys.push(Key::of(&base, &LIMITS, version));
        let limits: [fn(&mut Limits); 4] = [
            |limits| limits.workgroup_size[2] += 1,
            |limits| limits.workgroup_invocations += 1,
            |limits| limits.workgroup_memory += 1,
            |limits| limits.immediates_size += 1,
        ];
        for change in limits {
            let mut changed = LIMITS;
            change(&mut changed);
            keys.push(Key::of(&base, &changed, TARGET));
        }
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "change {i} makes no other key");
        }
    }

    #[test]
    fn names_are_of_digests_only() {
        let name = Key([0xa5; DIGEST_SIZE]).file_name();
        assert_eq!(name.len(), 64 + EXTENSION.len());
        assert!(Key::is_file_name(&name));
        let upper = name.to_uppercase();
        for other in [
            "",
            EXTENSION,
            "../x.vyre-ptx",
            &name[1..],
            &name[..64],
            &upper,
        ] {
            assert!(!Key::is_file_name(other), "{other}");
        }
    }
}
