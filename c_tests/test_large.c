/* Buffers past 2^32 bytes: byte addresses have 64 bits. Needs a GPU with 8 GiB free, and else says so. */
#include "check.h"

#define LARGE ((uint64_t)6 << 30)

/* Marks and reads words at places that the other buffer names. */
#define PLACES                                                               \
  "@group(0) @binding(0) var<storage, read_write> large: array<u32>;\n"      \
  "@group(0) @binding(1) var<storage, read> places: array<u32>;\n"           \
  "@group(0) @binding(2) var<storage, read_write> found: array<u32>;\n"      \
  "@compute @workgroup_size(1)\n"                                            \
  "fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"                        \
  "  let at = places[id.x];\n"                                               \
  "  found[id.x] = large[at];\n"                                             \
  "  gridBarrier();\n"                                                       \
  "  large[at] = at * 3u + 1u;\n"                                            \
  "  gridBarrier();\n"                                                       \
  "  if id.x == 0u { found[arrayLength(&places)] = arrayLength(&large); }\n" \
  "}\n"

static void words_everywhere(uint64_t flags) {
  enum { COUNT = 12 };
  /* The first, the middle, the last; around 2^31 and 2^32 bytes, and 2^30 elements. */
  static const uint32_t places[COUNT] = {0,
                                         1,
                                         (1u << 29) - 1,
                                         1u << 29,
                                         (1u << 29) + 1,
                                         3u << 28,
                                         (1u << 30) - 1,
                                         1u << 30,
                                         (1u << 30) + 1,
                                         (3u << 29) - 2,
                                         (3u << 29) - 1,
                                         5u << 28};
  uint32_t found[COUNT + 1], word, i;
  vyre_program program = {0};
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_buffer large = {0};
  vyre_binding bound[3];
  vyre_dispatch_desc grid;
  desc.code = PLACES;
  desc.code_size = strlen(PLACES);
  desc.flags = flags;
  OK(vyre_program_load(backend, &desc, &program, ERR));
  OK(vyre_buffer_create(backend, LARGE, &large, ERR));
  for (i = 0; i < COUNT; i++) {
    word = ~places[i];
    OK(vyre_buffer_write(large, (uint64_t)places[i] * 4, &word, 4, ERR));
  }
  bound[0] = check_bind(0, large);
  bound[1] = check_lend(1, (void *)(uintptr_t)places, NULL, sizeof places);
  bound[2] = check_lend(2, NULL, found, sizeof found);
  grid = check_grid(COUNT, bound, 3);
  OK(vyre_dispatch(program, &grid, NULL, ERR));
  EQUAL(found[COUNT], 3u << 29);
  for (i = 0; i < COUNT; i++) {
    EQUAL(found[i], ~places[i]);
    OK(vyre_buffer_read(large, (uint64_t)places[i] * 4, &word, 4, ERR));
    EQUAL(word, places[i] * 3u + 1u);
  }
  OK(vyre_buffer_fill(large, LARGE - 8, 8, 7, ERR));
  OK(vyre_buffer_copy(large, 16, large, LARGE - 8, 8, ERR));
  OK(vyre_buffer_read(large, 20, &word, 4, ERR));
  EQUAL(word, 7);
  OK(vyre_buffer_release(large, ERR));
  OK(vyre_program_release(program, ERR));
}

static void with_bounds_checks(void) { words_everywhere(0); }
static void without_bounds_checks(void) { words_everywhere(VYRE_PROGRAM_UNCHECKED); }

int main(void) {
  if (!check_on_cuda()) {
    EQUAL(check_kind(), VYRE_BACKEND_CPU);
    printf("skipped: buffers of 6 GiB need a GPU (VYRE_TEST_BACKEND=cuda)\n");
    return check_finish();
  }
  RUN(with_bounds_checks);
  RUN(without_bounds_checks);
  return check_finish();
}
