#include "vyre_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool check(vyre_status status, vyre_error *error, const char *doing, const char *what) {
  if (status == VYRE_OK) return true;
  fprintf(stderr, "%s %s: %s: %s\nfix: %s\n", doing, what, vyre_status_name(status), vyre_error_message(error),
          vyre_error_fix(error));
  vyre_error_free(error);
  return false;
}

bool vyre_side_acquire(bool cpu, vyre_backend *backend) {
  vyre_backend_desc desc = VYRE_BACKEND_DESC_INIT;
  desc.kind = cpu ? VYRE_BACKEND_CPU : VYRE_BACKEND_CUDA;
  vyre_error *error;
  const vyre_status status = vyre_backend_acquire(&desc, backend, &error);
  return check(status, error, "acquiring", cpu ? "the CPU" : "CUDA device 0");
}

/* The file as allocated text; NULL if there is none. */
static char *read_text(const char *folder, const char *name, size_t *size) {
  char path[1024];
  if (snprintf(path, sizeof path, "%s/%s.wgsl", folder, name) >= (int)sizeof path) {
    fprintf(stderr, "%s: this path is too long\n", folder);
    return NULL;
  }
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return NULL;
  }
  const size_t room = (size_t)1 << 16;
  char *text = job_allocate(room);
  *size = fread(text, 1, room, file);
  const bool whole = !ferror(file) && feof(file);
  fclose(file);
  if (whole) return text;
  fprintf(stderr, "%s: cannot be read, or has %zu bytes or more\n", path, room);
  free(text);
  return NULL;
}

static bool load(vyre_side *side, vyre_backend backend, const char *folder) {
  size_t size;
  char *text = read_text(folder, side->what->name, &size);
  if (!text) return false;
  bool good = true;
  for (int version = 0; version < VERSIONS && good; version++) {
    vyre_program_desc desc = VYRE_PROGRAM_DESC_INIT;
    desc.code = text;
    desc.code_size = size;
    desc.label = side->what->name;
    if (version & VERSION_UNCHECKED) desc.flags |= VYRE_PROGRAM_UNCHECKED;
    if (version & VERSION_FAST) desc.flags |= VYRE_PROGRAM_FAST_MATH;
    vyre_error *error;
    const vyre_status status = vyre_program_load(backend, &desc, &side->programs[version], &error);
    good = check(status, error, "loading", side->what->name);
  }
  free(text);
  return good;
}

static bool make_buffers(vyre_side *side, vyre_backend backend) {
  for (int i = 0; i < side->data->buffer_count; i++) {
    vyre_error *error;
    vyre_status status = vyre_buffer_create(backend, side->data->buffers[i].bytes, &side->buffers[i], &error);
    if (!check(status, error, "making a buffer of", side->what->name)) return false;
    uint64_t pointer;
    status = vyre_buffer_native_pointer(side->buffers[i], &pointer, &error);
    if (!check(status, error, "finding a buffer of", side->what->name)) return false;
    side->pointers[i] = (void *)(uintptr_t)pointer;
    if (!side->data->buffers[i].initial) continue;
    status = vyre_buffer_write(side->buffers[i], 0, side->data->buffers[i].initial, side->data->buffers[i].bytes, &error);
    if (!check(status, error, "filling a buffer of", side->what->name)) return false;
  }
  return true;
}

/* The same grid for all versions: as many workgroups as asked for, or as the most demanding version allows. */
static bool settle_grid(vyre_side *side, vyre_backend backend) {
  memcpy(side->workgroups, side->data->workgroups, sizeof side->workgroups);
  if (side->workgroups[0] != 0) return true;
  vyre_backend_properties device = VYRE_BACKEND_PROPERTIES_INIT;
  vyre_error *error;
  vyre_status status = vyre_backend_info(backend, &device, &error);
  if (!check(status, error, "asking about the device of", side->what->name)) return false;
  uint64_t most = (uint64_t)device.units * side->what->per_unit;
  for (int version = 0; version < VERSIONS; version++) {
    vyre_program_properties program = VYRE_PROGRAM_PROPERTIES_INIT;
    status = vyre_program_info(side->programs[version], &program, &error);
    if (!check(status, error, "asking about the program of", side->what->name)) return false;
    if (program.grid_barriers > 0 && program.max_cooperative_workgroups < most) most = program.max_cooperative_workgroups;
  }
  side->workgroups[0] = (uint32_t)most;
  side->workgroups[1] = side->workgroups[2] = 1;
  return true;
}

bool vyre_side_open(vyre_side *side, vyre_backend backend, const char *folder, const job *what, const instance *data) {
  memset(side, 0, sizeof *side);
  side->what = what;
  side->data = data;
  return load(side, backend, folder) && make_buffers(side, backend) && settle_grid(side, backend);
}

void vyre_side_close(vyre_side *side) {
  /* Releasing what was never made is an error that nobody needs to hear of. */
  for (int i = 0; i < MOST_BUFFERS; i++) vyre_buffer_release(side->buffers[i], NULL);
  for (int version = 0; version < VERSIONS; version++) vyre_program_release(side->programs[version], NULL);
}

bool vyre_side_restore(vyre_side *side) {
  for (int i = 0; i < side->data->buffer_count; i++) {
    const job_buffer *of = &side->data->buffers[i];
    vyre_error *error;
    vyre_status status;
    if (!of->initial) status = vyre_buffer_fill(side->buffers[i], 0, of->bytes, 0, &error);
    else if (of->is_result) status = vyre_buffer_write(side->buffers[i], 0, of->initial, of->bytes, &error);
    else continue;
    if (!check(status, error, "restoring a buffer of", side->what->name)) return false;
  }
  return true;
}

bool vyre_side_run(vyre_side *side, int version, double *us) {
  vyre_binding bindings[MOST_BUFFERS];
  memset(bindings, 0, sizeof bindings);
  for (int i = 0; i < side->data->buffer_count; i++) {
    bindings[i].binding = (uint32_t)i;
    bindings[i].buffer = side->buffers[i];
  }
  vyre_program_properties program = VYRE_PROGRAM_PROPERTIES_INIT;
  vyre_error *error;
  vyre_status status = vyre_program_info(side->programs[version], &program, &error);
  if (!check(status, error, "asking about the program of", side->what->name)) return false;
  vyre_dispatch_desc desc = VYRE_DISPATCH_DESC_INIT;
  memcpy(desc.workgroups, side->workgroups, sizeof desc.workgroups);
  desc.bindings = bindings;
  desc.binding_count = (size_t)side->data->buffer_count;
  desc.immediates = side->data->parameters;
  desc.immediates_size = program.immediates_size;
  vyre_dispatch_report report = VYRE_DISPATCH_REPORT_INIT;
  status = vyre_dispatch(side->programs[version], &desc, &report, &error);
  *us = (double)report.device_time_ns / 1e3;
  return check(status, error, "running", side->what->name);
}

bool vyre_side_read(vyre_side *side, int buffer, void *to) {
  vyre_error *error;
  const vyre_status status = vyre_buffer_read(side->buffers[buffer], 0, to, side->data->buffers[buffer].bytes, &error);
  return check(status, error, "reading a buffer of", side->what->name);
}
