#include "compact.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* Sorts by one byte after the other, lowest first; bytes that all ids share cost one counting pass. */
static void sort_ids(uint64_t *ids, uint64_t count) {
  uint64_t *other = allocate(count, sizeof *other);
  uint64_t *from = ids, *to = other;
  for (int shift = 0; shift < 64; shift += 8) {
    uint64_t starts[256] = {0};
    for (uint64_t i = 0; i < count; i++) starts[from[i] >> shift & 255]++;
    if (starts[from[0] >> shift & 255] == count) continue;
    uint64_t sum = 0;
    for (int byte = 0; byte < 256; byte++) {
      const uint64_t size = starts[byte];
      starts[byte] = sum;
      sum += size;
    }
    for (uint64_t i = 0; i < count; i++) to[starts[from[i] >> shift & 255]++] = from[i];
    uint64_t *const swap = from;
    from = to;
    to = swap;
  }
  if (from != ids) memcpy(ids, from, count * sizeof *ids);
  free(other);
}

bool compact_find(const uint64_t *ids, uint32_t count, uint64_t id, uint32_t *index) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  *index = low;
  return low < count && ids[low] == id;
}

/* One table look-up an id, where the ids leave few gaps. */
static void index_by_table(uint64_t *ids, uint64_t count, const uint64_t *distinct, uint32_t distinct_count) {
  uint32_t *table = allocate((size_t)distinct[distinct_count - 1] + 1, sizeof *table);
  for (uint32_t i = 0; i < distinct_count; i++) table[distinct[i]] = i;
  for (uint64_t i = 0; i < count; i++) ids[i] = table[ids[i]];
  free(table);
}

uint64_t *compact_ids(uint64_t *ids, uint64_t count, uint32_t *distinct_count) {
  uint64_t *distinct = allocate(count, sizeof *distinct);
  memcpy(distinct, ids, count * sizeof *distinct);
  sort_ids(distinct, count);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < count; i++)
    if (kept == 0 || distinct[i] != distinct[kept - 1]) distinct[kept++] = distinct[i];
  if (kept > UINT32_MAX) fail("%" PRIu64 " vertices are more than the %" PRIu32 " that fit 32-bit indices", kept, UINT32_MAX);
  *distinct_count = (uint32_t)kept;

  if (distinct[kept - 1] < count * 4) {
    index_by_table(ids, count, distinct, *distinct_count);
  } else {
    for (uint64_t i = 0; i < count; i++) {
      uint32_t index;
      compact_find(distinct, *distinct_count, ids[i], &index);
      ids[i] = index;
    }
  }
  return reallocate(distinct, (size_t)kept, sizeof *distinct);
}
