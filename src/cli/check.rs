//! `pliant check`.

use std::path::{Path, PathBuf};

use clap::Args;
use pliant::runner::Assembly;
use pliant::scene::{Scene, SceneOptions};
use pliant_hydroelastic::mesh::{
    MeshError, SurfaceOptions, SurfaceUse, TetOptions, surface_from_bytes, tets_from_bytes,
};
use pliant_multibody::urdf::{PackageMap, UrdfOptions, parse_urdf};

use super::output::{number, print};
use super::{Ending, Failure};

#[derive(Args)]
pub(super) struct CheckArguments {
    /// A scene, robot (URDF) or mesh (OBJ, STL, VTK, VTU, Gmsh); told apart by what is in it
    file: PathBuf,
    /// Folder that `package://NAME/` stands for in a robot file; may be repeated
    #[arg(long = "package", value_name = "NAME=DIR", value_parser = parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Factor on a mesh's coordinates
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    scale: f64,
}

fn parse_package(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.into(), folder.into()))
        }
        _ => Err("must look like NAME=DIR".into()),
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Scene,
    Robot,
    Mesh,
}

/// By content where it tells, for extensions lie; a robot may be in any encoding, so its name is believed.
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

pub(super) fn main(arguments: &CheckArguments) -> Result<Ending, Failure> {
    let path = &arguments.file;
    let named = path.to_string_lossy();
    if !path.exists() && path.extension().is_none() {
        return scene(&named);
    }
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match kind(path, &bytes) {
        FileKind::Scene => scene(&named),
        FileKind::Robot => robot(path, &bytes, &arguments.packages),
        FileKind::Mesh => mesh(&named, &bytes, arguments.scale),
    }
}

fn scene(name: &str) -> Result<Ending, Failure> {
    let scene = Scene::load(name, &SceneOptions::default())?;
    let assembly = Assembly::new(&scene)?;
    let mut text: String = assembly
        .notes
        .iter()
        .map(|note| format!("{note}\n"))
        .collect();
    text += &format!(
        "{}: scene {:?}: {} fixed shapes, {} bodies, {} robots, {} observables, {} expectations\n",
        scene.text.name(),
        scene.title,
        scene.fixed.len(),
        scene.bodies.len(),
        scene.models.len(),
        scene.observables.len(),
        scene.expectations.len()
    );
    print(&text)?;
    Ok(Ending::AsExpected)
}

fn robot(path: &Path, bytes: &[u8], mapped: &[(String, PathBuf)]) -> Result<Ending, Failure> {
    let mut packages = PackageMap::default();
    for (name, folder) in mapped {
        packages.add_package(name.as_str(), folder);
    }
    let options = UrdfOptions {
        packages,
        ..UrdfOptions::default()
    };
    let loaded = parse_urdf(bytes, path, &options)?;
    let model = &loaded.model;
    said(
        &loaded.report.to_string(),
        &path.to_string_lossy(),
        &format!(
            "robot {:?}: {} links, {} joints, {} degrees of freedom, {} kg move",
            model.name(),
            model.links().len(),
            model.joints().len(),
            model.n_v(),
            number(model.moving_mass())
        ),
    )
}

/// Tetrahedra where there are any, otherwise the surface of a solid, otherwise a sheet.
fn mesh(name: &str, bytes: &[u8], scale: f64) -> Result<Ending, Failure> {
    let tets = TetOptions {
        scale: nalgebra::Vector3::repeat(scale),
        ..TetOptions::default()
    };
    let surface = SurfaceOptions {
        scale: nalgebra::Vector3::repeat(scale),
        ..SurfaceOptions::default()
    };
    let as_tets = match tets_from_bytes(bytes, name, &tets) {
        Ok((mesh, report)) => {
            let found = format!(
                "{} tetrahedra, {} vertices, volume {:.6e} m3",
                mesh.tets().len(),
                mesh.vertices().len(),
                mesh.solid_moments().volume
            );
            return said(&report.to_string(), name, &found);
        }
        Err(error) => error,
    };
    let (mesh, report, what) = match surface_from_bytes(bytes, name, SurfaceUse::Solid, &surface) {
        Ok((mesh, report)) => (mesh, report, "closed surface"),
        Err(as_solid) => match surface_from_bytes(bytes, name, SurfaceUse::Cloth, &surface) {
            Ok((mesh, report)) => {
                eprintln!("note: not the surface of a solid: {as_solid}");
                (mesh, report, "open surface")
            }
            // The file is no surface at all: what is wrong with its tetrahedra matters.
            Err(MeshError::Unsupported(_)) => return Err(as_tets.into()),
            // What keeps it from being a sheet is the graver fault.
            Err(as_sheet) => return Err(as_sheet.into()),
        },
    };
    said(
        &report.to_string(),
        name,
        &format!(
            "{what} of {} triangles, {} vertices, area {:.6e} m2",
            mesh.triangles().len(),
            mesh.vertices().len(),
            mesh.area()
        ),
    )
}

fn said(report: &str, name: &str, found: &str) -> Result<Ending, Failure> {
    print(&format!("{report}{name}: {found}\n"))?;
    Ok(Ending::AsExpected)
}
