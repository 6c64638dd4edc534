//! The frames of rigid bodies that particles may touch: their motion in a step, and the forces on them.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, Vector6};
use pliant_contact_sap::{Integration, Load, MaterialPoint};
use pliant_mpm::{LinkMotion, RigidLinks, RigidMotion};
use serde::{Deserialize, Serialize};

use super::RigidVelocity;
use super::split::ParticleSplit;
use crate::error::StepError;
use crate::state::State;
use crate::strong_implicit::FrameResponse;
use crate::world::BodyIdx;

/// The mean force of particles on a frame in the last step.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # use pliant_coupling::{Asynchronous, AsynchronousSettings};
/// use pliant_coupling::Stepper;
///
/// // A ball of 0.1 kg runs into a cube of dough, without gravity: the mean force of a step is m Δv/δt.
/// # let shape = Shape::cuboid(Vector3::repeat(0.04))?;
/// # let points = fill("dough", &shape, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut model = MpmBuilder::new(MpmSettings::new(0.02));
/// # let dough = Preset::PizzaDough;
/// # model.object(ObjectSpec::new("dough", dough.material(), dough.density(), points));
/// # let mut tree = ModelBuilder::new("ball");
/// # tree.root(Root::Floating);
/// # tree.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(0.1, 0.02)));
/// # let q = [0.0, 0.0, -0.041, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(tree.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
/// # let mut builder = WorldBuilder::default();
/// # builder.gravity(Vector3::zeros());
/// # let points = builder.add_body("dough", Box::new(model.build()?));
/// # let ball = builder.add_body("ball", Box::new(tree));
/// # let material = ContactMaterial::default();
/// # let on_dough = builder.add_geometry(Geometry::of_vertices("dough", points, material));
/// # let mount = Mount::Frame { body: ball, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = builder.add_geometry(Geometry::new("ball", mount, Shape::sphere(0.02)?, material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let implicit = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut stepper = Asynchronous::new(implicit, AsynchronousSettings::default())?;
/// assert!(stepper.step(&world, &world.default_state(), 5e-3, &mut next)?.is_trusted());
/// let force = &next.memory.frame_forces[0];
/// assert_eq!((force.body, force.frame), (ball, 0));
/// let expected = 0.1 * (next.bodies[ball.0].v[5] - 1.0) / 5e-3;
/// assert!((force.wrench_W[5] - expected).abs() < 1e-6 * expected.abs() && expected < 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameForce {
    /// The body.
    pub body: BodyIdx,
    /// Its frame.
    pub frame: u32,
    /// Moment about the frame's origin (N·m) and force (N), world axes.
    pub wrench_W: Vector6<f64>,
}

/// The links of a step, and how the rigid problem responds to them.
pub(super) struct Frames {
    pub(super) links: RigidLinks,
    responding: Option<Responding>,
}

struct Responding {
    /// Cholesky factor of the inertia A of the moving velocities.
    inertia: Cholesky<f64, Dyn>,
    /// J_r of the moving velocities.
    rows: DMatrix<f64>,
    /// At v̂.
    response: FrameResponse,
    /// Γ of the last step.
    last: DVector<f64>,
    /// The velocities that move the links, ascending.
    moving: Vec<usize>,
}

impl Frames {
    /// Links with their velocities at the start of the step.
    pub(super) fn prescribed(
        split: &ParticleSplit,
        state: &State,
        integration: Integration,
        time_step_s: f64,
    ) -> Result<Self, StepError> {
        let world = &split.rigid.of;
        let motions =
            split
                .rigid
                .frame_motions(world, state, &split.frames, integration, time_step_s)?;
        let motions: Vec<LinkMotion> = motions
            .into_iter()
            .map(|motion| LinkMotion {
                X_WL: motion.X_WF,
                velocity: motion.velocity,
            })
            .collect();
        let n = 6 * motions.len();
        Ok(Self {
            links: RigidLinks::new(motions, DMatrix::zeros(n, n)),
            responding: None,
        })
    }

    /// Links with the response of the predicted rigid step, which had the impulse `last` on the frames, for `substeps` substeps.
    ///
    /// ```text
    /// (A + B/N)(v_{k+1} − v_k) = (c − B v_k)/N + J_rᵀγ        c = A (v̂ − v^n) + B v̂ − J_rᵀΓ_last
    /// ```
    ///
    /// `None` if the inertia is not positive definite.
    pub(super) fn responding(
        response: FrameResponse,
        last: DVector<f64>,
        substeps: u32,
    ) -> Option<Self> {
        // Velocities that the links have no part in stay as predicted.
        let moving: Vec<usize> = (0..response.start.len())
            .filter(|&i| response.columns.row(i).iter().any(|x| *x != 0.0))
            .collect();
        let part = |m: &DMatrix<f64>| m.select_rows(&moving).select_columns(&moving);
        let (a, b) = (part(&response.inertia), part(&response.constraints));
        let rows = response.rows.select_columns(&moving);
        let start = response.start.select_rows(&moving);
        let predicted = response.solution.select_rows(&moving);
        let share = 1.0 / f64::from(substeps.max(1));
        let factor = (&a + &b * share).cholesky()?;
        let constant = &a * (&predicted - &start) + &b * &predicted - rows.transpose() * &last;
        let velocities = &rows * &start + &response.prescribed;
        let motions = response
            .poses
            .iter()
            .enumerate()
            .map(|(k, X_WF)| LinkMotion {
                X_WL: *X_WF,
                velocity: velocities.fixed_rows::<6>(6 * k).into_owned(),
            });
        let rigid = RigidMotion {
            velocity: start,
            columns: factor.solve(&rows.transpose()),
            decay: factor.solve(&(b * share)),
            drive: factor.solve(&(constant * share)),
            rows: rows.clone(),
        };
        Some(Self {
            links: RigidLinks::responding(motions.collect(), rigid),
            responding: Some(Responding {
                inertia: a.cholesky()?,
                rows,
                response,
                last,
                moving,
            }),
        })
    }

    /// The links at the start of the step again, with the constraint forces of the prediction whatever their velocities are: B = 0. Prescribed
    /// links as they are. `None` if the inertia is not positive definite.
    pub(super) fn with_constant_constraint_forces(self, substeps: u32) -> Option<Self> {
        match self.responding {
            None => Some(self),
            Some(Responding { response, last, .. }) => {
                let response = response.with_constant_constraint_forces()?;
                Self::responding(response, last, substeps)
            }
        }
    }

    /// The mean forces of the substeps, without those that are zero.
    pub(super) fn forces(&self, frames: &[(BodyIdx, u32)], time_step_s: f64) -> Vec<FrameForce> {
        let each = frames.iter().zip(self.links.impulses());
        let acting = each.filter(|(_, impulse)| impulse.total != Vector6::zeros());
        acting
            .map(|(&(body, frame), impulse)| FrameForce {
                body,
                frame,
                wrench_W: impulse.total / time_step_s,
            })
            .collect()
    }

    /// ‖v^{n+1} − v_lin‖_A relative to ‖A⁻¹J_rᵀΓ‖_A, the effect of the particles' impulses alone in this step or the last, the larger of the
    /// two; zero with prescribed links, and without impulses. `end` is v^{n+1}.
    pub(super) fn linearisation_error(&self, end: &[f64]) -> f64 {
        let Some(responding) = &self.responding else {
            return 0.0;
        };
        let linear = responding.linear_solution(&self.links);
        let Responding {
            inertia, moving, ..
        } = responding;
        let differences = moving.iter().map(|&i| end[i] - linear[i]);
        let difference = DVector::from_iterator(moving.len(), differences);
        // A = LLᵀ.
        let error = inertia.l().tr_mul(&difference).norm();
        let effect_of = |impulse: &DVector<f64>| {
            let generalised = responding.rows.tr_mul(impulse);
            inertia.solve(&generalised).dot(&generalised).sqrt()
        };
        let effect = effect_of(&total_impulse(&self.links)).max(effect_of(&responding.last));
        match effect > 0.0 {
            true => error / effect,
            false => 0.0,
        }
    }

    /// The velocity that moves the rigid bodies over the step: the mean over the substeps, and what the correction adds to v_lin; `None`
    /// with prescribed links. `end` is v^{n+1}.
    pub(super) fn mean_velocity(&self, end: &[f64]) -> Option<RigidVelocity> {
        let responding = self.responding.as_ref()?;
        let of_substeps = self.links.mean_velocity()?;
        let linear = responding.linear_solution(&self.links);
        let end = DVector::from_column_slice(end);
        let mut mean = end.clone();
        for (&i, v) in responding.moving.iter().zip(of_substeps.iter()) {
            mean[i] = v + end[i] - linear[i];
        }
        Some(mean)
    }
}

impl Responding {
    /// v_lin = v̂ + A_eff⁻¹J_rᵀ(Γ − Γ_last), the solution of the rigid problem linearised at v̂.
    fn linear_solution(&self, links: &RigidLinks) -> RigidVelocity {
        let FrameResponse {
            solution, columns, ..
        } = &self.response;
        solution + columns * (total_impulse(links) - &self.last)
    }
}

/// Γ of the substeps, for each frame.
fn total_impulse(links: &RigidLinks) -> DVector<f64> {
    let impulses = links.impulses();
    let each = impulses.iter().flat_map(|i| i.total.iter().copied());
    DVector::from_iterator(6 * impulses.len(), each)
}

/// The impulse of `forces` in a time step, for each frame.
pub(super) fn impulses(
    forces: &[FrameForce],
    frames: &[(BodyIdx, u32)],
    time_step_s: f64,
) -> DVector<f64> {
    let mut impulses = DVector::zeros(6 * frames.len());
    for (k, &(body, frame)) in frames.iter().enumerate() {
        let force = forces.iter().find(|f| (f.body, f.frame) == (body, frame));
        if let Some(force) = force {
            impulses
                .fixed_rows_mut::<6>(6 * k)
                .copy_from(&(force.wrench_W * time_step_s));
        }
    }
    impulses
}

/// Adds forces to the loads of a state.
pub(super) fn add_loads(forces: &[FrameForce], state: &mut State) {
    for force in forces {
        let wrench = &force.wrench_W;
        state.controls[force.body.0].loads.push(Load {
            point: MaterialPoint::on_frame(force.frame, nalgebra::Vector3::zeros()),
            force_W: wrench.fixed_rows::<3>(3).into_owned(),
            torque_W: wrench.fixed_rows::<3>(0).into_owned(),
        });
    }
}
