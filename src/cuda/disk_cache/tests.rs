//! The cache with good, damaged and hostile files, and in folders that are not as they should be.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use super::entry::HEADER_SIZE;
use super::*;
use crate::backend::{Format, ProgramDesc, Telemetry};
use crate::cuda::arguments::Block;
use crate::cuda::bound::Place;
use crate::cuda::ptx::Target;
use crate::error::{Error, Status};
use crate::program::Limits;

pub const LIMITS: Limits = Limits {
    workgroup_size: [1024, 1024, 64],
    workgroup_invocations: 1024,
    workgroup_memory: 48 << 10,
    immediates_size: 2048,
};
pub const TARGET: Target = Target {
    sm: 80,
    ptx_version: (7, 0),
};

/// All that an entry may hold: bindings of every kind, immediates, both barriers, a control block.
const SOURCE: &str = "
    struct P { scale: u32, shift: u32 } var<immediate> p: P;
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @group(0) @binding(1) var<storage, read> input: array<vec4<u32>, 64>;
    @group(1) @binding(0) var<uniform> u: vec4<u32>;
    var<workgroup> w: array<u32, 64>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        w[id.x & 63u] = id.x; workgroupBarrier();
        out[id.x] = w[63u - (id.x & 63u)] + input[id.x & 63u].y * p.scale + u.z; gridBarrier();
        out[id.x] += out[0];
    }";

pub fn desc(code: &str) -> ProgramDesc<'_> {
    ProgramDesc::new(Format::Wgsl, code.as_bytes())
}

fn emitted() -> Emitted {
    let labelled = ProgramDesc {
        label: Some("cached.wgsl"),
        ..desc(SOURCE)
    };
    Emitted::of(&labelled, &LIMITS, TARGET).unwrap()
}

fn key() -> Key {
    Key::of(&desc(SOURCE), &LIMITS, TARGET)
}

/// A folder of one test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let name = format!("vyre-disk-cache-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    /// Not made yet, to be made by the cache.
    fn folder(&self) -> Folder {
        Folder::new(self.0.join("a/b"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a cache counts.
#[derive(Default)]
struct Probe {
    cache: DiskCache,
    counters: Counters,
}

impl Probe {
    /// The program, which is always right, and whether it was found.
    fn get(&self, folder: &Folder) -> bool {
        let mut made = false;
        let program = self
            .cache
            .get_or_make(folder, &key(), &self.counters, || {
                made = true;
                Ok(emitted())
            })
            .unwrap();
        assert_eq!(program, emitted());
        !made
    }

    fn counts(&self) -> [u64; 3] {
        let Telemetry {
            disk_hits,
            disk_misses,
            disk_writes,
            ..
        } = self.counters.snapshot();
        [disk_hits, disk_misses, disk_writes]
    }

    fn has_complained(&self) -> bool {
        self.cache.has_complained.load(Relaxed)
    }
}

fn entry_path(folder: &Folder) -> PathBuf {
    folder.path_of(&key().file_name())
}

fn put(path: &Path, bytes: &[u8], mode: u32) {
    let _ = fs::remove_file(path);
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(folder: &Folder) -> Vec<String> {
    let listing = fs::read_dir(folder.path()).unwrap();
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = listing.map(name).collect();
    names.sort();
    names
}

#[test]
fn what_was_made_once_is_found_again() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let probe = Probe::default();
    assert!(!probe.get(&folder));
    assert!(probe.get(&folder));
    // Another process's.
    assert!(Probe::default().get(&folder));
    assert_eq!(probe.counts(), [1, 1, 1]);
    assert!(!probe.has_complained());
    assert_eq!(names(&folder), [key().file_name()]);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(folder.path()), 0o700);
    assert_eq!(mode(&entry_path(&folder)), 0o600);
    probe.counters.reset();
    assert_eq!(probe.counts(), [0, 0, 0]);
}

#[test]
fn a_program_that_does_not_compile_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let (probe, folder) = (Probe::default(), scratch.folder());
    let refusal = Error::new(Status::InvalidProgram, "seen");
    let result =
        (probe.cache).get_or_make(&folder, &key(), &probe.counters, || Err(refusal.clone()));
    assert_eq!(result.unwrap_err(), refusal);
    assert_eq!(probe.counts(), [0, 1, 0]);
    assert!(!folder.path().exists());
}

#[test]
fn bytes_stand_for_the_whole_program() {
    let program = emitted();
    assert_eq!(program.reflection.bindings.len(), 3);
    assert_eq!(program.reflection.grid_barriers, 1);
    assert!(program.ptx.parameters.control.is_some());
    assert_eq!(codec::decode(&codec::encode(&program)).unwrap(), program);
    // The optional parts left out.
    let plain =
        "@group(0) @binding(0) var<uniform> u: u32; @compute @workgroup_size(1) fn f() { _ = u; }";
    let plain = Emitted::of(&desc(plain), &LIMITS, TARGET).unwrap();
    assert!(plain.ptx.parameters.control.is_none());
    assert_eq!(codec::decode(&codec::encode(&plain)).unwrap(), plain);
}

/// An entry that is short, so that every one of its bytes can be tried.
fn small() -> (Key, Vec<u8>) {
    let mut program = emitted();
    program.ptx.text.truncate(40);
    let key = key();
    let bytes = entry::seal(&key, &codec::encode(&program));
    (key, bytes)
}

fn opens(key: &Key, bytes: &[u8]) -> bool {
    entry::open(key, bytes).is_ok_and(|content| codec::decode(content).is_ok())
}

#[test]
fn no_truncated_lengthened_or_changed_entry_opens() {
    let (key, mut bytes) = small();
    assert!(opens(&key, &bytes));
    for length in 0..bytes.len() {
        assert!(!opens(&key, &bytes[..length]), "{length} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(!opens(&key, &longer));
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            bytes[at] ^= flip;
            assert!(!opens(&key, &bytes), "byte {at} ^ {flip:#x}");
            bytes[at] ^= flip;
        }
    }
    let other = Key::of(&desc("other"), &LIMITS, TARGET);
    assert!(!opens(&other, &bytes));
    assert!(entry::open(&other, &bytes).unwrap_err().contains("key"));
}

/// Content whose digest is right although nobody wrote it: a value, or refused, and never a panic or more
/// memory than bytes.
#[test]
fn content_is_checked_beyond_its_digest() {
    let (key, bytes) = small();
    let content = &bytes[HEADER_SIZE..];
    for length in 0..content.len() {
        assert!(codec::decode(&content[..length]).is_err(), "{length} bytes");
    }
    let mut refused = 0;
    for at in 0..content.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = content.to_vec();
            changed[at] ^= flip;
            let resealed = entry::seal(&key, &changed);
            match codec::decode(entry::open(&key, &resealed).unwrap()) {
                Err(_) => refused += 1,
                Ok(program) => {
                    let place = Place {
                        address: 16,
                        size: 1 << 20,
                    };
                    let places = vec![place; program.buffers.len()];
                    let immediates = vec![7; program.reflection.immediates_size as usize];
                    Block::of(&program).set([1; 3], &places, &immediates);
                }
            }
        }
    }
    assert!(
        refused > content.len() / 4,
        "{refused} of {}",
        content.len()
    );
}

#[test]
fn a_file_that_is_not_an_entry_is_replaced() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let probe = Probe::default();
    assert!(!probe.get(&folder));
    let good = fs::read(entry_path(&folder)).unwrap();
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let foreign = entry::seal(&Key::of(&desc("x"), &LIMITS, TARGET), &good[HEADER_SIZE..]);
    for bytes in [
        &b""[..],
        b"#!/bin/sh\n",
        &damaged,
        &good[..good.len() - 1],
        &foreign,
    ] {
        put(&entry_path(&folder), bytes, 0o600);
        assert!(!probe.get(&folder));
        assert_eq!(fs::read(entry_path(&folder)).unwrap(), good);
        assert!(probe.get(&folder));
    }
    assert!(!probe.has_complained());
}

#[test]
fn a_file_that_others_may_have_written_or_that_is_elsewhere_is_not_used() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let probe = Probe::default();
    assert!(!probe.get(&folder));
    let path = entry_path(&folder);
    let good = fs::read(&path).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o602, 0o666, 0o644, 0o777] {
        put(&path, &good, mode);
        assert!(!probe.get(&folder), "{mode:o}");
        assert!(probe.get(&folder));
    }
    // A symbolic link, also to a good entry, is replaced and what it leads to is left alone.
    let elsewhere = scratch.0.join("elsewhere");
    for bytes in [&good[..], b"precious"] {
        put(&elsewhere, bytes, 0o600);
        fs::remove_file(&path).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(!probe.get(&folder));
        assert!(probe.get(&folder));
        assert!(!fs::symlink_metadata(&path).unwrap().is_symlink());
        assert_eq!(fs::read(&elsewhere).unwrap(), bytes);
    }
    // A pipe without a writer.
    fs::remove_file(&path).unwrap();
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the name is terminated.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    assert!(!probe.get(&folder));
    assert!(probe.get(&folder));
    // Too large for any entry; sparse.
    put(&path, b"", 0o600);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(65 << 20).unwrap();
    assert!(!probe.get(&folder));
    assert!(probe.get(&folder));
    // Another user's, as this one sees it.
    let mut others = scratch.folder();
    others.owner += 1;
    assert!(!probe.get(&others));
    assert!(folder.read(&key().file_name()).unwrap().is_some());
    let why = others.read(&key().file_name()).unwrap_err();
    assert!(why.contains("owned by user"), "{why}");
    assert!(!probe.has_complained());
}

#[test]
fn a_folder_that_cannot_be_used_is_a_miss_and_is_told_once() {
    let scratch = Scratch::new();
    let file = scratch.0.join("file");
    fs::write(&file, "in the way").unwrap();
    let dangling = scratch.0.join("dangling");
    symlink(scratch.0.join("nowhere"), &dangling).unwrap();
    // Where nobody can make a file, root included.
    let kernels = PathBuf::from("/proc/self");
    for path in [file.clone(), file.join("below"), dangling, kernels] {
        let (probe, folder) = (Probe::default(), Folder::new(path.clone()));
        for _ in 0..2 {
            assert!(!probe.get(&folder), "{}", path.display());
        }
        assert_eq!(probe.counts(), [0, 2, 0], "{}", path.display());
        assert!(probe.has_complained());
    }
    assert_eq!(fs::read(&file).unwrap(), b"in the way");

    // Something in the entry's place that cannot be replaced.
    let (probe, folder) = (Probe::default(), scratch.folder());
    fs::create_dir_all(entry_path(&folder)).unwrap();
    assert!(!probe.get(&folder));
    assert!(probe.has_complained());
    assert_eq!(
        names(&folder),
        [key().file_name()],
        "no temporary file stays"
    );
}

#[test]
fn a_read_only_folder_still_gives_what_is_in_it() {
    let scratch = Scratch::new();
    let (probe, folder) = (Probe::default(), scratch.folder());
    assert!(!probe.get(&folder));
    let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    assert!(probe.get(&folder));
    fs::set_permissions(entry_path(&folder), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!probe.get(&folder));
    // Root may write all the same.
    // SAFETY: it reads a number of this process.
    let is_root = unsafe { libc::geteuid() } == 0;
    assert_eq!(probe.has_complained(), !is_root);
    set(0o700);
}

/// As on a full disk.
#[test]
fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
    let scratch = Scratch::new();
    let (probe, folder) = (Probe::default(), scratch.folder());
    assert!(!probe.get(&folder));
    let failed = folder.replace(&key().file_name(), |file| {
        file.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(names(&folder), [key().file_name()]);
    assert!(probe.get(&folder));
}

#[test]
fn threads_that_write_and_read_one_entry_never_see_half_of_it() {
    let scratch = Scratch::new();
    let folder = scratch.folder();
    let (key, bytes) = small();
    let name = key.file_name();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (folder, name, key, bytes) = (&folder, &name, &key, &bytes);
            scope.spawn(move || {
                for round in 0..100 {
                    if (thread + round) % 2 == 0 {
                        folder.write(name, bytes).unwrap();
                    } else if let Some(seen) = folder.read(name).unwrap() {
                        assert!(opens(key, &seen));
                    }
                }
            });
        }
    });
    assert_eq!(names(&folder), [name]);
}

fn set_age(path: &Path, seconds: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let time = SystemTime::now() - Duration::from_secs(seconds);
    file.set_modified(time).unwrap();
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let scratch = Scratch::new();
    let mut folder = scratch.folder();
    folder.most = 1000;
    let name = |n: u32| Key::of(&desc(&n.to_string()), &LIMITS, TARGET).file_name();
    for n in 0..9 {
        folder.write(&name(n), &[0; 100]).unwrap();
        set_age(&folder.path_of(&name(n)), 1000 - u64::from(n));
    }
    // Not the cache's, and never counted or deleted.
    put(&folder.path_of("README"), &[0; 5000], 0o600);
    symlink("/nowhere", folder.path_of(&name(99))).unwrap();
    // Left behind long ago, and being written.
    let temporary = |n| format!(".{}.1.2.{n}.tmp", name(0));
    for n in [3, 4] {
        put(&folder.path_of(&temporary(n)), b"half", 0o600);
    }
    set_age(&folder.path_of(&temporary(3)), 100_000);
    // A use makes the oldest the newest.
    assert!(folder.read(&name(0)).unwrap().is_some());

    folder.write(&name(9), &[0; 100]).unwrap();
    let is_there = |n| folder.path_of(&name(n)).symlink_metadata().is_ok();
    assert!((0..10).all(is_there), "1000 bytes fit");
    assert!(!folder.path_of(&temporary(3)).exists());

    folder.write(&name(10), &[0; 100]).unwrap();
    // 1100 bytes became at most seven eighths of 1000.
    let gone: Vec<u32> = (0..11).filter(|&n| !is_there(n)).collect();
    assert_eq!(gone, [1, 2, 3]);
    assert!(is_there(99) && folder.path_of("README").exists());
    assert!(folder.path_of(&temporary(4)).exists());

    // One that would fill the folder alone.
    assert!(folder.write(&name(11), &[0; 1001]).is_err());
    assert!(!is_there(11));
    // The one just written stays, whatever its time.
    folder.write(&name(12), &[0; 900]).unwrap();
    assert!(is_there(12));
}
