//! Cost of surface contact of soft bodies: a torus on the floor, on a bar, on another torus, and in self-contact.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]
#![allow(clippy::print_stdout, reason = "a program")]

use std::time::Instant;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::mesh::generate::tet_torus;
use pliant_hydroelastic::{
    ContactGeometry, ContactPoint, ContactWorkspace, DeformingSurface, Posed, Query, RigidShape,
    SelfExclusion, Shape, SoftContact, SoftMesh,
};

struct Soft {
    id: u64,
    points: Vec<Point3<f64>>,
    triangles: Vec<[u32; 3]>,
    radii: Vec<f64>,
    velocities: Vec<Vector3<f64>>,
    exclusion: SelfExclusion,
    mesh: SoftMesh,
}

impl Soft {
    fn torus(id: u64, segments: u32, rings: u32, X: &Isometry3<f64>) -> Self {
        let mesh = tet_torus(0.05, 0.014, segments, 6, rings).expect("a legal torus");
        let points: Vec<_> = mesh
            .vertices()
            .iter()
            .map(|p| X * Point3::from(*p))
            .collect();
        let boundary = &mesh.boundary().triangles;
        let triangles: Vec<_> = boundary.iter().map(|t| t.map(|v| v.0)).collect();
        let tets: Vec<_> = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        Self {
            id,
            mesh: SoftMesh::new(&points, &triangles, &tets).expect("a body"),
            radii: vec![0.0; points.len()],
            velocities: vec![Vector3::new(0.1, 0.0, -0.2); points.len()],
            exclusion: SelfExclusion::default(),
            points,
            triangles,
        }
    }

    fn update(&mut self) {
        self.mesh
            .update(&self.points, &self.triangles, &self.velocities, 0.01)
            .expect("finite");
    }

    fn posed(&self) -> Posed<'_> {
        Posed::Deforming(DeformingSurface {
            id: self.id,
            points: &self.points,
            radii: &self.radii,
            velocities: &self.velocities,
            exclusion: &self.exclusion,
            field: None,
            mesh: Some(&self.mesh),
        })
    }
}

/// Median time of several runs, ms.
fn median_ms(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            run();
            1e3 * start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let q = Query::new(0.01, 9.81).expect("finite");
    let floor = Shape::half_space();
    let bar = Shape::capsule(0.012, 0.1).expect("positive");
    println!(
        "DoFs, tetrahedra of the body and of its depth field; update, floor, bar, torus, itself: ms (points)"
    );
    for (segments, rings) in [(24, 1), (48, 2), (96, 4), (150, 5)] {
        let X = Isometry3::translation(0.0, 0.0, 0.0139);
        let mut soft = Soft::torus(1, segments, rings, &X);
        let X = Isometry3::new(Vector3::new(0.05, 0.0, 0.0415), Vector3::zeros());
        let mut other = Soft::torus(2, segments, rings, &X);
        other.update();
        let update = median_ms(|| soft.update());
        let mut out: Vec<ContactPoint> = Vec::new();
        let mut workspace = ContactWorkspace::default();
        let mut row = format!(
            "{:6} {:6} {:6}   update {update:.2}",
            3 * soft.points.len(),
            soft.mesh.depth().tets().len(),
            soft.triangles.len(),
        );
        let ground = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
        let X_bar = Isometry3::new(Vector3::new(0.05, 0.0, 0.039), Vector3::x() * 1.5);
        let hook = Posed::Rigid(RigidShape::at_rest(&bar, X_bar));
        for partner in [ground, hook, other.posed(), soft.posed()] {
            let ms = median_ms(|| {
                out.clear();
                let found =
                    SoftContact.collide(soft.posed(), partner, &q, &mut workspace, &mut out);
                found.expect("a supported pair").expect("finite");
            });
            row += &format!("   {ms:.2} ({})", out.len());
        }
        println!("{row}");
    }
}
