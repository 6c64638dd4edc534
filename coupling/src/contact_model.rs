//! Models of contact: from the parameters of a contact to its law.

mod bristle;
mod energy;
mod lagged;
mod sap;
mod similar;

use std::fmt::Debug;

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, ContactParameters, FrictionLimit, NEAR_RIGID_CONTACT};

pub use energy::EnergyModel;
pub use lagged::LaggedModel;
pub use sap::SapModel;
pub use similar::SimilarModel;

/// One contact of a step, as its law depends on it.
///
/// ```
/// use pliant_contact_sap::ContactLaw;
/// use pliant_coupling::{ContactInputs, ContactModel, LaggedModel};
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_coupling::{ContactSettings, Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
///
/// /// No friction on level ground, whatever the materials.
/// #[derive(Debug)]
/// struct IcyGround;
///
/// impl ContactModel for IcyGround {
///     fn law(&self, contact: &ContactInputs) -> ContactLaw {
///         let mut icy = *contact;
///         if contact.normal_W.z.abs() > 0.99 {
///             icy.parameters.friction = 0.0;
///         }
///         LaggedModel::default().law(&icy)
///     }
/// }
/// # builder.contact(ContactSettings { model: Arc::new(IcyGround), ..ContactSettings::default() });
/// # builder.gravity(Vector3::new(1.0, 0.0, -9.81));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # builder.add_geometry(on_ball);
/// # builder.add_geometry(on_floor);
/// # let (world, mut next) = (builder.build()?, State::default());
/// # assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// // A ball under gravity of 1 m/s² along the ground slides, without turning.
/// assert!((next.bodies[0].v[3] - 1e-3).abs() < 1e-9 && next.bodies[0].v[1].abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ContactInputs {
    /// Materials, geometry and inertia.
    pub parameters: ContactParameters,
    /// Unit normal from B into A, world axes.
    pub normal_W: Vector3<f64>,
    /// n0, N·s: the normal impulse of the friction bound μ n0.
    pub normal_impulse: f64,
    /// w of slip, 1/kg: at most that of the parameters. Less where a direction of slip has a larger inertia, as along a filament.
    pub slip_inertia: f64,
}

/// Where n0 of the friction bound μ n0 comes from.
///
/// ```
/// use pliant_contact_sap::FrictionLimit;
/// use pliant_coupling::{ContactModel, FrictionBound, LaggedModel, SimilarModel};
///
/// // The lagged model fixes its bounds in each solve and iterates them; the similar model has friction that is not lagged.
/// assert_eq!(LaggedModel::default().friction_bound(), FrictionBound::Iterated);
/// let predicted = FrictionBound::Predicted(FrictionLimit::LocalImplicit);
/// assert_eq!(SimilarModel.friction_bound(), predicted);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionBound {
    /// Predicted by this rule and fixed for the step.
    Predicted(FrictionLimit),
    /// Predicted by [`FrictionLimit::LocalImplicit`], then iterated until it agrees with the normal impulses of the solution.
    Iterated,
}

/// Which of a material's two dissipation parameters is used. [`SapModel`] uses the second only.
///
/// ```
/// use pliant_coupling::{ContactSettings, DissipationRule};
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
///
/// // A ball of 1 kg meets a floor of k = 1000 N/m, whose materials have d = 0 and τ = 0.1 s as a pair: with τ its velocity
/// // after a step is v0/(1 + δt k (δt + τ)/m).
/// # let material = ContactMaterial { stiffness: 2e3, dissipation: 0.0, relaxation_time_s: 0.05, friction: 0.0 };
/// for (dissipation, tau) in [(DissipationRule::HuntCrossley, 0.0), (DissipationRule::RelaxationTime, 0.1)] {
///     let settings = ContactSettings { dissipation, ..ContactSettings::default() };
/// #     let mut ball = ModelBuilder::new("ball");
/// #     ball.root(Root::Floating);
/// #     ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// #     let q = [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0];
/// #     let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1]);
/// #     let mut builder = WorldBuilder::default();
/// #     let body = builder.add_body("ball", Box::new(ball));
/// #     let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// #     builder.add_geometry(Geometry::new("ball", mount, Shape::sphere(0.1)?, material));
/// #     let mount = Mount::World(Isometry3::identity());
/// #     builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// #     builder.gravity(Vector3::zeros());
///     builder.contact(settings);
/// #     let (world, mut next) = (builder.build()?, State::default());
/// #     let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// #     assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
///     let expected = -0.1 / (1.0 + 1e-3 * 1e3 * (1e-3 + tau));
///     assert!((next.bodies[0].v[5] - expected).abs() < 1e-6);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DissipationRule {
    /// Hunt-Crossley, s/m.
    #[default]
    HuntCrossley,
    /// Linear (Kelvin-Voigt) relaxation time, s.
    RelaxationTime,
}

/// A convex model of contact: the law of each contact, and what the stepper has to provide for it.
///
/// Only [`law`](Self::law) is required. The other methods default to a model of short range without lagged quantities.
///
/// ```
/// use std::sync::Arc;
/// use pliant_contact_sap::{ContactLaw, Sap};
/// use pliant_coupling::{ContactInputs, ContactModel, ContactSettings};
///
/// /// The cone of SAP without friction memory.
/// #[derive(Debug)]
/// struct Cone;
///
/// impl ContactModel for Cone {
///     fn law(&self, contact: &ContactInputs) -> ContactLaw {
///         ContactLaw::Sap(Sap::new(&contact.parameters, contact.normal_W))
///     }
/// }
/// let settings = ContactSettings { model: Arc::new(Cone), ..ContactSettings::default() };
/// assert!(settings.validate().is_ok());
/// ```
pub trait ContactModel: Debug + Send + Sync {
    /// The law of a contact.
    fn law(&self, contact: &ContactInputs) -> ContactLaw;

    /// How n0 of the contacts is found.
    fn friction_bound(&self) -> FrictionBound {
        FrictionBound::Predicted(FrictionLimit::LocalImplicit)
    }

    /// r/δt, m/s, world axes: slip at which the law has the friction of the impulse `gamma` (N·s). The friction memory keeps r as bristle
    /// deflection and adds r/δt to the slip of the next step, so the length must be bounded.
    ///
    /// `None`: the contact has no friction memory, as by default.
    fn bristle_rate(
        &self,
        _contact: &ContactInputs,
        _gamma: &Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        None
    }

    /// Whether the normal impulse of the law follows v_n − μ‖v_t‖, which lifts sliding bodies. The stepper then adds the
    /// [`approach_of_slip`](ContactParameters::approach_of_slip) to v_n.
    fn has_sliding_gap(&self) -> bool {
        false
    }

    /// Distance from which on a pair repels, m; positive. Such a model does not follow swept paths.
    ///
    /// `None`: contacts act where surfaces touch, as by default.
    fn range_m(&self) -> Option<f64> {
        None
    }

    /// The dissipation parameter in use where the settings choose `rule`.
    fn dissipation(&self, rule: DissipationRule) -> DissipationRule {
        rule
    }

    /// β where the settings give none; see [`ContactParameters::near_rigid`].
    fn near_rigid_period(&self) -> f64 {
        NEAR_RIGID_CONTACT
    }
}
