//! `pliant scenes`.

use pliant::scene::{Scene, SceneOptions, bundled};

use super::output::{number, print, table};
use super::{Ending, Failure};

pub(super) fn main() -> Result<Ending, Failure> {
    let mut rows = Vec::new();
    for (name, text) in bundled::SCENES {
        let scene = Scene::parse(name, text, &SceneOptions::default())?;
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
