//! The header's sections: which source files each is made of, and what it says on top.

pub struct Section {
    pub group: &'static str,
    pub title: &'static str,
    pub text: &'static str,
    /// In `src/ffi`; types come before those that use them.
    pub files: &'static [&'static str],
}

pub const PREAMBLE: &str = "\
/** @file vyre/vyre.h
 * Cooperative compute programs: a whole grid that meets at a barrier, on CUDA or on the CPU.
 *
 * Generated from src/ffi (tests/header.rs); edits are lost.
 *
 * Conventions that hold for every function:
 * - Calls that can fail return a vyre_status and take a `vyre_error **` last. It may be NULL; else it is set to
 *   NULL first, and on failure to an error that the caller frees with vyre_error_free().
 * - Outputs are set to null on entry and written only on success.
 * - A NULL pointer with a length of 0 is an empty slice. Any other NULL is an error unless the comment allows it.
 * - Nothing that is passed in is kept past the call, except where a comment says so.
 * - Sizes and offsets are bytes, times are nanoseconds, strings are NUL-terminated UTF-8.
 * - Every function may be called from any thread. In a process that was forked after a backend had been acquired,
 *   calls that can fail answer VYRE_ERROR_DEVICE_LOST at once.
 * - Structures that start with struct_size are initialised by their _INIT macro or their _init function, which set
 *   it to their sizeof. A shorter structure, of a program compiled against an older header, is accepted: what it
 *   lacks has its default. A longer one is accepted if all that the library does not know is zero; as an
 *   output, that part is zeroed. Sizes are multiples of 8.
 * - Handles are plain values that may be copied. A null, released, foreign or wrong-kind handle is an
 *   error, never a crash.
 */
";

pub const SECTIONS: &[Section] = &[
    Section {
        group: "vyre_version",
        title: "Version",
        text: "Which library this is, when it was compiled against and when it runs.",
        files: &["version"],
    },
    Section {
        group: "vyre_status",
        title: "Status codes",
        text: "What calls return.",
        files: &["status"],
    },
    Section {
        group: "vyre_error",
        title: "Errors",
        text: "What went wrong and what to do about it. There is no last error of a thread: each failed call gives its own.",
        files: &["error"],
    },
    Section {
        group: "vyre_log",
        title: "Log",
        text: "The library writes nothing anywhere unless a callback is set, but for the text of a panic, which is a bug, on standard error.",
        files: &["log"],
    },
    Section {
        group: "vyre_handle",
        title: "Handles",
        text: "Values that stand for objects of the library. Children keep their backend alive; release order is free.",
        files: &["handle"],
    },
    Section {
        group: "vyre_backend",
        title: "Backends",
        text: "A device with its caches and pools.",
        files: &["backend_desc", "telemetry", "backend"],
    },
    Section {
        group: "vyre_device",
        title: "Devices",
        text: "What could be acquired, before acquiring it.",
        files: &["device"],
    },
    Section {
        group: "vyre_host",
        title: "Host memory",
        text: "Memory of the caller's that copies to and from the device are fastest with. Any other memory works, too.",
        files: &["host"],
    },
    Section {
        group: "vyre_buffer",
        title: "Buffers",
        text: "Bytes on a device.",
        files: &["buffer"],
    },
    Section {
        group: "vyre_program",
        title: "Programs",
        text: "Compiled compute entry points.",
        files: &["reflection", "program_desc", "program"],
    },
    Section {
        group: "vyre_dispatch",
        title: "Dispatch",
        text: "Running a program on a grid of workgroups. A call blocks until the grid is done and audited, never longer than its time limit allows.",
        files: &["binding", "dispatch_desc", "report", "dispatch"],
    },
];
