// Heat on a plate, each cell from its four neighbours. All steps in one dispatch, a grid barrier between two.
//
// `plate` holds two pictures of the plate: a step reads one and writes the other. The edge stays as it is.

const WIDTH = 32u;
const HEIGHT = 8u;

struct Parameters {
  columns: u32, // a multiple of WIDTH
  rows: u32,    // a multiple of HEIGHT
  steps: u32,
  rate: f32,
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read_write> plate: array<f32>;

@compute @workgroup_size(WIDTH, HEIGHT)
fn main(@builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {
  let columns = parameters.columns;
  let rows = parameters.rows;
  let cells = columns * rows;
  let across = columns / WIDTH;
  let tiles = across * (rows / HEIGHT);
  for (var step = 0u; step < parameters.steps; step++) {
    let now = (step & 1u) * cells;
    let next = cells - now;
    for (var tile = group.x; tile < tiles; tile += groups.x) {
      let row = tile / across;
      let x = (tile - row * across) * WIDTH + local.x;
      let y = row * HEIGHT + local.y;
      if x > 0u && x < columns - 1u && y > 0u && y < rows - 1u {
        let cell = y * columns + x;
        let here = plate[now + cell];
        let around = (plate[now + cell - 1u] + plate[now + cell + 1u]) +
          (plate[now + cell - columns] + plate[now + cell + columns]);
        plate[next + cell] = here + parameters.rate * (around - 4.0 * here);
      }
    }
    gridBarrier();
  }
}
