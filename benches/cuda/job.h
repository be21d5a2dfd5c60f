/* What is measured: the buffers of a kernel, what they hold, and what they should hold afterwards. */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_BUFFERS 5

typedef struct job_buffer {
  size_t bytes;
  /* What it starts with; NULL: zeros. */
  void *initial;
  /* A result is compared, everything else is not. */
  bool is_result;
  /* What job.reference finds; NULL before. */
  void *expected;
} job_buffer;

/* A job with its data. The buffers are the program's bindings, in their order. */
typedef struct instance {
  job_buffer buffers[MOST_BUFFERS];
  int buffer_count;
  unsigned char parameters[32];
  /* All zero where the grid strides over the data. */
  uint32_t workgroups[3];
} instance;

typedef struct job {
  /* Of the WGSL file and of the baseline's function. */
  const char *name;
  /* How many workgroups a multiprocessor gets, where the grid strides over the data. */
  uint32_t per_unit;
  /* It multiplies and adds floats, which fast mathematics may fuse. */
  bool has_floats;
  /* It uses a function that is rounded differently here and there. */
  bool is_approximate;
  void (*make)(instance *made, bool small);
  /* Plain C; only for small instances, where time does not matter. */
  void (*reference)(instance *of);
} job;

#define JOB_COUNT 8
extern const job jobs[JOB_COUNT];

void instance_free(instance *made);

/* For makers. All allocations succeed or end the program. */
void *job_allocate(size_t bytes);
void job_add(instance *to, size_t bytes, void *initial, bool is_result);
void job_set_parameters(instance *to, const void *parameters, size_t size);
/* Pseudo-random numbers that are the same on every machine. */
uint32_t job_random(uint32_t *state);
uint32_t *job_random_words(size_t count);
/* From -1 to 1. */
float *job_random_floats(size_t count);

void saxpy_make(instance *made, bool small);
void saxpy_reference(instance *of);
void sum_make(instance *made, bool small);
void sum_reference(instance *of);
void stencil_make(instance *made, bool small);
void stencil_reference(instance *of);
void histogram_make(instance *made, bool small);
void histogram_reference(instance *of);
void matmul_make(instance *made, bool small);
void matmul_reference(instance *of);
void scan_make(instance *made, bool small);
void scan_reference(instance *of);
void bfs_make(instance *made, bool small);
void bfs_reference(instance *of);
void nbody_make(instance *made, bool small);
void nbody_reference(instance *of);

#endif
