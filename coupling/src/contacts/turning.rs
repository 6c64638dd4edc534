//! Friction that resists turning about a contact point: torsion about the normal, and rolling.
//!
//! Each is regularised Coulomb friction of the relative angular velocity ω, with the bound of a length times the normal impulse n0 of the
//! contact's friction bound:
//!
//! ```text
//! torsion  ‖τ‖ ≤ l_t n0 along n̂ n̂ᵀω,     rolling  ‖τ‖ ≤ l_r n0 along (I − n̂ n̂ᵀ)ω
//! ```
//!
//! They are laws of the lagged model without a normal force, whatever the model of the contact.
//!
//! Source: the friction of contacts of dimension 4 and 6 in Todorov, Erez, Tassa (2012), "MuJoCo"; there all friction of a contact shares
//! one elliptic cone, here each has its own bound.

use nalgebra::{Matrix3, Vector3};
use pliant_contact_sap::{
    ConstraintSet, ContactIdx, ContactLaw, ContactParameters, Dissipation, Lagged,
};

use super::record::ContactRecord;

/// What a law resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurningDirection {
    Torsion,
    Rolling,
}

impl TurningDirection {
    /// From ω to the vector whose part in the plane of the law is resisted.
    pub(super) fn projection(self, normal_W: &Vector3<f64>) -> Matrix3<f64> {
        match self {
            Self::Torsion => normal_W * normal_W.transpose(),
            Self::Rolling => Matrix3::identity(),
        }
    }

    /// Unit normal of the plane of the law.
    fn plane(self, normal_W: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Torsion => normal_W
                .cross(&Vector3::ith(normal_W.iamin(), 1.0))
                .normalize(),
            Self::Rolling => *normal_W,
        }
    }
}

/// Torsional or rolling friction of a contact in the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turning {
    pub(super) contact: ContactIdx,
    pub(super) law: TurningLaw,
}

/// What the law depends on, besides n0.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurningLaw {
    /// In units of turning: velocities in rad/s, inverse inertia in 1/(kg·m²), friction in m.
    parameters: ContactParameters,
    plane: Vector3<f64>,
    projection: Matrix3<f64>,
}

impl TurningLaw {
    pub(super) fn new(
        record: &ContactRecord,
        direction: TurningDirection,
        length: f64,
        delassus: &Matrix3<f64>,
    ) -> Self {
        let of_point = &record.inputs.parameters;
        let normal_W = &record.inputs.normal_W;
        let w = match direction {
            TurningDirection::Torsion => normal_W.dot(&(delassus * normal_W)),
            TurningDirection::Rolling => delassus.norm() / 3.0,
        };
        // What cannot turn needs no law; any positive number keeps it regular.
        let w = w.max(f64::MIN_POSITIVE);
        let parameters = ContactParameters {
            stiffness: 0.0,
            dissipation: Dissipation::HuntCrossley(0.0),
            friction: length,
            // The point at this speed, for a body of the size of its radius of gyration.
            stiction_speed: of_point.stiction_speed * (w / of_point.inverse_inertia).sqrt(),
            inverse_inertia: w,
            ..*of_point
        };
        Self {
            parameters,
            plane: direction.plane(normal_W),
            projection: direction.projection(normal_W),
        }
    }

    /// With n0 = `normal_impulse`, N·s.
    pub(super) fn law(&self, normal_impulse: f64) -> ContactLaw {
        ContactLaw::Lagged(Lagged::new(&self.parameters, self.plane, normal_impulse))
    }
}

impl Turning {
    /// Sets the bound to n0 = `normal_impulse`, N·s.
    pub(super) fn update(&self, normal_impulse: f64, set: &mut ConstraintSet) {
        *set.contact_law_mut(self.contact) = self.law.law(normal_impulse);
    }

    /// On A, N·m·s, from the impulses of all contacts of the set.
    pub(super) fn impulse(&self, impulses: &[f64]) -> Vector3<f64> {
        let first = 3 * self.contact.0;
        self.law.projection * Vector3::from_column_slice(&impulses[first..first + 3])
    }
}
