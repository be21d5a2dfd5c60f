//! Where the cache is.

use std::ffi::OsString;
use std::path::PathBuf;

use super::folder::Folder;
use crate::error::{Error, Result, Status};

/// Where the folder is looked for, in this order: a variable, and the path below what it says.
const PLACES: [(&str, &str); 3] = [
    ("VYRE_PTX_CACHE_DIR", ""),
    ("XDG_CACHE_HOME", "vyre/ptx-cache"),
    ("HOME", ".cache/vyre/ptx-cache"),
];

pub const FIX: &str = "Set VYRE_PTX_CACHE_DIR to a folder that this user can write.";

/// The folder that the environment names. It need not exist yet.
pub fn folder_named_by(variable: impl Fn(&str) -> Option<OsString>) -> Result<Folder> {
    for (name, below) in PLACES {
        let Some(value) = variable(name) else {
            continue;
        };
        if value.is_empty() {
            return Err(Error::new(
                Status::Io,
                format!("{name} is empty; the path of the folder for the PTX cache was expected"),
            )
            .with_fix(format!("Unset {name}, or set it to a folder. {FIX}")));
        }
        let mut path = PathBuf::from(value);
        if !below.is_empty() {
            path.push(below);
        }
        return Ok(Folder::new(path));
    }
    Err(Error::new(
        Status::Io,
        "there is no place for the PTX cache: none of VYRE_PTX_CACHE_DIR, XDG_CACHE_HOME and HOME is set",
    )
    .with_fix(FIX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(variables: &[(&str, &str)]) -> Result<String> {
        let folder = folder_named_by(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })?;
        Ok(folder.path().display().to_string())
    }

    #[test]
    fn our_variable_goes_before_the_systems_and_that_before_home() {
        let all = [
            ("VYRE_PTX_CACHE_DIR", "/ours"),
            ("XDG_CACHE_HOME", "/xdg"),
            ("HOME", "/home/me"),
        ];
        assert_eq!(path(&all).unwrap(), "/ours");
        assert_eq!(path(&all[1..]).unwrap(), "/xdg/vyre/ptx-cache");
        assert_eq!(path(&all[2..]).unwrap(), "/home/me/.cache/vyre/ptx-cache");
    }

    #[test]
    fn an_empty_variable_is_an_error_unless_one_before_it_decides() {
        for name in PLACES.map(|(name, _)| name) {
            let error = path(&[(name, ""), ("HOME", "/home/me")]).unwrap_err();
            assert_eq!(error.status(), Status::Io);
            assert!(error.message().starts_with(name), "{error}");
            assert!(error.message().contains("is empty") && error.fix().contains(name));
        }
        let decided = [("VYRE_PTX_CACHE_DIR", "/ours"), ("XDG_CACHE_HOME", "")];
        assert_eq!(path(&decided).unwrap(), "/ours");
    }

    #[test]
    fn no_variable_at_all_is_an_error_that_names_them() {
        let error = path(&[]).unwrap_err();
        assert_eq!(error.status(), Status::Io);
        for (name, _) in PLACES {
            assert!(error.message().contains(name), "{error}");
        }
        assert_eq!(error.fix(), FIX);
    }
}
