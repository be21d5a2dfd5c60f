/* Programs that run: resident and lent memory, barriers, repeats, batches, immediates. */
#include "check.h"

static void adds_one_in_a_buffer(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  vyre_buffer buffer = {0};
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  uint32_t data[256], i;
  vyre_binding bound;
  vyre_dispatch_desc desc;
  for (i = 0; i < 256; i++) {
    data[i] = i * 3;
  }
  OK(vyre_buffer_upload(backend, data, sizeof data, &buffer, ERR));
  bound = check_bind(0, buffer);
  desc = check_grid(4, &bound, 1);
  OK(vyre_dispatch(program, &desc, &report, ERR));
  EQUAL(report.workgroups, 4);
  EQUAL(report.barriers, 0);
  CHECK(report.device_time_ns > 0);
  OK(vyre_buffer_read(buffer, 0, data, sizeof data, ERR));
  for (i = 0; i < 256; i++) {
    EQUAL(data[i], i * 3 + 1);
  }
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
}

/* A range in the middle: elements outside it are not touched, indices past it are dropped. */
static void ranges_bound_what_is_reached(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  vyre_buffer buffer = {0};
  uint32_t data[128], i;
  vyre_binding bound;
  vyre_dispatch_desc desc;
  OK(vyre_buffer_create(backend, sizeof data, &buffer, ERR));
  bound = check_bind(0, buffer);
  bound.offset = 64;
  bound.size = 40;
  desc = check_grid(2, &bound, 1);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  OK(vyre_buffer_read(buffer, 0, data, sizeof data, ERR));
  for (i = 0; i < 128; i++) {
    EQUAL(data[i], i >= 16 && i < 26);
  }
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
}

static void host_bytes_are_lent(void) {
  vyre_program program = check_load(backend,
                                    "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
                                    "@group(0) @binding(1) var<uniform> b: vec4<u32>;\n"
                                    "@group(0) @binding(2) var<storage, read_write> c: array<u32>;\n"
                                    "@compute @workgroup_size(16)\n"
                                    "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
                                    "  c[id.x] += a[id.x] * b.y;\n"
                                    "}\n");
  uint32_t a[16], b[4] = {1, 10, 100, 1000}, in[16], out[16], i;
  vyre_binding bound[3];
  vyre_dispatch_desc desc = check_grid(1, bound, 3);
  for (i = 0; i < 16; i++) {
    a[i] = i;
    in[i] = 1000 + i;
    out[i] = 99;
  }
  bound[0] = check_lend(2, in, out, sizeof out);
  bound[1] = check_lend(0, a, NULL, sizeof a);
  bound[2] = check_lend(1, b, NULL, sizeof b);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  for (i = 0; i < 16; i++) {
    EQUAL(out[i], 1000 + i + i * 10);
    EQUAL(in[i], 1000 + i);
  }
  /* Without host_in it starts as zeros; with the same memory it is updated in place. */
  bound[0].host_in = NULL;
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(out[3], 30);
  bound[0] = check_lend(2, in, in, sizeof in);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(in[3], 1033);
  OK(vyre_program_release(program, ERR));
}

/* Every workgroup reads what the last one wrote before the barrier. */
static void a_grid_barrier_holds(void) {
  enum { GROUPS = 64, SIZE = 64, ALL = GROUPS * SIZE };
  vyre_program program = check_load(backend,
                                    "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
                                    "@group(0) @binding(1) var<storage, read_write> b: array<u32>;\n"
                                    "@compute @workgroup_size(64)\n"
                                    "fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"
                                    "        @builtin(num_workgroups) grid: vec3<u32>) {\n"
                                    "  let all = grid.x * 64u;\n"
                                    "  for (var round = 0u; round < 5u; round++) {\n"
                                    "    a[id.x] = id.x + round;\n"
                                    "    gridBarrier();\n"
                                    "    b[id.x] += a[all - 1u - id.x];\n"
                                    "    gridBarrier();\n"
                                    "  }\n"
                                    "}\n");
  vyre_buffer a = {0}, b = {0};
  vyre_binding bound[2];
  vyre_dispatch_desc desc = check_grid(GROUPS, bound, 2);
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  static uint32_t back[ALL];
  uint32_t i, wrong = 0;
  OK(vyre_buffer_create(backend, sizeof back, &a, ERR));
  OK(vyre_buffer_create(backend, sizeof back, &b, ERR));
  bound[0] = check_bind(0, a);
  bound[1] = check_bind(1, b);
  OK(vyre_dispatch(program, &desc, &report, ERR));
  EQUAL(report.workgroups, GROUPS);
  EQUAL(report.barriers, 10);
  EQUAL(report.arrivals, 10 * GROUPS);
  EQUAL(report.audited, 1);
  OK(vyre_buffer_read(b, 0, back, sizeof back, ERR));
  for (i = 0; i < ALL; i++) {
    wrong += back[i] != 5 * (ALL - 1 - i) + 10;
  }
  EQUAL(wrong, 0);
  OK(vyre_buffer_release(a, ERR));
  OK(vyre_buffer_release(b, ERR));
  OK(vyre_program_release(program, ERR));
}

static void the_grid_may_be_left_to_the_backend(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  static uint32_t data[1 << 20];
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(0, &bound, 1);
  OK(vyre_backend_info(backend, &info, ERR));
  OK(vyre_dispatch(program, &desc, &report, ERR));
  /* As many as run at once: one a thread of the CPU, some on each multiprocessor of a GPU. */
  if (check_on_cuda()) {
    CHECK(report.workgroups > info.units && report.workgroups % info.units == 0);
  } else {
    EQUAL(report.workgroups, info.units);
  }
  CHECK(64 * report.workgroups <= sizeof data / sizeof data[0]);
  EQUAL(data[64 * report.workgroups - 1], 1);
  OK(vyre_program_release(program, ERR));
}

/* Nothing runs and nothing is written, and what would be refused is. */
static void warming_up_runs_nothing(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {5};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  vyre_backend_counters before = VYRE_BACKEND_COUNTERS_INIT, after = VYRE_BACKEND_COUNTERS_INIT;
  OK(vyre_program_warm_up(program, &desc, ERR));
  EQUAL(data[0], 5);
  OK(vyre_backend_telemetry(backend, &before, ERR));
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  OK(vyre_backend_telemetry(backend, &after, ERR));
  if (check_on_cuda()) { /* the CPU's pool holds what a grid keeps across a barrier, by the size of the grid */
    EQUAL(after.pool_misses, before.pool_misses);
  }
  EQUAL(data[0], 6);
  desc.binding_count = 0;
  FAILS(VYRE_ERROR_BINDING_MISMATCH, "missing", vyre_program_warm_up(program, &desc, ERR));
  OK(vyre_program_release(program, ERR));
}

static void repeats_see_each_other(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  desc.repeat = 1000;
  OK(vyre_dispatch(program, &desc, &report, ERR));
  EQUAL(data[0], 1000);
  EQUAL(data[63], 1000);
  EQUAL(report.workgroups, 1);
  desc.repeat = 0;
  desc.flags = VYRE_DISPATCH_COOPERATIVE;
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(data[0], 1001);
  OK(vyre_program_release(program, ERR));
}

#define IMMEDIATES                                                \
  "struct Parameters { factor: u32, offset: u32 }\n"              \
  "var<immediate> parameters: Parameters;\n"                      \
  "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n" \
  "@compute @workgroup_size(4)\n"                                 \
  "fn main(@builtin(local_invocation_index) i: u32) {\n"          \
  "  o[i] = o[i] * parameters.factor + parameters.offset;\n"      \
  "}\n"

static void immediates_are_passed(void) {
  vyre_program program = check_load(backend, IMMEDIATES);
  uint32_t data[4] = {1, 2, 3, 4}, parameters[3] = {10, 7, 0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  OK(vyre_program_info(program, &info, ERR));
  EQUAL(info.immediates_size, 8);
  desc.immediates = parameters;
  desc.immediates_size = 8;
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(data[0], 17);
  EQUAL(data[3], 47);
  desc.immediates_size = 4;
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "immediates_size is 4", vyre_dispatch(program, &desc, NULL, ERR));
  desc.immediates_size = 12;
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "takes 8 bytes", vyre_dispatch(program, &desc, NULL, ERR));
  desc.immediates = NULL;
  desc.immediates_size = 0;
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "immediates_size is 0", vyre_dispatch(program, &desc, NULL, ERR));
  EQUAL(data[0], 17);
  OK(vyre_program_release(program, ERR));
}

static void batches_run_in_order(void) {
  enum { COUNT = 5 };
  vyre_program program = check_load(backend, IMMEDIATES);
  vyre_buffer buffer = {0};
  uint32_t parameters[COUNT][2], word = 0, i;
  vyre_binding bound;
  vyre_dispatch_desc descs[COUNT];
  vyre_dispatch_report reports[COUNT];
  size_t completed = 0;
  OK(vyre_buffer_create(backend, 16, &buffer, ERR));
  bound = check_bind(0, buffer);
  for (i = 0; i < COUNT; i++) {
    parameters[i][0] = 10;
    parameters[i][1] = i + 1;
    descs[i] = check_grid(1, &bound, 1);
    descs[i].immediates = parameters[i];
    descs[i].immediates_size = 8;
    vyre_dispatch_report_init(&reports[i]);
  }
  OK(vyre_dispatch_batch(program, descs, COUNT, reports, &completed, ERR));
  EQUAL(completed, COUNT);
  EQUAL(reports[COUNT - 1].workgroups, 1);
  OK(vyre_buffer_read(buffer, 12, &word, 4, ERR));
  EQUAL(word, 12345);
  OK(vyre_dispatch_batch(program, descs, COUNT, NULL, NULL, ERR));
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
}

/* Several in a row: each is a dispatch of its own all the same. */
static void a_batch_may_say_the_same_again(void) {
  enum { COUNT = 7 };
  static const int which[COUNT] = {0, 0, 1, 1, 1, 0, 2};
  vyre_program program = check_load(backend, IMMEDIATES);
  vyre_buffer buffer = {0};
  uint32_t parameters[3][2] = {{10, 1}, {10, 2}, {10, 3}}, data[4] = {0}, word = 0, i;
  vyre_binding bound;
  vyre_dispatch_desc descs[COUNT];
  vyre_dispatch_report reports[COUNT];
  size_t completed = 0;
  OK(vyre_buffer_create(backend, 16, &buffer, ERR));
  bound = check_bind(0, buffer);
  for (i = 0; i < COUNT; i++) {
    descs[i] = check_grid(1, &bound, 1);
    descs[i].immediates = parameters[which[i]];
    descs[i].immediates_size = 8;
    descs[i].repeat = i == 6 ? 2 : 0;
    vyre_dispatch_report_init(&reports[i]);
  }
  OK(vyre_dispatch_batch(program, descs, COUNT, reports, &completed, ERR));
  EQUAL(completed, COUNT);
  for (i = 0; i < COUNT; i++) {
    EQUAL(reports[i].workgroups, 1);
    EQUAL(reports[i].audited, 1);
  }
  OK(vyre_buffer_read(buffer, 12, &word, 4, ERR));
  EQUAL(word, 11222133);
  /* What is lent is copied in and out for each. */
  bound = check_lend(0, data, data, sizeof data);
  OK(vyre_dispatch_batch(program, descs, 6, reports, &completed, ERR));
  EQUAL(completed, 6);
  EQUAL(data[3], 112221);
  /* The first of those that are wrong is named, and those before it ran. */
  data[3] = 0;
  descs[3].immediates_size = descs[4].immediates_size = 4;
  FAILS_ONCE(VYRE_ERROR_INVALID_ARGUMENT, "descs[3]: ", vyre_dispatch_batch(program, descs, 6, reports, &completed, ERR));
  EQUAL(completed, 3);
  EQUAL(data[3], 112);
  EQUAL(reports[2].workgroups, 1);
  EQUAL(reports[3].workgroups, 0);
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_program_release(program, ERR));
}

static void a_batch_ends_at_its_first_failure(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data), small = bound;
  vyre_dispatch_desc descs[3];
  vyre_dispatch_report reports[3];
  size_t completed = 9;
  int i;
  for (i = 0; i < 3; i++) {
    descs[i] = check_grid(1, &bound, 1);
    vyre_dispatch_report_init(&reports[i]);
    reports[i].workgroups = 77;
  }
  small.size = 2;
  descs[1].bindings = &small;
  EQUAL(vyre_dispatch_batch(program, descs, 3, reports, &completed, &check_error), VYRE_ERROR_BINDING_MISMATCH);
  CHECK(strncmp(vyre_error_message(check_error), "descs[1]: ", 10) == 0);
  vyre_error_free(check_error);
  check_error = NULL;
  EQUAL(completed, 1);
  EQUAL(data[0], 1);
  EQUAL(reports[0].workgroups, 1);
  EQUAL(reports[1].workgroups, 0);
  EQUAL(reports[2].workgroups, 0);
  /* What can be seen beforehand is found before anything runs. */
  descs[1] = check_grid(1, &bound, 1);
  descs[2].flags = 8;
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "descs[2]: flags has unknown bits 0x8",
        vyre_dispatch_batch(program, descs, 3, reports, &completed, ERR));
  EQUAL(completed, 0);
  EQUAL(data[0], 1);
  OK(vyre_program_release(program, ERR));
}

static void programs_work_in_every_flag(void) {
  static const uint64_t flags[4] = {VYRE_PROGRAM_UNCHECKED, VYRE_PROGRAM_FAST_MATH, VYRE_PROGRAM_TRUST_UNIFORMITY,
                                    VYRE_PROGRAM_UNCHECKED | VYRE_PROGRAM_FAST_MATH | VYRE_PROGRAM_TRUST_UNIFORMITY};
  int i;
  for (i = 0; i < 4; i++) {
    vyre_program program = {0};
    vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
    uint32_t data[64] = {5};
    vyre_binding bound = check_lend(0, data, data, sizeof data);
    vyre_dispatch_desc grid = check_grid(1, &bound, 1);
    desc.code = ADD_ONE;
    desc.code_size = strlen(ADD_ONE);
    desc.flags = flags[i];
    OK(vyre_program_load(backend, &desc, &program, ERR));
    OK(vyre_dispatch(program, &grid, NULL, ERR));
    EQUAL(data[0], 6);
    OK(vyre_program_release(program, ERR));
  }
}

/* A log callback that asks for everything hears of loads, once each. */
static void count(void *userdata, int32_t level, const char *message) {
  *(int *)userdata += level == VYRE_LOG_DEBUG && strstr(message, "add_one") != NULL;
}

static void loads_are_logged(void) {
  int loads = 0;
  vyre_program program;
  OK(vyre_set_log_callback(VYRE_LOG_DEBUG, count, &loads, NULL, ERR));
  program = check_load(backend, ADD_ONE);
  OK(vyre_set_log_callback(VYRE_LOG_OFF, NULL, NULL, NULL, ERR));
  EQUAL(loads, 1);
  OK(vyre_program_release(program, ERR));
}

int main(void) {
  RUN(loads_are_logged);
  RUN(adds_one_in_a_buffer);
  RUN(ranges_bound_what_is_reached);
  RUN(host_bytes_are_lent);
  RUN(a_grid_barrier_holds);
  RUN(the_grid_may_be_left_to_the_backend);
  RUN(warming_up_runs_nothing);
  RUN(repeats_see_each_other);
  RUN(immediates_are_passed);
  RUN(batches_run_in_order);
  RUN(a_batch_may_say_the_same_again);
  RUN(a_batch_ends_at_its_first_failure);
  RUN(programs_work_in_every_flag);
  return check_finish();
}
