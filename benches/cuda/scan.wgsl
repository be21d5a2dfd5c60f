// Exclusive prefix sums. Each workgroup has a run of consecutive tiles: it adds them up, the first workgroup
// scans the sums of all, and each then scans its tiles from there on. A grid barrier stands between.

const WIDTH = 256u;

struct Parameters {
  vectors: u32, // a multiple of WIDTH
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read> numbers: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> prefixes: array<vec4<u32>>;

// Two sides: a step reads one and writes the other, and one barrier does.
var<workgroup> shares: array<u32, 2 * WIDTH>;

// The sum of what the invocations up to this one bring. Reading [WIDTH - 1] of the last side gives all of it.
fn running_sum(local: u32, own: u32) -> u32 {
  var sum = own;
  var side = 0u;
  shares[local] = own;
  workgroupBarrier();
  for (var reach = 1u; reach < WIDTH; reach *= 2u) {
    if local >= reach {
      sum += shares[side + local - reach];
    }
    side = WIDTH - side;
    shares[side + local] = sum;
    workgroupBarrier();
  }
  return sum;
}

// Eight steps lead back to the first side.
const LAST = WIDTH - 1u;

@compute @workgroup_size(WIDTH)
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
  let tiles = parameters.vectors / WIDTH;
  let run = (tiles + groups.x - 1u) / groups.x;
  let first = min(group.x * run, tiles);
  let end = min(first + run, tiles);

  var sum = 0u;
  for (var tile = first; tile < end; tile++) {
    let four = numbers[tile * WIDTH + local];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  let share = running_sum(local, sum);
  if local == LAST {
    sums[group.x] = share;
  }
  gridBarrier();

  if group.x == 0u {
    var before = 0u;
    for (var i = 0u; i < groups.x; i += WIDTH) {
      var own = 0u;
      if i + local < groups.x {
        own = sums[i + local];
      }
      let upto = running_sum(local, own);
      if i + local < groups.x {
        sums[i + local] = before + upto - own;
      }
      before += shares[LAST];
      workgroupBarrier();
    }
  }
  gridBarrier();

  var before = sums[group.x];
  for (var tile = first; tile < end; tile++) {
    let i = tile * WIDTH + local;
    let four = numbers[i];
    let own = (four.x + four.y) + (four.z + four.w);
    let start = before + running_sum(local, own) - own;
    prefixes[i] = vec4<u32>(start, start + four.x, start + four.x + four.y, start + four.x + four.y + four.z);
    before += shares[LAST];
    workgroupBarrier();
  }
}
