/* Jobs that go once or twice over much memory: saxpy, sum, histogram, scan. */
#include <string.h>

#include "job.h"
#include "parameters.h"

#define MANY ((size_t)64 << 20) /* words */
#define FEW ((size_t)13 << 10)  /* tiles of the scan that three workgroups share unevenly */

/* More than any grid has workgroups. */
#define MOST_WORKGROUPS 65536

static size_t words(bool small) { return small ? FEW : MANY; }

void saxpy_make(instance *made, bool small) {
  const size_t count = words(small);
  const saxpy_parameters parameters = {.vectors = (uint32_t)(count / 4), .factor = 0.7f};
  job_set_parameters(made, &parameters, sizeof parameters);
  float *x = job_random_floats(count), *y = job_allocate(count * sizeof *y);
  for (size_t i = 0; i < count; i++) y[i] = x[count - 1 - i];
  job_add(made, count * sizeof *x, x, false);
  job_add(made, count * sizeof *y, y, true);
  made->workgroups[0] = (uint32_t)(count / 4 + 255) / 256;
  made->workgroups[1] = made->workgroups[2] = 1;
}

void saxpy_reference(instance *of) {
  saxpy_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  const float *x = of->buffers[0].initial, *y = of->buffers[1].initial;
  float *out = of->buffers[1].expected;
  for (size_t i = 0; i < (size_t)p.vectors * 4; i++) out[i] = p.factor * x[i] + y[i];
}

static size_t vectors_of_words(instance *made, bool small) {
  const size_t count = words(small);
  const sum_parameters parameters = {.vectors = (uint32_t)(count / 4)};
  job_set_parameters(made, &parameters, sizeof parameters);
  job_add(made, count * sizeof(uint32_t), job_random_words(count), false);
  return count;
}

static size_t word_count(const instance *of) {
  sum_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  return (size_t)p.vectors * 4;
}

void sum_make(instance *made, bool small) {
  vectors_of_words(made, small);
  job_add(made, MOST_WORKGROUPS * sizeof(uint32_t), NULL, false);
  job_add(made, sizeof(uint32_t), NULL, true);
}

void sum_reference(instance *of) {
  const uint32_t *numbers = of->buffers[0].initial;
  uint32_t *total = of->buffers[2].expected;
  *total = 0;
  for (size_t i = 0; i < word_count(of); i++) *total += numbers[i];
}

void histogram_make(instance *made, bool small) {
  vectors_of_words(made, small);
  job_add(made, 256 * sizeof(uint32_t), NULL, true);
}

void histogram_reference(instance *of) {
  const uint32_t *numbers = of->buffers[0].initial;
  uint32_t *counts = of->buffers[1].expected;
  memset(counts, 0, 256 * sizeof *counts);
  for (size_t i = 0; i < word_count(of); i++) {
    for (int shift = 0; shift < 32; shift += 8) counts[numbers[i] >> shift & 255]++;
  }
}

void scan_make(instance *made, bool small) {
  const size_t count = vectors_of_words(made, small);
  job_add(made, MOST_WORKGROUPS * sizeof(uint32_t), NULL, false);
  job_add(made, count * sizeof(uint32_t), NULL, true);
}

void scan_reference(instance *of) {
  const uint32_t *numbers = of->buffers[0].initial;
  uint32_t *prefixes = of->buffers[2].expected, sum = 0;
  for (size_t i = 0; i < word_count(of); i++) {
    prefixes[i] = sum;
    sum += numbers[i];
  }
}
