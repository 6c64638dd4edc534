//! The backend conformance kit of `pliant-mpm`, on the device.

use std::io::Write as _;
use std::sync::Arc;

use pliant_gpu::{Gpu, GpuError, GpuSubsteps};
use pliant_mpm::conformance::{SubstepBounds, check_substeps};

#[test]
fn the_device_takes_the_substeps_of_the_reference() {
    let gpu = match Gpu::open() {
        Ok(gpu) => Arc::new(gpu),
        Err(GpuError::NoAdapter) => {
            let name = "the_device_takes_the_substeps_of_the_reference";
            writeln!(std::io::stderr(), "SKIPPED {name}: no Vulkan adapter").expect("stderr");
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let found = check_substeps(
        &|model| Box::new(GpuSubsteps::new(&gpu, model).unwrap_or_else(|e| panic!("{e}"))),
        &SubstepBounds::single(),
    )
    .unwrap();
    eprintln!("{}: {found}", gpu.description().name);
}
