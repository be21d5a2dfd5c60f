/* NULL everywhere it is not allowed: every function, every pointer. And everywhere it is. */
#include "check.h"

#define ARG VYRE_ERROR_INVALID_ARGUMENT

static void backend_calls(void) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  vyre_backend out = {0};
  FAILS(ARG, "out is NULL", vyre_backend_acquire(&desc, NULL, ERR));
  FAILS_OUT(ARG, "desc is NULL", out, vyre_backend_acquire(NULL, &out, ERR));
  FAILS(ARG, "info is NULL", vyre_backend_info(backend, NULL, ERR));
  FAILS(ARG, "counters is NULL", vyre_backend_telemetry(backend, NULL, ERR));
  FAILS(ARG, "text", vyre_backend_name(backend, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_backend_name(backend, NULL, 1, NULL, ERR));
  FAILS(ARG, "text", vyre_backend_reason(backend, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_backend_reason(backend, NULL, 1, NULL, ERR));
}

static void device_calls(void) {
  FAILS(ARG, "count is NULL", vyre_device_count(NULL, ERR));
  FAILS(ARG, "info is NULL", vyre_device_info(0, NULL, ERR));
  FAILS(ARG, "text", vyre_device_name(0, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_device_name(0, NULL, 1, NULL, ERR));
  FAILS(ARG, "text", vyre_device_reason(0, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_device_reason(0, NULL, 1, NULL, ERR));
}

static void buffer_calls(void) {
  vyre_buffer buffer = {0}, out = {0};
  char byte = 0;
  OK(vyre_buffer_create(backend, 16, &buffer, ERR));
  FAILS(ARG, "out is NULL", vyre_buffer_create(backend, 16, NULL, ERR));
  FAILS(ARG, "out is NULL", vyre_buffer_upload(backend, &byte, 1, NULL, ERR));
  FAILS_OUT(ARG, "data is NULL", out, vyre_buffer_upload(backend, NULL, 1, &out, ERR));
  FAILS(ARG, "out is NULL", vyre_buffer_import(backend, 16, 16, NULL, ERR));
  FAILS_OUT(ARG, "0x0", out, vyre_buffer_import(backend, 0, 16, &out, ERR));
  FAILS(ARG, "data is NULL", vyre_buffer_write(buffer, 0, NULL, 1, ERR));
  FAILS(ARG, "data is NULL", vyre_buffer_read(buffer, 0, NULL, 1, ERR));
  FAILS(ARG, "size is NULL", vyre_buffer_size(buffer, NULL, ERR));
  FAILS(ARG, "pointer is NULL", vyre_buffer_native_pointer(buffer, NULL, ERR));
  /* No bytes need no address. */
  OK(vyre_buffer_write(buffer, 16, NULL, 0, ERR));
  OK(vyre_buffer_read(buffer, 16, NULL, 0, ERR));
  OK(vyre_buffer_release(buffer, ERR));
}

static void program_calls(void) {
  vyre_program out = {0};
  vyre_program program = check_load(backend, ADD_ONE);
  vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
  vyre_override nameless = {NULL, 1.0};
  FAILS(ARG, "out is NULL", vyre_program_load(backend, &desc, NULL, ERR));
  FAILS_OUT(ARG, "desc is NULL", out, vyre_program_load(backend, NULL, &out, ERR));
  desc.code_size = 4;
  FAILS_OUT(ARG, "desc->code is NULL but desc->code_size is 4", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.code = ADD_ONE;
  desc.code_size = strlen(ADD_ONE);
  desc.override_count = 1;
  FAILS_OUT(ARG, "desc->overrides is NULL", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.overrides = &nameless;
  FAILS_OUT(ARG, "desc->overrides[0].name is NULL", out, vyre_program_load(backend, &desc, &out, ERR));
  desc.overrides = NULL;
  desc.override_count = 0;
  desc.parameter_count = 1;
  FAILS_OUT(ARG, "desc->parameters is NULL", out, vyre_program_load(backend, &desc, &out, ERR));
  FAILS(ARG, "info is NULL", vyre_program_info(program, NULL, ERR));
  FAILS(ARG, "info is NULL", vyre_program_binding(program, 0, NULL, ERR));
  FAILS(ARG, "text", vyre_program_binding_name(program, 0, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_program_binding_name(program, 0, NULL, 1, NULL, ERR));
  FAILS(ARG, "text", vyre_program_entry_point(program, NULL, 0, NULL, ERR));
  FAILS(ARG, "text is NULL", vyre_program_entry_point(program, NULL, 1, NULL, ERR));
  OK(vyre_program_release(program, ERR));
}

static void host_memory_calls(void) {
  void *memory = &memory;
  FAILS(ARG, "out is NULL", vyre_host_alloc(backend, 16, NULL, ERR));
  FAILS(ARG, "size is 0", vyre_host_alloc(backend, 0, &memory, ERR));
  CHECK(memory == NULL);
  OK(vyre_host_free(NULL, ERR));
}

static void dispatch_calls(void) {
  vyre_program program = check_load(backend, ADD_ONE);
  uint32_t data[64] = {0};
  vyre_binding bound = check_lend(0, data, data, sizeof data);
  vyre_dispatch_desc desc = check_grid(1, &bound, 1);
  size_t completed = 7;
  FAILS(ARG, "desc is NULL", vyre_dispatch(program, NULL, NULL, ERR));
  FAILS(ARG, "desc is NULL", vyre_program_warm_up(program, NULL, ERR));
  desc.bindings = NULL;
  FAILS(ARG, "desc->bindings is NULL but desc->binding_count is 1", vyre_dispatch(program, &desc, NULL, ERR));
  FAILS(ARG, "descs[0]: bindings is NULL", vyre_dispatch_batch(program, &desc, 1, NULL, &completed, ERR));
  EQUAL(completed, 0);
  desc.bindings = &bound;
  desc.immediates_size = 4;
  FAILS(ARG, "desc->immediates is NULL", vyre_dispatch(program, &desc, NULL, ERR));
  desc.immediates_size = 0;
  bound.host_in = bound.host_out = NULL;
  FAILS(ARG, "desc->bindings[0].buffer is null", vyre_dispatch(program, &desc, NULL, ERR));
  completed = 7;
  FAILS(ARG, "descs is NULL but count is 2", vyre_dispatch_batch(program, NULL, 2, NULL, &completed, ERR));
  EQUAL(completed, 0);
  /* Nothing to do needs no descriptions. */
  OK(vyre_dispatch_batch(program, NULL, 0, NULL, &completed, ERR));
  EQUAL(completed, 0);
  OK(vyre_program_release(program, ERR));
  check_dispatch_works(backend);
}

int main(void) {
  RUN(backend_calls);
  RUN(device_calls);
  RUN(buffer_calls);
  RUN(program_calls);
  RUN(host_memory_calls);
  RUN(dispatch_calls);
  return check_finish();
}
