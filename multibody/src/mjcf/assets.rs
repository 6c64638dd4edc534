//! `<asset>`: meshes and colours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};
use pliant_hydroelastic::ConvexHull;
use pliant_hydroelastic::mesh::{DrawnPart, is_surface_file, read_drawn, read_hull};

use super::File;
use super::compiler::{Compiler, MeshFolders};
use super::defaults::{Defaults, Settings};
use super::mesh_inertia::{MeshSolid, unit_density};
use super::names::used_attributes;
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::markup::{Element, Remarks};

/// Meshes and colours by name.
pub(super) struct Assets {
    meshes: BTreeMap<String, MeshAsset>,
    colours: BTreeMap<String, [f64; 4]>,
}

/// A mesh file and how its coordinates are read.
#[derive(PartialEq)]
pub(super) struct MeshAsset {
    /// As written, with the folder of `<compiler>`.
    file: PathBuf,
    pub(super) scale: Vector3<f64>,
    /// Pose of the scaled coordinates of the file in the frame of the geom: `refpos` and `refquat`.
    pub(super) X_GM: Isometry3<f64>,
    solid: MeshSolid,
}

impl Assets {
    pub(super) fn read(
        root: &Element,
        compiler: &Compiler,
        defaults: &Defaults<'_>,
        remarks: &mut Remarks,
    ) -> Result<Self, MultibodyError> {
        let mut assets = Self {
            meshes: BTreeMap::new(),
            colours: BTreeMap::new(),
        };
        let sections = root.children.iter().filter(|e| e.tag == "asset");
        for asset in sections.flat_map(|section| &section.children) {
            match (&*asset.tag, used_attributes(&asset.tag)) {
                ("material", Some(known)) => {
                    let name = asset.required("name", "<material>")?;
                    let subject = format!("material \"{name}\"");
                    remarks.only_attributes(asset, known);
                    let settings = read_settings(defaults, asset)?;
                    let white = [1.0; 4];
                    let rgba = settings.numbers::<4>("rgba", &subject)?.unwrap_or(white);
                    assets.colours.insert(name.to_owned(), rgba);
                }
                ("mesh", Some(known)) => {
                    remarks.only_attributes(asset, known);
                    let settings = read_settings(defaults, asset)?;
                    let (name, mesh) = MeshAsset::read(&settings, compiler)?;
                    let subject = format!("mesh \"{name}\"");
                    match assets.meshes.get(&name) {
                        Some(first) if *first == mesh => {
                            let text = format!("{subject}: is defined twice, in the same way");
                            remarks.suspicious(&asset.place, text);
                        }
                        Some(_) => {
                            let text = "is defined twice; names of meshes must be unique";
                            return Err(asset.error(&subject, text));
                        }
                        None => drop(assets.meshes.insert(name, mesh)),
                    }
                }
                ("hfield", _) => {
                    let known = ["name", "file", "nrow", "ncol", "elevation", "size"];
                    remarks.only_attributes(asset, &known);
                }
                _ => remarks.left_out(asset),
            }
        }
        Ok(assets)
    }

    /// The colour of a material.
    pub(super) fn colour(
        &self,
        material: &str,
        user: &Element,
        subject: &str,
    ) -> Result<Option<[f64; 4]>, MultibodyError> {
        match self.colours.get(material) {
            Some(rgba) => Ok(Some(*rgba)),
            None => {
                let text = format!("material \"{material}\" is not defined in <asset>");
                Err(user.error(subject, text))
            }
        }
    }

    pub(super) fn mesh(
        &self,
        name: &str,
        user: &Element,
        subject: &str,
    ) -> Result<&MeshAsset, MultibodyError> {
        self.meshes.get(name).ok_or_else(|| {
            let text = format!("mesh \"{name}\" is not defined in <asset>");
            user.error(subject, text)
        })
    }
}

/// Assets have defaults of their own class only.
fn read_settings<'a>(
    defaults: &Defaults<'a>,
    asset: &'a Element,
) -> Result<Settings<'a>, MultibodyError> {
    defaults.settings(asset, None)
}

impl MeshAsset {
    fn read(
        settings: &Settings<'_>,
        compiler: &Compiler,
    ) -> Result<(String, Self), MultibodyError> {
        let own = settings.own();
        let named = own.attribute("name").map(str::trim);
        let subject = format!("mesh \"{}\"", named.unwrap_or_default());
        let fail = |text: &str| own.error(&subject, text);
        let Some(file) = settings.text("file") else {
            let text = "has no file=\"...\"; vertices in the model file and built-in meshes are not supported";
            return Err(fail(text));
        };
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
        let Some(name) = named.or(stem) else {
            return Err(fail("needs a name"));
        };
        let written = match compiler.mesh_folders {
            MeshFolders::Kept => Path::new(file),
            MeshFolders::Stripped => Path::new(Path::new(file).file_name().unwrap_or_default()),
        };
        let scale = settings
            .numbers::<3>("scale", &subject)?
            .map_or_else(|| Vector3::repeat(1.0), Vector3::from);
        if scale.iter().any(|&s| s == 0.0) {
            return Err(fail("scale must not be zero"));
        }
        let solid = match settings.text("inertia") {
            None | Some("legacy") => MeshSolid::Legacy,
            Some("exact") => MeshSolid::Exact,
            Some("convex") => MeshSolid::Convex,
            Some("shell") => MeshSolid::Shell,
            Some(other) => {
                let text = format!(
                    "inertia=\"{other}\" is unknown; use exact, convex, legacy or shell, or give the body an <inertial>"
                );
                return Err(fail(&text));
            }
        };
        let moved = settings
            .numbers::<3>("refpos", &subject)?
            .map_or_else(Vector3::zeros, Vector3::from);
        let turned = match settings.numbers::<4>("refquat", &subject)? {
            None => UnitQuaternion::identity(),
            Some([w, x, y, z]) => UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-14)
                .ok_or_else(|| fail("refquat must not be zero"))?,
        };
        let is_uniform = scale.x == scale.y && scale.y == scale.z;
        if turned.angle() > 0.0 && !is_uniform {
            return Err(fail(
                "refquat with different scales per axis is not supported",
            ));
        }
        let reference = Isometry3::from_parts(scale.component_mul(&moved).into(), turned);
        let mesh = Self {
            file: compiler.mesh_folder.join(written),
            scale,
            X_GM: reference.inverse(),
            solid,
        };
        Ok((name.to_owned(), mesh))
    }

    /// The file on disk.
    ///
    /// # Errors
    /// A message with the paths that were tried, or the formats that are supported.
    pub(super) fn path(&self, file: &File<'_>) -> Result<PathBuf, String> {
        let name = self.file.to_string_lossy();
        let path = file.options.packages.resolve(&name, file.path)?;
        if !is_surface_file(&path) {
            return Err(format!("{} has an unsupported format", path.display()));
        }
        Ok(path)
    }

    /// The convex hull, in the frame of the file.
    pub(super) fn hull(&self, path: &Path) -> Result<Arc<ConvexHull>, String> {
        let read = read_hull(path, &self.scale);
        let (hull, _) = read.map_err(|error| format!("convex hull of {error}"))?;
        Ok(Arc::new(hull))
    }

    /// The inertia at 1 kg/m³, in the frame of the file.
    pub(super) fn unit_density(&self, path: &Path) -> Result<SpatialInertia, String> {
        let read = read_drawn(path, &self.scale);
        let (parts, _) = read.map_err(|error| format!("{}: {error}", path.display()))?;
        let DrawnPart {
            vertices,
            triangles,
            ..
        } = DrawnPart::joined(parts);
        unit_density(&vertices, &triangles, self.solid)
            .map_err(|text| format!("{} {text}", path.display()))
    }
}
