/* The level-synchronous search of reach.wgsl written for OpenMP: what vyre is measured against. */
#ifndef BENCH_REACH_OPENMP_H
#define BENCH_REACH_OPENMP_H

#include "graph.h"

/* `queue` has room for every vertex. */
void reach_openmp(const graph *g, uint32_t source, uint32_t *levels, uint32_t *queue, int threads);

#endif
