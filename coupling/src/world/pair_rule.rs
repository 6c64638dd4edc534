//! The contact parameters of one pair.

use nalgebra::{Unit, Vector3};
use pliant_hydroelastic::{ContactChoice, PairMaterial, PointStiffness};

use super::{Geometry, GeometryIdx, RigidSurface, World};

/// Contact parameters of one pair of geometries. Those that are `None` follow from both materials and the world's settings.
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
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// use pliant_coupling::PairRule;
///
/// // A ball on a floor of ice, on a slope: gravity has a part along x.
/// builder.gravity(Vector3::new(1.0, 0.0, -9.81));
/// let (a, b) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// builder.pair_rule(a, b, PairRule { friction: Some(0.0), ..PairRule::default() });
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// # assert!(report.is_trusted());
/// assert!((next.bodies[0].v[3] - 1e-3).abs() < 1e-9); // it slides, and does not turn
/// assert!(next.bodies[0].v[1].abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairRule {
    /// k, N/m per contact point; a patch has its own.
    pub stiffness: Option<f64>,
    /// d, s/m.
    pub dissipation: Option<f64>,
    /// τ, s.
    pub relaxation_time_s: Option<f64>,
    /// μ.
    pub friction: Option<f64>,
    /// e of the law of impact, between rigid shapes.
    pub restitution: Option<f64>,
    /// Torque about the normal per normal force between rigid shapes, m.
    pub torsional_friction: Option<f64>,
    /// Torque against rolling per normal force between rigid shapes, m.
    pub rolling_friction: Option<f64>,
    /// Attractive force of the pair while it touches, N; a larger pull parts it.
    pub adhesion: Option<f64>,
    /// μ_s of static friction, not less than μ, which is then that of sliding; used by penalty forces alone. μ if `None`.
    pub static_friction: Option<f64>,
    /// Stiffness per area, N/m³: that of a particle is this times the part of the surface that it stands for, projected on the other surface at the
    /// start of the step. In place of `stiffness`; used by penalty forces alone.
    pub stiffness_per_area: Option<f64>,
    /// Anisotropic friction; used by penalty forces alone.
    pub anisotropy: Option<Anisotropy>,
    /// Whether edges that cross touch; used by penalty forces alone.
    pub edges: EdgeContact,
    /// Points or a patch.
    pub choice: Option<ContactChoice>,
}

/// Contact of the edges of two deforming surfaces under penalty forces, beside that of their vertices with the triangles of the other.
///
/// ```
/// # use nalgebra::{Point3, Rotation3, Vector3};
/// # use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
/// # use pliant_coupling::{Geometry, GeometryIdx, PenaltyForce, PenaltyForceSettings, State, Stepper, WorldBuilder};
/// # use pliant_hydroelastic::ContactMaterial;
/// use pliant_coupling::{EdgeContact, PairRule};
///
/// // Two square sheets of two triangles, one turned by 45 degrees, meet in an eight-pointed star. No vertex of one is over the
/// // other, but sides cross sides 8 times, diagonals sides 4 times, and each other.
/// for (edges, contacts) in [(EdgeContact::None, 0), (EdgeContact::Crossing, 13)] {
/// #     let mut builder = WorldBuilder::default();
/// #     builder.gravity(Vector3::zeros());
/// #     for (name, z) in [("low", 0.0), ("high", 5e-4)] {
/// #         let corner_W = Point3::new(-0.05, -0.05, z);
/// #         let net = NetSettings { n: 2, spacing: 0.1, node_mass: 0.01, stiffness: 200.0, damping: 0.2, radius: 0.0, corner_W };
/// #         let body = builder.add_body(name, Box::new(MassSpringNet::new(net)?));
/// #         builder.add_geometry(Geometry::of_vertices(name, body, ContactMaterial { stiffness: 200.0, ..ContactMaterial::default() }));
/// #     }
///     builder.pair_rule(GeometryIdx(0), GeometryIdx(1), PairRule { edges, ..PairRule::default() });
/// #     let (world, mut next) = (builder.build()?, State::default());
/// #     let mut state = world.default_state();
/// #     let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_4);
/// #     for p in state.bodies[1].q.chunks_exact_mut(3) {
/// #         let turned = turn * Vector3::from_column_slice(p);
/// #         p.copy_from_slice(turned.as_slice());
/// #     }
/// #     state.bodies[1].v.iter_mut().skip(2).step_by(3).for_each(|v| *v = -1.0);
/// #     let mut stepper = PenaltyForce::new(PenaltyForceSettings::default())?;
///     let report = stepper.step(&world, &state, 1e-3, &mut next)?;
///     assert_eq!(report.contacts.len(), contacts);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EdgeContact {
    /// None, as published: edges pass through each other where no vertex meets a triangle.
    #[default]
    None,
    /// Edges that cross are pulled apart, with the stiffness of a particle.
    Crossing,
}

impl EdgeContact {
    /// Names in scenes, the default first.
    pub const NAMES: [(&'static str, Self); 2] =
        [("none", Self::None), ("crossing", Self::Crossing)];
}

/// Friction that differs along one direction of one of the two geometries. Across it friction is that of the pair.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, -9.81 / 4e4, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, PenaltyForce, PenaltyForceSettings, State, Stepper, WorldBuilder};
/// use pliant_coupling::{Anisotropy, PairRule};
///
/// // A box on a slope of 3 m/s² along x; μ = 0.5 would hold it, but the floor has grooves along x with μ = 0.1.
/// # let material = ContactMaterial { stiffness: 2e4, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// builder.gravity(Vector3::new(3.0, 0.0, -9.81));
/// let grooves = Anisotropy { of: floor, direction: Vector3::x_axis(), friction: 0.1 };
/// builder.pair_rule(cube, floor, PairRule { anisotropy: Some(grooves), ..PairRule::default() });
/// # let (world, mut next) = (builder.build()?, State::default());
/// # let settings = PenaltyForceSettings { box_particles: 2, ..PenaltyForceSettings::default() };
/// # assert!(PenaltyForce::new(settings)?.step(&world, &world.default_state(), 0.01, &mut next)?.is_trusted());
/// assert!((next.bodies[0].v[3] - 0.01 * (3.0 - 0.1 * 9.81)).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anisotropy {
    /// Whose direction: fixed in the world or on a frame.
    pub of: GeometryIdx,
    /// In that geometry's frame.
    pub direction: Unit<Vector3<f64>>,
    /// μ along it, positive. Static friction along it has the same ratio to that across.
    pub friction: f64,
}

impl PairRule {
    /// What the rule says of impacts and resistance to turning.
    pub(crate) fn rigid_surface(&self) -> RigidSurface {
        RigidSurface {
            restitution: self.restitution,
            torsional_friction: self.torsional_friction.unwrap_or(0.0),
            rolling_friction: self.rolling_friction.unwrap_or(0.0),
        }
    }

    /// All parameters of the contact given, points or patch left open.
    #[must_use]
    pub fn material(material: PairMaterial) -> Self {
        Self {
            stiffness: Some(material.stiffness),
            dissipation: Some(material.dissipation),
            relaxation_time_s: Some(material.relaxation_time_s),
            friction: Some(material.friction),
            ..Self::default()
        }
    }

    /// `combined` where the rule says nothing.
    pub(crate) fn over(&self, combined: &PairMaterial) -> PairMaterial {
        PairMaterial {
            stiffness: self.stiffness.unwrap_or(combined.stiffness),
            dissipation: self.dissipation.unwrap_or(combined.dissipation),
            relaxation_time_s: self.relaxation_time_s.unwrap_or(combined.relaxation_time_s),
            friction: self.friction.unwrap_or(combined.friction),
        }
    }
}

impl World {
    /// The rule of a pair; `None` without one.
    fn rule(&self, a: GeometryIdx, b: GeometryIdx) -> Option<&PairRule> {
        let key = (a.min(b), a.max(b));
        let rules = &self.parts.pair_rules;
        let found = rules.binary_search_by_key(&key, |(pair, _)| *pair);
        found.ok().map(|found| &rules[found].1)
    }

    /// Whether a pair has point or patch contact.
    pub(crate) fn choice(&self, a: GeometryIdx, b: GeometryIdx) -> ContactChoice {
        self.rule(a, b)
            .and_then(|rule| rule.choice)
            .unwrap_or(self.parts.contact.choice)
    }

    /// Contact parameters of a pair.
    pub(crate) fn pair(&self, a: GeometryIdx, b: GeometryIdx) -> PairMaterial {
        let [m_a, m_b] = [a, b].map(|g| &self.parts.geometries[g.0].material);
        let combined = m_a.combined_with(m_b);
        match self.rule(a, b) {
            Some(rule) => rule.over(&combined),
            None => combined,
        }
    }

    /// Impacts and resistance to turning of a pair in point contact.
    pub(crate) fn rigid_pair(&self, a: GeometryIdx, b: GeometryIdx) -> RigidSurface {
        let [of_a, of_b] = [a, b].map(|g| &self.parts.geometries[g.0].rigid_surface);
        let combined = of_a.combined_with(of_b);
        let Some(rule) = self.rule(a, b) else {
            return combined;
        };
        RigidSurface {
            restitution: rule.restitution.or(combined.restitution),
            torsional_friction: (rule.torsional_friction).unwrap_or(combined.torsional_friction),
            rolling_friction: rule.rolling_friction.unwrap_or(combined.rolling_friction),
        }
    }

    /// The first geometry of a body or rule of a pair with impacts, resistance to turning or adhesion: its geometry, the property and its value.
    pub(crate) fn first_rigid_surface(&self) -> Option<(&Geometry, &'static str, f64)> {
        let parts = &self.parts;
        let of_geometries = parts.geometries.iter().map(|g| (g, g.rigid_surface));
        let of_rules = (parts.pair_rules.iter())
            .map(|((a, _), rule)| (&parts.geometries[a.0], rule.rigid_surface()));
        let adhesion = parts.pair_rules.iter().find_map(|((a, _), rule)| {
            Some((&parts.geometries[a.0], "adhesion (N)", rule.adhesion?))
        });
        let of_surface = of_geometries
            .chain(of_rules)
            .find_map(|(geometry, surface)| {
                let (name, value) = surface.first_given()?;
                Some((geometry, name, value))
            });
        of_surface.or(adhesion)
    }

    /// Whether any pair has adhesion.
    pub(crate) fn has_adhesion(&self) -> bool {
        self.parts
            .pair_rules
            .iter()
            .any(|(_, rule)| rule.adhesion.is_some())
    }

    /// The attractive force of a pair while it touches, N.
    pub(crate) fn adhesion(&self, a: GeometryIdx, b: GeometryIdx) -> f64 {
        self.rule(a, b)
            .and_then(|rule| rule.adhesion)
            .unwrap_or(0.0)
    }

    /// μ_s of a pair.
    pub(crate) fn static_friction(&self, a: GeometryIdx, b: GeometryIdx) -> f64 {
        let given = self.rule(a, b).and_then(|rule| rule.static_friction);
        given.unwrap_or_else(|| self.pair(a, b).friction)
    }

    /// Stiffness per area of a pair (N/m³).
    pub(crate) fn stiffness_per_area(&self, a: GeometryIdx, b: GeometryIdx) -> Option<f64> {
        self.rule(a, b)?.stiffness_per_area
    }

    /// Anisotropic friction of a pair.
    pub(crate) fn anisotropy(&self, a: GeometryIdx, b: GeometryIdx) -> Option<Anisotropy> {
        self.rule(a, b)?.anisotropy
    }

    /// Whether edges of a pair that cross touch.
    pub(crate) fn edges(&self, a: GeometryIdx, b: GeometryIdx) -> EdgeContact {
        self.rule(a, b).map_or(EdgeContact::None, |rule| rule.edges)
    }

    /// Contact parameters of a pair at one of its points. In patches dissipation is weighted by compliance.
    pub(crate) fn pair_at(
        &self,
        a: GeometryIdx,
        b: GeometryIdx,
        point: &PointStiffness,
    ) -> PairMaterial {
        let pair = self.pair(a, b);
        if let PointStiffness::Share(_) | PointStiffness::OfArea { .. } = point {
            return pair;
        }
        let [m_a, m_b] = [a, b].map(|g| &self.parts.geometries[g.0].material);
        let given = self.rule(a, b).and_then(|rule| rule.dissipation);
        PairMaterial {
            dissipation: given.unwrap_or_else(|| m_a.dissipation_at(m_b, point)),
            ..pair
        }
    }
}
