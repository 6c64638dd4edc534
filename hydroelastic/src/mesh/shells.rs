//! Outward orientation of solids of several closed shells: bodies, cavities in them, bodies in these, and so on.
//!
//! A shell inside an even number of others bounds a body and is oriented outwards, one inside an odd number bounds a cavity and is
//! oriented inwards, whatever their orientation in the file. Shells that cross each other are not nested: both are bodies.

use super::components::DisjointSets;
use super::error::{Flaw, MeshError};
use super::moments::{Bounds, solid_moments};
use super::options::Orientation;
use super::report::{LoadReport, Severity};
use super::self_intersection::pass_through;
use super::soup::Soup;
use super::topology::{edge_groups, sorted_half_edges};
use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Solid angles and pairs of triangles that may always be computed to distinguish bodies from cavities (about a second), and those per
/// triangle for larger meshes.
const WORK_FREE: usize = 10_000_000;
const WORK_PER_TRIANGLE_MAX: usize = 40;
/// Points of a shell that are tried to find one that is not on another shell.
const SAMPLES_MAX: usize = 32;

/// One closed, consistently oriented shell.
struct Shell {
    triangles: Vec<u32>,
    bounds: Bounds,
    volume: f64,
}

/// Orients shells by the number of others around them.
///
/// # Errors
/// [`MeshError::Element`] when a body is oriented inwards and `orientation` forbids reordering. Shells inside others then keep their
/// orientation; those that are oriented outwards are reported.
pub(crate) fn orient_outward(
    soup: &mut Soup,
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let mut shells = shells(soup);
    let Some(depths) = depths(soup, &shells) else {
        let text = "too many closed shells are nested to distinguish bodies from cavities";
        report.add(Severity::Suspicious, soup.names.whole(), text);
        return match total(&shells) < 0.0 {
            true => flip_all(soup, &mut shells, orientation, report),
            false => Ok(()),
        };
    };
    let is_cavity = |s: usize| depths[s] % 2 == 1;
    let is_reversed = |s: &usize| (shells[*s].volume < 0.0) != is_cavity(*s);
    let (cavities, bodies): (Vec<usize>, Vec<usize>) = (0..shells.len())
        .filter(is_reversed)
        .partition(|s| is_cavity(*s));
    if cavities.len() + bodies.len() == shells.len() {
        return flip_all(soup, &mut shells, orientation, report);
    }
    if !bodies.is_empty() {
        let list = first_triangles(soup, &shells, &bodies);
        let text = format!(
            "{} closed shells were oriented inwards, the first at: {list}",
            bodies.len()
        );
        flip(soup, &mut shells, &bodies, &text, orientation, report)?;
    }
    let Some(&first) = cavities.first() else {
        return Ok(());
    };
    let list = first_triangles(soup, &shells, &cavities);
    let many = cavities.len();
    if orientation == Orientation::Refuse {
        let element = soup.element_of[shells[first].triangles[0] as usize];
        let at = soup.names.element_location(element);
        let text = format!(
            "{many} closed shells lie inside others, where volume counts twice, the first at: {list}"
        );
        report.add(Severity::Suspicious, at, text);
        return Ok(());
    }
    let text = format!(
        "{many} closed shells inside others were oriented outwards, the first at: {list}; they bound cavities"
    );
    flip(soup, &mut shells, &cavities, &text, orientation, report)
}

/// Σ of the signed volumes, m³.
fn total(shells: &[Shell]) -> f64 {
    shells.iter().map(|shell| shell.volume).sum()
}

fn flip_all(
    soup: &mut Soup,
    shells: &mut [Shell],
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let all: Vec<usize> = (0..shells.len()).collect();
    let text = format!(
        "all triangles were oriented inwards (signed volume {:.6e} m3)",
        total(shells)
    );
    flip(soup, shells, &all, &text, orientation, report)
}

fn first_triangles(soup: &Soup, shells: &[Shell], which: &[usize]) -> String {
    let firsts: Vec<u32> = which
        .iter()
        .map(|s| soup.element_of[shells[*s].triangles[0] as usize])
        .collect();
    soup.names.element_list(&firsts)
}

/// Flips shells.
fn flip(
    soup: &mut Soup,
    shells: &mut [Shell],
    which: &[usize],
    what: &str,
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let first = soup.element_of[shells[which[0]].triangles[0] as usize];
    let at = soup.names.element_location(first);
    if orientation == Orientation::Refuse {
        let remedy = "Reverse the order of the vertices, or load with Orientation::Reorder";
        return Err(MeshError::Element(Flaw::new(at, what, remedy)));
    }
    for s in which {
        shells[*s].volume = -shells[*s].volume;
        shells[*s]
            .triangles
            .iter()
            .for_each(|t| soup.triangles[*t as usize].swap(1, 2));
    }
    report.add(Severity::Repaired, at, format!("{what}; flipped"));
    Ok(())
}

/// The number of other shells around each shell; `None` when computing it would take too long.
///
/// A shell is inside another if its box is, if the other winds around one of its points, and if they do not cross.
fn depths(soup: &Soup, shells: &[Shell]) -> Option<Vec<u32>> {
    if shells.len() == 1 {
        return Some(vec![0]);
    }
    let boxes: Vec<Aabb> = shells
        .iter()
        .map(|s| aabb(s.bounds.min, s.bounds.max))
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut work = WORK_FREE + WORK_PER_TRIANGLE_MAX * soup.triangles.len();
    let mut trees = BTreeMap::new();
    let mut depths = Vec::with_capacity(shells.len());
    for (shell, s) in shells.iter().zip(0_u32..) {
        let Bounds { min, max } = &shell.bounds;
        let mut depth = 0;
        for o in tree.intersect_aabb(&aabb(*min, *max)).filter(|o| *o != s) {
            let other = &shells[o as usize];
            let is_boxed = other.bounds.contains(min) && other.bounds.contains(max);
            if !is_boxed || !encloses(soup, other, shell, &mut work)? {
                continue;
            }
            let of_other = trees.entry(o).or_insert_with(|| triangle_tree(soup, other));
            depth += u32::from(!crosses(soup, shell, (other, of_other), &mut work)?);
        }
        depths.push(depth);
    }
    Some(depths)
}

fn aabb(min: Vector3<f64>, max: Vector3<f64>) -> Aabb {
    Aabb {
        mins: min.into(),
        maxs: max.into(),
    }
}

fn aabb_of([a, b, c]: [Vector3<f64>; 3]) -> Aabb {
    aabb(a.inf(&b).inf(&c), a.sup(&b).sup(&c))
}

fn triangle_tree(soup: &Soup, shell: &Shell) -> Bvh {
    let boxes: Vec<Aabb> = shell
        .triangles
        .iter()
        .map(|t| aabb_of(soup.corners(*t)))
        .collect();
    Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes)
}

/// Whether `other` winds around `shell`, in either direction, where they do not touch. `None` if there is too much work.
///
/// Seen from a point on `other` itself the solid angle is a fraction of 4π: a half on a face. Such points are passed over; shells that
/// coincide are not inside each other.
fn encloses(soup: &Soup, other: &Shell, shell: &Shell, work: &mut usize) -> Option<bool> {
    let stride = shell.triangles.len().div_ceil(SAMPLES_MAX);
    for t in shell.triangles.iter().step_by(stride) {
        *work = work.checked_sub(other.triangles.len())?;
        let point = soup.corners(*t).iter().sum::<Vector3<f64>>() / 3.0;
        let angles = other.triangles.iter();
        let winding: f64 = angles
            .map(|t| solid_angle(&point, soup.corners(*t)))
            .sum::<f64>()
            / (4.0 * PI);
        if (winding - winding.round()).abs() < 1e-6 {
            return Some(winding.round() != 0.0);
        }
    }
    Some(false)
}

/// Whether triangles of two shells pass through each other. `None` if there is too much work.
fn crosses(
    soup: &Soup,
    shell: &Shell,
    (other, of_other): (&Shell, &Bvh),
    work: &mut usize,
) -> Option<bool> {
    for &one in &shell.triangles {
        let corners = soup.corners(one);
        for leaf in of_other.intersect_aabb(&aabb_of(corners)) {
            *work = work.checked_sub(1)?;
            let two = other.triangles[leaf as usize];
            let [v, w] = [one, two].map(|t| soup.triangles[t as usize]);
            let common = v.iter().any(|vertex| w.contains(vertex));
            if !common && pass_through(corners, soup.corners(two)) {
                return Some(true);
            }
        }
    }
    Some(false)
}

fn shells(soup: &Soup) -> Vec<Shell> {
    let mut sets = DisjointSets::new(soup.triangles.len());
    let halves = sorted_half_edges(&soup.triangles);
    for group in edge_groups(&halves) {
        for half in &group[1..] {
            sets.join(group[0].triangle(), half.triangle());
        }
    }
    let mut shell_of_root = vec![u32::MAX; soup.triangles.len()];
    let mut members: Vec<Vec<u32>> = Vec::new();
    for t in 0..soup.triangles.len() as u32 {
        let root = sets.find(t) as usize;
        if shell_of_root[root] == u32::MAX {
            shell_of_root[root] = members.len() as u32;
            members.push(Vec::new());
        }
        members[shell_of_root[root] as usize].push(t);
    }
    let shell = |triangles: Vec<u32>| {
        let corners = || triangles.iter().map(|t| soup.corners(*t));
        let points: Vec<Vector3<f64>> = corners().flatten().collect();
        let bounds = Bounds::of(&points).expect("a shell has triangles");
        let center = bounds.center();
        let fan = corners().map(|[a, b, c]| [Vector3::zeros(), a - center, b - center, c - center]);
        let volume = solid_moments(center, fan).volume;
        Shell {
            triangles,
            bounds,
            volume,
        }
    };
    members.into_iter().map(shell).collect()
}

/// Signed solid angle of a triangle seen from `point`, in steradian; positive when the triangle is clockwise seen from
/// there, so that a closed outward surface around the point sums to 4π.
///
/// ```text
/// tan(Ω/2) = a · (b × c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|)
/// ```
///
/// # Source
/// Van Oosterom and Strackee (1983), The solid angle of a plane triangle.
pub(crate) fn solid_angle(point: &Vector3<f64>, corners: [Vector3<f64>; 3]) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (l_a, l_b, l_c) = (a.norm(), b.norm(), c.norm());
    let below = l_a * l_b * l_c + a.dot(&b) * l_c + b.dot(&c) * l_a + c.dot(&a) * l_b;
    2.0 * a.dot(&b.cross(&c)).atan2(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octant_triangle_spans_an_eighth_of_the_sphere() {
        let angle = solid_angle(
            &Vector3::zeros(),
            [Vector3::x(), Vector3::y(), Vector3::z()],
        );
        assert!((angle - PI / 2.0).abs() < 4.0 * f64::EPSILON);
    }
}
