//! Finding and opening the driver's library.

use std::ffi::{CStr, OsString};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::error::{Error, Result, Status};

/// Names the driver's library instead of the search.
pub const VARIABLE: &str = "VYRE_CUDA_DRIVER";

/// What is tried, in this order. Some systems have only the versioned name, and some, WSL above all,
/// keep it where the loader does not look.
const CANDIDATES: [&str; 8] = [
    "libcuda.so.1",
    "libcuda.so",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
];

/// The opened library.
pub fn open() -> Result<Library> {
    match std::env::var_os(VARIABLE) {
        Some(path) => named(&path),
        None => search(&CANDIDATES),
    }
}

/// Whether the user names a library, or one is found.
pub fn is_present() -> bool {
    std::env::var_os(VARIABLE).is_some() || search(&CANDIDATES).is_ok()
}

fn named(path: &OsString) -> Result<Library> {
    if path.is_empty() {
        return Err(Error::new(
            Status::DriverUnavailable,
            format!("{VARIABLE} is empty; a path of the CUDA driver's library was expected"),
        )
        .with_fix(format!(
            "Unset {VARIABLE}, or set it to the path of libcuda.so.1."
        )));
    }
    // SAFETY: the user asks for this library; its initialisers run as those of any dependency would.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        Error::new(
            Status::DriverUnavailable,
            format!("the CUDA driver that {VARIABLE} names cannot be opened: {}", cause(&error)),
        )
        .with_fix(format!(
            "Set {VARIABLE} to the path of the driver's libcuda.so.1, or unset it to have it searched for."
        ))
    })
}

fn search(candidates: &[&str]) -> Result<Library> {
    let mut tried = String::new();
    for candidate in candidates {
        // SAFETY: the name is that of the CUDA driver, whose initialisers do no harm.
        match unsafe { Library::open(Some(*candidate), RTLD_NOW | RTLD_LOCAL) } {
            Ok(library) => return Ok(library),
            Err(error) => {
                if !tried.is_empty() {
                    tried.push_str("; ");
                }
                tried.push_str(&cause(&error));
            }
        }
    }
    Err(Error::new(
        Status::DriverUnavailable,
        format!("no CUDA driver was found; tried {tried}"),
    )
    .with_fix(format!(
        "Install the NVIDIA driver (it provides libcuda.so.1), set {VARIABLE} to its path, or acquire VYRE_BACKEND_CPU."
    )))
}

/// What the loader said, which names the file.
fn cause(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// The file that holds `function`.
pub fn path_of(function: *const ()) -> String {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr accepts any address and fills the structure or returns 0.
    let found = unsafe { libc::dladdr(function.cast(), info.as_mut_ptr()) };
    // SAFETY: all zero bytes are a valid Dl_info, filled or not.
    let info = unsafe { info.assume_init() };
    if found == 0 || info.dli_fname.is_null() {
        return "an unknown path".to_owned();
    }
    // SAFETY: dladdr's name is NUL-terminated and lives as long as the library, which is never closed.
    unsafe { CStr::from_ptr(info.dli_fname) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_fails_lists_everything_it_tried() {
        let error = search(&["libvyre-none.so.1", "/nowhere/libcuda.so.1"]).unwrap_err();
        assert_eq!(error.status(), Status::DriverUnavailable);
        for name in ["libvyre-none.so.1", "/nowhere/libcuda.so.1"] {
            assert!(error.message().contains(name), "{error}");
        }
        assert!(error.fix().contains(VARIABLE));
    }

    #[test]
    fn an_address_is_traced_to_its_file() {
        assert!(path_of(libc::getpid as *const ()).contains("libc"));
        assert_eq!(path_of(std::ptr::null()), "an unknown path");
    }
}
