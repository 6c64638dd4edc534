//! Each stage of a substep against references in f64.
//!
//! The device takes one substep of two scenes, and its buffers are read. Every stage is then checked by itself: its inputs are those that the device
//! had, and its results are compared with plain sums over all particles. Materials and contact laws are those of the processor, all else is written
//! here: nothing is shared with the shaders.

use std::fmt;
use std::sync::Arc;

use crate::adapter::Gpu;
use crate::function_tests::device;

mod detection;
mod dispatch_sizes;
mod gather;
mod grid;
mod on_device;
mod reach;
mod scatter;
mod scene;
mod solve;

use on_device::OnDevice;
pub(crate) use on_device::contents;
use scene::Scene;

/// The largest of some deviations, and what it may be.
struct Largest {
    what: &'static str,
    found: f64,
    bound: f64,
}

impl Largest {
    fn new(what: &'static str, bound: f64) -> Self {
        let found = 0.0;
        Self { what, found, bound }
    }

    fn add(&mut self, deviation: f64) {
        // NaN stays.
        if deviation > self.found || deviation.is_nan() {
            self.found = deviation;
        }
    }

    fn is_kept(&self) -> bool {
        self.found <= self.bound
    }
}

impl fmt::Display for Largest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {:.1e} (bound {:.0e})",
            self.what, self.found, self.bound
        )
    }
}

#[test]
fn every_stage_gives_the_plain_sums_of_its_formula() {
    if device("every_stage_gives_the_plain_sums_of_its_formula").is_none() {
        return;
    }
    let gpu = Arc::new(Gpu::open().expect("there is one"));
    eprintln!("{}", gpu.description.name);
    let mut broken = Vec::new();
    for scene in [Scene::foam_and_sand(), Scene::dough_and_water()] {
        let device = OnDevice::after_a_substep(&gpu, &scene);
        let (touches, detected) = detection::check(&scene, &device);
        for (stage, deviations) in [
            ("blocks", grid::check_blocks(&scene, &device)),
            ("sort", grid::check_sort(&scene, &device)),
            ("stress", scatter::check_stress(&scene, &device)),
            ("scatter", scatter::check_nodes(&scene, &device)),
            ("detection", detected),
            (
                "lists of contacts",
                detection::check_lists(&touches, &device),
            ),
            ("solve", solve::check(&scene, &device, &touches)),
            ("links", solve::check_links(&scene, &device, &touches)),
            ("sums", solve::check_sums(&scene, &device, &touches)),
            ("gather", gather::check(&scene, &device)),
        ] {
            let each: Vec<String> = deviations.iter().map(|d| d.to_string()).collect();
            let line = format!("{}, {stage}: {}", scene.name, each.join(", "));
            eprintln!("{line}");
            if !deviations.iter().all(Largest::is_kept) {
                broken.push(line);
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}
