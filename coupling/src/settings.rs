//! How contact is modelled in a world.

use std::sync::Arc;

use pliant_hydroelastic::{ContactChoice, PatchShare};

use crate::contact_model::{ContactModel, DissipationRule, LaggedModel};
use crate::error::{WorldError, WorldPart};

/// Settings of contact, one for a world.
///
/// ```
/// use std::sync::Arc;
/// use pliant_coupling::{ContactSettings, SimilarModel};
///
/// let settings = ContactSettings { model: Arc::new(SimilarModel), ..ContactSettings::default() };
/// // The period of near-rigid contacts follows from the model unless it is given.
/// assert_eq!(settings.near_rigid_period(), 1.0);
/// assert_eq!(ContactSettings::default().near_rigid_period(), 0.1);
/// let error = ContactSettings { stiction_speed: 0.0, ..settings }.validate().unwrap_err();
/// assert!(error.to_string().contains("stiction speed (m/s)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContactSettings {
    /// The model.
    pub model: Arc<dyn ContactModel>,
    /// How contact loses energy.
    pub dissipation: DissipationRule,
    /// v_s, m/s: slip below this counts as stiction. 1e-4: 0.1 mm of creep in a second.
    pub stiction_speed: f64,
    /// Which contacts have friction memory.
    pub stiction: Stiction,
    /// β: stiffness is capped where the lighter body would oscillate on a contact with the period β δt. `None`: the model's
    /// default, [`ContactModel::near_rigid_period`].
    pub near_rigid: Option<f64>,
    /// Treatment of contacts that begin within the step.
    pub speculation: Speculation,
    /// Points or patches, for pairs without a rule of their own.
    pub choice: ContactChoice,
}

/// Which contacts have friction memory, a bristle deflection kept from step to step.
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
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// use pliant_coupling::{ContactSettings, Stiction};
///
/// // A ball on a slope touches at a point: of the three only `Held` gives it memory.
/// builder.contact(ContactSettings { stiction: Stiction::Held, ..ContactSettings::default() });
/// builder.gravity(Vector3::new(1.0, 0.0, -9.81));
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// # builder.add_geometry(on_ball);
/// # builder.add_geometry(on_floor);
/// # let (world, mut next) = (builder.build()?, State::default());
/// # assert!(stepper.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// assert_eq!(next.memory.contacts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stiction {
    /// None. A contact at the fraction s of its friction bound creeps, in the lagged and the similar model at v_s s/√(1 − s²): 1.2e-7 m/s
    /// in a crooked stack, 2e-4 m/s on an incline of 0.9 times the critical slope. In the SAP model at σ w γ_t, which is less at short
    /// steps.
    Creeping,
    /// Contacts in patches, including those of deformable surfaces; not point contacts. Deformable bodies tilt under eccentric loads, so a
    /// patch at rest nearly always carries friction.
    #[default]
    HeldInPatches,
    /// All contacts. The deflection is part of the [`State`](crate::State). A contact carries up to 0.995 of its friction bound at rest,
    /// as long as the same features of two geometries are in contact.
    Held,
}

impl Stiction {
    /// Whether a contact has memory, in a patch or at a point.
    pub(crate) fn remembers(self, patch: Option<PatchShare>) -> bool {
        match self {
            Self::Creeping => false,
            Self::HeldInPatches => patch.is_some(),
            Self::Held => true,
        }
    }
}

/// Treatment of contacts that begin within the step.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// use pliant_coupling::{ContactSettings, Speculation};
///
/// // A ball at 100 m/s meets a thin plate in the middle of a step of 10 ms.
/// for (speculation, tunnels) in [(Speculation::Swept, false), (Speculation::RestingMargin, true)] {
/// #     let mut ball = ModelBuilder::new("ball");
/// #     ball.root(Root::Floating);
/// #     ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// #     let q = [0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0];
/// #     let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -100.0]);
/// #     let mut builder = WorldBuilder::default();
/// #     let body = builder.add_body("ball", Box::new(ball));
/// #     let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// #     builder.add_geometry(Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default()));
/// #     let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.005))?;
/// #     builder.add_geometry(Geometry::new("plate", Mount::World(Isometry3::identity()), plate, ContactMaterial::default()));
///     builder.contact(ContactSettings { speculation, ..ContactSettings::default() });
/// #     let (world, mut next) = (builder.build()?, State::default());
/// #     let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// #     let report = stepper.step(&world, &world.default_state(), 0.01, &mut next)?;
/// #     assert!(report.is_trusted());
///     let height = next.bodies[0].q[2];
///     assert_eq!(height < -0.3, tunnels);
///     assert_eq!(height > 0.09, !tunnels);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speculation {
    /// Speculative contacts where swept paths intersect.
    #[default]
    Swept,
    /// Contacts within the resting margin only; fast bodies may tunnel.
    RestingMargin,
    /// A baseline: contacts that overlap at the start only. Stiff contacts that one step opens are missed by the next, and their force
    /// alternates (Li and Chou 2025, V-E, for point contact).
    Overlapping,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            model: Arc::new(LaggedModel::default()),
            dissipation: DissipationRule::HuntCrossley,
            stiction_speed: 1e-4,
            stiction: Stiction::default(),
            near_rigid: None,
            speculation: Speculation::Swept,
            choice: ContactChoice::PatchElsePoint,
        }
    }
}

impl ContactSettings {
    /// Whether speculative contacts are found along predicted paths; not by a model that acts at a distance.
    pub(crate) fn follows_paths(&self) -> bool {
        self.speculation == Speculation::Swept && self.model.range_m().is_none()
    }

    /// The dissipation parameter in use.
    pub(crate) fn dissipation_rule(&self) -> DissipationRule {
        self.model.dissipation(self.dissipation)
    }

    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        let range_m = self.model.range_m();
        let range = range_m.map(|range_m| ("range of the contact model (m)", range_m));
        let numbers = [
            ("stiction speed (m/s)", self.stiction_speed),
            ("near-rigid period (time steps)", self.near_rigid_period()),
        ];
        for (what, value) in numbers.into_iter().chain(range) {
            if !(value > 0.0 && value.is_finite()) {
                return Err(WorldError::Parameter {
                    part: WorldPart::World,
                    parameter: what.into(),
                    value,
                    allowed: "must be positive and finite",
                });
            }
        }
        Ok(())
    }

    /// β in use.
    #[must_use]
    pub fn near_rigid_period(&self) -> f64 {
        self.near_rigid
            .unwrap_or_else(|| self.model.near_rigid_period())
    }
}
