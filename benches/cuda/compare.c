#include "compare.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static bool compare_words(const char *what, const uint32_t *found, const uint32_t *expected, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (found[i] == expected[i]) continue;
    fprintf(stderr, "%s: word %zu of %zu is 0x%08lx, expected 0x%08lx\n", what, i, count, (unsigned long)found[i],
            (unsigned long)expected[i]);
    return false;
  }
  return true;
}

static bool compare_floats(const char *what, const float *found, const float *expected, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs((double)expected[i]));
  for (size_t i = 0; i < count; i++) {
    /* So written that a NaN is no agreement. */
    if (fabs((double)found[i] - (double)expected[i]) <= TOLERANCE * largest) continue;
    fprintf(stderr, "%s: number %zu of %zu is %.9g, expected %.9g within %.3g\n", what, i, count, (double)found[i],
            (double)expected[i], TOLERANCE * largest);
    return false;
  }
  return true;
}

bool compare(const char *what, const void *found, const void *expected, size_t bytes, bool within_tolerance) {
  return within_tolerance ? compare_floats(what, found, expected, bytes / sizeof(float))
                          : compare_words(what, found, expected, bytes / sizeof(uint32_t));
}
