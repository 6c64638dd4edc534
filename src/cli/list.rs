//! `pliant scenes`.

use crate::registry::Registry;
use crate::scene::{Scene, bundled};

use super::output::{number, print, table};
use super::{Ending, Failure, with};

pub(super) fn main(registry: &Registry) -> Result<Ending, Failure> {
    let mut rows = Vec::new();
    for (name, text) in bundled::SCENES {
        let scene = Scene::parse(name, text, &with(registry))?;
        let parameters: Vec<String> = scene
            .parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", number(*value)))
            .collect();
        rows.push(vec![
            (*name).to_owned(),
            number(scene.simulation.smoke_s),
            number(scene.simulation.full_s),
            scene.title.clone(),
            parameters.join(" "),
        ]);
    }
    print(&table(
        &["scene", "smoke s", "full s", "title", "parameters"],
        &rows,
        &[3, 4],
    ))?;
    Ok(Ending::AsExpected)
}
