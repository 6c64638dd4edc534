//! Fixed shapes, and rigid bodies made of shapes.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Vector3};
use pliant_coupling::{BodyIdx, Geometry, Mount};
use pliant_hydroelastic::Shape;
use pliant_multibody::joint::write_floating_position;
use pliant_multibody::{
    GravityAction, LinkIdx, LinkSpec, Model, ModelBuilder, RigidTree, Root, SpatialInertia,
};

use super::Draft;
use super::directory::Owner;
use super::solids;
use crate::recording::Color;
use crate::runner::suspicious_input;
use crate::scene::{BodyEntry, BodyTemplate, FixedEntry, GravityEntry, SceneError, SceneFault};

impl Draft<'_> {
    pub(super) fn add_fixed(&mut self, entry: &FixedEntry) -> Result<(), SceneError> {
        let placed = &entry.shape;
        let shape = solids::shape(self.scene, placed, &mut self.notes)?;
        let name = &entry.name.name;
        let look = solids::entry_look(self.scene, placed, &shape, &mut self.notes)?;
        self.picture
            .add_fixed(name, placed.pose, look, placed.color);
        let geometry = Geometry {
            name: name.clone(),
            mount: Mount::World(placed.pose),
            patch: self.patch_geometry(&shape, placed.surface, placed.at, name)?,
            shape: Some(shape),
            part: None,
            compliance: None,
            material: self.material(placed.surface),
            surface_velocity: placed.surface_velocity,
            rigid_surface: self.rigid_surface(placed.surface),
        };
        let geometry = self.add_geometry(Owner::Fixed, placed.surface, geometry);
        self.directory.add_fixed(name, geometry, placed.pose);
        Ok(())
    }

    pub(super) fn add_body(&mut self, index: usize, entry: &BodyEntry) -> Result<(), SceneError> {
        let (name, template) = (&entry.name.name, &entry.body);
        let shapes = template
            .shapes
            .iter()
            .map(|placed| solids::shape(self.scene, placed, &mut self.notes))
            .collect::<Result<Vec<Shape>, _>>()?;
        let tree = self.floating_body(entry, &shapes)?;
        if let Some(mass) = template.mass {
            let volume = |shape: &Shape| shape.mass_properties(1.0).map_or(0.0, |solid| solid.mass);
            let volume = shapes.iter().map(volume).sum();
            self.notes
                .extend(suspicious_input::density(name, mass, volume));
        }
        let mut q = tree.neutral_positions();
        write_floating_position(&entry.pose, &mut q);
        let v: Vec<f64> = template
            .angular_velocity
            .iter()
            .chain(template.velocity.iter())
            .copied()
            .collect();
        let tree = Arc::new(tree);
        let model = RigidTree::new(Arc::clone(&tree)).starting_at(&q, &v);
        self.starts.push(q);
        let body: BodyIdx = self.builder.add_body(name, Box::new(model));
        self.directory.add_body(name, body, tree);
        let link = self.picture.add_link(name, body, LinkIdx(0));
        for (k, (placed, shape)) in template.shapes.iter().zip(shapes).enumerate() {
            let shape_name = if template.shapes.len() == 1 {
                name.clone()
            } else {
                format!("{name}#{k}")
            };
            let color = placed
                .color
                .map_or(Color::palette(index), super::picture::color);
            let look = solids::entry_look(self.scene, placed, &shape, &mut self.notes)?;
            self.picture
                .add_visual(&shape_name, link, placed.pose, look, color);
            let geometry = Geometry {
                patch: self.patch_geometry(&shape, placed.surface, placed.at, &shape_name)?,
                name: shape_name,
                mount: Mount::Frame {
                    body,
                    frame: 0,
                    X_FG: placed.pose,
                },
                shape: Some(shape),
                part: None,
                compliance: None,
                material: self.material(placed.surface),
                surface_velocity: placed.surface_velocity,
                rigid_surface: self.rigid_surface(placed.surface),
            };
            self.add_geometry(Owner::Link(body, LinkIdx(0)), placed.surface, geometry);
        }
        Ok(())
    }

    /// A model of one free link.
    fn floating_body(&self, entry: &BodyEntry, shapes: &[Shape]) -> Result<Model, SceneError> {
        let fault = |text: String| self.scene.text.error(entry.name.at, SceneFault::File(text));
        let inertia = inertia(&entry.body, shapes).map_err(fault)?;
        let mut builder = ModelBuilder::new(&*entry.name.name);
        builder
            .root(Root::Floating)
            .gravity(gravity_action(entry.body.gravity));
        builder.link(LinkSpec::new(&*entry.name.name, inertia));
        builder.build().map_err(|error| fault(error.to_string()))
    }
}

pub(super) fn gravity_action(entry: GravityEntry) -> GravityAction {
    match entry {
        GravityEntry::Acts => GravityAction::Enabled,
        GravityEntry::Absent => GravityAction::Disabled,
    }
}

/// Mass, centre and inertia of all shapes together, in the body's frame.
///
/// With the mass given, all shapes have the one density that yields it.
fn inertia(template: &BodyTemplate, shapes: &[Shape]) -> Result<SpatialInertia, String> {
    let mut parts = Vec::with_capacity(shapes.len());
    for (placed, shape) in template.shapes.iter().zip(shapes) {
        let density = if template.mass.is_some() {
            1.0
        } else {
            placed.density
        };
        let properties = shape
            .mass_properties(density)
            .map_err(|error| error.to_string())?;
        parts.push(moved(
            &placed.pose,
            properties.mass,
            properties.center.coords,
            properties.inertia,
        ));
    }
    let mass: f64 = parts.iter().map(|part| part.0).sum();
    let com: Vector3<f64> = parts.iter().map(|(m, c, _)| c * *m).sum::<Vector3<f64>>() / mass;
    let rotational: Matrix3<f64> = parts
        .iter()
        .map(|(m, c, i)| {
            // Steiner: the inertia about the common centre.
            let r = c - com;
            i + (Matrix3::identity() * r.norm_squared() - r * r.transpose()) * *m
        })
        .sum();
    let scale = template.mass.map_or(1.0, |requested| requested / mass);
    Ok(SpatialInertia::new(mass * scale, com, rotational * scale))
}

/// Mass, centre and inertia (about the centre) seen from the frame in which their own has the pose `X`.
fn moved(
    X: &Isometry3<f64>,
    mass: f64,
    center: Vector3<f64>,
    inertia: Matrix3<f64>,
) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let R = X.rotation.to_rotation_matrix();
    (
        mass,
        X.translation.vector + R * center,
        R.matrix() * inertia * R.matrix().transpose(),
    )
}
