//! The baselines by name.

/// A way of finding contact forces that the implicit step is compared with. Each creeps or collapses somewhere where friction carries a load.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, WorldBuilder};
/// use pliant_coupling::{PenaltyBaseline, PenaltyForce, PenaltyForceSettings};
///
/// // A box of 1 kg meets the floor with 0.1 m/s, on four corners of k = 10⁴ N/m. With the forces of the start of the step, it goes on;
/// // with those of the end v = v0/(1 + 4 k δt²/m).
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # builder.gravity(Vector3::zeros());
/// # let (world, mut next) = (builder.build()?, State::default());
/// for (baseline, factor) in [(Some(PenaltyBaseline::Lagged), 1.0), (None, 1.0 / 1.04)] {
///     let settings = PenaltyForceSettings { baseline, box_particles: 2, ..PenaltyForceSettings::default() };
///     assert!(PenaltyForce::new(settings)?.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
///     assert!((next.bodies[0].v[5] + 0.1 * factor).abs() < 1e-7);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyBaseline {
    /// Normal force and friction at the start of the step: `prmd_dd_lag` of Ding and Schroeder (2020).
    Lagged,
    /// Normal force at the end of the step, friction of the attachments at its start: `prmd_dd_lagfr`.
    LaggedFriction,
    /// Normal force at the end of the step, friction by impulses that stop slip as far as the friction cone lets them; no attachments.
    VelocityProjection,
    /// Anchors on springs with dampers, at the start of the step: Yamane and Nakamura (2006). The damper is k τ, with the materials' relaxation time τ.
    YamaneNakamura,
}

impl PenaltyBaseline {
    /// Names in scenes; `implicit` is none of them.
    pub const NAMES: [(&'static str, Option<Self>); 5] = [
        ("implicit", None),
        ("lag", Some(Self::Lagged)),
        ("lagfr", Some(Self::LaggedFriction)),
        ("projv", Some(Self::VelocityProjection)),
        ("yamane-nakamura", Some(Self::YamaneNakamura)),
    ];
}
