//! Free motion that must not depend on the time step, with the default linearisation. Equilibria are in the case `equilibria` of
//! [`pliant::validate`].

use crate::scene_patches::last;

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
            assert!((kept - 1.0).abs() < 1e-6, "{law}, {dt} s: {kept}");
        }
    }
}
