//! Whatever a world cannot be built of, by the part it comes from.

use std::collections::HashSet;

use nalgebra::Isometry3;
use pliant_contact_sap::Surface;
use pliant_hydroelastic::SoftMesh;

use super::{
    Anisotropy, BodyIdx, EdgeContact, Exclusion, Geometry, GeometryIdx, Mount, NamedBody,
    RigidSurface, WorldParts,
};
use crate::constraint::{Anchor, Constraint, ConstraintCompliance, ConstraintKind};
use crate::error::{WorldError, WorldPart};

impl WorldParts {
    pub(super) fn check(&self) -> Result<(), WorldError> {
        self.contact.validate()?;
        for (axis, g) in ["x", "y", "z"].iter().zip(self.gravity.iter()) {
            finite(
                &WorldPart::World,
                &format!("gravity along {axis} (m/s²)"),
                *g,
            )?;
        }
        let bodies = self.bodies.iter().map(|b| &b.name);
        unique(bodies.map(|name| WorldPart::Body(name.clone())))?;
        let geometries = self.geometries.iter().map(|g| &g.name);
        unique(geometries.map(|name| WorldPart::Geometry(name.clone())))?;
        let constraints = self.constraints.iter().map(|t| &t.name);
        unique(constraints.map(|name| WorldPart::Constraint(name.clone())))?;

        let n_frames: Vec<usize> = self.bodies.iter().map(n_frames).collect();
        for geometry in &self.geometries {
            check_geometry(geometry, &n_frames)?;
        }
        for constraint in &self.constraints {
            check_tie(constraint, &n_frames)?;
        }
        self.check_pair_rules()?;
        let n_geometries = self.geometries.len();
        for group in &self.groups {
            let part = WorldPart::Group(group.name.clone());
            for member in &group.members {
                in_range(&part, "geometry", member.0, n_geometries)?;
            }
        }
        for (index, exclusion) in self.exclusions.iter().enumerate() {
            self.check_exclusion(&WorldPart::Exclusion(index), exclusion, &n_frames)?;
        }
        Ok(())
    }

    fn check_pair_rules(&self) -> Result<(), WorldError> {
        let n_geometries = self.geometries.len();
        for ((a, b), rule) in &self.pair_rules {
            let part = self.pair_part(*a, *b);
            for g in [a, b] {
                in_range(&part, "geometry", g.0, n_geometries)?;
            }
            if let Some(k) = rule.stiffness
                && (k.is_nan() || k <= 0.0)
            {
                let allowed = "must be positive (infinite means rigid)";
                return Err(parameter(&part, "stiffness (N/m)", k, allowed));
            }
            for (name, value) in [
                ("dissipation (s/m)", rule.dissipation),
                ("relaxation time (s)", rule.relaxation_time_s),
                ("friction", rule.friction),
                ("adhesion (N)", rule.adhesion),
            ] {
                not_negative(&part, name, value.unwrap_or(0.0))?;
            }
            check_rigid_surface(&part, &rule.rigid_surface())?;
            if let Some(k) = rule.stiffness_per_area
                && !(k > 0.0 && k.is_finite())
            {
                let allowed = "must be positive and finite";
                return Err(parameter(&part, "stiffness per area (N/m³)", k, allowed));
            }
            let [m_a, m_b] = [a, b].map(|g| &self.geometries[g.0].material);
            let mu = rule.friction.unwrap_or(m_a.combined_with(m_b).friction);
            if let Some(anisotropy) = &rule.anisotropy {
                self.check_anisotropy(&part, (*a, *b), mu, anisotropy)?;
            }
            let deforms = |g: &GeometryIdx| self.geometries[g.0].mount.deforming().is_some();
            if rule.edges == EdgeContact::Crossing && !(deforms(a) && deforms(b)) {
                return Err(WorldError::EdgesOfRigid { part });
            }
            if let Some(mu_s) = rule.static_friction
                && (mu_s.is_nan() || mu_s < mu)
            {
                let allowed = "must not be less than the friction of sliding";
                return Err(parameter(&part, "static friction", mu_s, allowed));
            }
        }
        Ok(())
    }

    fn check_anisotropy(
        &self,
        part: &WorldPart,
        pair: (GeometryIdx, GeometryIdx),
        mu: f64,
        anisotropy: &Anisotropy,
    ) -> Result<(), WorldError> {
        let along = anisotropy.friction;
        if !(along > 0.0 && along.is_finite()) {
            let allowed = "must be positive and finite";
            return Err(parameter(part, "friction along an axis", along, allowed));
        }
        if mu <= 0.0 {
            let allowed = "must be positive where friction along an axis is given";
            return Err(parameter(part, "friction", mu, allowed));
        }
        let of = anisotropy.of;
        if of != pair.0 && of != pair.1 {
            let reason = "belongs to neither of the two geometries";
            return Err(WorldError::FrictionAxis {
                part: part.clone(),
                reason,
            });
        }
        match self.geometries[of.0].mount {
            Mount::World(_) | Mount::Frame { .. } => Ok(()),
            Mount::Vertices { .. } | Mount::Segments { .. } | Mount::Surface { .. } => {
                let reason =
                    "is that of a geometry that deforms; give an axis of the other, rigid one";
                Err(WorldError::FrictionAxis {
                    part: part.clone(),
                    reason,
                })
            }
        }
    }

    pub(super) fn pair_part(&self, a: GeometryIdx, b: GeometryIdx) -> WorldPart {
        let name = |g: GeometryIdx| match self.geometries.get(g.0) {
            Some(geometry) => geometry.name.clone(),
            None => format!("geometry {}", g.0),
        };
        WorldPart::Pair(name(a), name(b))
    }

    /// The meshes of geometries on surfaces, at rest.
    pub(super) fn soft_meshes(&self) -> Result<Vec<Option<SoftMesh>>, WorldError> {
        let mut surface = Surface::default();
        let mesh_of = |geometry: &Geometry| {
            let Mount::Surface { body } = geometry.mount else {
                return Ok(None);
            };
            let model = &self.bodies[body.0].model;
            model.surface(&model.default_state(), &mut surface);
            SoftMesh::new(&surface.vertices, &surface.triangles, &surface.tetrahedra)
                .map(Some)
                .map_err(|source| WorldError::Geometry {
                    part: WorldPart::Geometry(geometry.name.clone()),
                    source: Box::new(source),
                })
        };
        self.geometries.iter().map(mesh_of).collect()
    }

    fn check_exclusion(
        &self,
        part: &WorldPart,
        exclusion: &Exclusion,
        n_frames: &[usize],
    ) -> Result<(), WorldError> {
        match *exclusion {
            Exclusion::Geometries(a, b) => [a, b]
                .iter()
                .try_for_each(|g| in_range(part, "geometry", g.0, self.geometries.len())),
            Exclusion::Bodies(a, b) => [a, b]
                .iter()
                .try_for_each(|b| in_range(part, "body", b.0, n_frames.len())),
            Exclusion::Frames(a, b) => [a, b]
                .iter()
                .try_for_each(|(body, frame)| check_frame(part, *body, *frame, n_frames)),
            Exclusion::Groups(a, b) => [a, b]
                .iter()
                .try_for_each(|g| in_range(part, "group", g.0, self.groups.len())),
        }
    }
}

fn n_frames(body: &NamedBody) -> usize {
    let mut surface = Surface::default();
    body.model
        .surface(&body.model.default_state(), &mut surface);
    surface.frames.len()
}

fn check_geometry(geometry: &Geometry, n_frames: &[usize]) -> Result<(), WorldError> {
    let part = WorldPart::Geometry(geometry.name.clone());
    match geometry.mount {
        Mount::World(X_WG) => check_pose(&part, &X_WG)?,
        Mount::Frame { body, frame, X_FG } => {
            check_frame(&part, body, frame, n_frames)?;
            check_pose(&part, &X_FG)?;
        }
        Mount::Vertices { body } | Mount::Segments { body, .. } | Mount::Surface { body } => {
            in_range(&part, "body", body.0, n_frames.len())?;
        }
    }
    let on_vertices = geometry.mount.deforming().is_some();
    if geometry.shape.is_none() && !on_vertices {
        return Err(WorldError::ShapeMissing {
            name: geometry.name.clone(),
        });
    }
    if geometry.patch.is_some() && on_vertices {
        return Err(WorldError::PatchOnVertices {
            name: geometry.name.clone(),
        });
    }
    if geometry.compliance.is_some() && !matches!(geometry.mount, Mount::Segments { .. }) {
        return Err(WorldError::ComplianceOffSegments {
            name: geometry.name.clone(),
        });
    }
    check_rigid_surface(&part, &geometry.rigid_surface)?;
    for v in geometry.surface_velocity.iter() {
        finite(&part, "surface velocity (m/s)", *v)?;
    }
    geometry
        .material
        .validate()
        .map_err(|source| WorldError::Geometry {
            part,
            source: Box::new(source),
        })
}

fn check_rigid_surface(part: &WorldPart, surface: &RigidSurface) -> Result<(), WorldError> {
    match surface.fault() {
        None => Ok(()),
        Some((name, value, allowed)) => Err(parameter(part, name, value, allowed)),
    }
}

fn check_tie(constraint: &Constraint, n_frames: &[usize]) -> Result<(), WorldError> {
    let part = WorldPart::Constraint(constraint.name.clone());
    let mut n_bodies = 0;
    for anchor in [&constraint.a, &constraint.b] {
        match *anchor {
            Anchor::World(X_WA) => check_pose(&part, &X_WA)?,
            Anchor::Frame { body, frame, X_FA } => {
                check_frame(&part, body, frame, n_frames)?;
                check_pose(&part, &X_FA)?;
                n_bodies += 1;
            }
            Anchor::Point { body, point } => {
                in_range(&part, "body", body.0, n_frames.len())?;
                for x in point.weights.iter().chain(point.offset.iter()) {
                    finite(&part, "weight or offset of a point", *x)?;
                }
                let needs_axes = match constraint.kind {
                    ConstraintKind::Ball | ConstraintKind::Distance(_) => false,
                    ConstraintKind::Weld | ConstraintKind::Revolute | ConstraintKind::Prismatic => {
                        true
                    }
                };
                if needs_axes {
                    let name = constraint.name.clone();
                    return Err(WorldError::ConstraintWithoutAxes { name });
                }
                n_bodies += 1;
            }
        }
    }
    if n_bodies == 0 {
        return Err(WorldError::ConstraintWithoutBody {
            name: constraint.name.clone(),
        });
    }
    if let ConstraintKind::Distance(length) = constraint.kind
        && !(length > 0.0 && length.is_finite())
    {
        let allowed = "must be positive; use a ball constraint for zero";
        return Err(parameter(&part, "length (m)", length, allowed));
    }
    if let ConstraintCompliance::Spring {
        stiffness,
        relaxation_time_s,
    } = constraint.compliance
    {
        if stiffness.is_nan() || stiffness <= 0.0 {
            return Err(parameter(&part, "stiffness", stiffness, "must be positive"));
        }
        not_negative(&part, "relaxation time (s)", relaxation_time_s)?;
    }
    Ok(())
}

fn check_frame(
    part: &WorldPart,
    body: BodyIdx,
    frame: u32,
    n_frames: &[usize],
) -> Result<(), WorldError> {
    in_range(part, "body", body.0, n_frames.len())?;
    in_range(part, "frame", frame as usize, n_frames[body.0])
}

fn check_pose(part: &WorldPart, pose: &Isometry3<f64>) -> Result<(), WorldError> {
    for x in pose.translation.vector.iter() {
        finite(part, "translation (m)", *x)?;
    }
    for x in pose.rotation.coords.iter() {
        finite(part, "quaternion", *x)?;
    }
    Ok(())
}

/// Refuses the second of two parts of one name.
fn unique(parts: impl Iterator<Item = WorldPart>) -> Result<(), WorldError> {
    let mut seen = HashSet::new();
    for part in parts {
        if !seen.insert(part.clone()) {
            return Err(WorldError::DuplicateName { part });
        }
    }
    Ok(())
}

fn in_range(
    part: &WorldPart,
    kind: &'static str,
    index: usize,
    count: usize,
) -> Result<(), WorldError> {
    if index < count {
        return Ok(());
    }
    Err(WorldError::UnknownIndex {
        part: part.clone(),
        kind,
        index,
        count,
    })
}

fn parameter(part: &WorldPart, name: &str, value: f64, allowed: &'static str) -> WorldError {
    WorldError::Parameter {
        part: part.clone(),
        parameter: name.into(),
        value,
        allowed,
    }
}

fn finite(part: &WorldPart, name: &str, value: f64) -> Result<(), WorldError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(parameter(part, name, value, "must be finite"))
}

fn not_negative(part: &WorldPart, name: &str, value: f64) -> Result<(), WorldError> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(parameter(
        part,
        name,
        value,
        "must be finite and not negative",
    ))
}
