// How often each byte occurs. A workgroup counts in its own memory first.

const WIDTH = 256u;

struct Parameters {
  vectors: u32,
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read> bytes: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

var<workgroup> bins: array<atomic<u32>, 256>;

fn count(word: u32) {
  atomicAdd(&bins[word & 255u], 1u);
  atomicAdd(&bins[(word >> 8u) & 255u], 1u);
  atomicAdd(&bins[(word >> 16u) & 255u], 1u);
  atomicAdd(&bins[word >> 24u], 1u);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32,
        @builtin(num_workgroups) groups: vec3<u32>) {
  for (var i = id.x; i < parameters.vectors; i += groups.x * WIDTH) {
    let four = bytes[i];
    count(four.x);
    count(four.y);
    count(four.z);
    count(four.w);
  }
  workgroupBarrier();
  atomicAdd(&counts[local], atomicLoad(&bins[local]));
}
