//! Fields with moving vertices: a filament.

use super::*;

/// A straight filament of two segments along x: four-sided tubes around it, the pressure highest on the centre line.
fn filament(points: &[Point3<f64>; 3], radius: f64) -> (PressureField, Vec<crate::Attachment>) {
    let mut vertices = Vec::new();
    for p in points {
        vertices.push(p.coords);
        for side in [Vector3::y(), Vector3::z(), -Vector3::y(), -Vector3::z()] {
            vertices.push(p.coords + side * radius);
        }
    }
    let (mut tets, mut attachments) = (Vec::new(), Vec::new());
    for segment in 0..2_u32 {
        let (low, high) = (5 * segment, 5 * segment + 5);
        let start = tets.len();
        for i in 0..4_u32 {
            let (u, v) = (1 + i, 1 + (i + 1) % 4);
            let sides = [
                [low + u, low + v, high + v, high + u],
                [low, low + u, high + u, high],
                [low, low + v, high + v, high],
            ];
            let (a, b) = ([low, low + u, low + v], [high, high + u, high + v]);
            crate::cells::cut_cell(&[&a, &b, &sides[0], &sides[1], &sides[2]], &mut tets);
        }
        for tet in &tets[start..] {
            let weights = tet.map(|v| {
                if v >= high {
                    [0.0, 1.0, 0.0, 0.0]
                } else {
                    [1.0, 0.0, 0.0, 0.0]
                }
            });
            attachments.push(crate::Attachment {
                primitive: Primitive::Edge(segment),
                vertices: [segment, segment + 1, segment, segment],
                weights,
            });
        }
    }
    let options = crate::mesh::TetOptions::default();
    let (mesh, _) = crate::mesh::TetMesh::build(vertices, tets, &options).unwrap();
    let pressures: Vec<f64> = (0..15)
        .map(|v| if v % 5 == 0 { 1.0e5 } else { 0.0 })
        .collect();
    let field = PressureField::from_vertex_pressures(&mesh, &pressures).unwrap();
    (field, attachments)
}

static AT_REST: [Vector3<f64>; 3] = [Vector3::new(0.0, 0.0, 0.0); 3];

fn attached<'a>(
    points: &'a [Point3<f64>; 3],
    field: &'a PressureField,
    exclusion: &'a crate::SelfExclusion,
) -> Posed<'a> {
    Posed::Deforming(crate::DeformingSurface {
        id: 1,
        points,
        radii: &[0.01; 3],
        velocities: &AT_REST,
        exclusion,
        field: Some(field),
        mesh: None,
    })
}

#[test]
fn a_filaments_patch_is_attached_to_its_segments_and_moves_with_them() {
    let radius = 0.01;
    let lying = [0.0, 0.1, 0.2].map(|x| Point3::new(x, 0.0, 0.9 * radius));
    let (field, attachments) = filament(&lying, radius);
    let exclusion = crate::SelfExclusion::default();
    let floor = Body::rigid(Shape::half_space());
    let mut out = Vec::new();
    let q = Query::new(1e-3, 9.81).unwrap();
    let loose = PatchContact.collide(
        attached(&lying, &field, &exclusion),
        floor.at(Isometry3::identity()),
        &q,
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert!(
        loose
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("attachments")
    );
    let mut field = field.attached(attachments).unwrap();
    let force = |points: &[Point3<f64>; 3], field: &PressureField| {
        let mut out = Vec::new();
        PatchContact
            .collide(
                attached(points, field, &exclusion),
                floor.at(Isometry3::identity()),
                &q,
                &mut ContactWorkspace::default(),
                &mut out,
            )
            .unwrap()
            .unwrap();
        for c in &out {
            let Primitive::Edge(segment) = c.a.primitive else {
                panic!("{:?}", c.a.primitive);
            };
            let [s, t] = [segment, segment + 1].map(|i| points[i as usize].coords);
            let position = s * c.a.weights[0] + t * c.a.weights[1] + c.a.offset;
            assert!((c.a.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((position - c.p_WC.coords).norm() < 1e-12);
            assert!((-1e-9..=1.0 + 1e-9).contains(&c.a.weights[0]));
        }
        wrench(&out)
    };
    let (flat, _) = force(&lying, &field);
    assert!(flat.z > 0.0 && flat.xy().norm() < 1e-9 * flat.z);
    // Lift one end out: half of the length loses contact, and the force moves to the other end.
    let lifted = [lying[0], lying[1], Point3::new(0.2, 0.0, 0.05)];
    let mut vertices = field.vertices().to_vec();
    for v in &mut vertices[10..15] {
        v.z += lifted[2].z - lying[2].z;
    }
    field.move_vertices(&vertices).unwrap();
    let (half, moment) = force(&lifted, &field);
    assert!(
        half.z > 0.5 * flat.z && half.z < 0.6 * flat.z,
        "{} of {}",
        half.z,
        flat.z
    );
    assert!(-moment.y / half.z < 0.06);
}

#[test]
fn a_filament_and_a_compliant_body_have_a_patch() {
    let radius = 0.01;
    let points = [0.0, 0.1, 0.2].map(|x| Point3::new(x - 0.1, 0.0, 0.05 + 0.9 * radius));
    let (field, attachments) = filament(&points, radius);
    let field = field.attached(attachments).unwrap();
    let exclusion = crate::SelfExclusion::default();
    let surface = attached(&points, &field, &exclusion);
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.1)).unwrap(), 0.0);
    let q = Query::new(1e-3, 9.81).unwrap();
    let (mut there, mut back) = (Vec::new(), Vec::new());
    PatchContact
        .collide(
            surface,
            cube.at(Isometry3::identity()),
            &q,
            &mut ContactWorkspace::default(),
            &mut there,
        )
        .unwrap()
        .unwrap();
    PatchContact
        .collide(
            cube.at(Isometry3::identity()),
            surface,
            &q,
            &mut ContactWorkspace::default(),
            &mut back,
        )
        .unwrap()
        .unwrap();
    let (up, down) = (wrench(&there).0, wrench(&back).0);
    assert!(up.z > 0.0 && (up + down).norm() < 1e-10 * up.z);
    assert!(
        there
            .iter()
            .all(|c| matches!(c.a.primitive, Primitive::Edge(_))
                && c.b.primitive == Primitive::Frame)
    );
    assert!(
        back.iter()
            .all(|c| matches!(c.b.primitive, Primitive::Edge(_))
                && c.a.primitive == Primitive::Frame)
    );
    // A surface is not its own partner.
    assert!(
        PatchContact
            .collide(
                surface,
                surface,
                &q,
                &mut ContactWorkspace::default(),
                &mut there
            )
            .is_none()
    );
}
