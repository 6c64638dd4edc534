//! `pliant check`.

use std::path::{Path, PathBuf};

use crate::registry::Registry;
use crate::scene::Scene;
use clap::Args;
use pliant_hydroelastic::mesh::{
    Bounds, MeshError, SurfaceOptions, SurfaceUse, TetOptions, surface_from_bytes, tets_from_bytes,
};
use pliant_multibody::urdf::{PackageMap, UrdfOptions, parse_urdf};

use super::output::{number, print};
use super::{Ending, Failure, with};

#[derive(Args)]
pub(super) struct CheckArguments {
    /// A scene, robot (URDF) or mesh (OBJ, STL, VTK, VTU, Gmsh); recognised by its content
    file: PathBuf,
    /// Folder that `package://NAME/` refers to in a robot file; may be repeated
    #[arg(long = "package", value_name = "NAME=DIR", value_parser = parse_package)]
    packages: Vec<(String, PathBuf)>,
    /// Factor on the coordinates of a mesh
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
    let path = &arguments.file;
    let named = path.to_string_lossy();
    if !path.exists() && path.extension().is_none() {
        return scene(&named, registry);
    }
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    match kind(path, &bytes) {
        FileKind::Scene => scene(&named, registry),
        FileKind::Robot => robot(path, &bytes, &arguments.packages),
        FileKind::Mesh => mesh(&named, &bytes, arguments.scale),
    }
}

fn scene(name: &str, registry: &Registry) -> Result<Ending, Failure> {
    let scene = Scene::load(name, &with(registry))?;
    let assembly = crate::runner::check(&scene)?;
    let mut text: String = assembly
        .notes
        .iter()
        .map(|note| format!("{note}\n"))
        .collect();
    text += &format!(
        "{}: scene {:?}: {}, {}, {}, {}, {}, {}\n",
        scene.text.name(),
        scene.title,
        counted(scene.fixed.len(), "fixed shape", "fixed shapes"),
        counted(scene.bodies.len(), "body", "bodies"),
        counted(scene.soft.entries.len(), "soft body", "soft bodies"),
        counted(scene.models.len(), "robot", "robots"),
        counted(scene.observables.len(), "observable", "observables"),
        counted(scene.expectations.len(), "expectation", "expectations"),
    );
    print(&text)?;
    Ok(Ending::AsExpected)
}

fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
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
    let loaded = parse_urdf(bytes, path, &options).map_err(|error| {
        let wants_packages = bytes.windows(10).any(|part| part == b"package://");
        if wants_packages && mapped.is_empty() {
            Failure::from(format!(
                "{error}\nits packages are found with --package NAME=DIR"
            ))
        } else {
            error.into()
        }
    })?;
    let model = &loaded.model;
    report_on(
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

/// Tetrahedra if there are any, otherwise the surface of a solid, otherwise a sheet.
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
            let summary = format!(
                "{}, {} vertices, volume {} m3, {}",
                counted(mesh.tets().len(), "tetrahedron", "tetrahedra"),
                mesh.vertices().len(),
                number(mesh.solid_moments().volume),
                extent(&mesh.bounds(), mesh.component_count())
            );
            return report_on(&report.to_string(), name, &summary);
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
            // The file has no surface: report what is wrong with its tetrahedra.
            Err(MeshError::Unsupported(_)) => return Err(as_tets.into()),
            // The error as a sheet is the more severe one.
            Err(as_sheet) => return Err(as_sheet.into()),
        },
    };
    let volume = mesh
        .solid_moments()
        .filter(|_| mesh.is_closed())
        .map_or(String::new(), |m| {
            format!(", volume {} m3", number(m.volume))
        });
    report_on(
        &report.to_string(),
        name,
        &format!(
            "{what} of {}, {} vertices, area {} m2{volume}, {}",
            counted(mesh.triangles().len(), "triangle", "triangles"),
            mesh.vertices().len(),
            number(mesh.area()),
            extent(&mesh.bounds(), mesh.component_count())
        ),
    )
}

/// Size and number of parts of a mesh, which reveal a wrong unit or a missing part.
fn extent(bounds: &Bounds, components: usize) -> String {
    let size = bounds.max - bounds.min;
    format!(
        "size {} x {} x {} m, {}",
        number(size.x),
        number(size.y),
        number(size.z),
        counted(components, "component", "components")
    )
}

fn report_on(report: &str, name: &str, summary: &str) -> Result<Ending, Failure> {
    print(&format!("{report}{name}: {summary}\n"))?;
    Ok(Ending::AsExpected)
}
