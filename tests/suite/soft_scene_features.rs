//! Finite elements in scene files: small scenes with expectations from closed forms.

use crate::scene_features::{check, expect};

/// A bar of 0.4 × 0.1 × 0.1 m along x, one end held by the world.
const BAR: &str = "[[fem]]\nname = \"bar\"\nmesh = { box = { size = [0.4, 0.1, 0.1], cells = [4, 1, 1] } }\nconstitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0 }\nregions.root = { box = { low = [-0.2, -inf, -inf], high = [-0.2, inf, inf] } }\nregions.tip = { half_space = { point = [0.2, 0, 0], normal = [-1, 0, 0] } }\n";

#[test]
fn a_pulled_bar_stretches_by_hooke_and_its_constraint_carries_the_pull() {
    // F = 20 N on A = 0.01 m² of E = 1e6 Pa: 2e-3 of 0.4 m.
    let text = "gravity = [0, 0, 0]\ntime_step_s = 0.01\n".to_owned()
        + BAR
        + "[[constraints]]\nname = \"wall\"\nbetween = [\"world\", \"bar/root\"]\n"
        + "[[loads]]\non = \"bar/tip\"\nknots = [{ at_s = 0, force = [20, 0, 0] }]\n"
        + &expect(
            "tip.x",
            "quantity = \"displacement\"\nof = \"bar/tip\"\ncomponent = \"x\"",
            "at_s = 1",
            "8e-4",
            "2e-7",
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

#[test]
fn the_pressure_in_the_patch_of_a_resting_block_is_its_weight_over_the_area() {
    // 1 kg of 0.1 m: 981 Pa on average, at the corners of a coarse mesh up to a few times as much. The law caps the stiffness of contact
    // at long steps; the reported pressure is that of the capped law.
    let block = "time_step_s = 0.01\n[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n[[fem]]\nname = \"block\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [2, 2, 2] } }\nconstitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }\ndensity = 1000\npose = { position = [0, 0, 0.05] }\n";
    let pressure = expect(
        "pressure",
        "quantity = \"patch-pressure\"\nof = \"block\"\nwith = \"floor\"",
        "from_s = 0.8\ntake = \"mean\"",
        "1962",
        "981",
    );
    let area = expect(
        "area",
        "quantity = \"patch-area\"\nof = \"block\"\nwith = \"floor\"",
        "from_s = 0.8\ntake = \"mean\"",
        "0.01",
        "1e-4",
    );
    check(&format!("{block}{pressure}{area}"));
}

#[test]
fn a_ball_presses_a_patch_as_small_as_its_overlap_with_a_flat_triangle() {
    // A ball overlaps a plane by a cap of the depth d and the area 2πRd, whatever the modulus of the body: its triangles are plane, and larger
    // than the cap. The pressure is that of a paraboloid, twice the mean at its deepest point. A dozen points stand for the cap.
    let press = "time_step_s = 0.005\ngravity = [0, 0, 0]\n[materials.default]\nstiffness = 1e8\n[[fem]]\nname = \"block\"\nmesh = { box = { size = [0.2, 0.2, 0.1], cells = [1, 1, 1] } }\nconstitutive_material = { youngs_modulus = 25e3, poissons_ratio = 0.3 }\nelement = \"linear\"\ndensity = 1000\nfixed = [{ region = \"base\" }]\nregions.base = { box = { low = [-inf, -inf, -0.05], high = [inf, inf, -0.05] } }\n[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.02 } }\n[[body_motions]]\nbody = \"ball\"\nknots = [{ at_s = 0, pose = { position = [0.06, -0.03, 0.071] } }, { at_s = 0.5, pose = { position = [0.06, -0.03, 0.066] } }]\n[[observables]]\nname = \"p\"\nquantity = \"patch-pressure\"\nof = \"block\"\n[[observables]]\nname = \"a\"\nquantity = \"patch-area\"\nof = \"block\"\n[[observables]]\nname = \"f\"\nquantity = \"contact-force\"\nof = \"block\"\ncomponent = \"normal\"\n[[observables]]\nname = \"d\"\nquantity = \"penetration\"\nof = \"block\"\n";
    let relative = |name: &str, expression: &str, equals: &str, within: &str| {
        let observable = format!("quantity = \"expression\"\nexpression = \"{expression}\"");
        expect(name, &observable, "at_s = 0.9", equals, within)
    };
    check(&format!(
        "{press}{}{}{}",
        relative("mean", "p*a/f", "2", "0.1"),
        relative("cap", "a/(2*pi*0.02*d)", "1", "0.3"),
        // Several times the modulus, for a force that compresses the block by a few per cent.
        "[[observables]]\nname = \"moduli\"\nquantity = \"expression\"\nexpression = \"p/25e3\"\n[[expect]]\nobservable = \"moduli\"\nat_s = 0.9\nat_least = 3\nsource = \"a stiff contact of a soft body\"\n"
    ));
}
