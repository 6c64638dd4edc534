//! Repair of surfaces with superfluous triangles, where only one repair makes a closed surface.
//!
//! | superfluous | of a solid |
//! |---|---|
//! | copies of a triangle, in either order of its corners | one is kept |
//! | two triangles of the same corners in opposite order, between two closed parts: a wall of no thickness | neither is kept |
//! | triangles with an open edge, up to a hundredth of the area: fins, loose triangles | none is kept |
//!
//! The surface is left as it is if no such repair closes it, or if two different ones do.

use super::names::Names;
use super::report::{LoadReport, Severity};
use super::soup::Soup;
use super::topology::{edge_groups, sorted_half_edges};
use std::collections::{BTreeMap, HashMap};

/// Fraction of the area that triangles with open edges may have to be dropped: more of them are a surface with a hole.
const LOOSE_AREA_MAX: f64 = 0.01;

/// Triangles with the same corners: indices in ascending order, and whether each has the order of the first.
type Copies = Vec<(u32, bool)>;

/// Drops superfluous triangles of a solid.
pub(super) fn close(soup: &mut Soup, report: &mut LoadReport) {
    let copies = copies(&soup.triangles);
    let has_copies = copies.iter().any(|group| group.len() > 1);
    if !has_copies && is_closed(&soup.triangles) {
        return;
    }
    let singles = kept(soup.triangles.len(), &copies, |_| true);
    let without_walls = kept(soup.triangles.len(), &copies, |group| {
        let forward = group.iter().filter(|(_, same)| *same).count();
        2 * forward != group.len()
    });
    let candidates = [singles, without_walls];
    let trimmed = candidates.each_ref().map(|keep| without_loose(soup, keep));
    let closes = |keep: &Vec<bool>| {
        let rest = chosen(&soup.triangles, keep);
        !rest.is_empty() && is_closed(&rest)
    };
    for round in [candidates.to_vec(), trimmed.into_iter().flatten().collect()] {
        let mut closed: Vec<Vec<bool>> = round.into_iter().filter(closes).collect();
        closed.dedup();
        match &closed[..] {
            [] => {}
            [keep] => return drop_others(soup, &copies, keep, report),
            _ => return,
        }
    }
}

/// Keeps one of the triangles with the same corners. For a thin sheet, copies have no meaning.
pub(super) fn drop_copies(soup: &mut Soup, report: &mut LoadReport) {
    let copies = copies(&soup.triangles);
    let keep = kept(soup.triangles.len(), &copies, |_| true);
    drop_others(soup, &copies, &keep, report);
}

fn copies(triangles: &[[u32; 3]]) -> Vec<Copies> {
    let mut groups: BTreeMap<[u32; 3], Copies> = BTreeMap::new();
    for (triangle, t) in triangles.iter().zip(0_u32..) {
        let mut key = *triangle;
        key.sort_unstable();
        // The smallest corner first: then the order of the other two tells the sides apart.
        let least = triangle.iter().position(|corner| *corner == key[0]);
        let second = triangle[(least.unwrap_or(0) + 1) % 3];
        let group = groups.entry(key).or_default();
        group.push((t, second == key[1]));
    }
    groups.into_values().collect()
}

/// The first triangle of each group that `counts` accepts, and every triangle without copies.
fn kept(n: usize, copies: &[Copies], counts: impl Fn(&Copies) -> bool) -> Vec<bool> {
    let mut keep = vec![false; n];
    for group in copies
        .iter()
        .filter(|group| group.len() == 1 || counts(group))
    {
        keep[group[0].0 as usize] = true;
    }
    keep
}

fn chosen(triangles: &[[u32; 3]], keep: &[bool]) -> Vec<[u32; 3]> {
    let pairs = triangles.iter().zip(keep);
    pairs.filter_map(|(t, keep)| keep.then_some(*t)).collect()
}

fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let halves = sorted_half_edges(triangles);
    edge_groups(&halves).all(|group| group.len() == 2)
}

/// Without triangles that have an open edge, until none is left; `None` if their area is too large.
fn without_loose(soup: &Soup, before: &[bool]) -> Option<Vec<bool>> {
    let mut keep = before.to_vec();
    let sides = |t: u32| {
        let [a, b, c] = soup.triangles[t as usize];
        [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)])
    };
    let mut around: HashMap<[u32; 2], Vec<u32>> = HashMap::new();
    for t in (0..keep.len() as u32).filter(|t| keep[*t as usize]) {
        sides(t)
            .into_iter()
            .for_each(|side| around.entry(side).or_default().push(t));
    }
    let mut open: Vec<u32> = around
        .values()
        .filter(|all| all.len() == 1)
        .map(|all| all[0])
        .collect();
    while let Some(t) = open.pop() {
        if !std::mem::replace(&mut keep[t as usize], false) {
            continue;
        }
        for side in sides(t) {
            let left = around.get_mut(&side)?;
            left.retain(|other| *other != t);
            if let [last] = left[..] {
                open.push(last);
            }
        }
    }
    let area = |t: usize| {
        let [a, b, c] = soup.corners(t as u32);
        (b - a).cross(&(c - a)).norm()
    };
    let (mut loose, mut all) = (0.0, 0.0);
    for t in 0..keep.len() {
        all += area(t);
        loose += if before[t] && !keep[t] { area(t) } else { 0.0 };
    }
    (loose <= LOOSE_AREA_MAX * all).then_some(keep)
}

fn drop_others(soup: &mut Soup, copies: &[Copies], keep: &[bool], report: &mut LoadReport) {
    let (mut doubled, mut walls, mut loose) = (Vec::new(), Vec::new(), Vec::new());
    for group in copies {
        let is_kept = group.iter().any(|(t, _)| keep[*t as usize]);
        let dropped = group.iter().map(|(t, _)| *t).filter(|t| !keep[*t as usize]);
        match (is_kept, group.len()) {
            (true, _) => doubled.extend(dropped),
            (false, 1) => loose.extend(dropped),
            (false, _) => walls.extend(dropped),
        }
    }
    let kinds = [
        (doubled, "triangles with the same corners as others"),
        (walls, "triangles of walls without thickness"),
        (loose, "loose triangles with an open edge"),
    ];
    for (mut dropped, what) in kinds {
        dropped.sort_unstable();
        let Some(&first) = dropped.first() else {
            continue;
        };
        let names: &Names = &soup.names;
        let list = names.element_list(&soup.elements(&dropped));
        let text = format!("{} {what} were dropped: {list}", dropped.len());
        let at = names.element_location(soup.element_of[first as usize]);
        report.add(Severity::Repaired, at, text);
    }
    soup.keep_triangles(keep);
}
