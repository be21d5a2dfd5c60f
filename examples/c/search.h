/* The breadth-first search of reach.wgsl over a graph that stays on the device. */
#ifndef EXAMPLES_SEARCH_H
#define EXAMPLES_SEARCH_H

#include "device.h"
#include "graph.h"

typedef struct search {
  vyre_backend backend;
  vyre_program program;
  uint32_t workgroups;
  uint64_t vertex_count;
  vyre_buffer offsets, neighbours, levels, queue, found_even, found_odd;
} search;

/* Loads the program and uploads the graph. */
void search_start(search *s, vyre_backend backend, const graph *g);
/* All levels from `source` in one dispatch; the report may be NULL. */
void search_run(search *s, uint32_t source, vyre_dispatch_report *report);
/* The level of each vertex, GRAPH_UNREACHED where there is none. */
void search_levels(search *s, uint32_t *levels);
void search_end(search *s);

#endif
