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

int main(void) {
  const uint32_t sent[4] = {1, 2, 3, UINT32_MAX};
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
  /* The buffer keeps its backend alive. */
  if (vyre_backend_release(backend, &error) != VYRE_OK) return failed("release", error);
  if (vyre_buffer_release(buffer, &error) != VYRE_OK) return failed("release", error);
  printf("consumer: vyre %s works\n", vyre_version_string());
  return 0;
}
