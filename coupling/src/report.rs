//! What a step did: forces, points, wrenches, reactions, and whether they can be trusted.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{ConstraintLabel, SolveReport};

use crate::world::{BodyIdx, GeometryIdx, TieIdx};

/// What a step did.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// What the solver did, the re-solves of the step summed up.
    pub solve: SolveReport,
    /// Velocities solved for.
    pub n_dofs: usize,
    /// Every contact in the problem, those without force included; sorted by pair.
    pub contacts: Vec<ContactForce>,
    /// Impulse of every scalar row, as a force.
    pub rows: Vec<RowForce>,
    /// Anything doubtful, in words that name the place.
    pub warnings: Vec<String>,
}

/// One contact point and its force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B.
    pub b: GeometryIdx,
    /// Where the force acts, world frame.
    pub p_WC: Point3<f64>,
    /// Unit normal from B into A, world axes.
    pub normal_W: Vector3<f64>,
    /// Force on A, N, world axes; on B it is the negative.
    pub force_W: Vector3<f64>,
    /// φ at the start of the step, m, negative in penetration.
    pub signed_distance: f64,
}

/// Force of a scalar row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowForce {
    /// Whose row it is.
    pub owner: RowOwner,
    /// What it stands for.
    pub label: ConstraintLabel,
    /// N or N·m, along the row's velocity.
    pub force: f64,
}

/// Whose row it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// A body's own constraint.
    Body(BodyIdx),
    /// A tie.
    Tie(TieIdx),
}

/// A force and a moment about a stated point, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N.
    pub force: Vector3<f64>,
    /// N·m.
    pub torque: Vector3<f64>,
}

impl StepReport {
    /// Whether the step can be believed: the solver met its tolerance or the limit of f64.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.solve.is_trusted()
    }

    /// The contacts between two geometries, in either order.
    pub fn contacts_between(
        &self,
        first: GeometryIdx,
        second: GeometryIdx,
    ) -> impl Iterator<Item = &ContactForce> {
        self.contacts
            .iter()
            .filter(move |c| (c.a, c.b) == (first, second) || (c.b, c.a) == (first, second))
    }

    /// Wrench about `p_WO` of all contact on the geometries that `belongs` accepts, from those it does not.
    pub fn contact_wrench(
        &self,
        p_WO: &Point3<f64>,
        belongs: impl Fn(GeometryIdx) -> bool,
    ) -> Wrench {
        let mut sum = Wrench::default();
        for contact in &self.contacts {
            let force = match (belongs(contact.a), belongs(contact.b)) {
                (true, false) => contact.force_W,
                (false, true) => -contact.force_W,
                _ => continue,
            };
            sum.force += force;
            sum.torque += (contact.p_WC - p_WO).cross(&force);
        }
        sum
    }
}
