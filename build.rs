//! Link flags of the shared library, and the number that tells one version of the sources from another.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        // Programs record the name that promises this ABI, not the file they were linked with.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libvyre.so.0");
        // Worker threads run code of this library: dlclose must not unmap it under them.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    let digest = sources().unwrap_or_else(|error| panic!("reading the sources: {error}"));
    println!("cargo::rustc-env=VYRE_SOURCES={digest:016x}");
}

/// A digest of all that decides what a program is compiled to. PTX that is cached on disk holds only for
/// the very compiler that wrote it, and a number that people have to raise would be forgotten. It depends on
/// what the files hold and what they are called here, not on where they lie.
fn sources() -> io::Result<u64> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = vec![root.join("Cargo.toml")];
    println!("cargo::rerun-if-changed=Cargo.toml");
    println!("cargo::rerun-if-changed=src");
    collect(&root.join("src"), &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(&root).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
