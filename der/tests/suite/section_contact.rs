//! Contact of rods with elliptic sections and flat tips.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyState;
use pliant_coupling::{Geometry, WorldBuilder};
use pliant_der::{Centreline, Material, Rayleigh, Rod, RodBuilder, Section};
use pliant_hydroelastic::{Compliance, ContactMaterial, Tips};

use crate::support::close::close;
use crate::support::worlds::{DAMPED, MODULUS, add_rod, hard_floor, rope, rubber, run, soft};

const A: f64 = 0.004;
const B: f64 = 0.001;

fn stiff() -> ContactMaterial {
    ContactMaterial {
        stiffness: 1e6,
        friction: 0.3,
        ..ContactMaterial::default()
    }
}

/// An elliptic rod along x at `height`, its longer semi-axis inclined to the horizontal by `angle` (rad).
fn oval(height: f64, angle: f64, damping: Rayleigh) -> Rod {
    let end = |x: f64| Point3::new(x, 0.0, height);
    RodBuilder::new(Centreline::straight(end(-0.025), end(0.025), 8))
        .section(
            Section::Ellipse {
                semi_axis_1: A,
                semi_axis_2: B,
            },
            rubber(),
        )
        .director(Vector3::new(0.0, angle.cos(), angle.sin()))
        .damping(damping)
        .build()
        .unwrap()
}

/// The state of the rod after `seconds` on the floor, and the mean upward force of the floor in the last quarter of that
/// time, N.
fn settled(rod: &Rod, geometry: Geometry, seconds: f64) -> (BodyState, f64) {
    settled_under(Vector3::z() * -9.81, rod, geometry, seconds)
}

/// The same under another gravity, m/s².
fn settled_under(
    gravity: Vector3<f64>,
    rod: &Rod,
    geometry: Geometry,
    seconds: f64,
) -> (BodyState, f64) {
    let mut builder = WorldBuilder::default();
    builder.gravity(gravity);
    let (body, _) = add_rod(&mut builder, "rod", rod, |_| geometry);
    builder.add_geometry(hard_floor(stiff()));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 1e-3, 0.75 * seconds, |_, _| {});
    let (mut force, mut steps) = (0.0, 0.0);
    run(&world, &mut state, 1e-3, 0.25 * seconds, |report, _| {
        force += report
            .contacts
            .iter()
            .map(|c| c.force_W.z.abs())
            .sum::<f64>();
        steps += 1.0;
    });
    (state.bodies[body.0].clone(), force / steps)
}

fn segments() -> Geometry {
    Geometry::of_segments("rod", pliant_coupling::BodyIdx(0), stiff())
}

#[test]
fn an_elliptic_rod_rests_at_the_height_of_its_semi_axis() {
    let flat = oval(B + 5e-4, 0.0, DAMPED);
    let (state, force) = settled(&flat, segments(), 0.4);
    close("weight", force / (flat.total_mass() * 9.81), 1.0, 1e-3);
    for node in 0..flat.n_nodes() {
        close("flat", flat.position(&state, node).z, B, 1e-5);
    }
    // On its edge it is in unstable equilibrium and stays for a while.
    let upright = oval(A, std::f64::consts::FRAC_PI_2, DAMPED);
    let (state, _) = settled(&upright, segments(), 0.02);
    for node in 0..upright.n_nodes() {
        close("on edge", upright.position(&state, node).z, A, 1e-5);
    }
}

#[test]
fn an_inclined_elliptic_rod_rolls_onto_its_flat_side() {
    // Without damping it would rock for seconds.
    let drag = Rayleigh {
        mass: 10.0,
        ..DAMPED
    };
    let aslant = oval(A, 1.0, drag);
    for geometry in [segments(), segments().with_compliance(soft())] {
        let (state, force) = settled(&aslant, geometry, 1.2);
        close("weight", force / (aslant.total_mass() * 9.81), 1.0, 0.01);
        for node in 0..aslant.n_nodes() {
            close("height", aslant.position(&state, node).z, B, 0.05 * B);
        }
        for frame in aslant.material_frames(&state).unwrap() {
            let m_1 = frame.matrix().column(0).into_owned();
            close("its longer axis out of the level", m_1.z, 0.0, 0.02);
        }
    }
}

/// A short rod of 3 cm that stands 0.2 mm above the floor.
fn short_rod(radius: f64) -> Rod {
    let line = Centreline::straight(
        Point3::new(0.0, 0.0, 2e-4),
        Point3::new(0.0, 0.0, 0.0302),
        3,
    );
    rope(line, radius).damping(DAMPED).build().unwrap()
}

#[test]
fn a_short_rod_with_flat_tips_stands_in_point_contact_and_in_patches() {
    let radius = 0.005;
    let rod = short_rod(radius);
    let weight = rod.total_mass() * 9.81;
    let (state, force) = settled(&rod, segments().with_tips(Tips::Flat), 0.4);
    close("weight", force / weight, 1.0, 1e-3);
    close("end", rod.position(&state, 0).z, 0.0, 1e-6);
    let face = std::f64::consts::PI * radius * radius;
    let sunk = weight / face / MODULUS * radius;
    let geometry = segments().with_tips(Tips::Flat).with_compliance(soft());
    let (state, force) = settled(&rod, geometry, 0.4);
    close("weight on its patch", force / weight, 1.0, 1e-2);
    close(
        "depth of its end",
        -rod.position(&state, 0).z / sunk,
        1.0,
        0.05,
    );
    let top = rod.position(&state, 3);
    close("upright", top.coords.xy().norm(), 0.0, 1e-4);
}

#[test]
fn a_short_rod_tips_when_the_line_of_its_weight_leaves_its_end() {
    // It is 50 mm high and 10 mm wide: it tips at an inclination of 1 in 5.
    let wood = Material::isotropic(1e8, 0.3, 700.0).unwrap();
    let line = Centreline::straight(Point3::origin(), Point3::new(0.0, 0.0, 0.05), 5);
    let rod = RodBuilder::new(line)
        .section(Section::Circle { radius: 0.005 }, wood)
        .damping(DAMPED)
        .build()
        .unwrap();
    let leaning = |part: f64| {
        let gravity = Vector3::new(0.2 * part, 0.0, -1.0) * 9.81;
        // So hard that a pressure looked at once a step would rattle: each point has to resist within it.
        let hard = Compliance {
            hydroelastic_modulus: 1e8,
            ..soft()
        };
        let geometry = segments().with_tips(Tips::Flat).with_compliance(hard);
        let (state, _) = settled_under(gravity, &rod, geometry, 0.6);
        let axis = rod.position(&state, 5) - rod.position(&state, 0);
        axis.normalize().z
    };
    close("stands", leaning(0.9), 1.0, 1e-4);
    let fallen = leaning(1.1);
    assert!(fallen < 0.5, "it falls: {fallen}");
}

#[test]
fn a_pushed_short_rod_returns_to_its_flat_tip_but_falls_from_a_round_one() {
    // It is 30 mm high and 10 mm wide: it falls over beyond 18 degrees.
    let wood = Material::isotropic(1e8, 0.3, 700.0).unwrap();
    let lean: f64 = 0.12;
    let line = |from: f64| {
        let up = Vector3::new(lean.sin(), 0.0, lean.cos());
        let foot = Point3::new(0.0, 0.0, from);
        Centreline::straight(foot, foot + up * 0.03, 3)
    };
    let radius = 0.005;
    let rod = |from: f64| {
        RodBuilder::new(line(from))
            .section(Section::Circle { radius }, wood)
            .damping(DAMPED)
            .build()
            .unwrap()
    };
    let top = |rod: &Rod, tips: Tips| {
        let (state, _) = settled(rod, segments().with_tips(tips), 0.6);
        rod.position(&state, 3) - rod.position(&state, 0)
    };
    let flat = rod(radius * lean.sin());
    close("stands", top(&flat, Tips::Flat).normalize().z, 1.0, 1e-4);
    let round = rod(radius);
    let fallen = top(&round, Tips::Round).normalize().z;
    assert!(fallen < 0.2, "it lies: {fallen}");
}
