//! Edges of two deforming surfaces that cross.
//!
//! A pair of edges begins where they meet in the step, or come nearer than they are kept. The edges of solids meet from outside of both. An attachment
//! whose nearest points have slid over the end of an edge goes on between the neighbouring edges that cross there at the same side, with the same
//! offset, and so with the same friction; where there are none it ends.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::{Aabb, Crossable, EdgesCrossing, Facing, edge_meets_edge};

use super::attachment::EdgeCrossing;
use super::pair::{Pair, kept_at};
use super::places::Mounted;
use super::surfaces::MeshSurface;
use super::system::System;
use super::vertex_place::VertexPlace;
use crate::world::EdgeContact;

/// A deforming surface with the positions of its vertices.
struct Side<'a> {
    surface: &'a MeshSurface,
    start: &'a [Point3<f64>],
    end: &'a [Point3<f64>],
}

/// Both sides of a pair whose edges touch: that of the particles, and the object. Each two surfaces have one such pair.
fn sides<'a>(system: &'a System, pair: &Pair) -> Option<[Side<'a>; 2]> {
    if pair.edges == EdgeContact::None || pair.object < pair.particles {
        return None;
    }
    let side = |geometry| {
        let surface = system.places.surface(geometry)?;
        let place = &system.places.vertices[surface.place()?];
        let VertexPlace { body, at_end, .. } = place;
        Some(Side {
            surface,
            start: &system.bodies.surface(*body).vertices,
            end: at_end,
        })
    };
    Some([side(pair.particles)?, side(pair.object)?])
}

fn ends_of(
    sides: &[Side<'_>; 2],
    [first, second]: [[u32; 2]; 2],
    of: impl Fn(&Side<'_>, u32) -> Point3<f64>,
) -> [Point3<f64>; 4] {
    let [a, b] = sides;
    let ends = [(a, first[0]), (a, first[1]), (b, second[0]), (b, second[1])];
    ends.map(|(side, vertex)| of(side, vertex))
}

/// Positions at the start of the step of a₀, a₁, b₀ and b₁.
pub(super) fn ends_at_start(
    system: &System,
    pair: &Pair,
    crossing: &EdgeCrossing,
) -> Option<[Point3<f64>; 4]> {
    let place = |geometry| match system.places.mounted(geometry) {
        Mounted::Vertices(place) => Some(&system.places.vertices[place]),
        Mounted::Fixed(_) | Mounted::Frame(..) => None,
    };
    let [a, b] = [place(pair.particles)?, place(pair.object)?];
    let at = |place: &VertexPlace, vertex: u32| {
        let vertices = &system.bodies.surface(place.body).vertices;
        vertices.get(vertex as usize).copied()
    };
    let [[a_0, a_1], [b_0, b_1]] = crossing.edges();
    Some([at(a, a_0)?, at(a, a_1)?, at(b, b_0)?, at(b, b_1)?])
}

/// Pairs of edges that are not attached and have met by the end of the step as it is now.
pub(super) fn entered(system: &System, pair: &Pair) -> Vec<EdgeCrossing> {
    let mut found = Vec::new();
    let Some(sides) = sides(system, pair) else {
        return found;
    };
    let is_own = pair.object == pair.particles;
    let [a, b] = &sides;
    for edge in 0..a.surface.walk.n_edges() as u32 {
        let first = a.surface.walk.edge(edge);
        let reach = match is_own {
            true => 0.0,
            false => kept_at(system, pair, first[0] as usize),
        };
        let way = first.map(|v| [a.start[v as usize], a.end[v as usize]]);
        let bounds = Aabb::from_points(way.iter().flatten());
        let region = [bounds.min, bounds.max];
        // Boxes of flat surfaces have no thickness.
        let around = reach + 1e-9 * (bounds.max - bounds.min).norm();
        if !b.surface.may_meet(&region, around) {
            continue;
        }
        b.surface.triangles_near(&region, around, |triangle| {
            for other in b.surface.walk.first_edges_of(triangle) {
                let second = b.surface.walk.edge(other);
                let is_new = !pair.crossings.contains(&[first, second]);
                // An edge and itself, or a neighbour, do not cross; each two count once.
                let counts = !is_own || (edge < other && first.iter().all(|v| !second.contains(v)));
                if is_new && counts {
                    found.extend(met(&sides, [edge, other], reach));
                }
            }
        });
    }
    found.sort_unstable_by_key(EdgeCrossing::edges);
    found
}

/// The attachment of two edges that meet.
fn met(sides: &[Side<'_>; 2], edges: [u32; 2], reach: f64) -> Option<EdgeCrossing> {
    let [a, b] = sides;
    let vertices = [a.surface.walk.edge(edges[0]), b.surface.walk.edge(edges[1])];
    let start = ends_of(sides, vertices, |side, v| side.start[v as usize]);
    let end = ends_of(sides, vertices, |side, v| side.end[v as usize]);
    let path = |k: usize| [start[k], end[k]];
    let hit = edge_meets_edge(&[path(0), path(1)], &[path(2), path(3)]);
    let (at, facing, normal) = match hit {
        Some(hit) => {
            let [alpha, beta] = hit.parameters;
            let then = [0, 1, 2, 3].map(|k| start[k] + (end[k] - start[k]) * hit.time);
            let normal = (then[1] - then[0]).cross(&(then[3] - then[2]));
            let way = |k: usize| end[k] - start[k];
            let on = |k: usize, at: f64| way(k) * (1.0 - at) + way(k + 1) * at;
            let approach = (on(0, alpha) - on(2, beta)).dot(&normal);
            let facing = match approach {
                v if v < 0.0 => Facing::Front,
                v if v > 0.0 => Facing::Back,
                _ => return None,
            };
            (hit.parameters, facing, normal)
        }
        None => {
            let near = EdgesCrossing::of(&end)?;
            if !near.is_within() || near.height.abs() >= reach {
                return None;
            }
            let before = EdgesCrossing::of(&start).map_or(near.height, |before| {
                // The sense of the product of the directions at the end.
                before.height * before.normal.dot(&near.normal).signum()
            });
            let facing = match before <= 0.0 {
                true => Facing::Front,
                false => Facing::Back,
            };
            (near.at, facing, near.normal)
        }
    };
    let towards_first = normal * facing.sign();
    let is_outside = |side: &Side<'_>, edge: u32, direction: Vector3<f64>| {
        let walk = &side.surface.walk;
        side.surface.crossable == Crossable::FromBoth
            || walk.normal_of_edge(side.end, edge).dot(&direction) > 0.0
    };
    let faces = is_outside(b, edges[1], towards_first) && is_outside(a, edges[0], -towards_first);
    faces.then_some(EdgeCrossing {
        first: vertices[0],
        second: vertices[1],
        at,
        facing,
    })
}

/// The attachment of the last step at the start of this one, between the same edges or their neighbours; `None` if it has slid off.
pub(super) fn handed_over(
    system: &System,
    pair: &Pair,
    crossing: &EdgeCrossing,
) -> Option<EdgeCrossing> {
    let sides = sides(system, pair)?;
    let at_start = |side: &Side<'_>, v: u32| side.start[v as usize];
    let known = |side: &Side<'_>, edge: [u32; 2]| {
        let (walk, n) = (&side.surface.walk, side.start.len());
        (edge[0] as usize) < n && walk.edges_around(edge[0]).any(|e| walk.edge(e) == edge)
    };
    if !known(&sides[0], crossing.first) || !known(&sides[1], crossing.second) {
        return None;
    }
    let ends = ends_of(&sides, crossing.edges(), at_start);
    let old = EdgesCrossing::of(&ends)?;
    if old.is_within() {
        return Some(*crossing);
    }
    let offset = (ends[3] - ends[2]) * (crossing.at[1] - old.at[1])
        - (ends[1] - ends[0]) * (crossing.at[0] - old.at[0]);
    let direction = old.normal * crossing.facing.sign();
    let candidates = |k: usize, edge: [u32; 2]| -> Vec<[u32; 2]> {
        let vertex = match old.at[k] {
            at if at < 0.0 => edge[0],
            at if at > 1.0 => edge[1],
            _ => return vec![edge],
        };
        let walk = &sides[k].surface.walk;
        let around = walk.edges_around(vertex).map(|e| walk.edge(e));
        around.filter(|e| *e != edge).collect()
    };
    let mut best: Option<(f64, EdgeCrossing)> = None;
    for first in candidates(0, crossing.first) {
        for second in candidates(1, crossing.second) {
            let ends = ends_of(&sides, [first, second], at_start);
            let Some(next) = EdgesCrossing::of(&ends).filter(EdgesCrossing::is_within) else {
                continue;
            };
            let facing = match next.normal.dot(&direction) >= 0.0 {
                true => Facing::Front,
                false => Facing::Back,
            };
            let along = next.normal.dot(&direction).abs();
            let reach = kept_at(system, pair, first[0] as usize);
            let is_deep = reach + next.height * facing.sign() > 0.0;
            let is_free = !pair.crossings.contains(&[first, second]);
            if is_deep && is_free && along > 0.0 && best.is_none_or(|(least, _)| along > least) {
                let carried = EdgeCrossing {
                    first,
                    second,
                    at: next.at_offset(&ends, &offset),
                    facing,
                };
                best = Some((along, carried));
            }
        }
    }
    best.map(|(_, crossing)| crossing)
}
