//! Finite elements in scene files: small scenes with expectations from closed forms.

use crate::scene_features::{check, expect};

/// A bar of 0.4 × 0.1 × 0.1 m along x, one end held by the world.
const BAR: &str = "[[fem]]\nname = \"bar\"\nmesh = { box = { size = [0.4, 0.1, 0.1], cells = [4, 1, 1] } }\nconstitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0 }\nregions.root = { box = { low = [-0.2, -inf, -inf], high = [-0.2, inf, inf] } }\nregions.tip = { half_space = { point = [0.2, 0, 0], normal = [-1, 0, 0] } }\n";

#[test]
fn a_pulled_bar_stretches_by_hooke_and_its_constraint_carries_the_pull() {
    // F = 20 N on A = 0.01 m² of E = 1e6 Pa: 2e-3 of 0.4 m; a little more, as equal forces on the vertices
    // are not a uniform stress.
    let text = "gravity = [0, 0, 0]\ntime_step_s = 0.01\n".to_owned()
        + BAR
        + "[[constraints]]\nname = \"wall\"\nbetween = [\"world\", \"bar/root\"]\n"
        + "[[loads]]\non = \"bar/tip\"\nknots = [{ at_s = 0, force = [20, 0, 0] }]\n"
        + &expect(
            "tip.x",
            "quantity = \"displacement\"\nof = \"bar/tip\"\ncomponent = \"x\"",
            "at_s = 1",
            "8e-4",
            "2e-5",
        )
        + &expect(
            "pull",
            "quantity = \"constraint-force\"\nof = \"wall\"\ncomponent = \"x\"",
            "at_s = 1",
            "-20",
            "1e-3",
        )
        + &expect(
            "elastic",
            "quantity = \"elastic-energy\"\nof = \"bar\"",
            "at_s = 1",
            "\"20*8e-4/2\"",
            "2e-4",
        )
        + &expect(
            "volume",
            "quantity = \"volume\"\nof = \"bar\"",
            "at_s = 1",
            "\"0.004*1.002\"",
            "1e-8",
        );
    check(&text);
}

#[test]
fn fixed_regions_stay_and_constraints_move_regions() {
    // A moving body moves the constrained face; a face fixed along x alone slides sideways.
    let text = "gravity = [0, 0, 0]\ntime_step_s = 0.01\n".to_owned()
        + BAR
        + "fixed = [{ region = \"root\", axes = \"x\" }]\n"
        + "[[bodies]]\nname = \"hand\"\nshape = { sphere = { radius = 0.02 } }\npose = { position = [0.3, 0, 0] }\n"
        + "[[body_motions]]\nbody = \"hand\"\ninterpolation = \"linear\"\nknots = [{ at_s = 0, pose = { position = [0.3, 0, 0] } }, { at_s = 0.5, pose = { position = [0.3, 0.05, 0] } }]\n"
        + "[[constraints]]\nname = \"grip\"\nbetween = [\"bar/tip\", \"hand\"]\n"
        + &expect(
            "tip.y",
            "quantity = \"displacement\"\nof = \"bar/tip\"\ncomponent = \"y\"",
            "at_s = 1",
            "0.05",
            "1e-4",
        )
        + &expect(
            "root.x",
            "quantity = \"displacement\"\nof = \"bar/root\"\ncomponent = \"x\"",
            "from_s = 0\ntake = \"max\"",
            "0",
            "1e-15",
        );
    check(&text);
}

#[test]
fn copies_are_placed_by_their_index() {
    let text = "gravity = [0, 0, 0]\n".to_owned()
        + "[[fem]]\nname = \"cube\"\ncopies = 3\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }\nconstitutive_material = \"sponge\"\npose = { position = [0, 0, \"i^2\"] }\nvelocity = [\"i\", 0, 0]\n"
        + &expect(
            "top",
            "quantity = \"highest\"\nof = \"cube\"\namong = \"max\"",
            "at_s = 1",
            "4.05",
            "1e-9",
        )
        + &expect(
            "x",
            "quantity = \"position\"\nof = \"cube_2\"\ncomponent = \"x\"",
            "at_s = 1",
            "2",
            "1e-9",
        )
        + &expect(
            "momentum",
            "quantity = \"momentum\"\nof = \"cube\"\ncomponent = \"x\"",
            "at_s = 1",
            "\"30*0.001*3\"",
            "1e-12",
        )
        + &expect("mass", "quantity = \"mass\"", "at_s = 1", "0.09", "1e-12");
    check(&text);
}
