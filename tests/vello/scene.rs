//! Scenes to draw.

use peniko::kurbo::{Cap, Join, Stroke};
use peniko::{BlendMode, Color, Compose, Fill, Mix};
use vello_encoding::{DrawBeginClip, DrawColor, Encoding, RenderConfig, Resolver, Transform};

use super::random::Random;

pub struct Scene {
    pub name: &'static str,
    pub config: RenderConfig,
    /// The packed encoding.
    pub data: Vec<u8>,
    /// Colours of gradients: width, height, and their pixels.
    pub ramps: (u32, u32, Vec<u32>),
}

impl Scene {
    pub fn new(
        name: &'static str,
        encoding: &Encoding,
        [width, height]: [u32; 2],
        background: Color,
    ) -> Scene {
        let mut data = Vec::new();
        let mut resolver = Resolver::new();
        let (layout, ramps, _) = resolver.resolve(encoding, &mut data);
        let mut config = RenderConfig::new(&layout, width, height, &background);
        // Room for these scenes; what vello reserves by default would only be copied.
        config.gpu.lines_size = 1 << 18;
        config.gpu.tiles_size = 1 << 18;
        config.gpu.seg_counts_size = 1 << 19;
        config.gpu.segments_size = 1 << 19;
        config.gpu.ptcl_size = 1 << 20;
        let ramps = (ramps.width, ramps.height, ramps.data.to_vec());
        Scene {
            name,
            config,
            data,
            ramps,
        }
    }
}

pub fn all() -> [Scene; 4] {
    let mut few = Encoding::new();
    few_paths(&mut few);
    let mut many = Encoding::new();
    many_paths(&mut many, 4000, 1);
    let mut odd = Encoding::new();
    many_paths(&mut odd, 700, 2);
    [
        Scene::new("few", &few, [320, 200], Color::WHITE),
        Scene::new("thousands", &many, [800, 600], Color::WHITE),
        // Not a multiple of the tile size, and hardly higher than one.
        Scene::new("narrow", &odd, [1001, 33], Color::WHITE),
        Scene::new("empty", &Encoding::new(), [256, 128], Color::WHITE),
    ]
}

fn color(random: &mut Random) -> DrawColor {
    let channel = |random: &mut Random| random.below(256) as u8;
    let (r, g, b, a) = (
        channel(random),
        channel(random),
        channel(random),
        channel(random),
    );
    DrawColor {
        rgba: Color::from_rgba8(r, g, b, a)
            .premultiply()
            .to_rgba8()
            .to_u32(),
    }
}

/// Every kind of segment, both fill rules, strokes, nested clips with a blend mode, a blurred rectangle.
fn few_paths(scene: &mut Encoding) {
    let mut random = Random::new(7);
    scene.encode_transform(Transform::IDENTITY);
    scene.encode_fill_style(Fill::NonZero);
    star(scene, 60.0, 60.0, 50.0);
    scene.encode_color(color(&mut random));
    scene.encode_fill_style(Fill::EvenOdd);
    star(scene, 150.5, 70.25, 60.0);
    scene.encode_color(color(&mut random));

    scene.encode_fill_style(Fill::NonZero);
    let mut path = scene.encode_path(true);
    path.move_to(20.0, 20.0);
    path.cubic_to(300.0, -30.0, 300.0, 180.0, 40.0, 190.0);
    path.quad_to(10.0, 100.0, 20.0, 20.0);
    path.finish(true);
    scene.encode_begin_clip(DrawBeginClip::new(
        BlendMode::new(Mix::Multiply, Compose::SrcOver),
        0.5,
    ));
    star(scene, 100.0, 100.0, 90.0);
    scene.encode_begin_clip(DrawBeginClip::new(BlendMode::default(), 1.0));
    rectangle(scene, 0.0, 0.0, 320.0, 200.0);
    scene.encode_color(color(&mut random));
    scene.encode_end_clip();
    for (cap, join, width) in [
        (Cap::Butt, Join::Miter, 1.0),
        (Cap::Round, Join::Round, 12.0),
        (Cap::Square, Join::Bevel, 5.5),
    ] {
        let stroke = Stroke::new(width).with_caps(cap).with_join(join);
        assert!(scene.encode_stroke_style(&stroke));
        let mut path = scene.encode_path(false);
        path.move_to(30.0, 150.0);
        path.line_to(80.0 + width as f32, 40.0);
        path.quad_to(120.0, 10.0, 160.0, 110.0);
        path.cubic_to(170.0, 190.0, 260.0, 20.0, 290.0, 170.0);
        path.finish(true);
        scene.encode_color(color(&mut random));
    }
    scene.encode_end_clip();
    scene.encode_transform(Transform {
        matrix: [0.8, 0.3, -0.2, 1.1],
        translation: [90.0, 30.0],
    });
    scene.encode_fill_style(Fill::NonZero);
    rectangle(scene, 10.0, 10.0, 100.0, 60.0);
    scene.encode_color(color(&mut random));
}

fn star(scene: &mut Encoding, x: f32, y: f32, radius: f32) {
    let mut path = scene.encode_path(true);
    for i in 0..5 {
        let angle = (i * 2) as f32 * std::f32::consts::TAU / 5.0 - 1.6;
        let (px, py) = (x + radius * angle.cos(), y + radius * angle.sin());
        match i {
            0 => path.move_to(px, py),
            _ => path.line_to(px, py),
        }
    }
    path.close();
    path.finish(true);
}

fn rectangle(scene: &mut Encoding, x0: f32, y0: f32, x1: f32, y1: f32) {
    let mut path = scene.encode_path(true);
    path.move_to(x0, y0);
    path.line_to(x1, y0);
    path.line_to(x1, y1);
    path.line_to(x0, y1);
    path.close();
    path.finish(true);
}

/// Random paths all over and past the edges, some under clips, which nest.
fn many_paths(scene: &mut Encoding, count: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut clips = 0;
    for i in 0..count {
        let unit = |random: &mut Random| random.below(1 << 16) as f32 / 65536.0;
        if i % 3 == 0 {
            let angle = unit(&mut random) * 6.0;
            let scale = 0.3 + unit(&mut random);
            scene.encode_transform(Transform {
                matrix: [
                    scale * angle.cos(),
                    scale * angle.sin(),
                    -scale * angle.sin(),
                    scale * angle.cos(),
                ],
                translation: [
                    unit(&mut random) * 1000.0 - 100.0,
                    unit(&mut random) * 700.0 - 50.0,
                ],
            });
        }
        let is_clip = random.one_in(9) && clips < 6;
        let is_fill = is_clip || !random.one_in(3);
        if is_fill {
            let rule = *random.pick(&[Fill::NonZero, Fill::EvenOdd]);
            scene.encode_fill_style(rule);
        } else {
            let stroke = Stroke::new(f64::from(0.5 + 6.0 * unit(&mut random)))
                .with_caps(*random.pick(&[Cap::Butt, Cap::Round, Cap::Square]))
                .with_join(*random.pick(&[Join::Miter, Join::Round, Join::Bevel]));
            assert!(scene.encode_stroke_style(&stroke));
        }
        let mut at = || unit(&mut random) * if is_clip { 400.0 } else { 60.0 };
        let points: [f32; 14] = std::array::from_fn(|_| at());
        let mut path = scene.encode_path(is_fill);
        let [x, y, a, b, c, d, e, f, g, h, j, k, l, m] = points;
        path.move_to(x, y);
        path.line_to(a, b);
        path.quad_to(c, d, e, f);
        path.cubic_to(g, h, j, k, l, m);
        if i % 5 == 0 {
            path.close();
            path.move_to(b, a);
            path.line_to(d, c);
            path.line_to(x, a);
            path.close();
        }
        path.finish(true);
        if is_clip {
            clips += 1;
            scene.encode_begin_clip(DrawBeginClip::new(BlendMode::default(), unit(&mut random)));
        } else {
            scene.encode_color(color(&mut random));
            if clips > 0 && random.one_in(6) {
                clips -= 1;
                scene.encode_end_clip();
            }
        }
    }
    for _ in 0..clips {
        scene.encode_end_clip();
    }
}
