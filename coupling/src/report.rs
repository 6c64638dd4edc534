//! What a step did: forces, points, wrenches, reactions, and whether they can be trusted.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{ConstraintLabel, RowKind, SolveReport};
use pliant_hydroelastic::PatchShare;

use crate::friction_limits::{FRICTION_TOLERANCE, FrictionError};
use crate::world::{BodyIdx, ConstraintIdx, GeometryIdx, World};

/// What a step did. Forces are means over the step: impulses divided by δt.
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// What the solver did, the re-solves of the step summed up.
    pub solve: SolveReport,
    /// How far friction is from what the normal forces allow.
    pub friction: FrictionError,
    /// A pair of geometries that meets on the way that the bodies go, by contacts that the problem does not have.
    pub missed_contact: Option<(GeometryIdx, GeometryIdx)>,
    /// Whether bodies that are touched move as their rest shapes were turned for.
    pub lagged: LaggedReport,
    /// How far the implicit equations were solved.
    pub implicit: ImplicitReport,
    /// Velocities solved for.
    pub n_dofs: usize,
    /// Every contact in the problem, those without force included; sorted by pair. [`StepReport::pairs`] sums them up.
    pub contacts: Vec<ContactForce>,
    /// Force of every scalar row: limits, actuators, dry friction and couplers of bodies, rows of constraints.
    pub rows: Vec<RowForce>,
    /// Wrench of every constraint that holds, in the order of their index.
    pub constraints: Vec<ConstraintForce>,
    /// Anything suspicious, in words that name the place: of bodies, of patches deeper than their pressure tells, and the
    /// [`StepReport::untrusted`].
    pub warnings: Vec<String>,
}

/// Why a step is not to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// The solver missed its tolerance: [`StepReport::solve`].
    Unsolved,
    /// A pair may have passed through each other: [`StepReport::missed_contact`].
    MissedContact((GeometryIdx, GeometryIdx)),
    /// The implicit equations of soft bodies were not met: [`StepReport::implicit`].
    ImplicitEquations,
    /// A body that is touched does not move as it foresaw: [`StepReport::lagged`].
    LaggedTerms(BodyIdx),
    /// Friction of a pair is not what its loads allow: [`StepReport::friction`].
    Friction((GeometryIdx, GeometryIdx)),
}

impl Untrusted {
    /// In words that name the pair, and what to do.
    #[must_use]
    pub fn describe(&self, world: &World) -> String {
        let names = |(a, b): (GeometryIdx, GeometryIdx)| {
            let name = |g: GeometryIdx| &world.geometries()[g.0].name;
            format!("\"{}\" and \"{}\"", name(a), name(b))
        };
        match *self {
            Self::Unsolved => "the solver missed its tolerance; allow more iterations".into(),
            Self::MissedContact(pair) => format!(
                "{} may have passed through each other: they meet where the solution sends them and each round of contacts sends them \
                 elsewhere; shorten the time step",
                names(pair)
            ),
            Self::ImplicitEquations => {
                "the implicit equations of soft bodies were not met; shorten the time step".into()
            }
            Self::LaggedTerms(body) => format!(
                "body \"{}\" does not turn as its rest shape was turned for, however often it is solved for again; shorten the time step",
                world.body_name(body)
            ),
            Self::Friction(pair) => format!(
                "friction of {} does not settle to within {} % of what the loads there allow; shorten the time step",
                names(pair),
                100.0 * FRICTION_TOLERANCE
            ),
        }
    }
}

/// How bodies that are touched moved, against what their equations foresaw of it, such as where rest shapes turn: see
/// [`LaggedTerms::update`](pliant_contact_sap::LaggedTerms::update).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaggedReport {
    /// How often the step was solved again, because a body was to foresee what was found.
    pub corrections: usize,
    /// The body that is furthest off after the last correction that is allowed, or that is worth trying; `None`: all settled.
    pub unsettled: Option<BodyIdx>,
    /// How far it is off, as a multiple of what it tolerates; 0 if it settled.
    pub error: f64,
}

/// How the implicit equations of a step were solved; all zero by [`Linearisation::Once`](crate::Linearisation::Once), and where no
/// body has more than linear ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImplicitReport {
    /// How often bodies were linearised about velocities found.
    pub relinearisations: usize,
    /// How often less than the whole way to a problem's solution was gone.
    pub shortened: usize,
    /// What is left of the momentum balance, as a part of its terms.
    pub residual: f64,
    /// Whether that is more than was allowed.
    pub missed: bool,
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
    /// Whether the step can be believed: there is no [`StepReport::untrusted`].
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        self.untrusted().is_none()
    }

    /// Why the step is not to be believed, the gravest reason first; `None`: the solver met its tolerance or the limit of f64, nobody
    /// goes through anybody else, the implicit equations are met, if they were to be, bodies turn as they foresaw, and friction is that
    /// of the normal forces found, to [`FRICTION_TOLERANCE`].
    #[must_use]
    pub fn untrusted(&self) -> Option<Untrusted> {
        if !self.solve.is_trusted() {
            Some(Untrusted::Unsolved)
        } else if let Some(pair) = self.missed_contact {
            Some(Untrusted::MissedContact(pair))
        } else if self.implicit.missed {
            Some(Untrusted::ImplicitEquations)
        } else if let Some(body) = self.lagged.unsettled {
            Some(Untrusted::LaggedTerms(body))
        } else {
            let wrong = self.friction.share > FRICTION_TOLERANCE;
            self.friction
                .pair
                .filter(|_| wrong)
                .map(Untrusted::Friction)
        }
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
