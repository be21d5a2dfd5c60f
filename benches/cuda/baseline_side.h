/* The baselines as nvcc built them, opened at run time. */
#ifndef BENCH_BASELINE_SIDE_H
#define BENCH_BASELINE_SIDE_H

#include <stdbool.h>

#include "vyre_side.h"

typedef struct baseline_side {
  void *library;
} baseline_side;

/* These say on standard error what failed and give false. */

bool baseline_side_open(baseline_side *side, const char *folder, const char *file);
void baseline_side_close(baseline_side *side);
/* Runs the baseline of a job once, on the buffers and the grid of its vyre side. */
bool baseline_side_run(const baseline_side *side, const vyre_side *on, double *us);

#endif
