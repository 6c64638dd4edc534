//! The quantities that can be measured: names, units, components, and what they are measured of.

use nalgebra::Vector3;

use super::error::quoted_list;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Of a point of a body, m.
    Position,
    /// Of a body, rad.
    Orientation,
    /// Of a point of a body, m/s.
    Velocity,
    /// Of a body, rad/s.
    AngularVelocity,
    /// Of a joint, rad or m.
    JointPosition,
    /// Of a joint, rad/s or m/s.
    JointVelocity,
    /// What the actuator of a joint gave during the step, N·m or N.
    JointEffort,
    /// On something during the step, N.
    ContactForce,
    /// Contact points.
    ContactCount,
    /// Of the deepest contact, m.
    Penetration,
    /// Where the normal forces of contacts together act, m.
    CenterOfPressure,
    /// Of contact forces about their centre of pressure, N·m.
    ContactMoment,
    /// Of patches, m².
    PatchArea,
    /// Highest in patches, Pa.
    PatchPressure,
    /// J.
    KineticEnergy,
    /// J.
    PotentialEnergy,
    /// Of strain: of soft bodies and joint springs, J.
    ElasticEnergy,
    /// Kinetic and potential, J.
    Energy,
    /// kg·m/s.
    Momentum,
    /// About the world's origin, kg·m²/s.
    AngularMomentum,
    /// Of what moves, kg.
    Mass,
    /// Of a soft body or a region of one, from the start, m.
    Displacement,
    /// Least coordinate of a soft body or a region of one, m.
    Lowest,
    /// Greatest coordinate of a soft body or a region of one, m.
    Highest,
    /// Of a soft body, m³.
    Volume,
    /// Part of a soft body's mass in the heaviest of its pieces.
    FirstPiece,
    /// Part of a soft body's mass in the second heaviest of its pieces.
    SecondPiece,
    /// How often strands of rods have passed through each other.
    Passages,
    /// On the second body of a constraint during the step, N.
    ConstraintForce,
    /// Of the solver in the step.
    Iterations,
    /// Arithmetic of others.
    Expression,
}

/// What a quantity is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A body or link, which must be named; or a repeat, with `among`.
    Frame,
    /// A joint, which must be named.
    Joint,
    /// Anything that touches, by default everything.
    Touching,
    /// A body, model or repeat, by default everything.
    Mass,
    /// A soft body or one of its regions, which must be named; or copies, with `among`.
    Soft,
    /// A rod or copies of one, which must be named.
    Filament,
    /// A constraint, which must be named.
    Constraint,
    /// The whole.
    Whole,
}

/// A quantity as the documentation lists it.
#[derive(Clone, Copy, Debug)]
pub struct QuantityInfo {
    /// Which.
    pub quantity: Quantity,
    /// The word for it.
    pub name: &'static str,
    /// Its components, the default first; empty for a plain number.
    pub components: &'static [Component],
    /// What it is measured of.
    pub subject: Subject,
    /// Its unit.
    pub unit: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// Which number of a quantity that has several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Component {
    /// Length of the vector.
    Norm,
    /// World x.
    X,
    /// World y.
    Y,
    /// World z.
    Z,
    /// Along a unit vector, world axes.
    Along(Vector3<f64>),
    /// Sum of the forces along the contact normals.
    Normal,
    /// Length of what is left of the force without the normal parts.
    Tangential,
    /// Angle between the body's z axis and the world's.
    Tilt,
    /// Of roll, pitch, yaw.
    Roll,
    /// Of roll, pitch, yaw.
    Pitch,
    /// Of roll, pitch, yaw.
    Yaw,
}

impl Component {
    const WORDS: [(&'static str, Component); 10] = [
        ("norm", Component::Norm),
        ("x", Component::X),
        ("y", Component::Y),
        ("z", Component::Z),
        ("normal", Component::Normal),
        ("tangential", Component::Tangential),
        ("tilt", Component::Tilt),
        ("roll", Component::Roll),
        ("pitch", Component::Pitch),
        ("yaw", Component::Yaw),
    ];

    pub(super) fn word(self) -> &'static str {
        Self::WORDS
            .iter()
            .find(|(_, c)| *c == self)
            .map_or("along", |(word, _)| word)
    }
}

const AXES: &[Component] = &[Component::Z, Component::X, Component::Y];
const VECTOR: &[Component] = &[Component::Norm, Component::X, Component::Y, Component::Z];

/// Every quantity.
pub const QUANTITIES: [QuantityInfo; 31] = [
    QuantityInfo {
        quantity: Quantity::Position,
        name: "position",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "m",
        about: "of `point` on a body, link or frame; of a soft body's centre of mass, or the middle of a region's points",
    },
    QuantityInfo {
        quantity: Quantity::Orientation,
        name: "orientation",
        components: &[
            Component::Tilt,
            Component::Roll,
            Component::Pitch,
            Component::Yaw,
        ],
        subject: Subject::Frame,
        unit: "rad",
        about: "of a body, link or frame; `tilt` is the angle between its z axis and the world's",
    },
    QuantityInfo {
        quantity: Quantity::Velocity,
        name: "velocity",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "m/s",
        about: "of `point` on a body, link or frame; of a soft body's centre of mass, or the middle of a region's points",
    },
    QuantityInfo {
        quantity: Quantity::AngularVelocity,
        name: "angular-velocity",
        components: VECTOR,
        subject: Subject::Frame,
        unit: "rad/s",
        about: "of a body, link or frame",
    },
    QuantityInfo {
        quantity: Quantity::JointPosition,
        name: "joint-position",
        components: &[],
        subject: Subject::Joint,
        unit: "rad or m",
        about: "of a joint",
    },
    QuantityInfo {
        quantity: Quantity::JointVelocity,
        name: "joint-velocity",
        components: &[],
        subject: Subject::Joint,
        unit: "rad/s or m/s",
        about: "of a joint",
    },
    QuantityInfo {
        quantity: Quantity::JointEffort,
        name: "joint-effort",
        components: &[],
        subject: Subject::Joint,
        unit: "N·m or N",
        about: "what the joint's actuator gave during the last step",
    },
    QuantityInfo {
        quantity: Quantity::ContactForce,
        name: "contact-force",
        components: &[
            Component::Norm,
            Component::X,
            Component::Y,
            Component::Z,
            Component::Normal,
            Component::Tangential,
        ],
        subject: Subject::Touching,
        unit: "N",
        about: "on `of` from `with` during the last step; `normal` sums the forces along the contact normals, `tangential` is the length of the rest",
    },
    QuantityInfo {
        quantity: Quantity::ContactCount,
        name: "contact-count",
        components: &[],
        subject: Subject::Touching,
        unit: "",
        about: "contact points of `of` with `with` that carried a force in the last step",
    },
    QuantityInfo {
        quantity: Quantity::Penetration,
        name: "penetration",
        components: &[],
        subject: Subject::Touching,
        unit: "m",
        about: "of the deepest contact of `of` with `with` at the start of the last step, 0 without contact",
    },
    QuantityInfo {
        quantity: Quantity::CenterOfPressure,
        name: "center-of-pressure",
        components: VECTOR,
        subject: Subject::Touching,
        unit: "m",
        about: "of the contacts of `of` with `with`: mean place of the normal forces of the last step, weighed by them; no value without force",
    },
    QuantityInfo {
        quantity: Quantity::ContactMoment,
        name: "contact-moment",
        components: VECTOR,
        subject: Subject::Touching,
        unit: "N·m",
        about: "on `of` from `with` about the centre of pressure during the last step: friction against turning on the spot, and what curved patches give",
    },
    QuantityInfo {
        quantity: Quantity::PatchArea,
        name: "patch-area",
        components: &[],
        subject: Subject::Touching,
        unit: "m²",
        about: "of the patches of `of` with `with` when the last step began; contact in points has none",
    },
    QuantityInfo {
        quantity: Quantity::PatchPressure,
        name: "patch-pressure",
        components: &[],
        subject: Subject::Touching,
        unit: "Pa",
        about: "highest elastic pressure in the patches of `of` with `with` when the last step began, 0 without a patch",
    },
    QuantityInfo {
        quantity: Quantity::KineticEnergy,
        name: "kinetic-energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "of a body, model, repeat or soft body, or of everything",
    },
    QuantityInfo {
        quantity: Quantity::PotentialEnergy,
        name: "potential-energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "of gravity, joint springs and strain",
    },
    QuantityInfo {
        quantity: Quantity::ElasticEnergy,
        name: "elastic-energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "of strain and joint springs: the potential energy without gravity's",
    },
    QuantityInfo {
        quantity: Quantity::Energy,
        name: "energy",
        components: &[],
        subject: Subject::Mass,
        unit: "J",
        about: "kinetic and potential",
    },
    QuantityInfo {
        quantity: Quantity::Momentum,
        name: "momentum",
        components: VECTOR,
        subject: Subject::Mass,
        unit: "kg·m/s",
        about: "of a body, model or repeat, or of everything",
    },
    QuantityInfo {
        quantity: Quantity::AngularMomentum,
        name: "angular-momentum",
        components: VECTOR,
        subject: Subject::Mass,
        unit: "kg·m²/s",
        about: "about the world's origin",
    },
    QuantityInfo {
        quantity: Quantity::Mass,
        name: "mass",
        components: &[],
        subject: Subject::Mass,
        unit: "kg",
        about: "of what moves; for expressions such as the weight of a repeat",
    },
    QuantityInfo {
        quantity: Quantity::Displacement,
        name: "displacement",
        components: VECTOR,
        subject: Subject::Soft,
        unit: "m",
        about: "of the centre of mass, or of the middle of a region's points, from where it was at the start",
    },
    QuantityInfo {
        quantity: Quantity::Lowest,
        name: "lowest",
        components: AXES,
        subject: Subject::Soft,
        unit: "m",
        about: "least coordinate of its points along an axis of the world, or `along` a direction",
    },
    QuantityInfo {
        quantity: Quantity::Highest,
        name: "highest",
        components: AXES,
        subject: Subject::Soft,
        unit: "m",
        about: "greatest coordinate of its points along an axis of the world, or `along` a direction",
    },
    QuantityInfo {
        quantity: Quantity::Volume,
        name: "volume",
        components: &[],
        subject: Subject::Soft,
        unit: "m³",
        about: "of a soft body as it is deformed, what has flowed or opened included; what is inside out counts negative",
    },
    QuantityInfo {
        quantity: Quantity::FirstPiece,
        name: "first-piece",
        components: &[],
        subject: Subject::Soft,
        unit: "",
        about: "part of the mass in the heaviest piece of a body of material points; pieces are more than a grid cell apart; 1 of what is whole",
    },
    QuantityInfo {
        quantity: Quantity::SecondPiece,
        name: "second-piece",
        components: &[],
        subject: Subject::Soft,
        unit: "",
        about: "part of the mass in the second heaviest piece of a body of material points; pieces are more than a grid cell apart; 0 of what is whole",
    },
    QuantityInfo {
        quantity: Quantity::Passages,
        name: "passages",
        components: &[],
        subject: Subject::Filament,
        unit: "",
        about: "how often segments of the rod, or of all its copies, have passed through each other since the start: 0, unless contact was missed",
    },
    QuantityInfo {
        quantity: Quantity::ConstraintForce,
        name: "constraint-force",
        components: VECTOR,
        subject: Subject::Constraint,
        unit: "N",
        about: "of a constraint on its second body during the last step; of one that holds a region, the sum over its points",
    },
    QuantityInfo {
        quantity: Quantity::Iterations,
        name: "iterations",
        components: &[],
        subject: Subject::Whole,
        unit: "",
        about: "of the contact solver in the last step",
    },
    QuantityInfo {
        quantity: Quantity::Expression,
        name: "expression",
        components: &[],
        subject: Subject::Whole,
        unit: "",
        about: "arithmetic of other observables",
    },
];

impl Quantity {
    /// What the documentation says of it.
    pub fn info(self) -> &'static QuantityInfo {
        &QUANTITIES[self as usize]
    }
}

/// The quantities as a Markdown table.
pub fn quantities_markdown() -> String {
    let mut table =
        String::from("| quantity | unit | components | of | meaning |\n|---|---|---|---|---|\n");
    for info in &QUANTITIES {
        let words: Vec<&str> = info.components.iter().map(|c| c.word()).collect();
        let subject = match info.subject {
            Subject::Frame => "body, link, frame, soft body, region",
            Subject::Joint => "joint",
            Subject::Touching => "anything that touches",
            Subject::Mass => "body, model, repeat, soft body",
            Subject::Soft => "soft body, region",
            Subject::Filament => "rod",
            Subject::Constraint => "constraint",
            Subject::Whole => "",
        };
        table += &format!(
            "| `{}` | {} | {} | {subject} | {} |\n",
            info.name,
            info.unit,
            quoted_list(&words),
            info.about
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_stand_in_the_order_of_their_enum() {
        for (index, info) in QUANTITIES.iter().enumerate() {
            assert_eq!(info.quantity as usize, index);
            assert_eq!(info.quantity.info().name, info.name);
        }
    }
}
