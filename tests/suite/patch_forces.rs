//! Force and torque of patches in scenes against closed forms.

use crate::scene_patches::{last, near};

/// Two equal compliant balls exactly on one axis, 10 mm into each other, and one of them moved by 1e-16 m.
#[test]
fn mirrored_balls_press_on_each_other_without_torque() {
    let balls = |x: f64| {
        let ball = "shape = { sphere = { radius = 0.1 } }
material = { hydroelastic = \"compliant\", hydroelastic_modulus = 1e5, mesh_resolution_hint = 0.005 }";
        format!(
            "schema = 1
title = \"balls\"
[simulation]
time_step_s = 1e-6
smoke_s = 1e-6
gravity = [0, 0, 0]
[contact]
kind = \"patch\"
[[fixed]]
name = \"low\"
{ball}
pose = {{ position = [0, 0, -0.1] }}
[[bodies]]
name = \"high\"
mass = 1e9
{ball}
pose = {{ position = [{x:?}, 0, 0.09] }}
[[observables]]
name = \"force\"
quantity = \"contact-force\"
of = \"high\"
component = \"z\"
[[observables]]
name = \"area\"
quantity = \"patch-area\"
of = \"high\"
[[observables]]
name = \"x\"
quantity = \"center-of-pressure\"
of = \"high\"
component = \"x\"
"
        )
    };
    let (on_axis, aside) = (last(&balls(0.0)), last(&balls(1e-16)));
    near(on_axis("force"), aside("force"), 1e-9);
    near(on_axis("area"), aside("area"), 1e-9);
    assert!(on_axis("x").abs() < 1e-12, "{}", on_axis("x"));
    // On the plane between them the pressure is E (1 − √(s² + (R − 5 mm)²)/R), up to the facets.
    let (n, radius, height) = (10_000, 0.1_f64, 0.095_f64);
    let edge = (radius * radius - height * height).sqrt();
    let width = edge / f64::from(n);
    let ring = |i: i32| {
        let s = (f64::from(i) + 0.5) * width;
        std::f64::consts::TAU * s * width * 1e5 * (1.0 - s.hypot(height) / radius)
    };
    near(on_axis("force"), (0..n).map(ring).sum(), 0.02);
}

/// A flat disk under uniform pressure: torque 2/3 μ N R, so that it slows down by 4 μ g/(3 R).
#[test]
fn a_puck_spins_down_as_a_uniform_disk() {
    let puck = |radius: f64, mesh: f64| {
        format!(
            "schema = 1
title = \"puck\"
[simulation]
time_step_s = 0.001
smoke_s = 0.2
[materials.default]
friction = 0.3
hydroelastic = \"rigid\"
[[fixed]]
name = \"floor\"
shape = {{ half_space = {{}} }}
[[bodies]]
name = \"puck\"
shape = {{ cylinder = {{ radius = {radius}, length = 0.02 }} }}
mass = 1
material = {{ hydroelastic = \"compliant\", hydroelastic_modulus = 1e7, friction = 0.3, mesh_resolution_hint = {mesh} }}
pose = {{ position = [0, 0, 0.01] }}
angular_velocity = [0, 0, 20]
[[observables]]
name = \"wz\"
quantity = \"angular-velocity\"
of = \"puck\"
component = \"z\"
"
        )
    };
    for (radius, mesh) in [(0.1, 0.02), (0.1, 0.05), (0.15, 0.01)] {
        let text = puck(radius, mesh);
        let early = text.replace("smoke_s = 0.2", "smoke_s = 0.05");
        let slowing = (last(&early)("wz") - last(&text)("wz")) / 0.15;
        near(slowing, 4.0 * 0.3 * 9.81 / (3.0 * radius), 0.01);
    }
}
