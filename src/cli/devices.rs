//! `pliant devices`.

use super::{Ending, Failure};

/// Lists the adapters that the asynchronous stepper may run on.
#[cfg(feature = "gpu")]
pub(super) fn main() -> Result<Ending, Failure> {
    use super::output::{print, table};

    let adapters = pliant_gpu::adapters();
    if adapters.is_empty() {
        super::output::say!("no Vulkan adapter was found: install a driver, or use `--device cpu`");
    }
    let rows: Vec<Vec<String>> = adapters
        .iter()
        .map(|a| {
            let kind = if a.is_software {
                "software, for tests"
            } else {
                "GPU"
            };
            let runs = match a.can_take_substeps() {
                true => "asynchronous substeps",
                false => "nothing: too few storage buffers or invocations",
            };
            vec![
                a.name.clone(),
                kind.to_owned(),
                a.driver.clone(),
                format!("{}", a.storage_buffer_max >> 20),
                format!("{}", a.particles_max()),
                runs.to_owned(),
            ]
        })
        .collect();
    print(&table(
        &[
            "adapter",
            "kind",
            "driver",
            "largest buffer MiB",
            "most particles",
            "runs",
        ],
        &rows,
        &[0, 1, 2, 5],
    ))?;
    Ok(Ending::AsExpected)
}

/// Without the feature there is only the processor.
#[cfg(not(feature = "gpu"))]
pub(super) fn main() -> Result<Ending, Failure> {
    Err("this build has no GPU support: build with `cargo build --features gpu`".into())
}
