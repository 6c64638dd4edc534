//! From the parameters of a contact in a substep to its law.

use std::fmt::Debug;

use nalgebra::Vector3;
use pliant_contact_sap::{ContactLaw, ContactParameters, FrictionLimit, Lagged};

/// A model of contact between particles and obstacles.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactLaw, ContactParameters, FrictionLimit, Sap};
/// use pliant_mpm::SubstepLaws;
///
/// /// The cone of SAP.
/// #[derive(Debug)]
/// struct Cone;
/// impl SubstepLaws for Cone {
///     fn law(&self, p: &ContactParameters, normal_W: Vector3<f64>, _: f64) -> ContactLaw {
///         ContactLaw::Sap(Sap::new(p, normal_W))
///     }
/// }
/// assert_eq!((Cone.range_m(), Cone.friction_limit()), (0.0, FrictionLimit::LocalImplicit));
/// ```
pub trait SubstepLaws: Debug + Sync {
    /// The law of a contact with unit normal `normal_W` from the obstacle into the particle, world axes. `normal_impulse` is n0, N·s, of the
    /// friction bound μ n0.
    fn law(
        &self,
        parameters: &ContactParameters,
        normal_W: Vector3<f64>,
        normal_impulse: f64,
    ) -> ContactLaw;

    /// Whether n0 is the normal impulse of the solution, found by iteration. Otherwise it is predicted.
    fn has_iterated_bound(&self) -> bool {
        false
    }

    /// How n0 is predicted from the state before the substep.
    fn friction_limit(&self) -> FrictionLimit {
        FrictionLimit::LocalImplicit
    }

    /// Whether the normal impulse of the law follows v_n − μ‖v_t‖. The
    /// [`approach_of_slip`](ContactParameters::approach_of_slip) is then added to v_n.
    fn has_sliding_gap(&self) -> bool {
        false
    }

    /// Distance from which on a particle is repelled, m; zero where contacts act when surfaces touch.
    fn range_m(&self) -> f64 {
        0.0
    }
}

/// The lagged model, with friction bounds that are iterated until they are those of the solution: Coulomb's law.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::{ContactParameters, Dissipation, NEAR_RIGID_CONTACT, Potential};
/// use pliant_mpm::{LaggedLaws, SubstepLaws};
///
/// # let parameters = ContactParameters {
/// #     time_step: 1e-3.into(), signed_distance: -1e-3, start_velocity: 0.0, stiffness: 1e3, friction: 0.5,
/// #     dissipation: Dissipation::HuntCrossley(0.0), stiction_speed: 1e-4, inverse_inertia: 1.0,
/// #     near_rigid: NEAR_RIGID_CONTACT,
/// # };
/// // A contact with μ = 0.5 that slides at 1 m/s; its friction is μ n0 until n0 is the load.
/// let law = LaggedLaws.law(&parameters, Vector3::z(), 0.02);
/// let gamma = law.impulse(&Vector3::x());
/// assert!((gamma.x + 0.5 * 0.02).abs() < 1e-6);
/// assert!(LaggedLaws.has_iterated_bound());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaggedLaws;

impl SubstepLaws for LaggedLaws {
    fn law(
        &self,
        parameters: &ContactParameters,
        normal_W: Vector3<f64>,
        normal_impulse: f64,
    ) -> ContactLaw {
        ContactLaw::Lagged(Lagged::new(parameters, normal_W, normal_impulse))
    }

    fn has_iterated_bound(&self) -> bool {
        true
    }
}
