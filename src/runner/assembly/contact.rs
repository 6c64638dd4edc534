//! Pairs without contact, and pairs with contact parameters of their own.

use pliant_coupling::{Anisotropy, Exclusion, GeometryIdx, PairRule};

use super::Draft;
use crate::scene::{FilterEntry, NamedReference, PairEntry, SOFT_INSTEAD, SceneError, SceneFault};

/// Two shapes and their kind of contact.
type PairOfShapes = ((GeometryIdx, GeometryIdx), PairRule);

impl Draft<'_> {
    pub(super) fn add_pairs(&mut self) -> Result<(), SceneError> {
        for filter in &self.scene.filters {
            let (at, excluded) = match filter {
                FilterEntry::Between([a, b]) => {
                    let geometries = &self.directory;
                    let (of_a, of_b) = (
                        geometries.geometries(self.scene, a)?,
                        geometries.geometries(self.scene, b)?,
                    );
                    (a.at, self.exclude(&of_a, &of_b))
                }
                FilterEntry::Within(list) => {
                    let mut all = Vec::new();
                    for reference in list {
                        all.extend(self.directory.geometries(self.scene, reference)?);
                    }
                    (list[0].at, self.exclude(&all, &all))
                }
            };
            if excluded == 0 {
                return Err(self.idle(at, "[[filters]]", "filter"));
            }
        }
        self.isolate_shapes_of_pairs();
        // If several entries name the same two shapes, the last one holds.
        let mut rules = std::mem::take(&mut self.file_rules);
        for (k, pair) in self.scene.pairs.iter().enumerate() {
            if let Some(first) = self.scene.pairs[..k].iter().find(|p| same_names(p, pair)) {
                let line = self.line(&first.between[0]);
                let fault = SceneFault::Conflict {
                    table: "[[pairs]]".into(),
                    reason: format!(
                        "the contact of {:?} and {:?} is described in line {line} already; keep one of the two",
                        pair.between[0].name, pair.between[1].name
                    ),
                };
                return Err(self.scene.text.error(pair.between[0].at, fault));
            }
            let pair_rules = self.pair(pair)?;
            if pair_rules.is_empty() {
                return Err(self.idle(pair.between[0].at, "[[pairs]]", "pair"));
            }
            for (shapes, rule) in pair_rules {
                let of_file = rules.get(&shapes).copied().unwrap_or_default();
                let rule = PairRule {
                    friction: rule.friction.or(of_file.friction),
                    torsional_friction: rule.torsional_friction.or(of_file.torsional_friction),
                    rolling_friction: rule.rolling_friction.or(of_file.rolling_friction),
                    ..rule
                };
                rules.insert(shapes, rule);
            }
        }
        for ((a, b), rule) in rules {
            self.builder.pair_rule(a, b, rule);
        }
        Ok(())
    }

    /// Excludes shapes that touch in pairs of their file only from all other contact.
    fn isolate_shapes_of_pairs(&mut self) {
        for only in std::mem::take(&mut self.of_pairs_only) {
            for other in (0..self.directory.owners.len()).map(GeometryIdx) {
                let pair = (only.min(other), only.max(other));
                if !self.file_rules.contains_key(&pair) && self.can_touch(only, other) {
                    self.builder.exclude(Exclusion::Geometries(pair.0, pair.1));
                }
            }
        }
    }

    /// The rule of an entry for each pair of its shapes.
    fn pair(&self, pair: &PairEntry) -> Result<Vec<PairOfShapes>, SceneError> {
        let a = self.directory.geometries(self.scene, &pair.between[0])?;
        let b = self.directory.geometries(self.scene, &pair.between[1])?;
        let given = &pair.surface;
        let mut named = pair.between.iter();
        let soft = named.find(|reference| self.directory.is_soft(reference));
        if let (Some(soft), Some((name, value))) = (soft, given.of_rigid_only()) {
            let fault = SceneFault::Conflict {
                table: "[[pairs]]".into(),
                reason: format!(
                    "`{name} = {value}` {SOFT_INSTEAD}, and {:?} is soft; drop it",
                    soft.name
                ),
            };
            return Err(self.scene.text.error(soft.at, fault));
        }
        let rule = PairRule {
            stiffness: given.stiffness,
            dissipation: given.dissipation,
            relaxation_time_s: given.relaxation_time_s,
            friction: given.friction,
            restitution: given.restitution,
            torsional_friction: given.torsional_friction,
            rolling_friction: given.rolling_friction,
            adhesion: pair.adhesion,
            static_friction: pair.static_friction,
            stiffness_per_area: pair.stiffness_per_area,
            anisotropy: None,
            edges: pair.edges.unwrap_or_default(),
            choice: pair.kind,
        };
        let mut rules = Vec::new();
        for &a in &a {
            for &b in b.iter().filter(|&&b| self.can_touch(a, b)) {
                let anisotropy = pair.anisotropy.map(|along| Anisotropy {
                    of: a,
                    direction: along.direction,
                    friction: along.friction,
                });
                let rule = PairRule { anisotropy, ..rule };
                rules.push(((a.min(b), a.max(b)), rule));
            }
        }
        Ok(rules)
    }

    /// Shapes of one body, and two fixed shapes, have no contact.
    fn can_touch(&self, a: GeometryIdx, b: GeometryIdx) -> bool {
        self.directory.owners[a.0] != self.directory.owners[b.0]
    }

    /// Excludes contact between `a` and `b`; returns how many pairs this affects.
    pub(super) fn exclude(&mut self, a: &[GeometryIdx], b: &[GeometryIdx]) -> usize {
        let mut excluded = 0;
        for &a in a {
            for &b in b {
                if self.can_touch(a, b) {
                    self.builder
                        .exclude(Exclusion::Geometries(a.min(b), a.max(b)));
                    excluded += 1;
                }
            }
        }
        excluded
    }

    fn idle(&self, at: crate::scene::SourceLocation, table: &str, what: &str) -> SceneError {
        let fault = SceneFault::Conflict {
            table: table.into(),
            reason: format!(
                "nothing of what it names ever touches, for it is one body, or stands in the world; name two things that move against each other, or drop the {what}"
            ),
        };
        self.scene.text.error(at, fault)
    }

    fn line(&self, reference: &NamedReference) -> usize {
        self.scene.text.line_and_column(reference.at.start).0
    }
}

fn same_names(a: &PairEntry, b: &PairEntry) -> bool {
    let names = |pair: &PairEntry, k: usize| pair.between[k].name.clone();
    let (a0, a1) = (names(a, 0), names(a, 1));
    let (b0, b1) = (names(b, 0), names(b, 1));
    (a0 == b0 && a1 == b1) || (a0 == b1 && a1 == b0)
}
