//! The laws of cloth on the device against those of the processor in f64, also of triangles that have lost their area.

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::{ClothMaterial, Hinge, InPlaneLaw};

use crate::function_tests::{Random, device, evaluate};
use crate::tables::{Table, of_cloth};

fn material(law: InPlaneLaw) -> ClothMaterial {
    ClothMaterial::new(law, 1e5, 0.3, 1000.0, 5e-4)
        .and_then(|m| m.with_normal_stiffness(2e5))
        .and_then(|m| m.with_shear_stiffness(5e4))
        .and_then(|m| m.with_friction(0.4))
        .expect("cotton")
}

fn scene(material: &ClothMaterial) -> Vec<[f32; 4]> {
    let mut table = Table::default();
    of_cloth(&mut table, material, 0.0);
    bytemuck::cast_slice(table.finish().numbers()).to_vec()
}

fn rounded(m: Matrix3<f64>) -> Matrix3<f64> {
    m.map(|x| f64::from(x as f32))
}

/// Deformations within half of the rest shape; every fourth with little area, every eighth with none.
fn deformations(random: &mut Random) -> Vec<Matrix3<f64>> {
    let one = |k: u32, random: &mut Random| {
        let mut f = Matrix3::identity() + Matrix3::from_fn(|_, _| 0.5 * random.next());
        if k.is_multiple_of(4) {
            let small = 0.1 * random.next();
            f.set_column(1, &(f.column(0) * 0.7 + f.column(1) * small));
        }
        let mut f = rounded(random.rotation() * f);
        if k.is_multiple_of(8) {
            f.set_column(1, &(f.column(0) * 0.5));
        }
        f
    };
    (0..20_000).map(|k| one(k, random)).collect()
}

fn columns(all: &[Matrix3<f64>]) -> Vec<[f32; 4]> {
    let each = all.iter().flat_map(|f| {
        let column = |k: usize| [f[(0, k)], f[(1, k)], f[(2, k)], 0.0].map(|x| x as f32);
        [column(0), column(1), column(2)]
    });
    each.collect()
}

const READ: &str = "let f = mat3x3<f32>(given[i].xyz, given[i + 1u].xyz, given[i + 2u].xyz);";

#[test]
fn stresses_and_returned_normals_of_cloth_are_those_of_the_processor() {
    let Some(gpu) = device("stresses_and_returned_normals_of_cloth_are_those_of_the_processor")
    else {
        return;
    };
    for law in [InPlaneLaw::FixedCorotated, InPlaneLaw::StVenantKirchhoff] {
        let material = material(law);
        let (scene, law) = (scene(&material), material.law::<f64>());
        let all = deformations(&mut Random(5));
        let body = format!(
            "{READ}
    let p = cloth_stress(0u, f);
    let n = returned_normal(0u, f);
    found[i] = vec4<f32>(p[0], n.x); found[i + 1u] = vec4<f32>(p[1], n.y); found[i + 2u] = vec4<f32>(p[2], n.z);"
        );
        let body = (body.as_str(), scene.as_slice());
        let found = evaluate(gpu, &["cloth_law.wgsl"], body, 3, &columns(&all));
        let (mut worst, mut worst_normal) = (0.0_f64, 0.0_f64);
        for (f, found) in all.iter().zip(found.chunks_exact(3)) {
            let stress = Matrix3::from_fn(|i, j| f64::from(found[j][i]));
            let normal = Vector3::from_fn(|k, _| f64::from(found[k][3]));
            let expected = law.stress(f);
            // Forces on the edges of a triangle that loses its area grow with the inverse of what is left.
            let left = f.column(0).cross(&f.column(1)).norm().max(0.05);
            let scale = (1e5 + expected.norm()) / left;
            worst = worst.max((stress - expected).norm() / scale);
            let apart = (normal - law.return_normal(f)).norm();
            worst_normal = worst_normal.max(apart * left / f.norm());
        }
        eprintln!("{law:?}: stress to {worst:.1e}, normals to {worst_normal:.1e}");
        assert!(
            worst < 3e-6 && worst_normal < 5e-6,
            "{worst:e} {worst_normal:e}"
        );
    }
}

#[test]
fn forces_of_hinges_are_those_of_the_processor() {
    let Some(gpu) = device("forces_of_hinges_are_those_of_the_processor") else {
        return;
    };
    let hinge = Hinge {
        vertices: [0, 1, 2, 3],
        rest_angle: 0.3,
        stiffness: 2.0,
        rest_doubled_areas: [1.0, 1.2],
    };
    let mut random = Random(6);
    let mut given: Vec<[f32; 4]> = Vec::new();
    for k in 0..20_000 {
        let ends = [Vector3::zeros(), Vector3::x()];
        let flat = [Vector3::new(0.5, 1.0, 0.0), Vector3::new(0.4, -1.1, 0.0)];
        // Every other one is folded anyhow, some with a triangle of little area.
        let size = if k % 2 == 0 { 0.2 } else { 0.8 };
        let turn = random.rotation();
        for x in ends.into_iter().chain(flat) {
            let x = turn * (x + random.vector() * size);
            given.push([x.x as f32, x.y as f32, x.z as f32, 0.0]);
        }
    }
    let [first, second] = hinge.rest_doubled_areas;
    let body = format!(
        "let a = given[i].xyz;
    let forces = hinge_forces(given[i + 1u].xyz - a, given[i + 2u].xyz - a, given[i + 3u].xyz - a,
        vec4<f32>({:?}, {:?}, {first:?}, {second:?}));
    for (var k = 0u; k < 4u; k++) {{ found[i + k] = vec4<f32>(forces[k], 0.0); }}",
        hinge.rest_angle, hinge.stiffness
    );
    let files = ["cloth_law.wgsl", "hinge.wgsl"];
    let found = evaluate(gpu, &files, (&body, &[[0.0; 4]]), 4, &given);
    let place = |x: &[f32; 4]| Vector3::new(x[0], x[1], x[2]).map(f64::from);
    let (mut worst, mut faded) = (0.0_f64, 0);
    for (given, found) in given.chunks_exact(4).zip(found.chunks_exact(4)) {
        let x: [Vector3<f64>; 4] = std::array::from_fn(|k| place(&given[k]));
        let expected = hinge.forces(&x);
        let doubled = (x[1] - x[0]).cross(&(x[2] - x[0])).norm();
        let other = (x[1] - x[0]).cross(&(x[3] - x[0])).norm();
        let least = (doubled / first).min(other / second);
        faded += i32::from(least < 0.1);
        let size = expected.iter().map(Vector3::norm).fold(0.0, f64::max);
        let near_pi = hinge_angle(&x) - hinge.rest_angle;
        if (near_pi.abs() - std::f64::consts::PI).abs() < 1e-4 {
            continue; // Either side of a half turn.
        }
        for (found, expected) in found.iter().zip(&expected) {
            let apart = (place(found) - expected).norm() * least.min(1.0);
            worst = worst.max(apart / (hinge.stiffness + size));
        }
    }
    eprintln!("hinges: {worst:.1e}, {faded} with a triangle of little area");
    assert!(worst < 3e-6 && faded > 100, "{worst:e} {faded}");
}

fn hinge_angle([from, to, first, second]: &[Vector3<f64>; 4]) -> f64 {
    let edge = to - from;
    let (n1, n2) = (edge.cross(&(first - from)), (second - from).cross(&edge));
    (n1.cross(&n2).dot(&edge)).atan2(n1.dot(&n2) * edge.norm())
}
