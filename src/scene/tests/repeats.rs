//! Bodies from templates.

use super::*;

#[test]
fn faults_of_repeats_are_refused() {
    let repeat = |keys: &str| {
        format!(
            "[[repeat]]\nname = \"r\"\ncount = 5\n{keys}\n[[repeat.templates]]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n"
        )
    };
    check_fragment(&repeat(""), &["give either `grid` or `region`"]);
    check_fragment(
        &repeat("grid = { spacing = [1, 1, 1], counts = [2, 2, 1] }"),
        &["gives 4 places for 5 bodies"],
    );
    check_fragment(
        &repeat("region = { low = [0, 0, 0], high = [0.1, 0.1, 0.1] }"),
        &["repeat \"r\": body 1 of 5 has no room after 10000 tries"],
    );
    check_fragment(
        &repeat("region = { low = [1, 0, 0], high = [0, 1, 1] }"),
        &["`high` must not be below `low`"],
    );
    check_fragment(
        &format!(
            "{}scale = [2, 1]\n",
            repeat("grid = { spacing = [1, 1, 1], counts = [5, 1, 1] }")
        ),
        &["scale = [2, 1] must be positive and ascending"],
    );
    check_fragment(
        &format!(
            "{}scale = [1, 2]\nmass = 1\n",
            repeat("grid = { spacing = [1, 1, 1], counts = [5, 1, 1] }")
        ),
        &["`mass` does not go with `scale`"],
    );
}

#[test]
fn repeated_bodies_depend_on_the_seed_alone() {
    let text = |seed: u32| {
        format!(
            "[[repeat]]\nname = \"r\"\ncount = 30\nseed = {seed}\norientation = \"random\"\n\
             region = {{ low = [-1, -1, 0], high = [1, 1, 2] }}\n\
             [[repeat.templates]]\nscale = [0.5, 1.5]\nshape = {{ sphere = {{ radius = 0.1 }} }}\n\
             [[repeat.templates]]\nweight = 2\nshape = {{ box = {{ size = [0.1, 0.2, 0.1] }} }}\n"
        )
    };
    let (first, again, other) = (scene(&text(1)), scene(&text(1)), scene(&text(2)));
    let poses = |scene: &Scene| scene.bodies.iter().map(|b| b.pose).collect::<Vec<_>>();
    assert_eq!(poses(&first), poses(&again));
    assert_ne!(poses(&first), poses(&other));
    assert_eq!(first.repeats[0].1, 0..30);
    assert_eq!(first.bodies[29].name.name, "r_29");
    for (i, a) in first.bodies.iter().enumerate() {
        for b in &first.bodies[..i] {
            let radius = |b: &BodyEntry| b.body.shapes[0].shape.radius_about_origin().unwrap();
            let apart = (a.pose.translation.vector - b.pose.translation.vector).norm();
            assert!(
                apart > radius(a) + radius(b),
                "{} touches {}",
                a.name.name,
                b.name.name
            );
        }
    }
}

#[test]
fn grid_runs_along_x_first() {
    let scene = scene(
        "[[repeat]]\nname = \"r\"\ncount = 5\n\
         grid = { origin = [1, 0, 0], spacing = [0.5, 1, 2], counts = [2, 2, 2] }\n\
         [[repeat.templates]]\nshape = { sphere = { radius = 0.1 } }\n",
    );
    let places: Vec<[f64; 3]> = scene
        .bodies
        .iter()
        .map(|b| b.pose.translation.vector.into())
        .collect();
    let expected = [
        [1.0, 0.0, 0.0],
        [1.5, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [1.5, 1.0, 0.0],
        [1.0, 0.0, 2.0],
    ];
    assert_eq!(places, expected);
}
