//! The C surface: handles, argument checks, panic guard. No logic.
//!
//! One file a C type: `status`, `error`, `version`, `log`, `backend`, `device`, `host`, `buffer`, `program`,
//! `dispatch`, each beside the structures that its functions take (`*_desc`) or fill.
//! `entry` is the macro that every exported function consists of; `handle` turns ids into objects;
//! `sized` reads and writes structures that may be older or newer than this library; `text` and
//! `args` check strings, slices and pointers; `fork` answers in a forked child.
//!
//! `include/vyre/vyre.h` is generated from these files by `tests/header.rs`: their doc comments
//! are the reference manual of the C API.
#![allow(non_camel_case_types)]

mod args;
mod backend;
mod backend_desc;
mod binding;
mod buffer;
mod device;
mod dispatch;
mod dispatch_desc;
mod entry;
mod error;
mod fork;
mod handle;
mod host;
mod log;
mod program;
mod program_desc;
mod reflection;
mod report;
mod sized;
mod status;
mod telemetry;
mod text;
mod version;
