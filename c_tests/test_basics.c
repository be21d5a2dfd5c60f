/* Versions, statuses, initial values, devices, what a backend says about itself. */
#include "check.h"

static void versions_agree(void) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", VYRE_VERSION_MAJOR, VYRE_VERSION_MINOR, VYRE_VERSION_PATCH);
  CHECK(strcmp(text, vyre_version_string()) == 0);
  EQUAL(vyre_version_number(), VYRE_VERSION_NUMBER);
  EQUAL(vyre_abi_version(), VYRE_ABI_VERSION);
}

static void statuses_have_names_and_fixes(void) {
  int status;
  for (status = VYRE_OK; status <= VYRE_ERROR_INTERNAL; status++) {
    CHECK(strncmp(vyre_status_name(status), "VYRE_", 5) == 0);
    CHECK(strcmp(vyre_status_name(status), "VYRE_ERROR_?") != 0);
    CHECK(strlen(vyre_status_fix(status)) > 20);
  }
  CHECK(strcmp(vyre_status_name(VYRE_ERROR_TIMEOUT), "VYRE_ERROR_TIMEOUT") == 0);
  CHECK(strcmp(vyre_status_name(VYRE_ERROR_INTERNAL + 1), "VYRE_ERROR_?") == 0);
  CHECK(strlen(vyre_status_fix(-1)) > 20);
}

static void no_error_is_no_error(void) {
  uint32_t line = 7, column = 7;
  EQUAL(vyre_error_status(NULL), VYRE_OK);
  CHECK(strcmp(vyre_error_message(NULL), "") == 0);
  CHECK(strlen(vyre_error_fix(NULL)) > 0);
  EQUAL(vyre_error_native_code(NULL), 0);
  CHECK(!vyre_error_source_position(NULL, &line, &column));
  EQUAL(line, 0);
  EQUAL(column, 0);
  CHECK(!vyre_error_source_position(NULL, NULL, NULL));
  vyre_error_free(NULL);
}

/* An error without a position says so, and its parts can be asked for in any order. */
static void errors_tell_their_parts(void) {
  vyre_error *error = NULL;
  uint32_t line = 7, column = 7;
  vyre_backend none = {0};
  EQUAL(vyre_backend_release(none, &error), VYRE_ERROR_INVALID_HANDLE);
  CHECK(strstr(vyre_error_message(error), "backend is a null handle") != NULL);
  CHECK(!vyre_error_source_position(error, &line, &column));
  EQUAL(line + column, 0);
  EQUAL(vyre_error_native_code(error), 0);
  EQUAL(vyre_error_status(error), VYRE_ERROR_INVALID_HANDLE);
  vyre_error_free(error);
}

/* The brace macro and the init function write the same bytes, all of them. */
#define SAME_INITIAL_VALUE(type, MACRO)                                 \
  do {                                                                  \
    type from_macro = MACRO;                                            \
    type from_function;                                                 \
    memset(&from_function, 0xA5, sizeof from_function);                 \
    type##_init(&from_function);                                        \
    CHECK(memcmp(&from_macro, &from_function, sizeof(type)) == 0);      \
    EQUAL(from_macro.struct_size, sizeof(type));                        \
    EQUAL(sizeof(type) % 8, 0);                                         \
    type##_init(NULL);                                                  \
  } while (0)

static void macros_equal_functions(void) {
  SAME_INITIAL_VALUE(vyre_backend_desc, VYRE_BACKEND_DESC_INIT);
  SAME_INITIAL_VALUE(vyre_backend_properties, VYRE_BACKEND_PROPERTIES_INIT);
  SAME_INITIAL_VALUE(vyre_backend_counters, VYRE_BACKEND_COUNTERS_INIT);
  SAME_INITIAL_VALUE(vyre_device_properties, VYRE_DEVICE_PROPERTIES_INIT);
  SAME_INITIAL_VALUE(vyre_program_desc, VYRE_PROGRAM_DESC_INIT);
  SAME_INITIAL_VALUE(vyre_program_properties, VYRE_PROGRAM_PROPERTIES_INIT);
  SAME_INITIAL_VALUE(vyre_binding_properties, VYRE_BINDING_PROPERTIES_INIT);
  SAME_INITIAL_VALUE(vyre_dispatch_desc, VYRE_DISPATCH_DESC_INIT);
  SAME_INITIAL_VALUE(vyre_dispatch_report, VYRE_DISPATCH_REPORT_INIT);
}

/* No hidden padding: the sizes are the sums of the fields, and the binary interface does not move. */
static void layouts_are_frozen(void) {
  EQUAL(sizeof(vyre_backend), 8);
  EQUAL(sizeof(vyre_binding), 48);
  EQUAL(offsetof(vyre_binding, buffer), 8);
  EQUAL(offsetof(vyre_binding, host_in), 32);
  EQUAL(sizeof(vyre_override), 16);
  EQUAL(sizeof(vyre_ptx_parameter), 16);
  EQUAL(sizeof(vyre_backend_desc), 24);
  EQUAL(sizeof(vyre_backend_properties), 96);
  EQUAL(offsetof(vyre_backend_properties, default_timeout_ns), 88);
  EQUAL(sizeof(vyre_backend_counters), 160);
  EQUAL(sizeof(vyre_device_properties), 40);
  EQUAL(sizeof(vyre_program_desc), 96);
  EQUAL(offsetof(vyre_program_desc, parameter_count), 72);
  EQUAL(sizeof(vyre_program_properties), 48);
  EQUAL(sizeof(vyre_binding_properties), 40);
  EQUAL(sizeof(vyre_dispatch_desc), 72);
  EQUAL(offsetof(vyre_dispatch_desc, timeout_ns), 56);
  EQUAL(sizeof(vyre_dispatch_report), 48);
}

static void devices_are_listed(void) {
  uint32_t count = 0, i, usable = 0;
  size_t required = 0;
  char name[256];
  vyre_device_properties info = VYRE_DEVICE_PROPERTIES_INIT;
  OK(vyre_device_count(&count, ERR));
  CHECK(count >= 1);
  for (i = 0; i < count; i++) {
    OK(vyre_device_info(i, &info, ERR));
    usable += info.usable;
    OK(vyre_device_name(i, name, sizeof name, &required, ERR));
    EQUAL(strlen(name) + 1, required);
    CHECK(required > 1);
    OK(vyre_device_reason(i, name, sizeof name, &required, ERR));
    CHECK((required == 1) == (info.usable == 1));
  }
  CHECK(usable >= 1);
  EQUAL(info.kind, VYRE_BACKEND_CPU);
  CHECK(info.memory > 0);
  CHECK(info.units > 0);
  FAILS(VYRE_ERROR_NO_DEVICE, "index is 4294967295", vyre_device_info(UINT32_MAX, &info, ERR));
  EQUAL(info.memory, 0);
  FAILS(VYRE_ERROR_NO_DEVICE, "index", vyre_device_name(count, name, sizeof name, &required, ERR));
  EQUAL(required, 0);
  FAILS(VYRE_ERROR_NO_DEVICE, "index", vyre_device_reason(count, name, sizeof name, &required, ERR));
}

/* CUDA where it can be used, else the CPU; either way it says so. */
static void auto_takes_what_is_there_and_says_why(void) {
  vyre_backend taken = {0};
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_device_properties first = VYRE_DEVICE_PROPERTIES_INIT;
  char reason[2048];
  OK(vyre_device_info(0, &first, ERR));
  OK(vyre_backend_acquire(&desc, &taken, ERR));
  OK(vyre_backend_info(taken, &info, ERR));
  OK(vyre_backend_reason(taken, reason, sizeof reason, NULL, ERR));
  CHECK(strstr(reason, "CUDA") != NULL);
  OK(vyre_backend_release(taken, ERR));
  desc.kind = VYRE_BACKEND_CUDA;
  if (first.kind == VYRE_BACKEND_CUDA && first.usable) {
    EQUAL(info.kind, VYRE_BACKEND_CUDA);
    OK(vyre_backend_acquire(&desc, &taken, ERR));
    OK(vyre_backend_release(taken, ERR));
    desc.ordinal = 1000;
    FAILS_OUT(VYRE_ERROR_NO_DEVICE, "no CUDA device 1000", taken, vyre_backend_acquire(&desc, &taken, ERR));
  } else {
    vyre_status status = vyre_backend_acquire(&desc, &taken, NULL);
    EQUAL(info.kind, VYRE_BACKEND_CPU);
    CHECK(status == VYRE_ERROR_DRIVER_UNAVAILABLE || status == VYRE_ERROR_NO_DEVICE ||
          status == VYRE_ERROR_UNSUPPORTED);
    FAILS_OUT(status, "CUDA", taken, vyre_backend_acquire(&desc, &taken, ERR));
  }
}

static void backends_say_what_they_allow(void) {
  vyre_backend_properties info = VYRE_BACKEND_PROPERTIES_INIT;
  OK(vyre_backend_info(backend, &info, ERR));
  EQUAL(info.struct_size, sizeof info);
  EQUAL(info.kind, check_kind());
  CHECK(check_on_cuda() ? info.units > 2 : info.units == 2);
  EQUAL(info.cooperative, 1);
  CHECK(info.memory > 0 && info.max_buffer_size > 0);
  CHECK(info.max_workgroup_invocations >= 256 && info.max_workgroup_size[0] >= 256);
  CHECK(info.max_workgroup_memory >= 16384);
  CHECK(info.default_timeout_ns > 0 && info.default_timeout_ns != VYRE_TIMEOUT_UNBOUNDED);
}

static void texts_come_by_two_calls(void) {
  size_t required = 0, again = 0;
  char *text;
  char small[3];
  OK(vyre_backend_name(backend, NULL, 0, &required, ERR));
  CHECK(required > 1);
  text = (char *)malloc(required);
  OK(vyre_backend_name(backend, text, required, &again, ERR));
  EQUAL(again, required);
  EQUAL(strlen(text) + 1, required);
  OK(vyre_backend_name(backend, text, required, NULL, ERR));
  /* One byte less than needed: refused, emptied, and the need is told. */
  again = 0;
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "capacity", vyre_backend_name(backend, text, required - 1, &again, ERR));
  EQUAL(again, required);
  EQUAL(text[0], 0);
  memset(small, 'x', sizeof small);
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "capacity is 3", vyre_backend_reason(backend, small, 3, NULL, ERR));
  EQUAL(small[0], 0);
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "required", vyre_backend_name(backend, NULL, 0, NULL, ERR));
  FAILS(VYRE_ERROR_INVALID_ARGUMENT, "text is NULL", vyre_backend_name(backend, NULL, 8, &required, ERR));
  free(text);
}

static void telemetry_counts_and_resets(void) {
  vyre_backend_counters counters = VYRE_BACKEND_COUNTERS_INIT;
  vyre_buffer buffer = {0};
  uint32_t data[4] = {1, 2, 3, 4};
  OK(vyre_backend_telemetry_reset(backend, ERR));
  OK(vyre_buffer_upload(backend, data, sizeof data, &buffer, ERR));
  OK(vyre_buffer_read(buffer, 0, data, 8, ERR));
  OK(vyre_backend_telemetry(backend, &counters, ERR));
  EQUAL(counters.copies_in, 1);
  EQUAL(counters.bytes_in, 16);
  EQUAL(counters.copies_out, 1);
  EQUAL(counters.bytes_out, 8);
  EQUAL(counters.buffers, 1);
  EQUAL(counters.buffer_bytes, 16);
  OK(vyre_backend_telemetry_reset(backend, ERR));
  OK(vyre_backend_telemetry(backend, &counters, ERR));
  EQUAL(counters.bytes_in, 0);
  EQUAL(counters.buffers, 1);
  OK(vyre_buffer_release(buffer, ERR));
  OK(vyre_backend_trim(backend, VYRE_TRIM_ALL, ERR));
  OK(vyre_backend_telemetry(backend, &counters, ERR));
  EQUAL(counters.buffers, 0);
  EQUAL(counters.retained_bytes, 0);
}

int main(void) {
  RUN(versions_agree);
  RUN(statuses_have_names_and_fixes);
  RUN(no_error_is_no_error);
  RUN(errors_tell_their_parts);
  RUN(macros_equal_functions);
  RUN(layouts_are_frozen);
  RUN(devices_are_listed);
  RUN(auto_takes_what_is_there_and_says_why);
  RUN(backends_say_what_they_allow);
  RUN(texts_come_by_two_calls);
  RUN(telemetry_counts_and_resets);
  return check_finish();
}
