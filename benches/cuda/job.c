#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const job jobs[JOB_COUNT] = {
    {.name = "saxpy", .has_floats = true, .make = saxpy_make, .reference = saxpy_reference},
    {.name = "sum", .per_unit = 8, .make = sum_make, .reference = sum_reference},
    {.name = "stencil", .per_unit = 8, .has_floats = true, .make = stencil_make, .reference = stencil_reference},
    {.name = "histogram", .per_unit = 8, .make = histogram_make, .reference = histogram_reference},
    {.name = "matmul", .has_floats = true, .make = matmul_make, .reference = matmul_reference},
    {.name = "scan", .per_unit = 8, .make = scan_make, .reference = scan_reference},
    {.name = "bfs", .per_unit = 8, .make = bfs_make, .reference = bfs_reference},
    {.name = "nbody", .has_floats = true, .is_approximate = true, .make = nbody_make, .reference = nbody_reference},
};

void *job_allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) {
    fprintf(stderr, "out of memory: %zu bytes were needed\n", bytes);
    exit(1);
  }
  return memory;
}

void job_add(instance *to, size_t bytes, void *initial, bool is_result) {
  job_buffer *buffer = &to->buffers[to->buffer_count++];
  buffer->bytes = bytes;
  buffer->initial = initial;
  buffer->is_result = is_result;
}

void job_set_parameters(instance *to, const void *parameters, size_t size) {
  memcpy(to->parameters, parameters, size);
}

void instance_free(instance *made) {
  for (int i = 0; i < made->buffer_count; i++) {
    free(made->buffers[i].initial);
    free(made->buffers[i].expected);
  }
  memset(made, 0, sizeof *made);
}

uint32_t job_random(uint32_t *state) {
  uint32_t x = *state;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

uint32_t *job_random_words(size_t count) {
  uint32_t *words = job_allocate(count * sizeof *words), state = 2463534242u;
  for (size_t i = 0; i < count; i++) words[i] = job_random(&state);
  return words;
}

float *job_random_floats(size_t count) {
  float *floats = job_allocate(count * sizeof *floats);
  uint32_t state = 2463534242u;
  for (size_t i = 0; i < count; i++) floats[i] = (float)(job_random(&state) >> 8) / 8388608.0f - 1.0f;
  return floats;
}
