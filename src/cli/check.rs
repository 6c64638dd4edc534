//! `pliant check`: what a scene, robot or mesh file holds, as text of 70 columns or as JSON.

mod dynamics;
mod mesh;
mod robot;
mod scene;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::notes::Notes;
use super::output::{COLUMNS, print};
use super::packages::parse_package;
use super::{Ending, Failure};
use crate::registry::Registry;

#[derive(Args)]
pub(super) struct CheckArguments {
    /// A scene, robot (URDF, MJCF, SDFormat) or mesh (OBJ, STL, PLY, VTK, VTU, Gmsh); recognised by its content
    file: PathBuf,
    /// Folder that `package://NAME/` refers to in robot files; may be repeated
    #[arg(long = "package", value_name = "NAME=DIR", value_parser = parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Factor on the coordinates of a mesh
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    scale: f64,
    /// Print one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// With `--json`, of a robot: mass matrix, bias forces, energy and poses of links at one position and velocity of its joints
    #[arg(long, requires = "json")]
    dynamics: bool,
}

/// What is said of a robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    OfTheFile,
    WithDynamics,
}

/// What was read.
struct Report {
    text: String,
    notes: Notes,
    json: Value,
}

impl Report {
    fn new(
        kind: &str,
        file: &str,
        content: &impl Serialize,
        notes: Notes,
        text: String,
    ) -> Result<Self, Failure> {
        let mut json = json!({ "kind": kind, "file": file });
        let parts = [
            serde_json::to_value(content)?,
            serde_json::to_value(&notes)?,
        ];
        if let Some(object) = json.as_object_mut() {
            for part in parts {
                let fields = part.as_object().cloned().unwrap_or_default();
                object.extend(fields);
            }
        }
        Ok(Self { text, notes, json })
    }
}

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Scene,
    Robot,
    Mesh,
}

/// By content if possible, since extensions may be wrong; of robots the name decides, as they may have any encoding.
fn kind(path: &Path, bytes: &[u8]) -> FileKind {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or("")
        .to_ascii_lowercase();
    let is_markup = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<');
    if extension == "urdf" || (is_markup && !text.contains("<VTKFile")) {
        FileKind::Robot
    } else if extension == "toml"
        || text
            .lines()
            .any(|line| line.trim_start().starts_with("schema ="))
    {
        FileKind::Scene
    } else {
        FileKind::Mesh
    }
}

pub(super) fn main(arguments: &CheckArguments, registry: &Registry) -> Result<Ending, Failure> {
    let report = report(arguments, registry)?;
    if arguments.json {
        print(&format!(
            "{}\n",
            serde_json::to_string_pretty(&report.json)?
        ))?;
    } else {
        print(&(report.notes.text(COLUMNS) + &report.text))?;
    }
    Ok(Ending::AsExpected)
}

fn report(arguments: &CheckArguments, registry: &Registry) -> Result<Report, Failure> {
    let path = &arguments.file;
    let named = path.to_string_lossy();
    if !path.exists() && path.extension().is_none() {
        return scene::report(&named, &arguments.packages, registry);
    }
    let bytes = crate::scene::budget::read(path, crate::scene::budget::FILE_BYTES)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    match kind(path, &bytes) {
        FileKind::Scene => scene::report(&named, &arguments.packages, registry),
        FileKind::Robot => {
            let numbers = match arguments.dynamics {
                true => Numbers::WithDynamics,
                false => Numbers::OfTheFile,
            };
            robot::report(path, &bytes, &arguments.packages, numbers)
        }
        FileKind::Mesh => mesh::report(&named, &bytes, arguments.scale),
    }
}

fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
