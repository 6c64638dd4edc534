//! The backend conformance kit of `pliant-mpm`, on every device of this machine.

use std::io::Write as _;
use std::sync::Arc;

use pliant_gpu::{Gpu, GpuError, GpuSubsteps, adapters};
use pliant_mpm::conformance::{SubstepBounds, check_substeps};

#[test]
fn every_device_takes_the_substeps_of_the_reference() {
    let usable = adapters().into_iter().filter(|a| a.can_take_substeps());
    let names: Vec<String> = usable.map(|adapter| adapter.name).collect();
    if names.is_empty() {
        let test = "every_device_takes_the_substeps_of_the_reference";
        writeln!(std::io::stderr(), "SKIPPED {test}: no Vulkan adapter").expect("stderr");
    }
    for name in names {
        let gpu = Arc::new(Gpu::open_named(&name).unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(gpu.description().name, name);
        let found = check_substeps(
            &|model| Box::new(GpuSubsteps::new(&gpu, model).unwrap_or_else(|e| panic!("{e}"))),
            &SubstepBounds::single(),
        );
        let found = found.unwrap_or_else(|e| panic!("{name}: {e}"));
        eprintln!("{name}: {found}");
    }
}

#[test]
fn an_adapter_that_is_not_there_is_an_error_that_names_those_that_are() {
    let missing = Gpu::open_named("none").expect_err("no such name");
    assert!(matches!(&missing, GpuError::NoSuchAdapter { .. }));
    let text = missing.to_string();
    assert!(text.contains("\"none\""), "{text}");
    assert!(adapters().iter().all(|a| text.contains(&a.name)), "{text}");
}
