//! Inverse dynamics, forward dynamics, mass matrix M(q) and bias forces k(q, v), as one function each.
//!
//! Results are written to the caller's arrays, intermediate results to a [`Workspace`]; the functions do not allocate.
//! `gravity` is that of the world; a model with gravity disabled ignores it.

use nalgebra::{DMatrix, Vector3};

use crate::articulated_body::ArticulatedBodies;
use crate::body_inertias::BodyInertias;
use crate::held::HeldDofs;
use crate::inverse_dynamics::{body_wrenches, joint_forces};
use crate::kinematics::{AccelerationKinematics, PositionKinematics, VelocityKinematics};
use crate::mass_matrix::composite_rigid_bodies;
use crate::model::Model;
use crate::spatial::{OriginInertia, Wrench};

/// Kinematics, inertias and factors of a model at one state. The functions of this module fill what they use.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{Workspace, bias_forces, kinetic_energy};
///
/// // A ball of 2 kg on a level arm of 1 m that turns at 3 rad/s: the hinge holds it with −m g l, and ½ · 2.008 kg·m² ω².
/// let mut workspace = Workspace::new(&model);
/// let mut bias = [0.0];
/// bias_forces(&model, &[0.0], &[3.0], &Vector3::new(0.0, 0.0, -9.81), &mut workspace, &mut bias);
/// assert!((bias[0] + 2.0 * 9.81).abs() < 1e-12);
/// // Its intermediate results stay: those of the last call.
/// let energy = kinetic_energy(&model, &workspace.velocities, &workspace.inertias);
/// assert!((energy - 0.5 * 2.008 * 9.0).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Poses of the bodies at the last q, world frame.
    pub positions: PositionKinematics,
    /// Twists of the bodies at the last (q, v), world axes.
    pub velocities: VelocityKinematics,
    /// Accelerations of the last inverse or forward dynamics, with the root accelerated by −gravity.
    pub accelerations: AccelerationKinematics,
    /// Inertias of the bodies at the last q, about their origins, world axes.
    pub inertias: BodyInertias,
    /// The factorisation of the last forward dynamics.
    pub articulated: ArticulatedBodies,
    wrenches: Vec<Wrench>,
    composite: Vec<OriginInertia>,
    no_dofs_held: HeldDofs,
}

impl Workspace {
    /// A workspace for `model`. It can be used with no other model: the number of bodies and of degrees of freedom is fixed here.
    pub fn new(model: &Model) -> Self {
        Self {
            positions: PositionKinematics::new(model),
            velocities: VelocityKinematics::new(model),
            accelerations: AccelerationKinematics::new(model),
            inertias: BodyInertias::new(model),
            articulated: ArticulatedBodies::new(model),
            wrenches: vec![Wrench::zero(); model.n_bodies()],
            composite: vec![OriginInertia::default(); model.n_bodies()],
            no_dofs_held: HeldDofs::none(model),
        }
    }

    /// Computes poses, twists and inertias at the positions `q` (n_q entries) and the velocities `v` (n_v entries).
    ///
    /// # Panics
    /// If an array has the wrong length.
    pub fn update(&mut self, model: &Model, q: &[f64], v: &[f64]) {
        self.update_positions(model, q);
        self.velocities.update(model, &self.positions, v);
    }

    /// Computes the wrenches on bodies that cause `vdot`, less `external`.
    fn update_wrenches(
        &mut self,
        model: &Model,
        vdot: &[f64],
        gravity: &Vector3<f64>,
        external: &[Wrench],
    ) {
        let root = -model.gravity_from(gravity);
        self.accelerations
            .update(model, &self.positions, &self.velocities, vdot, &root);
        self.sum_wrenches(external);
        self.subtract_compensation(model, gravity);
    }

    /// Computes the wrenches on bodies at v̇ = 0.
    fn update_bias_wrenches(&mut self, model: &Model, gravity: &Vector3<f64>) {
        let root = -model.gravity_from(gravity);
        self.accelerations
            .update_bias(model, &self.positions, &self.velocities, &root);
        self.sum_wrenches(&[]);
        self.subtract_compensation(model, gravity);
    }

    fn subtract_compensation(&mut self, model: &Model, gravity: &Vector3<f64>) {
        for compensation in model.compensations(&self.positions, gravity) {
            let (body, carried) = compensation.on_body();
            self.wrenches[body.0].torque -= carried.torque;
            self.wrenches[body.0].force -= carried.force;
        }
    }

    fn sum_wrenches(&mut self, external: &[Wrench]) {
        body_wrenches(
            &self.velocities,
            &self.accelerations,
            &self.inertias,
            external,
            &mut self.wrenches,
        );
    }

    /// Computes poses and inertias at the positions `q` (n_q entries). The twists stay those of the last [`update`](Self::update).
    ///
    /// # Panics
    /// If `q` has the wrong length.
    pub fn update_positions(&mut self, model: &Model, q: &[f64]) {
        self.positions.update(model, q);
        self.inertias.update(model, &self.positions);
    }
}

/// Inverse dynamics: the joint forces `tau` that cause the accelerations `vdot`, by the recursive Newton-Euler algorithm.
///
/// ```text
/// τ = M(q) v̇ + k(q, v)
/// ```
///
/// k are Coriolis, centrifugal and gravity forces; rotors, dampers and springs are not included. `q` has n_q entries, the other
/// arrays n_v: `v` in rad/s or m/s, `vdot` in rad/s² or m/s², `tau` in N m or N. `gravity` is that of the world, m/s².
///
/// # Panics
/// If an array has the wrong length.
///
/// # Source
/// Featherstone (2008), section 5.3, here with classical accelerations in world axes.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{Workspace, inverse_dynamics};
///
/// // A ball of 2 kg and 0.1 m on a level arm of 1 m, accelerated upwards (about −y) at 4 rad/s².
/// let (mut workspace, mut tau) = (Workspace::new(&model), [0.0]);
/// let gravity = Vector3::new(0.0, 0.0, -9.81);
/// inverse_dynamics(&model, &[0.0], &[0.0], &[-4.0], &gravity, &mut workspace, &mut tau);
/// assert!((tau[0] + 2.008 * 4.0 + 2.0 * 9.81).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
pub fn inverse_dynamics(
    model: &Model,
    q: &[f64],
    v: &[f64],
    vdot: &[f64],
    gravity: &Vector3<f64>,
    workspace: &mut Workspace,
    tau: &mut [f64],
) {
    let w = workspace;
    w.update(model, q, v);
    w.update_wrenches(model, vdot, gravity, &[]);
    joint_forces(model, &w.positions, &mut w.wrenches, tau);
}

/// Bias forces k(q, v): the joint forces that balance Coriolis, centrifugal and gravity forces, so that v̇ = 0.
///
/// Arrays and units as in [`inverse_dynamics`]; `bias` has n_v entries, N m or N.
///
/// # Panics
/// If an array has the wrong length.
pub fn bias_forces(
    model: &Model,
    q: &[f64],
    v: &[f64],
    gravity: &Vector3<f64>,
    workspace: &mut Workspace,
    bias: &mut [f64],
) {
    workspace.update(model, q, v);
    bias_forces_at_update(model, gravity, workspace, bias);
}

/// [`bias_forces`] at the state of the last update of the workspace.
pub(crate) fn bias_forces_at_update(
    model: &Model,
    gravity: &Vector3<f64>,
    workspace: &mut Workspace,
    bias: &mut [f64],
) {
    let w = workspace;
    w.update_bias_wrenches(model, gravity);
    joint_forces(model, &w.positions, &mut w.wrenches, bias);
}

/// Mass matrix M(q) of the bodies, n_v × n_v with both triangles, without rotors, by the composite rigid body algorithm.
///
/// An entry has the unit kg m², kg m or kg, for two rotations, a rotation and a translation, or two translations. The kinetic
/// energy is ½ vᵀM v. [`Model::add_reflected_inertia`] gives the diagonal that rotors add.
///
/// # Panics
/// If `mass` is not n_v × n_v, or `q` has not n_q entries.
///
/// # Source
/// Featherstone (2008), section 6.2.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// use nalgebra::{DMatrix, Matrix2};
/// use pliant_multibody::{Workspace, mass_matrix};
///
/// // A cart of 3 kg with a ball of 2 kg and 0.1 m on a pole of 1 m that stands upright: ½ 5 ẋ² + 2 ẋ θ̇ + ½ 2.008 θ̇².
/// # let mut builder = ModelBuilder::new("cart pole");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::z();
/// # builder.link(LinkSpec::new("rail", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("cart", SpatialInertia::solid_box(3.0, Vector3::repeat(0.2))));
/// # builder.link(LinkSpec::new("pole", bob));
/// # builder.joint(JointSpec::new("slide", JointKind::Prismatic, "rail", "cart").about(Vector3::x()));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "cart", "pole").about(Vector3::y()));
/// # let model = builder.build()?;
/// let mut mass = DMatrix::zeros(2, 2);
/// mass_matrix(&model, &[0.7, 0.0], &mut Workspace::new(&model), &mut mass);
/// assert!((mass - Matrix2::new(5.0, 2.0, 2.0, 2.008)).norm() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
pub fn mass_matrix(model: &Model, q: &[f64], workspace: &mut Workspace, mass: &mut DMatrix<f64>) {
    let n_v = model.n_v();
    assert_eq!(mass.shape(), (n_v, n_v), "M is n_v × n_v");
    workspace.update_positions(model, q);
    mass_matrix_into(model, workspace, mass.as_mut_slice());
}

/// [`mass_matrix`] at the position of the last update of the workspace, column-major.
pub(crate) fn mass_matrix_into(model: &Model, workspace: &mut Workspace, mass: &mut [f64]) {
    let w = workspace;
    composite_rigid_bodies(model, &w.positions, &w.inertias, &mut w.composite, mass);
}

/// Forward dynamics v̇ = M(q)⁻¹ (τ − k(q, v)) by the articulated body algorithm, with all joints free and without rotors.
///
/// Arrays and units as in [`inverse_dynamics`], of which it is the inverse in `vdot`. Rotors, dampers, springs and external forces
/// are arguments of [`constrained_forward_dynamics`].
///
/// # Panics
/// If an array has the wrong length.
///
/// # Source
/// Featherstone (2008), chapter 7; see [`ArticulatedBodies`].
pub fn forward_dynamics(
    model: &Model,
    q: &[f64],
    v: &[f64],
    tau: &[f64],
    gravity: &Vector3<f64>,
    workspace: &mut Workspace,
    vdot: &mut [f64],
) {
    let w = workspace;
    w.update(model, q, v);
    w.update_bias_wrenches(model, gravity);
    w.articulated
        .factor(model, &w.positions, &w.inertias, &[], &w.no_dofs_held);
    w.articulated
        .solve_with_bias(model, &w.positions, &w.wrenches, tau, vdot);
    w.articulated.add_increments_to(&mut w.accelerations);
}

/// Input of [`constrained_forward_dynamics`].
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{DofIdx, ForwardDynamicsInput, HeldDofs, Workspace, constrained_forward_dynamics};
///
/// // A held joint has the acceleration that it is given, whatever gravity does.
/// let mut workspace = Workspace::new(&model);
/// workspace.update(&model, &[0.0], &[0.0]);
/// let input = ForwardDynamicsInput {
///     tau: &[0.0],
///     external: &[],
///     diagonal: &[],
///     held: &HeldDofs::of(&model, [DofIdx(0)]),
///     held_acceleration: &[0.5],
///     gravity: Vector3::new(0.0, 0.0, -9.81),
/// };
/// let mut vdot = [0.0];
/// constrained_forward_dynamics(&model, &input, &mut workspace, &mut vdot);
/// assert_eq!(vdot, [0.5]);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ForwardDynamicsInput<'a> {
    /// Joint forces, n_v entries, N m or N.
    pub tau: &'a [f64],
    /// Wrench on each body about its origin in world axes, indexed by [`BodyIdx`](crate::BodyIdx); empty for none.
    pub external: &'a [Wrench],
    /// Diagonal added to M(q), n_v entries, kg m² or kg, see [`Model::implicit_diagonal`]; empty for none.
    pub diagonal: &'a [f64],
    /// Held degrees of freedom, which are not solved for.
    pub held: &'a HeldDofs,
    /// Accelerations of the held degrees of freedom, n_v entries of which the free ones are ignored, rad/s² or m/s²; empty for zero.
    pub held_acceleration: &'a [f64],
    /// Gravity of the world, m/s².
    pub gravity: Vector3<f64>,
}

/// Forward dynamics at the state of the last update of the workspace, with a diagonal added to M(q) and some degrees of
/// freedom held:
///
/// ```text
/// (M_ff + D_ff) v̇_f = τ_f − k_f − M_fh v̇_h + (Jᵀ F_ext)_f,        v̇_h given
/// ```
///
/// with f the free and h the held degrees of freedom, D the diagonal and F_ext the external wrenches. `vdot` has n_v entries, rad/s²
/// or m/s². Call [`Workspace::update`] at (q, v) first.
///
/// # Panics
/// If an array has the wrong length.
pub fn constrained_forward_dynamics(
    model: &Model,
    input: &ForwardDynamicsInput<'_>,
    workspace: &mut Workspace,
    vdot: &mut [f64],
) {
    let w = workspace;
    vdot.fill(0.0);
    if !input.held_acceleration.is_empty() {
        for &k in input.held.held() {
            vdot[k] = input.held_acceleration[k];
        }
    }
    w.update_wrenches(model, vdot, &input.gravity, input.external);
    w.articulated
        .factor(model, &w.positions, &w.inertias, input.diagonal, input.held);
    w.articulated
        .solve_with_bias(model, &w.positions, &w.wrenches, input.tau, vdot);
    w.articulated.add_increments_to(&mut w.accelerations);
    if !input.held_acceleration.is_empty() {
        for &k in input.held.held() {
            vdot[k] = input.held_acceleration[k];
        }
    }
}
