//! A patch to look at: polygons with pressures, and what they sum to.

use nalgebra::{Point3, Vector3};

use super::found::{Found, Sign};
use super::{Order, Placed};

/// What two bodies share of each other's surface, and how hard they press there. World frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactPatch {
    vertices_W: Vec<Point3<f64>>,
    pressures: Vec<f64>,
    polygons: Vec<PatchPolygon>,
    summary: PatchSummary,
}

/// One convex polygon of a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchPolygon {
    first: u32,
    count: u32,
    /// Unit normal from B into A.
    pub normal_W: Vector3<f64>,
    /// m²; of a polygon that fades (see [`PatchContact`](crate::PatchContact)) the part that counts.
    pub area: f64,
    /// Mean pressure, Pa.
    pub pressure: f64,
    /// Centroid, m.
    pub p_WC: Point3<f64>,
}

/// What the pressure on a patch sums to; friction and dissipation are not in it, they are known after the step only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSummary {
    /// m².
    pub area: f64,
    /// Elastic force of B on A, ∫ p n dA, N.
    pub force_W: Vector3<f64>,
    /// ∫ p x dA / ∫ p dA, m; the origin for an empty patch.
    pub center_of_pressure: Point3<f64>,
    /// Elastic moment of B on A about the centre of pressure, N m; zero for a flat patch.
    pub moment_W: Vector3<f64>,
    /// Highest pressure at a corner, Pa.
    pub pressure_max: f64,
}

impl Default for PatchSummary {
    fn default() -> Self {
        Self {
            area: 0.0,
            force_W: Vector3::zeros(),
            center_of_pressure: Point3::origin(),
            moment_W: Vector3::zeros(),
            pressure_max: 0.0,
        }
    }
}

impl ContactPatch {
    /// The polygons, in an order that does not depend on how they were found.
    #[must_use]
    pub fn polygons(&self) -> &[PatchPolygon] {
        &self.polygons
    }

    /// Corners of a polygon, m, counter-clockwise seen from A.
    #[must_use]
    pub fn vertices_W(&self, polygon: &PatchPolygon) -> &[Point3<f64>] {
        &self.vertices_W[polygon.first as usize..][..polygon.count as usize]
    }

    /// Pressure at each corner of a polygon, Pa; linear in between.
    #[must_use]
    pub fn pressures(&self, polygon: &PatchPolygon) -> &[f64] {
        &self.pressures[polygon.first as usize..][..polygon.count as usize]
    }

    /// Sums over all polygons.
    #[must_use]
    pub fn summary(&self) -> &PatchSummary {
        &self.summary
    }

    pub(super) fn clear(&mut self) {
        self.vertices_W.clear();
        self.pressures.clear();
        self.polygons.clear();
        self.summary = PatchSummary::default();
    }

    pub(super) fn fill(&mut self, found: &Found, placed: &Placed<'_>) {
        let mut pressing = found
            .sorted()
            .map(|(_, piece)| piece)
            .filter(|p| p.group.sign == Sign::Pressing)
            .peekable();
        let Some(origin) = pressing.peek().map(|p| p.moments.centroid) else {
            return;
        };
        // In the frame of the corners about a point of the patch: no digits are lost far from the world's origin.
        let (mut force, mut moment, mut weighed) =
            (Vector3::zeros(), Vector3::zeros(), Vector3::zeros());
        let (mut total, mut area, mut highest) = (0.0, 0.0, 0.0_f64);
        for piece in pressing {
            let (m, weight) = (&piece.moments, piece.balance.weight);
            let mean = piece.pressure.at(&m.centroid);
            // ∫p dA and ∫p (x − origin) dA of a linear pressure.
            let load = weight * m.area * mean;
            let first = (m.centroid - origin) * load + m.second * piece.pressure.gradient * weight;
            let normal = match placed.order {
                Order::AsGiven => piece.balance.normal,
                Order::Swapped => -piece.balance.normal,
            };
            force += normal * load;
            moment += first.cross(&normal);
            weighed += first;
            total += load;
            area += weight * m.area;
            let start = self.vertices_W.len();
            for x in found.corners(piece) {
                let p = piece.pressure.at(x).max(0.0);
                highest = highest.max(p);
                self.vertices_W.push(placed.X_WF * Point3::from(*x));
                self.pressures.push(p);
            }
            if placed.order == Order::Swapped {
                self.vertices_W[start..].reverse();
                self.pressures[start..].reverse();
            }
            self.polygons.push(PatchPolygon {
                first: start as u32,
                count: (self.vertices_W.len() - start) as u32,
                normal_W: placed.X_WF.rotation * normal,
                area: weight * m.area,
                pressure: mean,
                p_WC: placed.X_WF * Point3::from(m.centroid),
            });
        }
        let arm = if total > 0.0 {
            weighed / total
        } else {
            Vector3::zeros()
        };
        self.summary = PatchSummary {
            area,
            force_W: placed.X_WF.rotation * force,
            center_of_pressure: placed.X_WF * Point3::from(origin + arm),
            moment_W: placed.X_WF.rotation * (moment - arm.cross(&force)),
            pressure_max: highest,
        };
    }
}
