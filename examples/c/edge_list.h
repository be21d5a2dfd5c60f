/* Reads a graph in the text format of the SNAP collection: lines of two vertex ids with blanks or tabs
 * between them, `#` before a comment. Ids are any 64-bit numbers and need not be dense. */
#ifndef EXAMPLES_EDGE_LIST_H
#define EXAMPLES_EDGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* An edge between two vertices by their index in `ids`. */
typedef struct edge {
  uint32_t from, to;
} edge;

typedef struct edge_list {
  edge *edges;
  uint64_t edge_count;
  uint64_t *ids; /* ascending; NULL: the index is the id */
  uint32_t vertex_count;
} edge_list;

/* Ends the program with the file's name and line if the text is not such a graph. "-" reads the
 * standard input. */
void edge_list_read(const char *path, edge_list *out, bool quiet);
void edge_list_free(edge_list *list);

/* The index of `id`, or false if no edge names it. */
bool edge_list_find(const edge_list *list, uint64_t id, uint32_t *index);
uint64_t edge_list_id(const edge_list *list, uint32_t index);

#endif
