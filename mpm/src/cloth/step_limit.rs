//! The longest stable time step of explicit substeps.

use nalgebra::Vector3;

use super::in_plane::PrincipalStretches;
use super::layers::LEAST_NORMAL;
use super::material::{BendingModel, ClothMaterial};
use super::mesh::{ClothMesh, HingeVertices, RestTriangle};
use super::plate::coupling_factor;
use super::surface_frame::SurfaceFrame;
use super::triangle::{ClothTriangle, shape_gradients};

/// Of the sharp bounds 2/ω this part is used. The rest is for stretches that grow within a step.
const SAFETY: f64 = 0.85;

/// What −ln r₃₃ may gain within a step.
const COMPRESSION_WITHIN_A_STEP: f64 = 0.14;

/// The longest stable time step of a cloth, and what sets it.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{ClothMaterial, ClothMesh, InPlaneLaw};
///
/// // Waves travel as √E: a cloth of four times the stiffness takes half the step.
/// let (mesh, _) = ClothMesh::new("shirt", generate::sheet([0.1, 0.1], [10, 10])?, 0.02)?;
/// let step = |youngs_modulus| -> Result<f64, pliant_mpm::MpmError> {
///     let shirt = ClothMaterial::new(InPlaneLaw::FixedCorotated, youngs_modulus, 0.3, 1000.0, 4e-4)?;
///     Ok(shirt.step_limit(&mesh).time_step_s)
/// };
/// assert!((step(1e5)? / step(4e5)? - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothStepLimit {
    /// s.
    pub time_step_s: f64,
    /// The largest term of the highest frequency.
    pub cause: StepLimitCause,
}

/// What limits an explicit time step.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{ClothMaterial, ClothMesh, InPlaneLaw, StepLimitCause};
///
/// // Felt of 5 mm with the bending stiffness of a plate, on triangles of 1 cm.
/// let felt = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 5e-3)?;
/// let (mesh, _) = ClothMesh::new("felt", generate::sheet([0.1, 0.1], [20, 20])?, 0.02)?;
/// assert_eq!(felt.step_limit(&mesh).cause, StepLimitCause::InPlane);
/// let stiff = felt.with_plate_bending();
/// assert_eq!(stiff.step_limit(&mesh).cause, StepLimitCause::Bending);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepLimitCause {
    /// Waves of stretch within the surface.
    InPlane,
    /// Kelvin-Voigt damping in the plane, stronger than critical at the highest frequency.
    Damping,
    /// Stiffness between layers.
    Transverse,
    /// Stiffness against bending.
    Bending,
}

impl ClothMaterial {
    /// The longest stable time step of a cloth at rest on the grid that `mesh` was made for.
    ///
    /// ```
    /// use pliant_hydroelastic::mesh::generate;
    /// use pliant_mpm::{ClothMaterial, ClothMesh, InPlaneLaw, StepLimitCause};
    ///
    /// // The T-shirt of Yu et al. (2025) on a grid of 1/64 m: they use 0.5 ms.
    /// let shirt = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 4e-4)?;
    /// let (mesh, _) = ClothMesh::new("shirt", generate::sheet([0.6, 0.6], [80, 80])?, 1.0 / 64.0)?;
    /// let limit = shirt.step_limit(&mesh);
    /// assert_eq!(limit.cause, StepLimitCause::InPlane);
    /// assert!((6e-4..7e-4).contains(&limit.time_step_s));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn step_limit(&self, mesh: &ClothMesh) -> ClothStepLimit {
        let positions = mesh.surface().vertices();
        let normals = mesh.surface().raw_triangles().map(|corners| {
            let [a, b, c] = corners.map(|v| positions[v as usize]);
            (b - a).cross(&(c - a)).normalize()
        });
        self.step_limit_at(mesh, positions, &normals.collect::<Vec<_>>())
    }

    /// The longest stable time step at these positions of the vertices (m) and normals of the triangles.
    ///
    /// ```text
    /// Δt = 0.85 · 2/ω        ω² = ω_p² + ω_n² + ω_b²        with damping β:  Δt = 0.85 · 2 (√(1 + z²) − z)/ω, z = β ω_p/2
    ///
    /// ω_p² = c² H/H₀ min(4 Σ 1/a², σ² g/h²)                the worst triangle, of altitudes a at rest;  c² = E/(ρ (1 − ν²))
    /// ω_n² = 8 max(k e (2 + e), γ)/(ρ h²),  e = 0.14 − ln r₃₃      the closest layers
    /// ω_b² = D |e|²/(A₁ + A₂) Σ |∇θ|²/m                    the worst hinge at rest; without the area of a clamped
    ///                                                      triangle; times the row sums of (1 − ν)(nₐ·n_b)² + ν for a plate
    /// ```
    ///
    /// H is the largest eigenvalue of the second derivative of the energy in the plane, H₀ = E/(1 − ν) at rest, and σ the largest stretch;
    /// H/H₀ and σ are at least 1.
    ///
    /// Derivation: the frequencies of an assembly are bounded by those of its elements with their shares of the mass, and
    /// weights that sum to one do not raise them. The first bound of ω_p is that of the finite elements alone with a quarter of a
    /// triangle's mass on each vertex; for an equilateral triangle Δt = 0.49 a/c. The second is that of what the grid can see
    /// of a triangle: g is the largest Σ_i |Σ_v w_iv ∇N_v|² h²/m_i over all positions and orientations, m_i the share of node i in
    /// the triangle's mass, ∇N in its present shape; ∇N at rest is at most σ times as long. By sampling, g ≤ 14 for triangles without an
    /// obtuse angle and g ≤ 7 + 28 (R/L)² for others, R the radius of the circumscribed circle and L the longest edge: Δt = 0.45 h/c,
    /// however short the edges. Likewise Σ_i (∇w_i·d)² r₃₃²/m_i ≤ 8/h² for the normal column, whose stiffness is r₃₃² ψ_n″ = k e (2 + e).
    ///
    /// 0.85 allows for stretches to grow by a sixth within the steps that use the limit, 0.14 for layers to come closer by that logarithm.
    ///
    /// # Panics
    /// If a slice does not have an entry for each vertex or triangle.
    #[must_use]
    pub fn step_limit_at(
        &self,
        mesh: &ClothMesh,
        positions: &[Vector3<f64>],
        normals: &[Vector3<f64>],
    ) -> ClothStepLimit {
        let h = mesh.spacing();
        let law = self.law::<f64>();
        let speed_squared = self.wave_modulus() / self.density();
        let at_rest = law.in_plane.stiffness([1.0, 1.0]);
        let cloth_triangles = mesh.surface().raw_triangles().zip(mesh.rest());
        let (mut in_plane, mut compression) = (0.0_f64, 0.0_f64);
        for ((corners, rest), normal) in cloth_triangles.zip(normals) {
            let corners = corners.map(|v| positions[v as usize]);
            let triangle = ClothTriangle::new([0, 1, 2], rest, self.thickness());
            let frame = SurfaceFrame::of(&triangle.deformation_gradient(&corners, normal));
            let stretches = PrincipalStretches::of(&frame.in_plane).stretches;
            let stiffening = (law.in_plane.stiffness(stretches) / at_rest).max(1.0);
            let stretch = stretches[0].max(1.0);
            let bound = shape_factor(rest, &corners, h / stretch);
            in_plane = in_plane.max(speed_squared * stiffening * bound);
            compression = compression.max(-frame.normal.max(LEAST_NORMAL).ln());
        }
        let strain = compression + COMPRESSION_WITHIN_A_STEP;
        let stiffness = self.normal_stiffness() * strain * (2.0 + strain);
        let modulus = stiffness.max(self.shear_stiffness());
        let transverse = 8.0 * modulus / (self.density() * h * h);
        let bending = if self.bending_stiffness() > 0.0 {
            let hinges = mesh.hinges().map(|hinge| hinge_factor(mesh, &hinge));
            let worst = hinges.fold(0.0, f64::max) * self.bending_stiffness();
            let coupling = match self.bending_model() {
                BendingModel::Plate => coupling_factor(mesh, self.poissons_ratio()),
                BendingModel::Hinges => 1.0,
            };
            coupling * worst / self.areal_density()
        } else {
            0.0
        };
        let damping_ratio = 0.5 * self.damping_time() * in_plane.sqrt();
        let (mut largest_term, mut cause) = (in_plane, StepLimitCause::InPlane);
        for (term, its_cause) in [
            (transverse, StepLimitCause::Transverse),
            (bending, StepLimitCause::Bending),
        ] {
            if term > largest_term {
                (largest_term, cause) = (term, its_cause);
            }
        }
        if cause == StepLimitCause::InPlane && damping_ratio > 1.0 {
            cause = StepLimitCause::Damping;
        }
        let frequency = (in_plane + transverse + bending).sqrt();
        // √(1 + z²) − z without cancellation.
        let damped = 1.0 / (damping_ratio.hypot(1.0) + damping_ratio);
        ClothStepLimit {
            time_step_s: SAFETY * 2.0 * damped / frequency,
            cause,
        }
    }
}

/// ω²/c² of a triangle as stiff as at rest, 1/m²: the lower of the bounds of the finite element at rest and of the grid at these corners.
fn shape_factor(rest: &RestTriangle, corners: &[Vector3<f64>; 3], spacing: f64) -> f64 {
    let squares = shape_gradients(&rest.inverse_edges).map(|[x, y]| x * x + y * y);
    let element = 4.0 * squares.iter().sum::<f64>();
    let [a, b, c] = corners;
    let doubled_area = (b - a).cross(&(c - a)).norm();
    let inverse_altitudes = [c - b, a - c, b - a].map(|edge| edge.norm() / doubled_area);
    let grid = grid_factor(0.5 * doubled_area, inverse_altitudes.map(|x| x * x));
    // A triangle without area has no bound by the grid.
    element.min(grid / (spacing * spacing))
}

/// g of [`ClothMaterial::step_limit_at`].
pub(super) fn grid_factor(area: f64, inverse_altitudes_squared: [f64; 3]) -> f64 {
    let mut squares = inverse_altitudes_squared.map(|a| 4.0 * area * area * a);
    squares.sort_unstable_by(f64::total_cmp);
    let [shortest, middle, longest] = squares;
    if shortest + middle >= longest * (1.0 - 1e-9) {
        return 14.0;
    }
    // R = (product of the edges)/(4A).
    7.0 + 28.0 * shortest * middle / (16.0 * area * area)
}

/// ω²ρt/D of a hinge, 1/m⁴: every hinge has a third of its triangles' mass on the vertices.
fn hinge_factor(mesh: &ClothMesh, hinge: &HingeVertices) -> f64 {
    let [from, to, first, second] = hinge
        .vertices
        .map(|v| mesh.surface().vertices()[v as usize]);
    let edge = to - from;
    let square = edge.norm_squared();
    let areas = hinge.triangles.map(|t| mesh.rest()[t as usize].area);
    let mut sum = 0.0;
    let mut ends = [0.0; 2];
    // At small angles all gradients of θ are along one normal.
    for (vertex, area) in [first, second].iter().zip(areas) {
        let slope = square.sqrt() / (2.0 * area);
        let s = (vertex - from).dot(&edge) / square;
        sum += slope * slope / area;
        ends[0] += (1.0 - s) * slope;
        ends[1] += s * slope;
    }
    let total = areas[0] + areas[1];
    sum += (ends[0] * ends[0] + ends[1] * ends[1]) / total;
    12.0 * sum * square / hinge.bent_area
}
