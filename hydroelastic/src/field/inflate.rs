//! Offsetting the surface of a tetrahedral mesh outwards, so that its field extends to a margin outside the shape.

use nalgebra::Vector3;

use crate::mesh::VertexIdx;
use crate::shape::MeshShape;

/// Moves every surface vertex so that all faces around it move outwards by `margin`: the shortest u with n_f · u ≥ δ.
/// The adjacent tetrahedra stretch, and the pressure on a flat side is extrapolated linearly. Returns the displacement
/// of each vertex in the order of `skin_vertices`; it is smaller than the margin where a tetrahedron would otherwise
/// invert.
pub(crate) fn inflate(
    vertices: &mut [Vector3<f64>],
    tets: &[[u32; 4]],
    skin: &MeshShape,
    skin_vertices: &[VertexIdx],
    margin: f64,
) -> Vec<f64> {
    let mut reached = vec![margin; skin_vertices.len()];
    if margin == 0.0 {
        return reached;
    }
    let mut normals: Vec<Vec<Vector3<f64>>> = vec![Vec::new(); skin_vertices.len()];
    for (t, corners) in skin.triangles().iter().enumerate() {
        let n = *skin.normal(t as u32);
        for &v in corners {
            let distinct = &mut normals[v as usize];
            if n != Vector3::zeros() && distinct.iter().all(|m| m.dot(&n) < 1.0 - 1e-12) {
                distinct.push(n);
            }
        }
    }
    let start = vertices.to_vec();
    let shifts: Vec<Vector3<f64>> = normals.iter().map(|n| outward_shift(n)).collect();
    let mut skin_of = vec![u32::MAX; vertices.len()];
    for (i, v) in skin_vertices.iter().enumerate() {
        skin_of[v.index()] = i as u32;
    }
    // Each round halves the margin around inverted tetrahedra; after the last round the margin of those left is zero.
    for round in 0..=12 {
        for (i, v) in skin_vertices.iter().enumerate() {
            vertices[v.index()] = start[v.index()] + shifts[i] * reached[i];
        }
        let mut valid = true;
        for tet in tets {
            let volume = |x: &[Vector3<f64>]| {
                let [a, b, c, d] = tet.map(|v| x[v as usize]);
                (b - a).cross(&(c - a)).dot(&(d - a))
            };
            if volume(vertices) < 0.1 * volume(&start) {
                valid = false;
                for &v in tet {
                    if let Some(m) = reached.get_mut(skin_of[v as usize] as usize) {
                        *m = if round < 11 { 0.5 * *m } else { 0.0 };
                    }
                }
            }
        }
        if valid {
            break;
        }
    }
    reached
}

/// The shortest u with n · u ≥ 1 for all unit normals n (dual coordinate ascent, Hildreth 1957), of length at most
/// four: at a vertex whose faces point in opposite directions no solution exists.
fn outward_shift(normals: &[Vector3<f64>]) -> Vector3<f64> {
    let mut weights = vec![0.0_f64; normals.len()];
    let mut u = Vector3::zeros();
    for _ in 0..200 {
        let mut moved = 0.0_f64;
        for (n, w) in normals.iter().zip(&mut weights) {
            let change = (1.0 - n.dot(&u)).max(-*w);
            *w += change;
            u += n * change;
            moved = moved.max(change.abs());
        }
        if moved < 1e-14 {
            break;
        }
    }
    let length = u.norm();
    if length > 4.0 { u * (4.0 / length) } else { u }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_moves_along_its_diagonal_and_a_saddle_stays_near() {
        let corner = outward_shift(&[Vector3::x(), Vector3::y(), Vector3::z()]);
        assert!((corner - Vector3::repeat(1.0)).norm() < 1e-13);
        let blunt = [Vector3::new(0.6, 0.0, 0.8), Vector3::new(-0.6, 0.0, 0.8)];
        assert!((outward_shift(&blunt) - Vector3::z() / 0.8).norm() < 1e-12);
        assert!(outward_shift(&[Vector3::x(), -Vector3::x()]).norm() <= 4.0);
    }
}
