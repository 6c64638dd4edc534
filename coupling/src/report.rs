//! What a step did: forces, points, wrenches, reactions, and whether they can be trusted.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{ConstraintLabel, RowKind};
use pliant_hydroelastic::PatchShare;

use crate::adaptive::AdaptiveReport;
use crate::asynchronous::AsynchronousReport;
use crate::convergence::{Convergence, Untrusted};
use crate::penalty_force::PenaltyForceReport;
use crate::world::{BodyIdx, ConstraintIdx, GeometryIdx};

/// What a step did. Forces are means over the step: impulses divided by δt.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// How far the iterations converged.
    pub convergence: Convergence,
    /// How an [`Adaptive`](crate::Adaptive) stepper divided the step; `None` for other steppers.
    pub adaptive: Option<AdaptiveReport>,
    /// The substeps of an [`Asynchronous`](crate::Asynchronous) stepper; `None` for other steppers.
    pub asynchronous: Option<AsynchronousReport>,
    /// The force balance of a [`PenaltyForce`](crate::PenaltyForce) stepper; `None` for other steppers.
    pub penalty_force: Option<PenaltyForceReport>,
    /// Velocities solved for.
    pub n_dofs: usize,
    /// Every contact in the problem, those without force included; sorted by pair. [`StepReport::pairs`] sums them up.
    pub contacts: Vec<ContactForce>,
    /// Force of every scalar row: limits, actuators, dry friction and couplers of bodies, rows of constraints.
    pub rows: Vec<RowForce>,
    /// Wrench of every constraint that holds, in the order of their index.
    pub constraints: Vec<ConstraintForce>,
    /// Warnings of bodies and of contact patches, and why the step is untrusted.
    pub warnings: Vec<String>,
}

/// One contact point and its force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B; A itself where a surface touches itself.
    pub b: GeometryIdx,
    /// Where the force acts on A, world frame, at the start of the step.
    pub p_WCa: Point3<f64>,
    /// Where its reaction acts on B: the same place, unless the sides only meet within the step.
    pub p_WCb: Point3<f64>,
    /// Unit normal from B into A, world axes.
    pub normal_W: Vector3<f64>,
    /// Force on A, N, world axes; on B it is the negative.
    pub force_W: Vector3<f64>,
    /// φ at the start of the step, m, negative in penetration.
    pub signed_distance: f64,
    /// What part of a patch it stands for, at the start of the step; `None` in point contact.
    pub patch: Option<PatchShare>,
}

/// All contacts of one pair of geometries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairForce<'a> {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B, not before A.
    pub b: GeometryIdx,
    /// Its contacts, at least one, those without force included.
    pub contacts: &'a [ContactForce],
}

/// Force of a scalar row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowForce {
    /// Whose row it is.
    pub owner: RowOwner,
    /// What it stands for.
    pub label: ConstraintLabel,
    /// N or N·m, along the row's velocity: along the joint's own for lower limits, actuators, dry friction and the
    /// follower of a coupler, against it for upper limits. Limits only push, so theirs is never negative.
    pub force: f64,
}

/// Whose row it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// A body's own constraint.
    Body(BodyIdx),
    /// A constraint.
    Constraint(ConstraintIdx),
}

/// What a constraint exerts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintForce {
    /// The constraint.
    pub constraint: ConstraintIdx,
    /// Where it acts, at the start of the step, world frame: the midpoint of its anchors; where one is a material point, that.
    pub p_WO: Point3<f64>,
    /// On the body of its end A, about that point; on end B it is the negative.
    pub on_a: Wrench,
}

/// A force and a moment about a stated point, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N.
    pub force: Vector3<f64>,
    /// N·m.
    pub torque: Vector3<f64>,
}

impl Wrench {
    /// Adds a force at `p_WQ`; the moment is about `p_WO`.
    pub fn add_force(&mut self, force: Vector3<f64>, p_WQ: &Point3<f64>, p_WO: &Point3<f64>) {
        self.force += force;
        self.torque += (p_WQ - p_WO).cross(&force);
    }
}

impl PairForce<'_> {
    /// Sum of the forces on A, N, world axes; on B it is the negative.
    #[must_use]
    pub fn force_on_a(&self) -> Vector3<f64> {
        self.contacts.iter().map(|c| c.force_W).sum()
    }

    /// Area of their patch at the start of the step, m²; 0 in point contact.
    #[must_use]
    pub fn patch_area(&self) -> f64 {
        self.patch_shares().map(|share| share.area).sum()
    }

    /// Highest elastic pressure in their patch at the start of the step, Pa; 0 in point contact.
    #[must_use]
    pub fn pressure_max(&self) -> f64 {
        let pressures = self.patch_shares().map(|share| share.pressure_max);
        pressures.fold(0.0, f64::max)
    }

    fn patch_shares(&self) -> impl Iterator<Item = PatchShare> + '_ {
        self.contacts.iter().filter_map(|contact| contact.patch)
    }

    /// Wrench on A about `p_WO`.
    #[must_use]
    pub fn wrench_on_a(&self, p_WO: &Point3<f64>) -> Wrench {
        let mut sum = Wrench::default();
        for contact in self.contacts {
            sum.add_force(contact.force_W, &contact.p_WCa, p_WO);
        }
        sum
    }

    /// Wrench on B about `p_WO`.
    #[must_use]
    pub fn wrench_on_b(&self, p_WO: &Point3<f64>) -> Wrench {
        let mut sum = Wrench::default();
        for contact in self.contacts {
            sum.add_force(-contact.force_W, &contact.p_WCb, p_WO);
        }
        sum
    }
}

impl StepReport {
    /// Whether everything converged: [`StepReport::untrusted`] is `None`.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.untrusted().is_none()
    }

    /// Why the step is untrusted: see [`Convergence::untrusted`].
    #[must_use]
    pub fn untrusted(&self) -> Option<Untrusted> {
        self.convergence.untrusted()
    }

    /// Every pair of geometries in contact, ascending.
    pub fn pairs(&self) -> impl Iterator<Item = PairForce<'_>> {
        let pairs = self.contacts.chunk_by(|x, y| (x.a, x.b) == (y.a, y.b));
        pairs.map(|contacts| PairForce {
            a: contacts[0].a,
            b: contacts[0].b,
            contacts,
        })
    }

    /// The contacts of two geometries, in either order; `None` if there are none. The earlier geometry is A.
    #[must_use]
    pub fn pair(&self, first: GeometryIdx, second: GeometryIdx) -> Option<PairForce<'_>> {
        let (a, b) = (first.min(second), first.max(second));
        let from = self.contacts.partition_point(|c| (c.a, c.b) < (a, b));
        let to = self.contacts.partition_point(|c| (c.a, c.b) <= (a, b));
        (from < to).then(|| PairForce {
            a,
            b,
            contacts: &self.contacts[from..to],
        })
    }

    /// Wrench about `p_WO` of all contact on the geometries that `belongs` accepts, from those it does not.
    pub fn contact_wrench(
        &self,
        p_WO: &Point3<f64>,
        belongs: impl Fn(GeometryIdx) -> bool,
    ) -> Wrench {
        let mut sum = Wrench::default();
        for contact in &self.contacts {
            match (belongs(contact.a), belongs(contact.b)) {
                (true, false) => sum.add_force(contact.force_W, &contact.p_WCa, p_WO),
                (false, true) => sum.add_force(-contact.force_W, &contact.p_WCb, p_WO),
                _ => {}
            }
        }
        sum
    }

    /// Force of a body's own row of one kind on one of its velocities, as [`RowForce::force`]; `None` without such a row.
    #[must_use]
    pub fn row_force(&self, body: BodyIdx, kind: RowKind, index: u32) -> Option<f64> {
        let sought = ConstraintLabel { kind, index };
        let owner = RowOwner::Body(body);
        let mut rows = self.rows.iter();
        let row = rows.find(|row| row.owner == owner && row.label == sought)?;
        Some(row.force)
    }

    /// What a constraint exerts; `None` if it is released.
    #[must_use]
    pub fn constraint(&self, constraint: ConstraintIdx) -> Option<&ConstraintForce> {
        let found = self
            .constraints
            .binary_search_by_key(&constraint, |force| force.constraint);
        found.ok().map(|k| &self.constraints[k])
    }
}
