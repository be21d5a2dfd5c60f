/* Loading programs: what they say about themselves, overrides, entry points, the cache. */
#include "check.h"

#define TWO_ENTRIES                                                            \
  "override factor: u32 = 2u;\n"                                               \
  "@id(7) override offset: u32 = 0u;\n"                                        \
  "var<workgroup> shared_words: array<u32, 64>;\n"                             \
  "@group(1) @binding(3) var<storage, read_write> output: array<u32>;\n"       \
  "@group(0) @binding(2) var<storage, read> input: array<vec4<u32>, 4>;\n"     \
  "@group(0) @binding(5) var<uniform> scale: vec4<u32>;\n"                     \
  "@compute @workgroup_size(8, 4, 2)\n"                                        \
  "fn first(@builtin(local_invocation_index) i: u32) {\n"                      \
  "  shared_words[i] = input[0].x * factor + offset;\n"                        \
  "  workgroupBarrier();\n"                                                    \
  "  gridBarrier();\n"                                                         \
  "  output[i] = shared_words[63u - i] + scale.y;\n"                           \
  "}\n"                                                                        \
  "@compute @workgroup_size(1)\n"                                              \
  "fn second() {\n"                                                            \
  "  output[0] = factor + offset;\n"                                           \
  "}\n"

static vyre_program_desc entry(const char *name) {
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  desc.code = TWO_ENTRIES;
  desc.code_size = strlen(TWO_ENTRIES);
  desc.entry_point = name;
  desc.label = "two entries";
  return desc;
}

static void programs_describe_themselves(void) {
  vyre_program program = {0};
  vyre_program_desc desc = entry("first");
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_binding_properties binding = VYRE_BINDING_PROPERTIES_INIT;
  char name[16];
  size_t required = 0;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_program_info(program, &info, ERR));
  EQUAL(info.workgroup_size[0], 8);
  EQUAL(info.workgroup_size[1], 4);
  EQUAL(info.workgroup_size[2], 2);
  EQUAL(info.workgroup_memory, 256);
  EQUAL(info.immediates_size, 0);
  EQUAL(info.binding_count, 3);
  EQUAL(info.grid_barriers, 1);
  EQUAL(info.workgroup_barriers, 1);
  CHECK(info.max_cooperative_workgroups >= 64);
  /* In the order of group and binding. */
  OK(vyre_program_binding(program, 0, &binding, ERR));
  EQUAL(binding.group, 0);
  EQUAL(binding.binding, 2);
  EQUAL(binding.access, VYRE_ACCESS_READ);
  EQUAL(binding.element_size, 16);
  EQUAL(binding.min_size, 64);
  EQUAL(binding.runtime_sized, 0);
  OK(vyre_program_binding(program, 1, &binding, ERR));
  EQUAL(binding.binding, 5);
  EQUAL(binding.access, VYRE_ACCESS_UNIFORM);
  EQUAL(binding.min_size, 16);
  OK(vyre_program_binding(program, 2, &binding, ERR));
  EQUAL(binding.group, 1);
  EQUAL(binding.binding, 3);
  EQUAL(binding.access, VYRE_ACCESS_READ_WRITE);
  EQUAL(binding.element_size, 4);
  EQUAL(binding.min_size, 4);
  EQUAL(binding.runtime_sized, 1);
  OK(vyre_program_binding_name(program, 2, name, sizeof name, &required, ERR));
  CHECK(strcmp(name, "output") == 0);
  EQUAL(required, 7);
  OK(vyre_program_entry_point(program, name, sizeof name, &required, ERR));
  CHECK(strcmp(name, "first") == 0);
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "index is 3", vyre_program_binding(program, 3, &binding, ERR));
  EQUAL(binding.min_size, 0);
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "index is 3",
        vyre_program_binding_name(program, 3, name, sizeof name, &required, ERR));
  if (check_on_cuda()) {
    FAILS(VYRE_ERROR_INVALID_ARGUMENT, "contract is 2", vyre_program_ptx(program, 2, name, sizeof name, &required, ERR));
    FAILS(VYRE_ERROR_INVALID_ARGUMENT, "capacity is 16",
          vyre_program_ptx(program, VYRE_PTX_AS_DISPATCHED, name, sizeof name, &required, ERR));
    CHECK(required > 500);
  } else {
    FAILS(VYRE_ERROR_UNSUPPORTED, "PTX",
          vyre_program_ptx(program, VYRE_PTX_AS_DISPATCHED, name, sizeof name, &required, ERR));
    EQUAL(required, 0);
  }
  OK(vyre_program_release(program, ERR));
}

static void bindings_are_those_of_the_entry_point(void) {
  vyre_program program = {0};
  vyre_program_desc desc = entry("second");
  vyre_program_properties info = VYRE_PROGRAM_PROPERTIES_INIT;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_program_info(program, &info, ERR));
  EQUAL(info.binding_count, 1);
  EQUAL(info.grid_barriers, 0);
  EQUAL(info.workgroup_barriers, 0);
  OK(vyre_program_release(program, ERR));
}

/* What `second` computes with these overrides. */
static uint32_t second_with(const vyre_override *overrides, size_t count) {
  vyre_program program = {0};
  vyre_program_desc desc = entry("second");
  uint32_t result = 0;
  vyre_binding bound = check_lend(3, &result, &result, sizeof result);
  vyre_dispatch_desc grid = check_grid(1, &bound, 1);
  bound.group = 1;
  desc.overrides = overrides;
  desc.override_count = count;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_dispatch(program, &grid, NULL, ERR));
  OK(vyre_program_release(program, ERR));
  return result;
}

static void overrides_go_by_name_or_id(void) {
  static const vyre_override by_name[1] = {{"factor", 40.0}};
  static const vyre_override both[2] = {{"7", 100.0}, {"factor", 11.0}};
  EQUAL(second_with(NULL, 0), 2);
  EQUAL(second_with(by_name, 1), 40);
  EQUAL(second_with(both, 2), 111);
}

static void unknown_overrides_are_refused(void) {
  static const vyre_override wrong[2] = {{"factor", 1.0}, {"faktor", 2.0}};
  vyre_program out = {0};
  vyre_program_desc desc = entry("second");
  desc.overrides = wrong;
  desc.override_count = 2;
  FAILS_OUT(VYRE_ERROR_INVALID_PROGRAM, "faktor", out, vyre_program_load(backend, &desc, &out, ERR));
}

static void entry_points_missing_or_ambiguous(void) {
  vyre_program out = {0};
  vyre_program_desc desc = entry(NULL);
  FAILS_OUT(VYRE_ERROR_INVALID_PROGRAM, "first", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("third");
  FAILS_OUT(VYRE_ERROR_INVALID_PROGRAM, "third", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.code = "fn helper() {}";
  desc.code_size = strlen((const char *)desc.code);
  desc.entry_point = NULL;
  FAILS_OUT(VYRE_ERROR_INVALID_PROGRAM, "entry point", out, vyre_program_load(backend, &desc, &out, ERR));
}

static void bad_descriptions(void) {
  static const vyre_override not_utf8 = {"\xC3(", 1.0};
  static const vyre_ptx_parameter parameter = {VYRE_PTX_PARAMETER_ADDRESS, 0, 0, VYRE_ACCESS_READ};
  vyre_ptx_parameter wrong = parameter;
  vyre_program out = {0};
  vyre_program_desc desc = entry("second");
  desc.format = 0;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->format is 0", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.format = 3;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->format is 3", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.flags = (uint64_t)1 << 63 | VYRE_PROGRAM_UNCHECKED;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->flags has unknown bits 0x8000000000000000", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("\xFFsecond");
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->entry_point is not UTF-8", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.label = "\xED\xA0\x80";
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->label is not UTF-8", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.overrides = &not_utf8;
  desc.override_count = 1;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->overrides[0].name is not UTF-8", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc.override_count = SIZE_MAX;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->override_count is", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.code_size = SIZE_MAX;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->code_size is", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.workgroup_size[2] = 1;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->workgroup_size", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.workgroup_memory = 16;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->workgroup_memory", out, vyre_program_load(backend, &desc, &out, ERR));
  desc = entry("second");
  desc.parameters = &parameter;
  desc.parameter_count = 1;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->parameter_count is 1", out,
            vyre_program_load(backend, &desc, &out, ERR));
  desc.format = VYRE_PROGRAM_PTX;
  if (!check_on_cuda()) {
    FAILS_OUT(VYRE_ERROR_UNSUPPORTED, "PTX", out, vyre_program_load(backend, &desc, &out, ERR));
  }
  desc.parameters = &wrong;
  wrong.kind = 4;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->parameters[0].kind is 4", out,
            vyre_program_load(backend, &desc, &out, ERR));
  wrong.kind = VYRE_PTX_PARAMETER_SIZE;
  wrong.access = 0;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->parameters[0].access is 0", out,
            vyre_program_load(backend, &desc, &out, ERR));
  wrong.kind = VYRE_PTX_PARAMETER_IMMEDIATES;
  wrong.group = 1;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->parameters[0].group", out,
            vyre_program_load(backend, &desc, &out, ERR));
}

static void bad_backend_descriptions(void) {
  vyre_backend out = {0};
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  desc.kind = 3;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->kind is 3", out, vyre_backend_acquire(&desc, &out, ERR));
  desc.kind = UINT32_MAX;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->kind is 4294967295", out, vyre_backend_acquire(&desc, &out, ERR));
  desc.kind = VYRE_BACKEND_CPU;
  desc.flags = 2;
  FAILS_OUT(VYRE_ERROR_INVALID_ARGUMENT, "desc->flags has unknown bits 0x2", out,
            vyre_backend_acquire(&desc, &out, ERR));
}

/* The description's memory is the caller's again once the call returns. */
static void nothing_is_kept(void) {
  char *code = (char *)malloc(sizeof ADD_ONE);
  char *label = (char *)malloc(8);
  vyre_program program = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  uint32_t data[64] = {1};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc grid = check_grid(1, &bound, 1);
  strcpy(code, ADD_ONE);
  strcpy(label, "label");
  desc.code = code;
  desc.code_size = strlen(code);
  desc.label = label;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  memset(code, 'x', sizeof ADD_ONE - 1);
  memset(label, 'x', 7);
  free(code);
  free(label);
  OK(vyre_dispatch(program, &grid, NULL, ERR));
  EQUAL(data[0], 2);
  OK(vyre_program_release(program, ERR));
}

static void the_cache_is_counted(void) {
  vyre_program once = check_load(backend, ADD_ONE), twice = check_load(backend, ADD_ONE);
  vyre_backend_counters counters = VYRE_BACKEND_COUNTERS_INIT;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  uint32_t data[64] = {1};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc grid = check_grid(1, &bound, 1);
  OK(vyre_backend_telemetry(backend, &counters, ERR));
  EQUAL(counters.program_cache_misses, 1);
  EQUAL(counters.program_cache_hits, 1);
  OK(vyre_dispatch(twice, &grid, &report, ERR));
  EQUAL(report.from_cache, 1);
  OK(vyre_dispatch(once, &grid, &report, ERR));
  EQUAL(report.from_cache, 0);
  OK(vyre_program_release(once, ERR));
  OK(vyre_dispatch(twice, &grid, &report, ERR));
  OK(vyre_program_release(twice, ERR));
}

int main(void) {
  RUN(programs_describe_themselves);
  RUN(bindings_are_those_of_the_entry_point);
  RUN(overrides_go_by_name_or_id);
  RUN(unknown_overrides_are_refused);
  RUN(entry_points_missing_or_ambiguous);
  RUN(bad_descriptions);
  RUN(bad_backend_descriptions);
  RUN(nothing_is_kept);
  RUN(the_cache_is_counted);
  return check_finish();
}
