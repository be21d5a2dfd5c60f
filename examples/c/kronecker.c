#include "kronecker.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "progress.h"

/* A mixing function whose outputs for successive inputs pass for random (Steele, Lea and Flood's
 * "Fast splittable pseudorandom number generators"). */
static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Probabilities as fractions of 2^32, so that no rounding differs between machines. */
#define CHANCE(p) ((uint32_t)((p)*4294967296.0))
#define A 0.57
#define B 0.19
#define C 0.19
/* That an edge starts in the lower half; then that it ends there, given where it starts. */
#define FROM_LOW CHANCE(A + B)
#define TO_LOW_FROM_LOW CHANCE(A / (A + B))
#define TO_LOW_FROM_HIGH CHANCE(C / (1.0 - (A + B)))

void kronecker_start(kronecker *k, uint32_t scale, uint64_t edge_factor, uint64_t seed) {
  if (scale > KRONECKER_MAX_SCALE) fail("scale %u is over the largest, %d", (unsigned)scale, KRONECKER_MAX_SCALE);
  k->scale = scale;
  k->seed = mix(seed + GOLDEN);
  k->edge_count = edge_factor << scale;
  const uint64_t vertices = UINT64_C(1) << scale;
  k->names = allocate((size_t)vertices, sizeof *k->names);
  for (uint64_t i = 0; i < vertices; i++) k->names[i] = (uint32_t)i;
  uint64_t state = ~k->seed;
  for (uint64_t i = vertices - 1; i > 0; i--) {
    /* The high half of a product scales 32 random bits to 0..i; the bias is below 2^-32 a vertex. */
    const uint64_t j = (mix(state += GOLDEN) >> 32) * (i + 1) >> 32;
    const uint32_t swap = k->names[i];
    k->names[i] = k->names[j];
    k->names[j] = swap;
  }
}

edge kronecker_edge(const kronecker *k, uint64_t number) {
  uint64_t state = mix(k->seed ^ number * GOLDEN);
  uint32_t from = 0, to = 0;
  for (uint32_t bit = 0; bit < k->scale; bit++) {
    const uint64_t random = mix(state += GOLDEN);
    const uint32_t from_high = (uint32_t)random >= FROM_LOW;
    const uint32_t to_high = (uint32_t)(random >> 32) >= (from_high ? TO_LOW_FROM_HIGH : TO_LOW_FROM_LOW);
    from |= from_high << bit;
    to |= to_high << bit;
  }
  return (edge){k->names[from], k->names[to]};
}

void kronecker_free(kronecker *k) {
  free(k->names);
  memset(k, 0, sizeof *k);
}

void kronecker_edge_list(uint32_t scale, uint64_t edge_factor, uint64_t seed, edge_list *out, bool quiet) {
  kronecker k;
  kronecker_start(&k, scale, edge_factor, seed);
  memset(out, 0, sizeof *out);
  out->edge_count = k.edge_count;
  out->vertex_count = (uint32_t)(UINT64_C(1) << scale);
  out->edges = allocate((size_t)k.edge_count, sizeof *out->edges);
  progress bar;
  progress_start(&bar, "Kronecker graph", quiet);
  for (uint64_t i = 0; i < k.edge_count; i++) {
    out->edges[i] = kronecker_edge(&k, i);
    if (i % 65536 == 0) progress_step(&bar, i, k.edge_count, " edges");
  }
  progress_end(&bar);
  kronecker_free(&k);
}
