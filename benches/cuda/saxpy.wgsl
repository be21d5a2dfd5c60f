// y = a x + y, four elements an invocation. The baseline of the same name in baselines.cu does the same.

struct Parameters {
  vectors: u32,
  factor: f32,
}

var<immediate> parameters: Parameters;

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x;
  if i < parameters.vectors {
    y[i] = parameters.factor * x[i] + y[i];
  }
}
