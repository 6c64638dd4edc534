//! The θ-family through the whole step: orders in free motion, contact that stays symmetric, equilibria that stay put.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::conformance::{BlobSettings, MassSpringNet, NetSettings, ParticleBlob};
use pliant_contact_sap::{Integration, PdGains, SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, Exclusion, Geometry,
    GeometryIdx, Mount, State, StepReport, Stepper, StrongImplicit, StrongImplicitSettings, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    JointKind, JointLimits, JointSpec, LinkSpec, ModelBuilder, PassiveForces, RigidTree, Root,
    SpatialInertia,
};

const G: f64 = 9.81;

/// Steps `state` `steps` times by `integration`, showing each report and the state after it to `watch`; every step must be trusted.
fn run(
    world: &World,
    integration: Integration,
    state: &mut State,
    time_step_s: f64,
    steps: usize,
    mut watch: impl FnMut(&StepReport, &State),
) {
    let tight = StopCriteria {
        relative_tolerance: 1e-10,
        ..StopCriteria::default()
    };
    let settings = StrongImplicitSettings {
        integration,
        ..StrongImplicitSettings::default()
    };
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(tight))
        .with_settings(settings)
        .expect("legal settings");
    let mut next = State::default();
    for _ in 0..steps {
        let report = stepper
            .step(world, state, time_step_s, &mut next)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.convergence.solve);
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

fn free_body(name: &str, inertia: SpatialInertia, X_WB: &Isometry3<f64>, v: [f64; 6]) -> RigidTree {
    let mut model = ModelBuilder::new(name);
    model.root(Root::Floating);
    model.link(LinkSpec::new("link", inertia));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    RigidTree::new(Arc::new(model.build().expect("a legal model")))
        .starting_at(&[p.x, p.y, p.z, r.w, r.i, r.j, r.k], &v)
}

fn add_shape(
    builder: &mut WorldBuilder,
    name: &str,
    body: BodyIdx,
    shape: Shape,
    material: ContactMaterial,
) -> GeometryIdx {
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    builder.add_geometry(Geometry::new(name, mount, shape, material))
}

fn add_floor(builder: &mut WorldBuilder, material: ContactMaterial) -> GeometryIdx {
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material))
}

/// A chain of two links on hinges about y, with a spring in the first, let go at an angle.
fn double_pendulum() -> World {
    let mut model = ModelBuilder::new("pendulum");
    model.link(LinkSpec::new("hook", SpatialInertia::zero()));
    let rod = SpatialInertia::solid_box(1.0, Vector3::new(0.05, 0.05, 0.4));
    for (parent, child, drop) in [("hook", "upper", 0.2), ("upper", "lower", 0.4)] {
        model.link(LinkSpec::new(child, rod));
        let mut joint = JointSpec::new(child, JointKind::Continuous, parent, child)
            .about(Vector3::y())
            .at(Isometry3::translation(0.0, 0.0, -drop));
        joint.passive = PassiveForces {
            spring_stiffness: 3.0,
            ..PassiveForces::default()
        };
        model.joint(joint);
    }
    let model = Arc::new(model.build().expect("a legal model"));
    let tree = RigidTree::new(model).starting_at(&[1.0, 0.7], &[0.0, 2.0]);
    let mut builder = WorldBuilder::default();
    builder.add_body("pendulum", Box::new(tree));
    builder.build().expect("a legal world")
}

/// A body tumbling about its middle axis, without gravity.
fn tumbling_box() -> World {
    let inertia = SpatialInertia::solid_box(1.0, Vector3::new(0.1, 0.2, 0.4));
    let body = free_body(
        "box",
        inertia,
        &Isometry3::identity(),
        [0.5, 4.0, 0.3, 0.0, 0.0, 0.0],
    );
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    builder.add_body("box", Box::new(body));
    builder.build().expect("a legal world")
}

/// A handkerchief without damping, stretched, so that no spring is ever compressed, and shaken.
fn stretched_net() -> (World, State) {
    let net = MassSpringNet::new(NetSettings {
        n: 4,
        damping: 0.0,
        ..NetSettings::default()
    })
    .expect("legal settings");
    let rim: Vec<usize> = (0..16)
        .filter(|k| [0, 3].contains(&(k / 4)) || [0, 3].contains(&(k % 4)))
        .collect();
    let control = net.holding(&rim);
    let mut builder = WorldBuilder::default();
    builder.add_body("net", Box::new(net));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    for x in state.bodies[0].q.chunks_exact_mut(3) {
        x[0] *= 1.5;
        x[1] *= 1.5;
    }
    state.bodies[0].v[15..18].copy_from_slice(&[0.1, 0.0, 0.5]);
    state.controls[0] = control;
    (world, state)
}

/// Order of convergence of q and of the energy after `seconds`, by three runs whose steps halve.
fn orders(
    world: &World,
    integration: Integration,
    start: &State,
    seconds: f64,
    coarsest: usize,
) -> (f64, f64) {
    let ends: Vec<(Vec<f64>, f64)> = (0..3)
        .map(|halvings| {
            let steps = coarsest << halvings;
            let mut state = start.clone();
            let dt = seconds / steps as f64;
            run(world, integration, &mut state, dt, steps, |_, _| {});
            let energy = world.energy(&state);
            (state.bodies[0].q.clone(), energy.kinetic + energy.potential)
        })
        .collect();
    let apart = |a: &[f64], b: &[f64]| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>().sqrt()
    };
    let of_q = apart(&ends[0].0, &ends[1].0) / apart(&ends[1].0, &ends[2].0);
    let of_energy = (ends[0].1 - ends[1].1) / (ends[1].1 - ends[2].1);
    (of_q.log2(), of_energy.abs().log2())
}

#[test]
fn free_motion_converges_at_second_order_by_midpoint_or_without_forces_and_at_first_otherwise() {
    for integration in Integration::ALL {
        let of_forces = match integration {
            Integration::Midpoint => 2.0,
            Integration::BackwardEuler | Integration::Symplectic => 1.0,
        };
        let (pendulum, tumbling) = (double_pendulum(), tumbling_box());
        let (net, shaken) = stretched_net();
        let hanging = pendulum.default_state();
        // Free rotation is a symmetric splitting by every rule.
        for (name, world, start, seconds, steps, order) in [
            ("pendulum", &pendulum, hanging, 1.0, 1000, of_forces),
            ("box", &tumbling, tumbling.default_state(), 1.0, 400, 2.0),
            ("net", &net, shaken, 0.01, 200, of_forces),
        ] {
            let (of_q, of_energy) = orders(world, integration, &start, seconds, steps);
            eprintln!("{integration:?} {name}: order {of_q:.3} of q, {of_energy:.3} of the energy");
            assert!((of_q - order).abs() < 0.15, "{integration:?} {name} {of_q}");
            // Energy may do better than positions, not worse.
            assert!(
                of_energy > order - 0.15,
                "{integration:?} {name} {of_energy}"
            );
        }
    }
}

#[test]
fn free_fall_by_midpoint_is_the_parabola() {
    let inertia = SpatialInertia::solid_box(1.0, Vector3::repeat(0.1));
    let rigid = free_body(
        "box",
        inertia,
        &Isometry3::translation(5.0, 0.0, 0.0),
        [0.0, 0.0, 0.0, 0.3, 0.0, 2.0],
    );
    let net = MassSpringNet::default();
    let blob = ParticleBlob::new(BlobSettings::default()).expect("legal settings");
    let mut builder = WorldBuilder::default();
    builder.add_body("box", Box::new(rigid));
    builder.add_body("net", Box::new(net));
    builder.add_body("blob", Box::new(blob));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let start = state.clone();
    let (dt, steps) = (0.02, 25);
    let midpoint = Integration::Midpoint;
    run(&world, midpoint, &mut state, dt, steps, |_, _| {});
    let fall = -0.5 * G * (dt * steps as f64).powi(2);
    let rigid = &state.bodies[0].q;
    assert!(
        (rigid[2] - (fall + 2.0 * 0.5)).abs() < 1e-12,
        "{}",
        rigid[2]
    );
    assert!((rigid[0] - (5.0 + 0.3 * 0.5)).abs() < 1e-12, "{}", rigid[0]);
    for b in [1, 2] {
        let (now, then) = (&state.bodies[b].q, &start.bodies[b].q);
        for (now, then) in now.chunks_exact(3).zip(then.chunks_exact(3)) {
            assert!((now[2] - then[2] - fall).abs() < 1e-11, "body {b}");
        }
    }
}

#[test]
fn whatever_rests_rests_at_the_same_place_by_every_integration() {
    let mut places = Vec::new();
    for integration in Integration::ALL {
        let mut builder = WorldBuilder::default();
        add_floor(&mut builder, ContactMaterial::default());
        let lengths = Vector3::repeat(0.1);
        for k in 0..3 {
            let X_WB = Isometry3::translation(0.0, 0.0, 0.05 + 0.1 * f64::from(k));
            let inertia = SpatialInertia::solid_box(1.0, lengths);
            let name = format!("box {k}");
            let body =
                builder.add_body(&name, Box::new(free_body(&name, inertia, &X_WB, [0.0; 6])));
            let shape = Shape::cuboid(lengths).expect("positive lengths");
            add_shape(&mut builder, &name, body, shape, ContactMaterial::default());
        }
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let mut floor_force = Vector3::zeros();
        run(&world, integration, &mut state, 1e-3, 500, |report, _| {
            let wrench = report.contact_wrench(&Point3::origin(), |g| g != GeometryIdx(0));
            floor_force = wrench.force;
        });
        let error = (floor_force - Vector3::new(0.0, 0.0, 3.0 * G)).norm();
        assert!(error < 1e-6 * G, "{integration:?}: {floor_force}");
        let heights: Vec<f64> = state.bodies.iter().map(|b| b.q[2]).collect();
        assert!(
            state
                .bodies
                .iter()
                .all(|b| b.v.iter().all(|v| v.abs() < 1e-8))
        );
        eprintln!("{integration:?}: {heights:?}");
        places.push(heights);
    }
    for heights in &places[1..] {
        for (here, there) in heights.iter().zip(&places[0]) {
            // Penetrations are of the order of 10 µm.
            assert!((here - there).abs() < 1e-10, "{here} {there}");
        }
    }
}

/// A soft ball dropped on the floor: the force of every step is the law's at the distance found when the next begins.
#[test]
fn the_predicted_gap_is_the_gap_that_comes() {
    let material = ContactMaterial {
        stiffness: 2e3,
        dissipation: 0.5,
        ..ContactMaterial::default()
    };
    let pair = material.combined_with(&material);
    for integration in Integration::ALL {
        let mut builder = WorldBuilder::default();
        add_floor(&mut builder, material);
        let X_WB = Isometry3::translation(0.0, 0.0, 0.051);
        let inertia = SpatialInertia::solid_sphere(0.5, 0.05);
        let body = free_body("ball", inertia, &X_WB, [0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        let body = builder.add_body("ball", Box::new(body));
        let shape = Shape::sphere(0.05).expect("positive radius");
        add_shape(&mut builder, "ball", body, shape, material);
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let mut closed = 0;
        run(
            &world,
            integration,
            &mut state,
            1e-3,
            300,
            |report, after| {
                // The floor is A, and its force is the reaction.
                let force: f64 = report.contacts.iter().map(|c| -c.force_W.z).sum();
                let (gap, v) = (after.bodies[0].q[2] - 0.05, after.bodies[0].v[5]);
                let law = pair.stiffness * (-gap).max(0.0) * (1.0 - pair.dissipation * v).max(0.0);
                // The solver's 1e-10 of the momentum in play, as a force.
                assert!((force - law).abs() < 1e-4, "{integration:?}: {force} {law}");
                closed += usize::from(force > 0.0);
            },
        );
        assert!(
            closed > 20,
            "{integration:?}: in contact for {closed} steps"
        );
    }
}

/// Two boxes and a soft body collide in empty space: what one gets the other gives.
#[test]
fn momentum_is_conserved_in_collisions_by_every_integration() {
    for integration in Integration::ALL {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::zeros());
        let lengths = Vector3::repeat(0.1);
        let turned = UnitQuaternion::from_euler_angles(0.2, 0.3, 0.1);
        for (name, mass, x, v) in [("light", 0.3, -0.2, 1.5), ("heavy", 5.0, 0.2, -0.5)] {
            let X_WB = Isometry3::from_parts(Vector3::new(x, 0.01 * mass, 0.02).into(), turned);
            let inertia = SpatialInertia::solid_box(mass, lengths);
            let v = [0.3, -1.0, 0.5, v, 0.0, 0.1];
            let body = builder.add_body(name, Box::new(free_body(name, inertia, &X_WB, v)));
            let shape = Shape::cuboid(lengths).expect("positive lengths");
            add_shape(&mut builder, name, body, shape, ContactMaterial::default());
        }
        let blob = ParticleBlob::new(BlobSettings {
            n: 3,
            corner_W: Point3::new(-0.02, -0.01, 0.0),
            ..BlobSettings::default()
        })
        .expect("legal settings");
        let body = builder.add_body("blob", Box::new(blob));
        let soft = ContactMaterial {
            stiffness: 5e3,
            ..ContactMaterial::default()
        };
        builder.add_geometry(Geometry::of_vertices("blob", body, soft));
        builder.exclude(Exclusion::Bodies(body, body));
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let before = world.energy(&state);
        let mut met = [0; 2];
        run(&world, integration, &mut state, 1e-3, 300, |report, _| {
            for contact in report.contacts.iter().filter(|c| c.force_W.norm() > 0.0) {
                assert_eq!(contact.b, GeometryIdx(2), "the blob is between the boxes");
                met[contact.a.0] += 1;
            }
        });
        assert!(met.iter().all(|n| *n > 0), "{integration:?}: {met:?}");
        let after = world.energy(&state);
        let change = (after.linear_momentum_W - before.linear_momentum_W).norm();
        assert!(change < 1e-9, "{integration:?}: {change:e} kg m/s");
        assert!(after.kinetic < before.kinetic, "{integration:?}");
    }
}

/// Constraints, limits and actuators hold by every integration, and none swings.
#[test]
fn constraints_settle_without_swinging_by_every_integration() {
    for integration in Integration::ALL {
        let mut builder = WorldBuilder::default();
        // A hinge that falls into its limit, one that an actuator drives to 0.4 rad, and a body hung on a ball constraint.
        let rod = SpatialInertia::solid_box(1.0, Vector3::new(0.05, 0.05, 0.4));
        for name in ["limited", "driven"] {
            let mut model = ModelBuilder::new(name);
            model.link(LinkSpec::new("base", SpatialInertia::zero()));
            model.link(LinkSpec::new("rod", rod));
            let mut joint =
                JointSpec::new("hinge", JointKind::Revolute, "base", "rod").about(Vector3::y());
            joint.limits = JointLimits {
                lower: -0.5,
                upper: 0.5,
                ..JointLimits::default()
            };
            model.joint(joint);
            let model = Arc::new(model.build().expect("a legal model"));
            let hinge = model.joint_named("hinge").expect("just added");
            let mut tree = RigidTree::new(model);
            if name == "driven" {
                let gains = PdGains {
                    proportional: 1e4,
                    derivative: 100.0,
                    effort_limit: f64::INFINITY,
                };
                tree = tree.with_actuator(hinge, gains).expect("legal gains");
            }
            builder.add_body(name, Box::new(tree.starting_at(&[0.0], &[3.0])));
        }
        let inertia = SpatialInertia::solid_box(1.0, Vector3::repeat(0.1));
        let hung = free_body(
            "hung",
            inertia,
            &Isometry3::translation(2.0, 0.0, 0.0),
            [0.0; 6],
        );
        let body = builder.add_body("hung", Box::new(hung));
        builder.add_constraint(Constraint {
            name: "hook".into(),
            kind: ConstraintKind::Ball,
            a: Anchor::Frame {
                body,
                frame: 0,
                X_FA: Isometry3::translation(0.0, 0.0, 0.1),
            },
            b: Anchor::World(Isometry3::translation(2.0, 0.0, 0.1)),
            compliance: ConstraintCompliance::NearRigid,
        });
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        state.controls[1].position = vec![0.4];
        let mut highest: f64 = 0.0;
        run(&world, integration, &mut state, 2e-3, 1000, |_, state| {
            highest = highest.max(state.bodies[0].q[0]);
        });
        let [limited, driven, hung] = [0, 1, 2].map(|b| &state.bodies[b]);
        assert!(highest < 0.5 + 5e-3, "{integration:?}: {highest}");
        assert!(limited.v[0].abs() < 5.0, "{integration:?}");
        assert!(
            (driven.q[0] - 0.4).abs() < 1e-3,
            "{integration:?} {}",
            driven.q[0]
        );
        assert!(driven.v[0].abs() < 1e-8, "{integration:?} {}", driven.v[0]);
        assert!(hung.q[2].abs() < 1e-6 && hung.v.iter().all(|v| v.abs() < 1e-8));
    }
}
