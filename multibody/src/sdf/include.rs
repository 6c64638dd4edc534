//! The model of a file: in the file itself, in its world, or in a file that it includes.

use std::path::{Path, PathBuf};

use crate::error::MultibodyError;
use crate::markup::{Element, Remarks, parse};
use crate::package_map::PackageMap;

/// A chain of files that is longer includes itself.
const FILES_MAX: usize = 16;

/// A model and the file that it is in.
pub(super) struct Found {
    pub(super) model: Element,
    /// Of the file with the model; `None` if it gives none.
    pub(super) version: Option<Version>,
    pub(super) path: PathBuf,
}

/// Major and minor version of the format.
pub(super) type Version = (u32, u32);

/// The only model of a file, or of the only file that it includes. The name that an `<include>` gives takes precedence.
pub(super) fn only_model(
    mut root: Element,
    path: &Path,
    packages: &PackageMap,
    remarks: &mut Remarks,
) -> Result<Found, MultibodyError> {
    let mut path = path.to_owned();
    let mut name = None;
    for _ in 0..FILES_MAX {
        let part = only_part(&root, remarks)?;
        if part.tag == "model" {
            let mut model = part.clone();
            if let Some(name) = name {
                model
                    .attributes
                    .retain(|(attribute, _)| attribute != "name");
                model.attributes.push(("name".to_owned(), name));
            }
            let version = version(&root)?;
            return Ok(Found {
                model,
                version,
                path,
            });
        }
        remarks.only_children(part, &["uri", "name", "pose"]);
        if let Some(pose) = part.child("pose") {
            remarks.ignored(
                &pose.place,
                "<pose> of <include>: the scene places the model",
            );
        }
        name = name.or(part.child("name").map(|name| name.text.clone()));
        let next = file_of(part, &path, packages)?;
        let bytes = std::fs::read(&next).map_err(|error| MultibodyError::Unreadable {
            file: next.clone(),
            error,
        })?;
        (root, path) = (parse(&bytes, &next)?, next);
    }
    Err(root.error("<include>", "files include one another without end"))
}

fn version(root: &Element) -> Result<Option<Version>, MultibodyError> {
    let Some(written) = root.attribute("version") else {
        return Ok(None);
    };
    let numbers = written.trim().split_once('.');
    let numbers =
        numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    if numbers.is_none() {
        let text = format!("version=\"{written}\" must be two numbers, such as 1.9");
        return Err(root.error("<sdf>", text));
    }
    Ok(numbers)
}

/// The `<model>` or the `<include>` of a file.
fn only_part<'a>(root: &'a Element, remarks: &mut Remarks) -> Result<&'a Element, MultibodyError> {
    if root.tag != "sdf" {
        let text = format!("the outermost element is <{}>, but must be <sdf>", root.tag);
        return Err(root.error("file", text));
    }
    let inside = root.child("world").unwrap_or(root);
    let is_part = |element: &&Element| ["model", "include"].contains(&&*element.tag);
    let parts: Vec<&Element> = inside.children.iter().filter(is_part).collect();
    match parts[..] {
        [part] => {
            remarks.only_children(root, &["model", "include", "world"]);
            if inside.tag == "world" {
                remarks.only_children(inside, &["model", "include"]);
            }
            Ok(part)
        }
        [] => Err(inside.error("file", "has no <model>")),
        [_, second, ..] => {
            let text = "has several models; write each to a file of its own";
            Err(second.error("file", text))
        }
    }
}

/// The file of an `<include>`: a .sdf file, or that of a folder by its model.config.
fn file_of(
    include: &Element,
    path: &Path,
    packages: &PackageMap,
) -> Result<PathBuf, MultibodyError> {
    let subject = "<include>";
    let Some(uri) = include.child("uri") else {
        return Err(include.error(subject, "needs <uri>FILE</uri>"));
    };
    let resolve = |name: &str| {
        let found = packages.resolve(name, path);
        found.map_err(|text| uri.error(subject, text))
    };
    let written = uri.text.trim_end_matches('/');
    if written.ends_with(".sdf") {
        return resolve(written);
    }
    let config = resolve(&format!("{written}/model.config"))?;
    let bytes = std::fs::read(&config).map_err(|error| MultibodyError::Unreadable {
        file: config.clone(),
        error,
    })?;
    let root = parse(&bytes, &config)?;
    // The file of the newest version comes last.
    let Some(file) = root.children.iter().rfind(|child| child.tag == "sdf") else {
        return Err(root.error("<model>", "names no <sdf> file"));
    };
    match Path::new(&file.text).extension() {
        Some(ending) if ending == "sdf" => resolve(&format!("{written}/{}", file.text)),
        _ => Err(file.error("<sdf>", format!("\"{}\" must be a .sdf file", file.text))),
    }
}
