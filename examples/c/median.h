/* The median of some measurements: one slow run, or one lucky one, does not move it. */
#ifndef EXAMPLES_MEDIAN_H
#define EXAMPLES_MEDIAN_H

#include <stddef.h>
#include <stdlib.h>

static inline int median_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts `values`; `count` is at least 1. */
static inline double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, median_order);
  return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

#endif
