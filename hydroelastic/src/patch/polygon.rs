//! A convex polygon of few corners, with the faces that each corner lies on.

use nalgebra::{Matrix3, Vector3};

use crate::field::Affine;

/// Relative tolerance: corners within this fraction of the height of the tetrahedron over a face lie on that face.
pub(crate) const ON_FACE: f64 = 1e-10;

/// Four corners of a slice, one more for each of the faces that clip it, and a reserve.
const CORNERS_MAX: usize = 12;

/// Sign of the pressure on a piece: in contact, or speculative within the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    Loaded,
    Speculative,
}

/// A convex polygon. Bit k of a corner's mask means that it lies on face k: faces 0 to 3 of the first solid, 4 to 7 of
/// the second (of a triangle: its edges 4 to 6).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polygon {
    n: usize,
    corners: [Vector3<f64>; CORNERS_MAX],
    masks: [u8; CORNERS_MAX],
}

impl Polygon {
    pub(crate) const EMPTY: Self = Self {
        n: 0,
        corners: [Vector3::new(0.0, 0.0, 0.0); CORNERS_MAX],
        masks: [0; CORNERS_MAX],
    };

    pub(crate) fn corners(&self) -> &[Vector3<f64>] {
        &self.corners[..self.n]
    }

    pub(super) fn push(&mut self, x: Vector3<f64>, mask: u8) {
        if self.n < CORNERS_MAX {
            self.corners[self.n] = x;
            self.masks[self.n] = mask;
            self.n += 1;
        }
    }

    /// The faces that a corner lies on.
    pub(super) fn mask(&self, corner: usize) -> u8 {
        self.masks[corner]
    }

    /// Puts the whole polygon on these faces.
    pub(super) fn mark(&mut self, faces: u8) {
        self.masks[..self.n].iter_mut().for_each(|m| *m |= faces);
    }

    /// Renumbers the faces of the first solid as faces of the second.
    pub(super) fn renumber_as_second(&mut self) {
        self.masks[..self.n].iter_mut().for_each(|m| *m <<= 4);
    }

    /// The faces that any corner lies on.
    pub(crate) fn corner_faces(&self) -> u8 {
        self.masks[..self.n].iter().fold(0, |m, x| m | x)
    }

    /// The faces that contain the whole polygon.
    pub(crate) fn common_faces(&self) -> u8 {
        self.masks[..self.n].iter().fold(u8::MAX, |m, x| m & x)
    }

    /// A triangle whose edge i, from corner i to corner i + 1, is face 4 + i.
    pub(crate) fn triangle(corners: &[Vector3<f64>; 3]) -> Self {
        let mut polygon = Self::EMPTY;
        for (i, x) in corners.iter().enumerate() {
            polygon.push(*x, 1 << (4 + i) | 1 << (4 + (i + 2) % 3));
        }
        polygon
    }

    /// Clips to a tetrahedron given by its barycentric coordinates; its faces are numbered from `first_face`. Returns
    /// whether anything remains, if only a corner.
    pub(crate) fn clip_to(&mut self, sides: &[Affine; 4], first_face: u32) -> bool {
        let mut sides = (first_face..).zip(sides);
        sides.all(|(face, side)| self.clip(side, 1 << face))
    }

    /// Whether the part in a tetrahedron is certainly not larger than `area` (m²): it is at most a strip along one of
    /// the faces, if the polygon is not nearly parallel to it. `normal`: of the polygon, of any length.
    pub(crate) fn leaves_at_most(
        &self,
        area: f64,
        normal: &Vector3<f64>,
        sides: &[Affine; 4],
    ) -> bool {
        /// sin² of the smallest angle to a face for which the strip's width is accurate.
        const PARALLEL: f64 = 1e-6;
        let corners = self.corners();
        let bounds = (corners[0], corners[0]);
        let (low, high) = corners
            .iter()
            .fold(bounds, |(low, high), x| (low.inf(x), high.sup(x)));
        let (length_2, normal_2) = ((high - low).norm_squared(), normal.norm_squared());
        sides.iter().any(|side| {
            let heights = corners.iter().map(|x| side.at(x) + ON_FACE);
            let highest = heights.fold(0.0, f64::max);
            let (steepest, across) = (side.gradient.norm_squared(), side.gradient.dot(normal));
            // Squared: (highest/slope) length <= area, with the slope along the polygon.
            let slope_2 = steepest * normal_2 - across * across;
            slope_2 > PARALLEL * steepest * normal_2
                && highest * highest * length_2 * normal_2 <= area * area * slope_2
        })
    }

    /// Clips away the part where `side` is negative, a length relative to that of the element; it is zero on `faces`.
    /// Returns whether anything remains, if only a corner.
    pub(crate) fn clip(&mut self, side: &Affine, faces: u8) -> bool {
        let mut heights = [0.0; CORNERS_MAX];
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for (h, x) in heights.iter_mut().zip(self.corners()) {
            *h = side.at(x);
            lowest = lowest.min(*h);
            highest = highest.max(*h);
        }
        if lowest > ON_FACE {
            return true;
        }
        if highest < -ON_FACE {
            self.n = 0;
            return false;
        }
        if lowest >= -ON_FACE {
            for (mask, h) in self.masks[..self.n].iter_mut().zip(&heights) {
                if *h <= ON_FACE {
                    *mask |= faces;
                }
            }
            return self.n > 0;
        }
        let whole = *self;
        self.n = 0;
        for i in 0..whole.n {
            let j = if i + 1 == whole.n { 0 } else { i + 1 };
            let (h_i, h_j) = (heights[i], heights[j]);
            let (in_i, in_j) = (h_i >= -ON_FACE, h_j >= -ON_FACE);
            if in_i {
                let on = if h_i <= ON_FACE { faces } else { 0 };
                self.push(whole.corners[i], whole.masks[i] | on);
            }
            // Also next to a corner that lies on the face but counts as inside: if polygon and face are nearly
            // parallel, the intersection is far away.
            if in_i != in_j && h_i * h_j < 0.0 {
                let t = h_i / (h_i - h_j);
                let x = whole.corners[i] + (whole.corners[j] - whole.corners[i]) * t;
                self.push(x, whole.masks[i] & whole.masks[j] | faces);
            }
        }
        self.n > 0
    }

    /// The sign if `p` is nowhere negative, or nowhere positive, and not zero at all corners.
    pub(crate) fn one_sign(&self, p: &Affine) -> Option<Sign> {
        let (mut positive, mut negative) = (false, false);
        for x in self.corners() {
            let value = p.at(x);
            positive |= value > 0.0;
            negative |= value < 0.0;
        }
        match (positive, negative) {
            (true, false) => Some(Sign::Loaded),
            (false, true) => Some(Sign::Speculative),
            _ => None,
        }
    }

    /// The parts where `p` is positive and where it is negative.
    pub(crate) fn split(&self, p: &Affine) -> [Self; 2] {
        let mut values = [0.0; CORNERS_MAX];
        for (v, x) in values.iter_mut().zip(self.corners()) {
            *v = p.at(x);
        }
        let (mut positive, mut negative) = (Self::EMPTY, Self::EMPTY);
        for i in 0..self.n {
            let j = if i + 1 == self.n { 0 } else { i + 1 };
            let (x, mask) = (self.corners[i], self.masks[i]);
            if values[i] >= 0.0 {
                positive.push(x, mask);
            }
            if values[i] <= 0.0 {
                negative.push(x, mask);
            }
            if values[i] * values[j] < 0.0 {
                let t = values[i] / (values[i] - values[j]);
                let cut = x + (self.corners[j] - x) * t;
                let shared = mask & self.masks[j];
                positive.push(cut, shared);
                negative.push(cut, shared);
            }
        }
        [positive, negative]
    }

    /// Reverses the orientation.
    pub(crate) fn reverse(&mut self) {
        self.corners[..self.n].reverse();
        self.masks[..self.n].reverse();
    }

    /// Area times unit normal, m².
    pub(crate) fn area_vector(&self) -> Vector3<f64> {
        let mut twice = Vector3::zeros();
        for pair in self.corners().windows(2).skip(1) {
            twice += (pair[0] - self.corners[0]).cross(&(pair[1] - self.corners[0]));
        }
        0.5 * twice
    }

    /// Area, centroid and second moment of area about the centroid; `normal` is the unit normal about which the corners
    /// are counter-clockwise.
    pub(crate) fn moments(&self, normal: &Vector3<f64>) -> Moments {
        let mut sum = Moments::default();
        let Some(origin) = self.corners().first() else {
            return sum;
        };
        // About the first corner: for triangles (0, u, v) of signed area a, ∫x = a (u+v)/3 and
        // ∫x xᵀ = a/12 (u uᵀ + v vᵀ + (u+v)(u+v)ᵀ).
        let mut first = Vector3::zeros();
        for pair in self.corners().windows(2).skip(1) {
            let (u, v) = (pair[0] - origin, pair[1] - origin);
            let area = 0.5 * u.cross(&v).dot(normal);
            let s = u + v;
            sum.area += area;
            first += s * (area / 3.0);
            sum.second +=
                (u * u.transpose() + v * v.transpose() + s * s.transpose()) * (area / 12.0);
        }
        if sum.area > 0.0 {
            let c = first / sum.area;
            sum.second -= c * c.transpose() * sum.area;
            sum.centroid = origin + c;
        }
        sum
    }

    /// ∫‖x − c‖ dA, m³, for a point c of the plane with unit normal `normal`, about which the corners are
    /// counter-clockwise.
    ///
    /// The triangle of c and an edge at distance h, from s₁ to s₂ along it, has h/6 [s r + h² asinh(s/h)] with r² = h² +
    /// s².
    pub(crate) fn first_radial_moment(
        corners: &[Vector3<f64>],
        c: &Vector3<f64>,
        normal: &Vector3<f64>,
    ) -> f64 {
        let n = corners.len();
        let of_edge = |i: usize| {
            let (from, to) = (corners[i] - c, corners[(i + 1) % n] - c);
            let length = (to - from).norm();
            let h = from.cross(&to).dot(normal) / length;
            if length <= 0.0 || h == 0.0 {
                return 0.0;
            }
            let along = (to - from) / length;
            let at = |x: &Vector3<f64>| {
                let s = along.dot(x);
                s * s.hypot(h) + h * h * (s / h.abs()).asinh()
            };
            h / 6.0 * (at(&to) - at(&from))
        };
        (0..n).map(of_edge).sum()
    }
}

/// Area moments of a flat piece of surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moments {
    /// Area, m².
    pub(crate) area: f64,
    /// Centroid, m.
    pub(crate) centroid: Vector3<f64>,
    /// ∫(x − c)(x − c)ᵀ dA, m⁴.
    pub(crate) second: Matrix3<f64>,
}

impl Moments {
    /// Combines both, with the other's area multiplied by `weight` (parallel axis theorem).
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        let added = weight * other.area;
        let area = self.area + added;
        if area <= 0.0 {
            return;
        }
        let apart = other.centroid - self.centroid;
        self.second +=
            other.second * weight + apart * apart.transpose() * (self.area * added / area);
        self.centroid += apart * (added / area);
        self.area = area;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Tetrahedron;
    use crate::test_support::{random_point, random_tet};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn clipping_a_triangle_by_a_tetrahedron_gives_the_area_that_sampling_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for _ in 0..20 {
            let tet = Tetrahedron::new(&random_tet(&mut rng), &[0.0; 4]);
            let corners = [(); 3].map(|()| random_point(&mut rng));
            let [a, b, c] = corners;
            let whole = Polygon::triangle(&corners);
            let mut clipped = whole;
            if !clipped.clip_to(&tet.sides, 0) {
                clipped = Polygon::EMPTY;
            }
            let n = 400;
            let mut inside = 0;
            for i in 0..n {
                for j in 0..n - i {
                    let (s, t) = ((i as f64 + 0.33) / n as f64, (j as f64 + 0.33) / n as f64);
                    let x = a + (b - a) * s + (c - a) * t;
                    inside += usize::from((0..4).all(|k| tet.sides[k].at(&x) >= 0.0));
                }
            }
            let sampled = inside as f64 / (n * n / 2) as f64 * whole.area_vector().norm();
            let found = clipped.area_vector().norm();
            assert!((found - sampled).abs() < 0.02 * whole.area_vector().norm());
        }
    }

    #[test]
    fn the_mean_distance_from_the_centre_of_a_square_is_the_textbook_one() {
        let square = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]
            .map(|(x, y)| Vector3::new(3.0 + 0.5 * x, 0.5 * y, 1.0));
        let center = Vector3::new(3.0, 0.0, 1.0);
        let expected = (2.0_f64.sqrt() + (1.0 + 2.0_f64.sqrt()).ln()) / 6.0;
        let found = Polygon::first_radial_moment(&square, &center, &Vector3::z());
        assert!((found - expected).abs() < 1e-14);
        // From a corner: twice the mean distance in a square of half the side.
        let found = Polygon::first_radial_moment(&square, &square[0], &Vector3::z());
        assert!((found - 2.0 * expected).abs() < 1e-14);
    }

    #[test]
    fn moments_of_a_rectangle_are_the_textbook_ones_and_parts_add_up() {
        let corner = |x: f64, y: f64| Vector3::new(x + 3.0, y - 2.0, 0.5);
        let mut rectangle = Polygon::EMPTY;
        for (x, y) in [(0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0)] {
            rectangle.push(corner(x, y), 0);
        }
        let whole = rectangle.moments(&Vector3::z());
        assert!((whole.area - 8.0).abs() < 1e-14);
        assert!((whole.centroid - corner(2.0, 1.0)).norm() < 1e-14);
        let expected =
            Matrix3::from_diagonal(&Vector3::new(8.0 * 16.0 / 12.0, 8.0 * 4.0 / 12.0, 0.0));
        assert!((whole.second - expected).norm() < 1e-13);
        let p = Affine {
            gradient: Vector3::new(1.0, 0.3, 0.0),
            offset: -4.0,
        };
        let mut sum = Moments::default();
        for part in rectangle.split(&p) {
            sum.add(&part.moments(&Vector3::z()), 1.0);
        }
        assert!((sum.area - 8.0).abs() < 1e-13 && (sum.second - expected).norm() < 1e-12);
    }
}
