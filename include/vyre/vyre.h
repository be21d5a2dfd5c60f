#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup vyre_version Version
 * Which library this is, when it was compiled against and when it runs.
 * @{
 */

/**
 * Major version of the header; a change of it may change anything.
 */
#define VYRE_VERSION_MAJOR 0

/**
 * Minor version of the header.
 */
#define VYRE_VERSION_MINOR 1

/**
 * Patch level of the header.
 */
#define VYRE_VERSION_PATCH 0

/**
 * MAJOR * 1000000 + MINOR * 1000 + PATCH of the header.
 */
#define VYRE_VERSION_NUMBER 1000

/**
 * The binary interface of the header: the number in libvyre.so.N.
 */
#define VYRE_ABI_VERSION 0

/**
 * The version of the library that runs, such as "0.1.0".
 *
 * @return a NUL-terminated string that is never freed and never NULL
 *
 * Any thread may call. Cannot fail.
 */
const char *vyre_version_string(void);

/**
 * The version of the library that runs, to be compared with VYRE_VERSION_NUMBER.
 *
 * @return major * 1000000 + minor * 1000 + patch
 *
 * Any thread may call. Cannot fail.
 */
uint32_t vyre_version_number(void);

/**
 * The binary interface of the library that runs, to be compared with VYRE_ABI_VERSION.
 *
 * @return the number in libvyre.so.N
 *
 * Any thread may call. Cannot fail.
 */
uint32_t vyre_abi_version(void);

/** @} */

/** @defgroup vyre_status Status codes
 * What calls return.
 * @{
 */

/**
 * The call did what it says.
 */
#define VYRE_OK 0

/**
 * A null pointer where none is allowed, a bad size, an unknown kind, format or flag.
 */
#define VYRE_ERROR_INVALID_ARGUMENT 1

/**
 * A null, released, foreign or wrong-kind handle.
 */
#define VYRE_ERROR_INVALID_HANDLE 2

/**
 * No CUDA driver, or too old a one.
 */
#define VYRE_ERROR_DRIVER_UNAVAILABLE 3

/**
 * No such device.
 */
#define VYRE_ERROR_NO_DEVICE 4

/**
 * This backend, device or build cannot do it.
 */
#define VYRE_ERROR_UNSUPPORTED 5

/**
 * The program does not parse, validate, prove uniform or assemble.
 */
#define VYRE_ERROR_INVALID_PROGRAM 6

/**
 * A binding is missing, superfluous, named twice, too small, overlapping or of the wrong access.
 */
#define VYRE_ERROR_BINDING_MISMATCH 7

/**
 * A buffer range or a grid outside what exists.
 */
#define VYRE_ERROR_OUT_OF_RANGE 8

/**
 * More workgroups than can be co-resident.
 */
#define VYRE_ERROR_GRID_TOO_LARGE 9

/**
 * The device's memory does not suffice.
 */
#define VYRE_ERROR_OUT_OF_DEVICE_MEMORY 10

/**
 * The host's memory does not suffice.
 */
#define VYRE_ERROR_OUT_OF_HOST_MEMORY 11

/**
 * A grid barrier did not hold: the results are wrong.
 */
#define VYRE_ERROR_BARRIER_AUDIT 12

/**
 * The time limit passed.
 */
#define VYRE_ERROR_TIMEOUT 13

/**
 * The dispatch was cancelled.
 */
#define VYRE_ERROR_CANCELLED 14

/**
 * The dispatch started and could not be finished; what it wrote is undefined.
 */
#define VYRE_ERROR_DISPATCH_FAILED 15

/**
 * The backend is gone and every later call on it says so; release it. Also the answer to every
 * call in a forked child, which inherits ids but neither threads nor devices.
 */
#define VYRE_ERROR_DEVICE_LOST 16

/**
 * The on-disk cache cannot be read or written.
 */
#define VYRE_ERROR_IO 17

/**
 * A caught panic: a bug in vyre.
 */
#define VYRE_ERROR_INTERNAL 18

/**
 * The outcome of a call. 0 is success; values are never renumbered, new ones may be added.
 */
typedef int32_t vyre_status;

/**
 * A status's name, such as "VYRE_ERROR_TIMEOUT"; "VYRE_ERROR_?" for a number that is no status.
 *
 * @param status any number
 * @return a NUL-terminated string that is never freed and never NULL
 *
 * Any thread may call. Cannot fail.
 */
const char *vyre_status_name(vyre_status status);

/**
 * What to do about a status when no error object says more; never empty.
 *
 * @param status any number
 * @return a NUL-terminated string that is never freed and never NULL
 *
 * Any thread may call. Cannot fail.
 */
const char *vyre_status_fix(vyre_status status);

/** @} */

/** @defgroup vyre_error Errors
 * What went wrong and what to do about it. There is no last error of a thread: each failed call gives its own.
 * @{
 */

/**
 * What went wrong in one call: status, message, advice, native code, source position.
 *
 * The caller owns it and frees it with vyre_error_free(). It never changes, so any threads may read
 * it at once. Its strings live as long as it does.
 */
typedef struct vyre_error vyre_error;

/**
 * The status that came with an error.
 *
 * @param error an error, or NULL
 * @return its status; VYRE_OK for NULL
 *
 * Any thread may call. Cannot fail.
 */
vyre_status vyre_error_status(const vyre_error *error);

/**
 * What happened: which argument, what was seen, what was expected.
 *
 * @param error an error, or NULL
 * @return NUL-terminated UTF-8 that lives as long as the error; "" for NULL, never NULL
 *
 * Any thread may call. Cannot fail.
 */
const char *vyre_error_message(const vyre_error *error);

/**
 * What to do about it; never empty.
 *
 * @param error an error, or NULL
 * @return NUL-terminated UTF-8 that lives as long as the error; never NULL
 *
 * Any thread may call. Cannot fail.
 */
const char *vyre_error_fix(const vyre_error *error);

/**
 * The code that the system or the driver gave: an errno, a CUresult, or 0.
 *
 * @param error an error, or NULL
 * @return the code; 0 for NULL
 *
 * Any thread may call. Cannot fail.
 */
int32_t vyre_error_native_code(const vyre_error *error);

/**
 * Where in the program's source the error lies, if it lies there.
 *
 * @param error an error, or NULL
 * @param line receives the line, from 1; 0 if there is no position; may be NULL
 * @param column receives the column in bytes of UTF-8, from 1; 0 if there is no position; may be NULL
 * @return whether there is a position
 *
 * Any thread may call. Cannot fail.
 */
bool vyre_error_source_position(const vyre_error *error, uint32_t *line, uint32_t *column);

/**
 * Frees an error. Its strings die with it.
 *
 * @param error an error that was not freed yet, or NULL
 *
 * Any thread may call. Cannot fail.
 */
void vyre_error_free(vyre_error *error);

/** @} */

/** @defgroup vyre_log Log
 * The library writes nothing anywhere unless a callback is set, but for the text of a panic, which is a bug, on standard error.
 * @{
 */

/**
 * No messages.
 */
#define VYRE_LOG_OFF 0

/**
 * A call failed; the message starts with the status's name.
 */
#define VYRE_LOG_ERROR 1

/**
 * Something works, but not as well as it could.
 */
#define VYRE_LOG_WARN 2

/**
 * A backend was acquired or released, and why it was chosen.
 */
#define VYRE_LOG_INFO 3

/**
 * A program was loaded.
 */
#define VYRE_LOG_DEBUG 4

/**
 * Takes log messages: userdata, one of VYRE_LOG_*, and NUL-terminated UTF-8 that lives during the call.
 *
 * Called from any thread, from several at once, without a lock of the library: it may call any
 * function of the library. What such calls log is not passed on. It must return, not throw or longjmp.
 */
typedef void (*vyre_log_callback)(void *userdata, int32_t level, const char *message);

/**
 * Called once with the userdata when the library has done with it. As vyre_log_callback, it must return.
 */
typedef void (*vyre_finalizer)(void *userdata);

/**
 * Sets, replaces or clears the log callback of the process.
 *
 * @param level the highest of VYRE_LOG_* that is passed on; VYRE_LOG_OFF for none
 * @param callback takes the messages; NULL clears
 * @param userdata is passed to callback and finalizer; owned by the library until finalizer is called
 * @param finalizer is called exactly once: when the callback was replaced or cleared and its last call
 *        has returned; at once if callback is NULL; not at process exit; not if this call fails; may be NULL
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for an unknown level
 *
 * Any thread may call, also from within the callback.
 */
vyre_status vyre_set_log_callback(int32_t level,
                                  vyre_log_callback callback,
                                  void *userdata,
                                  vyre_finalizer finalizer,
                                  vyre_error **err);

/** @} */

/** @defgroup vyre_handle Handles
 * Values that stand for objects of the library. Children keep their backend alive; release order is free.
 * @{
 */

/**
 * A device with its caches and pools. {0} is null. Acquired by vyre_backend_acquire().
 *
 * Buffers and programs keep their backend alive, so handles may be released in any order.
 */
typedef struct vyre_backend {
  /**
   * Opaque.
   */
  uint64_t id;
} vyre_backend;

/**
 * Bytes on a backend's device. {0} is null.
 */
typedef struct vyre_buffer {
  /**
   * Opaque.
   */
  uint64_t id;
} vyre_buffer;

/**
 * A compiled compute entry point with its bindings. {0} is null.
 */
typedef struct vyre_program {
  /**
   * Opaque.
   */
  uint64_t id;
} vyre_program;

/** @} */

/** @defgroup vyre_backend Backends
 * A device with its caches and pools.
 * @{
 */

/**
 * CUDA device `ordinal` if it can be used, else the CPU; vyre_backend_reason() says which and why.
 */
#define VYRE_BACKEND_AUTO 0

/**
 * The processors of this machine.
 */
#define VYRE_BACKEND_CPU 1

/**
 * A CUDA device.
 */
#define VYRE_BACKEND_CUDA 2

/**
 * Trim flag: first wait until nothing of the backend is under way, and give back what its caches of compiled
 * programs hold, too. Later loads compile again.
 */
#define VYRE_TRIM_ALL 1

/**
 * One of VYRE_BACKEND_*.
 */
typedef uint32_t vyre_backend_kind;

/**
 * Which backend to acquire. Smallest struct_size: 8.
 */
typedef struct vyre_backend_desc {
  /**
   * sizeof(vyre_backend_desc).
   */
  uint32_t struct_size;
  /**
   * One of VYRE_BACKEND_*; default VYRE_BACKEND_AUTO.
   */
  vyre_backend_kind kind;
  /**
   * CUDA device, from 0; the CPU ignores it.
   */
  uint32_t ordinal;
  /**
   * Threads of the CPU backend, the dispatching one included; 0: as many as the process may run on. More
   * than 1024 count as 1024; vyre_backend_info() says how many there are.
   */
  uint32_t cpu_threads;
  /**
   * No flag is defined yet: 0.
   */
  uint64_t flags;
} vyre_backend_desc;

/**
 * What a backend is and what it allows. Every limit is the one that is enforced. Smallest struct_size: 8.
 */
typedef struct vyre_backend_properties {
  /**
   * sizeof(vyre_backend_properties); set by the caller.
   */
  uint32_t struct_size;
  /**
   * VYRE_BACKEND_CPU or VYRE_BACKEND_CUDA.
   */
  vyre_backend_kind kind;
  /**
   * CUDA device; 0 on the CPU.
   */
  uint32_t ordinal;
  /**
   * Threads of the CPU backend, streaming multiprocessors of a CUDA device.
   */
  uint32_t units;
  /**
   * CUDA's, 0 on the CPU.
   */
  uint32_t compute_capability_major;
  /**
   * CUDA's, 0 on the CPU.
   */
  uint32_t compute_capability_minor;
  /**
   * Bytes of memory that the device has.
   */
  uint64_t memory;
  /**
   * Largest workgroup in each dimension, in invocations.
   */
  uint32_t max_workgroup_size[3];
  /**
   * Largest workgroup in all, in invocations.
   */
  uint32_t max_workgroup_invocations;
  /**
   * Bytes of workgroup memory that a program may declare.
   */
  uint64_t max_workgroup_memory;
  /**
   * Largest grid in each dimension, in workgroups.
   */
  uint32_t max_workgroups[3];
  /**
   * Invocations of a subgroup.
   */
  uint32_t subgroup_size;
  /**
   * Largest buffer in bytes.
   */
  uint64_t max_buffer_size;
  /**
   * Bytes of immediates that a program may declare.
   */
  uint32_t max_immediates_size;
  /**
   * 1 if programs with a grid barrier run, else 0.
   */
  uint32_t cooperative;
  /**
   * Time limit of a dispatch that names none, in nanoseconds.
   */
  uint64_t default_timeout_ns;
} vyre_backend_properties;

/**
 * Counts since a backend was acquired or its counters were reset, and gauges as they are now. Smallest
 * struct_size: 16.
 */
typedef struct vyre_backend_counters {
  /**
   * sizeof(vyre_backend_counters); set by the caller.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Dispatches, each repeat counted.
   */
  uint64_t dispatches;
  /**
   * Copies from host memory.
   */
  uint64_t copies_in;
  /**
   * Copies to host memory.
   */
  uint64_t copies_out;
  /**
   * Bytes copied from host memory.
   */
  uint64_t bytes_in;
  /**
   * Bytes copied to host memory.
   */
  uint64_t bytes_out;
  /**
   * Waits for the device.
   */
  uint64_t synchronises;
  /**
   * Checks that every grid barrier of a dispatch held.
   */
  uint64_t audits;
  /**
   * Program loads that found their code in a cache.
   */
  uint64_t program_cache_hits;
  /**
   * Program loads that had to compile.
   */
  uint64_t program_cache_misses;
  /**
   * Allocations that a pool served.
   */
  uint64_t pool_hits;
  /**
   * Allocations that the system served.
   */
  uint64_t pool_misses;
  /**
   * Gauge: bytes that pools and caches hold and vyre_backend_trim() would give back.
   */
  uint64_t retained_bytes;
  /**
   * Gauge: buffers alive.
   */
  uint64_t buffers;
  /**
   * Gauge: bytes in them.
   */
  uint64_t buffer_bytes;
  /**
   * Kernels that a CUDA device was given; 0 on the CPU.
   */
  uint64_t launches;
  /**
   * Audits that found a grid barrier that had not held.
   */
  uint64_t refusals;
  /**
   * Program loads that found their PTX in the cache on disk; they count as program_cache_misses too, as the
   * backend itself had nothing.
   */
  uint64_t disk_hits;
  /**
   * Program loads that looked there and had to compile.
   */
  uint64_t disk_misses;
  /**
   * Programs written to the cache on disk.
   */
  uint64_t disk_writes;
} vyre_backend_counters;

/**
 * Fills a description with its defaults, as VYRE_BACKEND_DESC_INIT does.
 *
 * @param desc the description; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_backend_desc_init(vyre_backend_desc *desc);

/**
 * Sets struct_size and zeroes the rest, as VYRE_BACKEND_PROPERTIES_INIT does.
 *
 * @param properties the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_backend_properties_init(vyre_backend_properties *properties);

/**
 * Sets struct_size and zeroes the rest, as VYRE_BACKEND_COUNTERS_INIT does.
 *
 * @param counters the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_backend_counters_init(vyre_backend_counters *counters);

/**
 * Opens a backend.
 *
 * @param desc which one; see vyre_backend_desc
 * @param out receives the backend, owned by the caller until vyre_backend_release(); {0} on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK; VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size, kind or flag;
 *         VYRE_ERROR_UNSUPPORTED, _DRIVER_UNAVAILABLE or _NO_DEVICE if there is no such backend
 *
 * Each call makes a backend of its own: objects of different backends don't mix. Any thread may call.
 */
vyre_status vyre_backend_acquire(const vyre_backend_desc *desc, vyre_backend *out, vyre_error **err);

/**
 * Gives a backend's handle back. Buffers and programs on it stay valid; the backend goes with the last.
 *
 * @param backend the backend; its handle is stale afterwards
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
 *
 * Any thread may call, also while others use the backend.
 */
vyre_status vyre_backend_release(vyre_backend backend, vyre_error **err);

/**
 * What a backend is and allows.
 *
 * @param backend the backend
 * @param info receives the properties; its struct_size is set by the caller
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
 *
 * Any thread may call.
 */
vyre_status vyre_backend_info(vyre_backend backend, vyre_backend_properties *info, vyre_error **err);

/**
 * The device's name, by two calls.
 *
 * @param backend the backend
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or
 *         there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_backend_name(vyre_backend backend,
                              char *text,
                              size_t capacity,
                              size_t *required,
                              vyre_error **err);

/**
 * Why this backend was chosen, by two calls. For VYRE_BACKEND_AUTO it says what was tried.
 *
 * @param backend the backend
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or
 *         there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_backend_reason(vyre_backend backend,
                                char *text,
                                size_t capacity,
                                size_t *required,
                                vyre_error **err);

/**
 * A backend's counters.
 *
 * @param backend the backend
 * @param counters receives the counters; its struct_size is set by the caller
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
 *
 * Any thread may call. Counters are read one by one while others count on.
 */
vyre_status vyre_backend_telemetry(vyre_backend backend,
                                   vyre_backend_counters *counters,
                                   vyre_error **err);

/**
 * Zeroes a backend's counters; the gauges stay.
 *
 * @param backend the backend
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
 *
 * Any thread may call.
 */
vyre_status vyre_backend_telemetry_reset(vyre_backend backend, vyre_error **err);

/**
 * Gives back the memory that a backend's pools hold and nobody uses.
 *
 * @param backend the backend
 * @param flags 0 or VYRE_TRIM_ALL
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE; VYRE_ERROR_INVALID_ARGUMENT for an unknown flag; with VYRE_TRIM_ALL
 *         VYRE_ERROR_TIMEOUT if something was still under way after the default time limit of a dispatch
 *
 * Any thread may call.
 */
vyre_status vyre_backend_trim(vyre_backend backend,
                              uint64_t flags,
                              vyre_error **err);

/** Initial value of a vyre_backend_desc: what vyre_backend_desc_init() writes. */
#define VYRE_BACKEND_DESC_INIT \
  { (uint32_t)sizeof(vyre_backend_desc), VYRE_BACKEND_AUTO, 0, 0, 0 }

/** Initial value of a vyre_backend_properties: what vyre_backend_properties_init() writes. */
#define VYRE_BACKEND_PROPERTIES_INIT \
  { (uint32_t)sizeof(vyre_backend_properties), 0, 0, 0, 0, 0, 0, { 0, 0, 0 }, 0, 0, { 0, 0, 0 }, 0, 0, 0, 0, 0 }

/** Initial value of a vyre_backend_counters: what vyre_backend_counters_init() writes. */
#define VYRE_BACKEND_COUNTERS_INIT \
  { (uint32_t)sizeof(vyre_backend_counters), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** @} */

/** @defgroup vyre_device Devices
 * What could be acquired, before acquiring it.
 * @{
 */

/**
 * A device that a backend could be acquired on. Smallest struct_size: 16.
 */
typedef struct vyre_device_properties {
  /**
   * sizeof(vyre_device_properties); set by the caller.
   */
  uint32_t struct_size;
  /**
   * VYRE_BACKEND_CPU or VYRE_BACKEND_CUDA: for vyre_backend_desc.
   */
  vyre_backend_kind kind;
  /**
   * For vyre_backend_desc.
   */
  uint32_t ordinal;
  /**
   * Processors, or streaming multiprocessors.
   */
  uint32_t units;
  /**
   * Bytes of memory that the device has.
   */
  uint64_t memory;
  /**
   * CUDA's, 0 on the CPU.
   */
  uint32_t compute_capability_major;
  /**
   * CUDA's, 0 on the CPU.
   */
  uint32_t compute_capability_minor;
  /**
   * 1 if it can be acquired, else 0: vyre_device_reason() says why not.
   */
  uint32_t usable;
  /**
   * 0.
   */
  uint32_t reserved;
} vyre_device_properties;

/**
 * Sets struct_size and zeroes the rest, as VYRE_DEVICE_PROPERTIES_INIT does.
 *
 * @param properties the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_device_properties_init(vyre_device_properties *properties);

/**
 * How many devices there are: CUDA devices first, the CPU last. A CUDA driver that refuses to start or shows
 * no device counts as one device that is not usable, and vyre_device_reason() says which; where no driver is
 * installed there is the CPU alone.
 *
 * @param count receives the number; 0 on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for NULL
 *
 * Any thread may call.
 */
vyre_status vyre_device_count(uint32_t *count, vyre_error **err);

/**
 * What a device is.
 *
 * @param index from 0, below vyre_device_count()
 * @param info receives the properties; its struct_size is set by the caller
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a
 *         bad struct_size
 *
 * Any thread may call.
 */
vyre_status vyre_device_info(uint32_t index, vyre_device_properties *info, vyre_error **err);

/**
 * A device's name, by two calls.
 *
 * @param index from 0, below vyre_device_count()
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT if capacity is
 *         too small or there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_device_name(uint32_t index, char *text, size_t capacity, size_t *required, vyre_error **err);

/**
 * Why a device cannot be acquired, by two calls; "" if it can.
 *
 * @param index from 0, below vyre_device_count()
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT if capacity is
 *         too small or there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_device_reason(uint32_t index,
                               char *text,
                               size_t capacity,
                               size_t *required,
                               vyre_error **err);

/** Initial value of a vyre_device_properties: what vyre_device_properties_init() writes. */
#define VYRE_DEVICE_PROPERTIES_INIT \
  { (uint32_t)sizeof(vyre_device_properties), 0, 0, 0, 0, 0, 0, 0, 0 }

/** @} */

/** @defgroup vyre_host Host memory
 * Memory of the caller's that copies to and from the device are fastest with. Any other memory works, too.
 * @{
 */

/**
 * Allocates host memory that copies to and from a backend's device are fastest with: page-locked memory on
 * CUDA, ordinary pages on the CPU. It is the caller's, for anything; its content is undefined. Page-locked
 * memory is dear to make and taken from everybody else: allocate once, and use it again and again.
 *
 * @param backend the backend that it is for, and which it keeps alive
 * @param size in bytes; not 0
 * @param out receives the address, a multiple of 64, owned by the caller until vyre_host_free(); NULL on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
 *         VYRE_ERROR_OUT_OF_HOST_MEMORY
 *
 * Any thread may call.
 */
vyre_status vyre_host_alloc(vyre_backend backend,
                            uint64_t size,
                            void **out,
                            vyre_error **err);

/**
 * Frees what vyre_host_alloc() gave.
 *
 * @param memory the address; NULL is ignored. No call may be using the memory.
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for an address that vyre_host_alloc() did not give or that was
 *         freed already
 *
 * Any thread may call. On CUDA it may wait for what the device is doing.
 */
vyre_status vyre_host_free(void *memory,
                           vyre_error **err);

/** @} */

/** @defgroup vyre_buffer Buffers
 * Bytes on a device.
 * @{
 */

/**
 * Makes a zeroed buffer.
 *
 * @param backend the backend that it lives on, and which it keeps alive
 * @param size in bytes; not 0
 * @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
 *         VYRE_ERROR_OUT_OF_DEVICE_MEMORY
 *
 * Any thread may call.
 */
vyre_status vyre_buffer_create(vyre_backend backend, uint64_t size, vyre_buffer *out, vyre_error **err);

/**
 * Makes a buffer that holds a copy of the caller's bytes.
 *
 * @param backend the backend that it lives on, and which it keeps alive
 * @param data the bytes; not kept
 * @param size how many; not 0
 * @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
 *         VYRE_ERROR_OUT_OF_DEVICE_MEMORY
 *
 * Any thread may call.
 */
vyre_status vyre_buffer_upload(vyre_backend backend,
                               const void *data,
                               uint64_t size,
                               vyre_buffer *out,
                               vyre_error **err);

/**
 * Makes a buffer over memory of the caller's, without a copy.
 *
 * @param backend the backend that it lives on, and which it keeps alive
 * @param pointer a CUdeviceptr, or a host address on the CPU; a multiple of 16
 * @param size in bytes; not 0
 * @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL, a size of 0, an address
 *         that is not a multiple of 16 or a range that wraps
 *
 * The memory must stay valid until the buffer is released and its last use has ended. Calls on one buffer
 * are ordered by the library; calls on two buffers over the same memory are not, nor is the caller's own
 * access. One dispatch refuses overlapping bindings also across buffers. Any thread may call.
 */
vyre_status vyre_buffer_import(vyre_backend backend,
                               uint64_t pointer,
                               uint64_t size,
                               vyre_buffer *out,
                               vyre_error **err);

/**
 * Copies host bytes into a buffer; done when it returns.
 *
 * @param buffer the buffer
 * @param offset where they go, in bytes
 * @param data the bytes; not kept; may be NULL if size is 0
 * @param size how many
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL, VYRE_ERROR_OUT_OF_RANGE if
 *         offset + size is past the end, or VYRE_ERROR_TIMEOUT if others use the buffer for too long
 *
 * Waits for calls that use the buffer. Any thread may call.
 */
vyre_status vyre_buffer_write(vyre_buffer buffer,
                              uint64_t offset,
                              const void *data,
                              uint64_t size,
                              vyre_error **err);

/**
 * Copies a buffer's bytes to the host; done when it returns.
 *
 * @param buffer the buffer
 * @param offset where they start, in bytes
 * @param data receives the bytes; may be NULL if size is 0
 * @param size how many
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL, VYRE_ERROR_OUT_OF_RANGE if
 *         offset + size is past the end, or VYRE_ERROR_TIMEOUT if others write the buffer for too long
 *
 * Waits for calls that write the buffer. data is untouched on failure. Any thread may call.
 */
vyre_status vyre_buffer_read(vyre_buffer buffer,
                             uint64_t offset,
                             void *data,
                             uint64_t size,
                             vyre_error **err);

/**
 * Repeats a 32-bit word over a range of a buffer.
 *
 * @param buffer the buffer
 * @param offset where the range starts, in bytes; a multiple of 4
 * @param size in bytes; a multiple of 4
 * @param pattern the word
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT if offset or size is no multiple of 4,
 *         VYRE_ERROR_OUT_OF_RANGE if offset + size is past the end, or VYRE_ERROR_TIMEOUT
 *
 * Waits for calls that use the buffer. Any thread may call.
 */
vyre_status vyre_buffer_fill(vyre_buffer buffer,
                             uint64_t offset,
                             uint64_t size,
                             uint32_t pattern,
                             vyre_error **err);

/**
 * Copies a range of one buffer into another of the same backend, or within one as if through a temporary.
 *
 * @param destination the buffer that is written
 * @param destination_offset in bytes
 * @param source the buffer that is read
 * @param source_offset in bytes
 * @param size in bytes
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, also for buffers of two backends, VYRE_ERROR_OUT_OF_RANGE if a
 *         range is past its buffer's end, or VYRE_ERROR_TIMEOUT
 *
 * Waits for calls that use the buffers. Any thread may call.
 */
vyre_status vyre_buffer_copy(vyre_buffer destination,
                             uint64_t destination_offset,
                             vyre_buffer source,
                             uint64_t source_offset,
                             uint64_t size,
                             vyre_error **err);

/**
 * A buffer's size.
 *
 * @param buffer the buffer
 * @param size receives the size in bytes; 0 on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL
 *
 * Any thread may call.
 */
vyre_status vyre_buffer_size(vyre_buffer buffer, uint64_t *size, vyre_error **err);

/**
 * Where a buffer's bytes are: a CUdeviceptr, or a host address on the CPU.
 *
 * @param buffer the buffer
 * @param pointer receives the address; 0 on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL
 *
 * Valid while the buffer is. The library does not order the caller's own accesses through it. Any thread
 * may call.
 */
vyre_status vyre_buffer_native_pointer(vyre_buffer buffer, uint64_t *pointer, vyre_error **err);

/**
 * Gives a buffer back. Its memory is freed when the last call that uses it ends.
 *
 * @param buffer the buffer; its handle is stale afterwards
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
 *
 * Any thread may call, also while others use the buffer.
 */
vyre_status vyre_buffer_release(vyre_buffer buffer, vyre_error **err);

/** @} */

/** @defgroup vyre_program Programs
 * Compiled compute entry points.
 * @{
 */

/**
 * `var<storage, read>`: host_in only.
 */
#define VYRE_ACCESS_READ 1

/**
 * `var<storage, read_write>`: host_out, and host_in if it should not start as zeros.
 */
#define VYRE_ACCESS_READ_WRITE 2

/**
 * `var<uniform>`: host_in only.
 */
#define VYRE_ACCESS_UNIFORM 3

/**
 * WGSL text in UTF-8.
 */
#define VYRE_PROGRAM_WGSL 1

/**
 * A PTX module; CUDA backends only.
 */
#define VYRE_PROGRAM_PTX 2

/**
 * Program flag: leave out the bounds checks of dynamic indices. An index out of bounds is then
 * undefined behaviour, as in C.
 */
#define VYRE_PROGRAM_UNCHECKED 1

/**
 * Program flag: allow fused multiply-add and approximations beyond WGSL's exact rules.
 */
#define VYRE_PROGRAM_FAST_MATH 2

/**
 * Program flag: accept grid barriers that are not provably uniform. Invocations that then disagree fail
 * the dispatch.
 */
#define VYRE_PROGRAM_TRUST_UNIFORMITY 4

/**
 * PTX parameter: the 64-bit address of a binding's first byte.
 */
#define VYRE_PTX_PARAMETER_ADDRESS 1

/**
 * PTX parameter: the 64-bit size of a binding's range in bytes.
 */
#define VYRE_PTX_PARAMETER_SIZE 2

/**
 * PTX parameter: all immediates of the dispatch, as one block.
 */
#define VYRE_PTX_PARAMETER_IMMEDIATES 3

/**
 * PTX text as the backend launches it; for reading.
 */
#define VYRE_PTX_AS_DISPATCHED 0

/**
 * PTX text with the counter of its grid barriers in the module, to be loaded as a VYRE_PROGRAM_PTX. Its
 * parameters are an address and a size for each binding in order, and the immediates if there are any.
 */
#define VYRE_PTX_MODULE_SCOPE 1

/**
 * A program's interface. Smallest struct_size: 16.
 */
typedef struct vyre_program_properties {
  /**
   * sizeof(vyre_program_properties); set by the caller.
   */
  uint32_t struct_size;
  /**
   * Invocations of a workgroup in each dimension, overrides applied.
   */
  uint32_t workgroup_size[3];
  /**
   * Bytes of workgroup memory.
   */
  uint64_t workgroup_memory;
  /**
   * Bytes of immediates that a dispatch passes; exactly this many.
   */
  uint32_t immediates_size;
  /**
   * How many bindings a dispatch passes; see vyre_program_binding().
   */
  uint32_t binding_count;
  /**
   * Places where the program calls gridBarrier(), functions inlined; 0: it uses none.
   */
  uint32_t grid_barriers;
  /**
   * Places where it calls workgroupBarrier(), functions inlined.
   */
  uint32_t workgroup_barriers;
  /**
   * Most workgroups of a dispatch if the program uses a grid barrier.
   */
  uint64_t max_cooperative_workgroups;
} vyre_program_properties;

/**
 * One of VYRE_ACCESS_*.
 */
typedef uint32_t vyre_access;

/**
 * One binding of a program. Smallest struct_size: 16.
 */
typedef struct vyre_binding_properties {
  /**
   * sizeof(vyre_binding_properties); set by the caller.
   */
  uint32_t struct_size;
  /**
   * WGSL's group number.
   */
  uint32_t group;
  /**
   * WGSL's binding number.
   */
  uint32_t binding;
  /**
   * One of VYRE_ACCESS_*.
   */
  vyre_access access;
  /**
   * Bytes of one element of the array that the binding is or ends in, else of the whole.
   */
  uint64_t element_size;
  /**
   * Smallest range in bytes that may be bound.
   */
  uint64_t min_size;
  /**
   * 1 if it ends in a runtime-sized array, else 0.
   */
  uint32_t runtime_sized;
  /**
   * 0.
   */
  uint32_t reserved;
} vyre_binding_properties;

/**
 * One of VYRE_PROGRAM_WGSL and VYRE_PROGRAM_PTX.
 */
typedef uint32_t vyre_program_format;

/**
 * Gives an override constant of the program a value.
 */
typedef struct vyre_override {
  /**
   * Its name, or the decimal digits of its id attribute; NUL-terminated UTF-8.
   */
  const char *name;
  /**
   * Its value, converted to its type; a bool is false at 0.
   */
  double value;
} vyre_override;

/**
 * One of VYRE_PTX_PARAMETER_*.
 */
typedef uint32_t vyre_ptx_parameter_kind;

/**
 * One parameter of a PTX kernel, in the kernel's order.
 */
typedef struct vyre_ptx_parameter {
  /**
   * One of VYRE_PTX_PARAMETER_*.
   */
  vyre_ptx_parameter_kind kind;
  /**
   * Of the binding; 0 for immediates.
   */
  uint32_t group;
  /**
   * Of the binding; 0 for immediates.
   */
  uint32_t binding;
  /**
   * One of VYRE_ACCESS_*: how the kernel uses the binding; 0 for immediates.
   */
  uint32_t access;
} vyre_ptx_parameter;

/**
 * What to load. Smallest struct_size: 24.
 */
typedef struct vyre_program_desc {
  /**
   * sizeof(vyre_program_desc).
   */
  uint32_t struct_size;
  /**
   * One of VYRE_PROGRAM_WGSL and VYRE_PROGRAM_PTX; default WGSL.
   */
  vyre_program_format format;
  /**
   * The program's bytes; need no NUL.
   */
  const void *code;
  /**
   * How many.
   */
  size_t code_size;
  /**
   * Name of the entry point, NUL-terminated UTF-8; NULL: the only one.
   */
  const char *entry_point;
  /**
   * For messages and traces, NUL-terminated UTF-8; may be NULL.
   */
  const char *label;
  /**
   * Any of VYRE_PROGRAM_UNCHECKED, _FAST_MATH and _TRUST_UNIFORMITY.
   */
  uint64_t flags;
  /**
   * Values of override constants; may be NULL if override_count is 0.
   */
  const vyre_override *overrides;
  /**
   * How many.
   */
  size_t override_count;
  /**
   * The PTX kernel's parameters; NULL for WGSL, which declares its own.
   */
  const vyre_ptx_parameter *parameters;
  /**
   * How many; 0 for WGSL.
   */
  size_t parameter_count;
  /**
   * The PTX kernel's block size; {0, 0, 0}: what its `.reqntid` says. {0, 0, 0} for WGSL, which declares its own.
   */
  uint32_t workgroup_size[3];
  /**
   * Bytes of workgroup memory that the PTX kernel takes beyond what it declares (`.extern .shared`); 0 for WGSL.
   */
  uint32_t workgroup_memory;
} vyre_program_desc;

/**
 * One of VYRE_PTX_*.
 */
typedef uint32_t vyre_ptx_contract;

/**
 * Sets struct_size and zeroes the rest, as VYRE_PROGRAM_PROPERTIES_INIT does.
 *
 * @param properties the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_program_properties_init(vyre_program_properties *properties);

/**
 * Sets struct_size and zeroes the rest, as VYRE_BINDING_PROPERTIES_INIT does.
 *
 * @param properties the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_binding_properties_init(vyre_binding_properties *properties);

/**
 * Fills a description with its defaults, as VYRE_PROGRAM_DESC_INIT does.
 *
 * @param desc the description; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_program_desc_init(vyre_program_desc *desc);

/**
 * Compiles a program.
 *
 * @param backend the backend that it runs on, and which it keeps alive
 * @param desc what to load; nothing that it points to is kept
 * @param out receives the program, owned by the caller until vyre_program_release(); {0} on failure
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE; VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size, format,
 *         flag or string, or for PTX parameters or a workgroup size that do not fit the kernel;
 *         VYRE_ERROR_INVALID_PROGRAM with a source position if it does not parse, validate or prove uniform, lacks the
 *         entry point or an override, or if the driver's assembler refuses it; VYRE_ERROR_UNSUPPORTED for what this
 *         backend cannot run; VYRE_ERROR_IO if no folder for the cache on disk is named (CUDA)
 *
 * Any thread may call.
 */
vyre_status vyre_program_load(vyre_backend backend,
                              const vyre_program_desc *desc,
                              vyre_program *out,
                              vyre_error **err);

/**
 * A program's interface.
 *
 * @param program the program
 * @param info receives the properties; its struct_size is set by the caller
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
 *
 * Any thread may call.
 */
vyre_status vyre_program_info(vyre_program program, vyre_program_properties *info, vyre_error **err);

/**
 * One binding of a program.
 *
 * @param program the program
 * @param index from 0, below the program's binding_count; in the order of (group, binding)
 * @param info receives the properties; its struct_size is set by the caller
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for an index too large, NULL or a bad
 *         struct_size
 *
 * Any thread may call.
 */
vyre_status vyre_program_binding(vyre_program program,
                                 uint32_t index,
                                 vyre_binding_properties *info,
                                 vyre_error **err);

/**
 * The name of a binding's variable, by two calls.
 *
 * @param program the program
 * @param index from 0, below the program's binding_count
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if the index is too large, capacity is
 *         too small or there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_program_binding_name(vyre_program program,
                                      uint32_t index,
                                      char *text,
                                      size_t capacity,
                                      size_t *required,
                                      vyre_error **err);

/**
 * The name of a program's entry point, by two calls.
 *
 * @param program the program
 * @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or there is
 *         nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_program_entry_point(vyre_program program,
                                     char *text,
                                     size_t capacity,
                                     size_t *required,
                                     vyre_error **err);

/**
 * A program's PTX text, by two calls.
 *
 * @param program the program
 * @param contract VYRE_PTX_AS_DISPATCHED or VYRE_PTX_MODULE_SCOPE; both give the text of a PTX program as it was
 *        loaded
 * @param text receives NUL-terminated text; may be NULL if capacity is 0
 * @param capacity bytes that text has room for; 0 asks for the size only
 * @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
 *        be NULL if capacity is not 0
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_UNSUPPORTED if the program has no PTX (on the CPU) or has a
 *         gridBarrier() in a loop, which the module-scope contract does not allow, or VYRE_ERROR_INVALID_ARGUMENT if
 *         the contract is none of these, capacity is too small or there is nowhere to write to
 *
 * Any thread may call.
 */
vyre_status vyre_program_ptx(vyre_program program,
                             vyre_ptx_contract contract,
                             char *text,
                             size_t capacity,
                             size_t *required,
                             vyre_error **err);

/**
 * Gives a program back. It is freed when the last dispatch of it ends.
 *
 * @param program the program; its handle is stale afterwards
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
 *
 * Any thread may call, also while others dispatch the program.
 */
vyre_status vyre_program_release(vyre_program program, vyre_error **err);

/** Initial value of a vyre_program_properties: what vyre_program_properties_init() writes. */
#define VYRE_PROGRAM_PROPERTIES_INIT \
  { (uint32_t)sizeof(vyre_program_properties), { 0, 0, 0 }, 0, 0, 0, 0, 0, 0 }

/** Initial value of a vyre_binding_properties: what vyre_binding_properties_init() writes. */
#define VYRE_BINDING_PROPERTIES_INIT \
  { (uint32_t)sizeof(vyre_binding_properties), 0, 0, 0, 0, 0, 0, 0 }

/** Initial value of a vyre_program_desc: what vyre_program_desc_init() writes. */
#define VYRE_PROGRAM_DESC_INIT \
  { (uint32_t)sizeof(vyre_program_desc), VYRE_PROGRAM_WGSL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, 0, { 0, 0, 0 }, 0 }

/** @} */

/** @defgroup vyre_dispatch Dispatch
 * Running a program on a grid of workgroups. A call blocks until the grid is done and audited, never longer than its time limit allows.
 * @{
 */

/**
 * Dispatch flag: launch cooperatively also without a grid barrier.
 */
#define VYRE_DISPATCH_COOPERATIVE 1

/**
 * A timeout_ns that never passes.
 */
#define VYRE_TIMEOUT_UNBOUNDED 18446744073709551615ull

/**
 * A range of a buffer, or host bytes lent for the call. The structure is frozen: it has no struct_size.
 *
 * Bindings of one dispatch may share memory only if the program writes none of it.
 */
typedef struct vyre_binding {
  /**
   * WGSL's group number.
   */
  uint32_t group;
  /**
   * WGSL's binding number.
   */
  uint32_t binding;
  /**
   * A buffer of the program's backend; {0}: host bytes are lent.
   */
  vyre_buffer buffer;
  /**
   * Where the range starts in the buffer, in bytes; a multiple of 16. 0 for host bytes.
   */
  uint64_t offset;
  /**
   * Bytes of the range, or of the host bytes. 0 for a buffer: to its end.
   */
  uint64_t size;
  /**
   * Host bytes that the program finds; required for read-only and uniform bindings, NULL: zeros for
   * read-write ones. NULL with a buffer.
   */
  const void *host_in;
  /**
   * Where what the program wrote goes, if the dispatch succeeds; required for read-write bindings, NULL for
   * others. May equal host_in. NULL with a buffer.
   */
  void *host_out;
} vyre_binding;

/**
 * What to run. Smallest struct_size: 40.
 */
typedef struct vyre_dispatch_desc {
  /**
   * sizeof(vyre_dispatch_desc).
   */
  uint32_t struct_size;
  /**
   * The grid, in workgroups; all zero: as many as the backend runs at once.
   */
  uint32_t workgroups[3];
  /**
   * VYRE_DISPATCH_COOPERATIVE or 0.
   */
  uint64_t flags;
  /**
   * One for each of the program's bindings, in any order; may be NULL if binding_count is 0.
   */
  const vyre_binding *bindings;
  /**
   * How many.
   */
  size_t binding_count;
  /**
   * The program's immediates; may be NULL if immediates_size is 0.
   */
  const void *immediates;
  /**
   * Bytes of them; exactly the program's immediates_size.
   */
  size_t immediates_size;
  /**
   * Time limit in nanoseconds, all repeats together; 0: the backend's default_timeout_ns;
   * VYRE_TIMEOUT_UNBOUNDED: none.
   */
  uint64_t timeout_ns;
  /**
   * How often to run, each run seeing what the one before wrote; 0 means 1.
   */
  uint32_t repeat;
  /**
   * 0.
   */
  uint32_t reserved;
} vyre_dispatch_desc;

/**
 * What a finished dispatch did; sums over its repeats. Smallest struct_size: 16.
 */
typedef struct vyre_dispatch_report {
  /**
   * sizeof(vyre_dispatch_report); set by the caller.
   */
  uint32_t struct_size;
  /**
   * 1 if every grid barrier was checked to have held, or there was none. 0 for a PTX program without the counter
   * `_vyre_grid_barrier` that was launched cooperatively: it may have a barrier that this library does not know.
   */
  uint32_t audited;
  /**
   * Nanoseconds that the device worked.
   */
  uint64_t device_time_ns;
  /**
   * Grid barriers that the grid passed.
   */
  uint64_t barriers;
  /**
   * Arrivals of workgroups at them.
   */
  uint64_t arrivals;
  /**
   * Workgroups of one run.
   */
  uint64_t workgroups;
  /**
   * 1 if the program's code came from a cache when it was loaded, else 0.
   */
  uint32_t from_cache;
  /**
   * 0.
   */
  uint32_t reserved;
} vyre_dispatch_report;

/**
 * Fills a description with its defaults, as VYRE_DISPATCH_DESC_INIT does.
 *
 * @param desc the description; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_dispatch_desc_init(vyre_dispatch_desc *desc);

/**
 * Sets struct_size and zeroes the rest, as VYRE_DISPATCH_REPORT_INIT does.
 *
 * @param report the structure; NULL is ignored
 *
 * Any thread may call. Cannot fail.
 */
void vyre_dispatch_report_init(vyre_dispatch_report *report);

/**
 * Runs a program once (or `repeat` times) and waits until the grid is done and audited.
 *
 * @param program the program
 * @param desc what to run; nothing that it points to is kept
 * @param report receives what was done; its struct_size is set by the caller; zeroed on failure; may be NULL
 * @param err receives an error, NULL on success; may be NULL
 * @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE, also for a buffer of another backend;
 *         VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size or flag, a grid that is zero in part, a misaligned
 *         offset, or immediates of the wrong size; VYRE_ERROR_BINDING_MISMATCH if a binding is missing, superfluous,
 *         named twice, too small, overlapping or of the wrong access; VYRE_ERROR_OUT_OF_RANGE for a range past its
 *         buffer's end or a grid past the limits; VYRE_ERROR_GRID_TOO_LARGE; VYRE_ERROR_TIMEOUT;
 *         VYRE_ERROR_DISPATCH_FAILED; VYRE_ERROR_BARRIER_AUDIT
 *
 * Everything that is wrong with the call is found before anything runs. Calls that use one buffer are
 * ordered: readers together, a writer alone. After a failure while running, what the program wrote to buffers
 * is undefined, and host_out is untouched. Any thread may call.
 */
vyre_status vyre_dispatch(vyre_program program,
                          const vyre_dispatch_desc *desc,
                          vyre_dispatch_report *report,
                          vyre_error **err);

/**
 * Does ahead of time what the first vyre_dispatch() with this description would have to do besides running:
 * checks it, and makes what pools of the backend do not hold yet (streams, memory for lent bindings). For a program with
 * grid barriers on CUDA it also times, once for the backend and for some milliseconds, which of the words that
 * workgroups can meet at are near (a few seconds at most, if others keep the device busy); else that is done after a few
 * dispatches.
 *
 * @param program the program
 * @param desc what is going to be run; nothing of it is run, written or kept
 * @param err receives an error, NULL on success; may be NULL
 * @return what vyre_dispatch() returns for a description that is wrong, VYRE_ERROR_OUT_OF_DEVICE_MEMORY, or VYRE_OK
 *
 * Any thread may call.
 */
vyre_status vyre_program_warm_up(vyre_program program,
                                 const vyre_dispatch_desc *desc,
                                 vyre_error **err);

/**
 * Runs one program several times in order, each as vyre_dispatch() would and each audited.
 *
 * @param program the program
 * @param descs what to run: count descriptions, each with the struct_size of the first, which is the
 *        distance between them
 * @param count how many; 0 does nothing
 * @param reports receives count reports, each with the struct_size of the first; may be NULL
 * @param completed receives how many dispatches were completed, also on failure; may be NULL
 * @param err receives an error, NULL on success; its message names the description; may be NULL
 * @return VYRE_OK, or what vyre_dispatch() returns for the first description that fails
 *
 * Handles, pointers, flags and struct_sizes of all descriptions are checked before the first runs. A failure
 * ends the batch; what the completed dispatches did stands. On a CUDA backend dispatches that follow the failed
 * one may have run by then. Any thread may call.
 */
vyre_status vyre_dispatch_batch(vyre_program program,
                                const vyre_dispatch_desc *descs,
                                size_t count,
                                vyre_dispatch_report *reports,
                                size_t *completed,
                                vyre_error **err);

/** Initial value of a vyre_dispatch_desc: what vyre_dispatch_desc_init() writes. */
#define VYRE_DISPATCH_DESC_INIT \
  { (uint32_t)sizeof(vyre_dispatch_desc), { 0, 0, 0 }, 0, NULL, 0, NULL, 0, 0, 0, 0 }

/** Initial value of a vyre_dispatch_report: what vyre_dispatch_report_init() writes. */
#define VYRE_DISPATCH_REPORT_INIT \
  { (uint32_t)sizeof(vyre_dispatch_report), 0, 0, 0, 0, 0, 0, 0 }

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* VYRE_VYRE_H */
