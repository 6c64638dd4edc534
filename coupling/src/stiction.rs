//! Friction memory: the bristle deflection of sticking contacts, kept from step to step.
//!
//! Regularised friction carries a load only while it slips: γ_t = −μn u/√(u² + ε²) with u = v_t, so a contact at the fraction s of its
//! friction bound creeps at ε s/√(1 − s²). With memory u = v_t + r/δt, where r is the deflection that carried the load of the last step,
//! as in bristle models (LuGre). The contact is then a stiff, damped spring with stiffness μn/(δt ε): it carries the load at rest,
//! v_t = 0. r enters as a velocity bias, so the problem stays convex.
//!
//! r follows from the friction of the last step alone, by inverting the law:
//! [`ContactModel::bristle_rate`](crate::ContactModel::bristle_rate).

use nalgebra::Vector3;
use pliant_hydroelastic::ContactKey;
use serde::{Deserialize, Serialize};

use crate::settings::ContactSettings;
use crate::world::GeometryIdx;

/// Speeds of a body at rest within the solver's tolerance, in units of v_s.
const AT_REST: f64 = 1e-5;

/// The friction memory of one contact.
///
/// ```
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
/// # use pliant_coupling::{ContactSettings, Geometry, Mount, State, Stepper, Stiction, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// // A ball on a slope, where all contacts have memory.
/// builder.contact(ContactSettings { stiction: Stiction::Held, ..ContactSettings::default() });
/// builder.gravity(Vector3::new(1.0, 0.0, -9.81));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// # let (world, mut next) = (builder.build()?, State::default());
/// # assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// let memory = &next.memory.contacts[0];
/// assert_eq!((memory.a, memory.b), (a, b));
/// // The ball's side of the bristles is bent downhill, by less than 10 v_s δt.
/// let r = memory.bristle_deflection_W;
/// assert!(r.x > 0.0 && r.z == 0.0 && r.norm() < 10.0 * 1e-4 * 1e-3, "{r}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory {
    /// Geometry A.
    pub a: GeometryIdx,
    /// Geometry B.
    pub b: GeometryIdx,
    /// Identifies the contact within the pair.
    pub key: ContactKey,
    /// r, m, world axes: bristle deflection of A relative to B.
    pub bristle_deflection_W: Vector3<f64>,
}

impl ContactMemory {
    /// By which they are sorted.
    pub(crate) fn sort_key(&self) -> (GeometryIdx, GeometryIdx, ContactKey) {
        (self.a, self.b, self.key)
    }
}

/// The bristle deflection of a contact, projected onto the plane with unit normal `normal_W`; zero for a new contact.
/// `contacts` is sorted.
pub(crate) fn remembered_deflection(
    contacts: &[ContactMemory],
    key: (GeometryIdx, GeometryIdx, ContactKey),
    normal_W: &Vector3<f64>,
) -> Vector3<f64> {
    match contacts.binary_search_by_key(&key, ContactMemory::sort_key) {
        Ok(found) => {
            let r = contacts[found].bristle_deflection_W;
            r - normal_W * normal_W.dot(&r)
        }
        Err(_) => Vector3::zeros(),
    }
}

/// Sets negligible velocities (m/s, rad/s) of a body held in patches to zero in the guess.
///
/// A held contact carries its load at v_t = 0 by its deflection. Zero velocity then solves the step without an iteration and leaves the
/// deflection as it is; a residual velocity would change it in every step.
pub(crate) fn zero_resting_velocities(settings: &ContactSettings, guess: &mut [f64]) {
    let rest = AT_REST * settings.stiction_speed;
    for v in guess.iter_mut().filter(|v| v.abs() < rest) {
        *v = 0.0;
    }
}
