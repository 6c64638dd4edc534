//! A step like the last one allocates nothing: every request of this thread is counted.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

use std::cell::Cell;
use std::sync::Arc;

use allocation_counter::measure;
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, NetSettings, ParticleBlob};
use pliant_contact_sap::{
    BodyState, DeformableModel, Integration, PdGains, SolverKind, StepInput, StopCriteria,
};
use pliant_coupling::{
    Anchor, Batch, BatchReport, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind,
    ContactSettings, Exclusion, Geometry, Mount, PatchFinder, SimilarModel, State, StepReport,
    Stepper, StrongImplicit, StrongImplicitSettings, World, WorldBuilder,
};
use pliant_hydroelastic::{
    Compliance, ContactGeometry, ContactMaterial, ContactPoint, ContactWorkspace,
    GeometryDispatcher, GeometryError, PatchGeometry, Posed, Query, Shape,
};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};

fn cuboid(builder: &mut WorldBuilder, name: &str, mount: Mount, lengths: Vector3<f64>) {
    let shape = Shape::cuboid(lengths).expect("positive lengths");
    builder.add_geometry(Geometry::new(
        name,
        mount,
        shape,
        ContactMaterial::default(),
    ));
}

fn on(body: BodyIdx, frame: u32) -> Mount {
    let X_FG = Isometry3::identity();
    Mount::Frame { body, frame, X_FG }
}

/// A pile of six boxes beside a sliding one, a driven cart on a rail that leans on the pile, a box on a weld.
fn busy_world(builder: &mut WorldBuilder) {
    let floor = Mount::World(Isometry3::identity());
    let material = ContactMaterial::default();
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), material));
    let lengths = Vector3::repeat(0.1);
    for k in 0..8 {
        let mut model = ModelBuilder::new("box");
        model.root(Root::Floating);
        let inertia = SpatialInertia::solid_box(1.0, lengths);
        model.link(LinkSpec::new("box", inertia));
        let model = Arc::new(model.build().expect("a legal model"));
        let (x, z) = match k {
            0..6 => (0.0, 0.05 + 0.1 * f64::from(k)),
            6 => (0.5, 0.05),
            _ => (-1.0, 2.0),
        };
        let v = if k == 6 { 0.5 } else { 0.0 };
        let tree = RigidTree::new(model).starting_at(
            &[x, 0.0, z, 1.0, 0.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, v, 0.0, 0.0],
        );
        let name = format!("box {k}");
        let body = builder.add_body(&name, Box::new(tree));
        cuboid(builder, &name, on(body, 0), lengths);
        if k == 7 {
            builder.add_constraint(Constraint {
                name: "hook".into(),
                kind: ConstraintKind::Weld,
                a: Anchor::World(Isometry3::translation(x, 0.0, z)),
                b: Anchor::Frame {
                    body,
                    frame: 0,
                    X_FA: Isometry3::identity(),
                },
                compliance: ConstraintCompliance::NearRigid,
            });
        }
    }
    let mut model = ModelBuilder::new("cart");
    model.link(LinkSpec::new("rail", SpatialInertia::zero()));
    let inertia = SpatialInertia::solid_box(1.0, lengths);
    model.link(LinkSpec::new("cart", inertia));
    let slide = JointSpec::new("slide", JointKind::Prismatic, "rail", "cart");
    model.joint(
        slide
            .about(Vector3::x())
            .at(Isometry3::translation(-0.1, 0.0, 0.06)),
    );
    let model = Arc::new(model.build().expect("a legal model"));
    let joint = model.joint_named("slide").expect("just added");
    let gains = PdGains {
        proportional: 100.0,
        derivative: 10.0,
        effort_limit: 5.0,
    };
    let cart = RigidTree::new(model).with_actuator(joint, gains);
    let body = builder.add_body("cart", Box::new(cart.expect("legal gains")));
    cuboid(builder, "cart", on(body, 1), lengths);
}

thread_local! {
    static FOR_GEOMETRY: Cell<u64> = const { Cell::new(0) };
}

/// Our own contact geometry, what it asks for counted apart: it has its own test of this.
struct Metered(GeometryDispatcher);

impl ContactGeometry for Metered {
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let mut answer = None;
        let asked = measure(|| answer = self.0.collide(a, b, q, workspace, out));
        FOR_GEOMETRY.set(FOR_GEOMETRY.get() + asked.count_total);
        answer
    }
}

/// Requests of each of `steps` steps after `settled` ones, first all and then those of contact geometry, and where they
/// ended.
fn requests(
    world: &World,
    integration: Integration,
    settled: usize,
    steps: usize,
) -> (Vec<[u64; 2]>, State) {
    // One thread: waking others is rayon's business.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one").install(|| {
        let solver = SolverKind::Newton.build(StopCriteria::default());
        let geometry = Box::new(Metered(GeometryDispatcher::default()));
        let settings = StrongImplicitSettings {
            integration,
            ..StrongImplicitSettings::default()
        };
        let mut stepper = StrongImplicit::new(solver)
            .with_geometry(geometry)
            .with_settings(settings)
            .expect("legal settings");
        let (mut state, mut next) = (world.default_state(), State::default());
        let mut report = StepReport::default();
        let mut counts = Vec::with_capacity(steps);
        for k in 0..settled + steps {
            let all = measure(|| {
                stepper
                    .step_into(world, &state, 1e-3, &mut next, &mut report)
                    .expect("a step that can be taken");
            });
            let asked = [all.count_total, FOR_GEOMETRY.take()];
            assert!(report.is_trusted());
            if k >= settled {
                counts.push(asked);
            }
            std::mem::swap(&mut state, &mut next);
        }
        assert!(report.contacts.iter().any(|c| c.force_W.norm() > 0.0));
        (counts, state)
    })
}

#[test]
fn a_steady_step_of_rigid_bodies_allocates_nothing() {
    let lagged = ContactSettings::default().model;
    for (integration, model) in [
        (Integration::BackwardEuler, lagged.clone()),
        (Integration::Midpoint, lagged),
        (Integration::Symplectic, Arc::new(SimilarModel)),
    ] {
        let mut builder = WorldBuilder::default();
        busy_world(&mut builder);
        builder.contact(ContactSettings {
            model: model.clone(),
            ..ContactSettings::default()
        });
        let world = builder.build().expect("a legal world");
        let (counts, _) = requests(&world, integration, 60, 20);
        assert!(
            counts.iter().all(|[all, _]| *all == 0),
            "{integration:?} {model:?}: {counts:?}"
        );
    }
}

#[test]
fn a_steady_step_of_a_batch_allocates_nothing() {
    let mut builder = WorldBuilder::default();
    busy_world(&mut builder);
    let world = builder.build().expect("a legal world");
    let stepper = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let states = vec![world.default_state(); 3];
    let mut batch = Batch::copies_of(&world, states, stepper).expect("its own states");
    let mut report = BatchReport::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a pool of one").install(|| {
        for k in 0..80 {
            let asked = measure(|| batch.step_into(1e-3, &mut report));
            assert!(report.is_trusted());
            assert!(k < 60 || asked.count_total == 0, "step {k}: {asked:?}");
        }
    });
}

/// Compliant cubes and a ball on each other and on a rigid floor, and a rigid ball pressed into a compliant block.
fn patch_world(builder: &mut WorldBuilder) {
    let soft = |shape: &Shape| {
        let compliance = Compliance {
            hydroelastic_modulus: 1e6,
            mesh_resolution_hint: 0.02,
            ..Compliance::default()
        };
        PatchGeometry::compliant(shape, &compliance).expect("a shape with a field")
    };
    let hard = |shape: &Shape| PatchGeometry::rigid(shape, 0.02).expect("a shape with a surface");
    let material = ContactMaterial::default();
    let fixed = |name, shape: &Shape, x, z, patch| {
        let mount = Mount::World(Isometry3::translation(x, 0.0, z));
        Geometry::new(name, mount, shape.clone(), material).with_patch(patch)
    };
    let floor = Shape::half_space();
    builder.add_geometry(fixed("floor", &floor, 0.0, 0.0, hard(&floor)));
    let lengths = Vector3::repeat(0.1);
    let cube = Shape::cuboid(lengths).expect("positive lengths");
    builder.add_geometry(fixed("block", &cube, 0.5, 0.05, soft(&cube)));
    let ball = Shape::sphere(0.05).expect("a positive radius");
    for (name, shape, patch, x, z) in [
        ("lower", &cube, soft(&cube), 0.0, 0.05),
        ("upper", &cube, soft(&cube), 0.01, 0.15),
        ("soft ball", &ball, soft(&ball), 0.01, 0.249),
        ("hard ball", &ball, hard(&ball), 0.5, 0.149),
    ] {
        let mut model = ModelBuilder::new(name);
        model.root(Root::Floating);
        let inertia = SpatialInertia::solid_box(1.0, lengths);
        model.link(LinkSpec::new(name, inertia));
        let model = Arc::new(model.build().expect("a legal model"));
        let start = [x, 0.0, z, 1.0, 0.0, 0.0, 0.0];
        let tree = RigidTree::new(model).starting_at(&start, &[0.0; 6]);
        let body = builder.add_body(name, Box::new(tree));
        let touched = Geometry::new(name, on(body, 0), shape.clone(), material);
        builder.add_geometry(touched.with_patch(patch));
    }
}

#[test]
fn a_steady_step_of_patches_allocates_nothing() {
    let mut builder = WorldBuilder::default();
    patch_world(&mut builder);
    let world = builder.build().expect("a legal world");
    let (counts, end) = requests(&world, Integration::default(), 100, 20);
    assert!(counts.iter().all(|[all, _]| *all == 0), "{counts:?}");
    let height = |body: usize| end.bodies[body].q[2];
    // All lie where they were put, on a patch each.
    for (body, z) in [(0, 0.05), (1, 0.15), (2, 0.249), (3, 0.149)] {
        assert!((height(body) - z).abs() < 2e-3, "{}", height(body));
    }
    let mut finder = PatchFinder::default();
    let pairs = finder.find(&world, &end).expect("finite poses");
    assert_eq!(pairs.len(), 4);
}

/// The bodies of the kit make vectors as they like, the rest of the step does not.
#[test]
fn the_step_adds_nothing_to_what_soft_bodies_and_their_geometry_ask_for() {
    let mut builder = WorldBuilder::default();
    let floor = Mount::World(Isometry3::identity());
    let soft = ContactMaterial {
        stiffness: 5e3,
        dissipation: 5.0,
        ..ContactMaterial::default()
    };
    builder.add_geometry(Geometry::new("floor", floor, Shape::half_space(), soft));
    let net = MassSpringNet::new(NetSettings {
        corner_W: Point3::new(0.0, 0.0, 0.011),
        ..NetSettings::default()
    })
    .expect("legal settings");
    let settings = BlobSettings {
        corner_W: Point3::new(1.0, 0.0, 0.02),
        ..BlobSettings::default()
    };
    let blob = ParticleBlob::new(settings).expect("legal settings");
    let models: [(&str, Box<dyn DeformableModel>); 2] =
        [("net", Box::new(net)), ("blob", Box::new(blob))];
    for (name, model) in models {
        let body = builder.add_body(name, model);
        builder.add_geometry(Geometry::of_vertices(name, body, soft));
        if name == "blob" {
            builder.exclude(Exclusion::Bodies(body, body));
        }
    }
    let world = builder.build().expect("a legal world");
    let (counts, end) = requests(&world, Integration::default(), 300, 5);
    let alone: u64 = (0..2)
        .map(|b| requests_of_body(world.model(BodyIdx(b)), &end.bodies[b]))
        .sum();
    eprintln!("requests of steps, and of their geometry: {counts:?}; of the bodies alone: {alone}");
    for [all, geometry] in counts {
        assert_eq!(all - geometry, alone);
    }
}

/// Requests of one step that only opens, linearises and advances.
fn requests_of_body(model: &dyn DeformableModel, state: &BodyState) -> u64 {
    let control = model.default_control();
    let input = StepInput {
        time_step: 1e-3.into(),
        gravity: Vector3::new(0.0, 0.0, -9.81),
        control: &control,
    };
    let (mut step, mut next) = (model.new_step(), state.clone());
    let (mut linearised_at, mut v) = (Vec::new(), Vec::new());
    let mut count = 0;
    for _ in 0..3 {
        let asked = measure(|| {
            step.begin(state, &input).expect("a legal state");
            step.linearise_start(&mut linearised_at).expect("always");
            v.clear();
            v.extend_from_slice(step.start_velocity());
            let report = step.advance(&v, &mut next).expect("always");
            assert!(report.warnings.is_empty());
        });
        count = asked.count_total;
    }
    count
}
