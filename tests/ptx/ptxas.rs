//! Finds and runs NVIDIA's assembler.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// `$VYRE_PTXAS`, what scripts/ptxas.sh installs, or the one on the path.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("VYRE_PTXAS") {
        let named = PathBuf::from(named);
        assert!(named.is_file(), "VYRE_PTXAS is {named:?}, which is no file");
        return Some(named);
    }
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("build/ptxas/ptxas");
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(installed)
        .chain(std::env::split_paths(&path).map(|folder| folder.join("ptxas")))
        .find(|file| file.is_file())
}

/// The assembler's complaints, if any.
pub fn assemble(ptxas: &Path, text: &str, sm: u32) -> Result<(), String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("vyre-{}-{number}", std::process::id());
    let file = std::env::temp_dir().join(format!("{name}.ptx"));
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = Command::new(ptxas)
        .arg(format!("-arch=sm_{sm}"))
        .arg(&file)
        .args(["-o", "/dev/null"])
        .output()
        .map_err(|error| format!("{}: {error}", ptxas.display()));
    // The file's absence later is nobody's loss.
    let _ = std::fs::remove_file(&file);
    let output = output?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
