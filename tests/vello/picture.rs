//! A scene whose picture can be computed without vello: opaque and translucent polygons and a gradient, each pixel the
//! exact area that a polygon covers of it.

use peniko::color::{AlphaColor, DynamicColor, Srgb};
use peniko::{Color, ColorStop, Extend, Fill, InterpolationAlphaSpace};
use vello_encoding::{DrawColor, DrawLinearGradient, Encoding, Transform};

use super::scene::Scene;

const WIDTH: usize = 200;
const HEIGHT: usize = 150;
/// Start and end of the gradient, in pixels from the left.
const RAMP: [f64; 2] = [20.0, 148.0];

/// What a channel, multiplied by alpha, may be off, in 1/255: half a code in the picture, as much in the gradient and
/// a quarter for its steps, and the rest for areas in single precision.
const TOLERANCE: f64 = 1.5;

struct Shape {
    /// Convex.
    points: &'static [[f64; 2]],
    /// Red, green, blue and alpha; `None`: the gradient.
    color: Option<[u8; 4]>,
}

const SHAPES: [Shape; 5] = [
    Shape {
        points: &[[10.0, 12.0], [90.0, 12.0], [90.0, 60.0], [10.0, 60.0]],
        color: Some([255, 0, 0, 255]),
    },
    // Edges between pixels, none of them upright: vello's area at those is the quotient of two numbers near 1e-6.
    Shape {
        points: &[[60.3, 30.6], [140.75, 30.6], [147.5, 100.2], [50.1, 100.2]],
        color: Some([0, 128, 255, 128]),
    },
    Shape {
        points: &[[30.5, 140.0], [101.0, 55.25], [190.0, 131.5]],
        color: Some([20, 200, 40, 200]),
    },
    Shape {
        points: &[[21.0, 100.5], [140.0, 100.5], [140.0, 144.0], [21.0, 144.0]],
        color: None,
    },
    // Thinner than a pixel, and past the edge.
    Shape {
        points: &[[-20.0, 70.0], [250.0, 80.0], [250.0, 80.4], [-20.0, 70.4]],
        color: Some([0, 0, 0, 255]),
    },
];

pub fn scene() -> Scene {
    let mut scene = Encoding::new();
    scene.encode_transform(Transform::IDENTITY);
    scene.encode_fill_style(Fill::NonZero);
    for shape in &SHAPES {
        let mut path = scene.encode_path(true);
        for (i, &[x, y]) in shape.points.iter().enumerate() {
            match i {
                0 => path.move_to(x as f32, y as f32),
                _ => path.line_to(x as f32, y as f32),
            }
        }
        path.close();
        path.finish(true);
        match shape.color {
            Some([r, g, b, a]) => {
                let color = Color::from_rgba8(r, g, b, a).premultiply().to_rgba8();
                let rgba = color.to_u32();
                scene.encode_color(DrawColor { rgba });
            }
            None => gradient(&mut scene),
        }
    }
    Scene::new(
        "picture",
        &scene,
        [WIDTH as u32, HEIGHT as u32],
        Color::TRANSPARENT,
    )
}

fn gradient(scene: &mut Encoding) {
    let stop = |offset: f32, [r, g, b, a]: [u8; 4]| ColorStop {
        offset,
        color: DynamicColor::from_alpha_color(AlphaColor::<Srgb>::from_rgba8(r, g, b, a)),
    };
    let stops = [stop(0.0, [255, 255, 0, 255]), stop(1.0, [0, 0, 255, 51])];
    scene.encode_linear_gradient(
        DrawLinearGradient {
            index: 0,
            p0: [RAMP[0] as f32, 0.0],
            p1: [RAMP[1] as f32, 0.0],
        },
        stops.into_iter(),
        1.0,
        Extend::Pad,
        InterpolationAlphaSpace::Premultiplied,
    );
}

/// The part of the unit square at `x`, `y` that a convex polygon covers.
fn coverage(points: &[[f64; 2]], x: f64, y: f64) -> f64 {
    let mut points = points.to_vec();
    // Cut off what is beyond each of the square's sides.
    for (axis, side, keeps_above) in [
        (0, x, true),
        (0, x + 1.0, false),
        (1, y, true),
        (1, y + 1.0, false),
    ] {
        let depth = |p: &[f64; 2]| match keeps_above {
            true => p[axis] - side,
            false => side - p[axis],
        };
        let mut kept = Vec::new();
        for (i, a) in points.iter().enumerate() {
            let b = &points[(i + 1) % points.len()];
            let (da, db) = (depth(a), depth(b));
            if da >= 0.0 {
                kept.push(*a);
            }
            if (da >= 0.0) != (db >= 0.0) {
                let t = da / (da - db);
                kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
        }
        points = kept;
        if points.is_empty() {
            return 0.0;
        }
    }
    let twice: f64 = (0..points.len())
        .map(|i| (points[i], points[(i + 1) % points.len()]))
        .map(|(a, b)| a[0] * b[1] - b[0] * a[1])
        .sum();
    twice.abs() / 2.0
}

/// Premultiplied, each channel 0 to 1.
fn expected(x: usize, y: usize, moved: f64) -> [f64; 4] {
    let mut pixel = [0.0; 4];
    for shape in &SHAPES {
        let covered = coverage(shape.points, x as f64 + moved, y as f64);
        let color = match shape.color {
            Some([r, g, b, a]) => {
                let alpha = f64::from(a) / 255.0;
                let [r, g, b] = [r, g, b].map(|c| f64::from(c) / 255.0 * alpha);
                [r, g, b, alpha]
            }
            None => {
                let t = ((x as f64 - RAMP[0]) / (RAMP[1] - RAMP[0])).clamp(0.0, 1.0);
                [1.0 - t, 1.0 - t, t * 0.2, 1.0 - t + t * 0.2]
            }
        };
        for (channel, &c) in pixel.iter_mut().zip(&color) {
            *channel = *channel * (1.0 - color[3] * covered) + c * covered;
        }
    }
    pixel
}

/// How many pixels of `picture` (rgba8unorm, alpha apart) are not those of the scene moved to the left; and one of
/// them.
pub fn differences(picture: &[u32], moved: f64) -> (usize, String) {
    assert_eq!(picture.len(), WIDTH * HEIGHT);
    let (mut count, mut first) = (0, String::new());
    for (i, texel) in picture.iter().enumerate() {
        let (x, y) = (i % WIDTH, i / WIDTH);
        let [r, g, b, a] = texel.to_le_bytes().map(|c| f64::from(c) / 255.0);
        let ours = [r * a, g * a, b * a, a];
        let expected = expected(x, y, moved);
        let apart = (0..4)
            .map(|c| (ours[c] - expected[c]).abs() * 255.0)
            .fold(0.0, f64::max);
        if apart > TOLERANCE {
            count += 1;
            if count == 1 {
                first = format!("({x}, {y}): {ours:?}, expected {expected:?}");
            }
        }
    }
    (count, first)
}
