//! Torsional and rolling friction that robot files prescribe. They resist turning at contact points, which penalty forces and contact
//! patches do not have: there they are left out, and a note says so.

use pliant_coupling::{GeometryIdx, PairRule};
use pliant_multibody::{Model, PairContact, PairFriction, ProximityProperties};

use super::super::Draft;
use crate::scene::Surface;

impl Draft<'_> {
    /// Whether the stepper of the scene has resistance to turning.
    fn resists_turning(&self) -> bool {
        self.scene.stepper.name() != "penalty-force"
    }

    /// Notes that the stepper leaves out torsional and rolling friction of `tree`, if its file has any.
    pub(super) fn note_idle_turning(&mut self, name: &str, tree: &Model) {
        let of_shape = |given: &ProximityProperties| {
            acts(given.torsional_friction) || acts(given.rolling_friction)
        };
        let mut shapes = tree.links().iter().flat_map(|link| &link.collisions);
        let of_pair = |contact: &PairContact| match contact {
            PairContact::Excluded => false,
            PairContact::Friction(pair) => acts(pair.torsional) || acts(pair.rolling),
        };
        let mut pairs = tree.shape_pairs().iter();
        if !self.resists_turning()
            && (shapes.any(|shape| of_shape(&shape.proximity))
                || pairs.any(|pair| of_pair(&pair.contact)))
        {
            self.notes.push(format!(
                "{name}: torsional and rolling friction of the file do nothing with penalty forces; take another stepper"
            ));
        }
    }

    /// `surface` of a robot's shape with the torsional and rolling friction of its file, where they act.
    pub(super) fn with_turning(
        &mut self,
        surface: Surface,
        given: &ProximityProperties,
        has_patch: bool,
        geometry: &str,
    ) -> Surface {
        let (torsional, rolling) = (given.torsional_friction, given.rolling_friction);
        if !self.resists_turning() || !(acts(torsional) || acts(rolling)) {
            return surface;
        }
        if has_patch {
            self.notes.push(format!(
                "{geometry}: torsional and rolling friction of the file do nothing, for the shape has a contact patch; make it `hydroelastic = \"absent\"`"
            ));
            return surface;
        }
        Surface {
            torsional_friction: torsional.or(surface.torsional_friction),
            rolling_friction: rolling.or(surface.rolling_friction),
            ..surface
        }
    }

    /// The torsional and rolling friction of two shapes of a robot as a rule, where they act. Two shapes with patches touch in a patch.
    pub(super) fn turning_of_pair(
        &mut self,
        friction: &PairFriction,
        (a, b): (GeometryIdx, GeometryIdx),
        names: [&str; 2],
    ) -> PairRule {
        if !self.resists_turning() {
            return PairRule::default();
        }
        if self.with_patch.contains(&a) && self.with_patch.contains(&b) {
            if acts(friction.torsional) || acts(friction.rolling) {
                self.notes.push(format!(
                    "{} and {}: torsional and rolling friction of the file do nothing, for both have contact patches",
                    names[0], names[1]
                ));
            }
            return PairRule::default();
        }
        PairRule {
            torsional_friction: friction.torsional,
            rolling_friction: friction.rolling,
            ..PairRule::default()
        }
    }
}

fn acts(length: Option<f64>) -> bool {
    length.is_some_and(|length| length > 0.0)
}
