//! The state of a walk at a vertex v: with u = Z − v it goes on into the triangle (v, v + e₁, v + e₂) in which the projection α e₁ + β e₂ of u,
//! α, β > 0, is longest, otherwise along the edge with the largest u·e/|e| > 0.

use nalgebra::Vector3;

use super::triangle::Crossing;
use super::{Entry, Next, ROUND_OFF, Walk, WalkEnd};

impl Walk<'_> {
    pub(super) fn at_vertex(&mut self, corner: usize) -> Next {
        let vertex = self.surface.triangle(self.triangle)[corner];
        let at = self.vertices[vertex as usize];
        let u = self.particle - at;
        let size = u.norm();
        let mut best: Option<(f64, u32, usize, Leave)> = None;
        let mut consider = |pull: f64, triangle: u32, corner: usize, leave: Leave| {
            let better = match &best {
                None => true,
                Some((known, _, _, Leave::Face)) => leave == Leave::Face && pull > *known,
                Some((known, _, _, _)) => leave == Leave::Face || pull > *known,
            };
            if better {
                best = Some((pull, triangle, corner, leave));
            }
        };
        // Sharp edges bound the face: what is beyond is not entered from it.
        let face = self.face_around(vertex);
        for &triangle in &face {
            let corners = self.surface.triangle(triangle);
            let Some(k) = corners.iter().position(|v| *v == vertex) else {
                continue;
            };
            let [e_1, e_2] =
                [1, 2].map(|step| self.vertices[corners[(k + step) % 3] as usize] - at);
            if let Some(pull) = projection_inside(&u, &e_1, &e_2)
                && pull > ROUND_OFF * size
            {
                consider(pull, triangle, k, Leave::Face);
            }
            // Every edge at a closed fan belongs to two triangles; either will do.
            for (edge, e) in [(k, e_1), ((k + 2) % 3, e_2)] {
                let pull = u.dot(&e) / e.norm();
                if pull > ROUND_OFF * size && !self.is_sharp(triangle, edge) {
                    consider(pull, triangle, k, Leave::Edge(edge));
                }
            }
        }
        let within = matches!(best, Some((_, _, _, Leave::Face)));
        if !within && let Some(triangle) = self.pulled_over(&face, vertex) {
            let corners = self.surface.triangle(triangle);
            if self.weights[corner] != 1.0 || self.triangle != triangle {
                self.derivative.clear();
            }
            self.triangle = triangle;
            self.weights = corners.map(|v| if v == vertex { 1.0 } else { 0.0 });
            let crossing = Crossing::new(self);
            let s = crossing.slide(self.friction.sliding);
            return self.over_edge(&crossing, s);
        }
        let Some((_, triangle, corner, leave)) = best else {
            self.move_to_corner(corner);
            return Next::End(WalkEnd::Vertex);
        };
        if self.triangle != triangle {
            self.triangle = triangle;
            self.weights = [0.0; 3];
            self.weights[corner] = 1.0;
        }
        self.move_to_corner(corner);
        match leave {
            Leave::Face => Next::Triangle(Entry::Vertex(corner)),
            Leave::Edge(edge) => Next::Edge(edge),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    Face,
    /// Along edge k of the triangle.
    Edge(usize),
}

/// Length of the projection of u on the plane of e₁ and e₂, if it is between them.
fn projection_inside(u: &Vector3<f64>, e_1: &Vector3<f64>, e_2: &Vector3<f64>) -> Option<f64> {
    let (g_11, g_12, g_22) = (e_1.norm_squared(), e_1.dot(e_2), e_2.norm_squared());
    let (b_1, b_2) = (u.dot(e_1), u.dot(e_2));
    let determinant = g_11 * g_22 - g_12 * g_12;
    let alpha = (g_22 * b_1 - g_12 * b_2) / determinant;
    let beta = (g_11 * b_2 - g_12 * b_1) / determinant;
    let scale = alpha.abs().max(beta.abs()).max(1.0);
    (alpha.min(beta) > ROUND_OFF * scale).then(|| (e_1 * alpha + e_2 * beta).norm())
}
