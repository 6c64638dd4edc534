//! Unusual and broken mesh files have the outcome listed in the table: loaded with the stated facts, loaded with report
//! entries, or refused by an error with its location. The files are not part of this repository; the test reports when
//! they are missing.

use crate::shared_data::shared;
use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, SurfaceOptions, SurfaceUse, TetOptions, TriMesh, read_surface, read_tets,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    shared("data/broken/mesh")
}

/// Required outcome for a file.
enum Must {
    /// A closed solid with this volume and number of triangles or tetrahedra; the report contains these words, and is
    /// empty without words.
    Load {
        volume: f64,
        elements: usize,
        entries: &'static [&'static str],
    },
    /// The error contains these words, and the file's name.
    Fail(&'static [&'static str]),
}

use Must::{Fail, Load};

const fn cube(entries: &'static [&'static str]) -> Must {
    Load {
        volume: 1.0,
        elements: 12,
        entries,
    }
}

const fn tet_cube(entries: &'static [&'static str]) -> Must {
    Load {
        volume: 1.0,
        elements: 6,
        entries,
    }
}

const WELDED: &[&str] = &["repaired", "36 corners", "8 vertices"];

const TABLE: &[(&str, Must)] = &[
    ("ok_cube.obj", cube(&[])),
    ("ok_cube.vtk", tet_cube(&[])),
    ("ok_crlf.obj", cube(&[])),
    ("ok_bom.obj", cube(&[])),
    ("ok_negative_indices.obj", cube(&[])),
    (
        "ok_quads_with_slashes.obj",
        cube(&["ignored", "vn (1)", "vt (1)"]),
    ),
    ("ok_exponents.obj", cube(&[])),
    ("ok_no_final_newline.vtk", tet_cube(&[])),
    ("ok_ascii.stl", cube(WELDED)),
    ("ok_binary.stl", cube(WELDED)),
    ("ok_binary_header_says_solid.stl", cube(WELDED)),
    ("ok_ascii_upper_case_tabs.stl", cube(WELDED)),
    ("ok_big_endian.vtk", tet_cube(&[])),
    (
        "little_endian.vtk",
        Fail(&["CELLS", "cell 0", "67108864", "big-endian"]),
    ),
    ("ok_vtk51_offsets.vtk", tet_cube(&[])),
    (
        "ok_two_components.vtk",
        Load {
            volume: 2.0,
            elements: 12,
            entries: &[],
        },
    ),
    (
        "unreferenced_vertex.vtk",
        tet_cube(&["unreferenced_vertex.vtk:14", "point 8", "dropped"]),
    ),
    ("empty.obj", Fail(&["empty"])),
    ("empty.vtk", Fail(&["empty"])),
    ("empty.stl", Fail(&["empty"])),
    ("empty.msh", Fail(&["empty"])),
    ("empty.vtu", Fail(&["empty"])),
    ("comments_only.obj", Fail(&["no vertices"])),
    ("points_only.vtk", Fail(&["CELLS is missing"])),
    (
        "truncated_points.vtk",
        Fail(&["truncated_points.vtk:10:", "point 4"]),
    ),
    ("truncated_cells.vtk", Fail(&["CELLS", "cell 3"])),
    ("truncated_types.vtk", Fail(&["CELL_TYPES"])),
    ("truncated.stl", Fail(&["byte 334", "triangle 5"])),
    ("count_4_billion.stl", Fail(&["4294967295", "triangle 1"])),
    (
        "count_huge.vtk",
        Fail(&["count_huge.vtk:5:", "999999999999", "do not fit"]),
    ),
    ("count_negative.vtk", Fail(&["count_negative.vtk:5:", "-8"])),
    (
        "count_too_small.vtk",
        Fail(&["count_too_small.vtk:13:", "expected CELLS"]),
    ),
    (
        "cells_size_wrong.vtk",
        Fail(&["cells_size_wrong.vtk:14:", "24", "30"]),
    ),
    (
        "nan_vertex.obj",
        Fail(&["nan_vertex.obj:5:", "vertex 4", "nan"]),
    ),
    (
        "inf_vertex.vtk",
        Fail(&["inf_vertex.vtk:9:", "point 3", "inf"]),
    ),
    (
        "overflow_vertex.obj",
        Fail(&["overflow_vertex.obj:5:", "vertex 4", "1e999"]),
    ),
    ("nan.stl", Fail(&["triangle 2, corner 0"])),
    (
        "decimal_comma.obj",
        Fail(&["decimal_comma.obj:5:", "decimal point"]),
    ),
    (
        "two_coordinates.obj",
        Fail(&["two_coordinates.obj:5:", "vertex 4 has 2 coordinates"]),
    ),
    (
        "huge_coordinates.obj",
        Load {
            volume: 1e90,
            elements: 12,
            entries: &["suspicious", "1e30 m", "scale"],
        },
    ),
    (
        "tiny_coordinates.obj",
        Load {
            volume: 1e-90,
            elements: 12,
            entries: &["suspicious", "1e-30 m", "scale"],
        },
    ),
    ("far_from_origin.vtk", tet_cube(&[])),
    (
        "index_out_of_range.obj",
        Fail(&["index_out_of_range.obj:21:", "vertex 99 of 8"]),
    ),
    (
        "index_zero.obj",
        Fail(&["index_zero.obj:21:", "numbers vertices from 1"]),
    ),
    (
        "index_negative_too_far.obj",
        Fail(&["index_negative_too_far.obj:21:", "vertex -9 of 8"]),
    ),
    ("index_float.obj", Fail(&["index_float.obj:21:", "6.5"])),
    (
        "face_two_vertices.obj",
        Fail(&["face_two_vertices.obj:21:", "2 vertices"]),
    ),
    (
        "index_out_of_range.vtk",
        Fail(&["index_out_of_range.vtk:20:", "cell 5", "42"]),
    ),
    (
        "index_negative.vtk",
        Fail(&["index_negative.vtk:20:", "cell 5", "-1"]),
    ),
    (
        "degenerate_triangle.obj",
        cube(&[
            "degenerate_triangle.obj:22",
            "face 12",
            "repeated vertex",
            "dropped",
        ]),
    ),
    (
        "zero_area_triangle.obj",
        cube(&["face 12", "collinear", "dropped", "vertex 9"]),
    ),
    (
        "duplicate_vertices.obj",
        cube(&["repaired", "36 vertices", "welded to 8"]),
    ),
    (
        "duplicate_triangle.obj",
        cube(&["repaired", "1 triangles with the same corners", "face 12"]),
    ),
    (
        "nonmanifold_edge.obj",
        Fail(&["edge of vertices 1 and 5", "3 triangles"]),
    ),
    (
        "bowtie_vertex.obj",
        Load {
            volume: 1.0 / 3.0,
            elements: 8,
            entries: &["suspicious", "vertex 1"],
        },
    ),
    (
        "flipped_triangle.obj",
        cube(&["flipped_triangle.obj:12", "repaired", "face 2", "flipped"]),
    ),
    ("inside_out.obj", cube(&["repaired", "inwards", "flipped"])),
    ("open_cube.obj", Fail(&["3 open edges", "2-6, 2-8, 6-8"])),
    (
        "self_intersecting.obj",
        Load {
            volume: 2.0,
            elements: 24,
            entries: &["suspicious", "intersects itself"],
        },
    ),
    (
        "inverted_tet.vtk",
        tet_cube(&["inverted_tet.vtk:17", "cell 2", "-1.666667e-1", "swapped"]),
    ),
    (
        "all_inverted.vtk",
        tet_cube(&["all 6 elements have negative volume"]),
    ),
    (
        "flat_tet.vtk",
        Fail(&["flat_tet.vtk:21:", "cell 6", "volume is 0"]),
    ),
    (
        "sliver_tet.vtk",
        Load {
            volume: 1.0,
            elements: 7,
            entries: &["suspicious", "cell 6", "quality 1.6e-12"],
        },
    ),
    (
        "repeated_vertex_tet.vtk",
        Fail(&["repeated_vertex_tet.vtk:20:", "cell 5", "twice"]),
    ),
    (
        "duplicate_points.vtk",
        tet_cube(&[
            "suspicious",
            "24 points share 8 positions",
            "6 separate bodies",
        ]),
    ),
    ("duplicate_tet.vtk", Fail(&["cells 0 and 6"])),
    ("nonmanifold_face.vtk", Fail(&["face of points 1 3 7"])),
    (
        "hexahedron.vtk",
        Fail(&["cell 0", "hexahedron (type 12)", "tetrahedra"]),
    ),
    (
        "quadratic_tet.vtk",
        Load {
            volume: 1.0 / 6.0,
            elements: 1,
            entries: &[],
        },
    ),
    (
        "mixed_tets_and_triangles.vtk",
        tet_cube(&["ignored", "no tetrahedra: cell 6 (line 21)"]),
    ),
    (
        "unknown_cell_type.vtk",
        Fail(&["unknown_cell_type.vtk:27:", "CELL_TYPES", "cell 5", "999"]),
    ),
    ("polydata.vtk", Fail(&["polydata.vtk:4:", "POLYDATA"])),
    ("wrong_magic.vtk", Fail(&["wrong_magic.vtk:1:"])),
    ("garbage.obj", Fail(&["not an OBJ statement", "is text"])),
    ("png_renamed.obj", Fail(&["png_renamed.obj:1:"])),
    ("latin1_comment.obj", cube(&[])),
    ("long_line.obj", cube(&[])),
    ("ok_cube_v2.msh", tet_cube(&[])),
    ("ok_cube_sparse_ids.msh", tet_cube(&[])),
    ("missing_end.msh", Fail(&["end of file", "$EndElements"])),
    ("unknown_node.msh", Fail(&["element 6", "node 77"])),
    (
        "tet10.msh",
        Fail(&["element 1", "nodes 1 2 3 4", "is flat"]),
    ),
    ("version_99.msh", Fail(&["version_99.msh:2:", "99.0"])),
];

struct Facts {
    volume: f64,
    elements: usize,
}

fn load(name: &str) -> Option<Result<(Facts, LoadReport), MeshError>> {
    let path = folder()?.join(name);
    let is_surface = name.ends_with("obj") || name.ends_with("stl");
    Some(if is_surface {
        read_surface(&path, SurfaceUse::Solid, &SurfaceOptions::default()).map(|(mesh, report)| {
            let volume = mesh.solid_moments().expect("a solid is closed").volume;
            (
                Facts {
                    volume,
                    elements: mesh.triangles().len(),
                },
                report,
            )
        })
    } else {
        read_tets(&path, &TetOptions::default()).map(|(mesh, report)| {
            (
                Facts {
                    volume: mesh.solid_moments().volume,
                    elements: mesh.tets().len(),
                },
                report,
            )
        })
    })
}

#[test]
fn every_file_has_the_outcome_of_its_table_entry() {
    let mut complaints = Vec::new();
    for (name, must) in TABLE {
        let Some(result) = load(name) else { return };
        let (text, words) = match (must, result) {
            (
                Load {
                    volume,
                    elements,
                    entries,
                },
                Ok((facts, report)),
            ) => {
                if (facts.volume / volume - 1.0).abs() > 1e-9 || facts.elements != *elements {
                    complaints.push(format!(
                        "{name}: volume {}, {} elements",
                        facts.volume, facts.elements
                    ));
                }
                if entries.is_empty() && !report.entries.is_empty() {
                    complaints.push(format!("{name}: unexpected report entries:\n{report}"));
                }
                if report
                    .entries
                    .iter()
                    .any(|entry| !entry.at.file.ends_with(name))
                {
                    complaints.push(format!(
                        "{name}: a report entry does not name the file:\n{report}"
                    ));
                }
                (report.to_string(), entries)
            }
            (Fail(words), Err(error)) => {
                let text = error.to_string();
                if !text.contains(name) {
                    complaints.push(format!(
                        "{name}: the message does not name the file: {text}"
                    ));
                }
                (text, words)
            }
            (Load { .. }, Err(error)) => {
                complaints.push(format!("{name} should load: {error}"));
                continue;
            }
            (Fail(_), Ok((_, report))) => {
                complaints.push(format!("{name} should be refused; report:\n{report}"));
                continue;
            }
        };
        for word in *words {
            if !text.contains(word) {
                complaints.push(format!("{name}: `{word}` is not in: {text}"));
            }
        }
        let plain = text.chars().all(|c| c == '\n' || (' '..='~').contains(&c));
        if !plain || text.len() > 1000 {
            complaints.push(format!(
                "{name}: message is too long or has odd characters: {text:?}"
            ));
        }
    }
    assert!(
        complaints.is_empty(),
        "{} complaints:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn the_table_lists_every_file_of_the_folder() {
    let Some(folder) = folder() else { return };
    let entries = std::fs::read_dir(folder).expect("the folder can be listed");
    let present: BTreeSet<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    let listed: BTreeSet<String> = TABLE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(present, listed);
}

fn surface(
    name: &str,
    surface_use: SurfaceUse,
) -> Option<Result<(TriMesh, LoadReport), MeshError>> {
    Some(read_surface(
        folder()?.join(name),
        surface_use,
        &SurfaceOptions::default(),
    ))
}

#[test]
fn open_cube_loads_as_cloth_with_one_loop_of_three_edges() {
    let Some(result) = surface("open_cube.obj", SurfaceUse::Cloth) else {
        return;
    };
    let (mesh, report) = result.unwrap();
    assert!(report.entries.is_empty(), "{report}");
    assert_eq!(
        (mesh.boundary_edges().count(), mesh.boundary_loops().len()),
        (3, 1)
    );
    assert!(mesh.solid_moments().is_none());
}

#[test]
fn edge_of_three_triangles_is_refused_as_cloth_too() {
    let Some(result) = surface("nonmanifold_edge.obj", SurfaceUse::Cloth) else {
        return;
    };
    let error = result.unwrap_err();
    assert!(matches!(error, MeshError::Topology(_)), "{error}");
    assert!(
        error.to_string().contains("edge of vertices 1 and 5"),
        "{error}"
    );
}

#[test]
fn cube_of_six_squares_has_the_facts_of_a_cube() {
    let Some(result) = surface("ok_quads_with_slashes.obj", SurfaceUse::Solid) else {
        return;
    };
    let (mesh, _) = result.unwrap();
    assert_eq!(
        (
            mesh.vertices().len(),
            mesh.edges().len(),
            mesh.euler_number()
        ),
        (8, 18, 2)
    );
    assert!((mesh.area() - 6.0).abs() < 1e-14);
}

#[test]
fn two_cubes_in_one_file_are_two_components() {
    let Some(folder) = folder() else { return };
    let (mesh, _) =
        read_tets(folder.join("ok_two_components.vtk"), &TetOptions::default()).unwrap();
    assert_eq!(mesh.component_count(), 2);
}

#[test]
fn polygonal_vtk_data_load_as_a_surface() {
    let Some(result) = surface("polydata.vtk", SurfaceUse::Cloth) else {
        return;
    };
    assert_eq!(result.unwrap().0.triangles().len(), 1);
}

#[test]
fn far_cube_keeps_the_digits_of_its_volume_and_inertia() {
    let Some(folder) = folder() else { return };
    let (mesh, _) = read_tets(folder.join("far_from_origin.vtk"), &TetOptions::default()).unwrap();
    let moments = mesh.solid_moments();
    assert!((moments.volume - 1.0).abs() < 1e-12);
    assert!((moments.inertia_about_centroid[(0, 0)] - 1.0 / 6.0).abs() < 1e-12);
}
