#include "reach_openmp.h"

#include <omp.h>
#include <string.h>

/* Vertices that a thread keeps back before it takes places in the queue for all of them. */
#define BATCH 1024

/* Expands queue[first .. last]; the new vertices go to the queue from *tail on. */
static void expand(const graph *g, uint32_t *levels, uint32_t *queue, uint32_t first, uint32_t last, uint32_t level,
                   uint32_t *tail) {
  uint32_t batch[BATCH], kept = 0;
#pragma omp for schedule(dynamic, 64) nowait
  for (uint32_t i = first; i < last; i++) {
    const uint32_t u = queue[i], row_end = g->offsets[u + 1];
    for (uint32_t arc = g->offsets[u]; arc < row_end; arc++) {
      const uint32_t v = g->neighbours[arc];
      if (__atomic_load_n(&levels[v], __ATOMIC_RELAXED) != GRAPH_UNREACHED) continue;
      if (__atomic_exchange_n(&levels[v], level, __ATOMIC_RELAXED) != GRAPH_UNREACHED) continue;
      batch[kept++] = v;
      if (kept == BATCH) {
        memcpy(queue + __atomic_fetch_add(tail, kept, __ATOMIC_RELAXED), batch, kept * sizeof *batch);
        kept = 0;
      }
    }
  }
  memcpy(queue + __atomic_fetch_add(tail, kept, __ATOMIC_RELAXED), batch, kept * sizeof *batch);
}

void reach_openmp(const graph *g, uint32_t source, uint32_t *levels, uint32_t *queue, int threads) {
  uint32_t tail = 1;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for
    for (uint32_t v = 0; v < g->vertex_count; v++) levels[v] = v == source ? 0 : GRAPH_UNREACHED;
#pragma omp single
    queue[0] = source;
    uint32_t first = 0, last = 1;
    for (uint32_t level = 1; first < last; level++) {
      expand(g, levels, queue, first, last, level, &tail);
      first = last;
#pragma omp barrier
      last = __atomic_load_n(&tail, __ATOMIC_RELAXED);
      /* Nobody may add to the tail before everybody has read it. */
#pragma omp barrier
    }
  }
}
