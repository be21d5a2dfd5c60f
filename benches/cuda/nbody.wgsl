// One step of bodies that attract each other. A workgroup takes the others in tiles through its memory.

const WIDTH = 256u;

struct Parameters {
  bodies: u32, // a multiple of WIDTH
  step: f32,
  softening: f32,
}

var<immediate> parameters: Parameters;

// The mass is in w.
@group(0) @binding(0) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> speeds: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> new_places: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> new_speeds: array<vec4<f32>>;

var<workgroup> others: array<vec4<f32>, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let own = places[id.x];
  var x = 0.0;
  var y = 0.0;
  var z = 0.0;
  for (var tile = 0u; tile < parameters.bodies; tile += WIDTH) {
    others[local] = places[tile + local];
    workgroupBarrier();
    for (var i = 0u; i < WIDTH; i++) {
      let other = others[i];
      let dx = other.x - own.x;
      let dy = other.y - own.y;
      let dz = other.z - own.z;
      let inverse = inverseSqrt(dx * dx + dy * dy + dz * dz + parameters.softening);
      let pull = other.w * inverse * inverse * inverse;
      x += pull * dx;
      y += pull * dy;
      z += pull * dz;
    }
    workgroupBarrier();
  }
  let old = speeds[id.x];
  let speed = vec4<f32>(old.x + parameters.step * x, old.y + parameters.step * y, old.z + parameters.step * z, old.w);
  new_speeds[id.x] = speed;
  new_places[id.x] = vec4<f32>(own.x + parameters.step * speed.x, own.y + parameters.step * speed.y,
    own.z + parameters.step * speed.z, own.w);
}
