//! The models of a file: in the file itself, in its world, or in files that it includes.

use std::path::{Path, PathBuf};

use super::axes;
use super::nested::flattened;
use crate::error::MultibodyError;
use crate::file_budget::FileBudget;
use crate::markup::{Element, Remarks};
use crate::package_map::PackageMap;

/// A chain of files that is longer includes itself.
const FILES_MAX: usize = 16;

/// The models of a file as one model without others in it.
pub(super) struct Found {
    pub(super) model: Element,
    /// Of several models in the file: each moves freely in the world, or is fixed in it.
    pub(super) loose: Vec<Loose>,
}

/// One of several models of a file.
pub(super) struct Loose {
    pub(super) name: String,
    pub(super) is_static: bool,
}

/// Major and minor version of the format.
pub(super) type Version = (u32, u32);

/// All models of a file. Of several, the parts have names that begin with the name of their model.
pub(super) fn models(
    root: &Element,
    path: &Path,
    (packages, budget): (&PackageMap, FileBudget),
    remarks: &mut Remarks,
) -> Result<Found, MultibodyError> {
    let mut reader = Reader { packages, budget };
    let (inside, parts) = parts_of(root, remarks)?;
    let mut models = Vec::new();
    for part in parts {
        models.push(reader.model((part, root), path, remarks, 0)?);
    }
    if let [model] = &mut models[..] {
        let include = inside.children.iter().find(|part| part.tag == "include");
        if let Some(pose) = include.and_then(|include| include.child("pose")) {
            remarks.ignored(
                &pose.place,
                "<pose> of <include>: the scene places the model",
            );
        }
        let model = std::mem::replace(model, root.clone());
        return Ok(Found {
            model: flattened(model)?,
            loose: Vec::new(),
        });
    }
    let mut loose = Vec::new();
    for model in &models {
        let is_static = model.child("static");
        loose.push(Loose {
            name: model.required("name", "<model>")?.to_owned(),
            is_static: is_static.is_some_and(|flag| ["1", "true"].contains(&&*flag.text)),
        });
    }
    for model in &mut models {
        model.children.retain(|child| child.tag != "static");
    }
    let name = inside.attribute("name").unwrap_or("world").to_owned();
    let all = Element {
        tag: "model".to_owned(),
        attributes: vec![("name".to_owned(), name)],
        children: models,
        text: String::new(),
        place: inside.place.clone(),
    };
    Ok(Found {
        model: flattened(all)?,
        loose,
    })
}

/// Reads included files.
struct Reader<'a> {
    packages: &'a PackageMap,
    budget: FileBudget,
}

impl Reader<'_> {
    /// A `<model>`, or the model of an `<include>`, with the models in it read, too; `root` is the file that it is in.
    fn model(
        &mut self,
        (part, root): (&Element, &Element),
        path: &Path,
        remarks: &mut Remarks,
        depth: usize,
    ) -> Result<Element, MultibodyError> {
        if depth > FILES_MAX {
            return Err(part.error("<include>", "files include one another without end"));
        }
        if part.tag == "include" {
            return self.included(part, path, remarks, depth);
        }
        let mut model = part.clone();
        axes::make_explicit(&mut model, version(root)?);
        for child in &mut model.children {
            if ["include", "model"].contains(&&*child.tag) {
                *child = self.model((child, root), path, remarks, depth + 1)?;
            }
        }
        Ok(model)
    }

    /// The model of another file. The name and the pose of the `<include>` take precedence.
    fn included(
        &mut self,
        include: &Element,
        path: &Path,
        remarks: &mut Remarks,
        depth: usize,
    ) -> Result<Element, MultibodyError> {
        remarks.only_children(include, &["uri", "name", "pose", "static"]);
        let file = self.file_of(include, path)?;
        let root = self.budget.read(&file)?;
        let (_, parts) = parts_of(&root, remarks)?;
        let [part] = parts[..] else {
            let text = format!(
                "{} has several models; include files with one",
                file.display()
            );
            return Err(include.error("<include>", text));
        };
        let mut model = self.model((part, &root), &file, remarks, depth + 1)?;
        make_absolute(&mut model, file.parent().unwrap_or(Path::new("")));
        if let Some(name) = include.child("name") {
            model.attributes.retain(|(known, _)| known != "name");
            model
                .attributes
                .push(("name".to_owned(), name.text.clone()));
        }
        for tag in ["pose", "static"] {
            if let Some(written) = include.child(tag) {
                model.children.retain(|child| child.tag != tag);
                model.children.push(written.clone());
            }
        }
        Ok(model)
    }

    /// The file of an `<include>`: a .sdf file, or that of a folder by its model.config.
    fn file_of(&mut self, include: &Element, path: &Path) -> Result<PathBuf, MultibodyError> {
        let subject = "<include>";
        let Some(uri) = include.child("uri") else {
            return Err(include.error(subject, "needs <uri>FILE</uri>"));
        };
        let packages = self.packages;
        let resolve = |name: &str| {
            let found = packages.resolve(name, path);
            found.map_err(|text| uri.error(subject, text))
        };
        let written = uri.text.trim_end_matches('/');
        if written.ends_with(".sdf") {
            return resolve(written);
        }
        let config = resolve(&format!("{written}/model.config"))?;
        let root = self.budget.read(&config)?;
        // The file of the newest version comes last.
        let Some(file) = root.children.iter().rfind(|child| child.tag == "sdf") else {
            return Err(root.error("<model>", "names no <sdf> file"));
        };
        match Path::new(&file.text).extension() {
            Some(ending) if ending == "sdf" => resolve(&format!("{written}/{}", file.text)),
            _ => Err(file.error("<sdf>", format!("\"{}\" must be a .sdf file", file.text))),
        }
    }
}

/// Makes relative names of files absolute, since the model becomes part of another file.
fn make_absolute(element: &mut Element, folder: &Path) {
    if element.tag == "uri" && !element.text.contains("://") {
        let file = folder.join(&element.text);
        if file.exists() {
            element.text = file.to_string_lossy().into_owned();
        }
    }
    for child in &mut element.children {
        make_absolute(child, folder);
    }
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

/// The models and includes of a file, and the element that they are in.
fn parts_of<'a>(
    root: &'a Element,
    remarks: &mut Remarks,
) -> Result<(&'a Element, Vec<&'a Element>), MultibodyError> {
    if root.tag != "sdf" {
        let text = format!("the outermost element is <{}>, but must be <sdf>", root.tag);
        return Err(root.error("file", text));
    }
    let inside = root.child("world").unwrap_or(root);
    let known = ["model", "include"];
    let is_part = |element: &&Element| known.contains(&&*element.tag);
    let parts: Vec<&Element> = inside.children.iter().filter(is_part).collect();
    if parts.is_empty() {
        return Err(inside.error("file", "has no <model>"));
    }
    remarks.only_children(root, &["model", "include", "world"]);
    if inside.tag == "world" {
        remarks.only_children(inside, &known);
    }
    Ok((inside, parts))
}
