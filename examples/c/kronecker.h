/* Kronecker graphs as the Graph500 benchmark makes them: 2^scale vertices, edge_factor * 2^scale edges
 * placed by the probabilities A 0.57, B 0.19, C 0.19 and D 0.05, vertices renamed at random.
 *
 * Each edge is a function of the seed and its number alone, so any machine makes the same graph and
 * edges may be made one by one. Edges are independent of each other: shuffling them changes nothing. */
#ifndef EXAMPLES_KRONECKER_H
#define EXAMPLES_KRONECKER_H

#include <stdint.h>

#include "edge_list.h"

#define KRONECKER_MAX_SCALE 31

typedef struct kronecker {
  uint32_t scale;
  uint64_t seed, edge_count;
  uint32_t *names; /* a random order of the vertices */
} kronecker;

void kronecker_start(kronecker *k, uint32_t scale, uint64_t edge_factor, uint64_t seed);
edge kronecker_edge(const kronecker *k, uint64_t number);
void kronecker_free(kronecker *k);

/* The whole graph. */
void kronecker_edge_list(uint32_t scale, uint64_t edge_factor, uint64_t seed, edge_list *out, bool quiet);

#endif
