//! Contacts at internal edges: on a part of a shape that its flush neighbours cover.
//!
//! A neighbour is any shape that the touching geometry may touch as well: of the same body, of another or of the world. Where it covers
//! the touched surface, the touching geometry meets the neighbour first.

use pliant_hydroelastic::{
    GeometryIdx as ProxyIdx, MaterialPoint, Proxy, RigidShape, Shape, Twist, is_exposed, is_faced,
};

use super::{Collision, PairContact};
use crate::world::{Geometry, World};

/// A shape that turns by more than this until a contact closes (rad) is not examined: it has the contact's normal only then.
const TURN_MAX: f64 = 0.01;

/// How far bounds of a neighbour may be from the point (of the smaller size of both): bodies that lie flush have a gap of round-off.
const GAP: f64 = 1e-3;

/// Workspace of the search.
#[derive(Debug, Default)]
pub(super) struct InternalEdges {
    /// Geometries paired with each geometry by the broad phase.
    partners: Lists,
    /// Geometries on each body.
    on_body: Lists,
    /// Those that may cover the point examined.
    neighbours: Vec<usize>,
}

/// A list for each index, all in one array.
#[derive(Debug, Default)]
struct Lists {
    ends: Vec<usize>,
    items: Vec<usize>,
}

impl Lists {
    /// The lists of `n` indices from entries (index, item).
    fn fill(&mut self, n: usize, entries: impl Iterator<Item = (usize, usize)> + Clone) {
        self.ends.clear();
        self.ends.resize(n + 1, 0);
        for (index, _) in entries.clone() {
            self.ends[index + 1] += 1;
        }
        for i in 0..n {
            self.ends[i + 1] += self.ends[i];
        }
        self.items.clear();
        self.items.resize(self.ends[n], 0);
        // Each start moves to the end of its list as the list fills up.
        for (index, item) in entries {
            self.items[self.ends[index]] = item;
            self.ends[index] += 1;
        }
    }

    fn of(&self, index: usize) -> &[usize] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[index]]
    }
}

/// One side of a contact: the geometry touched, where, and the geometry that touches it.
struct Touch<'a> {
    touched: usize,
    at: &'a MaterialPoint,
    /// From `touched` to `by`.
    outwards: f64,
    by: usize,
}

/// What the geometries are, and where.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) collision: &'a Collision,
    pub(super) world: &'a World,
    pub(super) proxies: &'a [Proxy],
    /// From the broad phase, in its order.
    pub(super) pairs: &'a [(ProxyIdx, ProxyIdx)],
    pub(super) time_step_s: f64,
}

impl<'a> Placed<'a> {
    fn geometries(&self) -> &'a [Geometry] {
        &self.world.parts.geometries
    }

    fn shape(&self, g: usize) -> Option<RigidShape<'a>> {
        let shape = self.geometries()[g].shape.as_ref()?;
        Some(RigidShape::at_rest(shape, self.collision.poses[g]))
    }

    /// The angle by which a geometry turns until the contact closes, rad.
    fn turn_until(&self, contact: &PairContact, g: usize) -> f64 {
        let turning = self.collision.twists[g].angular.norm();
        turning * contact.point.entry * self.time_step_s
    }

    fn is_pair(&self, a: usize, b: usize) -> bool {
        let pair = (a.min(b) as u32, a.max(b) as u32);
        let found = self.pairs.binary_search_by_key(&pair, |(a, b)| (a.0, b.0));
        found.is_ok()
    }
}

impl InternalEdges {
    /// Removes the contacts that are not on an exposed surface; the others keep their order.
    pub(super) fn drop_from(&mut self, placed: Placed<'_>, contacts: &mut Vec<PairContact>) {
        if contacts.is_empty() {
            return;
        }
        let geometries = placed.geometries();
        let pairs = placed.pairs.iter();
        let pairs = pairs.map(|(a, b)| (a.0 as usize, b.0 as usize));
        let both = pairs.flat_map(|(a, b)| [(a, b), (b, a)]);
        self.partners.fill(geometries.len(), both);
        let mounted = geometries.iter().enumerate();
        let mounted = mounted.filter_map(|(g, on)| Some((on.mount.body()?.0, g)));
        self.on_body.fill(placed.world.parts.bodies.len(), mounted);
        contacts.retain(|contact| {
            let (a, b) = (contact.a.0, contact.b.0);
            let point = &contact.point;
            let sides = [(a, &point.a, -1.0, b), (b, &point.b, 1.0, a)];
            sides.into_iter().all(|(touched, at, outwards, by)| {
                let touch = Touch {
                    touched,
                    at,
                    outwards,
                    by,
                };
                self.is_exposed(placed, contact, &touch)
            })
        });
    }

    fn is_exposed(&mut self, placed: Placed<'_>, contact: &PairContact, touch: &Touch<'_>) -> bool {
        let Some(touched) = placed.shape(touch.touched) else {
            return true;
        };
        if placed.turn_until(contact, touch.touched) > TURN_MAX {
            return true;
        }
        let p_W = placed.collision.poses[touch.touched] * nalgebra::Point3::from(touch.at.offset);
        let outwards = contact.point.normal_W * touch.outwards;
        let on_mesh_ahead = match touched.shape {
            Shape::HalfSpace => return true,
            // Ahead of a face contact is with what a mesh shows. Parts of a closed mesh that flies are all exposed.
            Shape::Mesh(_) => {
                contact.point.entry > 0.0
                    && placed.collision.twists[touch.touched] == Twist::zero()
                    && !is_faced(&touched, &p_W, &outwards)
            }
            _ => false,
        };
        let own = touched.shape.size();
        let size = match &placed.geometries()[touch.by].shape {
            Some(shape) if shape.size() > 0.0 => shape.size(),
            _ => own,
        };
        let gap = GAP * size.min(own);
        let covers = |g: &usize| {
            let bounds = match &placed.proxies[*g] {
                Proxy::Box(bounds) => bounds.inflated(gap).contains(&p_W),
                Proxy::HalfSpace { .. } | Proxy::Anywhere => true,
            };
            bounds && *g != touch.touched && placed.geometries()[*g].shape.is_some()
        };
        self.neighbours.clear();
        self.neighbours
            .extend(on_mesh_ahead.then_some(touch.touched));
        // The shorter list: a floor may have a thousand partners.
        let partners = self.partners.of(touch.by);
        let body = placed.geometries()[touch.touched].mount.body();
        let beside = body.map(|body| [self.on_body.of(body.0), self.partners.of(touch.touched)]);
        match beside {
            Some([welded, met]) if welded.len() + met.len() < partners.len() => {
                let all = welded.iter().chain(met);
                let met = all.filter(|g| covers(g) && placed.is_pair(**g, touch.by));
                self.neighbours.extend(met.copied());
            }
            _ => self
                .neighbours
                .extend(partners.iter().copied().filter(covers)),
        }
        if self.neighbours.is_empty() {
            return true;
        }
        let neighbours = self.neighbours.iter().filter_map(|&g| placed.shape(g));
        is_exposed(&touched, &p_W, &outwards, neighbours, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_hold_the_items_of_their_index_in_order() {
        let mut lists = Lists::default();
        for _ in 0..2 {
            lists.fill(4, [(2, 7), (0, 3), (2, 5), (3, 1)].into_iter());
            let all = [0, 1, 2, 3].map(|i| lists.of(i).to_vec());
            assert_eq!(all, [vec![3], vec![], vec![7, 5], vec![1]]);
        }
    }
}
