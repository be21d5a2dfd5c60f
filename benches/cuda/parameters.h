/* What the programs take as immediates and the baselines as a structure: the same bytes. */
#ifndef BENCH_PARAMETERS_H
#define BENCH_PARAMETERS_H

#include <stdint.h>

typedef struct saxpy_parameters {
  uint32_t vectors;
  float factor;
} saxpy_parameters;

/* Also of the histogram and the scan. */
typedef struct sum_parameters {
  uint32_t vectors;
} sum_parameters;

typedef struct stencil_parameters {
  uint32_t columns, rows, steps;
  float rate;
} stencil_parameters;

typedef struct matmul_parameters {
  uint32_t size;
} matmul_parameters;

typedef struct bfs_parameters {
  uint32_t vertices, source;
  /* The baseline's alone: WGSL knows how long a buffer is. */
  uint32_t most_levels;
} bfs_parameters;

typedef struct nbody_parameters {
  uint32_t bodies;
  float step, softening;
} nbody_parameters;

#endif
