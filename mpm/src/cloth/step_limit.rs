//! The longest stable time step of explicit substeps.

use super::material::ClothMaterial;
use super::mesh::{ClothMesh, HingeVertices, RestTriangle};

/// Of the sharp bounds 2/ω this part is used. The rest covers stretches up to 1.17 of the fixed corotated law and 1.08 of St.
/// Venant and Kirchhoff's, which stiffens.
const SAFETY: f64 = 0.85;

/// The longest stable time step of a cloth, and what sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClothStepLimit {
    /// s.
    pub time_step_s: f64,
    /// The largest term of the highest frequency.
    pub cause: StepLimitCause,
}

/// What limits an explicit time step.
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
    /// The longest stable time step on the grid that `mesh` was made for.
    ///
    /// ```text
    /// Δt = 0.85 · 2/ω        ω² = ω_p² + ω_n² + ω_b²        with damping β:  Δt = 0.85 · 2 (√(1 + z²) − z)/ω, z = β ω_p/2
    ///
    /// ω_p² = c² min(4 Σ 1/a², g/h²)        c² = E/(ρ (1 − ν²))        altitudes a of the worst triangle
    /// ω_n² = 8 max(8k/27, γ)/(ρ h²)
    /// ω_b² = D |e|²/(A₁ + A₂) Σ |∇θ|²/m                               the worst hinge
    /// ```
    ///
    /// Derivation: the frequencies of an assembly are bounded by those of its elements with their shares of the mass, and
    /// weights that sum to one do not raise them. The first bound of ω_p is that of the finite elements alone with a quarter of a
    /// triangle's mass on each vertex; for an equilateral triangle Δt = 0.49 a/c. The second is that of what the grid can see
    /// of a triangle: g is the largest Σ_i |Σ_v w_iv ∇N_v|² h²/m_i over all positions and orientations, m_i the share of node i in
    /// the triangle's mass. By sampling, g ≤ 14 for triangles without an obtuse angle and g ≤ 7 + 28 (R/L)² for others, R the
    /// radius of the circumscribed circle and L the longest edge: Δt = 0.45 h/c, however short the edges. Likewise
    /// Σ_i (∇w_i·d)²/m_i ≤ 8/h² for the normal column, and the slope of its pressure is at most 8k/27, at r₃₃ = 2/3.
    ///
    /// The limit is for a cloth near its rest area: one that is stretched by more than a sixth needs a shorter step, in proportion.
    /// Inverted normals, which are stiffer, are not counted.
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
        let h = mesh.spacing();
        let speed_squared = {
            let hooke = self.plane_stress();
            (hooke.lambda + 2.0 * hooke.mu) / self.density()
        };
        let largest = |terms: &mut dyn Iterator<Item = f64>| terms.fold(0.0, f64::max);
        let elements = &mut mesh.rest().iter().map(|t| shape_factor(t, h));
        let in_plane = speed_squared * largest(elements);
        let modulus = (8.0 / 27.0 * self.normal_stiffness()).max(self.shear_stiffness());
        let transverse = 8.0 * modulus / (self.density() * h * h);
        let bending = if self.bending_stiffness() > 0.0 {
            let hinges = &mut mesh.hinges().map(|hinge| hinge_factor(mesh, &hinge));
            largest(hinges) * self.bending_stiffness() / self.areal_density()
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

/// ω²/c² of a triangle, 1/m²: the lower of the bounds of the finite element and of the grid.
fn shape_factor(triangle: &RestTriangle, spacing: f64) -> f64 {
    let inverse_altitudes_squared = triangle.shape_gradients().map(|[x, y]| x * x + y * y);
    let element = 4.0 * inverse_altitudes_squared.iter().sum::<f64>();
    element.min(grid_factor(triangle.area, inverse_altitudes_squared) / (spacing * spacing))
}

/// g of [`ClothMaterial::step_limit`].
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
    12.0 * sum * square / total
}
