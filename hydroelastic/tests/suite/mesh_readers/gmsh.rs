//! Gmsh, versions 4 and 4.1, text and binary.

use pliant_hydroelastic::mesh::{Severity, SurfaceOptions, SurfaceUse, surface_from_bytes};

use super::{check_error, check_one_tet, tets};

/// Gmsh's own sample layouts, of one tetrahedron with sparse numbers and one boundary triangle.
const ONE_TET_GMSH_40: &str = "$MeshFormat\n4 0 8\n$EndMeshFormat\n$Nodes\n2 4\n1 0 0 1\n7 0 0 0\n1 3 0 3\n\
    20 1 0 0\n9 0 1 0\n3 0 0 1\n$EndNodes\n$Elements\n2 2\n1 2 2 1\n5 7 9 20\n1 3 4 1\n6 7 20 9 3\n$EndElements\n";
pub(crate) const ONE_TET_GMSH_41: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n\
    $Nodes\n2 4 3 20\n0 1 0 1\n7\n0 0 0\n2 1 1 3\n20\n9\n3\n1 0 0 0.5 0.5\n0 1 0 0.5 0.5\n0 0 1 0.5 0.5\n$EndNodes\n\
    $Elements\n2 2 5 6\n2 1 2 1\n5 7 9 20\n3 1 4 1\n6 7 20 9 3\n$EndElements\n";

#[test]
fn gmsh_four_reads_sparse_numbers_blocks_and_parametric_nodes() {
    check_one_tet(
        tets(ONE_TET_GMSH_40.as_bytes(), "a.msh"),
        "element 5 (line 16)",
    );
    check_one_tet(tets(ONE_TET_GMSH_41.as_bytes(), "a.msh"), "$PhysicalNames");
}

#[test]
fn gmsh_binary_agrees_with_text() {
    for big_endian in [false, true] {
        let int = |bytes: &mut Vec<u8>, value: i32| {
            bytes.extend(if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let size = |bytes: &mut Vec<u8>, value: u64| {
            bytes.extend(if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let mut bytes = b"$MeshFormat\n4.1 1 8\n".to_vec();
        int(&mut bytes, 1);
        bytes.extend(b"\n$EndMeshFormat\n$Entities\n\x00$En\x01\n$EndEntities\n$Nodes\n");
        [1, 4, 3, 20]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        [3, 1, 0]
            .into_iter()
            .for_each(|value| int(&mut bytes, value));
        [4, 7, 20, 9, 3]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        for x in [
            0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0_f64,
        ] {
            size(&mut bytes, x.to_bits());
        }
        bytes.extend(b"\n$EndNodes\n$Elements\n");
        [1, 1, 6, 6]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        [3, 1, 4]
            .into_iter()
            .for_each(|value| int(&mut bytes, value));
        [1, 6, 7, 20, 9, 3]
            .into_iter()
            .for_each(|value| size(&mut bytes, value));
        bytes.extend(b"\n$EndElements\n");
        check_one_tet(tets(&bytes, "a.msh"), "$Entities");
        check_error(
            tets(&bytes[..bytes.len() - 30], "a.msh"),
            &["a.msh", "the file ends inside element 6"],
        );
    }
}

#[test]
fn gmsh_errors_point_at_their_line() {
    let with = |from: &str, to: &str| tets(ONE_TET_GMSH_41.replace(from, to).as_bytes(), "a.msh");
    check_error(
        with("6 7 20 9 3\n", "6 7 20 9\n"),
        &["a.msh:26:", "element 6", "too few numbers"],
    );
    check_error(
        with("6 7 20 9 3\n", "6 7 20 9 3 3\n"),
        &["a.msh:26:", "element 6", "too many numbers"],
    );
    check_error(
        with("2 1 1 3\n", "2 1 1 9\n"),
        &["a.msh:13:", "9 nodes", "only 3 are left"],
    );
    check_error(
        with("$Nodes\n2 4 3 20", "$Nodes\n2 999999999999 3 20"),
        &["a.msh:9:", "do not fit"],
    );
    check_error(with("3 1 4 1\n", "3 1 77 1\n"), &["a.msh:26:", "type 77"]);
    check_error(with("9\n3\n", "9\n9\n"), &["node 9 occurs twice"]);
    check_error(
        with("$EndPhysicalNames", ""),
        &["a.msh:4:", "inside the section `$PhysicalNames`"],
    );
    check_error(
        with("4.1 0 8", "4.1 0"),
        &["a.msh:2:", "data size is missing"],
    );
}

#[test]
fn surface_of_a_gmsh_file_is_read_and_its_tetrahedra_ignored() {
    let loaded = surface_from_bytes(
        ONE_TET_GMSH_41.as_bytes(),
        "a.msh",
        SurfaceUse::Cloth,
        &SurfaceOptions::default(),
    );
    let (mesh, report) = loaded.unwrap();
    assert_eq!(mesh.triangles().len(), 1);
    assert!(
        report
            .of(Severity::Ignored)
            .any(|entry| entry.text.contains("element 6")),
        "{report}"
    );
}
