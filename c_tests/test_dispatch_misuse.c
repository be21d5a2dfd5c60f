/* Dispatches that must be refused before anything runs, and one that fails while it runs. */
#include "check.h"

#define MISMATCH VYRE_ERROR_BINDING_MISMATCH
#define ARG VYRE_ERROR_INVALID_ARGUMENT
#define RANGE VYRE_ERROR_OUT_OF_RANGE

#define COPY                                                            \
  "@group(0) @binding(0) var<storage, read> input: array<vec4<u32>>;\n" \
  "@group(0) @binding(1) var<storage, read_write> output: array<u32>;\n" \
  "@compute @workgroup_size(64)\n"                                      \
  "fn copy(@builtin(global_invocation_id) id: vec3<u32>) {\n"           \
  "  output[id.x] = input[id.x].x + 1u;\n"                              \
  "}\n"

static vyre_program program;
static vyre_buffer input, output;
static vyre_binding bound[3];
static vyre_dispatch_desc desc;

/* A dispatch that would work. */
static void set_up(void) {
  program = check_load(backend, COPY);
  OK(vyre_buffer_create(backend, 1024, &input, ERR));
  OK(vyre_buffer_create(backend, 1024, &output, ERR));
  bound[0] = check_bind(0, input);
  bound[1] = check_bind(1, output);
  desc = check_grid(1, bound, 2);
}

/* Nothing was written by what was refused, and a correct dispatch works. */
static void tear_down(void) {
  uint32_t word = 7;
  OK(vyre_buffer_read(output, 0, &word, 4, ERR));
  EQUAL(word, 0);
  bound[0] = check_bind(0, input);
  bound[1] = check_bind(1, output);
  desc = check_grid(1, bound, 2);
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  OK(vyre_buffer_read(output, 0, &word, 4, ERR));
  EQUAL(word, 1);
  OK(vyre_buffer_release(input, ERR));
  OK(vyre_buffer_release(output, ERR));
  OK(vyre_program_release(program, ERR));
}

#define REFUSED(status, needle)                                              \
  do {                                                                       \
    vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;                 \
    report.workgroups = 77;                                                  \
    FAILS(status, needle, vyre_dispatch(program, &desc, &report, ERR));      \
    EQUAL(report.workgroups, 0);                                             \
  } while (0)

static void missing_doubled_and_superfluous_bindings(void) {
  set_up();
  desc.binding_count = 1;
  REFUSED(MISMATCH, "\"output\" (group 0, binding 1) is missing");
  desc.binding_count = 0;
  REFUSED(MISMATCH, "\"input\"");
  desc.binding_count = 3;
  bound[2] = check_bind(1, output);
  REFUSED(MISMATCH, "bindings[1] and bindings[2] are both");
  bound[2] = check_bind(2, output);
  REFUSED(MISMATCH, "bindings[2] is group 0, binding 2");
  bound[2] = check_bind(1, output);
  bound[2].group = 1;
  REFUSED(MISMATCH, "bindings[2] is group 1, binding 1");
  tear_down();
}

static void ranges_that_do_not_fit(void) {
  set_up();
  bound[0].offset = 1016 - 8;
  bound[0].size = 32;
  REFUSED(RANGE, "\"input\"");
  bound[0].offset = UINT64_MAX - 15;
  bound[0].size = 16;
  REFUSED(RANGE, "outside the buffer's 1024 bytes");
  bound[0].offset = 16;
  bound[0].size = UINT64_MAX;
  REFUSED(RANGE, "outside the buffer's 1024 bytes");
  bound[0].offset = 1040;
  bound[0].size = 0;
  REFUSED(RANGE, "offset 1040");
  bound[0].offset = 4;
  REFUSED(ARG, "bindings[0].offset is 4");
  bound[0].offset = 8;
  REFUSED(ARG, "multiple of 16");
  bound[0].offset = 0;
  bound[0].size = 15;
  REFUSED(MISMATCH, "15 bytes, at least 16");
  bound[0].offset = 1024;
  bound[0].size = 0;
  REFUSED(MISMATCH, "0 bytes");
  tear_down();
}

static void host_bytes_that_do_not_fit(void) {
  uint32_t in[256] = {0}, out[256] = {0};
  set_up();
  bound[1] = check_lend(1, in, NULL, sizeof in);
  REFUSED(MISMATCH, "bindings[1].host_out is missing");
  bound[1] = check_bind(1, output);
  bound[0] = check_lend(0, NULL, out, sizeof out);
  REFUSED(MISMATCH, "bindings[0].host_out is given");
  bound[0] = check_lend(0, in, out, sizeof out);
  REFUSED(MISMATCH, "bindings[0].host_out is given");
  bound[0] = check_lend(0, NULL, NULL, sizeof in);
  REFUSED(ARG, "desc->bindings[0].buffer is null");
  bound[0] = check_lend(0, in, NULL, 0);
  REFUSED(MISMATCH, "0 bytes");
  bound[0] = check_lend(0, in, NULL, sizeof in);
  bound[0].offset = 16;
  REFUSED(ARG, "desc->bindings[0].offset is 16");
  bound[0] = check_lend(0, in, NULL, UINT64_MAX);
  REFUSED(ARG, "desc->bindings[0].host_in");
  bound[0] = check_bind(0, input);
  bound[0].host_in = in;
  REFUSED(ARG, "desc->bindings[0] names a buffer and host bytes");
  bound[0] = check_lend(0, in, NULL, 512);
  bound[1] = check_lend(1, NULL, in + 64, 512);
  REFUSED(MISMATCH, "share memory");
  tear_down();
}

static void ranges_that_overlap(void) {
  uint64_t pointer = 0;
  vyre_buffer alias = {0};
  set_up();
  bound[0] = check_bind(0, output);
  REFUSED(MISMATCH, "\"input\" (group 0, binding 0) and binding \"output\" (group 0, binding 1) share memory");
  bound[0].size = 512;
  bound[1].offset = 496;
  REFUSED(MISMATCH, "share memory");
  /* Two buffers over the same memory. */
  OK(vyre_buffer_native_pointer(output, &pointer, ERR));
  OK(vyre_buffer_import(backend, pointer + 512, 512, &alias, ERR));
  bound[0] = check_bind(0, alias);
  bound[1] = check_bind(1, output);
  REFUSED(MISMATCH, "share memory");
  /* Host bytes inside a buffer. */
  bound[0] = check_lend(0, (void *)(uintptr_t)pointer, NULL, 64);
  REFUSED(MISMATCH, "share memory");
  OK(vyre_buffer_release(alias, ERR));
  /* Neighbours don't overlap. */
  bound[0] = check_bind(0, output);
  bound[0].offset = 512;
  bound[1].size = 256;
  OK(vyre_dispatch(program, &desc, NULL, ERR));
  OK(vyre_buffer_fill(output, 0, 1024, 0, ERR));
  tear_down();
}

static void readers_may_share(void) {
  vyre_program readers = check_load(backend,
                                    "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
                                    "@group(0) @binding(1) var<storage, read> b: array<u32>;\n"
                                    "@group(0) @binding(2) var<storage, read_write> c: array<u32>;\n"
                                    "@compute @workgroup_size(1) fn main() { c[0] = a[1] + b[2]; }\n");
  uint32_t words[4] = {1, 20, 300, 4000}, sum = 0;
  vyre_buffer shared = {0};
  vyre_binding bindings[3];
  vyre_dispatch_desc grid = check_grid(1, bindings, 3);
  OK(vyre_buffer_upload(backend, words, sizeof words, &shared, ERR));
  bindings[0] = check_bind(0, shared);
  bindings[1] = check_bind(1, shared);
  bindings[2] = check_lend(2, NULL, &sum, sizeof sum);
  OK(vyre_dispatch(readers, &grid, NULL, ERR));
  EQUAL(sum, 320);
  OK(vyre_buffer_release(shared, ERR));
  OK(vyre_program_release(readers, ERR));
}

static void buffers_that_are_not_there(void) {
  vyre_backend elsewhere = check_acquire(1);
  vyre_buffer there = {0}, gone = {0}, kind;
  set_up();
  OK(vyre_buffer_create(elsewhere, 1024, &there, ERR));
  OK(vyre_buffer_create(backend, 1024, &gone, ERR));
  OK(vyre_buffer_release(gone, ERR));
  bound[1] = check_bind(1, there);
  REFUSED(VYRE_ERROR_INVALID_HANDLE, "desc->bindings[1].buffer belongs to another backend");
  bound[1] = check_bind(1, gone);
  REFUSED(VYRE_ERROR_INVALID_HANDLE, "desc->bindings[1].buffer");
  kind.id = program.id;
  bound[1] = check_bind(1, kind);
  REFUSED(VYRE_ERROR_INVALID_HANDLE, "is a vyre_program handle");
  kind.id = 1;
  bound[1] = check_bind(1, kind);
  REFUSED(VYRE_ERROR_INVALID_HANDLE, "that this library made");
  tear_down();
  OK(vyre_buffer_release(there, ERR));
  OK(vyre_backend_release(elsewhere, ERR));
}

static void grids_that_cannot_be(void) {
  static const struct {
    uint32_t workgroups[3];
    vyre_status status;
    const char *needle;
  } wrong[] = {{{0, 1, 1}, ARG, "{0, 1, 1}"},
               {{1, 0, 1}, ARG, "{1, 0, 1}"},
               {{1, 1, 0}, ARG, "{1, 1, 0}"},
               {{UINT32_MAX, 1, 1}, RANGE, "workgroups.x is 4294967295"},
               {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, RANGE, "workgroups"},
               {{1, UINT32_MAX, UINT32_MAX}, ARG, NULL}};
  size_t i;
  set_up();
  for (i = 0; wrong[i].needle != NULL; i++) {
    memcpy(desc.workgroups, wrong[i].workgroups, sizeof desc.workgroups);
    REFUSED(wrong[i].status, wrong[i].needle);
  }
  if (check_on_cuda()) {
    /* CUDA has its own limit in the other dimensions. */
    static const uint32_t flat[3] = {1, 65536, 1};
    memcpy(desc.workgroups, flat, sizeof desc.workgroups);
    REFUSED(RANGE, "workgroups.y is 65536; this backend runs at most 65535");
    tear_down();
    return;
  }
  /* The number of workgroups may be this large; the time limit ends it. */
  memcpy(desc.workgroups, wrong[i].workgroups, sizeof desc.workgroups);
  desc.timeout_ns = 50000000;
  bound[1] = check_bind(1, output);
  FAILS(VYRE_ERROR_TIMEOUT, "", vyre_dispatch(program, &desc, NULL, ERR));
  OK(vyre_buffer_fill(output, 0, 1024, 0, ERR));
  tear_down();
}

static void bad_flags_and_counts(void) {
  uint32_t word = 0;
  set_up();
  desc.flags = 2;
  REFUSED(ARG, "desc->flags has unknown bits 0x2");
  desc.flags = (uint64_t)1 << 40;
  REFUSED(ARG, "desc->flags has unknown bits 0x10000000000");
  desc.flags = 0;
  desc.reserved = 1;
  REFUSED(ARG, "desc->reserved is 1");
  desc.reserved = 0;
  desc.binding_count = SIZE_MAX;
  REFUSED(ARG, "desc->binding_count is");
  desc.binding_count = 2;
  desc.immediates = &word;
  desc.immediates_size = 4;
  REFUSED(ARG, "immediates_size is 4");
  desc.immediates_size = SIZE_MAX;
  REFUSED(ARG, "desc->immediates_size is");
  tear_down();
}

/* Accepted, because real programs need what cannot be proven; but it must not pass unseen. */
static void a_barrier_that_is_reached_unevenly(void) {
  vyre_program uneven = check_load(backend,
                                   "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
                                   "@compute @workgroup_size(64)\n"
                                   "fn main(@builtin(local_invocation_index) i: u32) {\n"
                                   "  if i < o[64] {\n"
                                   "    workgroupBarrier();\n"
                                   "  }\n"
                                   "  o[i] = i;\n"
                                   "}\n");
  uint32_t data[65] = {0};
  vyre_binding lent = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc grid = check_grid(1, &lent, 1);
  if (!check_on_cuda()) { /* where it waits for nobody that has ended */
    data[64] = 32;
    FAILS(VYRE_ERROR_DISPATCH_FAILED, "workgroupBarrier", vyre_dispatch(uneven, &grid, NULL, ERR));
    FAILS(VYRE_ERROR_DISPATCH_FAILED, ":5:", vyre_dispatch(uneven, &grid, NULL, ERR));
    EQUAL(data[1], 0);
  }
  /* All of them, then none of them. */
  data[64] = 64;
  OK(vyre_dispatch(uneven, &grid, NULL, ERR));
  EQUAL(data[63], 63);
  data[64] = 0;
  OK(vyre_dispatch(uneven, &grid, NULL, ERR));
  OK(vyre_program_release(uneven, ERR));
  check_dispatch_works(backend);
}

/* The program said "trust me" and lied. */
static void a_grid_barrier_that_is_reached_unevenly(void) {
  static const char *const text =
      "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
      "@compute @workgroup_size(1)\n"
      "fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"
      "  if id.x < 3u {\n"
      "    gridBarrier();\n"
      "  }\n"
      "  o[id.x] = 1u;\n"
      "}\n";
  vyre_program liar = {0};
  vyre_program_desc load = VYRE_PROGRAM_DESC_INIT;
  uint32_t data[8] = {0};
  vyre_binding lent = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc grid = check_grid(8, &lent, 1);
  load.code = text;
  load.code_size = strlen(text);
  FAILS_OUT(VYRE_ERROR_INVALID_PROGRAM, "gridBarrier", liar, vyre_program_load(backend, &load, &liar, ERR));
  load.flags = VYRE_PROGRAM_TRUST_UNIFORMITY;
  OK(vyre_program_load(backend, &load, &liar, ERR));
  FAILS(VYRE_ERROR_BARRIER_AUDIT, "gridBarrier", vyre_dispatch(liar, &grid, NULL, ERR));
  EQUAL(data[7], 0); /* what a failed dispatch wrote does not come back to lent memory */
  grid = check_grid(3, &lent, 1);
  OK(vyre_dispatch(liar, &grid, NULL, ERR));
  EQUAL(data[2], 1);
  OK(vyre_program_release(liar, ERR));
  check_dispatch_works(backend);
}

int main(void) {
  RUN(missing_doubled_and_superfluous_bindings);
  RUN(ranges_that_do_not_fit);
  RUN(host_bytes_that_do_not_fit);
  RUN(ranges_that_overlap);
  RUN(readers_may_share);
  RUN(buffers_that_are_not_there);
  RUN(grids_that_cannot_be);
  RUN(bad_flags_and_counts);
  RUN(a_barrier_that_is_reached_unevenly);
  RUN(a_grid_barrier_that_is_reached_unevenly);
  return check_finish();
}
