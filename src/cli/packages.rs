//! `--package NAME=DIR`: folders of the packages that robot files refer to.

use std::path::PathBuf;

use crate::scene::{NamedReference, Scene};

/// Reads NAME=DIR.
pub(super) fn parse_package(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.into(), folder.into()))
        }
        _ => Err("must look like NAME=DIR".into()),
    }
}

/// Adds packages to all robots of a scene. Those that the scene maps itself take precedence.
pub(super) fn add_packages(scene: &mut Scene, packages: &[(String, PathBuf)]) {
    for model in &mut scene.models {
        let at = model.file.at;
        let named = |name: String| NamedReference { name, at };
        for (package, folder) in packages {
            // Relative to the working directory, not to the scene.
            let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
            let entry = (
                named(package.clone()),
                named(folder.to_string_lossy().into_owned()),
            );
            model.packages.push(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::SceneOptions;

    #[test]
    fn packages_are_added_after_those_of_the_scene() {
        let options = SceneOptions::default();
        let mut scene = Scene::load("double-pendulum", &options).expect("a bundled scene");
        let package = parse_package("arms=/robots/arms").expect("a package");
        add_packages(&mut scene, &[package]);
        let (name, folder) = scene.models[0].packages.last().expect("one");
        assert_eq!((&*name.name, &*folder.name), ("arms", "/robots/arms"));
        assert!(parse_package("arms").is_err() && parse_package("=x").is_err());
    }
}
