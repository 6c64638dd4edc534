//! Shape functions, quadrature and masses against exact integrals.

use super::*;

/// The nodes of a tetrahedron, those on edges moved by up to `bend`, m.
fn nodes(bend: f64) -> Nodal<Vector3<f64>> {
    let corners = [
        Vector3::new(0.1, 0.0, -0.2),
        Vector3::new(0.9, 0.2, 0.0),
        Vector3::new(0.0, 1.1, 0.1),
        Vector3::new(0.3, 0.2, 0.8),
    ];
    std::array::from_fn(|a| match a {
        0..4 => corners[a],
        _ => {
            let [i, j] = MID_EDGES[a - 4];
            let moved = Vector3::from_fn(|r, _| ((3 * a + r) as f64 * 2.4).sin());
            (corners[i] + corners[j]) * 0.5 + moved * bend
        }
    })
}

fn element(bend: f64) -> RestQuadratic {
    let numbers = std::array::from_fn(|a| a as u32);
    RestQuadratic::new(numbers, &nodes(bend), Kinematics::Solid).unwrap()
}

fn gradient(point: &Point, y: &Nodal<Vector3<f64>>) -> Matrix3<f64> {
    let terms = y.iter().zip(&point.gradients);
    terms.map(|(y, g)| y * g.transpose()).sum()
}

#[test]
fn shape_functions_are_one_at_their_nodes_and_their_slopes_are_derivatives() {
    for a in 0..N_NODES {
        let mut place = [0.0; 4];
        match a {
            0..4 => place[a] = 1.0,
            _ => MID_EDGES[a - 4].iter().for_each(|k| place[*k] = 0.5),
        }
        let found = shapes(&place);
        for (b, n) in found.iter().enumerate() {
            assert!((n - f64::from(u8::from(a == b))).abs() < 1e-15, "{a} {b}");
        }
    }
    let at = [0.2, 0.35, 0.15, 0.3];
    let slopes = slopes(&at);
    for k in 0..3 {
        let h = 1e-6;
        let moved = |h: f64| {
            let mut place = at;
            place[k + 1] += h;
            place[0] -= h;
            shapes(&place)
        };
        let (up, down) = (moved(h), moved(-h));
        for a in 0..N_NODES {
            let slope = (up[a] - down[a]) / (2.0 * h);
            assert!((slope - slopes[a][k]).abs() < 1e-9, "{a} {k}");
        }
    }
}

#[test]
fn a_homogeneous_deformation_has_its_gradient_at_every_point_of_a_curved_element() {
    let F = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.2, 0.5, 0.1, 1.1);
    for bend in [0.0, 0.05] {
        let y = nodes(bend).map(|x| F * x + Vector3::new(3.0, 1.0, -2.0));
        let element = element(bend);
        for point in element.points.iter().chain([&element.mean]) {
            assert!((gradient(point, &y) - F).norm() < 1e-13);
            let sum: Vector3<f64> = point.gradients.iter().sum();
            assert!(sum.norm() < 1e-14);
        }
    }
}

#[test]
fn the_points_of_a_curved_element_integrate_its_shape_gradients() {
    // ∫∇N dV = ∮N n dA: over the faces of the element by a rule of another kind, four times subdivided.
    let element = element(0.05);
    let at = nodes(0.05);
    let place =
        |l: &Barycentric| -> Vector3<f64> { shapes(l).iter().zip(&at).map(|(n, x)| x * *n).sum() };
    let faces = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let mut boundary = [Vector3::zeros(); N_NODES];
    // Gauss-Legendre points of degree 7 on [0, 1] for the square map of a triangle.
    let gauss = [
        (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
        (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
        (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
        (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
    ];
    for [i, j, k] in faces {
        for (s, w) in gauss {
            for (t, u) in gauss {
                let on_face = |s: f64, t: f64| {
                    let mut l = [0.0; 4];
                    (l[i], l[j], l[k]) = (1.0 - s, s * (1.0 - t), s * t);
                    l
                };
                let h = 1e-5;
                let by_s = (place(&on_face(s + h, t)) - place(&on_face(s - h, t))) / (2.0 * h);
                let by_t = (place(&on_face(s, t + h)) - place(&on_face(s, t - h))) / (2.0 * h);
                let area = by_s.cross(&by_t) * (w * u);
                for (sum, n) in boundary.iter_mut().zip(shapes(&on_face(s, t))) {
                    *sum += area * n;
                }
            }
        }
    }
    for (a, expected) in boundary.iter().enumerate() {
        let points = element.points.iter();
        let found: Vector3<f64> = points.map(|p| p.gradients[a] * p.volume).sum();
        assert!((found - expected).norm() < 1e-9, "node {a}");
        let mean = element.mean.gradients[a] * element.mean.volume;
        assert!((mean - expected).norm() < 1e-9, "node {a}");
    }
    // The volume by the divergence of x.
    let third: f64 = boundary.iter().zip(&at).map(|(g, x)| g.dot(x) / 3.0).sum();
    assert!((element.mean.volume - third).abs() < 1e-9);
    let points: f64 = element.points.iter().map(|p| p.volume).sum();
    assert!((points - element.mean.volume).abs() < 1e-15);
}

#[test]
fn the_mass_of_a_straight_element_is_exact() {
    // ∫N_a N_b over the volume, in 1/420: Zienkiewicz and Taylor, or the integrals of barycentric coordinates.
    let at = nodes(0.0);
    let mass = mass_per_density(&at);
    let volume = element(0.0).mean.volume;
    let exact = |a: usize, b: usize| {
        let corners = |node: usize| match node {
            0..4 => vec![node],
            _ => MID_EDGES[node - 4].to_vec(),
        };
        let (on, other) = (corners(a), corners(b));
        let common = on.iter().filter(|k| other.contains(k)).count();
        match (a < 4, b < 4, common) {
            (true, true, 1) => 6.0,
            (true, true, _) => 1.0,
            (true, false, 1) | (false, true, 1) => -4.0,
            (true, false, _) | (false, true, _) => -6.0,
            (false, false, 2) => 32.0,
            (false, false, 1) => 16.0,
            _ => 8.0,
        }
    };
    for (a, row) in mass.iter().enumerate() {
        for (b, entry) in row.iter().enumerate() {
            let error = entry / volume - exact(a, b) / 420.0;
            assert!(error.abs() < 1e-14, "{a} {b}: {error:e}");
        }
    }
}

#[test]
fn an_element_that_is_turned_inside_out_has_no_determinant() {
    let mut at = nodes(0.0);
    // The node of edge 0-1 beyond corner 1.
    at[4] += (at[1] - at[0]) * 0.8;
    let numbers = std::array::from_fn(|a| a as u32);
    let error = RestQuadratic::new(numbers, &at, Kinematics::Solid).unwrap_err();
    assert!(error.determinant <= 0.0, "{error:?}");
}

#[test]
fn plane_strain_has_no_slope_along_z() {
    let numbers = std::array::from_fn(|a| a as u32);
    let flat = RestQuadratic::new(numbers, &nodes(0.03), Kinematics::PlaneStrain).unwrap();
    let points = flat.points.iter().chain([&flat.mean]);
    assert!(points.flat_map(|p| p.gradients).all(|g| g.z == 0.0));
}

#[test]
fn lumped_shares_sum_to_one_and_keep_the_centre_of_mass() {
    let at = nodes(0.0);
    let total: f64 = (0..N_NODES).map(lumped_share).sum();
    assert!((total - 1.0).abs() < 1e-15);
    let centre: Vector3<f64> = (0..N_NODES).map(|a| at[a] * lumped_share(a)).sum();
    let centroid = (at[0] + at[1] + at[2] + at[3]) * 0.25;
    assert!((centre - centroid).norm() < 1e-15);
}

#[test]
fn forces_on_the_tetrahedra_of_an_element_keep_their_resultant_and_moment() {
    let corners = nodes(0.0);
    // A straight element, whose octahedron has its centre in the middle of each diagonal.
    let numbers: Nodal<u32> = std::array::from_fn(|a| a as u32);
    for part in [[0, 4, 6, 7], [4, 9, 6, 7], [6, 8, 5, 9]] {
        let forces =
            std::array::from_fn(|k| Vector3::from_fn(|r, _| ((5 * k + 3 * r) as f64 * 1.3).sin()));
        let mut out = [Vector3::zeros(); N_NODES];
        scatter_forces(&numbers, &part, &forces, &mut out);
        let moment = |at: &Vector3<f64>, f: &Vector3<f64>| at.cross(f);
        let given: Vector3<f64> = part
            .iter()
            .zip(&forces)
            .map(|(k, f)| moment(&corners[*k as usize], f))
            .sum();
        let found: Vector3<f64> = corners.iter().zip(&out).map(|(x, f)| moment(x, f)).sum();
        assert!((found - given).norm() < 1e-14, "{part:?}");
        let resultant = out.iter().sum::<Vector3<f64>>() - forces.iter().sum::<Vector3<f64>>();
        assert!(resultant.norm() < 1e-14, "{part:?}");
    }
}
