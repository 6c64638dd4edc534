//! pliant's own side of the comparison.

use std::path::Path;
use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, PdGains, SolveReport, SolverKind, StopCriteria};
use pliant_coupling::{
    BodyIdx, ContactSettings, Exclusion, Geometry, LaggedModel, Mount, PatchFinder, SapModel,
    SimilarModel, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{AnalyticShape, ContactMaterial, Shape};
use pliant_multibody::{
    GeometryDescription, JointIdx, LinkSpec, ModelBuilder, RigidTree, RobotOptions, Root,
    SpatialInertia, urdf,
};

use crate::engine::Engine;
use crate::error::BenchError;
use crate::scene::{Arm, Hydroelastic, Pose, Scene};

/// Which contact model is run; the solver is Newton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverChoice {
    /// The default.
    #[default]
    Lagged,
    /// Similar cones.
    Similar,
    /// The SAP model, with linear dissipation.
    Sap,
}

/// How bodies touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContactKind {
    /// In a few points for a pair.
    #[default]
    Points,
    /// In patches, as the scene's hydroelastic properties say; in points where both are rigid.
    Patches,
}

/// A world, its state, and a stepper.
pub struct PliantEngine {
    world: World,
    state: State,
    next: State,
    stepper: StrongImplicit<Box<dyn ConvexContactSolver>>,
    report: StepReport,
    patches: PatchFinder,
    time_step_s: f64,
    n_free: usize,
    arm: Option<(BodyIdx, Arm)>,
    iterations: usize,
}

impl PliantEngine {
    /// Loads `scene`; model files are sought under `root`.
    ///
    /// # Errors
    /// [`BenchError`] for a scene that cannot be built.
    pub fn new(
        scene: &Scene,
        root: &Path,
        choice: SolverChoice,
        kind: ContactKind,
    ) -> Result<Self, BenchError> {
        let mut builder = WorldBuilder::default();
        builder
            .gravity(scene.gravity.into())
            .contact(ContactSettings {
                model: match choice {
                    SolverChoice::Lagged => Arc::new(LaggedModel::default()),
                    SolverChoice::Similar => Arc::new(SimilarModel),
                    SolverChoice::Sap => Arc::new(SapModel),
                },
                ..ContactSettings::default()
            });
        let material = ContactMaterial {
            stiffness: scene.surface.stiffness,
            dissipation: scene.surface.dissipation,
            relaxation_time_s: scene.surface.relaxation_time_s,
            friction: scene.surface.friction,
        };
        let geometry = |name: &str, mount, shape, hydroelastic: &Hydroelastic| {
            let patch = match kind {
                ContactKind::Points => None,
                ContactKind::Patches => Some(hydroelastic.patch(name, &shape)?),
            };
            let touched = Geometry::new(name, mount, shape, material);
            Ok::<_, BenchError>(match patch {
                Some(patch) => touched.with_patch(patch),
                None => touched,
            })
        };
        for fixed in &scene.fixed {
            let shape = fixed.solid.shape(&fixed.name, root)?;
            let mount = Mount::World(fixed.pose.isometry());
            let touched = geometry(&fixed.name, mount, shape, &fixed.hydroelastic)?;
            builder.add_geometry(touched);
        }
        for free in &scene.free {
            let shape = free.solid.shape(&free.name, root)?;
            let inertia = Matrix3::from_diagonal(&free.inertia.into());
            let inertia = SpatialInertia::new(free.mass, Vector3::zeros(), inertia);
            let body = builder.add_body(&free.name, Box::new(free_body(inertia, &free.pose)?));
            let mount = Mount::Frame {
                body,
                frame: 0,
                X_FG: Isometry3::identity(),
            };
            builder.add_geometry(geometry(&free.name, mount, shape, &free.hydroelastic)?);
        }
        let arm = match &scene.arm {
            None => None,
            Some(arm) => {
                let (body, n_shapes) =
                    add_arm(&mut builder, arm, root, |link, k, mount, shape| {
                        geometry(&format!("{link}/{k}"), mount, shape, &arm.hydroelastic)
                    })?;
                debug_assert!(n_shapes > 0, "the arm of the comparison has shapes");
                Some((body, arm.clone()))
            }
        };
        let world = builder.build()?;
        let solver = SolverKind::Newton.build(StopCriteria::default());
        Ok(Self {
            state: world.default_state(),
            next: State::default(),
            stepper: StrongImplicit::new(solver),
            report: StepReport::default(),
            patches: PatchFinder::default(),
            time_step_s: scene.time_step_s,
            n_free: scene.free.len(),
            world,
            arm,
            iterations: 0,
        })
    }

    /// Report of the solver on the last step.
    pub fn last_solve(&self) -> SolveReport {
        self.report.convergence.solve
    }

    /// One step.
    ///
    /// # Errors
    /// [`BenchError::Step`].
    pub fn step(&mut self) -> Result<(), BenchError> {
        if let Some((body, arm)) = &self.arm {
            let control = &mut self.state.controls[body.0];
            arm.path(
                self.state.time_s,
                &mut control.position,
                &mut control.velocity,
            );
        }
        self.stepper.step_into(
            &self.world,
            &self.state,
            self.time_step_s,
            &mut self.next,
            &mut self.report,
        )?;
        self.iterations += self.report.convergence.solve.iterations;
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(())
    }
}

impl Engine for PliantEngine {
    fn advance(&mut self, n_steps: usize) -> Result<(), BenchError> {
        (0..n_steps).try_for_each(|_| self.step())
    }

    fn contacts(&self) -> usize {
        self.report.contacts.len()
    }

    fn iterations(&self) -> usize {
        self.iterations
    }

    fn poses(&self) -> Vec<Pose> {
        let pose = |q: &[f64]| Pose {
            position: [q[0], q[1], q[2]],
            quat_wxyz: [q[3], q[4], q[5], q[6]],
        };
        let bodies = self.state.bodies.iter().take(self.n_free);
        bodies.map(|body| pose(&body.q)).collect()
    }

    fn polygons(&mut self) -> Result<usize, BenchError> {
        let pairs = self.patches.find(&self.world, &self.state)?;
        Ok(pairs.iter().map(|pair| pair.patch.polygons().len()).sum())
    }

    fn joints(&self) -> Vec<f64> {
        let state = |(body, _): &(BodyIdx, Arm)| self.state.bodies[body.0].q.clone();
        self.arm.as_ref().map(state).unwrap_or_default()
    }
}

fn free_body(inertia: SpatialInertia, pose: &Pose) -> Result<RigidTree, BenchError> {
    let mut builder = ModelBuilder::new("free");
    builder
        .root(Root::Floating)
        .link(LinkSpec::new("body", inertia));
    let model = builder.build()?;
    let [x, y, z] = pose.position;
    let [w, i, j, k] = pose.quat_wxyz;
    Ok(RigidTree::new(Arc::new(model)).starting_at(&[x, y, z, w, i, j, k], &[0.0; 6]))
}

/// Adds the arm with an actuator on each joint, and its collision shapes; returns how many there are.
fn add_arm(
    builder: &mut WorldBuilder,
    arm: &Arm,
    root: &Path,
    geometry: impl Fn(&str, usize, Mount, Shape) -> Result<Geometry, BenchError>,
) -> Result<(BodyIdx, usize), BenchError> {
    let loaded = urdf::read_urdf(root.join(&arm.urdf), &RobotOptions::default())?;
    let model = Arc::new(loaded.model);
    let mut tree = RigidTree::new(model.clone());
    for k in 0..arm.proportional.len() {
        let gains = PdGains {
            proportional: arm.proportional[k],
            derivative: arm.derivative[k],
            effort_limit: f64::INFINITY,
        };
        // Joints are in the order of their degrees of freedom, and each has one.
        tree = tree.with_actuator(joint_of(&model, k), gains)?;
    }
    let tree = tree.starting_at(&arm.knots[0], &vec![0.0; model.n_v()]);
    let body = builder.add_body("arm", Box::new(tree));
    let mut n_shapes = 0;
    for (l, link) in model.links().iter().enumerate() {
        for collision in &link.collisions {
            let GeometryDescription::Analytic(shape @ AnalyticShape::Box { .. }) =
                &collision.geometry
            else {
                continue;
            };
            let shape = Shape::try_from(shape).map_err(|source| BenchError::Shape {
                name: link.name.clone(),
                source,
            })?;
            let mount = Mount::Frame {
                body,
                frame: l as u32,
                X_FG: collision.X_LG,
            };
            builder.add_geometry(geometry(&link.name, n_shapes, mount, shape)?);
            n_shapes += 1;
        }
    }
    // The scene's arm does not touch itself.
    builder.exclude(Exclusion::Bodies(body, body));
    Ok((body, n_shapes))
}

fn joint_of(model: &pliant_multibody::Model, k: usize) -> JointIdx {
    model.joint_of_dof(pliant_multibody::DofIdx(k))
}
