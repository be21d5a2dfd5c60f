// PageRank of a graph, all its iterations in one dispatch.
//
// In each iteration every vertex gathers what its predecessors give; the grid meets; every vertex says what it gives itself,
// and one workgroup adds up how much the ranks have changed; the grid meets again, and leaves together when that is little.

const WIDTH = 256u;

struct Parameters {
  most: u32,      // iterations
  damping: f32,
  tolerance: f32, // the sum of all changes at which the ranks are taken to stand
}

var<immediate> parameters: Parameters;

// The predecessors of vertex v are predecessors[offsets[v] .. offsets[v + 1]].
@group(0) @binding(0) var<storage, read> offsets: array<u32>;
@group(0) @binding(1) var<storage, read> predecessors: array<u32>;
@group(0) @binding(2) var<storage, read> successor_counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> ranks: array<f32>;
// What a vertex gives to each of its successors.
@group(0) @binding(4) var<storage, read_write> shares: array<f32>;
// x: how much ranks have changed; y: the ranks of vertices without a successor. Of each workgroup, and of all: the latter
// decides whether the grid goes on, so nothing may write it between the same two barriers.
@group(0) @binding(5) var<storage, read_write> sums: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> total: vec2<f32>;
@group(0) @binding(7) var<storage, read_write> iterations: u32;

var<workgroup> partial: array<vec2<f32>, WIDTH>;

// The sum over a workgroup, in the same order each time; for invocation 0.
fn sum(value: vec2<f32>, local: u32) -> vec2<f32> {
  workgroupBarrier();
  partial[local] = value;
  for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if local < half {
      partial[local] += partial[local + half];
    }
  }
  return partial[local];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let stride = groups.x * WIDTH;
  let count = arrayLength(&ranks);
  let n = f32(count);

  // As if the ranks had changed by more than any tolerance.
  var change = vec2(2.0, 0.0);
  for (var v = id.x; v < count; v += stride) {
    ranks[v] = 1.0 / n;
    change.y += select(0.0, 1.0 / n, successor_counts[v] == 0u);
  }
  change = sum(change, local);
  if local == 0u {
    sums[group.x] = change;
  }
  gridBarrier();

  var done = 0u;
  loop {
    for (var v = id.x; v < count; v += stride) {
      let successors = successor_counts[v];
      shares[v] = select(ranks[v] / f32(successors), 0.0, successors == 0u);
    }
    if group.x == 0u {
      change = vec2<f32>();
      for (var g = local; g < groups.x; g += WIDTH) {
        change += sums[g];
      }
      change = sum(change, local);
      if local == 0u {
        total = change;
      }
    }
    gridBarrier();

    let all = total;
    if done == parameters.most || all.x <= parameters.tolerance {
      break;
    }
    let base = (1.0 - parameters.damping + parameters.damping * all.y) / n;
    change = vec2<f32>();
    for (var v = id.x; v < count; v += stride) {
      // Compensated (Kahan): a vertex may have a million predecessors. Nothing is reordered behind our backs.
      var gathered = 0.0;
      var excess = 0.0;
      let end = offsets[v + 1u];
      for (var arc = offsets[v]; arc < end; arc++) {
        let share = shares[predecessors[arc]] - excess;
        let sum = gathered + share;
        excess = (sum - gathered) - share;
        gathered = sum;
      }
      let rank = base + parameters.damping * gathered;
      change += vec2(abs(rank - ranks[v]), select(0.0, rank, successor_counts[v] == 0u));
      ranks[v] = rank;
    }
    change = sum(change, local);
    if local == 0u {
      sums[group.x] = change;
    }
    done++;
    gridBarrier();
  }
  if id.x == 0u {
    iterations = done;
  }
}
