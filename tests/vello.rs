//! The compute shaders of vello, a renderer of vector graphics: they load, and every stage that vello implements for the
//! CPU too gives the same buffers.

#[path = "vello/checks.rs"]
mod checks;
#[path = "vello/picture.rs"]
mod picture;
#[path = "vello/pipeline.rs"]
mod pipeline;
#[path = "ptx/ptxas.rs"]
mod ptxas;
#[path = "common/generate/random.rs"]
#[allow(dead_code, reason = "only the plain draws are of use here")]
mod random;
#[path = "vello/scene.rs"]
mod scene;

mod harness;

use vello_shaders::{ComputeShader, SHADERS};
use vyre::cuda::ptx::{self, Target};
use vyre::front::Options;

fn shaders() -> [&'static ComputeShader<'static>; 23] {
    let s = &SHADERS;
    [
        &s.backdrop,
        &s.backdrop_dyn,
        &s.bbox_clear,
        &s.binning,
        &s.clip_leaf,
        &s.clip_reduce,
        &s.coarse,
        &s.draw_leaf,
        &s.draw_reduce,
        &s.fine_area,
        &s.fine_msaa16,
        &s.fine_msaa8,
        &s.flatten,
        &s.path_count,
        &s.path_count_setup,
        &s.path_tiling,
        &s.path_tiling_setup,
        &s.pathtag_reduce,
        &s.pathtag_reduce2,
        &s.pathtag_scan1,
        &s.pathtag_scan_large,
        &s.pathtag_scan_small,
        &s.tile_alloc,
    ]
}

#[test]
fn the_shaders_load() {
    let backend = harness::backend(1);
    for shader in shaders() {
        let program = harness::try_load(&backend, &shader.wgsl.code, Default::default())
            .unwrap_or_else(|error| panic!("{}: {}", shader.name, harness::report(&error)));
        let size = program.reflection().workgroup_size;
        assert_eq!(size, shader.workgroup_size, "{}", shader.name);
    }
}

#[test]
fn the_shaders_become_ptx() {
    let target = Target {
        sm: 90,
        ptx_version: (8, 0),
    };
    let assembler = ptxas::find();
    if assembler.is_none() {
        println!("no ptxas: the shaders' PTX was emitted and not assembled");
    }
    for shader in shaders() {
        let options = Options {
            label: Some(&shader.name),
            subgroup_size: 32,
            ..Options::default()
        };
        let program = vyre::front::wgsl::compile(&shader.wgsl.code, &options)
            .unwrap_or_else(|error| panic!("{}", harness::report(&error)));
        let uniformity = vyre::ir::uniformity::analyse(&program);
        let ptx = ptx::emit(&program, &uniformity, target, false)
            .unwrap_or_else(|error| panic!("{}", harness::report(&error)));
        if let Some(assembler) = &assembler {
            ptxas::assemble(assembler, &ptx.text, target.sm)
                .unwrap_or_else(|what| panic!("{}: {what}", shader.name));
        }
    }
}

#[test]
fn every_stage_gives_vello_s_buffers() {
    let mut loaded = pipeline::Loaded::new();
    let mut wrong = Vec::new();
    for scene in scene::all() {
        let outcome = pipeline::run(&mut loaded, &scene);
        println!("{}: {} stages compared", scene.name, outcome.compared);
        wrong.extend(outcome.wrong);
        // All are drawn on white, which no blending takes away.
        let is_opaque = |&texel: &u32| texel >> 24 >= 254;
        assert!(outcome.picture.iter().all(is_opaque), "{}", scene.name);
        let is_white = outcome.picture.iter().all(|&texel| texel == u32::MAX);
        assert_eq!(is_white, scene.name == "empty", "{}", scene.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_picture_is_what_the_shapes_cover() {
    let scene = picture::scene();
    let outcome = pipeline::run(&mut pipeline::Loaded::new(), &scene);
    assert!(outcome.wrong.is_empty(), "{}", outcome.wrong.join("\n"));
    let (wrong, first) = picture::differences(&outcome.picture, 0.0);
    assert_eq!(wrong, 0, "{first}");
    // A twentieth of a pixel would show.
    let (wrong, _) = picture::differences(&outcome.picture, 0.05);
    assert!(wrong > 100, "only {wrong} pixels tell that the scene moved");
}
