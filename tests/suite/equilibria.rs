//! Equilibria and free motion that must not depend on the time step, with the default linearisation.

use std::fs;
use std::path::Path;

use crate::scene_patches::{last, near};

const TIME_STEPS_S: [f64; 2] = [0.02, 0.005];

/// A pinned strut of length L under an axial load 0.8 P_c that a welded carriage puts on it, and a load Q in the middle.
///
/// Source: Timoshenko and Gere, Theory of Elastic Stability, section 1.3: with u = π/2 √0.8, the bow is Q L³/(48 E I) · 3 (tan u − u)/u³.
fn strut(dt: f64, folder: &Path) -> String {
    let carriage = folder.join("carriage.urdf");
    let inertial = r#"<inertial><mass value="0.01"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>"#;
    let joint = r#"<joint name="z" type="prismatic"><parent link="base"/><child link="carriage"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1000" velocity="10"/></joint>"#;
    let text = format!(
        r#"<robot name="slide"><link name="base"/><link name="carriage">{inertial}</link>{joint}</robot>"#
    );
    fs::write(&carriage, text).expect("a file");
    format!(
        r#"schema = 1
title = "strut"
[parameters]
L = 0.5
E = 1e9
I = "pi*0.002^4/4"
Q = 0.002
u = "pi/2*sqrt(0.8)"
[simulation]
time_step_s = {dt}
smoke_s = 12
gravity = [0, 0, 0]
[[rods]]
name = "strut"
centreline = {{ curve = {{ point = ["1e-5*sin(pi*s)", 0, "L*s"], edges = 50 }} }}
section = {{ circle = {{ radius = 0.002 }} }}
youngs_modulus = "E"
density = 1000
mass_damping = 2
start = "pinned"
regions.top = {{ nearest = {{ to = [0, 0, "L"] }} }}
regions.mid = {{ nearest = {{ to = [0, 0, "L/2"] }} }}
[[models]]
name = "slider"
file = {carriage:?}
pose = {{ position = [0, 0, "L"] }}
gravity = "absent"
[[constraints]]
name = "pin"
kind = "weld"
between = ["slider/carriage", "strut/top"]
[[loads]]
on = "slider/carriage"
knots = [{{ at_s = 0, force = [0, 0, 0] }}, {{ at_s = 4, force = [0, 0, "-0.8*pi^2*E*I/L^2"] }}]
[[loads]]
on = "strut/mid"
knots = [{{ at_s = 0, force = ["Q", 0, 0] }}]
[[observables]]
name = "bow"
quantity = "position"
of = "strut/mid"
component = "x"
[[observables]]
name = "ratio"
quantity = "expression"
expression = "bow/(Q*L^3/(48*E*I)*3*(tan(u) - u)/u^3)"
"#
    )
}

#[test]
fn a_strut_bows_as_its_axial_load_demands_at_any_time_step() {
    for dt in TIME_STEPS_S {
        let ratio = last(&strut(dt, Path::new(env!("CARGO_TARGET_TMPDIR"))))("ratio");
        // 1 + 0.8/(1 − 0.8) times the bow of 1e-5 m that it has at rest, and 50 edges.
        near(ratio, 1.0, 0.01);
    }
}

/// The half of a rope of length L above a side force Q leans by Q/T.
#[test]
fn a_rope_with_a_weight_leans_as_the_side_force_demands_at_any_time_step() {
    for dt in TIME_STEPS_S {
        let text = format!(
            r#"schema = 1
title = "rope"
[simulation]
time_step_s = {dt}
smoke_s = 16
[[rods]]
name = "rope"
centreline = {{ line = {{ from = [0, 0, 0], to = [0, 0, -1], edges = 40 }} }}
section = {{ circle = {{ radius = 0.003 }} }}
youngs_modulus = 1e8
bending_stiffness = [1e-5, 1e-5]
twisting_stiffness = 1e-5
density = 1000
mass_damping = 3
start = "pinned"
regions.end = {{ nearest = {{ to = [0, 0, -1] }} }}
regions.mid = {{ nearest = {{ to = [0, 0, -0.5] }} }}
[[bodies]]
name = "weight"
shape = {{ sphere = {{ radius = 0.05 }} }}
mass = 2
pose = {{ position = [0, 0, -1.05] }}
[[constraints]]
name = "knot"
kind = "weld"
between = ["weight", "rope/end"]
[[filters]]
between = ["weight", "rope"]
[[loads]]
on = "rope/mid"
knots = [{{ at_s = 0, force = [0, 0, 0] }}, {{ at_s = 4, force = [1, 0, 0] }}]
[[observables]]
name = "mid"
quantity = "position"
of = "rope/mid"
component = "x"
"#
        );
        let slope: f64 = 1.0 / (2.0 * 9.81);
        // The bending stiffness takes a part of it.
        near(last(&text)("mid"), 0.5 * slope / slope.hypot(1.0), 0.01);
    }
}

/// Backward Euler takes the angular momentum of a rigid body by a factor e^(−ω²δt T) at most.
#[test]
fn spinning_cubes_of_nonlinear_laws_keep_spinning() {
    for law in [
        "stable-neo-hookean",
        "neo-hookean",
        "corotational",
        "st-venant-kirchhoff",
    ] {
        for dt in [0.005, 0.001] {
            let text = format!(
                r#"schema = 1
title = "spin"
[simulation]
time_step_s = {dt}
gravity = [0, 0, 0]
smoke_s = 0.3
[[fem]]
name = "f"
mesh = {{ box = {{ size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }} }}
constitutive_material = {{ law = "{law}", youngs_modulus = 1e7, poissons_ratio = 0.3 }}
angular_velocity = [0, 0, 10]
[[observables]]
name = "L"
quantity = "angular-momentum"
component = "z"
"#
            );
            // Of the linear tetrahedra of one cell, at the start.
            let start = 0.05;
            let kept = last(&text)("L") / start;
            let least = (-10.0_f64.powi(2) * dt * 0.3).exp();
            assert!(kept >= least && kept <= 1.0, "{law}, {dt} s: {kept}");
        }
    }
}
