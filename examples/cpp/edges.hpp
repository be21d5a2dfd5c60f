// Directed graphs from lists of edges.
#ifndef EXAMPLES_EDGES_HPP
#define EXAMPLES_EDGES_HPP

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

// What is wrong with a text, and where.
struct bad_graph : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A directed graph by the predecessors of its vertices.
struct graph {
  std::vector<std::uint64_t> ids;  // what the text calls each vertex, ascending
  // Vertex v has the predecessors predecessors[offsets[v]] to predecessors[offsets[v + 1] - 1].
  std::vector<std::uint32_t> offsets, predecessors;
  std::vector<std::uint32_t> successor_counts;

  std::uint32_t size() const { return static_cast<std::uint32_t>(ids.size()); }
};

// Reads lines of two vertex ids with blanks or tabs between them, from the first to the second; # starts a comment. `name`
// is what errors call the text. With `both_ways` each line is two edges.
graph read_graph(std::istream &text, const std::string &name, bool both_ways);

#endif
