#include "edges.hpp"

#include <algorithm>
#include <charconv>
#include <istream>
#include <limits>
#include <utility>

namespace {

using edge = std::pair<std::uint64_t, std::uint64_t>;

// Takes a vertex id from the front of `rest`; `which` names it in errors.
std::uint64_t take_id(std::string_view &rest, const char *which, const std::string &where) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t id = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), id);
  if (code == std::errc::result_out_of_range) throw bad_graph(where + "the " + which + " vertex id does not fit 64 bits");
  if (code != std::errc()) {
    const std::string found = rest.empty() ? "the end of the line" : "'" + std::string(rest.substr(0, 1)) + "'";
    throw bad_graph(where + "expected the " + which + " vertex id, a number; found " + found);
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') {
    throw bad_graph(where + "'" + std::string(rest.substr(0, 1)) + "' stands right behind the " + which + " vertex id");
  }
  return id;
}

std::vector<edge> read_edges(std::istream &text, const std::string &name) {
  std::vector<edge> edges;
  std::string line;
  for (std::uint64_t number = 1; std::getline(text, line); number++) {
    std::string_view rest(line);
    rest = rest.substr(0, rest.find('#'));
    rest = rest.substr(0, rest.find_last_not_of(" \t\r") + 1);
    if (rest.empty()) continue;
    const std::string where = name + ":" + std::to_string(number) + ": ";
    const std::uint64_t from = take_id(rest, "first", where);
    const std::uint64_t to = take_id(rest, "second", where);
    if (!rest.empty()) throw bad_graph(where + "expected the end of the line after two vertex ids");
    edges.emplace_back(from, to);
  }
  if (text.bad()) throw bad_graph(name + ": it could not be read to its end");
  if (edges.empty()) throw bad_graph(name + ": it holds no edges");
  return edges;
}

}  // namespace

graph read_graph(std::istream &text, const std::string &name, bool both_ways) {
  std::vector<edge> edges = read_edges(text, name);
  graph g;
  for (const auto &[from, to] : edges) g.ids.push_back(from), g.ids.push_back(to);
  std::sort(g.ids.begin(), g.ids.end());
  g.ids.erase(std::unique(g.ids.begin(), g.ids.end()), g.ids.end());
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  if (g.ids.size() > most || edges.size() > most / 2) throw bad_graph(name + ": it has more vertices or edges than 32 bits count");

  const auto index = [&](std::uint64_t id) {
    return static_cast<std::uint32_t>(std::lower_bound(g.ids.begin(), g.ids.end(), id) - g.ids.begin());
  };
  for (auto &[from, to] : edges) from = index(from), to = index(to);
  if (both_ways) {
    const std::size_t count = edges.size();
    for (std::size_t i = 0; i < count; i++) {
      if (edges[i].first != edges[i].second) edges.emplace_back(edges[i].second, edges[i].first);
    }
  }
  g.offsets.assign(g.ids.size() + 1, 0);
  g.successor_counts.assign(g.ids.size(), 0);
  for (const auto &[from, to] : edges) g.offsets[to + 1]++, g.successor_counts[from]++;
  for (std::size_t v = 0; v < g.ids.size(); v++) g.offsets[v + 1] += g.offsets[v];
  std::vector<std::uint32_t> next(g.offsets.begin(), g.offsets.end() - 1);
  g.predecessors.resize(edges.size());
  for (const auto &[from, to] : edges) g.predecessors[next[to]++] = static_cast<std::uint32_t>(from);
  return g;
}
