//! Ten-node tetrahedra: shape functions, quadrature, masses.
//!
//! The four points of degree 2 integrate the energy of a straight element of a linear law exactly, and their 24 strains leave no motion of the
//! 30 coordinates but the six rigid ones free of energy. In a curved element they integrate ∇N, a ratio of polynomials whose product with det J is of
//! degree 3, with an error; a constant is added to ∇N at the points that makes the integral exact. A homogeneous
//! deformation then has the right forces in curved elements, too (the patch test), and Σ x_a ∇N_aᵀ = I still holds at each point.
//!
//! Source of the constant: Chen, Hillman, Rüter (2013), "An arbitrary order variationally consistent integration for Galerkin meshfree methods".

use nalgebra::{Matrix3, Vector3};
use pliant_hydroelastic::mesh::MID_EDGES;

use crate::mass::SparseMass;
use crate::part_material::{PartMaterial, PerElement};
use crate::quadrature::{Barycentric, Rule};
use crate::rest::{Kinematics, RestElement};

pub(crate) const N_NODES: usize = 10;
/// Linear tetrahedra between the nodes of an element.
pub(crate) const N_PARTS: usize = 8;
const N_POINTS: usize = 4;

/// Values at the nodes of an element.
pub(crate) type Nodal<T> = [T; N_NODES];

/// A point of quadrature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// ∇N, 1/m.
    pub(crate) gradients: Nodal<Vector3<f64>>,
    /// m³, positive.
    pub(crate) volume: f64,
}

/// An element at rest.
#[derive(Clone, Debug)]
pub(crate) struct RestQuadratic {
    pub(crate) nodes: Nodal<u32>,
    pub(crate) points: [Point; N_POINTS],
    /// The mean of ∇N, and the volume.
    pub(crate) mean: Point,
}

/// A place in an element at which its map from the reference element is inverted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inverted {
    /// det J over that of a tetrahedron of the element's volume; not positive.
    pub(crate) determinant: f64,
}

/// Whether det J changes its sign at a corner, though not at the points of quadrature: nodes of edges are nearer to it than a quarter.
pub(crate) fn folds_at_a_corner(at: &Nodal<Vector3<f64>>) -> bool {
    (0..4).any(|k| {
        let corner = std::array::from_fn(|j| if j == k { 1.0 } else { 0.0 });
        at_point(at, &corner, 1.0).volume <= 0.0
    })
}

impl RestQuadratic {
    /// The element of `nodes` at these places.
    pub(crate) fn new(
        nodes: Nodal<u32>,
        at: &Nodal<Vector3<f64>>,
        kinematics: Kinematics,
    ) -> Result<Self, Inverted> {
        let mean = mean(at)?;
        let mut points = points_of_degree_2().map(|point| at_point(at, &point, 0.25));
        let coarse: f64 = points.iter().map(|point| point.volume).sum();
        if let Some(point) = points.iter().find(|point| point.volume <= 0.0) {
            let determinant = 4.0 * point.volume / mean.volume;
            return Err(Inverted { determinant });
        }
        for point in &mut points {
            point.volume *= mean.volume / coarse;
        }
        for a in 0..N_NODES {
            let of = |point: &Point| point.gradients[a] * (point.volume / mean.volume);
            let missing = mean.gradients[a] - points.iter().map(of).sum::<Vector3<f64>>();
            points
                .iter_mut()
                .for_each(|point| point.gradients[a] += missing);
        }
        let mut element = Self {
            nodes,
            points,
            mean,
        };
        if kinematics == Kinematics::PlaneStrain {
            let points = element.points.iter_mut().chain([&mut element.mean]);
            let gradients = points.flat_map(|point| point.gradients.iter_mut());
            gradients.for_each(|g| g.z = 0.0);
        }
        Ok(element)
    }
}

/// The mean of ∇N and the volume, of degree 3 and exact.
fn mean(at: &Nodal<Vector3<f64>>) -> Result<Point, Inverted> {
    let rule = Rule::new();
    let points = rule.points.iter().zip(&rule.weights);
    let points = points.map(|(point, weight)| at_point(at, point, *weight));
    let mut mean = Point {
        gradients: [Vector3::zeros(); N_NODES],
        volume: 0.0,
    };
    for point in points {
        if point.volume <= 0.0 {
            let corners = [at[0], at[1], at[2], at[3]];
            let volume = (corners[1] - corners[0])
                .cross(&(corners[2] - corners[0]))
                .dot(&(corners[3] - corners[0]))
                / 6.0;
            let determinant = point.volume / volume.abs();
            return Err(Inverted { determinant });
        }
        mean.volume += point.volume;
        for (sum, g) in mean.gradients.iter_mut().zip(point.gradients) {
            *sum += g * point.volume;
        }
    }
    mean.gradients.iter_mut().for_each(|g| *g /= mean.volume);
    Ok(mean)
}

/// Volume between curved faces, m³, exact; parts that are inside out count negative.
pub(crate) fn volume(at: &Nodal<Vector3<f64>>) -> f64 {
    let rule = Rule::new();
    let points = rule.points.iter().zip(&rule.weights);
    points
        .map(|(point, weight)| at_point(at, point, *weight).volume)
        .sum()
}

/// ∇N at a point, and `weight` of the volume that the element would have with det J of the point.
fn at_point(at: &Nodal<Vector3<f64>>, point: &Barycentric, weight: f64) -> Point {
    let slopes = slopes(point);
    let mut jacobian = Matrix3::zeros();
    for (x, slope) in at.iter().zip(&slopes) {
        jacobian += x * slope.transpose();
    }
    let [a, b, c] = [0, 1, 2].map(|k| jacobian.column(k).into_owned());
    let determinant = a.dot(&b.cross(&c));
    // Rows of J⁻¹ by cross products; J⁻ᵀ of a slope is their sum.
    let inverse = [b.cross(&c), c.cross(&a), a.cross(&b)];
    Point {
        gradients: slopes.map(|slope| {
            let terms = inverse.iter().zip(slope.iter());
            terms.map(|(row, s)| row * *s).sum::<Vector3<f64>>() / determinant
        }),
        volume: weight * determinant / 6.0,
    }
}

/// Hammer's points of degree 2, of equal weights.
fn points_of_degree_2() -> [Barycentric; N_POINTS] {
    let root = 5.0_f64.sqrt();
    let (near, far) = ((5.0 + 3.0 * root) / 20.0, (5.0 - root) / 20.0);
    std::array::from_fn(|k| std::array::from_fn(|j| if j == k { near } else { far }))
}

/// Weights of the four points in a function that is linear between them, in the middle of a linear tetrahedron of an element.
pub(crate) fn weights_of_points(nodes: &[u32], corners: &[u32; 4]) -> [f64; N_POINTS] {
    let mut middle = [0.0; 4];
    for corner in corners {
        match nodes.iter().position(|node| node == corner) {
            Some(k @ 0..4) => middle[k] += 0.25,
            Some(k) => MID_EDGES[k - 4].iter().for_each(|j| middle[*j] += 0.125),
            None => {}
        }
    }
    let points = points_of_degree_2();
    let (near, far) = (points[0][0], points[0][1]);
    middle.map(|coordinate| (coordinate - far) / (near - far))
}

/// N at a point.
pub(crate) fn shapes(point: &Barycentric) -> Nodal<f64> {
    std::array::from_fn(|a| match a {
        0..4 => point[a] * (2.0 * point[a] - 1.0),
        _ => {
            let [i, j] = MID_EDGES[a - 4];
            4.0 * point[i] * point[j]
        }
    })
}

/// ∂N by the barycentric coordinates 1 to 3, with coordinate 0 their complement.
fn slopes(point: &Barycentric) -> Nodal<Vector3<f64>> {
    std::array::from_fn(|a| {
        let mut by_coordinate = [0.0; 4];
        match a {
            0..4 => by_coordinate[a] = 4.0 * point[a] - 1.0,
            _ => {
                let [i, j] = MID_EDGES[a - 4];
                by_coordinate[i] = 4.0 * point[j];
                by_coordinate[j] = 4.0 * point[i];
            }
        }
        let [first, rest @ ..] = by_coordinate;
        Vector3::from(rest.map(|slope| slope - first))
    })
}

/// ∫N_a N_b dV, m³, of nodes at these places: of degree 4 and exact in a straight element.
pub(crate) fn mass_per_density(at: &Nodal<Vector3<f64>>) -> Nodal<Nodal<f64>> {
    let rule = Rule::new();
    let mut mass = [[0.0; N_NODES]; N_NODES];
    for (point, weight) in rule.points.iter().zip(&rule.weights) {
        let volume = at_point(at, point, *weight).volume;
        let shapes = shapes(point);
        for (row, n) in mass.iter_mut().zip(shapes) {
            for (entry, m) in row.iter_mut().zip(shapes) {
                *entry += volume * n * m;
            }
        }
    }
    mass
}

/// The share of an element's mass at one of its nodes, by place: a quarter of each of the linear tetrahedra between them, whatever diagonal of the
/// octahedron between the edges' nodes is chosen.
pub(crate) fn lumped_share(local: usize) -> f64 {
    if local < 4 { 1.0 / 32.0 } else { 7.0 / 48.0 }
}

/// Lumped masses of all nodes, kg, with `part_mass` of the linear tetrahedra.
pub(crate) fn quadratic_lumped(
    elements: &[RestQuadratic],
    n_nodes: usize,
    part_mass: &[f64],
) -> Vec<f64> {
    let mut sum = vec![0.0; n_nodes];
    for (element, parts) in elements.iter().zip(part_mass.chunks_exact(N_PARTS)) {
        let mass: f64 = parts.iter().sum();
        for (local, node) in element.nodes.iter().enumerate() {
            sum[*node as usize] += lumped_share(local) * mass;
        }
    }
    sum
}

/// Adds the forces (N) on the corners of a linear tetrahedron of an element to its nodes.
///
/// In the octahedron between the nodes of the edges they go to all six of them, by the functions 1/6 ± u/2 of the coordinates u from −1 to 1 along
/// its diagonals: a uniform field has the weights of the lumped mass, and any field its resultant and moment.
pub(crate) fn scatter_forces(
    nodes: &[u32],
    corners: &[u32; 4],
    forces: &[Vector3<f64>; 4],
    out: &mut [Vector3<f64>],
) {
    let local = corners.map(|corner| nodes.iter().position(|node| *node == corner).unwrap_or(0));
    if local.iter().any(|k| *k < 4) {
        for (corner, force) in corners.iter().zip(forces) {
            out[*corner as usize] += force;
        }
        return;
    }
    let sixth = forces.iter().sum::<Vector3<f64>>() / 6.0;
    nodes[4..]
        .iter()
        .for_each(|node| out[*node as usize] += sixth);
    for (k, force) in local.into_iter().zip(forces) {
        out[nodes[k] as usize] += force * 0.5;
        out[nodes[opposite(k)] as usize] -= force * 0.5;
    }
}

/// The node on the edge opposite to that of a node.
fn opposite(local: usize) -> usize {
    [9, 7, 8, 5, 6, 4][local - 4]
}

/// The consistent mass matrix of elements.
pub(crate) fn quadratic_mass(
    elements: &[RestQuadratic],
    materials: &PerElement<PartMaterial>,
    rest: &[Vector3<f64>],
) -> SparseMass {
    let blocks = elements.iter().enumerate().map(|(e, element)| {
        let density = materials.at(e).density;
        let mut block = mass_per_density(&element.nodes.map(|node| rest[node as usize]));
        block
            .iter_mut()
            .flatten()
            .for_each(|entry| *entry *= density);
        (element.nodes, block)
    });
    SparseMass::sum(rest.len(), blocks)
}

/// Gives the linear tetrahedra between the nodes of each element shares of its volume: curved faces are no longer cut off.
pub(crate) fn share_volumes(elements: &[RestQuadratic], parts: &mut [RestElement]) {
    for (element, parts) in elements.iter().zip(parts.chunks_exact_mut(N_PARTS)) {
        let flat: f64 = parts.iter().map(|part| part.volume).sum();
        let scale = element.mean.volume / flat;
        parts.iter_mut().for_each(|part| part.volume *= scale);
    }
}

#[cfg(test)]
mod tests;
