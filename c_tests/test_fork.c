/* A forked child is told so, by every call that can fail, at once. */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Runs `child` in a fork and gives what it returned; -1 if it had to be killed because it hung. The answer comes
 * through a pipe, because under valgrind the exit status is valgrind's: a child leaks what its parent's threads held. */
static int in_child(int (*child)(void)) {
  int ends[2], answer = -1, status = 0;
  pid_t pid;
  fflush(stdout);
  fflush(stderr);
  if (pipe(ends) != 0) {
    return -1;
  }
  pid = fork();
  if (pid == 0) {
    unsigned char failed;
    alarm(getenv("VYRE_TEST_SLOW") != NULL ? 200 : 20); /* a child that hangs dies of it */
    failed = child() != 0;
    _exit(write(ends[1], &failed, 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  if (pid > 0) {
    unsigned char failed;
    if (read(ends[0], &failed, 1) == 1) {
      answer = failed;
    }
    waitpid(pid, &status, 0);
  }
  close(ends[0]);
  return answer;
}

static vyre_buffer buffer;
static vyre_program program;

#define LOST(call) check_failed((call), VYRE_ERROR_DEVICE_LOST, "fork", #call, __FILE__, __LINE__)

static int every_call_is_refused(void) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_backend_counters counters = VYRE_BACKEND_COUNTERS_INIT;
  vyre_program_desc source = VYRE_PROGRAM_DESC_INIT;
  vyre_program_properties interface_info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_binding_properties binding = VYRE_BINDING_PROPERTIES_INIT;
  vyre_dispatch_desc grid = VYRE_DISPATCH_DESC_INIT;
  vyre_backend on = backend, out = {77};
  vyre_buffer out_buffer = {77};
  vyre_program out_program = {77};
  char text[64];
  size_t required = 0;
  void *memory = text;
  uint64_t value = 0;
  uint32_t count = 0;
  check_failures = 0;
  backend.id = 0; /* the harness must not look whether it works: it does not */
  LOST(vyre_backend_acquire(&desc, &out, ERR));
  EQUAL(out.id, 0);
  LOST(vyre_backend_info(on, &info, ERR));
  LOST(vyre_backend_name(on, text, sizeof text, &required, ERR));
  LOST(vyre_backend_reason(on, text, sizeof text, &required, ERR));
  LOST(vyre_backend_telemetry(on, &counters, ERR));
  LOST(vyre_backend_telemetry_reset(on, ERR));
  LOST(vyre_backend_trim(on, 0, ERR));
  LOST(vyre_device_count(&count, ERR));
  LOST(vyre_buffer_create(on, 16, &out_buffer, ERR));
  EQUAL(out_buffer.id, 0);
  LOST(vyre_buffer_upload(on, text, 16, &out_buffer, ERR));
  LOST(vyre_buffer_import(on, 16, 16, &out_buffer, ERR));
  LOST(vyre_buffer_write(buffer, 0, text, 4, ERR));
  LOST(vyre_buffer_read(buffer, 0, text, 4, ERR));
  LOST(vyre_buffer_fill(buffer, 0, 4, 0, ERR));
  LOST(vyre_buffer_copy(buffer, 0, buffer, 0, 4, ERR));
  LOST(vyre_buffer_size(buffer, &value, ERR));
  LOST(vyre_buffer_native_pointer(buffer, &value, ERR));
  LOST(vyre_program_load(on, &source, &out_program, ERR));
  EQUAL(out_program.id, 0);
  LOST(vyre_program_info(program, &interface_info, ERR));
  LOST(vyre_program_binding(program, 0, &binding, ERR));
  LOST(vyre_program_binding_name(program, 0, text, sizeof text, &required, ERR));
  LOST(vyre_program_entry_point(program, text, sizeof text, &required, ERR));
  LOST(vyre_program_ptx(program, VYRE_PTX_AS_DISPATCHED, text, sizeof text, &required, ERR));
  LOST(vyre_dispatch(program, &grid, NULL, ERR));
  LOST(vyre_program_warm_up(program, &grid, ERR));
  LOST(vyre_host_alloc(on, 16, &memory, ERR));
  CHECK(memory == NULL);
  LOST(vyre_host_free(text, ERR));
  LOST(vyre_dispatch_batch(program, &grid, 1, NULL, &required, ERR));
  LOST(vyre_set_log_callback(VYRE_LOG_OFF, NULL, NULL, NULL, ERR));
  LOST(vyre_program_release(program, ERR));
  LOST(vyre_buffer_release(buffer, ERR));
  LOST(vyre_backend_release(on, ERR));
  /* Handles are not even looked at. */
  out.id = 12345;
  LOST(vyre_backend_release(out, ERR));
  /* What cannot fail still works. */
  CHECK(strlen(vyre_version_string()) > 0);
  CHECK(strlen(vyre_status_name(VYRE_ERROR_DEVICE_LOST)) > 0);
  return check_failures != 0;
}

static int a_grandchild_is_refused_too(void) { return in_child(every_call_is_refused); }

static int works_when_nothing_was_acquired_before(void) {
  uint32_t word = 0;
  vyre_buffer made = {0};
  backend = check_acquire(2);
  OK(vyre_buffer_create(backend, 16, &made, ERR));
  OK(vyre_buffer_fill(made, 0, 16, 7, ERR));
  OK(vyre_buffer_read(made, 0, &word, 4, ERR));
  EQUAL(word, 7);
  OK(vyre_buffer_release(made, ERR));
  check_dispatch_works(backend);
  OK(vyre_backend_release(backend, ERR));
  return check_failures != 0;
}

static void children_are_refused(void) {
  uint32_t word = 0;
  OK(vyre_buffer_create(backend, 16, &buffer, ERR));
  program = check_load(backend, ADD_ONE);
  EQUAL(in_child(every_call_is_refused), 0);
  EQUAL(in_child(a_grandchild_is_refused_too), 0);
  /* The parent is none the wiser. */
  OK(vyre_buffer_fill(buffer, 0, 16, 5, ERR));
  OK(vyre_buffer_read(buffer, 12, &word, 4, ERR));
  EQUAL(word, 5);
  OK(vyre_program_release(program, ERR));
  OK(vyre_buffer_release(buffer, ERR));
  check_dispatch_works(backend);
}

int main(void) {
  check_test = "works_when_nothing_was_acquired_before";
  EQUAL(vyre_abi_version(), VYRE_ABI_VERSION);
  EQUAL(in_child(works_when_nothing_was_acquired_before), 0);
  RUN(children_are_refused);
  return check_finish();
}
