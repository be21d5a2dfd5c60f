// Heat spreading over an insulated plate: every time step of the simulation in one dispatch.
//
// `plate` holds two pictures of the plate. A step reads one and writes the other; a grid barrier stands
// between two steps, because a cell's neighbours belong to other workgroups.

const WIDTH = 64u;

struct Parameters {
  columns: u32,
  rows: u32,
  steps: u32,
  rate: f32, // share of a difference that flows in a step; stable up to 0.25
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read_write> plate: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let columns = parameters.columns;
  let rows = parameters.rows;
  let cells = columns * rows;

  for (var step = 0u; step < parameters.steps; step++) {
    let now = (step & 1u) * cells;
    let next = cells - now;
    for (var cell = id.x; cell < cells; cell += groups.x * WIDTH) {
      let x = cell % columns;
      // Beyond the edge lies the edge itself: no difference, so no heat flows out.
      let west = select(cell - 1u, cell, x == 0u);
      let east = select(cell + 1u, cell, x + 1u == columns);
      let north = select(cell - columns, cell, cell < columns);
      let south = select(cell + columns, cell, cell + columns >= cells);
      let here = plate[now + cell];
      let around = (plate[now + west] + plate[now + east]) + (plate[now + north] + plate[now + south]);
      plate[next + cell] = here + parameters.rate * (around - 4.0 * here);
    }
    gridBarrier();
  }
}
