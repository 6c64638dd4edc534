//! What a scene consists of, after its first step has been tried.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::notes::{Notes, wrapped};
use crate::cli::output::number;
use crate::cli::packages::add_packages;
use crate::cli::{Failure, with};
use crate::registry::Registry;
use crate::scene::Scene;

use super::{COLUMNS, Report, counted};

/// Names above which a list ends with the number of the others.
const NAMED_MAX: usize = 12;

/// The content of a scene.
#[derive(Serialize)]
struct Content {
    title: String,
    time_step_s: f64,
    smoke_s: f64,
    full_s: f64,
    fixed: Vec<String>,
    bodies: Vec<String>,
    soft_bodies: Vec<String>,
    robots: Vec<String>,
    constraints: Vec<String>,
    observables: Vec<String>,
    expectations: usize,
}

pub(super) fn report(
    name: &str,
    packages: &[(String, PathBuf)],
    registry: &Registry,
) -> Result<Report, Failure> {
    let mut scene = Scene::load(name, &with(registry))?;
    add_packages(&mut scene, packages);
    let assembly = crate::runner::check(&scene)?;
    let content = Content {
        title: scene.title.clone(),
        time_step_s: scene.simulation.time_step_s,
        smoke_s: scene.simulation.smoke_s,
        full_s: scene.simulation.full_s,
        fixed: scene.fixed.iter().map(|e| e.name.name.clone()).collect(),
        bodies: scene.bodies.iter().map(|e| e.name.name.clone()).collect(),
        soft_bodies: (scene.soft.entries.iter())
            .map(|e| e.name.name.clone())
            .collect(),
        robots: scene.models.iter().map(|e| e.name.name.clone()).collect(),
        constraints: (scene.constraints.iter())
            .map(|e| e.name.name.clone())
            .collect(),
        observables: (scene.observables.iter())
            .map(|e| e.name.name.clone())
            .collect(),
        expectations: scene.expectations.len(),
    };
    let mut text = wrapped(
        &format!("{}: scene {:?}", scene.text.name(), scene.title),
        "",
        COLUMNS,
    );
    text += &format!(
        "  {} s in short, {} s in full, steps of {} s\n",
        number(content.smoke_s),
        number(content.full_s),
        number(content.time_step_s)
    );
    for (names, one, several) in [
        (&content.fixed, "fixed shape", "fixed shapes"),
        (&content.bodies, "body", "bodies"),
        (&content.soft_bodies, "soft body", "soft bodies"),
        (&content.robots, "robot", "robots"),
        (&content.constraints, "constraint", "constraints"),
        (&content.observables, "observable", "observables"),
    ] {
        if !names.is_empty() {
            let list = format!("{}: {}", counted(names.len(), one, several), listed(names));
            text += &wrapped(&list, "  ", COLUMNS);
        }
    }
    text += &format!(
        "  {}\n",
        counted(content.expectations, "expectation", "expectations")
    );
    Report::new("scene", name, &content, Notes::of(&assembly.notes), text)
}

fn listed(names: &[String]) -> String {
    match names.len() > NAMED_MAX {
        true => format!(
            "{}, and {} more",
            names[..NAMED_MAX - 1].join(", "),
            names.len() + 1 - NAMED_MAX
        ),
        false => names.join(", "),
    }
}
