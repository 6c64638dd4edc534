//! `<include>`: the contents of another file take its place.

use std::path::{Path, PathBuf};

use crate::error::MultibodyError;
use crate::markup::{Element, parse};

/// Extensions of files that may be included.
const INCLUDED_FILES: [&str; 2] = ["xml", "mjcf"];

/// The outermost element of a file, with all included files in it.
pub(super) fn expanded(bytes: &[u8], path: &Path) -> Result<Element, MultibodyError> {
    let mut root = parse(bytes, path)?;
    let mut included = vec![path.to_owned()];
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    expand(&mut root, &folder, &mut included)?;
    Ok(root)
}

fn expand(
    element: &mut Element,
    folder: &Path,
    included: &mut Vec<PathBuf>,
) -> Result<(), MultibodyError> {
    for child in std::mem::take(&mut element.children) {
        if child.tag != "include" {
            element.children.push(child);
            expand(
                element.children.last_mut().expect("just added"),
                folder,
                included,
            )?;
            continue;
        }
        let mut other = read(&child, folder, included)?;
        expand(&mut other, folder, included)?;
        element.children.append(&mut other.children);
    }
    Ok(())
}

/// The file of an `<include>`, beside the main file or beside the including one.
fn read(
    include: &Element,
    folder: &Path,
    included: &mut Vec<PathBuf>,
) -> Result<Element, MultibodyError> {
    let name = include.required("file", "<include>")?;
    let fail = |text: String| include.error("<include>", text);
    let beside = include.place.file.parent().unwrap_or(Path::new(""));
    let candidates = [folder.join(name), beside.join(name)];
    let extension = Path::new(name).extension().and_then(|e| e.to_str());
    if !extension.is_some_and(|e| INCLUDED_FILES.contains(&&*e.to_ascii_lowercase())) {
        return Err(fail(format!(
            "\"{name}\" must be an .xml or .mjcf file to be included"
        )));
    }
    let Some(path) = candidates.iter().find(|path| path.is_file()) else {
        let mut tried: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
        tried.dedup();
        return Err(fail(format!(
            "\"{name}\" was not found; tried {}",
            tried.join(", ")
        )));
    };
    if included.contains(path) {
        return Err(fail(format!(
            "\"{name}\" is included twice; a file can be part of a model only once"
        )));
    }
    included.push(path.clone());
    let bytes = std::fs::read(path).map_err(|error| MultibodyError::Unreadable {
        file: path.clone(),
        error,
    })?;
    parse(&bytes, path)
}
