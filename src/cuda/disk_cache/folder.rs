//! Files in the cache's folder. Other processes, other versions and other users may be at work in it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use super::key::Key;

/// Bytes that the files may take together.
const MOST: u64 = 256 << 20;
/// When there are more, so many of these parts stay: a folder that is full is not tidied at every write.
const STAYS: (u64, u64) = (7, 8);
/// Bytes of one file.
const MOST_OF_ONE: u64 = MOST / 4;
/// A temporary file of this age was left behind by a process that ended while it wrote.
const STALE: Duration = Duration::from_secs(60 * 60);
const TEMPORARY: &str = ".tmp";

pub struct Folder {
    path: PathBuf,
    /// Whose files are used and deleted.
    pub(super) owner: u32,
    /// Bytes that the files may take together.
    pub(super) most: u64,
}

impl Folder {
    pub fn new(path: PathBuf) -> Folder {
        Folder {
            path,
            // SAFETY: it reads a number of this process. Of the two ids it is the one that files are made
            // with; the other one is the caller's of a set-user-id program, whose files must not be used.
            owner: unsafe { libc::geteuid() },
            most: MOST,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file's bytes, `None` if there is none, or why it is not to be used.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let opened = OpenOptions::new()
            .read(true)
            // A pipe by that name would otherwise be waited for.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(self.path_of(name));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) => {
                return match error.kind() {
                    // Whether the folder can be used is found out when it is written.
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
                    _ if error.raw_os_error() == Some(libc::ELOOP) => {
                        Err("it is a symbolic link".into())
                    }
                    _ => Err(error.to_string()),
                };
            }
        };
        // Of the opened file: what the name stands for may change.
        let metadata = file.metadata().map_err(|error| error.to_string())?;
        let (owner, mode, size) = (metadata.uid(), metadata.mode() & 0o7777, metadata.len());
        if !metadata.is_file() {
            return Err("it is not a file".into());
        }
        if owner != self.owner {
            return Err(format!("it is owned by user {owner}, not {}", self.owner));
        }
        if mode & 0o077 != 0 {
            return Err(format!("its mode is {mode:o}; others must have no access"));
        }
        if size > MOST_OF_ONE {
            return Err(format!("it has {size} bytes, more than any entry"));
        }
        let mut bytes = Vec::with_capacity(size as usize);
        (&mut file)
            .take(MOST_OF_ONE)
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        // What was used last is deleted last. Nothing is lost where this is not allowed.
        let _ = file.set_modified(SystemTime::now());
        Ok(Some(bytes))
    }

    /// Replaces a file, or makes it and the folder, and keeps the folder within its bound.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() as u64 > MOST_OF_ONE.min(self.most) {
            return Err(io::Error::new(
                ErrorKind::FileTooLarge,
                format!("a program takes {} bytes, too many to keep", bytes.len()),
            ));
        }
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.path)?;
        self.replace(name, |file| file.write_all(bytes))?;
        self.evict(name);
        Ok(())
    }

    /// Others see the old file or all of the new one, whatever happens while it is written.
    pub(super) fn replace(
        &self,
        name: &str,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut file, temporary) = self.temporary(name)?;
        let done = fill(&mut file).and_then(|()| fs::rename(&temporary, self.path_of(name)));
        if done.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        done
    }

    /// A new file of a name that nobody else uses.
    fn temporary(&self, name: &str) -> io::Result<(File, PathBuf)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let mut tries = 0;
        loop {
            let process = std::process::id();
            let number = NUMBER.fetch_add(1, Relaxed);
            // Processes in containers that share the folder may have one id.
            let time = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |time| time.as_nanos());
            let path = self.path_of(&format!(".{name}.{process}.{number}.{time}{TEMPORARY}"));
            let opened = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path);
            match opened {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && tries < 8 => tries += 1,
                opened => return Ok((opened?, path)),
            }
        }
    }

    /// Deletes what was used longest ago if there is too much, but not `kept`. Other processes may be doing
    /// the same; whoever has a file open keeps its bytes.
    fn evict(&self, kept: &str) {
        let mut files = self.files();
        let mut total: u64 = files.iter().map(|file| file.size).sum();
        if total <= self.most {
            return;
        }
        let stays = self.most / STAYS.1 * STAYS.0;
        files.sort_by_key(|file| file.used);
        for file in files.iter().filter(|file| file.name != kept) {
            if total <= stays {
                break;
            }
            // Somebody else may have deleted it: it is gone either way.
            let _ = fs::remove_file(self.path.join(&file.name));
            total = total.saturating_sub(file.size);
        }
    }

    /// The cache's own files; what else lies in the folder is not ours to count or delete. Temporary files that
    /// were left behind are removed.
    fn files(&self) -> Vec<Kept> {
        let mut files = Vec::new();
        let Ok(listing) = fs::read_dir(&self.path) else {
            return files;
        };
        for found in listing.flatten() {
            let name = found.file_name();
            let Some(kind) = kind(&name) else { continue };
            // Of the link, if it is one.
            let Ok(metadata) = found.metadata() else {
                continue;
            };
            if !metadata.is_file() || metadata.uid() != self.owner {
                continue;
            }
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match kind {
                Kind::Temporary => {
                    if used.elapsed().is_ok_and(|age| age > STALE) {
                        let _ = fs::remove_file(found.path());
                    }
                }
                Kind::Entry => files.push(Kept {
                    name,
                    size: metadata.len(),
                    used,
                }),
            }
        }
        files
    }
}

struct Kept {
    name: OsString,
    size: u64,
    used: SystemTime,
}

enum Kind {
    Entry,
    Temporary,
}

fn kind(name: &OsString) -> Option<Kind> {
    let name = name.to_str()?;
    if Key::is_file_name(name) {
        return Some(Kind::Entry);
    }
    let of = name.strip_prefix('.')?.strip_suffix(TEMPORARY)?;
    // The entry's name, then three numbers.
    let mut parts = of.rsplitn(4, '.');
    let numbers = parts
        .by_ref()
        .take(3)
        .all(|n| n.bytes().all(|c| c.is_ascii_digit()));
    (numbers && Key::is_file_name(parts.next()?)).then_some(Kind::Temporary)
}
