//! `pliant scenes`.

use std::collections::BTreeMap;

use crate::registry::Registry;
use crate::scene::{Scene, bundled};
use clap::Args;
use serde::Serialize;

use super::output::{number, print, table};
use super::{Ending, Failure, with};

#[derive(Args)]
pub(super) struct ScenesArguments {
    /// Print a JSON list on stdout
    #[arg(long)]
    json: bool,
}

/// A bundled scene.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    title: String,
    smoke_s: f64,
    full_s: f64,
    parameters: BTreeMap<String, f64>,
}

pub(super) fn main(arguments: &ScenesArguments, registry: &Registry) -> Result<Ending, Failure> {
    let mut scenes = Vec::new();
    for (name, text) in bundled::SCENES {
        let scene = Scene::parse(name, text, &with(registry))?;
        scenes.push(Listed {
            name,
            title: scene.title,
            smoke_s: scene.simulation.smoke_s,
            full_s: scene.simulation.full_s,
            parameters: scene.parameters,
        });
    }
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&scenes)?))?;
        return Ok(Ending::AsExpected);
    }
    let row = |scene: &Listed| {
        let parameters = scene.parameters.iter();
        let parameters = parameters.map(|(name, value)| format!("{name}={}", number(*value)));
        vec![
            scene.name.to_owned(),
            number(scene.smoke_s),
            number(scene.full_s),
            scene.title.clone(),
            parameters.collect::<Vec<_>>().join(" "),
        ]
    };
    print(&table(
        &["scene", "smoke s", "full s", "title", "parameters"],
        &scenes.iter().map(row).collect::<Vec<_>>(),
        &[3, 4],
    ))?;
    Ok(Ending::AsExpected)
}
