//! Whole sheets: balances, elastic constants, precision, time step.

use nalgebra::{DMatrix, DVector};
use pliant_constitutive::axial_vector;

use super::*;
use crate::cloth::step_limit::grid_factor;
use crate::spline::{GradientForm, Stencil, base_node};
use std::collections::HashMap;

fn meshes() -> [ClothMesh; 2] {
    [sheet([0.1, 0.06], [10, 6], 0.03), ball(0.05)]
}

fn bending(in_plane: InPlaneLaw) -> ClothMaterial {
    material(in_plane).with_bending_stiffness(1e-4).unwrap()
}

#[test]
fn forces_are_the_negative_gradient_of_the_energy() {
    let mut draw = Draw::new(1);
    for (mesh, in_plane) in meshes().iter().zip(LAWS) {
        let cloth = Cloth::<f64>::new(mesh, &bending(in_plane));
        let (positions, normals) = crumpled(mesh, 0.002, &mut draw);
        let mut forces = ClothForces::default();
        forces.evaluate(&cloth, &positions, &positions, &normals);
        let direction: Vec<_> = positions.iter().map(|_| draw.vector(1.0)).collect();
        let tilts: Vec<_> = normals.iter().map(|_| draw.matrix(100.0)).collect();
        let energy = |h: f64| {
            let x = positions.iter().zip(&direction).map(|(x, d)| x + d * h);
            let d3 = normals.iter().zip(&tilts).map(|(n, g)| n + g * n * h);
            cloth.energy(&x.collect::<Vec<_>>(), &d3.collect::<Vec<_>>())
        };
        let h = 1e-8;
        let slope = (energy(h) - energy(-h)) / (2.0 * h);
        let along: f64 = forces
            .vertices()
            .iter()
            .zip(&direction)
            .map(|(f, d)| f.dot(d))
            .sum();
        let power: f64 = cloth
            .triangles()
            .iter()
            .zip(forces.kirchhoff())
            .zip(&tilts)
            .map(|((t, tau), g)| t.volume * tau.dot(g))
            .sum();
        let error = (slope + along - power).abs();
        assert!(error < 1e-5 * (along.abs() + power.abs()), "{error:e}");
    }
}

#[test]
fn forces_and_stresses_have_no_resultant() {
    let mut draw = Draw::new(2);
    for (mesh, in_plane) in meshes().iter().zip(LAWS) {
        let damped = bending(in_plane).with_damping_time(1e-3).unwrap();
        let cloth = Cloth::<f64>::new(mesh, &damped);
        let (positions, normals) = crumpled(mesh, 0.002, &mut draw);
        let velocities: Vec<_> = positions.iter().map(|_| draw.vector(1.0)).collect();
        let mut forces = ClothForces::default();
        forces.evaluate(&cloth, &positions, &velocities, &normals);
        let size: f64 = forces.vertices().iter().map(|f| f.norm()).sum();
        assert!(size > 1.0);
        let resultant: Vector3<f64> = forces.vertices().iter().sum();
        assert!(resultant.norm() < 1e-14 * size);
        let of_vertices: Vector3<f64> = positions
            .iter()
            .zip(forces.vertices())
            .map(|(x, f)| x.cross(f))
            .sum();
        // ε_ijk τ_jk: the axial vector twice, with the opposite sign.
        let of_stresses: Vector3<f64> = cloth
            .triangles()
            .iter()
            .zip(forces.kirchhoff())
            .map(|(t, tau)| axial_vector(tau) * (-2.0 * t.volume))
            .sum();
        assert!(
            of_stresses.norm() > 1e-4 * size,
            "the balance is not trivial"
        );
        assert!((of_vertices + of_stresses).norm() < 1e-15 * size);
    }
}

#[test]
fn moved_rigidly_a_cloth_has_no_force() {
    let mut draw = Draw::new(3);
    for (mesh, in_plane) in meshes().iter().zip(LAWS) {
        let damped = bending(in_plane).with_damping_time(1e-3).unwrap();
        let cloth = Cloth::<f64>::new(mesh, &damped);
        let (rotation, shift, spin) = (draw.rotation(), draw.vector(1.0), draw.vector(3.0));
        let rest = mesh.surface().vertices();
        let positions: Vec<_> = rest.iter().map(|x| rotation * x + shift).collect();
        let velocities: Vec<_> = positions.iter().map(|x| shift + spin.cross(x)).collect();
        let mut normals = vec![Vector3::zeros(); cloth.triangles().len()];
        cloth.unit_normals(&positions, &mut normals);
        let mut forces = ClothForces::default();
        forces.evaluate(&cloth, &positions, &velocities, &normals);
        // E t L is 0.5 N.
        assert!(forces.vertices().iter().all(|f| f.norm() < 1e-12));
        assert!(forces.kirchhoff().iter().all(|tau| tau.norm() < 1e-8));
        assert!(cloth.energy(&positions, &normals) < 1e-20);
        let carried = normals.clone();
        let gradient = spin.cross_matrix();
        cloth.convect_normals(
            &positions,
            &vec![gradient; normals.len()],
            0.0,
            &mut normals,
        );
        assert!(
            normals
                .iter()
                .zip(&carried)
                .all(|(a, b)| (a - b).norm() < 1e-14)
        );
    }
}

/// A strip is pulled along x and free across: the force is E t w ε, the contraction ν ε.
#[test]
fn a_pulled_strip_has_youngs_modulus_and_poissons_ratio() {
    let (length, width, strain) = (0.06, 0.03, 1e-3);
    let mesh = sheet([length, width], [6, 3], 0.03);
    for in_plane in LAWS {
        let cloth = Cloth::<f64>::new(&mesh, &material(in_plane));
        let rest = mesh.surface().vertices();
        let normals = vec![Vector3::z(); cloth.triangles().len()];
        let forces_at = |x: &[Vector3<f64>]| {
            let mut forces = ClothForces::default();
            forces.evaluate(&cloth, x, x, &normals);
            forces
        };
        let held = |x: &Vector3<f64>| x.x.abs() > 0.499 * length;
        // Free: x of the vertices within, y of all but one corner.
        let mut free = Vec::new();
        for (v, x) in rest.iter().enumerate() {
            if !held(x) {
                free.push((v, 0));
            }
            if v != 0 {
                free.push((v, 1));
            }
        }
        let mut x: Vec<_> = rest.to_vec();
        for at in x.iter_mut().filter(|x| held(x)) {
            at.x *= 1.0 + strain;
        }
        let residual = |x: &[Vector3<f64>]| {
            let forces = forces_at(x);
            DVector::from_iterator(
                free.len(),
                free.iter().map(|(v, k)| forces.vertices()[*v][*k]),
            )
        };
        for _ in 0..5 {
            let h = 1e-7;
            let mut tangent = DMatrix::zeros(free.len(), free.len());
            for (column, (v, k)) in free.iter().enumerate() {
                let (mut up, mut down) = (x.clone(), x.clone());
                up[*v][*k] += h;
                down[*v][*k] -= h;
                tangent.set_column(column, &((residual(&up) - residual(&down)) / (2.0 * h)));
            }
            let change = tangent.lu().solve(&residual(&x)).unwrap();
            for ((v, k), change) in free.iter().zip(change.iter()) {
                x[*v][*k] -= change;
            }
        }
        assert!(residual(&x).norm() < 1e-12);
        let forces = forces_at(&x);
        let end = rest
            .iter()
            .zip(forces.vertices())
            .filter(|(x, _)| x.x > 0.499 * length);
        let force: f64 = -end.map(|(_, f)| f.x).sum::<f64>();
        let expected = 1e5 * 5e-4 * width * strain;
        assert!(
            (force / expected - 1.0).abs() < 0.005,
            "{in_plane:?}: {force}"
        );
        let side = |sign: f64| {
            let at = rest
                .iter()
                .position(|x| (x.y - sign * width / 2.0).abs() < 1e-9);
            x[at.unwrap()].y
        };
        let contraction = 1.0 - (side(1.0) - side(-1.0)) / width;
        assert!(
            (contraction / strain - 0.3).abs() < 0.003,
            "{in_plane:?}: {contraction}"
        );
    }
}

#[test]
fn single_precision_agrees_with_double() {
    let mut draw = Draw::new(4);
    for (mesh, in_plane) in meshes().iter().zip(LAWS) {
        let damped = bending(in_plane).with_damping_time(1e-3).unwrap();
        let (cloth, single) = (
            Cloth::<f64>::new(mesh, &damped),
            Cloth::<f32>::new(mesh, &damped),
        );
        let (positions, mut normals) = crumpled(mesh, 0.002, &mut draw);
        let velocities: Vec<_> = positions.iter().map(|_| draw.vector(1.0)).collect();
        let (mut forces, mut rounded) = (ClothForces::default(), ClothForces::default());
        forces.evaluate(&cloth, &positions, &velocities, &normals);
        let (x, mut d3) = (narrow(&positions), narrow(&normals));
        rounded.evaluate(&single, &x, &narrow(&velocities), &d3);
        let largest = forces
            .vertices()
            .iter()
            .map(|f| f.norm())
            .fold(0.0, f64::max);
        for (a, b) in forces.vertices().iter().zip(rounded.vertices()) {
            let error = (a - b.map(f64::from)).norm();
            assert!(error < 3e-5 * largest, "{error:e} of {largest:e}");
        }
        for (a, b) in forces.kirchhoff().iter().zip(rounded.kirchhoff()) {
            assert!((a - b.map(f64::from)).norm() < 1e-5 * 2e5);
        }
        let energy = cloth.energy(&positions, &normals);
        assert!((f64::from(single.energy(&x, &d3)) / energy - 1.0).abs() < 1e-5);
        let gradients: Vec<_> = normals.iter().map(|_| draw.matrix(100.0)).collect();
        let narrow_gradients: Vec<_> = gradients.iter().map(|g| g.map(f32::of)).collect();
        cloth.convect_normals(&positions, &gradients, 1e-3, &mut normals);
        single.convect_normals(&x, &narrow_gradients, 1e-3, &mut d3);
        // Where the bound of friction is reached by one and not by the other, both are at it.
        for (a, b) in normals.iter().zip(&d3) {
            assert!((a - b.map(f64::from)).norm() < 1e-5);
        }
    }
}

#[test]
fn forces_have_the_same_bits_on_any_number_of_threads() {
    let mesh = sheet([0.4, 0.4], [40, 40], 0.03);
    let cloth = Cloth::<f32>::new(&mesh, &bending(LAWS[0]));
    let (positions, normals) = crumpled(&mesh, 0.002, &mut Draw::new(5));
    let (x, d3) = (narrow(&positions), narrow(&normals));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let mut forces = ClothForces::default();
        pool.unwrap()
            .install(|| forces.evaluate(&cloth, &x, &x, &d3));
        forces.vertices().to_vec()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn one_pass_has_the_results_of_two() {
    let mut draw = Draw::new(7);
    for (mesh, in_plane) in meshes().iter().zip(LAWS) {
        let cloth = Cloth::<f64>::new(mesh, &bending(in_plane));
        let (positions, mut normals) = crumpled(mesh, 0.002, &mut draw);
        let gradients: Vec<_> = normals.iter().map(|_| draw.matrix(100.0)).collect();
        let (mut one, mut two) = (ClothForces::default(), ClothForces::default());
        let mut carried = normals.clone();
        one.advance(
            &cloth,
            &positions,
            &positions,
            &gradients,
            1e-3,
            &mut carried,
        );
        cloth.convect_normals(&positions, &gradients, 1e-3, &mut normals);
        assert_eq!(normals, carried);
        two.evaluate(&cloth, &positions, &positions, &normals);
        let mut vertices = one.vertices().iter().zip(two.vertices());
        assert!(vertices.all(|(a, b)| (a - b).norm() < 1e-9));
        let mut stresses = one.kirchhoff().iter().zip(two.kirchhoff());
        assert!(stresses.all(|(a, b)| (a - b).norm() < 1e-9));
    }
}

#[test]
fn masses_are_quarters() {
    let mesh = sheet([0.1, 0.06], [10, 6], 0.03);
    let cloth = Cloth::<f64>::new(&mesh, &material(LAWS[0]));
    let total = 1000.0 * 5e-4 * 0.1 * 0.06;
    let [vertices, centroids] =
        [cloth.vertex_masses(), cloth.centroid_masses()].map(|masses| masses.iter().sum::<f64>());
    assert!((vertices - 0.75 * total).abs() < 1e-15);
    assert!((centroids - 0.25 * total).abs() < 1e-15);
    // Centroids are at the centre of their triangles.
    let rest = mesh.surface().vertices();
    let mut centres = vec![Vector3::zeros(); cloth.triangles().len()];
    cloth.centroids(rest, &mut centres);
    let moment: Vector3<f64> = centres
        .iter()
        .zip(cloth.centroid_masses())
        .map(|(x, m)| x * *m)
        .sum();
    assert!(moment.norm() < 1e-18);
}

/// The bounds of the step limit at random places: g against Σ_i |Σ_v w_iv ∇N_v|² h²/m_i, and 8 against Σ_i (∇w_i·n)² h²/m_i.
#[test]
fn what_the_grid_can_see_of_a_triangle_is_bounded() {
    let mut draw = Draw::new(6);
    let (mut closest, mut across) = (0.0_f64, 0.0_f64);
    for round in 0..4000 {
        let flat = if round % 3 == 0 { 0.2 } else { 1.0 };
        let mut corners: [Vector3<f64>; 3] = [0, 1, 2].map(|_| {
            draw.vector(1.0)
                .component_mul(&Vector3::new(1.0, flat, 0.0))
        });
        let longest: f64 = (0_usize..3)
            .map(|k| corners[k].metric_distance(&corners[(k + 1) % 3]))
            .fold(0.0, f64::max);
        let size = [0.05, 0.3, 0.7, 1.0][round % 4];
        let rotation = if round % 5 < 3 {
            draw.rotation()
        } else {
            Matrix3::identity()
        };
        let shift = draw.vector(1.0);
        corners = corners.map(|x| rotation * x * (size / longest) + shift);
        let [a, b, c] = corners;
        let cross = (b - a).cross(&(c - a));
        let area = 0.5 * cross.norm();
        if area < 1e-3 * size * size {
            continue;
        }
        let normal = cross.normalize();
        let gradient =
            |from: Vector3<f64>, to: Vector3<f64>| normal.cross(&(to - from)) / (2.0 * area);
        let gradients = [
            gradient(b, c),
            gradient(c, a),
            gradient(a, b),
            Vector3::zeros(),
        ];
        let mut nodes: HashMap<[i32; 3], (Vector3<f64>, f64, f64)> = HashMap::new();
        let points = [a, b, c, (a + b + c) / 3.0];
        for (point, (x, gradient)) in points.iter().zip(gradients).enumerate() {
            let base = base_node(x, 1.0);
            let stencil = Stencil::about(x, base, 1.0, GradientForm::True);
            for n in 0..27 {
                let node = [n / 9, n / 3 % 3, n % 3];
                let w = stencil.weight(node);
                let key = [0, 1, 2].map(|k| base[k] + node[k] as i32);
                let entry = nodes.entry(key).or_insert((Vector3::zeros(), 0.0, 0.0));
                entry.0 += gradient * w;
                entry.1 += 0.25 * w;
                if point == 3 {
                    entry.2 = stencil.gradient(node).dot(&normal);
                }
            }
        }
        nodes.retain(|_, (_, mass, _)| *mass > 1e-12);
        let found: f64 = nodes.values().map(|(g, m, _)| g.norm_squared() / m).sum();
        let bound = grid_factor(area, [0, 1, 2].map(|k| gradients[k].norm_squared()));
        closest = closest.max(found / bound);
        across = across.max(nodes.values().map(|(_, m, slope)| slope * slope / m).sum());
    }
    assert!((5.0..8.0).contains(&across), "{across}");
    assert!((0.7..1.0).contains(&closest), "{closest}");
}

#[test]
fn the_step_limit_names_its_cause() {
    let plain = ClothMaterial::new(LAWS[0], 1e5, 0.3, 1000.0, 5e-4).unwrap();
    // Edges far shorter than the spacing: 0.85 · 2 h/(c √14), c² = E/(ρ (1 − ν²)), and the small term of the layers.
    let fine = sheet([0.1, 0.1], [100, 100], 0.02);
    let limit = plain.step_limit(&fine);
    assert_eq!(limit.cause, StepLimitCause::InPlane);
    let speed = (100.0_f64 / 0.91).sqrt();
    let frequency_squared: f64 = (speed * speed * 14.0 + 8.0 * 0.14 * 2.14 * 100.0) / 4e-4;
    let expected = 1.7 / frequency_squared.sqrt();
    assert!((limit.time_step_s / expected - 1.0).abs() < 1e-9);

    let pressed = plain.with_normal_stiffness(1e8).unwrap();
    assert_eq!(pressed.step_limit(&fine).cause, StepLimitCause::Transverse);
    let rubbing = plain.with_shear_stiffness(1e8).unwrap();
    assert_eq!(rubbing.step_limit(&fine).cause, StepLimitCause::Transverse);
    let stiff = plain.with_bending_stiffness(1e-2).unwrap();
    assert_eq!(stiff.step_limit(&fine).cause, StepLimitCause::Bending);
    let damped = plain.with_damping_time(0.1).unwrap();
    let slow = damped.step_limit(&fine);
    assert_eq!(slow.cause, StepLimitCause::Damping);
    assert!(slow.time_step_s < 0.1 * limit.time_step_s);
    // A quarter of the modulus, twice the step.
    let soft = ClothMaterial::new(LAWS[0], 2.5e4, 0.3, 1000.0, 5e-4).unwrap();
    let ratio = soft.step_limit(&fine).time_step_s / limit.time_step_s;
    assert!((ratio - 2.0).abs() < 1e-12);
}

/// At twice its size the sheet has H = 2μ + 11λ of the fixed corotated law, 2μ + 2λ at rest, and the grid sees gradients of twice the length.
#[test]
fn the_step_limit_follows_the_stretch_and_the_layers() {
    let plain = ClothMaterial::new(LAWS[0], 1e5, 0.3, 1000.0, 5e-4).unwrap();
    let fine = sheet([0.1, 0.1], [100, 100], 0.02);
    let rest = fine.surface().vertices();
    let normals = vec![Vector3::z(); fine.rest().len()];
    let large: Vec<_> = rest.iter().map(|x| 2.0 * x).collect();
    let hooke = plain.plane_stress();
    let rest_stiffness = 2.0 * hooke.mu + hooke.lambda;
    let stiffening = (2.0 * hooke.mu + 11.0 * hooke.lambda) / (2.0 * hooke.mu + 2.0 * hooke.lambda);
    let of_layers = 8.0 * 1e5 * 0.14 * 2.14;
    let expected =
        1.7 * 0.02 / ((4.0 * 14.0 * stiffening * rest_stiffness + of_layers) / 1000.0).sqrt();
    let limit = plain.step_limit_at(&fine, &large, &normals);
    assert!((limit.time_step_s / expected - 1.0).abs() < 1e-9);
    // Half as close: e = 0.14 + ln 2.
    let pressed: Vec<_> = normals.iter().map(|n| 0.5 * n).collect();
    let e = 0.14 + 2.0_f64.ln();
    let squares = (14.0 * rest_stiffness + 8.0 * 1e5 * e * (2.0 + e)) / 1000.0;
    let limit = plain.step_limit_at(&fine, rest, &pressed);
    assert!((limit.time_step_s / (1.7 * 0.02 / squares.sqrt()) - 1.0).abs() < 1e-9);
    assert_eq!(limit.cause, StepLimitCause::Transverse);
}
