//! Steps do not allocate once buffers have grown: broad phase, all pairs of shapes, particles.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

use allocation_counter::measure;
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::{
    BroadPhase, CollisionFilterBuilder, Compliance, ContactGeometry, ContactWorkspace,
    DeformingSurface, GeometryDispatcher, PatchGeometry, Posed, PressureField, Proxy, Query,
    RigidShape, SelfExclusion, Shape, SoftMesh, Twist, mesh::generate::tet_cuboid,
};

fn shapes() -> Vec<Shape> {
    let corners: Vec<Point3<f64>> = (0..8_u32)
        .map(|i| {
            Point3::from(Vector3::from_fn(
                |k, _| if i >> k & 1 == 1 { 0.1 } else { -0.1 },
            ))
        })
        .collect();
    let quads: [[u32; 4]; 6] = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles: Vec<[u32; 3]> = quads
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .collect();
    vec![
        Shape::half_space(),
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::repeat(0.2)).unwrap(),
        Shape::cylinder(0.1, 0.2).unwrap(),
        Shape::capsule(0.05, 0.1).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.08, 0.12)).unwrap(),
        Shape::cone(0.1, 0.2).unwrap(),
        Shape::convex_hull(&corners).unwrap(),
        Shape::mesh(&corners, &triangles).unwrap(),
    ]
}

#[test]
fn a_steady_step_allocates_nothing() {
    let shapes = shapes();
    let geometry = GeometryDispatcher::default();
    let q = Query::new(0.01, 9.81).unwrap();
    let mut filter = CollisionFilterBuilder::default();
    for _ in 0..2500 {
        let owner = filter.owner();
        filter.geometry(owner).unwrap();
    }
    let filter = filter.build();
    let points: Vec<Point3<f64>> = (0..50)
        .map(|i| Point3::new(0.02 * f64::from(i), 0.0, 0.105))
        .collect();
    let (radii, velocities) = (vec![0.012; 50], vec![Vector3::z() * -3.0; 50]);
    let exclusion = SelfExclusion::from_pairs(50, &[[0, 1]]);
    let surface = Posed::Deforming(DeformingSurface {
        id: 1,
        points: &points,
        radii: &radii,
        velocities: &velocities,
        exclusion: &exclusion,
        field: None,
        mesh: None,
    });
    let cube = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let skin: Vec<_> = cube
        .boundary()
        .triangles
        .iter()
        .map(|t| t.map(|v| v.0))
        .collect();
    let tets: Vec<_> = cube.tets().iter().map(|t| t.map(|v| v.0)).collect();
    let sunk = |z: f64| {
        cube.vertices()
            .iter()
            .map(|p| Point3::new(p.x, p.y, p.z + z))
            .collect()
    };
    let corners: [Vec<Point3<f64>>; 2] = [sunk(0.0), sunk(0.099)];
    let falling = vec![Vector3::z() * -3.0; corners[0].len()];
    let sizes = vec![0.0; corners[0].len()];
    let mut meshes = corners
        .each_ref()
        .map(|p| SoftMesh::new(p, &skin, &tets).unwrap());
    let mut broad = BroadPhase::default();
    let (mut pairs, mut contacts) = (Vec::new(), Vec::new());
    let mut workspace = ContactWorkspace::default();
    let mut step = |k: u32| {
        contacts.clear();
        let wobble = 1e-6 * f64::from(k);
        for (i, a) in shapes.iter().enumerate() {
            for b in &shapes {
                for (height, speed) in [(0.18, 0.0), (0.35, -30.0)] {
                    let posed = |shape, z: f64, vz: f64| {
                        Posed::Rigid(RigidShape {
                            shape,
                            X_WG: Isometry3::new(
                                Vector3::new(0.01, wobble, z),
                                Vector3::new(0.1, 0.2, 0.3) * z,
                            ),
                            V_WG: Twist {
                                angular: Vector3::zeros(),
                                linear: Vector3::z() * vz,
                            },
                            patch: None,
                        })
                    };
                    geometry
                        .collide(
                            posed(a, height, speed),
                            posed(b, 0.0, 0.0),
                            &q,
                            &mut workspace,
                            &mut contacts,
                        )
                        .unwrap()
                        .unwrap();
                    if i > 0 {
                        geometry
                            .collide(
                                surface,
                                posed(b, 0.0, 0.0),
                                &q,
                                &mut workspace,
                                &mut contacts,
                            )
                            .unwrap()
                            .unwrap();
                    }
                }
            }
        }
        for (mesh, points) in meshes.iter_mut().zip(&corners) {
            mesh.update(points, &skin, &falling, 0.01).unwrap();
        }
        let soft = |k: usize| {
            Posed::Deforming(DeformingSurface {
                id: 10 + k as u64,
                points: &corners[k],
                radii: &sizes,
                velocities: &falling,
                exclusion: &exclusion,
                field: None,
                mesh: Some(&meshes[k]),
            })
        };
        for other in [soft(0), soft(1), surface] {
            geometry
                .collide(soft(1), other, &q, &mut workspace, &mut contacts)
                .unwrap()
                .unwrap();
        }
        for shape in &shapes {
            let ground = Posed::Rigid(RigidShape::at_rest(shape, Isometry3::identity()));
            geometry
                .collide(ground, soft(1), &q, &mut workspace, &mut contacts)
                .unwrap()
                .unwrap();
        }
        geometry
            .collide(surface, surface, &q, &mut workspace, &mut contacts)
            .unwrap()
            .unwrap();
        for n in [100, 2500] {
            let mut proxies = [Proxy::Anywhere; 2500];
            for (i, p) in proxies.iter_mut().enumerate() {
                let c = Point3::new((i % 50) as f64, (i / 50) as f64, wobble);
                *p = Proxy::Box(pliant_hydroelastic::Aabb::from_half_extents(
                    c,
                    Vector3::repeat(0.6),
                ));
            }
            if n == 100 {
                broad.candidates_by_sweep(&proxies, &filter, &mut pairs);
            } else {
                broad.candidates_by_tree(&proxies, &filter, &mut pairs);
            }
        }
        contacts.len() + pairs.len()
    };
    for k in 0..3 {
        assert!(step(k) > 5000);
    }
    let again = measure(|| assert!(step(3) > 5000));
    assert_eq!(again.count_total, 0);
}

#[test]
fn patches_and_moving_fields_allocate_nothing_in_a_steady_step() {
    let compliance = Compliance {
        slab_thickness: Some(0.1),
        mesh_resolution_hint: 0.05,
        ..Compliance::default()
    };
    let mut bodies = Vec::new();
    for shape in shapes() {
        let soft = PatchGeometry::compliant(&shape, &compliance).unwrap();
        let hard = PatchGeometry::rigid(&shape, 0.05).unwrap();
        bodies.push((shape.clone(), soft));
        bodies.push((shape, hard));
    }
    let geometry = GeometryDispatcher::default();
    let q = Query::new(0.001, 9.81).unwrap();
    let mut moving = PressureField::of_shape(&Shape::sphere(0.1).unwrap(), &compliance).unwrap();
    let mut vertices = moving.vertices().to_vec();
    let mut contacts = Vec::new();
    let mut workspace = ContactWorkspace::default();
    let mut step = |k: u32| {
        contacts.clear();
        let wobble = 1e-6 * f64::from(k);
        for (a, patch_A) in &bodies {
            for (b, patch_B) in &bodies {
                let posed = |shape, patch, z: f64| {
                    Posed::Rigid(RigidShape {
                        patch: Some(patch),
                        ..RigidShape::at_rest(
                            shape,
                            Isometry3::new(
                                Vector3::new(0.01, wobble, z),
                                Vector3::new(0.1, 0.2, 0.3) * z,
                            ),
                        )
                    })
                };
                if patch_A.has_patch_with(patch_B) {
                    geometry
                        .collide(
                            posed(a, patch_A, 0.15),
                            posed(b, patch_B, 0.0),
                            &q,
                            &mut workspace,
                            &mut contacts,
                        )
                        .unwrap()
                        .unwrap();
                }
            }
        }
        vertices[0].z += wobble;
        moving.move_vertices(&vertices).unwrap();
        contacts.len()
    };
    for k in 0..3 {
        assert!(step(k) > 3000);
    }
    let again = measure(|| assert!(step(3) > 3000));
    assert_eq!(again.count_total, 0);
}
