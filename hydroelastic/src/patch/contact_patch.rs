//! A contact patch for visualisation and observables: polygons with pressures, and their sums.

use nalgebra::{Isometry3, Point3, Vector3};

use super::pair::{Order, PairFrame};
use super::pieces::Pieces;
use super::polygon::Moments;
use super::polygon::Sign;
use crate::field::Affine;

/// The contact surface of two bodies and the pressure on it, in the world frame.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{
///     Compliance, ContactPatch, ContactWorkspace, PatchContact, PatchGeometry, Posed, RigidShape, Shape,
/// };
///
/// // A compliant cube of 10 cm (A) presses 1 mm into a rigid floor (B).
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let (soft, hard) = (PatchGeometry::compliant(&cube, &Compliance::default())?, PatchGeometry::rigid(&floor, 0.1)?);
/// let X_WA = Isometry3::translation(0.2, 0.0, 0.049);
/// let a = Posed::Rigid(RigidShape { patch: Some(&soft), ..RigidShape::at_rest(&cube, X_WA) });
/// let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// let mut patch = ContactPatch::default();
/// PatchContact.patch(a, b, &mut ContactWorkspace::default(), &mut patch).expect("a compliant pair")?;
/// let area: f64 = patch.polygons().iter().map(|polygon| polygon.area).sum();
/// assert!((area - 0.01).abs() < 1e-12);
/// // The pressure acts upwards on the cube, below its centre.
/// let summary = patch.summary();
/// assert!(summary.force_W.z > 0.0 && (summary.center_of_pressure.x - 0.2).abs() < 1e-9);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactPatch {
    vertices_W: Vec<Point3<f64>>,
    pressures: Vec<f64>,
    polygons: Vec<PatchPolygon>,
    summary: PatchSummary,
}

/// One convex polygon of a patch.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Compliance, ContactPatch, ContactWorkspace, PatchContact, PatchGeometry, Posed, RigidShape, Shape};
///
/// // A compliant cube (A), tilted about y, on a rigid floor (B): the pressure on each polygon is linear.
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let (soft, hard) = (PatchGeometry::compliant(&cube, &Compliance::default())?, PatchGeometry::rigid(&floor, 0.1)?);
/// let X_WA = Isometry3::new(Vector3::new(0.0, 0.0, 0.049), Vector3::y() * 0.01);
/// let a = Posed::Rigid(RigidShape { patch: Some(&soft), ..RigidShape::at_rest(&cube, X_WA) });
/// let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// let mut patch = ContactPatch::default();
/// PatchContact.patch(a, b, &mut ContactWorkspace::default(), &mut patch).expect("a compliant pair")?;
/// for polygon in patch.polygons() {
///     assert!((polygon.normal_W - Vector3::z()).norm() < 1e-12, "from the floor into the cube");
///     let (corners, pressures) = (patch.vertices_W(polygon), patch.pressures(polygon));
///     assert!(corners.len() == pressures.len() && corners.iter().all(|p: &Point3<f64>| p.z.abs() < 1e-12));
///     let range = pressures.iter().fold((f64::MAX, 0.0), |(low, high), p| (p.min(low), p.max(high)));
///     assert!(range.0 < polygon.pressure && polygon.pressure < range.1);
/// }
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchPolygon {
    first: u32,
    count: u32,
    /// Unit normal from B into A.
    pub normal_W: Vector3<f64>,
    /// Area, m²; for a polygon with partial weight (see [`PatchContact`](crate::PatchContact)) the weighted area.
    pub area: f64,
    /// Mean pressure, Pa.
    pub pressure: f64,
    /// Centroid, m.
    pub p_WC: Point3<f64>,
}

/// Integrals of the pressure over a patch. Friction and dissipation are not included: they are known only after the
/// step.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{Compliance, ContactPatch, ContactWorkspace, PatchContact, PatchGeometry, Posed, RigidShape, Shape};
///
/// // A cube of 10 cm and E = 10 MPa (A), 5 cm deep, presses 1 mm into a rigid floor (B): up to 0.2 MPa on 0.01 m².
/// let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let soft = PatchGeometry::compliant(&cube, &Compliance { hydroelastic_modulus: 1e7, ..Compliance::default() })?;
/// let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// # let X_WA = Isometry3::translation(0.0, 0.0, 0.049);
/// # let a = Posed::Rigid(RigidShape { patch: Some(&soft), ..RigidShape::at_rest(&cube, X_WA) });
/// # let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// let mut patch = ContactPatch::default();
/// PatchContact.patch(a, b, &mut ContactWorkspace::default(), &mut patch).expect("a compliant pair")?;
/// let summary = patch.summary();
/// assert!((summary.area - 0.01).abs() < 1e-12 && (summary.pressure_max - 2e5).abs() < 1e-3);
/// // The pressure falls to zero at the edges: the force is E/5 cm times the volume of a frustum of a pyramid of 1 mm height.
/// let volume = 1e-3 / 3.0 * (0.1 * 0.1 + 0.1 * 0.098 + 0.098 * 0.098);
/// assert!((summary.force_W - Vector3::z() * (1e7 / 0.05 * volume)).norm() < 1e-6);
/// assert!(summary.moment_W.norm() < 1e-6, "about the centre of pressure");
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatchSummary {
    /// Area, m².
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
    /// The polygons, in an order independent of the search.
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

    pub(crate) fn clear(&mut self) {
        self.vertices_W.clear();
        self.pressures.clear();
        self.polygons.clear();
        self.summary = PatchSummary::default();
    }

    /// Fills the patch with the polygons of positive pressure in `found`; `source` and the pair's stiffness (N/m)
    /// define the pressures.
    pub(super) fn fill(&mut self, found: &Pieces, frame: &PairFrame<'_>, source: &PressureSource) {
        let mut sums = PatchSums::new(self, frame.X_WF, frame.order);
        for (_, piece) in found.sorted() {
            if piece.group.sign == Sign::Loaded {
                let pressure = match source {
                    PressureSource::Field => piece.pressure,
                    PressureSource::Depth(slope) => {
                        piece.pressure.times(slope / piece.balance.slope)
                    }
                };
                let (m, balance) = (&piece.moments, &piece.balance);
                sums.add(
                    found.corners(piece),
                    m,
                    balance.weight,
                    &pressure,
                    &balance.normal,
                );
            }
        }
        sums.finish();
    }
}

/// Meaning of the pressures of pieces.
pub(super) enum PressureSource {
    /// They are pressures.
    Field,
    /// They are depths; the pressure per metre of depth, Pa/m.
    Depth(f64),
}

/// Accumulates a patch polygon by polygon in a frame F. Sums are taken about a point of the patch, to avoid
/// cancellation far from the world's origin.
pub(crate) struct PatchSums<'a> {
    patch: &'a mut ContactPatch,
    X_WF: Isometry3<f64>,
    order: Order,
    origin: Option<Vector3<f64>>,
    force: Vector3<f64>,
    moment: Vector3<f64>,
    weighted_sum: Vector3<f64>,
    total: f64,
    area: f64,
    highest: f64,
}

impl<'a> PatchSums<'a> {
    pub(crate) fn new(patch: &'a mut ContactPatch, X_WF: Isometry3<f64>, order: Order) -> Self {
        Self {
            patch,
            X_WF,
            order,
            origin: None,
            force: Vector3::zeros(),
            moment: Vector3::zeros(),
            weighted_sum: Vector3::zeros(),
            total: 0.0,
            area: 0.0,
            highest: 0.0,
        }
    }

    /// Adds a polygon with its moments, multiplied by `weight`; `normal` points from the second side into the first,
    /// and the corners are counter-clockwise about it.
    pub(crate) fn add(
        &mut self,
        corners: &[Vector3<f64>],
        m: &Moments,
        weight: f64,
        pressure: &Affine,
        normal: &Vector3<f64>,
    ) {
        let origin = *self.origin.get_or_insert(m.centroid);
        let mean = pressure.at(&m.centroid);
        // ∫p dA and ∫p (x − origin) dA of a linear pressure.
        let load = weight * m.area * mean;
        let first = (m.centroid - origin) * load + m.second * pressure.gradient * weight;
        let normal = match self.order {
            Order::AsGiven => *normal,
            Order::Swapped => -normal,
        };
        self.force += normal * load;
        self.moment += first.cross(&normal);
        self.weighted_sum += first;
        self.total += load;
        self.area += weight * m.area;
        let ContactPatch {
            vertices_W,
            pressures,
            polygons,
            ..
        } = &mut *self.patch;
        let start = vertices_W.len();
        for x in corners {
            let p = pressure.at(x).max(0.0);
            self.highest = self.highest.max(p);
            vertices_W.push(self.X_WF * Point3::from(*x));
            pressures.push(p);
        }
        if self.order == Order::Swapped {
            vertices_W[start..].reverse();
            pressures[start..].reverse();
        }
        polygons.push(PatchPolygon {
            first: start as u32,
            count: (vertices_W.len() - start) as u32,
            normal_W: self.X_WF.rotation * normal,
            area: weight * m.area,
            pressure: mean,
            p_WC: self.X_WF * Point3::from(m.centroid),
        });
    }

    /// Finishes the sums.
    pub(crate) fn finish(self) {
        let Some(origin) = self.origin else {
            return;
        };
        let arm = if self.total > 0.0 {
            self.weighted_sum / self.total
        } else {
            Vector3::zeros()
        };
        self.patch.summary = PatchSummary {
            area: self.area,
            force_W: self.X_WF.rotation * self.force,
            center_of_pressure: self.X_WF * Point3::from(origin + arm),
            moment_W: self.X_WF.rotation * (self.moment - arm.cross(&self.force)),
            pressure_max: self.highest,
        };
    }
}
