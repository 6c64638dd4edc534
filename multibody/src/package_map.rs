//! Resolution of file names in a model, restricted to folders given by the caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders for `package://NAME/...` and for relative names. Only these, the folder of the model file and the folders around it are
/// searched: without a mapping, NAME is a folder around the model file, or a folder in one of those, the nearest first.
///
/// ```
/// use std::path::Path;
/// use pliant_multibody::{PackageMap, RobotOptions, parse_robot};
///
/// # let folder = std::env::temp_dir().join(format!("package-map-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// std::fs::write(folder.join("corner.obj"), obj)?;
/// let urdf = br#"<robot name="r"><link name="part"><collision><geometry>
///   <mesh filename="package://shop/corner.obj"/></geometry></collision></link></robot>"#;
/// let load = |packages| {
///     let options = RobotOptions { packages, ..RobotOptions::default() };
///     parse_robot(urdf, Path::new("r.urdf"), &options)
/// };
/// let error = load(PackageMap::default()).unwrap_err();
/// assert!(error.to_string().contains("package \"shop\" is not mapped"));
/// let mut packages = PackageMap::default();
/// packages.add_package("shop", &folder);
/// let part = load(packages)?.model;
/// assert_eq!(part.links()[0].collisions[0].mesh.as_ref().map(|mesh| mesh.vertices().len()), Some(4));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PackageMap {
    packages: BTreeMap<String, Vec<PathBuf>>,
    folders: Vec<PathBuf>,
}

impl PackageMap {
    /// Maps `package://NAME/X` to `folder/X`. Several folders of one name are tried in order. A name may be a path, such as
    /// `robots/arms`.
    pub fn add_package(
        &mut self,
        name: impl Into<String>,
        folder: impl Into<PathBuf>,
    ) -> &mut Self {
        self.packages
            .entry(name.into())
            .or_default()
            .push(folder.into());
        self
    }

    /// Adds a folder for relative names, searched after the folder of the model file.
    pub fn add_folder(&mut self, folder: impl Into<PathBuf>) -> &mut Self {
        self.folders.push(folder.into());
        self
    }

    /// Resolves the file `name` in a model file at `model_file`.
    ///
    /// # Errors
    /// A message with the package that is not mapped, or the paths that were tried.
    pub(crate) fn resolve(&self, name: &str, model_file: &Path) -> Result<PathBuf, String> {
        let in_package = name
            .strip_prefix("package://")
            .or_else(|| name.strip_prefix("model://"));
        let candidates: Vec<PathBuf> = if let Some(rest) = in_package {
            let inside = |package: &str| rest.strip_prefix(package)?.strip_prefix('/');
            // The longest mapped name wins, so that a part of a package can be in another folder.
            let mapped = self
                .packages
                .iter()
                .filter_map(|(p, folders)| Some((p.len(), inside(p)?, folders)));
            let mapped = mapped.max_by_key(|(length, _, _)| *length);
            let Some((_, inside, folders)) = mapped else {
                if let Some(found) = around(model_file, rest) {
                    return Ok(found);
                }
                let known: Vec<&str> = self.packages.keys().map(String::as_str).collect();
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                let (package, inside) = rest.split_once('/').unwrap_or((rest, ""));
                return Err(format!(
                    "\"{name}\": package \"{package}\" is not mapped (mapped packages: {known}), and no folder {package} around the file has it; map it to the folder that contains \"{inside}\""
                ));
            };
            folders.iter().map(|f| f.join(inside)).collect()
        } else if let Some(path) = name.strip_prefix("file://") {
            vec![PathBuf::from(path)]
        } else {
            let beside = model_file.parent().unwrap_or(Path::new("")).to_owned();
            core::iter::once(&beside)
                .chain(&self.folders)
                .map(|f| f.join(name))
                .collect()
        };
        if let Some(found) = candidates.iter().find(|c| c.is_file()) {
            return Ok(found.clone());
        }
        let tried: Vec<String> = candidates.iter().map(|c| c.display().to_string()).collect();
        Err(format!(
            "\"{name}\" was not found; tried {}: put it there, or correct its name",
            tried.join(", ")
        ))
    }
}

/// The file `PACKAGE/inside` where PACKAGE is a folder around the model file, or beside one of those.
fn around(model_file: &Path, rest: &str) -> Option<PathBuf> {
    let (package, inside) = rest.split_once('/')?;
    // A relative path has fewer folders around it than the file.
    let absolute = std::path::absolute(model_file).ok()?;
    let folders = absolute.ancestors().skip(1);
    let candidates = folders.flat_map(|folder| {
        let is_package = folder.file_name().is_some_and(|name| name == package);
        let itself = is_package.then(|| folder.join(inside));
        itself
            .into_iter()
            .chain([folder.join(package).join(inside)])
    });
    candidates.into_iter().find(|path| path.is_file())
}
