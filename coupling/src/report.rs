//! What a step did: forces, points, wrenches, reactions, and whether they can be trusted.

use std::time::Duration;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{ConstraintLabel, RowKind};
use pliant_hydroelastic::PatchShare;

use crate::adaptive::AdaptiveReport;
use crate::asynchronous::AsynchronousReport;
use crate::convergence::{Convergence, Untrusted};
use crate::penalty_force::PenaltyForceReport;
use crate::world::{BodyIdx, ConstraintIdx, GeometryIdx};

/// What a step did. Forces are means over the step: impulses divided by δt.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1 - 9.81 / 5e5, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// use pliant_coupling::Stepper;
///
/// // A ball of 1 kg at rest on the floor.
/// let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let state = world.default_state();
/// let report = stepper.step(&world, &state, 1e-3, &mut next)?;
/// assert!(report.is_trusted());
/// // The floor carries the weight; the force is on A, the geometry that was added first.
/// let pair = report.pair(b, a).expect("they touch");
/// assert_eq!(pair.a, a);
/// assert!((pair.force_on_a() - Vector3::new(0.0, 0.0, 9.81)).norm() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Where the time of a [`StrongImplicit`](crate::StrongImplicit) step went; zero for other steppers, which report theirs.
    pub times: StepTimes,
    /// Every contact in the problem, those without force included; sorted by pair. [`StepReport::pairs`] sums them up.
    pub contacts: Vec<ContactForce>,
    /// Force of every scalar row: limits, actuators, dry friction and couplers of bodies, rows of constraints.
    pub rows: Vec<RowForce>,
    /// Wrench of every constraint that holds, in the order of their index.
    pub constraints: Vec<ConstraintForce>,
    /// Warnings of bodies and of contact patches, and why the step is untrusted.
    pub warnings: Vec<String>,
}

/// Where the time of a step goes beside the stages of the solver, [`SolveReport::stages`](pliant_contact_sap::SolveReport::stages). The rest is the collection of
/// contacts and constraints, and the step's report.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?));
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # builder.add_body("ball", Box::new(ball));
/// # let (world, mut next) = (builder.build()?, State::default());
/// // A ball in free fall.
/// let start = std::time::Instant::now();
/// let times = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.times;
/// assert!(!times.bodies.is_zero());
/// assert!(times.bodies + times.factors + times.geometry <= start.elapsed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// Linearising and advancing bodies: elements, transfers, kinematics, and what a body solves by itself.
    pub bodies: Duration,
    /// Factorising the diagonal blocks of A, and the predicted motion.
    pub factors: Duration,
    /// Contact geometry: broad phase, distances, patches, and searches along the solution.
    pub geometry: Duration,
}

impl std::ops::Add for StepTimes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bodies: self.bodies + other.bodies,
            factors: self.factors + other.factors,
            geometry: self.geometry + other.geometry,
        }
    }
}

/// One contact point and its force.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1 - 9.81 / 5e5, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// use pliant_coupling::Stepper;
///
/// // A ball of 1 kg at rest on the floor, with k = 5e5 N/m as a pair.
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let contact = &report.contacts[0];
/// assert_eq!((contact.a, contact.b, contact.patch), (a, b, None));
/// assert!((contact.normal_W - Vector3::z()).norm() < 1e-12); // from the floor into the ball
/// assert!((contact.signed_distance + 9.81 / 5e5).abs() < 1e-12);
/// assert!((contact.force_W.z - 9.81).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// Torque on A by torsional and rolling friction, N·m, world axes; on B it is the negative.
    pub torque_W: Vector3<f64>,
    /// φ at the start of the step, m, negative in penetration.
    pub signed_distance: f64,
    /// What part of a patch it stands for, at the start of the step; `None` in point contact.
    pub patch: Option<PatchShare>,
}

/// All contacts of one pair of geometries.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Point3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1 - 9.81 / 5e5, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let state = world.default_state();
/// # let report = stepper.step(&world, &state, 1e-3, &mut next)?;
/// // A ball of 1 kg at rest on the floor, one point without a patch.
/// let pair = report.pairs().next().expect("they touch");
/// assert_eq!((pair.contacts.len(), pair.patch_area()), (1, 0.0));
/// // About a point 0.2 m beside it, the weight has the moment 0.2 m · 9.81 N.
/// let wrench = pair.wrench_on_a(&Point3::new(-0.2, 0.0, 0.0));
/// assert!((wrench.torque.y + 0.2 * 9.81).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::Vector3;
/// use pliant_contact_sap::{PdGains, RowKind};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_multibody::{JointIdx, JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, SpatialInertia};
///
/// // A turntable on a vertical axis, 0.01 rad short of the target of its actuator: 100 N·m/rad pull with about 1 N·m.
/// # let mut model = ModelBuilder::new("turntable");
/// # model.link(LinkSpec::new("base", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # model.link(LinkSpec::new("table", SpatialInertia::solid_cylinder(20.0, 0.3, 0.02)));
/// # model.joint(JointSpec::new("axis", JointKind::Continuous, "base", "table").about(Vector3::z()));
/// # let tree = RigidTree::new(Arc::new(model.build()?));
/// let gains = PdGains { proportional: 100.0, derivative: 0.0, effort_limit: f64::INFINITY };
/// let tree = tree.with_actuator(JointIdx(0), gains)?;
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("turntable", Box::new(tree));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// let mut state = world.default_state();
/// state.controls[body.0].position = vec![0.01];
/// let report = stepper.step(&world, &state, 1e-3, &mut next)?;
/// let torque = report.row_force(body, RowKind::Actuator, 0).expect("it has an actuator");
/// assert!((torque - 1.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::RowOwner;
///
/// // A ball of 1 kg on a thread: the one row of the step is the constraint's, none is the body's own.
/// # let thread = builder.add_constraint(Constraint {
/// #     name: "thread".into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(0.0, 0.0, 1.0)),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// assert_eq!(report.rows.len(), 1);
/// assert_eq!(report.rows[0].owner, RowOwner::Constraint(thread));
/// assert!((report.rows[0].force.abs() - 9.81).abs() < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// A body's own constraint.
    Body(BodyIdx),
    /// A constraint.
    Constraint(ConstraintIdx),
}

/// What a constraint exerts.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::{Isometry3, Point3};
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind, State, Stepper, StrongImplicit, WorldBuilder};
/// // A ball of 1 kg at the origin hangs on a thread of 1 m.
/// # let thread = builder.add_constraint(Constraint {
/// #     name: "thread".into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(0.0, 0.0, 1.0)),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # });
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// let pull = report.constraint(thread).expect("it holds");
/// assert_eq!((pull.constraint, pull.p_WO), (thread, Point3::new(0.0, 0.0, 0.5)));
/// assert!((pull.on_a.force.z - 9.81).abs() < 1e-2 && pull.on_a.torque.norm() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_coupling::Wrench;
///
/// // 10 N upwards at x = 0.5 m, about the origin: p × f.
/// let mut wrench = Wrench::default();
/// wrench.add_force(Vector3::new(0.0, 0.0, 10.0), &Point3::new(0.5, 0.0, 0.0), &Point3::origin());
/// assert_eq!(wrench.torque, Vector3::new(0.0, -5.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
            sum.torque += contact.torque_W;
        }
        sum
    }

    /// Wrench on B about `p_WO`.
    #[must_use]
    pub fn wrench_on_b(&self, p_WO: &Point3<f64>) -> Wrench {
        let mut sum = Wrench::default();
        for contact in self.contacts {
            sum.add_force(-contact.force_W, &contact.p_WCb, p_WO);
            sum.torque -= contact.torque_W;
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
                (true, false) => {
                    sum.add_force(contact.force_W, &contact.p_WCa, p_WO);
                    sum.torque += contact.torque_W;
                }
                (false, true) => {
                    sum.add_force(-contact.force_W, &contact.p_WCb, p_WO);
                    sum.torque -= contact.torque_W;
                }
                _ => {}
            }
        }
        sum
    }

    /// Force of a body's own rows of one kind on one of its velocities, as [`RowForce::force`]; `None` without such a row. An actuator
    /// with backlash has two.
    #[must_use]
    pub fn row_force(&self, body: BodyIdx, kind: RowKind, index: u32) -> Option<f64> {
        let sought = ConstraintLabel { kind, index };
        let owner = RowOwner::Body(body);
        let rows = self.rows.iter();
        rows.filter(|row| row.owner == owner && row.label == sought)
            .map(|row| row.force)
            .reduce(|sum, force| sum + force)
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
