//! MuJoCo's binary MSH: written here byte by byte from its documentation.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    MeshError, SurfaceOptions, SurfaceUse, TetOptions, drawn_from_bytes, hull_from_bytes,
    surface_from_bytes, tets_from_bytes,
};

/// The corner of a cube, with normals and texture coordinates or without.
fn corner(extras: u32, last: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for count in [4, 4 * extras, 4 * extras, 4] {
        bytes.extend(count.to_le_bytes());
    }
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0_f32],
    ];
    let mut floats: Vec<f32> = points.concat();
    floats.extend(vec![7.0; (20 * extras) as usize]);
    bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
    let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, last]];
    bytes.extend(
        triangles
            .iter()
            .flatten()
            .flat_map(|i: &i32| i.to_le_bytes()),
    );
    bytes
}

fn surface(bytes: &[u8]) -> Result<f64, MeshError> {
    let options = SurfaceOptions::default();
    let (mesh, report) = surface_from_bytes(bytes, "c.msh", SurfaceUse::Solid, &options)?;
    assert!(report.entries.is_empty(), "{report}");
    Ok(mesh.solid_moments().expect("closed").volume)
}

#[test]
fn the_corner_of_a_cube_is_read_with_and_without_normals() {
    for extras in [0, 1] {
        let bytes = corner(extras, 3);
        let volume = surface(&bytes).unwrap_or_else(|error| panic!("{error}"));
        assert!((volume - 1.0 / 6.0).abs() < 1e-15);
        let one = Vector3::repeat(1.0);
        assert!(drawn_from_bytes(&bytes, "c.msh", &one).is_ok());
        assert!(hull_from_bytes(&bytes, "c.msh", &one).is_ok());
        // The content tells the format, whatever the name.
        assert!(hull_from_bytes(&bytes, "c", &one).is_ok());
        assert!(matches!(
            tets_from_bytes(&bytes, "c.msh", &TetOptions::default()),
            Err(MeshError::Unsupported(_))
        ));
    }
}

#[test]
fn damaged_files_are_named_as_what_they_are() {
    let whole = corner(1, 3);
    for n in [10, 40, whole.len() - 1] {
        let error = surface(&whole[..n]).expect_err("cut").to_string();
        assert!(
            error.starts_with("c.msh") && error.contains("MSH file of MuJoCo"),
            "{error}"
        );
    }
    for last in [-1, 4] {
        let error = surface(&corner(0, last)).expect_err("no such vertex");
        assert!(matches!(error, MeshError::Index(_)), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(&format!("triangle 3 refers to vertex {last} of 4")),
            "{text}"
        );
    }
    let mut infinite = corner(0, 3);
    infinite[16..20].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let error = surface(&infinite).expect_err("not finite");
    assert!(error.to_string().starts_with("c.msh, byte 16"), "{error}");
}
