//! Consistent orientation of the triangles of each shell.

use super::error::{Flaw, MeshError};
use super::options::{Orientation, SurfaceUse};
use super::report::{LoadReport, Severity};
use super::soup::Soup;
use super::topology::{edge_groups, sorted_half_edges};

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
