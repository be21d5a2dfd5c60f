// The sum of many numbers: each workgroup adds its share, the grid meets, and the first adds what they found.

const WIDTH = 256u;

struct Parameters {
  vectors: u32,
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read> numbers: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> partial: array<u32>;
@group(0) @binding(2) var<storage, read_write> total: array<u32>;

var<workgroup> shares: array<u32, WIDTH>;

// What all invocations of the workgroup bring; right in the first.
fn add_up(local: u32, own: u32) -> u32 {
  shares[local] = own;
  workgroupBarrier();
  for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
    if local < half {
      shares[local] += shares[local + half];
    }
    workgroupBarrier();
  }
  return shares[0];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  var sum = 0u;
  for (var i = id.x; i < parameters.vectors; i += groups.x * WIDTH) {
    let four = numbers[i];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  let share = add_up(local, sum);
  if local == 0u {
    partial[group.x] = share;
  }
  gridBarrier();
  if group.x == 0u {
    var rest = 0u;
    for (var i = local; i < groups.x; i += WIDTH) {
      rest += partial[i];
    }
    let all = add_up(local, rest);
    if local == 0u {
      total[0] = all;
    }
  }
}
