/* PTX programs: kernels of the caller's, and the module-scope contract of grid barriers.
 *
 * Their launches need a GPU. Without one only the refusal is tested, and the rest says that it was skipped. */
#include "check.h"

#define PROGRAM VYRE_ERROR_INVALID_PROGRAM
#define ARG VYRE_ERROR_INVALID_ARGUMENT

/* out[i] = in[i] * factor + offset, for i below size / 4. */
#define SCALE                                                                              \
  ".version 7.0\n.target sm_70\n.address_size 64\n"                                        \
  ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u64 out_size,\n"         \
  "                      .param .align 4 .b8 factors[8])\n"                                \
  "{\n"                                                                                    \
  "  .reg .pred %p;\n  .reg .b32 %r<8>;\n  .reg .b64 %d<8>;\n"                             \
  "  mov.u32 %r0, %ctaid.x;\n  mov.u32 %r1, %ntid.x;\n  mov.u32 %r2, %tid.x;\n"            \
  "  mad.lo.u32 %r0, %r0, %r1, %r2;\n  mul.wide.u32 %d0, %r0, 4;\n"                        \
  "  ld.param.u64 %d1, [out_size];\n  setp.ge.u64 %p, %d0, %d1;\n  @%p ret;\n"             \
  "  ld.param.u64 %d2, [in];\n  add.u64 %d2, %d2, %d0;\n  ld.global.u32 %r3, [%d2];\n"     \
  "  ld.param.u32 %r4, [factors];\n  ld.param.u32 %r5, [factors+4];\n"                     \
  "  mad.lo.u32 %r3, %r3, %r4, %r5;\n"                                                     \
  "  ld.param.u64 %d3, [out];\n  add.u64 %d3, %d3, %d0;\n  st.global.u32 [%d3], %r3;\n"    \
  "  ret;\n}\n"

static const vyre_ptx_parameter scale_parameters[4] = {
    {VYRE_PTX_PARAMETER_ADDRESS, 0, 0, VYRE_ACCESS_READ},
    {VYRE_PTX_PARAMETER_ADDRESS, 0, 1, VYRE_ACCESS_READ_WRITE},
    {VYRE_PTX_PARAMETER_SIZE, 0, 1, VYRE_ACCESS_READ_WRITE},
    {VYRE_PTX_PARAMETER_IMMEDIATES, 0, 0, 0}};

static vyre_program_desc ptx(const char *text, const vyre_ptx_parameter *parameters, size_t count) {
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  desc.format = VYRE_PROGRAM_PTX;
  desc.code = text;
  desc.code_size = strlen(text);
  desc.parameters = parameters;
  desc.parameter_count = count;
  return desc;
}

static vyre_program_desc scale(void) {
  vyre_program_desc desc = ptx(SCALE, scale_parameters, 4);
  desc.workgroup_size[0] = 64;
  desc.workgroup_size[1] = desc.workgroup_size[2] = 1;
  return desc;
}

static void a_kernel_of_the_callers_runs(void) {
  vyre_program program = {0};
  vyre_program_desc desc = scale();
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_binding_properties binding = VYRE_BINDING_PROPERTIES_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  uint32_t in[256], out[200], factors[2] = {3, 7}, i;
  char text[sizeof SCALE + 8];
  size_t required = 0;
  vyre_binding bound[2];
  vyre_dispatch_desc grid;
  for (i = 0; i < 256; i++) {
    in[i] = i * i;
  }
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_program_info(program, &info, ERR));
  EQUAL(info.binding_count, 2);
  EQUAL(info.immediates_size, 8);
  EQUAL(info.workgroup_size[0], 64);
  EQUAL(info.grid_barriers, 0);
  OK(vyre_program_binding(program, 1, &binding, ERR));
  EQUAL(binding.access, VYRE_ACCESS_READ_WRITE);
  OK(vyre_program_binding_name(program, 1, text, sizeof text, &required, ERR));
  CHECK(strcmp(text, "out") == 0);
  OK(vyre_program_ptx(program, VYRE_PTX_MODULE_SCOPE, text, sizeof text, &required, ERR));
  CHECK(strcmp(text, SCALE) == 0);
  bound[0] = check_lend(0, in, NULL, sizeof in);
  bound[1] = check_lend(1, NULL, out, sizeof out);
  grid = check_grid(4, bound, 2);
  grid.immediates = factors;
  grid.immediates_size = 8;
  OK(vyre_dispatch(program, &grid, &report, ERR));
  EQUAL(report.audited, 1);
  for (i = 0; i < 200; i++) {
    EQUAL(out[i], i * i * 3 + 7);
  }
  /* It may have a barrier of its own, which nobody here can audit. */
  grid.flags = VYRE_DISPATCH_COOPERATIVE;
  OK(vyre_dispatch(program, &grid, &report, ERR));
  EQUAL(report.audited, 0);
  grid.workgroups[0] = 1000000;
  FAILS(VYRE_ERROR_GRID_TOO_LARGE, "1000000", vyre_dispatch(program, &grid, NULL, ERR));
  OK(vyre_program_release(program, ERR));
}

static void descriptions_that_do_not_fit_the_kernel(void) {
  vyre_ptx_parameter wrong[4];
  vyre_program out = {0};
  vyre_program_desc desc = scale();
  desc.parameter_count = 3;
  FAILS_OUT(ARG, "takes 4 parameters", out, vyre_program_load(backend, &desc, &out, ERR));
  memcpy(wrong, scale_parameters, sizeof wrong);
  wrong[3] = scale_parameters[1];
  wrong[2] = scale_parameters[3];
  desc = ptx(SCALE, wrong, 4);
  desc.workgroup_size[0] = desc.workgroup_size[1] = desc.workgroup_size[2] = 1;
  OK(vyre_program_load(backend, &desc, &out, ERR)); /* 8 bytes are 8 bytes */
  OK(vyre_program_release(out, ERR));
  desc = scale();
  desc.workgroup_size[0] = desc.workgroup_size[1] = desc.workgroup_size[2] = 0;
  FAILS_OUT(ARG, ".reqntid", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = scale();
  desc.workgroup_size[0] = 4096;
  FAILS_OUT(ARG, "{4096, 1, 1}", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = scale();
  desc.workgroup_memory = 1 << 20;
  FAILS_OUT(ARG, "workgroup memory", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = scale();
  desc.entry_point = "skale";
  FAILS_OUT(PROGRAM, "`scale`", out, vyre_program_load(backend, &desc, &out, ERR));
}

static void text_that_the_driver_refuses(void) {
  uint32_t line = 0;
  vyre_program out = {0};
  vyre_program_desc desc = ptx(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry e()\n{\n  nonsense;\n}\n",
                               NULL, 0);
  desc.workgroup_size[0] = desc.workgroup_size[1] = desc.workgroup_size[2] = 1;
  FAILS_OUT(PROGRAM, "line 6", out, vyre_program_load(backend, &desc, &out, ERR));
  EQUAL(vyre_program_load(backend, &desc, &out, &check_error), PROGRAM);
  CHECK(vyre_error_source_position(check_error, &line, NULL));
  EQUAL(line, 6);
  vyre_error_free(check_error);
  check_error = NULL;
  desc.code = ".version 99.0\n.target sm_70\n.address_size 64\n.visible .entry e() { ret; }\n";
  desc.code_size = strlen((const char *)desc.code);
  FAILS_OUT(PROGRAM, ".version 99.0", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.code = ".version 8.8\n.target sm_121\n.address_size 64\n.visible .entry e() { ret; }\n";
  desc.code_size = strlen((const char *)desc.code);
  FAILS_OUT(PROGRAM, ".target sm_121", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.code = "\177ELF";
  desc.code_size = 4;
  FAILS_OUT(PROGRAM, "cubin", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.code = ".version 7.0\n.target sm_70\n.address_size 64\n"
              ".visible .global .u32 _vyre_grid_barrier;\n.visible .entry e() { ret; }\n";
  desc.code_size = strlen((const char *)desc.code);
  FAILS_OUT(PROGRAM, "grid.sync barrier #", out, vyre_program_load(backend, &desc, &out, ERR));
}

#define WAVE "a[id.x] = b[all - 1u - id.x] + 1u; gridBarrier(); b[id.x] = a[all - 1u - id.x] + 1u; gridBarrier();\n"
#define WAVES                                                                                 \
  "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"                           \
  "@group(0) @binding(1) var<storage, read_write> b: array<u32>;\n"                           \
  "@compute @workgroup_size(64)\n"                                                            \
  "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"                                 \
  "  let all = arrayLength(&a);\n" WAVE WAVE WAVE WAVE "}\n"

static size_t markers(const char *text) {
  size_t count = 0;
  for (text = strstr(text, "grid.sync barrier #"); text != NULL; text = strstr(text + 1, "grid.sync barrier #")) {
    count++;
  }
  return count;
}

/* A program's text under the module-scope contract; the caller frees it. */
static char *exported(const char *wgsl) {
  vyre_program program = check_load(backend, wgsl);
  size_t required = 0;
  char *text;
  EQUAL(vyre_program_ptx(program, VYRE_PTX_MODULE_SCOPE, NULL, 0, &required, NULL), VYRE_OK);
  text = (char *)calloc(required + 1, 1);
  OK(vyre_program_ptx(program, VYRE_PTX_MODULE_SCOPE, text, required, &required, ERR));
  OK(vyre_program_release(program, ERR));
  return text;
}

static const vyre_ptx_parameter two_buffers[4] = {
    {VYRE_PTX_PARAMETER_ADDRESS, 0, 0, VYRE_ACCESS_READ_WRITE}, {VYRE_PTX_PARAMETER_SIZE, 0, 0, VYRE_ACCESS_READ_WRITE},
    {VYRE_PTX_PARAMETER_ADDRESS, 0, 1, VYRE_ACCESS_READ_WRITE}, {VYRE_PTX_PARAMETER_SIZE, 0, 1, VYRE_ACCESS_READ_WRITE}};

/* Exported and loaded back, a program gives the same results, and every launch is audited. */
static void exports_load_back(void) {
  enum { GROUPS = 132, ALL = GROUPS * 64 };
  static uint32_t zeros[ALL], back[ALL];
  char *text = exported(WAVES);
  vyre_program program = {0};
  vyre_program_desc desc = ptx(text, two_buffers, 4);
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  vyre_backend_counters counters = VYRE_BACKEND_COUNTERS_INIT;
  vyre_buffer a = {0}, b = {0};
  vyre_binding bound[2];
  vyre_dispatch_desc grid;
  uint32_t i, wrong = 0;
  EQUAL(markers(text), 8);
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_program_info(program, &info, ERR));
  EQUAL(info.grid_barriers, 8);
  EQUAL(info.workgroup_size[0], 64);
  OK(vyre_buffer_create(backend, sizeof zeros, &a, ERR));
  OK(vyre_buffer_create(backend, sizeof zeros, &b, ERR));
  bound[0] = check_bind(0, a);
  bound[1] = check_bind(1, b);
  grid = check_grid(GROUPS, bound, 2);
  OK(vyre_backend_telemetry_reset(backend, ERR));
  grid.repeat = 300;
  OK(vyre_dispatch(program, &grid, &report, ERR));
  EQUAL(report.audited, 1);
  EQUAL(report.barriers, 2400);
  EQUAL(report.arrivals, 2400 * GROUPS);
  OK(vyre_backend_telemetry(backend, &counters, ERR));
  EQUAL(counters.audits, 300);
  EQUAL(counters.launches, 300);
  EQUAL(counters.refusals, 0);
  OK(vyre_buffer_read(b, 0, back, sizeof back, ERR));
  for (i = 0; i < ALL; i++) {
    wrong += back[i] != 2400;
  }
  EQUAL(wrong, 0);
  grid.repeat = 1;
  grid.workgroups[0] = 100000;
  FAILS(VYRE_ERROR_GRID_TOO_LARGE, "grid barrier", vyre_dispatch(program, &grid, NULL, ERR));
  OK(vyre_buffer_release(a, ERR));
  OK(vyre_buffer_release(b, ERR));
  OK(vyre_program_release(program, ERR));
  free(text);
}

static void barriers_in_loops_are_not_exported(void) {
  vyre_program program = check_load(backend,
                                    "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
                                    "@compute @workgroup_size(1) fn main() {\n"
                                    "  for (var i = 0u; i < 3u; i++) { a[i] += 1u; gridBarrier(); }\n"
                                    "}\n");
  size_t required = 0;
  FAILS(VYRE_ERROR_UNSUPPORTED, "loop", vyre_program_ptx(program, VYRE_PTX_MODULE_SCOPE, NULL, 0, &required, ERR));
  OK(vyre_program_release(program, ERR));
}

/* One workgroup stays away: the others are told to leave, and the next dispatch is right. */
static void a_barrier_that_nobody_completes_ends_in_time(void) {
  static const char *const text =
      "@group(0) @binding(0) var<storage, read_write> a: array<u32>;\n"
      "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"
      "  if a[id.x] == 0u { gridBarrier(); }\n  a[id.x] = 5u;\n}\n";
  vyre_program emitted = {0}, program = {0};
  vyre_program_desc load = VYRE_PROGRAM_DESC_INIT, desc;
  uint32_t data[8] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc grid = check_grid(8, &bound, 1);
  size_t required = 0;
  char *exported_text;
  load.code = text;
  load.code_size = strlen(text);
  load.flags = VYRE_PROGRAM_TRUST_UNIFORMITY;
  OK(vyre_program_load(backend, &load, &emitted, ERR));
  EQUAL(vyre_program_ptx(emitted, VYRE_PTX_MODULE_SCOPE, NULL, 0, &required, NULL), VYRE_OK);
  exported_text = (char *)calloc(required + 1, 1);
  OK(vyre_program_ptx(emitted, VYRE_PTX_MODULE_SCOPE, exported_text, required, &required, ERR));
  desc = ptx(exported_text, two_buffers, 2);
  OK(vyre_program_load(backend, &desc, &program, ERR));
  grid.timeout_ns = 100000000;
  data[3] = 1;
  FAILS(VYRE_ERROR_TIMEOUT, "limit 0.100", vyre_dispatch(program, &grid, NULL, ERR));
  EQUAL(data[0], 0);
  data[3] = 0;
  OK(vyre_dispatch(program, &grid, NULL, ERR));
  EQUAL(data[3], 5);
  OK(vyre_program_release(program, ERR));
  OK(vyre_program_release(emitted, ERR));
  free(exported_text);
}

/* The text that nvcc makes of device.cu, with the barrier of vyre_device.cuh. */
static void kernels_of_nvcc_have_the_same_barrier(void) {
  enum { GROUPS = 264, SIZE = 128, ALL = GROUPS * SIZE };
  static const vyre_ptx_parameter parameters[3] = {{VYRE_PTX_PARAMETER_ADDRESS, 0, 0, VYRE_ACCESS_READ_WRITE},
                                                   {VYRE_PTX_PARAMETER_SIZE, 0, 0, VYRE_ACCESS_READ_WRITE},
                                                   {VYRE_PTX_PARAMETER_ADDRESS, 0, 1, VYRE_ACCESS_READ_WRITE}};
  static uint32_t back[ALL];
  static char text[1 << 20];
  const char *path = getenv("VYRE_TEST_NVCC_PTX");
  FILE *file = path != NULL ? fopen(path, "rb") : NULL;
  vyre_program program = {0};
  vyre_program_desc desc;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  vyre_buffer a = {0}, b = {0};
  vyre_binding bound[2];
  vyre_dispatch_desc grid;
  uint32_t i, wrong = 0;
  size_t length;
  if (file == NULL) {
    printf("skipped: VYRE_TEST_NVCC_PTX does not name the PTX of device.cu\n");
    return;
  }
  length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = 0;
  desc = ptx(text, parameters, 3);
  desc.workgroup_size[0] = SIZE;
  desc.workgroup_size[1] = desc.workgroup_size[2] = 1;
  desc.entry_point = "waves";
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_buffer_create(backend, sizeof back, &a, ERR));
  OK(vyre_buffer_create(backend, sizeof back, &b, ERR));
  bound[0] = check_bind(0, a);
  bound[1] = check_bind(1, b);
  grid = check_grid(GROUPS, bound, 2);
  grid.repeat = 100;
  OK(vyre_dispatch(program, &grid, &report, ERR));
  EQUAL(report.audited, 1);
  EQUAL(report.barriers, 800);
  OK(vyre_buffer_read(b, 0, back, sizeof back, ERR));
  for (i = 0; i < ALL; i++) {
    wrong += back[i] != 800;
  }
  EQUAL(wrong, 0);
  OK(vyre_program_release(program, ERR));
  /* More barriers than the text has marks cannot be told from stale ones. */
  desc.entry_point = "rolled";
  OK(vyre_program_load(backend, &desc, &program, ERR));
  grid.repeat = 1;
  FAILS(VYRE_ERROR_BARRIER_AUDIT, "_vyre_grid_barrier was 10560", vyre_dispatch(program, &grid, NULL, ERR));
  OK(vyre_program_release(program, ERR));
  OK(vyre_buffer_release(a, ERR));
  OK(vyre_buffer_release(b, ERR));
}

static void the_cpu_has_no_ptx(void) {
  vyre_program out = {0};
  vyre_program_desc desc = scale();
  FAILS_OUT(VYRE_ERROR_UNSUPPORTED, "PTX", out, vyre_program_load(backend, &desc, &out, ERR));
}

int main(void) {
  if (!check_on_cuda()) {
    RUN(the_cpu_has_no_ptx);
    printf("skipped: 7 tests of PTX programs need a GPU (VYRE_TEST_BACKEND=cuda)\n");
    return check_finish();
  }
  RUN(a_kernel_of_the_callers_runs);
  RUN(descriptions_that_do_not_fit_the_kernel);
  RUN(text_that_the_driver_refuses);
  RUN(exports_load_back);
  RUN(barriers_in_loops_are_not_exported);
  RUN(a_barrier_that_nobody_completes_ends_in_time);
  RUN(kernels_of_nvcc_have_the_same_barrier);
  return check_finish();
}
