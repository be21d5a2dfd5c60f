/* Whether two results agree. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/* Two sums of floats may differ by this share of the largest number in the result, where their operations are
 * rounded differently. */
#define TOLERANCE 1e-5

/* Bit for bit, or as floats within the tolerance. Says on standard error where they part. */
bool compare(const char *what, const void *found, const void *expected, size_t bytes, bool within_tolerance);

#endif
