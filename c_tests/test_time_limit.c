/* Loops that never end, and how soon the call returns. */
#include <time.h>

#include "check.h"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Under valgrind or on a loaded machine the same happens, only later. */
static double patience(void) { return getenv("VYRE_TEST_SLOW") != NULL ? 60.0 : 1.0; }

static void ends_in_time(const char *source, uint32_t workgroups, uint32_t repeat) {
  vyre_program program = check_load(backend, source);
  static uint32_t data[1024];
  vyre_binding bound;
  vyre_dispatch_desc desc;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  double start;
  memset(data, 0, sizeof data);
  bound = check_lend(0, data, data, sizeof data);
  desc = check_grid(workgroups, &bound, 1);
  desc.timeout_ns = 100000000;
  desc.repeat = repeat;
  start = seconds();
  EQUAL(vyre_dispatch(program, &desc, &report, &check_error), VYRE_ERROR_TIMEOUT);
  CHECK(seconds() - start >= 0.09);
  CHECK(seconds() - start < patience());
  check_failed(vyre_error_status(check_error), VYRE_ERROR_TIMEOUT, "100", "an endless loop", __FILE__, __LINE__);
  EQUAL(report.workgroups, 0);
  OK(vyre_program_release(program, ERR));
  check_dispatch_works(backend);
}

#define HEAD                                                      \
  "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n" \
  "@compute @workgroup_size(8)\n"                                 \
  "fn main(@builtin(local_invocation_index) i: u32) {\n"

static void an_endless_loop(void) {
  ends_in_time(HEAD "  while o[1000] == 0u { o[i] += 1u; }\n}\n", 4, 1);
}

static void an_endless_loop_in_one_workgroup(void) {
  ends_in_time(HEAD "  while o[1000] == 0u { o[i] += 1u; }\n}\n", 1, 1);
}

static void an_endless_loop_of_workgroup_barriers(void) {
  ends_in_time(HEAD "  loop { o[i] += 1u; workgroupBarrier(); }\n}\n", 2, 1);
}

static void an_endless_loop_of_grid_barriers(void) {
  ends_in_time(HEAD "  for (var n = 0u; n < 0xFFFFFFFFu; n++) { o[i] += 1u; gridBarrier(); }\n}\n", 8, 1);
}

static void more_repeats_than_there_is_time_for(void) {
  ends_in_time(HEAD "  o[i] += 1u;\n}\n", 1, UINT32_MAX);
}

/* Six dispatches that are the same, of which the fourth does not end. */
static void one_of_a_batch(void) {
  vyre_program program = check_load(backend, HEAD "  o[i] += 1u;\n  while o[i] == 4u { o[i + 8u] += 1u; }\n}\n");
  uint32_t zeros[16] = {0}, word = 0;
  vyre_buffer buffer = {0};
  vyre_binding bound;
  vyre_dispatch_desc descs[6];
  vyre_dispatch_report reports[6];
  size_t completed = 9;
  int i;
  OK(vyre_buffer_create(backend, sizeof zeros, &buffer, ERR));
  bound = check_bind(0, buffer);
  for (i = 0; i < 6; i++) {
    descs[i] = check_grid(1, &bound, 1);
    descs[i].timeout_ns = 100000000;
    vyre_dispatch_report_init(&reports[i]);
  }
  FAILS_ONCE(VYRE_ERROR_TIMEOUT, "descs[3]: ", vyre_dispatch_batch(program, descs, 6, reports, &completed, ERR));
  EQUAL(completed, 3);
  EQUAL(reports[2].workgroups, 1);
  EQUAL(reports[3].workgroups, 0);
  EQUAL(reports[5].workgroups, 0);
  OK(vyre_buffer_read(buffer, 0, &word, 4, ERR));
  CHECK(word >= 4);
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
  check_dispatch_works(backend);
}

int main(void) {
  RUN(an_endless_loop);
  RUN(an_endless_loop_in_one_workgroup);
  RUN(an_endless_loop_of_workgroup_barriers);
  RUN(an_endless_loop_of_grid_barriers);
  RUN(more_repeats_than_there_is_time_for);
  RUN(one_of_a_batch);
  return check_finish();
}
