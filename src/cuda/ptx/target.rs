//! For which machine the text is.

use crate::error::{Error, Result, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Compute capability times ten: 90 for 9.0.
    pub sm: u32,
    pub ptx_version: (u32, u32),
}

impl Target {
    /// Scoped memory operations and independently scheduled threads, both of which barriers rest on,
    /// begin here.
    const OLDEST: Target = Target {
        sm: 70,
        ptx_version: (6, 0),
    };

    pub(super) fn check(self) -> Result<()> {
        let Target { sm, ptx_version } = Target::OLDEST;
        if self.sm < sm {
            return Err(unsupported(
                format!("compute capability {}.{}", self.sm / 10, self.sm % 10),
                format!("{}.{} or newer", sm / 10, sm % 10),
                "Use a GPU of the Volta generation or newer, or acquire VYRE_BACKEND_CPU.",
            ));
        }
        if self.ptx_version < ptx_version {
            let (major, minor) = self.ptx_version;
            return Err(unsupported(
                format!("PTX {major}.{minor}"),
                format!("{}.{} or newer", ptx_version.0, ptx_version.1),
                "Install a newer NVIDIA driver.",
            ));
        }
        Ok(())
    }
}

fn unsupported(seen: String, expected: String, fix: &str) -> Error {
    Error::new(
        Status::Unsupported,
        format!("programs cannot be emitted for {seen}: {expected} is needed"),
    )
    .with_fix(fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_machines_are_refused_by_name() {
        let check = |sm, ptx_version| Target { sm, ptx_version }.check();
        assert!(check(70, (6, 0)).is_ok());
        let error = check(61, (8, 0)).unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        assert!(error.message().contains("6.1") && error.message().contains("7.0"));
        let error = check(90, (5, 9)).unwrap_err();
        assert!(error.message().contains("PTX 5.9") && error.message().contains("6.0"));
    }
}
