//! Consistent orientation of triangles, and outward orientation of solids.

use super::components::DisjointSets;
use super::error::{Flaw, MeshError};
use super::moments::{Bounds, solid_moments};
use super::options::{Orientation, SurfaceUse};
use super::report::{LoadReport, Severity};
use super::soup::Soup;
use super::topology::{edge_groups, sorted_half_edges};
use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use std::f64::consts::PI;

/// Number of solid angles that may always be computed to distinguish bodies from cavities (about a second), and the
/// number per triangle for larger meshes.
const SOLID_ANGLES_FREE: usize = 10_000_000;
const SOLID_ANGLES_PER_TRIANGLE_MAX: usize = 20;

/// A neighbour across an edge, and whether both triangles traverse the edge in the same direction, which is
/// inconsistent.
#[derive(Clone, Copy)]
struct Link {
    to: u32,
    same_direction: bool,
}

/// Flips the minority of each shell whose triangles are inconsistent with their neighbours.
///
/// # Errors
/// [`MeshError::Topology`] when a solid is one-sided like a Möbius strip; [`MeshError::Element`] when triangles are
/// inconsistent and `orientation` forbids reordering.
pub(crate) fn orient_consistently(
    soup: &mut Soup,
    surface_use: SurfaceUse,
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let links = links(&soup.triangles);
    let n = soup.triangles.len();
    let mut flip: Vec<Option<bool>> = vec![None; n];
    let mut flipped = Vec::new();
    for start in 0..n as u32 {
        if flip[start as usize].is_some() {
            continue;
        }
        flip[start as usize] = Some(false);
        let mut shell = vec![start];
        let mut one_sided = None;
        let mut next = 0;
        while let Some(&t) = shell.get(next) {
            next += 1;
            let own = flip[t as usize] == Some(true);
            for link in links[t as usize].iter().flatten() {
                let required = own ^ link.same_direction;
                match flip[link.to as usize] {
                    None => {
                        flip[link.to as usize] = Some(required);
                        shell.push(link.to);
                    }
                    Some(found) if found != required => one_sided = Some((t, link.to)),
                    Some(_) => {}
                }
            }
        }
        if let Some((one, two)) = one_sided {
            report_one_sided(soup, one, two, surface_use, report)?;
            continue;
        }
        let against: Vec<u32> = shell
            .iter()
            .copied()
            .filter(|t| flip[*t as usize] == Some(true))
            .collect();
        if 2 * against.len() <= shell.len() {
            flipped.extend(against);
        } else {
            flipped.extend(
                shell
                    .iter()
                    .copied()
                    .filter(|t| flip[*t as usize] == Some(false)),
            );
        }
    }
    flipped.sort_unstable();
    let Some(&first) = flipped.first() else {
        return Ok(());
    };
    let element = soup.element_of[first as usize];
    let list = soup.names.element_list(&soup.elements(&flipped));
    let at = soup.names.element_location(element);
    if orientation == Orientation::Refuse {
        return Err(MeshError::Element(Flaw::new(
            at,
            format!(
                "{} triangles are oriented against their neighbours: {list}",
                flipped.len()
            ),
            "Reverse them, or load with Orientation::Reorder",
        )));
    }
    flipped
        .iter()
        .for_each(|t| soup.triangles[*t as usize].swap(1, 2));
    let text = format!(
        "{} triangles oriented against their neighbours were flipped: {list}",
        flipped.len()
    );
    report.add(Severity::Repaired, at, text);
    Ok(())
}

fn report_one_sided(
    soup: &Soup,
    one: u32,
    two: u32,
    surface_use: SurfaceUse,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let [one, two] = [one, two].map(|t| soup.element_of[t as usize]);
    let names = &soup.names;
    let what = format!(
        "the surface is one-sided like a Moebius strip: {} and {} cannot be oriented consistently",
        names.elements.name(one),
        names.elements.name(two)
    );
    if surface_use == SurfaceUse::Solid {
        let remedy = "A solid has an inside and an outside; remove or cut the twisted part";
        return Err(MeshError::Topology(Flaw::new(
            names.element_location(one),
            what,
            remedy,
        )));
    }
    report.add(Severity::Suspicious, names.element_location(one), what);
    Ok(())
}

/// The neighbours of each triangle; every edge has at most two triangles.
fn links(triangles: &[[u32; 3]]) -> Vec<[Option<Link>; 3]> {
    let mut links = vec![[None; 3]; triangles.len()];
    let halves = sorted_half_edges(triangles);
    for group in edge_groups(&halves) {
        if let [one, two] = group {
            let same_direction = one.ascends(triangles) == two.ascends(triangles);
            for (from, to) in [(one, two), (two, one)] {
                let link = Link {
                    to: to.triangle(),
                    same_direction,
                };
                links[from.triangle() as usize][(from.half % 3) as usize] = Some(link);
            }
        }
    }
    links
}

/// One closed, consistently oriented shell.
struct Shell {
    triangles: Vec<u32>,
    bounds: Bounds,
    volume: f64,
}

/// Flips shells that are oriented inwards, except cavities.
///
/// A shell inside an odd number of others is a cavity if it is oriented inwards, and is kept. If it is oriented
/// outwards it is probably a second body inside the first: it is kept and reported.
///
/// # Errors
/// [`MeshError::Element`] when a shell is oriented inwards and `orientation` forbids reordering.
pub(crate) fn orient_outward(
    soup: &mut Soup,
    orientation: Orientation,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let mut shells = shells(soup);
    let total: f64 = shells.iter().map(|shell| shell.volume).sum();
    if total < 0.0 {
        let all: Vec<usize> = (0..shells.len()).collect();
        let text = format!("all triangles were oriented inwards (signed volume {total:.6e} m3)");
        flip(soup, &mut shells, &all, &text, orientation, report)?;
    }
    if shells.len() == 1 {
        return Ok(());
    }
    let Some(depths) = depths(soup, &shells) else {
        let text = "too many closed shells are nested to distinguish bodies from cavities";
        report.add(Severity::Suspicious, soup.names.whole(), text);
        return Ok(());
    };
    let inside = |s: &usize| depths[*s] % 2 == 1;
    let inward: Vec<usize> = (0..shells.len())
        .filter(|s| !inside(s) && shells[*s].volume < 0.0)
        .collect();
    if !inward.is_empty() {
        let list = first_triangles(soup, &shells, &inward);
        let text = format!(
            "{} closed shells were oriented inwards, the first at: {list}",
            inward.len()
        );
        flip(soup, &mut shells, &inward, &text, orientation, report)?;
    }
    let nested: Vec<usize> = (0..shells.len())
        .filter(|s| inside(s) && shells[*s].volume > 0.0)
        .collect();
    if let Some(&first) = nested.first() {
        let at = soup
            .names
            .element_location(soup.element_of[shells[first].triangles[0] as usize]);
        let text = format!(
            "{} closed shells lie inside others, where volume counts twice, the first at: {}",
            nested.len(),
            first_triangles(soup, &shells, &nested)
        );
        report.add(Severity::Suspicious, at, text);
    }
    Ok(())
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

/// The number of other shells that contain each shell; `None` when computing it would take too long. A shell contains another if its box does, and
/// if it encloses one of its vertices.
fn depths(soup: &Soup, shells: &[Shell]) -> Option<Vec<u32>> {
    let boxes: Vec<Aabb> = shells
        .iter()
        .map(|shell| Aabb {
            mins: shell.bounds.min.into(),
            maxs: shell.bounds.max.into(),
        })
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut budget = SOLID_ANGLES_FREE + SOLID_ANGLES_PER_TRIANGLE_MAX * soup.triangles.len();
    let mut depths = Vec::with_capacity(shells.len());
    for (shell, s) in shells.iter().zip(0_u32..) {
        let point = soup.corners(shell.triangles[0])[0];
        let at = Aabb {
            mins: point.into(),
            maxs: point.into(),
        };
        let mut depth = 0;
        let others = tree.intersect_aabb(&at).filter(|other| *other != s);
        for other in others.map(|other| &shells[other as usize]) {
            let Bounds { min, max } = &shell.bounds;
            if !(other.bounds.contains(min) && other.bounds.contains(max)) {
                continue;
            }
            budget = budget.checked_sub(other.triangles.len())?;
            depth += u32::from(encloses(soup, other, &point));
        }
        depths.push(depth);
    }
    Some(depths)
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

/// Whether the shell winds around the point, in either direction. For a point on the shell itself, where bodies touch,
/// the solid angle is a fraction of 4π: a half on a face, an eighth in the corner of a box.
fn encloses(soup: &Soup, shell: &Shell, point: &Vector3<f64>) -> bool {
    let winding: f64 = shell
        .triangles
        .iter()
        .map(|t| solid_angle(point, soup.corners(*t)))
        .sum::<f64>()
        / (4.0 * PI);
    winding.abs() > 0.9
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
