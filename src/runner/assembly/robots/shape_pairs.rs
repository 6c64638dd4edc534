//! Contact between the shapes of one robot: pairs of links without contact, and pairs of shapes whose contact the file prescribes.

use std::collections::BTreeSet;

use pliant_coupling::{BodyIdx, Exclusion, GeometryIdx, PairRule};
use pliant_multibody::{LinkIdx, Model, PairContact, ShapeIdx};

use super::super::Draft;

impl Draft<'_> {
    /// `shapes`: the geometries of each link, in the order of its collision shapes.
    pub(super) fn add_shape_pairs(
        &mut self,
        tree: &Model,
        body: BodyIdx,
        shapes: &[Vec<GeometryIdx>],
    ) {
        let geometry = |index: ShapeIdx| shapes[index.link.0][index.shape];
        let name = |index: ShapeIdx| &*tree.link(index.link).collisions[index.shape].name;
        let mut touching = BTreeSet::new();
        for pair in tree.shape_pairs() {
            let [a, b] = pair.shapes.map(geometry);
            let key = (a.min(b), a.max(b));
            match pair.contact {
                PairContact::Excluded => self.builder.exclude(Exclusion::Geometries(a, b)),
                PairContact::Friction(friction) => {
                    touching.insert(key);
                    let rule = self.turning_of_pair(&friction, key, pair.shapes.map(name));
                    let rule = PairRule {
                        friction: friction.sliding,
                        ..rule
                    };
                    self.file_rules.insert(key, rule);
                    &mut self.builder
                }
            };
        }
        let without = tree.adjacent_links().into_iter();
        for (a, b) in without.chain(tree.filtered_links()) {
            self.exclude_links(body, [a, b], shapes, &touching);
        }
        for &index in tree.shapes_of_pairs_only() {
            self.of_pairs_only.push(geometry(index));
        }
    }

    /// Excludes contact between two links, but not between the shapes of `touching`.
    fn exclude_links(
        &mut self,
        body: BodyIdx,
        links: [LinkIdx; 2],
        shapes: &[Vec<GeometryIdx>],
        touching: &BTreeSet<(GeometryIdx, GeometryIdx)>,
    ) {
        let [a, b] = links.map(|link| &shapes[link.0]);
        let all = a
            .iter()
            .flat_map(|&x| b.iter().map(move |&y| (x.min(y), x.max(y))));
        let (kept, excluded): (Vec<_>, Vec<_>) = all.partition(|pair| touching.contains(pair));
        if kept.is_empty() {
            let [a, b] = links.map(|link| (body, link.0 as u32));
            self.builder.exclude(Exclusion::Frames(a, b));
            return;
        }
        for (x, y) in excluded {
            self.builder.exclude(Exclusion::Geometries(x, y));
        }
    }
}
