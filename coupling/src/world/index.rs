//! Indices of the parts of a world.

/// Names a body of a world.
///
/// ```
/// # use std::sync::Arc;
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?));
/// use pliant_coupling::WorldBuilder;
///
/// let mut builder = WorldBuilder::default();
/// builder.add_body("first", Box::new(ball.clone()));
/// let second = builder.add_body("second", Box::new(ball.starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6])));
/// let world = builder.build()?;
/// assert_eq!(world.body_name(second), "second");
/// let state = world.default_state();
/// assert_eq!(state.bodies[second.0].q[2], 0.3); // states, controls and models are in the order of the bodies
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct BodyIdx(pub usize);

/// Names a geometry of a world.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant_coupling::{Geometry, Mount, WorldBuilder};
/// use pliant_hydroelastic::{ContactMaterial, Shape};
///
/// let mut builder = WorldBuilder::default();
/// let mount = Mount::World(Isometry3::identity());
/// let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default()));
/// let stone = builder.add_geometry(Geometry::new("stone", mount, Shape::sphere(0.1)?, ContactMaterial::default()));
/// let world = builder.build()?;
/// assert_eq!(world.geometries()[stone.0].name, "stone");
/// assert!(floor < stone); // so the floor is A in their contacts
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct GeometryIdx(pub usize);

/// Names a constraint of a world.
///
/// ```
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Anchor, Constraint, ConstraintCompliance, ConstraintKind, StrongImplicit, WorldBuilder};
/// # use std::sync::Arc;
/// # use pliant_contact_sap::{SolverKind, StopCriteria};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("ball", Box::new(ball));
/// # let to = |name: &str, x: f64| Constraint {
/// #     name: name.into(),
/// #     kind: ConstraintKind::Distance(1.0),
/// #     a: Anchor::Frame { body, frame: 0, X_FA: Isometry3::identity() },
/// #     b: Anchor::World(Isometry3::translation(x, 0.0, 1.0)),
/// #     compliance: ConstraintCompliance::NearRigid,
/// # };
/// use pliant_coupling::ConstraintState;
///
/// // A ball on two threads.
/// let left = builder.add_constraint(to("left", -0.5));
/// let right = builder.add_constraint(to("right", 0.5));
/// let world = builder.build()?;
/// assert_eq!(world.constraints()[right.0].name, "right");
/// let mut state = world.default_state();
/// state.constraints[left.0] = ConstraintState::Released;
/// assert_eq!(state.constraints[right.0], ConstraintState::Active);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintIdx(pub usize);

/// Names a group of geometries of a world.
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
/// # use nalgebra::Isometry3;
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, WorldBuilder};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// use pliant_coupling::Exclusion;
///
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let on_ball = Geometry::new("ball", mount, Shape::sphere(0.1)?, ContactMaterial::default());
/// # let mount = Mount::World(Isometry3::identity());
/// # let on_floor = Geometry::new("floor", mount, Shape::half_space(), ContactMaterial::default());
/// let (ball, floor) = (builder.add_geometry(on_ball), builder.add_geometry(on_floor));
/// let (ghosts, ground) = (builder.group("ghosts"), builder.group("ground"));
/// builder.join(ball, ghosts).join(floor, ground).exclude(Exclusion::Groups(ghosts, ground));
/// assert_eq!(builder.group("ghosts"), ghosts); // a group is created once
/// # let (world, mut next) = (builder.build()?, State::default());
/// let report = stepper.step(&world, &world.default_state(), 1e-3, &mut next)?;
/// assert!(report.contacts.is_empty()); // the ball falls through the floor
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIdx(pub usize);
