/* Programs that must be refused: with a position where there is one, and without harm. */
#include "check.h"

#define PROGRAM VYRE_ERROR_INVALID_PROGRAM

static void refuse(vyre_status status, const char *needle, const void *code, size_t size) {
  vyre_program out = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  desc.code = code;
  desc.code_size = size;
  desc.label = "refused";
  FAILS_OUT(status, needle, out, vyre_program_load(backend, &desc, &out, ERR));
}

static void refuse_text(vyre_status status, const char *needle, const char *text) {
  refuse(status, needle, text, strlen(text));
}

static void no_program(void) {
  refuse(PROGRAM, "entry point", NULL, 0);
  refuse(PROGRAM, "entry point", "", 0);
  refuse_text(PROGRAM, "entry point", " \n\t// nothing\n");
}

static void errors_carry_their_position(void) {
  static const char *const text = "@compute @workgroup_size(1)\nfn main() {\n  let x = 1u +;\n}\n";
  vyre_program out = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_error *error = NULL;
  uint32_t line = 0, column = 0;
  desc.code = text;
  desc.code_size = strlen(text);
  desc.label = "broken.wgsl";
  EQUAL(vyre_program_load(backend, &desc, &out, &error), PROGRAM);
  CHECK(strstr(vyre_error_message(error), "broken.wgsl:3:") != NULL);
  CHECK(strstr(vyre_error_message(error), "let x = 1u +;") != NULL);
  CHECK(vyre_error_source_position(error, &line, &column));
  EQUAL(line, 3);
  CHECK(column >= 12 && column <= 16);
  CHECK(vyre_error_source_position(error, NULL, NULL));
  vyre_error_free(error);
}

static void bytes_that_are_no_text(void) {
  static const char latin1[] = "// caf\xE9\n@compute @workgroup_size(1) fn main() {}\n";
  static const char inner_nul[] = "@compute @workgroup_size(1) fn main() {\0}\n";
  enum { SIZE = 1 << 20 };
  unsigned char *garbage = (unsigned char *)malloc(SIZE);
  uint32_t state = 1;
  size_t i;
  refuse(PROGRAM, "byte 6", latin1, sizeof latin1 - 1);
  refuse(PROGRAM, "refused:1:", inner_nul, sizeof inner_nul - 1);
  for (i = 0; i < SIZE; i++) {
    state = state * 1664525u + 1013904223u;
    garbage[i] = (unsigned char)(state >> 24);
  }
  refuse(PROGRAM, "UTF-8", garbage, SIZE);
  /* The same in printable characters: it is text, but no program. */
  for (i = 0; i < SIZE; i++) {
    garbage[i] = (unsigned char)(' ' + garbage[i] % 95);
  }
  refuse(PROGRAM, "refused:1:", garbage, SIZE);
  free(garbage);
}

/* `count` times `open`, a middle, `count` times `close`. */
static char *nested(const char *before, const char *open, const char *middle, const char *close, const char *after,
                    size_t count) {
  size_t size = strlen(before) + strlen(middle) + strlen(after) + count * (strlen(open) + strlen(close)) + 1;
  char *text = (char *)malloc(size), *at = text;
  size_t i;
  at += sprintf(at, "%s", before);
  for (i = 0; i < count; i++) {
    at += sprintf(at, "%s", open);
  }
  at += sprintf(at, "%s", middle);
  for (i = 0; i < count; i++) {
    at += sprintf(at, "%s", close);
  }
  sprintf(at, "%s", after);
  return text;
}

#define MAIN_HEAD "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@compute @workgroup_size(1) fn main() {\n"

/* Whether a program loads is the front end's to say; what counts is that it does say. */
static void survive(const char *text) {
  vyre_program out = {77};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_status status;
  desc.code = text;
  desc.code_size = strlen(text);
  desc.label = "refused";
  status = vyre_program_load(backend, &desc, &out, &check_error);
  if (status == VYRE_OK) {
    OK(vyre_program_release(out, ERR));
  } else {
    check_failed(status, PROGRAM, "refused:", "a deeply nested program", __FILE__, __LINE__);
    EQUAL(out.id, 0);
  }
}

/* Neither stack nor patience runs out. */
static void deep_nesting(void) {
  static const struct {
    const char *open, *middle, *close;
  } shapes[] = {{"(", "1u", ")"}, {"-", "1", ""}, {"~", "1u", ""}, {"{", "", "}"}, {"if true {", "", "}"},
                {"loop {", "break;", "}"}, {"o[", "0u", "]"}, {"max(1u,", "1u", ")"}, {"1u + (", "1u", ")"}};
  /* Under valgrind, what takes a second takes minutes. */
  size_t i, depth = getenv("VYRE_TEST_SLOW") != NULL ? 500 : 10000;
  for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    int statement = shapes[i].close[0] == '}';
    char *text = nested(statement ? MAIN_HEAD : MAIN_HEAD "o[0] = u32(", shapes[i].open, shapes[i].middle,
                        shapes[i].close, statement ? "}\n" : ");\n}\n", depth);
    survive(text);
    free(text);
  }
}

static void recursion(void) {
  refuse_text(PROGRAM, "again",
              MAIN_HEAD "  o[0] = again(3u);\n}\nfn again(n: u32) -> u32 { if n == 0u { return 0u; } return again(n - 1u); }\n");
}

static void textures_and_samplers(void) {
  refuse_text(VYRE_ERROR_UNSUPPORTED, "texture",
              "@group(0) @binding(1) var t: texture_depth_2d;\n" MAIN_HEAD
              "  o[0] = u32(textureLoad(t, vec2<i32>(0, 0), 0));\n}\n");
  refuse_text(VYRE_ERROR_UNSUPPORTED, "texture",
              "@group(0) @binding(1) var t: texture_storage_2d<r8uint, write>;\n" MAIN_HEAD
              "  textureStore(t, vec2<i32>(0, 0), vec4<u32>(1u));\n}\n");
  refuse_text(VYRE_ERROR_UNSUPPORTED, "sampler",
              "@group(0) @binding(1) var t: texture_2d<f32>;\n@group(0) @binding(2) var s: sampler;\n" MAIN_HEAD
              "  o[0] = u32(textureSampleLevel(t, s, vec2<f32>(0.5), 0.0).x);\n}\n");
}

static void other_stages(void) {
  refuse_text(PROGRAM, "entry point", "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }\n");
}

static void grid_barriers_that_are_not_uniform(void) {
  refuse_text(PROGRAM, "gridBarrier",
              "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
              "@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
              "  if id.x < 3u { gridBarrier(); }\n"
              "  o[id.x] = 1u;\n}\n");
  refuse_text(PROGRAM, "refused:3:",
              "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
              "@compute @workgroup_size(4) fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"
              "  for (var i = 0u; i < id.x; i++) { gridBarrier(); }\n"
              "  o[id.x] = 1u;\n}\n");
}

static void workgroups_over_the_limit(void) {
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  char text[256];
  OK(vyre_backend_info(backend, &info, ERR));
  snprintf(text, sizeof text, "@compute @workgroup_size(%u) fn main() {}\n", info.max_workgroup_size[0] + 1);
  refuse_text(PROGRAM, "workgroup size", text);
  snprintf(text, sizeof text, "@compute @workgroup_size(%u, 2, 2) fn main() {}\n", info.max_workgroup_invocations / 2);
  refuse_text(PROGRAM, "invocations", text);
  refuse_text(PROGRAM, "size", "@compute @workgroup_size(0) fn main() {}\n");
  snprintf(text, sizeof text,
           "var<workgroup> w: array<u32, %u>;\n"
           "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n"
           "@compute @workgroup_size(1) fn main() { w[o[0]] = 1u; o[1] = w[o[2]]; }\n",
           (unsigned)(info.max_workgroup_memory / 4 + 1));
  refuse_text(PROGRAM, "workgroup memory", text);
}

int main(void) {
  RUN(no_program);
  RUN(errors_carry_their_position);
  RUN(bytes_that_are_no_text);
  RUN(deep_nesting);
  RUN(recursion);
  RUN(textures_and_samplers);
  RUN(other_stages);
  RUN(grid_barriers_that_are_not_uniform);
  RUN(workgroups_over_the_limit);
  return check_finish();
}
