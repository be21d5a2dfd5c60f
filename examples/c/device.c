#include "device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

bool device_option(options *o, device_choice *choice) {
  if (option_is(o, "--threads")) {
    choice->threads = (uint32_t)option_number(o, 1, 1024);
    return true;
  }
  if (!option_is(o, "--backend")) return false;
  const char *name = option_text(o);
  if (strcmp(name, "auto") == 0) choice->kind = VYRE_BACKEND_AUTO;
  else if (strcmp(name, "cpu") == 0) choice->kind = VYRE_BACKEND_CPU;
  else if (strcmp(name, "cuda") == 0) choice->kind = VYRE_BACKEND_CUDA;
  else fail_usage("--backend is auto, cpu or cuda, not \"%s\"", name);
  return true;
}

void device_check(vyre_status status, vyre_error *error, const char *doing) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "%s: %s: %s\n", doing, vyre_status_name(status), vyre_error_message(error));
  fprintf(stderr, "fix: %s\n", vyre_error_fix(error));
  vyre_error_free(error);
  fail("%s failed", doing);
}

vyre_backend device_open(const device_choice *choice) {
  vyre_backend_desc desc;
  vyre_backend_desc_init(&desc);
  desc.kind = choice->kind;
  desc.cpu_threads = choice->threads;
  vyre_backend backend;
  vyre_error *error;
  const vyre_status status = vyre_backend_acquire(&desc, &backend, &error);
  device_check(status, error, "acquiring the backend");
  return backend;
}

static vyre_backend_properties properties(vyre_backend backend) {
  vyre_backend_properties info;
  vyre_backend_properties_init(&info);
  vyre_error *error;
  const vyre_status status = vyre_backend_info(backend, &info, &error);
  device_check(status, error, "asking what the backend is");
  return info;
}

void device_print(vyre_backend backend) {
  const vyre_backend_properties info = properties(backend);
  char name[256];
  vyre_error *error;
  const vyre_status status = vyre_backend_name(backend, name, sizeof name, NULL, &error);
  device_check(status, error, "asking for the backend's name");
  const bool cpu = info.kind == VYRE_BACKEND_CPU;
  printf("backend: %s, %s, %" PRIu32 " %s\n", cpu ? "cpu" : "cuda", name, info.units,
         cpu ? (info.units == 1 ? "thread" : "threads") : "multiprocessors");
}

uint32_t device_workgroups(vyre_backend backend) {
  const vyre_backend_properties info = properties(backend);
  /* On a CPU several a thread, so that a thread which is done early finds more to do; and one more, because
   * steps by a power of two bytes through memory would use only a few sets of its caches. On a device
   * 0: as many as it runs at once, which a grid barrier asks for anyway. */
  return info.kind == VYRE_BACKEND_CPU ? info.units * 16 + 1 : 0;
}

vyre_program device_load(vyre_backend backend, const char *source, const char *label) {
  vyre_program_desc desc;
  vyre_program_desc_init(&desc);
  desc.format = VYRE_PROGRAM_WGSL;
  desc.code = source;
  desc.code_size = strlen(source);
  desc.label = label;
  vyre_program program;
  vyre_error *error;
  const vyre_status status = vyre_program_load(backend, &desc, &program, &error);
  device_check(status, error, "loading the program");
  return program;
}

vyre_buffer device_buffer(vyre_backend backend, uint64_t size) {
  vyre_buffer buffer;
  vyre_error *error;
  const vyre_status status = vyre_buffer_create(backend, size, &buffer, &error);
  device_check(status, error, "making a buffer");
  return buffer;
}

vyre_buffer device_upload(vyre_backend backend, const void *data, uint64_t size) {
  vyre_buffer buffer;
  vyre_error *error;
  const vyre_status status = vyre_buffer_upload(backend, data, size, &buffer, &error);
  device_check(status, error, "uploading a buffer");
  return buffer;
}
