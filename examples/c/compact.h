/* Sparse 64-bit ids to dense 32-bit indices, in ascending order of the ids. */
#ifndef EXAMPLES_COMPACT_H
#define EXAMPLES_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Replaces each of the ids by its index; the different ids, ascending, are the result (free it). */
uint64_t *compact_ids(uint64_t *ids, uint64_t count, uint32_t *distinct);
bool compact_find(const uint64_t *ids, uint32_t count, uint64_t id, uint32_t *index);

#endif
