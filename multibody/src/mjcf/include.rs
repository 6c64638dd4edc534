//! `<include>`: the contents of another file take its place.

use std::path::{Path, PathBuf};

use crate::error::MultibodyError;
use crate::file_budget::FileBudget;
use crate::markup::{DEPTH_MAX, Element};

/// Extensions of files that may be included.
const INCLUDED_FILES: [&str; 2] = ["xml", "mjcf"];

/// The outermost element of a file, with all included files in it.
pub(super) fn expanded(bytes: &[u8], path: &Path) -> Result<Element, MultibodyError> {
    let mut budget = FileBudget::default();
    let mut root = budget.parse(bytes, path)?;
    let mut reader = Reader {
        folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        included: vec![identity(path)],
        budget,
    };
    reader.expand(&mut root, 0)?;
    Ok(root)
}

/// A file may have several names.
fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Reads included files.
struct Reader {
    /// The folder of the main file.
    folder: PathBuf,
    included: Vec<PathBuf>,
    budget: FileBudget,
}

impl Reader {
    fn expand(&mut self, element: &mut Element, depth: usize) -> Result<(), MultibodyError> {
        if depth > DEPTH_MAX {
            let text = format!("elements are nested more than {DEPTH_MAX} deep");
            return Err(element.error("file", text));
        }
        for mut child in std::mem::take(&mut element.children) {
            if child.tag != "include" {
                self.expand(&mut child, depth + 1)?;
                element.children.push(child);
                continue;
            }
            let mut other = self.read(&child)?;
            self.expand(&mut other, depth)?;
            element.children.append(&mut other.children);
        }
        Ok(())
    }

    /// The file of an `<include>`, beside the main file or beside the including one.
    fn read(&mut self, include: &Element) -> Result<Element, MultibodyError> {
        let name = include.required("file", "<include>")?;
        let fail = |text: String| include.error("<include>", text);
        let beside = include.place.file.parent().unwrap_or(Path::new(""));
        let candidates = [self.folder.join(name), beside.join(name)];
        let extension = Path::new(name).extension().and_then(|e| e.to_str());
        if !extension.is_some_and(|e| INCLUDED_FILES.contains(&&*e.to_ascii_lowercase())) {
            return Err(fail(format!(
                "\"{name}\" must be an .xml or .mjcf file to be included"
            )));
        }
        let Some(path) = candidates.iter().find(|path| path.is_file()) else {
            let mut tried: Vec<String> =
                candidates.iter().map(|p| p.display().to_string()).collect();
            tried.dedup();
            return Err(fail(format!(
                "\"{name}\" was not found; tried {}: put it there, or correct its name",
                tried.join(", ")
            )));
        };
        let identity = identity(path);
        if self.included.contains(&identity) {
            return Err(fail(format!(
                "\"{name}\" is included twice; a file can be part of a model only once"
            )));
        }
        self.included.push(identity);
        self.budget.read(path)
    }
}
