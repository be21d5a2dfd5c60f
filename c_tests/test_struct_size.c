/* Structures of older and newer callers, and sizes that no caller can have. */
#include "check.h"

#define ARG VYRE_ERROR_INVALID_ARGUMENT

/* A structure with room behind it, as a newer header would have. */
#define WITH_TAIL(type) \
  struct {              \
    type known;         \
    unsigned char tail[16]; \
  }

/* Sizes that are refused, for a call on a structure. */
#define REFUSES_BAD_SIZES(lvalue, minimum, call)                        \
  do {                                                                  \
    uint32_t bad[6] = {0, 4, (minimum) - 8, (minimum) + 1, 4104, UINT32_MAX}; \
    int at;                                                             \
    for (at = 0; at < 6; at++) {                                        \
      (lvalue) = bad[at];                                               \
      FAILS(ARG, "struct_size is", call);                               \
      EQUAL(lvalue, bad[at]);                                           \
    }                                                                   \
  } while (0)

static void backend_descs(void) {
  WITH_TAIL(vyre_backend_desc) desc = {VYRE_BACKEND_DESC_INIT, {0}};
  vyre_backend out = {0};
  desc.known.kind = check_kind();
  REFUSES_BAD_SIZES(desc.known.struct_size, 8, vyre_backend_acquire(&desc.known, &out, ERR));
  EQUAL(out.id, 0);
  /* An older caller's: what is behind its end is not looked at. */
  desc.known.struct_size = 8;
  desc.known.flags = UINT64_MAX;
  OK(vyre_backend_acquire(&desc.known, &out, ERR));
  OK(vyre_backend_release(out, ERR));
  desc.known.flags = 0;
  /* A newer caller's, unknown fields unused, then used. */
  desc.known.struct_size = sizeof desc.known + 16;
  OK(vyre_backend_acquire(&desc.known, &out, ERR));
  OK(vyre_backend_release(out, ERR));
  desc.tail[15] = 1;
  FAILS_OUT(ARG, "desc->struct_size is 40, and byte 39 is not zero", out,
            vyre_backend_acquire(&desc.known, &out, ERR));
}

static void program_descs(void) {
  WITH_TAIL(vyre_program_desc) desc = {VYRE_PROGRAM_DESC_INIT, {0}};
  vyre_program out = {0};
  desc.known.code = ADD_ONE;
  desc.known.code_size = strlen(ADD_ONE);
  REFUSES_BAD_SIZES(desc.known.struct_size, 24, vyre_program_load(backend, &desc.known, &out, ERR));
  desc.known.struct_size = 24;
  desc.known.flags = UINT64_MAX;
  OK(vyre_program_load(backend, &desc.known, &out, ERR));
  OK(vyre_program_release(out, ERR));
  desc.known.flags = 0;
  desc.known.struct_size = sizeof desc.known + 16;
  OK(vyre_program_load(backend, &desc.known, &out, ERR));
  OK(vyre_program_release(out, ERR));
  desc.tail[0] = 1;
  FAILS_OUT(ARG, "desc->struct_size", out, vyre_program_load(backend, &desc.known, &out, ERR));
}

static void dispatch_descs(void) {
  WITH_TAIL(vyre_dispatch_desc) desc = {VYRE_DISPATCH_DESC_INIT, {0}};
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  desc.known.bindings = &bound;
  desc.known.binding_count = 1;
  desc.known.workgroups[0] = desc.known.workgroups[1] = desc.known.workgroups[2] = 1;
  REFUSES_BAD_SIZES(desc.known.struct_size, 40, vyre_dispatch(program, &desc.known, NULL, ERR));
  EQUAL(data[0], 0);
  desc.known.struct_size = 40;
  desc.known.reserved = 7;
  desc.known.repeat = 100;
  OK(vyre_dispatch(program, &desc.known, NULL, ERR));
  EQUAL(data[0], 1);
  desc.known.struct_size = sizeof desc.known;
  FAILS(ARG, "desc->reserved is 7", vyre_dispatch(program, &desc.known, NULL, ERR));
  desc.known.reserved = 0;
  desc.known.repeat = 0;
  desc.known.struct_size = sizeof desc.known + 16;
  OK(vyre_dispatch(program, &desc.known, NULL, ERR));
  EQUAL(data[0], 2);
  desc.tail[7] = 1;
  FAILS(ARG, "desc->struct_size", vyre_dispatch(program, &desc.known, NULL, ERR));
  EQUAL(data[0], 2);
  OK(vyre_program_release(program, ERR));
}

/* Structures that calls fill: a shorter one is not written past its end, a longer one's rest is zeroed. */
#define FILLS(type, MACRO, minimum, call)                                       \
  do {                                                                          \
    WITH_TAIL(type) out;                                                        \
    type whole = MACRO;                                                         \
    type *info = &out.known;                                                    \
    const unsigned char *bytes = (const unsigned char *)&out;                   \
    size_t at;                                                                  \
    memset(&out, 0xA5, sizeof out);                                             \
    REFUSES_BAD_SIZES(out.known.struct_size, minimum, call);                    \
    for (at = 4; at < sizeof out; at++) {                                       \
      CHECK(bytes[at] == 0xA5);                                                 \
    }                                                                           \
    out.known.struct_size = sizeof out;                                         \
    OK(call);                                                                   \
    for (at = sizeof(type); at < sizeof out; at++) {                            \
      EQUAL(bytes[at], 0);                                                      \
    }                                                                           \
    info = &whole;                                                              \
    OK(call);                                                                   \
    EQUAL(whole.struct_size, sizeof(type));                                     \
    CHECK(memcmp((const char *)&whole + 4, bytes + 4, sizeof(type) - 4) == 0);  \
    memset(&out, 0xA5, sizeof out);                                             \
    out.known.struct_size = (minimum);                                          \
    info = &out.known;                                                          \
    OK(call);                                                                   \
    CHECK(memcmp((const char *)&whole + 4, bytes + 4, (minimum) - 4) == 0);     \
    for (at = (minimum); at < sizeof out; at++) {                               \
      CHECK(bytes[at] == 0xA5);                                                 \
    }                                                                           \
  } while (0)

static void backend_outputs(void) {
  FILLS(vyre_backend_properties, VYRE_BACKEND_PROPERTIES_INIT, 8, vyre_backend_info(backend, info, ERR));
  FILLS(vyre_device_properties, VYRE_DEVICE_PROPERTIES_INIT, 16, vyre_device_info(0, info, ERR));
  /* A backend of its own: the checks between two calls count copies on the test's. */
  {
    vyre_backend idle = check_acquire(1);
    FILLS(vyre_backend_counters, VYRE_BACKEND_COUNTERS_INIT, 16, vyre_backend_telemetry(idle, info, ERR));
    OK(vyre_backend_release(idle, ERR));
  }
}

static void program_outputs(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  FILLS(vyre_program_properties, VYRE_PROGRAM_PROPERTIES_INIT, 16, vyre_program_info(program, info, ERR));
  FILLS(vyre_binding_properties, VYRE_BINDING_PROPERTIES_INIT, 16, vyre_program_binding(program, 0, info, ERR));
  OK(vyre_program_release(program, ERR));
}

static void reports(void) {
  WITH_TAIL(vyre_dispatch_report) report;
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  memset(&report, 0xA5, sizeof report);
  REFUSES_BAD_SIZES(report.known.struct_size, 16, vyre_dispatch(program, &desc, &report.known, ERR));
  EQUAL(data[0], 0);
  report.known.struct_size = sizeof report;
  OK(vyre_dispatch(program, &desc, &report.known, ERR));
  EQUAL(report.known.workgroups, 1);
  EQUAL(report.tail[0] + report.tail[15], 0);
  OK(vyre_program_release(program, ERR));
}

/* In an array, the first element's size is the distance between elements. */
static void batches(void) {
  WITH_TAIL(vyre_dispatch_desc) descs[2];
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  size_t completed = 0;
  memset(descs, 0, sizeof descs);
  descs[0].known = check_grid(1, &bound, 1);
  descs[0].known.struct_size = sizeof descs[0];
  descs[1] = descs[0];
  OK(vyre_dispatch_batch(program, &descs[0].known, 2, NULL, &completed, ERR));
  EQUAL(completed, 2);
  EQUAL(data[0], 2);
  descs[1].known.struct_size = sizeof descs[1].known;
  FAILS(ARG, "descs[1].struct_size", vyre_dispatch_batch(program, &descs[0].known, 2, NULL, &completed, ERR));
  EQUAL(completed, 0);
  EQUAL(data[0], 2);
  OK(vyre_program_release(program, ERR));
}

/* Pointers into packed memory, as other languages pass them: read and written byte by byte. */
static void misaligned_structures(void) {
  static char desc_at[sizeof(vyre_backend_desc) + 1], info_at[sizeof(vyre_backend_properties) + 1], out_at[9];
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT, expected = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_backend out;
  void *desc_pointer = desc_at + 1, *info_pointer = info_at + 1, *out_pointer = out_at + 1;
  desc.kind = check_kind();
  desc.cpu_threads = 2;
  memcpy(desc_pointer, &desc, sizeof desc);
  memcpy(info_pointer, &info, sizeof info);
  OK(vyre_backend_acquire((const vyre_backend_desc *)desc_pointer, (vyre_backend *)out_pointer, ERR));
  memcpy(&out, out_pointer, sizeof out);
  OK(vyre_backend_info(out, (vyre_backend_properties *)info_pointer, ERR));
  OK(vyre_backend_info(backend, &expected, ERR));
  CHECK(memcmp(info_pointer, &expected, sizeof expected) == 0);
  vyre_backend_properties_init((vyre_backend_properties *)info_pointer);
  CHECK(memcmp(info_pointer, &info, sizeof info) == 0);
  OK(vyre_backend_release(out, ERR));
}

int main(void) {
  RUN(backend_descs);
  RUN(program_descs);
  RUN(dispatch_descs);
  RUN(backend_outputs);
  RUN(program_outputs);
  RUN(reports);
  RUN(batches);
  RUN(misaligned_structures);
  return check_finish();
}
