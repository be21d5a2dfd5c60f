// The product of two square matrices. A workgroup makes a tile of 64 by 64, an invocation 4 by 4 of it;
// workgroup memory holds 16 columns of the left matrix, transposed, and 16 rows of the right one.

const TILE = 64u;  // of the product
const DEPTH = 16u; // of a step
const FOURS = 16u; // vectors in a row of a tile

struct Parameters {
  size: u32, // a multiple of TILE
}

var<immediate> parameters: Parameters;

// Rows of vectors of four.
@group(0) @binding(0) var<storage, read> left: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> right: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> product: array<vec4<f32>>;

var<workgroup> left_tile: array<vec4<f32>, DEPTH * FOURS>;
var<workgroup> right_tile: array<vec4<f32>, DEPTH * FOURS>;

@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(local_invocation_index) index: u32,
        @builtin(workgroup_id) group: vec3<u32>) {
  let fours = parameters.size / 4u;
  // Each invocation brings one vector of either side: four columns of a row of the left, a part of a row
  // of the right.
  let left_row = index / 4u;
  let left_four = index % 4u;
  let right_row = index / FOURS;
  let right_four = index % FOURS;
  let left_from = (group.y * TILE + left_row) * fours + left_four;
  let right_from = right_row * fours + group.x * FOURS + right_four;

  var row0 = vec4<f32>();
  var row1 = vec4<f32>();
  var row2 = vec4<f32>();
  var row3 = vec4<f32>();
  for (var k = 0u; k < parameters.size; k += DEPTH) {
    let brought = left[left_from + k / 4u];
    let place = left_four * 4u * FOURS + left_row / 4u;
    let part = left_row % 4u;
    left_tile[place][part] = brought.x;
    left_tile[place + FOURS][part] = brought.y;
    left_tile[place + 2u * FOURS][part] = brought.z;
    left_tile[place + 3u * FOURS][part] = brought.w;
    right_tile[index] = right[right_from + k * fours];
    workgroupBarrier();
    for (var d = 0u; d < DEPTH; d++) {
      let a = left_tile[d * FOURS + local.y];
      let b = right_tile[d * FOURS + local.x];
      row0 += a.x * b;
      row1 += a.y * b;
      row2 += a.z * b;
      row3 += a.w * b;
    }
    workgroupBarrier();
  }
  let to = (group.y * TILE + local.y * 4u) * fours + group.x * FOURS + local.x;
  product[to] = row0;
  product[to + fours] = row1;
  product[to + 2u * fours] = row2;
  product[to + 3u * fours] = row3;
}
