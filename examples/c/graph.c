#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

void graph_build(graph *g, const edge_list *list, bool directed) {
  g->vertex_count = list->vertex_count;
  g->offsets = allocate((size_t)g->vertex_count + 1, sizeof *g->offsets);
  memset(g->offsets, 0, ((size_t)g->vertex_count + 1) * sizeof *g->offsets);

  /* Count the arcs of each vertex one place up, so that their running sum is where its row starts. */
  uint64_t arcs = 0;
  for (uint64_t i = 0; i < list->edge_count; i++) {
    const edge e = list->edges[i];
    if (e.from == e.to) continue;
    arcs += directed ? 1 : 2;
    if (arcs > UINT32_MAX) fail("the graph has more than the %" PRIu32 " arcs that fit 32-bit offsets", UINT32_MAX);
    g->offsets[e.from + 1]++;
    if (!directed) g->offsets[e.to + 1]++;
  }
  g->arc_count = (uint32_t)arcs;
  for (uint32_t v = 0; v < g->vertex_count; v++) g->offsets[v + 1] += g->offsets[v];

  g->neighbours = allocate(g->arc_count, sizeof *g->neighbours);
  uint32_t *next = allocate(g->vertex_count, sizeof *next);
  memcpy(next, g->offsets, g->vertex_count * sizeof *next);
  for (uint64_t i = 0; i < list->edge_count; i++) {
    const edge e = list->edges[i];
    if (e.from == e.to) continue;
    g->neighbours[next[e.from]++] = e.to;
    if (!directed) g->neighbours[next[e.to]++] = e.from;
  }
  free(next);
}

void graph_free(graph *g) {
  free(g->offsets);
  free(g->neighbours);
  memset(g, 0, sizeof *g);
}

uint32_t graph_degree(const graph *g, uint32_t vertex) { return g->offsets[vertex + 1] - g->offsets[vertex]; }

uint32_t graph_busiest(const graph *g) {
  uint32_t best = 0;
  for (uint32_t v = 1; v < g->vertex_count; v++)
    if (graph_degree(g, v) > graph_degree(g, best)) best = v;
  return best;
}

void graph_search(const graph *g, uint32_t source, uint32_t *levels) {
  uint32_t *queue = allocate(g->vertex_count, sizeof *queue);
  for (uint32_t v = 0; v < g->vertex_count; v++) levels[v] = GRAPH_UNREACHED;
  levels[source] = 0;
  queue[0] = source;
  for (uint32_t first = 0, last = 1; first < last; first++) {
    const uint32_t u = queue[first];
    for (uint32_t arc = g->offsets[u]; arc < g->offsets[u + 1]; arc++) {
      const uint32_t v = g->neighbours[arc];
      if (levels[v] != GRAPH_UNREACHED) continue;
      levels[v] = levels[u] + 1;
      queue[last++] = v;
    }
  }
  free(queue);
}
