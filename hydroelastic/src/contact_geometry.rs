//! The trait of contact implementations, and the settings of a contact query.

use crate::contact_point::ContactPoint;
use crate::contact_workspace::ContactWorkspace;
use crate::posed::Posed;
use crate::{GeometryError, Shape};

/// Settings of one contact query.
///
/// ```
/// use pliant_hydroelastic::{Query, Shape};
///
/// let query = Query::new(1e-3, 9.81)?;
/// assert!((query.margin - 2.0 * 9.81e-6).abs() < 1e-18); // 20 µm
/// // At least 1e-5 of the size of the smaller body, which is half the diagonal of its box.
/// let crate_of_4_m = Shape::cuboid([4.0, 4.0, 4.0].into())?;
/// assert!((query.margin_for(&crate_of_4_m, &Shape::half_space()) - 1e-5 * 12f64.sqrt()).abs() < 1e-18);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query {
    /// Δt, s.
    pub time_step_s: f64,
    /// δ₀, m: surfaces nearer than this are in contact by their nearest points, whether or not they move.
    pub margin: f64,
    /// Requested kind of contact for this pair.
    pub choice: ContactChoice,
}

/// Kind of contact of a pair: patch or points.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{Compliance, ContactChoice, PatchGeometry, PointStiffness, Query};
/// # use pliant_hydroelastic::{ContactGeometry, ContactPoint, ContactWorkspace, GeometryDispatcher, GeometryError};
/// # use pliant_hydroelastic::{Posed, RigidShape, Shape};
///
/// // A cube with a pressure field on a rigid floor has a patch; on request its four lower corners make contact instead.
/// # let (cube, floor) = (Shape::cuboid(Vector3::repeat(0.1))?, Shape::half_space());
/// let soft = PatchGeometry::compliant(&cube, &Compliance::default())?;
/// # let hard = PatchGeometry::rigid(&floor, 0.1)?;
/// # let X_WA = Isometry3::translation(0.0, 0.0, 0.049);
/// # let b = Posed::Rigid(RigidShape { patch: Some(&hard), ..RigidShape::at_rest(&floor, Isometry3::identity()) });
/// # let contacts = |patch, choice| -> Result<Vec<ContactPoint>, GeometryError> {
/// #     let a = Posed::Rigid(RigidShape { patch, ..RigidShape::at_rest(&cube, X_WA) });
/// #     let query = Query { choice, ..Query::new(1e-3, 9.81)? };
/// #     let mut points = Vec::new();
/// #     let answer = GeometryDispatcher::default().collide(a, b, &query, &mut ContactWorkspace::default(), &mut points);
/// #     answer.expect("a known pair").map(|()| points)
/// # };
/// let by_default = contacts(Some(&soft), ContactChoice::PatchElsePoint)?;
/// assert!(matches!(by_default[0].stiffness, PointStiffness::OfPatch { .. }));
/// let corners = contacts(Some(&soft), ContactChoice::Point)?;
/// assert!(corners.len() == 4 && matches!(corners[0].stiffness, PointStiffness::Share(_)));
/// // A cube without a field has no patch with a rigid floor.
/// assert_eq!(contacts(None, ContactChoice::PatchElsePoint)?.len(), 4);
/// assert!(matches!(contacts(None, ContactChoice::Patch), Err(GeometryError::NoPatch { .. })));
/// # Ok::<(), GeometryError>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ContactChoice {
    /// Points, even where both geometries support a patch.
    Point,
    /// A patch; an error if the pair has none.
    Patch,
    /// A patch where the pair has one, otherwise points.
    #[default]
    PatchElsePoint,
}

impl Query {
    /// The query for a step of length Δt (s) in which bodies accelerate by about `acceleration` (m/s², gravity and
    /// applied forces):
    ///
    /// ```text
    /// δ₀ = 2 |a| Δt²
    /// ```
    ///
    /// so that a resting body is never found separated from its support. Faster approach is covered by speculative
    /// contacts on the predicted paths.
    ///
    /// # Errors
    /// [`GeometryError::Query`] unless both are finite and not negative.
    pub fn new(time_step_s: f64, acceleration: f64) -> Result<Self, GeometryError> {
        for (parameter, value) in [
            ("time_step_s", time_step_s),
            ("acceleration (m/s2)", acceleration),
        ] {
            if !value.is_finite() || value < 0.0 {
                return Err(GeometryError::Query { parameter, value });
            }
        }
        Ok(Self {
            time_step_s,
            margin: 2.0 * acceleration * time_step_s * time_step_s,
            choice: ContactChoice::default(),
        })
    }

    /// δ₀ for a pair, m: at least 1e-5 of the smaller body's size, so that it does not vanish with Δt.
    pub fn margin_for(&self, a: &Shape, b: &Shape) -> f64 {
        let size = match (a.size(), b.size()) {
            (x, y) if x > 0.0 && y > 0.0 => x.min(y),
            (x, y) => x.max(y),
        };
        self.margin.max(1e-5 * size)
    }
}

/// Finds the contacts of one kind of pair.
///
/// The result must be a pure function of the arguments: no memory of earlier steps, so that a step can be repeated, and
/// no dependence on threads. The module `conformance` (feature `conformance`) tests an implementation.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::{ContactGeometry, ContactWorkspace, GeometryDispatcher, Posed, Query, RigidShape, Shape};
///
/// // A ball of 0.1 m (A) overlaps the floor (B) by 1 mm.
/// let (ball, floor) = (Shape::sphere(0.1)?, Shape::half_space());
/// let a = Posed::Rigid(RigidShape::at_rest(&ball, Isometry3::translation(0.0, 0.0, 0.099)));
/// let b = Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity()));
/// let mut points = Vec::new();
/// let geometry = GeometryDispatcher::default();
/// geometry.collide(a, b, &Query::new(1e-3, 9.81)?, &mut ContactWorkspace::default(), &mut points).expect("a known pair")?;
/// assert!((points[0].signed_distance + 1e-3).abs() < 1e-12);
/// assert!((points[0].normal_W - Vector3::z()).norm() < 1e-12); // from the floor into the ball
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
pub trait ContactGeometry: Send + Sync {
    /// Appends the contacts of A and B to `out`; `None` if this implementation does not handle the pair.
    ///
    /// `workspace` is memory only; its contents do not affect the result.
    ///
    /// Within `q.margin` a pair is in contact by its nearest points; beyond it only if the predicted paths intersect
    /// within the step (speculative contact). Normals point from B into A.
    ///
    /// # Errors
    /// [`GeometryError`] when a pose or an array is invalid. `out` is then unchanged.
    fn collide(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>>;

    /// Appends contacts of parts that pass into each other where the twists are the solution of a step instead of a
    /// prediction; `None` if this implementation does not handle the pair. A step without such contacts has passed
    /// nothing by.
    ///
    /// The default finds none for the pairs of [`collide`](Self::collide).
    ///
    /// # Errors
    /// As [`collide`](Self::collide).
    fn find_passing(
        &self,
        a: Posed<'_>,
        b: Posed<'_>,
        q: &Query,
        workspace: &mut ContactWorkspace,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Result<(), GeometryError>> {
        let start = out.len();
        let answer = self.collide(a, b, q, workspace, out);
        out.truncate(start);
        answer
    }
}
