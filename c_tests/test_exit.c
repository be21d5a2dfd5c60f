/* Calls from an atexit handler: the process is on its way out, and the library still does what it says. */
#include <unistd.h>

#include "check.h"

static vyre_program program;
static vyre_buffer buffer;

/* What the harness prints at the end is printed already: a failure here changes the exit status. */
static void at_exit(void) {
  vyre_binding bound = check_bind(0, buffer);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  uint32_t word = 0;
  vyre_status status = vyre_dispatch(program, &desc, NULL, NULL);
  check_test = "at_exit";
  if (check_on_cuda() && status == VYRE_ERROR_DEVICE_LOST) {
    /* The driver's own exit handler was here first. Objects are still released, without a word. */
    EQUAL(vyre_buffer_read(buffer, 0, &word, 4, NULL), VYRE_ERROR_DEVICE_LOST);
    OK(vyre_backend_release(backend, ERR));
    OK(vyre_program_release(program, ERR));
    OK(vyre_buffer_release(buffer, ERR));
    if (check_failures != 0) {
      fflush(stderr);
      _exit(1);
    }
    return;
  }
  EQUAL(status, VYRE_OK);
  OK(vyre_buffer_read(buffer, 0, &word, 4, ERR));
  EQUAL(word, 2);
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "data is NULL", vyre_buffer_read(buffer, 0, NULL, 4, ERR));
  OK(vyre_backend_release(backend, ERR));
  OK(vyre_program_release(program, ERR));
  /* The last child takes the backend and its threads with it. */
  OK(vyre_buffer_release(buffer, ERR));
  if (check_failures != 0) {
    fflush(stderr);
    _exit(1);
  }
}

int main(void) {
  vyre_binding bound;
  vyre_dispatch_desc desc;
  check_test = "main";
  EQUAL(atexit(at_exit), 0);
  backend = check_acquire(2);
  program = check_load(backend, ADD_ONE);
  OK(vyre_buffer_create(backend, 256, &buffer, ERR));
  bound = check_bind(0, buffer);
  desc = check_grid(1, &bound, 1);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  return check_finish();
}
