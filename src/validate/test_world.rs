//! Shared by the cases: worlds with a floor and free bodies, contact models, and runs that fail on untrusted steps.

use std::error::Error;
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{BodyState, Control, ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    BodyIdx, ContactSettings, DissipationRule, Geometry, GeometryIdx, LaggedModel, Mount,
    RigidSurface, SapModel, SimilarModel, State, StepReport, Stepper, StrongImplicit, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

use super::error::CaseError;
use super::stiction::STICTION_SPEED;

/// A result, or the error that stopped the computation of a case.
pub(super) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Gravity, m/s².
pub(super) const G: f64 = 9.81;

/// A contact model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    Lagged,
    Similar,
    Sap,
}

pub(super) const MODELS: [Model; 3] = [Model::Lagged, Model::Similar, Model::Sap];

impl Model {
    pub(super) fn name(self) -> &'static str {
        match self {
            Model::Lagged => "lagged",
            Model::Similar => "similar",
            Model::Sap => "sap",
        }
    }

    pub(super) fn settings(self) -> ContactSettings {
        ContactSettings {
            model: match self {
                Model::Lagged => Arc::new(LaggedModel::default()),
                Model::Similar => Arc::new(SimilarModel),
                Model::Sap => Arc::new(SapModel),
            },
            dissipation: DissipationRule::HuntCrossley,
            stiction_speed: STICTION_SPEED,
            ..ContactSettings::default()
        }
    }

    /// T, s: a contact whose slip grows by Δv in a step is lifted by μ Δv T.
    pub(super) fn lifting_time(self, time_step_s: f64, material: &ContactMaterial) -> f64 {
        match self {
            Model::Lagged => 0.0,
            Model::Similar => time_step_s,
            // Both surfaces are of this material, and relaxation times add.
            Model::Sap => time_step_s + 2.0 * material.relaxation_time_s,
        }
    }
}

/// A material for both surfaces of every pair. `pair_stiffness` (N/m at each point), `friction` and a relaxation time of 1 ms are those
/// of the pair.
pub(super) fn material(pair_stiffness: f64, friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 2.0 * pair_stiffness, // two equal surfaces in series
        friction,
        relaxation_time_s: 0.5e-3,
        ..ContactMaterial::default()
    }
}

/// Builds a world in which all surfaces have one material.
pub(super) struct TestWorld {
    pub(super) builder: WorldBuilder,
    pub(super) material: ContactMaterial,
    pub(super) rigid_surface: RigidSurface,
}

impl TestWorld {
    pub(super) fn new(model: Model, material: ContactMaterial) -> Self {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.0, 0.0, -G));
        builder.contact(model.settings());
        Self {
            builder,
            material,
            rigid_surface: RigidSurface::default(),
        }
    }

    /// A half space fixed in the world: solid below the plane z = 0 of `X_WG`.
    pub(super) fn floor(&mut self, X_WG: Isometry3<f64>) -> GeometryIdx {
        self.builder.add_geometry(Geometry {
            name: "floor".into(),
            mount: Mount::World(X_WG),
            shape: Some(Shape::half_space()),
            part: None,
            compliance: None,
            material: self.material,
            patch: None,
            surface_velocity: Vector3::zeros(),
            rigid_surface: self.rigid_surface,
        })
    }

    /// Mounts a shape on a frame of a body.
    pub(super) fn mount(
        &mut self,
        name: &str,
        (body, frame): (BodyIdx, u32),
        X_FG: Isometry3<f64>,
        shape: Shape,
    ) -> GeometryIdx {
        self.builder.add_geometry(Geometry {
            name: name.into(),
            mount: Mount::Frame { body, frame, X_FG },
            shape: Some(shape),
            part: None,
            compliance: None,
            material: self.material,
            patch: None,
            surface_velocity: Vector3::zeros(),
            rigid_surface: self.rigid_surface,
        })
    }

    /// A free body with one shape about its origin; `v` = [ω; v] in world axes.
    pub(super) fn free(
        &mut self,
        name: &str,
        shape: Shape,
        inertia: SpatialInertia,
        X_WB: Isometry3<f64>,
        v: [f64; 6],
    ) -> Outcome<BodyIdx> {
        let tree = free_body(inertia, X_WB, v)?;
        let body = self.builder.add_body(name, Box::new(tree));
        self.mount(name, (body, 0), Isometry3::identity(), shape);
        Ok(body)
    }

    /// A free homogeneous box.
    pub(super) fn free_box(
        &mut self,
        name: &str,
        lengths: Vector3<f64>,
        mass: f64,
        X_WB: Isometry3<f64>,
        v: [f64; 6],
    ) -> Outcome<BodyIdx> {
        let inertia = SpatialInertia::solid_box(mass, lengths);
        self.free(name, Shape::cuboid(lengths)?, inertia, X_WB, v)
    }

    /// A free homogeneous box without contact geometry, at rest.
    pub(super) fn body_alone(
        &mut self,
        name: &str,
        lengths: Vector3<f64>,
        mass: f64,
        X_WB: Isometry3<f64>,
    ) -> Outcome<BodyIdx> {
        let tree = free_body(SpatialInertia::solid_box(mass, lengths), X_WB, [0.0; 6])?;
        Ok(self.builder.add_body(name, Box::new(tree)))
    }

    /// Builds the world and starts a run.
    pub(super) fn start(self, time_step_s: f64) -> Outcome<Run> {
        let world = self.builder.build()?;
        Ok(Run {
            state: world.default_state(),
            next: State::default(),
            stepper: StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default())),
            world,
            time_step_s,
        })
    }
}

/// A free body of one link; `v` = [ω; v] in world axes.
pub(super) fn free_body(
    inertia: SpatialInertia,
    X_WB: Isometry3<f64>,
    v: [f64; 6],
) -> Outcome<RigidTree> {
    let mut builder = ModelBuilder::new("free body");
    builder.root(Root::Floating);
    builder.link(LinkSpec::new("body", inertia));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let q = [p.x, p.y, p.z, r.w, r.i, r.j, r.k];
    Ok(RigidTree::new(Arc::new(builder.build()?)).starting_at(&q, &v))
}

/// A world and its state during a simulation.
pub(super) struct Run {
    pub(super) world: World,
    pub(super) state: State,
    next: State,
    stepper: StrongImplicit<Box<dyn ConvexContactSolver>>,
    pub(super) time_step_s: f64,
}

impl Run {
    /// Takes one step; an untrusted step is an error.
    pub(super) fn step(&mut self) -> Outcome<StepReport> {
        let report =
            self.stepper
                .step(&self.world, &self.state, self.time_step_s, &mut self.next)?;
        std::mem::swap(&mut self.state, &mut self.next);
        let Some(untrusted) = report.untrusted() else {
            return Ok(report);
        };
        Err(Box::new(CaseError::Untrusted {
            step: self.state.step,
            time_s: self.state.time_s,
            untrusted: untrusted.describe(&self.world),
            stop: report.convergence.solve.stop,
            iterations: report.convergence.solve.iterations,
            residual: report.convergence.solve.residual,
        }))
    }

    /// Takes `n` steps.
    pub(super) fn steps(&mut self, n: usize) -> Outcome<()> {
        (0..n).try_for_each(|_| self.step().map(drop))
    }

    /// Takes [`START_STEPS`], then measures `speeds` before and after [`WINDOW_STEPS`] more.
    pub(super) fn growth<const N: usize>(
        &mut self,
        speeds: impl Fn(&Self) -> [f64; N],
    ) -> Outcome<Growth<N>> {
        self.steps(START_STEPS)?;
        let before = speeds(self);
        self.steps(WINDOW_STEPS)?;
        let after = speeds(self);
        let window = WINDOW_STEPS as f64 * self.time_step_s;
        Ok(Growth {
            rate: std::array::from_fn(|k| (after[k] - before[k]) / window),
            after,
        })
    }

    /// Largest error of an acceleration due to the solver, given the largest speed v of the run: 1e-6 v/δt.
    ///
    /// The solver stops when the momentum balance holds to 1e-6 of the momentum ([`StopCriteria::relative_tolerance`]).
    pub(super) fn solver_acceleration(&self, speed: f64) -> f64 {
        SOLVER * speed.abs() / self.time_step_s
    }

    pub(super) fn body(&self, body: BodyIdx) -> &BodyState {
        &self.state.bodies[body.0]
    }

    pub(super) fn control(&mut self, body: BodyIdx) -> &mut Control {
        &mut self.state.controls[body.0]
    }

    /// Position of a free body.
    pub(super) fn position(&self, body: BodyIdx) -> Vector3<f64> {
        Vector3::from_column_slice(&self.body(body).q[..3])
    }

    /// Velocity of a free body's origin, world axes.
    pub(super) fn velocity(&self, body: BodyIdx) -> Vector3<f64> {
        Vector3::from_column_slice(&self.body(body).v[3..6])
    }

    /// Angular velocity of a free body, world axes.
    pub(super) fn angular_velocity(&self, body: BodyIdx) -> Vector3<f64> {
        Vector3::from_column_slice(&self.body(body).v[..3])
    }
}

/// Relative tolerance ε_r of [`StopCriteria`].
pub(super) const SOLVER: f64 = 1e-6;

/// Steps before an acceleration is measured.
pub(super) const START_STEPS: usize = 100;
/// Steps over which an acceleration is measured.
pub(super) const WINDOW_STEPS: usize = 200;

/// Mean accelerations and final speeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth<const N: usize> {
    /// Accelerations.
    pub(super) rate: [f64; N],
    /// Final speeds.
    pub(super) after: [f64; N],
}
