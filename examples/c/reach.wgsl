// Breadth-first levels of a graph, all of them in one dispatch.
//
// Every vertex enters `queue` once, level after level, so the vertices of one level are a range of it.
// The grid expands the range, meets at gridBarrier(), reads how many vertices the next range has, and
// leaves together when there are none.

const UNREACHED = 0xffffffffu;
const WIDTH = 64u;
// New vertices are kept back and queued this many at a time: one atomic operation for all of them.
const BATCH = 16u;

struct Parameters {
  source: u32,
}

var<immediate> parameters: Parameters;

// The neighbours of vertex v are neighbours[offsets[v] .. offsets[v + 1]].
@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> neighbours: array<u32>;
@group(0) @binding(2) var<storage, read_write> levels: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> queue: array<u32>;
// How many vertices the even and the odd levels have queued so far. Two buffers, because a value may
// decide about a grid barrier only if nothing writes its buffer between the same two barriers: while
// an even level fills up, the odd count stands still, and the other way round.
@group(0) @binding(4) var<storage, read_write> found_even: atomic<u32>;
@group(0) @binding(5) var<storage, read_write> found_odd: atomic<u32>;

var<private> batch: array<u32, BATCH>;

fn enqueue(count: u32, start: u32) {
  for (var i = 0u; i < count; i++) {
    queue[start + i] = batch[i];
  }
}

// Expands the vertices queue[first .. last] into odd level `level`. Vertices go to the queue from `end` on,
// which is where the odd levels before would have ended it.
fn expand_to_odd(first: u32, last: u32, stride: u32, level: u32, end: u32) {
  var kept = 0u;
  for (var i = first; i < last; i += stride) {
    let u = queue[i];
    let row_end = offsets[u + 1u];
    for (var arc = offsets[u]; arc < row_end; arc++) {
      let v = neighbours[arc];
      // The load spares most vertices the exchange, which costs far more. The exchange decides who was first.
      if atomicLoad(&levels[v]) == UNREACHED {
        if atomicExchange(&levels[v], level) == UNREACHED {
          batch[kept] = v;
          kept++;
          if kept == BATCH {
            enqueue(kept, end + atomicAdd(&found_odd, kept));
            kept = 0u;
          }
        }
      }
    }
  }
  if kept > 0u {
    enqueue(kept, end + atomicAdd(&found_odd, kept));
  }
}

// The same into an even level.
fn expand_to_even(first: u32, last: u32, stride: u32, level: u32, end: u32) {
  var kept = 0u;
  for (var i = first; i < last; i += stride) {
    let u = queue[i];
    let row_end = offsets[u + 1u];
    for (var arc = offsets[u]; arc < row_end; arc++) {
      let v = neighbours[arc];
      // The load spares most vertices the exchange, which costs far more. The exchange decides who was first.
      if atomicLoad(&levels[v]) == UNREACHED {
        if atomicExchange(&levels[v], level) == UNREACHED {
          batch[kept] = v;
          kept++;
          if kept == BATCH {
            enqueue(kept, end + atomicAdd(&found_even, kept));
            kept = 0u;
          }
        }
      }
    }
  }
  if kept > 0u {
    enqueue(kept, end + atomicAdd(&found_even, kept));
  }
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let stride = groups.x * WIDTH;

  for (var v = id.x; v < arrayLength(&levels); v += stride) {
    atomicStore(&levels[v], select(UNREACHED, 0u, v == parameters.source));
  }
  if id.x == 0u {
    queue[0] = parameters.source;
    atomicStore(&found_even, 0u);
    atomicStore(&found_odd, 0u);
  }
  gridBarrier();

  var first = 0u; // where the current level's range starts in the queue
  var last = 1u;  // and where it ends
  var even = 0u;  // found_even and found_odd as last read: a barrier has passed since they changed
  var odd = 0u;
  var level = 0u;
  loop {
    expand_to_odd(first + id.x, last, stride, level + 1u, last - odd);
    gridBarrier();
    let odd_now = atomicLoad(&found_odd);
    first = last;
    last += odd_now - odd;
    odd = odd_now;
    if first == last {
      break;
    }

    expand_to_even(first + id.x, last, stride, level + 2u, last - even);
    gridBarrier();
    let even_now = atomicLoad(&found_even);
    first = last;
    last += even_now - even;
    even = even_now;
    if first == last {
      break;
    }
    level += 2u;
  }
}
