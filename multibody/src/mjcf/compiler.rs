//! `<compiler>`: units, conventions and defaults of the whole file.

use std::path::PathBuf;

use nalgebra::Vector3;

use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};

/// Unit of angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AngleUnit {
    Degree,
    Radian,
}

/// Whether a range alone makes a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limits {
    /// A range is a limit unless `limited="false"`.
    FromRange,
    /// A limit needs `limited="true"`.
    Explicit,
}

/// When the inertia of a body is that of its geoms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InertiaFromGeoms {
    Always,
    Never,
    /// If the body has no `<inertial>`.
    Auto,
}

/// Whether inertias that violate the triangle inequality are replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unbalanced {
    AsWritten,
    /// By the mean of their principal moments.
    Balanced,
}

/// Whether folders are removed from the names of meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MeshFolders {
    Kept,
    Stripped,
}

/// The settings of all `<compiler>` elements; later ones take precedence.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) angle: AngleUnit,
    /// Axes of Euler angles: lower case rotates with the frame, upper case about the fixed axes.
    pub(super) euler_sequence: [u8; 3],
    pub(super) limits: Limits,
    pub(super) mesh_folder: PathBuf,
    pub(super) mesh_folders: MeshFolders,
    pub(super) inertia_from_geoms: InertiaFromGeoms,
    /// Groups of the geoms that have inertia.
    pub(super) inertia_groups: [f64; 2],
    /// Least mass of a body, kg.
    pub(super) least_mass: f64,
    /// Least principal moment of a body, kg m².
    pub(super) least_inertia: f64,
    pub(super) unbalanced: Unbalanced,
    /// Mass to which the model is scaled, kg.
    pub(super) total_mass: Option<f64>,
}

const USED: [&str; 14] = [
    "angle",
    "eulerseq",
    "autolimits",
    "meshdir",
    "assetdir",
    "strippath",
    "inertiafromgeom",
    "inertiagrouprange",
    "boundmass",
    "boundinertia",
    "balanceinertia",
    "settotalmass",
    "coordinate",
    "fitaabb",
];

impl Compiler {
    pub(super) fn read(root: &Element, remarks: &mut Remarks) -> Result<Self, MultibodyError> {
        let mut compiler = Self {
            angle: AngleUnit::Degree,
            euler_sequence: *b"xyz",
            limits: Limits::FromRange,
            mesh_folder: PathBuf::new(),
            mesh_folders: MeshFolders::Kept,
            inertia_from_geoms: InertiaFromGeoms::Auto,
            inertia_groups: [0.0, 5.0],
            least_mass: 0.0,
            least_inertia: 0.0,
            unbalanced: Unbalanced::AsWritten,
            total_mass: None,
        };
        for element in root.children.iter().filter(|e| e.tag == "compiler") {
            remarks.only_attributes(element, &USED);
            for child in &element.children {
                remarks.left_out(child);
            }
            compiler.apply(element)?;
        }
        Ok(compiler)
    }

    fn apply(&mut self, element: &Element) -> Result<(), MultibodyError> {
        if let Some(angle) = choice(
            element,
            "angle",
            &[("degree", AngleUnit::Degree), ("radian", AngleUnit::Radian)],
        )? {
            self.angle = angle;
        }
        if let Some(limits) = choice(
            element,
            "autolimits",
            &[("true", Limits::FromRange), ("false", Limits::Explicit)],
        )? {
            self.limits = limits;
        }
        if let Some(folders) = choice(
            element,
            "strippath",
            &[
                ("false", MeshFolders::Kept),
                ("true", MeshFolders::Stripped),
            ],
        )? {
            self.mesh_folders = folders;
        }
        if let Some(source) = choice(
            element,
            "inertiafromgeom",
            &[
                ("auto", InertiaFromGeoms::Auto),
                ("true", InertiaFromGeoms::Always),
                ("false", InertiaFromGeoms::Never),
            ],
        )? {
            self.inertia_from_geoms = source;
        }
        if let Some(unbalanced) = choice(
            element,
            "balanceinertia",
            &[
                ("false", Unbalanced::AsWritten),
                ("true", Unbalanced::Balanced),
            ],
        )? {
            self.unbalanced = unbalanced;
        }
        choice(element, "coordinate", &[("local", ())])?;
        if let Some(sequence) = element.attribute("eulerseq") {
            self.euler_sequence = euler_sequence(sequence).ok_or_else(|| {
                let text = format!(
                    "eulerseq=\"{sequence}\" must be three of the letters x, y, z, X, Y, Z"
                );
                element.error("<compiler>", text)
            })?;
        }
        // A folder for meshes alone takes precedence over one for all assets.
        for name in ["assetdir", "meshdir"] {
            if let Some(folder) = element.attribute(name) {
                self.mesh_folder = folder.trim().into();
            }
        }
        if let Some([low, high]) = numbers(element, "inertiagrouprange")? {
            self.inertia_groups = [low, high];
        }
        for (name, slot) in [
            ("boundmass", &mut self.least_mass),
            ("boundinertia", &mut self.least_inertia),
        ] {
            if let Some([value]) = numbers(element, name)? {
                if value < 0.0 {
                    let text = format!("{name} = {value} must not be negative");
                    return Err(element.error("<compiler>", text));
                }
                *slot = value;
            }
        }
        if let Some([mass]) = numbers(element, "settotalmass")? {
            self.total_mass = (mass > 0.0).then_some(mass);
        }
        Ok(())
    }

    /// An angle of the file in radians.
    pub(super) fn radians(&self, angle: f64) -> f64 {
        match self.angle {
            AngleUnit::Degree => angle.to_radians(),
            AngleUnit::Radian => angle,
        }
    }

    /// The rotation axis of an Euler angle.
    pub(super) fn euler_axis(letter: u8) -> nalgebra::Unit<Vector3<f64>> {
        match letter.to_ascii_lowercase() {
            b'x' => Vector3::x_axis(),
            b'y' => Vector3::y_axis(),
            _ => Vector3::z_axis(),
        }
    }
}

fn euler_sequence(written: &str) -> Option<[u8; 3]> {
    let sequence: [u8; 3] = written.trim().as_bytes().try_into().ok()?;
    sequence
        .iter()
        .all(|letter| b"xyzXYZ".contains(letter))
        .then_some(sequence)
}

fn numbers<const N: usize>(
    element: &Element,
    name: &str,
) -> Result<Option<[f64; N]>, MultibodyError> {
    let Some(numbers) = element.numbers(name, N, "<compiler>")? else {
        return Ok(None);
    };
    let fail = |_| element.error("<compiler>", format!("{name} must have {N} numbers"));
    numbers.try_into().map(Some).map_err(fail)
}

/// One of the words that an attribute may have.
pub(super) fn choice<T: Clone>(
    element: &Element,
    name: &str,
    choices: &[(&str, T)],
) -> Result<Option<T>, MultibodyError> {
    let Some(written) = element.attribute(name).map(str::trim) else {
        return Ok(None);
    };
    let found = choices.iter().find(|(word, _)| *word == written);
    match found {
        Some((_, value)) => Ok(Some(value.clone())),
        None => {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            let text = format!(
                "{name}=\"{written}\" is not supported; use {}",
                words.join(", ")
            );
            Err(element.error(&format!("<{}>", element.tag), text))
        }
    }
}
