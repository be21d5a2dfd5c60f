/* A graph as rows of neighbours (compressed sparse rows), and the plain search to check against. */
#ifndef EXAMPLES_GRAPH_H
#define EXAMPLES_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "edge_list.h"

typedef struct graph {
  uint32_t vertex_count, arc_count;
  uint32_t *offsets;    /* vertex_count + 1: where the row of each vertex starts */
  uint32_t *neighbours; /* arc_count */
} graph;

#define GRAPH_UNREACHED UINT32_MAX

/* An undirected edge becomes two arcs. Edges from a vertex to itself lead nowhere new: left out. */
void graph_build(graph *g, const edge_list *list, bool directed);
void graph_free(graph *g);
uint32_t graph_degree(const graph *g, uint32_t vertex);
uint32_t graph_busiest(const graph *g);

/* The level of each vertex, by one thread and a queue. */
void graph_search(const graph *g, uint32_t source, uint32_t *levels);

#endif
