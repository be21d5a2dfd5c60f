// Breadth-first levels of a graph, all in one dispatch with a grid barrier after each level.
//
// `queue` takes every vertex once, level after level, so that a level is a range of it.

const UNREACHED = 0xffffffffu;
const WIDTH = 256u;

struct Parameters {
  vertices: u32,
  source: u32,
}

var<immediate> parameters: Parameters;

// The neighbours of vertex v are neighbours[offsets[v] .. offsets[v + 1]].
@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> neighbours: array<u32>;
@group(0) @binding(2) var<storage, read_write> levels: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> queue: array<u32>;
// found[n]: how many vertices are n + 1 steps away; as many levels as it is long.
@group(0) @binding(4) var<storage, read_write> found: array<atomic<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let stride = groups.x * WIDTH;
  for (var v = id.x; v < parameters.vertices; v += stride) {
    atomicStore(&levels[v], select(UNREACHED, 0u, v == parameters.source));
  }
  for (var n = id.x; n < arrayLength(&found); n += stride) {
    atomicStore(&found[n], 0u);
  }
  if id.x == 0u {
    queue[0] = parameters.source;
  }
  gridBarrier();

  var first = 0u;
  var last = 1u;
  for (var level = 0u; level < arrayLength(&found); level++) {
    for (var i = first + id.x; i < last; i += stride) {
      let u = queue[i];
      let end = offsets[u + 1u];
      for (var arc = offsets[u]; arc < end; arc++) {
        let v = neighbours[arc];
        // The load spares most vertices the exchange, which decides who was first.
        if atomicLoad(&levels[v]) == UNREACHED {
          if atomicExchange(&levels[v], level + 1u) == UNREACHED {
            queue[last + atomicAdd(&found[level], 1u)] = v;
          }
        }
      }
    }
    gridBarrier();
    let next = atomicLoad(&found[level]);
    if next == 0u {
      break;
    }
    first = last;
    last += next;
  }
}
