//! Cross-sections and free ends of filaments.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

/// The cross-section of a segment that is not round: its extents across the unit tangent t of the segment.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Filament, FilamentContact, FlatSection, Outline};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, GeometryError, Posed, Query, RigidShape, Shape};
///
/// // A tape along x, 20 mm wide and 2 mm thick, with its axis 0.9 mm above the floor.
/// let ends = [Point3::new(-0.1, 0.0, 0.9e-3), Point3::new(0.1, 0.0, 0.9e-3)];
/// let depth = |m_1| -> Result<f64, GeometryError> {
///     let section = FlatSection { m_1, half_1: 0.01, half_2: 0.001, outline: Outline::Rectangle };
///     let mut tape = Filament::new(0, &ends, &[[0, 1]], &[0.01; 2])?;
///     tape.move_to(&ends, &[Vector3::zeros(); 2], &[section], 1e-3)?;
///     # let floor = Shape::half_space();
///     # let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
///     # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
///     FilamentContact.collide(Posed::Filament(&tape), b, &query, &mut workspace, &mut found).expect("a known pair")?;
///     Ok(found.iter().map(|contact| -contact.signed_distance).fold(0.0, f64::max))
/// };
/// assert!((depth(Vector3::y())? - 0.1e-3).abs() < 1e-9); // it lies flat
/// assert!((depth(Vector3::z())? - 9.1e-3).abs() < 1e-9); // it stands on its edge
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlatSection {
    /// Unit vector m₁ perpendicular to the segment, world frame: the first principal direction of the section.
    pub m_1: Vector3<f64>,
    /// Half of the extent along `m_1`, m.
    pub half_1: f64,
    /// Half of the extent along t × m_1, m.
    pub half_2: f64,
    /// Shape of the outline.
    pub outline: Outline,
}

impl FlatSection {
    /// Largest distance of the surface from the centreline, m.
    pub(super) fn reach(&self) -> f64 {
        match self.outline {
            Outline::Rectangle => self.half_1.hypot(self.half_2),
            Outline::Ellipse => self.half_1.max(self.half_2),
        }
    }
}

/// A circle inscribed in a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inscribed {
    /// Its centre relative to the centreline, m, world frame.
    pub(crate) center: Vector3<f64>,
    /// m.
    pub(crate) radius: f64,
    /// Stiffness share: the part not covered by the next inner circle, at most 1; coincident circles count as one.
    pub(crate) share: f64,
}

impl Inscribed {
    /// Number of circles of an ellipse on either side of the central one.
    const ON_EACH_SIDE: i32 = 3;

    /// The circle itself.
    pub(crate) fn of_circle(radius: f64) -> Self {
        Self {
            center: Vector3::zeros(),
            radius,
            share: 1.0,
        }
    }

    /// Circles centred on the longer axis of an ellipse with unit tangent `t`, inscribed in it.
    ///
    /// With semi-axes a > b, the one at x has the radius b √(1 − x²/(a² − b²)); the last ones, at x = ±(a² − b²)/a,
    /// touch the ellipse at its vertices. Their support equals that of the ellipse in as many directions and is smaller
    /// in between, by at most b/13 up to a = 10 b.
    pub(crate) fn of_ellipse(
        section: &FlatSection,
        t: &Vector3<f64>,
    ) -> impl Iterator<Item = Self> {
        let m_2 = t.cross(&section.m_1);
        let (along, a, b) = match section.half_1 >= section.half_2 {
            true => (section.m_1, section.half_1, section.half_2),
            false => (m_2, section.half_2, section.half_1),
        };
        let last = (a * a - b * b) / a;
        let circle = move |k: i32| {
            let x = last * (FRAC_PI_2 * f64::from(k) / f64::from(Self::ON_EACH_SIDE)).sin();
            // x² is at most (1 − b²/a²) of a² − b².
            let part = (x / a).powi(2) / (1.0 - (b / a).powi(2)).max(f64::MIN_POSITIVE);
            (x, b * (1.0 - part).max((b / a).powi(2)).sqrt())
        };
        (-Self::ON_EACH_SIDE..=Self::ON_EACH_SIDE).map(move |k| {
            let (x, radius) = circle(k);
            let inwards = circle(k - k.signum()).0;
            let share = match k {
                0 => 1.0,
                _ => ((x - inwards).abs() / (2.0 * radius)).min(1.0),
            };
            Self {
                center: along * x,
                radius,
                share,
            }
        })
    }
}

/// The outline of a section that is not round.
///
/// ```
/// use nalgebra::{Isometry3, Point3, Vector3};
/// use pliant_hydroelastic::{Filament, FilamentContact, FlatSection, Outline};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, GeometryError, Posed, Query, RigidShape, Shape};
///
/// // Filaments with an axis on the floor, half as thick as wide, turned by 45° about it.
/// # let ends = [Point3::new(-0.1, 0.0, 0.0), Point3::new(0.1, 0.0, 0.0)];
/// let (half_1, half_2): (f64, f64) = (0.01, 0.005);
/// let depth = |outline| -> Result<f64, GeometryError> {
///     let section = FlatSection { m_1: Vector3::new(0.0, 0.5f64.sqrt(), 0.5f64.sqrt()), half_1, half_2, outline };
///     # let mut filament = Filament::new(0, &ends, &[[0, 1]], &[0.01; 2])?;
///     # filament.move_to(&ends, &[Vector3::zeros(); 2], &[section], 1e-3)?;
///     # let floor = Shape::half_space();
///     # let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
///     # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
///     FilamentContact.collide(Posed::Filament(&filament), b, &query, &mut workspace, &mut found).expect("a known pair")?;
///     Ok(found.iter().map(|contact| -contact.signed_distance).fold(0.0, f64::max))
/// };
/// // The corner of the rectangle, and the lowest point of the ellipse.
/// assert!((depth(Outline::Rectangle)? - (half_1 + half_2) * 0.5f64.sqrt()).abs() < 1e-9);
/// assert!((depth(Outline::Ellipse)? - half_1.hypot(half_2) * 0.5f64.sqrt()).abs() < 1e-6);
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// A rectangle: segments are boxes.
    Rectangle,
    /// An ellipse: segments are elliptic cylinders.
    Ellipse,
}

/// The ends of an open filament.
///
/// ```
/// use nalgebra::{Isometry3, Point3};
/// use pliant_hydroelastic::{Filament, FilamentContact, Tips};
/// # use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, GeometryError, Posed, Query, RigidShape, Shape};
///
/// // A vertical rod of 10 mm radius whose last vertex is 4 mm above the floor.
/// let contacts = |tips| -> Result<Vec<f64>, GeometryError> {
///     let ends = [Point3::new(0.0, 0.0, 0.3), Point3::new(0.0, 0.0, 0.004)];
///     let rod = Filament::new(0, &ends, &[[0, 1]], &[0.01; 2])?.with_tips(tips);
///     # let floor = Shape::half_space();
///     # let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
///     # let (mut found, mut workspace, query) = (Vec::new(), ContactWorkspace::default(), Query::new(1e-3, 9.81)?);
///     FilamentContact.collide(Posed::Filament(&rod), b, &query, &mut workspace, &mut found).expect("a known pair")?;
///     Ok(found.iter().map(|contact| contact.signed_distance).collect())
/// };
/// let round = contacts(Tips::Round)?;
/// assert!(round.len() == 1 && (round[0] + 6e-3).abs() < 1e-12); // its half sphere is 6 mm deep
/// assert!(contacts(Tips::Flat)?.is_empty());
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tips {
    /// Rounded beyond the last vertex: half spheres on round segments, and a cone on a pressure field, so that end-on
    /// contact begins without a jump.
    #[default]
    Round,
    /// Cut at the last vertex, perpendicular to the last segment.
    Flat,
}

/// A unit vector perpendicular to a unit vector.
pub(super) fn across(t: &Vector3<f64>) -> Vector3<f64> {
    let axis = Vector3::ith(t.iamin(), 1.0);
    t.cross(&axis).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inscribed_circles_reach_as_far_as_the_ellipse() {
        let (t, m_1) = (Vector3::x(), Vector3::y());
        for (half_1, half_2) in [(0.01, 0.01), (0.01, 0.0099), (0.004, 0.001), (0.002, 0.02)] {
            let section = FlatSection {
                m_1,
                half_1,
                half_2,
                outline: Outline::Ellipse,
            };
            let circles: Vec<_> = Inscribed::of_ellipse(&section, &t).collect();
            let reach = |n: &Vector3<f64>| {
                let reach = circles.iter().map(|c| c.center.dot(n) + c.radius);
                reach.fold(f64::NEG_INFINITY, f64::max)
            };
            let least = half_1.min(half_2);
            for i in 0..=360 {
                let (s, c) = f64::from(i).to_radians().sin_cos();
                let exact = (half_1 * c).hypot(half_2 * s);
                let short = exact - reach(&Vector3::new(0.0, c, s));
                let allowed = if i % 90 == 0 { 1e-12 } else { least / 13.0 };
                assert!(
                    (-1e-12..=allowed).contains(&short),
                    "{half_1} {half_2} at {i} degrees: short by {short}"
                );
            }
            let round = half_1 == half_2;
            let shares: f64 = circles.iter().map(|c| c.share).sum();
            assert!(if round { shares == 1.0 } else { shares > 1.0 }, "{shares}");
            assert!(circles.iter().all(|c| c.share <= 1.0));
        }
    }
}
