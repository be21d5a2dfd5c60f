//! The compute shaders of vello, a renderer of vector graphics: they load, and every stage that vello implements for the
//! CPU too gives the same buffers.

#[path = "vello/checks.rs"]
mod checks;
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

use vello_shaders::{BindType, ComputeShader, SHADERS};
use vyre::cuda::ptx::{self, Target};
use vyre::error::Status;
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

/// The three that draw into textures and read from them: such are refused, by name and place.
fn needs_textures(shader: &ComputeShader<'_>) -> bool {
    shader
        .bindings
        .iter()
        .any(|binding| matches!(binding, BindType::Image | BindType::ImageRead))
}

#[test]
fn the_shaders_load() {
    let backend = harness::backend(1);
    let mut refused = Vec::new();
    for shader in shaders() {
        match harness::try_load(&backend, &shader.wgsl.code, Default::default()) {
            Ok(program) => assert_eq!(
                program.reflection().workgroup_size,
                shader.workgroup_size,
                "{}",
                shader.name
            ),
            Err(error) => {
                let what = format!("{}: {}", shader.name, harness::report(&error));
                assert!(needs_textures(shader), "{what}");
                assert_eq!(error.status(), Status::Unsupported, "{what}");
                assert!(
                    error.message().contains("textures are not supported"),
                    "{what}"
                );
                assert!(error.position().is_some(), "{what}");
                refused.push(&*shader.name);
            }
        }
    }
    assert_eq!(refused, ["fine_area", "fine_msaa16", "fine_msaa8"]);
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
    for shader in shaders().into_iter().filter(|s| !needs_textures(s)) {
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
        let (compared, differences) = pipeline::run(&mut loaded, &scene);
        println!("{}: {compared} stages compared", scene.name);
        wrong.extend(differences);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
