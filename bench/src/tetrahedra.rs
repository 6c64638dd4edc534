//! Tetrahedra of compliant meshes as files, for baselines without a mesh generator.

use std::fmt::Write;
use std::path::Path;

use pliant_hydroelastic::{Compliance, PressureField};

use crate::error::BenchError;
use crate::scene::{Hydroelastic, Scene, Solid};

/// Writes `NAME.vtk` (legacy VTK) into `folder` for each free body of that name that is a compliant mesh; paths in
/// the scene are relative to `root`.
///
/// # Errors
/// [`BenchError`] for a mesh that cannot be read or filled, or a file that cannot be written.
pub fn write_tetrahedra(scene: &Scene, root: &Path, folder: &Path) -> Result<(), BenchError> {
    for free in &scene.free {
        let (Solid::Mesh { .. }, Hydroelastic::Compliant { edge_length, .. }) =
            (&free.solid, free.hydroelastic)
        else {
            continue;
        };
        let compliance = Compliance {
            margin: 0.0,
            mesh_resolution_hint: edge_length,
            ..Compliance::default()
        };
        let shape = free.solid.shape(&free.name, root)?;
        let field =
            PressureField::of_shape(&shape, &compliance).map_err(|source| BenchError::Shape {
                name: free.name.clone(),
                source,
            })?;
        let file = folder.join(format!("{}.vtk", free.name));
        std::fs::write(&file, vtk(&field)).map_err(|source| BenchError::Unwritable {
            file: file.display().to_string(),
            source,
        })?;
    }
    Ok(())
}

fn vtk(field: &PressureField) -> String {
    let (vertices, tets) = (field.vertices(), field.tets());
    let mut text = format!(
        "# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
        vertices.len()
    );
    let written = "writing to a string succeeds";
    for x in vertices {
        writeln!(text, "{} {} {}", x.x, x.y, x.z).expect(written);
    }
    writeln!(text, "CELLS {} {}", tets.len(), 5 * tets.len()).expect(written);
    for [a, b, c, d] in tets {
        writeln!(text, "4 {a} {b} {c} {d}").expect(written);
    }
    writeln!(text, "CELL_TYPES {}", tets.len()).expect(written);
    for _ in tets {
        text.push_str("10\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use pliant_hydroelastic::mesh::{TetOptions, read_tets};

    #[test]
    fn the_pepper_is_written_and_read_back() {
        let scene = catalogue::find("pepper").expect("it is in the catalogue");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = std::env::temp_dir().join(format!("pliant-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a place for temporary files");
        write_tetrahedra(&scene, &root, &folder).expect("a legal mesh");
        let (mesh, _) = read_tets(folder.join("pepper.vtk"), &TetOptions::default()).expect("ours");
        std::fs::remove_dir_all(&folder).expect("ours");
        let volume = mesh.solid_moments().volume;
        let mass = scene.free[0].mass;
        assert!((1000.0 * volume / mass - 1.0).abs() < 0.03, "{volume}");
    }
}
