//! The flood fill finds exactly the polygons of brute force.

use super::*;

#[test]
fn flood_fill_agrees_with_brute_force() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    // In fields on a lattice, vertices may have lower pressure than their neighbours, and a ridge of the other body's
    // pressure may cross such a minimum and nothing else: these are found, too.
    let (mut polygons, mut touching) = (0, 0);
    for margin in [0.0, 2e-3] {
        for (a, b) in pairs(margin) {
            for _ in 0..30 {
                let X = Relative::new(&near(&mut rng));
                let mut flood = Flood::default();
                let (mut fast, mut all) = (Pieces::default(), Pieces::default());
                match (&a.patch, &b.patch) {
                    (PatchGeometry::Compliant(f), PatchGeometry::Compliant(g)) => {
                        field_on_field::find(f, g, &X, &mut flood, &mut fast);
                        field_on_field::find_among_all(f, g, &X, &mut flood, &mut all);
                    }
                    (PatchGeometry::Compliant(f), PatchGeometry::Rigid(s)) => {
                        field_on_surface::find(f, s, &X, &mut flood, &mut fast);
                        field_on_surface::find_among_all(f, s, &X, &mut flood, &mut all);
                    }
                    _ => continue,
                }
                fast.sort();
                all.sort();
                polygons += all.pieces.len();
                touching += usize::from(!all.pieces.is_empty());
                let keys = |found: &Pieces| -> Vec<_> {
                    let key = |p: &pieces::Piece| (p.elements, p.group);
                    found.sorted().map(|(_, piece)| key(piece)).collect()
                };
                assert_eq!(
                    keys(&fast),
                    keys(&all),
                    "{} on {}",
                    a.shape.name(),
                    b.shape.name()
                );
            }
        }
    }
    assert!(
        polygons > 100_000 && touching > 4000,
        "{polygons} {touching}"
    );
}

#[test]
fn a_plane_through_a_layer_of_vertices_is_counted_once() {
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.2)).unwrap(), 0.0);
    let plate = Body::compliant(Shape::cuboid(Vector3::new(0.4, 0.4, 0.1)).unwrap(), 0.0);
    let floor = Body::rigid(Shape::half_space());
    let top = Body::rigid(Shape::cuboid(Vector3::new(1.0, 1.0, 0.4)).unwrap());
    for (ground, level) in [(&floor, 0.0), (&top, 0.2)] {
        for body in [&cube, &plate] {
            let at = |z: f64| {
                let X = Isometry3::translation(0.0, 0.0, level + z);
                *patch(body.at(X), ground.at(Isometry3::identity())).summary()
            };
            // The plane passes through the medial points: the limit from one side.
            let (exact, above, below) = (at(0.0), at(1e-7), at(-1e-7));
            let is_limit = |side: &PatchSummary| {
                (exact.area - side.area).abs() < 1e-4 * side.area
                    && (exact.force_W.z - side.force_W.z).abs() < 1e-4 * side.force_W.z
            };
            assert!(is_limit(&above) || is_limit(&below), "{exact:?}");
        }
    }
}

/// Vertices and cells of two copies of a mesh, each scaled and moved, combined.
fn two_of<const N: usize>(
    vertices: &[Vector3<f64>],
    cells: &[[u32; N]],
    copies: [(f64, Vector3<f64>); 2],
) -> (Vec<Vector3<f64>>, Vec<[u32; N]>) {
    let n = vertices.len() as u32;
    let moved = copies
        .iter()
        .flat_map(|(scale, shift)| vertices.iter().map(move |v| v * *scale + shift));
    let shifted = [0, n]
        .into_iter()
        .flat_map(|first| cells.iter().map(move |cell| cell.map(|v| v + first)));
    (moved.collect(), shifted.collect())
}

/// A small ball deep inside a soft box where the pressure increases downwards, and a larger one half inside: only the
/// larger one has a rim.
const BALLS: [(f64, Vector3<f64>); 2] = [
    (0.02, Vector3::new(0.0, 0.0, 0.05)),
    (0.05, Vector3::new(0.12, 0.0, 0.0)),
];

/// The patch areas of the small ball and of the other one.
fn areas(patch: &ContactPatch) -> [f64; 2] {
    let mut areas = [0.0; 2];
    for p in patch.polygons() {
        let near_small = (p.p_WC.coords - BALLS[0].1).norm() < 0.03;
        areas[usize::from(!near_small)] += p.area;
    }
    areas
}

fn soft_box() -> Body {
    Body::compliant(Shape::cuboid(Vector3::repeat(0.2)).unwrap(), 0.0)
}

#[track_caller]
fn check_both_found(patch: &ContactPatch) {
    let [small, large] = areas(patch);
    let ball = 4.0 * std::f64::consts::PI * 0.02_f64.powi(2);
    // Polygons have full weight up to 112.5 degrees from the pressure gradient and none from 135: 0.69 and 0.85 of a
    // sphere.
    assert!((0.6..0.9).contains(&(small / ball)), "{}", small / ball);
    assert!(large > ball);
}

#[test]
fn a_surface_entirely_inside_is_found_beside_a_protruding_one() {
    let ball = RigidSurface::of_shape(&Shape::sphere(1.0).unwrap(), 0.4).unwrap();
    let (vertices, triangles) = two_of(ball.vertices(), ball.triangles(), BALLS);
    let vertices: Vec<Point3<f64>> = vertices.into_iter().map(Into::into).collect();
    let hard = Body::rigid(Shape::mesh(&vertices, &triangles).unwrap());
    let here = Isometry3::identity();
    check_both_found(&patch(soft_box().at(here), hard.at(here)));
}

#[test]
fn a_field_entirely_inside_is_found_beside_a_protruding_one() {
    let ball = PressureField::of_shape(
        &Shape::sphere(1.0).unwrap(),
        &Compliance {
            // So stiff that the surface of equal pressure lies on its skin.
            hydroelastic_modulus: 1.0e9,
            margin: 0.0,
            mesh_resolution_hint: 0.4,
            slab_thickness: None,
        },
    )
    .unwrap();
    let (vertices, tets) = two_of(ball.vertices(), ball.tets(), BALLS);
    let mesh = crate::mesh::TetMesh::assemble(vertices, &tets);
    let pressures = [ball.pressures(), ball.pressures()].concat();
    let hard = Body {
        shape: Shape::sphere(0.2).unwrap(),
        patch: PatchGeometry::Compliant(
            PressureField::from_vertex_pressures(&mesh, &pressures).unwrap(),
        ),
    };
    let here = Isometry3::identity();
    check_both_found(&patch(soft_box().at(here), hard.at(here)));
    check_both_found(&patch(hard.at(here), soft_box().at(here)));
}
