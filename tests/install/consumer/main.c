#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <vyre/vyre.h>

int other_check(void);

static int failed(const char *what, vyre_error *error) {
  printf("%s: %s\n", what, vyre_error_message(error));
  vyre_error_free(error);
  return 1;
}

/* Each workgroup takes what the workgroup behind it wrote before the barrier. */
static const char rotate[] =
    "@group(0) @binding(0) var<storage, read_write> v: array<u32>;\n"
    "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3<u32>) {\n"
    "  let next = v[(id.x + 1) % 4];\n"
    "  gridBarrier();\n"
    "  v[id.x] = next;\n"
    "}\n";

/* Compiles and runs a program on `values`; machine code is made and run also from the static library. */
static vyre_status run_program(vyre_backend backend, uint32_t *values, uint64_t size, vyre_error **error) {
  vyre_program_desc code = VYRE_PROGRAM_DESC_INIT;
  vyre_dispatch_desc dispatch = VYRE_DISPATCH_DESC_INIT;
  vyre_binding binding = {0, 0, {0}, 0, 0, NULL, NULL};
  vyre_program program;
  vyre_status status;

  code.code = rotate;
  code.code_size = sizeof rotate - 1;
  status = vyre_program_load(backend, &code, &program, error);
  if (status != VYRE_OK) return status;
  binding.size = size;
  binding.host_in = binding.host_out = values;
  dispatch.workgroups[0] = 4;
  dispatch.workgroups[1] = dispatch.workgroups[2] = 1;
  dispatch.bindings = &binding;
  dispatch.binding_count = 1;
  status = vyre_dispatch(program, &dispatch, NULL, error);
  vyre_program_release(program, NULL);
  return status;
}

int main(void) {
  const uint32_t sent[4] = {1, 2, 3, UINT32_MAX};
  const uint32_t rotated[4] = {2, 3, UINT32_MAX, 1};
  uint32_t received[4] = {0, 0, 0, 0};
  vyre_backend_desc desc;
  vyre_backend backend;
  vyre_buffer buffer;
  vyre_error *error;

  if (!other_check()) return printf("the header and the library differ\n"), 1;
  vyre_backend_desc_init(&desc);
  desc.kind = VYRE_BACKEND_CPU;
  if (vyre_backend_acquire(&desc, &backend, &error) != VYRE_OK) return failed("acquire", error);
  if (vyre_buffer_upload(backend, sent, sizeof sent, &buffer, &error) != VYRE_OK) return failed("upload", error);
  if (vyre_buffer_read(buffer, 0, received, sizeof received, &error) != VYRE_OK) return failed("read", error);
  if (memcmp(sent, received, sizeof sent) != 0) return printf("the buffer gave other bytes back\n"), 1;
  if (run_program(backend, received, sizeof received, &error) != VYRE_OK) return failed("dispatch", error);
  if (memcmp(rotated, received, sizeof rotated) != 0) return printf("the program gave other numbers\n"), 1;
  /* The buffer keeps its backend alive. */
  if (vyre_backend_release(backend, &error) != VYRE_OK) return failed("release", error);
  if (vyre_buffer_release(buffer, &error) != VYRE_OK) return failed("release", error);
  printf("consumer: vyre %s works\n", vyre_version_string());
  return 0;
}
