/* The job that chases pointers: breadth-first search. */
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "parameters.h"

#define UNREACHED 0xffffffffu
#define MOST_LEVELS 64

void bfs_make(instance *made, bool small) {
  /* 8 arcs a vertex on average; few in the small graph, for more levels. */
  const uint32_t most_arcs = small ? 4 : 16;
  const bfs_parameters parameters = {
      .vertices = small ? 3000 : (uint32_t)4 << 20, .source = 0, .most_levels = MOST_LEVELS};
  job_set_parameters(made, &parameters, sizeof parameters);
  const size_t vertices = parameters.vertices;
  uint32_t *offsets = job_allocate((vertices + 1) * sizeof *offsets), state = 88172645u;
  offsets[0] = 0;
  for (size_t v = 0; v < vertices; v++) {
    const uint32_t arcs = v == parameters.source ? most_arcs : job_random(&state) % (most_arcs + 1);
    offsets[v + 1] = offsets[v] + arcs;
  }
  uint32_t *neighbours = job_allocate(offsets[vertices] * sizeof *neighbours);
  for (uint32_t arc = 0; arc < offsets[vertices]; arc++) neighbours[arc] = job_random(&state) % parameters.vertices;
  job_add(made, (vertices + 1) * sizeof *offsets, offsets, false);
  job_add(made, offsets[vertices] * sizeof *neighbours, neighbours, false);
  job_add(made, vertices * sizeof(uint32_t), NULL, true);
  /* In which order a level is queued is left open. */
  job_add(made, vertices * sizeof(uint32_t), NULL, false);
  job_add(made, MOST_LEVELS * sizeof(uint32_t), NULL, true);
}

void bfs_reference(instance *of) {
  bfs_parameters p;
  memcpy(&p, of->parameters, sizeof p);
  const uint32_t *offsets = of->buffers[0].initial, *neighbours = of->buffers[1].initial;
  uint32_t *levels = of->buffers[2].expected, *found = of->buffers[4].expected;
  uint32_t *queue = job_allocate(p.vertices * sizeof *queue);
  memset(found, 0, MOST_LEVELS * sizeof *found);
  for (uint32_t v = 0; v < p.vertices; v++) levels[v] = v == p.source ? 0 : UNREACHED;
  queue[0] = p.source;
  for (uint32_t head = 0, tail = 1; head < tail; head++) {
    const uint32_t u = queue[head];
    if (levels[u] == p.most_levels) break;
    for (uint32_t arc = offsets[u]; arc < offsets[u + 1]; arc++) {
      const uint32_t v = neighbours[arc];
      if (levels[v] != UNREACHED) continue;
      levels[v] = levels[u] + 1;
      found[levels[u]]++;
      queue[tail++] = v;
    }
  }
  free(queue);
}
