//! The contact models agree on what a scene does.

use pliant::runner::{RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

fn dominoes(model: &str) -> String {
    let mut text = format!(
        "schema = 1\ntitle = \"dominoes\"\n[simulation]\ntime_step_s = 0.001\nsmoke_s = 0.6\n[recording]\nrows_per_s = 1000\n[contact]\nmodel = \"{model}\"\n\
         [materials.default]\nfriction = 0.3\n[[fixed]]\nname = \"floor\"\nshape = {{ half_space = {{}} }}\n"
    );
    for k in 0..8 {
        let x = 0.025 * f64::from(k);
        text += &format!(
            "[[bodies]]\nname = \"d{k}\"\nmass = 0.01\nshape = {{ box = {{ size = [0.008, 0.025, 0.05] }} }}\npose = {{ position = [{x}, 0, 0.025] }}\n"
        );
        if k == 0 {
            text += "angular_velocity = [0, 6, 0]\nvelocity = [0.15, 0, 0.024]\n";
        }
    }
    for k in 0..8 {
        text += &format!(
            "[[observables]]\nname = \"z{k}\"\nquantity = \"position\"\nof = \"d{k}\"\ncomponent = \"z\"\n"
        );
    }
    text
}

/// When each domino has sunk to 23.5 mm, s.
fn topple_times(model: &str) -> Vec<f64> {
    let scene = Scene::parse(model, &dominoes(model), &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    (0..8)
        .map(|k| {
            let times = outcome.series.times_s();
            let fallen = (0..times.len()).find(|&row| outcome.series.at(row, k) < 0.0235);
            times[fallen.unwrap_or_else(|| panic!("{model}: domino {k} stands"))]
        })
        .collect()
}

#[test]
fn dominoes_topple_at_the_same_times() {
    let lagged = topple_times("lagged");
    assert!(lagged.windows(2).all(|t| t[0] < t[1]));
    for model in ["similar", "sap"] {
        for (time, expected) in topple_times(model).iter().zip(&lagged) {
            assert!(
                (time / expected - 1.0).abs() < 0.03,
                "{model}: {time} s, lagged {expected} s"
            );
        }
    }
}
