/* What the tests are written in: C99 that is C++11 too.
 *
 * FAILS runs a call twice, with and without an error object, and holds it to its status, a message that
 * names what is wrong, a fix, and a backend that still works. A failed check is printed, counted and makes the
 * program's exit status 1. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vyre/vyre.h"

static int check_count = 0;
static int check_failures = 0;
static const char *check_test = "";

/* The backend of the test at hand, and where calls put their errors. */
static vyre_backend backend;
static vyre_error *check_error = NULL;
static vyre_error **ERR = &check_error;

static inline int check_that(int held, const char *what, const char *file, int line) {
  check_count++;
  if (!held) {
    check_failures++;
    fprintf(stderr, "%s:%d: %s: %s does not hold\n", file, line, check_test, what);
  }
  return held;
}

#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

static inline void check_equal_u64(uint64_t seen, uint64_t expected, const char *what, const char *file, int line) {
  check_count++;
  if (seen != expected) {
    check_failures++;
    fprintf(stderr, "%s:%d: %s: %s is %llu, expected %llu\n", file, line, check_test, what, (unsigned long long)seen,
            (unsigned long long)expected);
  }
}

#define EQUAL(seen, expected) check_equal_u64((uint64_t)(seen), (uint64_t)(expected), #seen, __FILE__, __LINE__)

/* The call succeeds. Gives whether it did. */
static inline int check_succeeded(vyre_status status, const char *call, const char *file, int line) {
  check_count++;
  if (status == VYRE_OK && check_error == NULL) {
    return 1;
  }
  check_failures++;
  fprintf(stderr, "%s:%d: %s: %s gave %s: %s\n", file, line, check_test, call, vyre_status_name(status),
          vyre_error_message(check_error));
  vyre_error_free(check_error);
  check_error = NULL;
  return 0;
}

#define OK(call) check_succeeded((ERR = &check_error, (call)), #call, __FILE__, __LINE__)

/* A buffer can be made, written, read and released. */
static inline int check_buffers_work(vyre_backend on) {
  static const char text[] = "still there";
  char back[sizeof text] = "";
  vyre_buffer buffer = {0};
  int works = vyre_buffer_upload(on, text, sizeof text, &buffer, NULL) == VYRE_OK &&
              vyre_buffer_read(buffer, 0, back, sizeof text, NULL) == VYRE_OK && memcmp(text, back, sizeof text) == 0;
  return vyre_buffer_release(buffer, NULL) == VYRE_OK && works;
}

static inline void check_failed(vyre_status status, vyre_status expected, const char *needle, const char *call,
                                const char *file, int line) {
  const char *message = vyre_error_message(check_error);
  const char *why = NULL;
  check_count++;
  if (status != expected) {
    why = "has another status";
  } else if (check_error == NULL) {
    why = "gave no error object";
  } else if (vyre_error_status(check_error) != status) {
    why = "gave an error object with another status";
  } else if (strstr(message, needle) == NULL) {
    why = "does not name what is wrong";
  } else if (strlen(vyre_error_fix(check_error)) < 10) {
    why = "has no fix";
  } else if (backend.id != 0 && !check_buffers_work(backend)) {
    why = "left a backend that does not work";
  }
  if (why != NULL) {
    check_failures++;
    fprintf(stderr, "%s:%d: %s: %s %s\n  seen %s: %s\n  expected %s with \"%s\"\n", file, line, check_test, call, why,
            vyre_status_name(status), message, vyre_status_name(expected), needle);
  }
  vyre_error_free(check_error);
  check_error = NULL;
}

/* The call, written with ERR as its last argument, fails with that status and a message that holds `needle`. */
#define FAILS(expected, needle, call)                                                         \
  do {                                                                                        \
    vyre_status check_status;                                                                 \
    ERR = NULL;                                                                               \
    check_status = (call);                                                                    \
    EQUAL(check_status, expected);                                                            \
    FAILS_ONCE(expected, needle, call);                                                       \
  } while (0)

/* The same for a call that does part of its work before it fails: it is made once, with an error object. */
#define FAILS_ONCE(expected, needle, call)                                                    \
  do {                                                                                        \
    vyre_status check_once;                                                                   \
    ERR = &check_error;                                                                       \
    check_error = (vyre_error *)(void *)&check_count; /* it must be overwritten */            \
    check_once = (call);                                                                      \
    check_failed(check_once, expected, needle, #call, __FILE__, __LINE__);                    \
  } while (0)

/* The same for a call with an output handle, which must be null afterwards. */
#define FAILS_OUT(expected, needle, handle, call)                                             \
  do {                                                                                        \
    (handle).id = 77;                                                                         \
    FAILS(expected, needle, call);                                                            \
    EQUAL((handle).id, 0);                                                                    \
  } while (0)

/* Whether VYRE_TEST_BACKEND asks for CUDA; the CPU is the default. */
static inline int check_on_cuda(void) {
  const char *wanted = getenv("VYRE_TEST_BACKEND");
  return wanted != NULL && strcmp(wanted, "cuda") == 0;
}

/* The kind of backend that is tested. */
static inline vyre_backend_kind check_kind(void) { return check_on_cuda() ? VYRE_BACKEND_CUDA : VYRE_BACKEND_CPU; }

/* The backend under test, with that many threads on the CPU; the test cannot go on without one. */
static inline vyre_backend check_acquire(uint32_t threads) {
  vyre_backend acquired = {0};
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  desc.kind = check_kind();
  desc.cpu_threads = threads;
  if (!OK(vyre_backend_acquire(&desc, &acquired, ERR))) {
    exit(1);
  }
  return acquired;
}

/* A WGSL program; {0} if it does not load, which is a failure. */
static inline vyre_program check_load(vyre_backend on, const char *source) {
  vyre_program program = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  desc.code = source;
  desc.code_size = strlen(source);
  desc.label = check_test;
  OK(vyre_program_load(on, &desc, &program, ERR));
  return program;
}

static inline vyre_binding check_bind(uint32_t binding, vyre_buffer buffer) {
  vyre_binding bound;
  memset(&bound, 0, sizeof bound);
  bound.binding = binding;
  bound.buffer = buffer;
  return bound;
}

static inline vyre_dispatch_desc check_grid(uint32_t x, const vyre_binding *bindings, size_t count) {
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  desc.workgroups[0] = x;
  desc.workgroups[1] = x > 0;
  desc.workgroups[2] = x > 0;
  desc.bindings = bindings;
  desc.binding_count = count;
  return desc;
}

/* A binding of host bytes. */
static inline vyre_binding check_lend(uint32_t binding, const void *host_in, void *host_out, uint64_t size) {
  vyre_binding bound;
  memset(&bound, 0, sizeof bound);
  bound.binding = binding;
  bound.host_in = host_in;
  bound.host_out = host_out;
  bound.size = size;
  return bound;
}

#define ADD_ONE                                                        \
  "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n" \
  "@compute @workgroup_size(64)\n"                                     \
  "fn add_one(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
  "  data[id.x] += 1u;\n"                                              \
  "}\n"

/* A dispatch still gives the right answer. */
static inline void check_dispatch_works(vyre_backend on) {
  vyre_program program = check_load(on, ADD_ONE);
  uint32_t data[64] = {41};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(data[0], 42);
  EQUAL(data[63], 1);
  OK(vyre_program_release(program, ERR));
}

/* Runs a test with a backend of its own. */
static inline void check_run(const char *name, void (*test)(void)) {
  int before = check_failures;
  check_test = name;
  backend = check_acquire(2);
  test();
  OK(vyre_backend_release(backend, ERR));
  backend.id = 0;
  printf("%s %s\n", before == check_failures ? "ok  " : "FAIL", name);
  fflush(stdout);
}

#define RUN(test) check_run(#test, test)

/* Not every test file uses everything above. */
static inline void check_all_used(void) {
  (void)check_lend;
  (void)check_dispatch_works;
  (void)check_run;
  (void)check_failed;
  (void)check_equal_u64;
}

static inline int check_finish(void) {
  check_all_used();
  printf("%d checks, %d failures\n", check_count, check_failures);
  return check_failures != 0 || check_count == 0;
}

#endif
