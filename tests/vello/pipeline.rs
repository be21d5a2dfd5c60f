//! The stages in the order of the renderer, each by vello's implementation for the CPU and by its shader from the same
//! buffers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use vello_shaders::cpu::{self, CpuBinding};
use vello_shaders::{ComputeShader, SHADERS};
use vyre::backend::{Backend, Program};

use super::checks::{self, Check};
use super::harness;
use super::scene::Scene;

/// Buffers by name.
pub type State = HashMap<&'static str, RefCell<Vec<u8>>>;

/// An implementation of vello: workgroups and resources, in the order of the shader's bindings.
type Reference = fn(u32, &[CpuBinding<'_>]);

struct Stage {
    shader: &'static ComputeShader<'static>,
    /// `None`: the stage only prepares the next one.
    reference: Option<Reference>,
    workgroups: (u32, u32, u32),
    resources: &'static [&'static str],
    check: Check,
}

pub struct Loaded {
    backend: Arc<dyn Backend>,
    programs: HashMap<String, Arc<dyn Program>>,
}

impl Loaded {
    pub fn new() -> Loaded {
        Loaded {
            backend: harness::backend(2),
            programs: HashMap::new(),
        }
    }

    fn run(&mut self, stage: &Stage, state: &State) -> State {
        let backend = &self.backend;
        let program = self
            .programs
            .entry(stage.shader.name.to_string())
            .or_insert_with(|| harness::load(backend, &stage.shader.wgsl.code));
        let buffers: Vec<_> = stage
            .resources
            .iter()
            .map(|name| {
                let bytes = state[name].borrow();
                let buffer = Arc::clone(backend)
                    .create_buffer(bytes.len() as u64)
                    .expect("it fits");
                buffer.write(0, bytes.as_slice().into()).expect("in range");
                buffer
            })
            .collect();
        let (x, y, z) = stage.workgroups;
        let mut dispatch = harness::dispatch([x, y, z], &buffers);
        dispatch.bindings.retain(|binding| {
            let known = &program.reflection().bindings;
            known.iter().any(|info| info.binding == binding.binding)
        });
        harness::try_run(program, dispatch)
            .unwrap_or_else(|error| panic!("{}: {}", stage.shader.name, harness::report(&error)));
        let mut after = State::new();
        for (&name, buffer) in stage.resources.iter().zip(&buffers) {
            let mut bytes = vec![0; buffer.size() as usize];
            buffer
                .read(0, bytes.as_mut_slice().into())
                .expect("in range");
            after.insert(name, RefCell::new(bytes));
        }
        after
    }
}

fn initial(scene: &Scene) -> State {
    let sizes = &scene.config.buffer_sizes;
    let gpu = &scene.config.gpu;
    let mut state = State::new();
    let mut add = |name, size: u32| {
        state.insert(name, RefCell::new(vec![0; size.max(16) as usize]));
    };
    // Whole groups of the larger scan.
    add(
        "path_reduced",
        sizes.path_reduced.len().next_multiple_of(256) * 20,
    );
    add("path_reduced2", sizes.path_reduced2.size_in_bytes());
    add(
        "path_scanned",
        sizes.path_reduced.len().next_multiple_of(256) * 20,
    );
    add("tag_monoids", sizes.path_monoids.size_in_bytes());
    add("tag_monoids_again", sizes.path_monoids.size_in_bytes());
    add("path_bboxes", sizes.path_bboxes.size_in_bytes());
    add("bump", sizes.bump_alloc.size_in_bytes());
    add("lines", gpu.lines_size * 24);
    add("draw_reduced", sizes.draw_reduced.size_in_bytes());
    add("draw_monoids", sizes.draw_monoids.size_in_bytes());
    add("info", sizes.bin_data.size_in_bytes());
    add("clip_inputs", sizes.clip_inps.size_in_bytes());
    add("clip_bics", sizes.clip_bics.size_in_bytes());
    add("clip_elements", sizes.clip_els.size_in_bytes());
    add("clip_bboxes", sizes.clip_bboxes.size_in_bytes());
    add("draw_bboxes", sizes.draw_bboxes.size_in_bytes());
    add("bin_headers", sizes.bin_headers.size_in_bytes());
    add("paths", sizes.paths.size_in_bytes());
    add("tiles", gpu.tiles_size * 8);
    add("indirect", sizes.indirect_count.size_in_bytes());
    add("seg_counts", gpu.seg_counts_size * 8);
    add("segments", gpu.segments_size * 24);
    add("ptcl", gpu.ptcl_size * 4);
    add("blend_spill", sizes.blend_spill.size_in_bytes());
    // No pixel is left as it was.
    let pixels = gpu.target_width * gpu.target_height;
    let output = texture(
        gpu.target_width,
        gpu.target_height,
        0,
        &vec![0x1234_5678; pixels as usize],
    );
    state.insert("output", output);
    // rgba8unorm, as vello has them.
    let (width, height, texels) = &scene.ramps;
    let texels = if texels.is_empty() { &[0][..] } else { texels };
    state.insert("gradients", texture(*width, *height, 1, texels));
    state.insert("image_atlas", texture(1, 1, 1, &[0]));
    let config = bytemuck::bytes_of(gpu).to_vec();
    state.insert("config", RefCell::new(config));
    let mut data = scene.data.clone();
    data.resize(data.len().max(4), 0);
    state.insert("scene", RefCell::new(data));
    state
}

/// What a stage left for the number of workgroups of the next.
fn indirect(state: &State) -> (u32, u32, u32) {
    let words = checks::words(state, "indirect");
    (words[0], words[1], words[2])
}

/// Changes the first word that is not zero; changes it back the second time.
fn spoil(buffer: &RefCell<Vec<u8>>) -> bool {
    let mut bytes = buffer.borrow_mut();
    let Some(at) = bytes.chunks_exact(4).position(|word| word != [0; 4]) else {
        return false;
    };
    bytes[at * 4 + 2] ^= 0x40;
    true
}

pub struct Outcome {
    /// How many stages were compared.
    pub compared: usize,
    /// What differs.
    pub wrong: Vec<String>,
    /// In rgba8unorm, not multiplied by alpha, row by row.
    pub picture: Vec<u32>,
}

/// Bytes of a texture's buffer.
fn texture(width: u32, height: u32, format: u32, texels: &[u32]) -> RefCell<Vec<u8>> {
    let words = [&[width, height, 1, format], texels].concat();
    RefCell::new(bytemuck::cast_slice(&words).to_vec())
}

/// Runs all stages.
pub fn run(loaded: &mut Loaded, scene: &Scene) -> Outcome {
    let state = initial(scene);
    let mut compared = 0;
    let mut wrong = Vec::new();
    let count = &scene.config.workgroup_counts;
    let mut stage = |shader, reference, workgroups: (u32, u32, u32), resources, check| {
        if workgroups.0 * workgroups.1 * workgroups.2 == 0 {
            return;
        }
        let stage = Stage {
            shader,
            reference,
            workgroups,
            resources,
            check,
        };
        let ours = loaded.run(&stage, &state);
        match stage.reference {
            Some(reference) => {
                let resources: Vec<CpuBinding<'_>> = stage
                    .resources
                    .iter()
                    .map(|name| CpuBinding::BufferRW(&state[name]))
                    .collect();
                reference(workgroups.0, &resources);
                compared += 1;
            }
            // The next stage goes on from ours.
            None => {
                for (name, bytes) in ours {
                    *state[name].borrow_mut() = bytes.into_inner();
                }
                return;
            }
        }
        let sides = checks::Sides {
            scene,
            state: &state,
            ours: &ours,
        };
        let shader = &stage.shader.name;
        for (name, check) in stage.check {
            if let Err(what) = check(&sides, name) {
                wrong.push(format!("{}: {shader}: {name}: {what}", scene.name));
            } else if spoil(&ours[name]) {
                let seen = check(&sides, name);
                assert!(seen.is_err(), "{shader}: {name}: a wrong word is not seen");
                assert!(spoil(&ours[name]), "it spoils and mends");
            }
        }
    };
    let s = &SHADERS;
    type C = &'static [&'static str];
    const REDUCE: C = &["config", "scene", "path_reduced"];
    stage(
        &s.pathtag_reduce,
        Some(cpu::pathtag_reduce),
        count.path_reduce,
        REDUCE,
        checks::PATHTAG_REDUCE,
    );
    const SCAN: C = &["config", "scene", "path_reduced", "tag_monoids"];
    stage(
        &s.pathtag_scan_small,
        Some(cpu::pathtag_scan),
        count.path_scan,
        SCAN,
        checks::PATHTAG_SCAN,
    );
    let some = count.path_reduce.0.min(1);
    const REDUCE2: C = &["path_reduced", "path_reduced2"];
    stage(&s.pathtag_reduce2, None, (256 * some, 1, 1), REDUCE2, &[]);
    const SCAN1: C = &["path_reduced", "path_reduced2", "path_scanned"];
    let groups = count.path_reduce.0.div_ceil(256);
    stage(&s.pathtag_scan1, None, (groups, 1, 1), SCAN1, &[]);
    // Vello implements both scans as one, which goes on from what was reduced first.
    const LARGE: C = &[
        "config",
        "scene",
        "path_scanned",
        "tag_monoids_again",
        "path_reduced",
    ];
    let again: Reference = |groups, r| cpu::pathtag_scan(groups, &[r[0], r[1], r[4], r[3]]);
    stage(
        &s.pathtag_scan_large,
        Some(again),
        count.path_scan,
        LARGE,
        checks::PATHTAG_SCAN_LARGE,
    );
    const CLEAR: C = &["config", "path_bboxes"];
    stage(
        &s.bbox_clear,
        Some(cpu::bbox_clear),
        count.bbox_clear,
        CLEAR,
        checks::BBOX_CLEAR,
    );
    const FLATTEN: C = &[
        "config",
        "scene",
        "tag_monoids",
        "path_bboxes",
        "bump",
        "lines",
    ];
    stage(
        &s.flatten,
        Some(cpu::flatten),
        count.flatten,
        FLATTEN,
        checks::FLATTEN,
    );
    const DRAW_REDUCE: C = &["config", "scene", "draw_reduced"];
    stage(
        &s.draw_reduce,
        Some(cpu::draw_reduce),
        count.draw_reduce,
        DRAW_REDUCE,
        checks::DRAW_REDUCE,
    );
    const DRAW_LEAF: C = &[
        "config",
        "scene",
        "draw_reduced",
        "path_bboxes",
        "draw_monoids",
        "info",
        "clip_inputs",
    ];
    stage(
        &s.draw_leaf,
        Some(cpu::draw_leaf),
        count.draw_leaf,
        DRAW_LEAF,
        checks::DRAW_LEAF,
    );
    const CLIP_REDUCE: C = &["clip_inputs", "path_bboxes", "clip_bics", "clip_elements"];
    stage(
        &s.clip_reduce,
        Some(cpu::clip_reduce),
        count.clip_reduce,
        CLIP_REDUCE,
        checks::CLIP_REDUCE,
    );
    const CLIP_LEAF: C = &[
        "config",
        "clip_inputs",
        "path_bboxes",
        "clip_bics",
        "clip_elements",
        "draw_monoids",
        "clip_bboxes",
    ];
    stage(
        &s.clip_leaf,
        Some(cpu::clip_leaf),
        count.clip_leaf,
        CLIP_LEAF,
        checks::CLIP_LEAF,
    );
    const BINNING: C = &[
        "config",
        "draw_monoids",
        "path_bboxes",
        "clip_bboxes",
        "draw_bboxes",
        "bump",
        "info",
        "bin_headers",
    ];
    stage(
        &s.binning,
        Some(cpu::binning),
        count.binning,
        BINNING,
        checks::BINNING,
    );
    const TILE_ALLOC: C = &["config", "scene", "draw_bboxes", "bump", "paths", "tiles"];
    stage(
        &s.tile_alloc,
        Some(cpu::tile_alloc),
        count.tile_alloc,
        TILE_ALLOC,
        checks::TILE_ALLOC,
    );
    const SETUP: C = &["bump", "indirect"];
    stage(
        &s.path_count_setup,
        Some(cpu::path_count_setup),
        count.path_count_setup,
        SETUP,
        checks::SETUP,
    );
    const PATH_COUNT: C = &["config", "bump", "lines", "paths", "tiles", "seg_counts"];
    stage(
        &s.path_count,
        Some(cpu::path_count),
        indirect(&state),
        PATH_COUNT,
        checks::PATH_COUNT,
    );
    const BACKDROP: C = &["config", "bump", "paths", "tiles"];
    stage(
        &s.backdrop_dyn,
        Some(cpu::backdrop),
        count.backdrop,
        BACKDROP,
        checks::BACKDROP,
    );
    const COARSE: C = &[
        "config",
        "scene",
        "draw_monoids",
        "bin_headers",
        "info",
        "paths",
        "tiles",
        "bump",
        "ptcl",
    ];
    stage(
        &s.coarse,
        Some(cpu::coarse),
        count.coarse,
        COARSE,
        checks::COARSE,
    );
    const TILING_SETUP: C = &["bump", "indirect", "ptcl"];
    stage(
        &s.path_tiling_setup,
        Some(cpu::path_tiling_setup),
        count.path_tiling_setup,
        TILING_SETUP,
        checks::TILING_SETUP,
    );
    const TILING: C = &["bump", "seg_counts", "lines", "paths", "tiles", "segments"];
    stage(
        &s.path_tiling,
        Some(cpu::path_tiling),
        indirect(&state),
        TILING,
        checks::TILING,
    );
    // Vello's own for the CPU is a draft that nothing calls: what it draws is judged by whoever called.
    const FINE: C = &[
        "config",
        "segments",
        "ptcl",
        "info",
        "blend_spill",
        "output",
        "gradients",
        "image_atlas",
    ];
    stage(&s.fine_area, None, count.fine, FINE, &[]);
    let names = [
        "failed",
        "binning",
        "ptcl",
        "tile",
        "seg_counts",
        "segments",
        "blend",
        "lines",
    ];
    for (name, count) in names.iter().zip(checks::words(&state, "bump")) {
        print!("{name} {count}, ");
    }
    assert_eq!(checks::words(&state, "bump")[0], 0, "a buffer is too small");
    Outcome {
        compared,
        wrong,
        picture: checks::words(&state, "output").split_off(4),
    }
}
