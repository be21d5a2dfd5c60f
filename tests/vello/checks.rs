//! What equal results are, stage by stage.
//!
//! Most buffers are equal byte for byte. Where a stage allocates by counting up with atomics, the order of what it
//! allocates is free: then the parts are compared and not their places. `flatten` alone computes with functions that are
//! not exact (powers, arcs), and says how close its lines are.

use std::collections::{BTreeMap, HashMap};

use super::pipeline::State;
use super::scene::Scene;

pub struct Sides<'a> {
    pub scene: &'a Scene,
    /// By vello.
    pub state: &'a State,
    pub ours: &'a State,
}

type Rule = fn(&Sides<'_>, &str) -> Result<(), String>;
/// The buffers that a stage writes.
pub type Check = &'static [(&'static str, Rule)];

pub const PATHTAG_REDUCE: Check = &[("path_reduced", exact)];
pub const PATHTAG_SCAN: Check = &[("tag_monoids", exact)];
pub const PATHTAG_SCAN_LARGE: Check = &[("tag_monoids_again", exact)];
pub const BBOX_CLEAR: Check = &[("path_bboxes", exact)];
pub const FLATTEN: Check = &[("path_bboxes", boxes), ("bump", exact), ("lines", lines)];
pub const DRAW_REDUCE: Check = &[("draw_reduced", exact)];
pub const DRAW_LEAF: Check = &[
    ("draw_monoids", exact),
    ("info", exact),
    ("clip_inputs", exact),
];
pub const CLIP_REDUCE: Check = &[("clip_bics", exact), ("clip_elements", exact)];
pub const CLIP_LEAF: Check = &[("draw_monoids", exact), ("clip_bboxes", exact)];
pub const BINNING: Check = &[
    ("draw_bboxes", exact),
    ("bump", exact),
    ("bin_headers", bins),
];
pub const TILE_ALLOC: Check = &[("bump", exact), ("paths", paths)];
pub const SETUP: Check = &[("indirect", exact)];
pub const PATH_COUNT: Check = &[
    ("bump", exact),
    ("tiles", exact),
    ("seg_counts", seg_counts),
];
pub const BACKDROP: Check = &[("tiles", exact)];
pub const COARSE: Check = &[("bump", exact), ("ptcl", commands)];
pub const TILING_SETUP: Check = &[("indirect", exact), ("ptcl", exact)];
pub const TILING: Check = &[("bump", exact), ("segments", exact)];

/// How far a coordinate of a line may be from vello's, in pixels.
const LINE_TOLERANCE: f32 = 1.0 / 256.0;

pub fn words(state: &State, name: &str) -> Vec<u32> {
    state[name]
        .borrow()
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

impl Sides<'_> {
    /// Vello's words and ours.
    fn both(&self, name: &str) -> (Vec<u32>, Vec<u32>) {
        (words(self.state, name), words(self.ours, name))
    }

    /// A counter of `BumpAllocators`, which [`exact`] holds equal.
    fn bump(&self, index: usize) -> usize {
        words(self.state, "bump")[index] as usize
    }
}

fn exact(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let (theirs, ours) = sides.both(name);
    let wrong = theirs.iter().zip(&ours).filter(|(a, b)| a != b).count();
    match theirs.iter().zip(&ours).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{wrong} of {} words differ; word {at} is {:#x} ({}), vello's {:#x} ({})",
            theirs.len(),
            ours[at],
            f32::from_bits(ours[at]),
            theirs[at],
            f32::from_bits(theirs[at])
        )),
    }
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    theirs: &T,
    ours: &T,
) -> Result<(), String> {
    if theirs == ours {
        return Ok(());
    }
    Err(format!("{what}: ours {ours:?}, vello's {theirs:?}"))
}

/// Bounding boxes of paths in whole pixels: one pixel off where an edge is within the lines' tolerance of a pixel's.
fn boxes(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let (theirs, ours) = sides.both(name);
    for (i, (a, b)) in theirs.iter().zip(&ours).enumerate() {
        let is_edge = i % 6 < 4;
        let apart = (*a as i32).abs_diff(*b as i32);
        if apart > u32::from(is_edge) {
            return Err(format!(
                "word {i}: ours {}, vello's {}",
                *b as i32, *a as i32
            ));
        }
    }
    Ok(())
}

/// The lines of each path, in any order.
fn lines(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let count = sides.bump(7);
    let by_path = |words: Vec<u32>| {
        let mut lines: BTreeMap<u32, Vec<[f32; 4]>> = BTreeMap::new();
        for line in words.chunks_exact(6).take(count) {
            let points = std::array::from_fn(|i| f32::from_bits(line[2 + i]));
            lines.entry(line[0]).or_default().push(points);
        }
        lines
    };
    let (theirs, ours) = sides.both(name);
    let (theirs, mut ours) = (by_path(theirs), by_path(ours));
    let apart =
        |a: &[f32; 4], b: &[f32; 4]| (0..4).map(|i| (a[i] - b[i]).abs()).fold(0.0, f32::max);
    for (path, lines) in theirs {
        let mut left = ours.remove(&path).unwrap_or_default();
        same(&format!("lines of path {path}"), &lines.len(), &left.len())?;
        for line in lines {
            let nearest = (0..left.len())
                .min_by(|&a, &b| apart(&left[a], &line).total_cmp(&apart(&left[b], &line)))
                .expect("as many");
            let ours = left.swap_remove(nearest);
            if apart(&ours, &line) > LINE_TOLERANCE {
                return Err(format!(
                    "path {path}: vello's {line:?}, the nearest {ours:?}"
                ));
            }
        }
    }
    Ok(())
}

/// The elements of each bin in their order, wherever the bin lies.
fn bins(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let start = sides.scene.config.gpu.layout.bin_data_start as usize;
    let elements = |headers: Vec<u32>, data: Vec<u32>| -> Vec<Vec<u32>> {
        headers
            .chunks_exact(2)
            .map(|header| {
                let at = start + header[1] as usize;
                let bin = data.get(at..at + header[0] as usize);
                bin.unwrap_or_default().to_vec()
            })
            .collect()
    };
    let (their_data, our_data) = sides.both("info");
    let (theirs, ours) = sides.both(name);
    let (theirs, ours) = (elements(theirs, their_data), elements(ours, our_data));
    for (i, (a, b)) in theirs.iter().zip(&ours).enumerate() {
        same(&format!("bin {i}"), a, b)?;
    }
    Ok(())
}

/// Boxes in tiles, and that no two paths share a tile of the buffer.
fn paths(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let count = sides.scene.config.gpu.layout.n_draw_objects as usize;
    let (theirs, ours) = sides.both(name);
    let mut ranges = Vec::new();
    let both = theirs.chunks_exact(8).zip(ours.chunks_exact(8));
    for (i, (a, b)) in both.take(count).enumerate() {
        same(&format!("path {i}"), &a[..4], &b[..4])?;
        ranges.push((b[4], (b[2] - b[0]) * (b[3] - b[1])));
    }
    packed(ranges, sides.bump(3))?;
    let tiles = words(sides.ours, "tiles");
    same(
        "tiles that are not zero",
        &0,
        &tiles.iter().filter(|&&t| t != 0).count(),
    )
}

/// Ranges (start and length) that fill `total` without overlap.
fn packed(mut ranges: Vec<(u32, u32)>, total: usize) -> Result<(), String> {
    ranges.retain(|range| range.1 > 0);
    ranges.sort_unstable();
    let mut end = 0;
    for (start, length) in ranges {
        same("start of a range", &end, &start)?;
        end += length;
    }
    same("end of the ranges", &(total as u32), &end)
}

/// Crossings of lines and tiles: of each tile the numbers within it are all there, in any order.
fn seg_counts(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let count = sides.bump(4);
    let crossings = |words: &[u32]| {
        let pairs = words.chunks_exact(2).take(count);
        let mut all: Vec<_> = pairs.map(|c| (c[0], c[1] & 0xffff)).collect();
        all.sort_unstable();
        all
    };
    let numbers = |words: &[u32]| {
        let mut counted: HashMap<u32, u32> = HashMap::new();
        for pair in words.chunks_exact(2).take(count) {
            *counted.entry(pair[1] >> 16).or_default() += 1;
        }
        counted
    };
    let (theirs, ours) = sides.both(name);
    let (a, b) = (crossings(&theirs), crossings(&ours));
    if let Some(at) = a.iter().zip(&b).position(|(a, b)| a != b) {
        same(&format!("crossing {at}"), &a[at], &b[at])?;
    }
    same("numbers within tiles", &numbers(&theirs), &numbers(&ours))
}

/// The commands of each tile; its segments wherever they lie.
fn commands(sides: &Sides<'_>, name: &str) -> Result<(), String> {
    let gpu = &sides.scene.config.gpu;
    let (theirs, ours) = sides.both(name);
    let (mut their_ranges, mut our_ranges) = (Vec::new(), Vec::new());
    for tile in 0..gpu.width_in_tiles * gpu.height_in_tiles {
        let a = list(&theirs, tile, &mut their_ranges)?;
        let b = list(&ours, tile, &mut our_ranges)?;
        same(&format!("tile {tile}"), &a, &b)?;
    }
    // Vello leaves no gap either.
    let total = sides.bump(5);
    packed(their_ranges, total)?;
    packed(our_ranges.clone(), total)?;
    // Each tile's segments are where its command says.
    let (_, tiles) = sides.both("tiles");
    let starts: Vec<u32> = our_ranges.iter().map(|range| range.0).collect();
    let before = sides.bump(3);
    let mut named: Vec<u32> = (tiles.chunks_exact(2).take(before))
        .filter(|tile| tile[1] as i32 > i32::MIN && (tile[1] as i32) < 0)
        .map(|tile| !tile[1])
        .collect();
    let mut starts = starts;
    named.sort_unstable();
    starts.sort_unstable();
    same("segments that tiles name", &starts, &named)
}

/// One tile's commands without places; `ranges` gets those of its segments.
fn list(ptcl: &[u32], tile: u32, ranges: &mut Vec<(u32, u32)>) -> Result<Vec<u32>, String> {
    let mut commands = Vec::new();
    // The first word is the place of what the tile spills.
    let mut at = tile as usize * 64 + 1;
    loop {
        let command = ptcl[at];
        let length = match command {
            0 => return Ok(commands),
            1 => {
                ranges.push((ptcl[at + 2], ptcl[at + 1] >> 1));
                commands.extend([1, ptcl[at + 1], ptcl[at + 3]]);
                at += 4;
                continue;
            }
            3 | 10 => 1,
            5 | 9 => 2,
            6..=8 | 11 | 13 => 3,
            12 => {
                at = ptcl[at + 1] as usize;
                continue;
            }
            other => return Err(format!("tile {tile}: command {other}")),
        };
        commands.extend(&ptcl[at..at + length]);
        at += length;
    }
}
