//! Material points: all of a scene's on one grid, one body of the world, one geometry for each object.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3};
use pliant_contact_sap::DeformableModel;
use pliant_coupling::{BodyIdx, Geometry};
use pliant_mpm::{
    MaterialPoints, MpmBuilder, MpmError, MpmSettings, ObjectSpec, ParticleSet, fill,
};

use super::Draft;
use super::directory::Owner;
use super::soft::{SoftBody, scale};
use super::solids;
use crate::recording::{Color, VisualShape};
use crate::runner::soft::{PointsObject, SoftModel};
use crate::scene::{
    GridEntry, Matter, PlacedShape, PointsEntry, SceneError, SceneFault, SoftEntry, Surface,
};

impl Draft<'_> {
    /// Adds every entry of material points, in the order of the scene.
    pub(super) fn add_points(&mut self) -> Result<(), SceneError> {
        let entries = self.scene.soft.entries.iter();
        let entries: Vec<_> = entries
            .filter_map(|entry| match &entry.matter {
                Matter::Points(points) => Some((entry, points)),
                Matter::Fem(_) | Matter::Rod(_) => None,
            })
            .collect();
        let (Some(grid), Some((first, _))) = (&self.scene.soft.grid, entries.first()) else {
            return Ok(());
        };
        let mut builder = MpmBuilder::new(settings(grid));
        for wall in &grid.walls {
            builder.wall(*wall);
        }
        let mut objects = Vec::new();
        let mut n_points = 0;
        for (entry, points) in &entries {
            let set = self.filled_shape(entry, points, grid)?;
            let particle_volume = set.particle_volume;
            let range = n_points..n_points + set.points.len();
            n_points = range.end;
            let name = entry.name.name.as_str();
            let mut object =
                ObjectSpec::new(name, Arc::clone(&points.material), points.density, set);
            object.velocity_W = entry.velocity;
            object.angular_velocity_W = entry.angular_velocity;
            object.contact_radius = points.contact_radius;
            builder.object(object);
            objects.push((range, particle_volume));
        }
        let model = builder
            .build()
            .map_err(|error| self.refused(grid.at, "grid", &error))?;
        let body = self
            .builder
            .add_body(&first.name.name, Box::new(model.clone()));
        for (part, ((entry, points), (range, volume))) in entries.iter().zip(objects).enumerate() {
            self.add_object(&model, body, part as u32, (entry, points), range, volume)?;
        }
        self.soft_starts.push((body, model.default_state()));
        Ok(())
    }

    fn add_object(
        &mut self,
        model: &MaterialPoints,
        body: BodyIdx,
        part: u32,
        (entry, points): (&SoftEntry, &PointsEntry),
        range: Range<usize>,
        particle_volume: f64,
    ) -> Result<(), SceneError> {
        let name = &entry.name.name;
        let geometry = Geometry::of_vertices(name, body, self.material(entry.surface));
        let geometry = self.add_geometry(Owner::Soft(body), geometry.of_part(part));
        let start = model.default_state();
        let object = PointsObject {
            model: model.clone(),
            range: range.clone(),
            particle_volume,
            particle_mass: points.density * particle_volume,
        };
        let mut places = Vec::new();
        object.points(&start, &mut places);
        let local: Vec<_> = places
            .iter()
            .map(|p: &Point3<f64>| entry.pose.inverse_transform_point(p).coords)
            .collect();
        let regions = self.regions(entry, &local)?;
        let index = self.directory.trees.len() + self.directory.soft.len();
        let color = entry
            .color
            .map_or(Color::palette(index), super::picture::color);
        let look = VisualShape::Points {
            radius: 0.5 * particle_volume.cbrt(),
            scale: scale(entry.shown, entry.shown_max),
        };
        self.picture.add_soft(
            name,
            self.directory.soft.len(),
            entry.shown,
            look,
            color,
            entry.shown_max,
            points.drawn_max,
        );
        let named = entry.regions.iter().zip(regions);
        self.directory.add_soft(
            name,
            SoftBody {
                body,
                geometry,
                first_vertex: range.start as u32,
                regions: named
                    .map(|(r, points)| (r.name.name.clone(), points.into()))
                    .collect(),
                start: places.into(),
                masses: object.masses(&start).into(),
                held: Arc::from([]),
                model: Arc::new(object),
            },
        );
        Ok(())
    }

    fn filled_shape(
        &mut self,
        entry: &SoftEntry,
        points: &PointsEntry,
        grid: &GridEntry,
    ) -> Result<ParticleSet, SceneError> {
        let placed = PlacedShape {
            shape: points.shape.clone(),
            at: points.at,
            pose: Isometry3::identity(),
            surface: Surface::default(),
            surface_velocity: nalgebra::Vector3::zeros(),
            color: None,
            density: 0.0,
        };
        let shape = solids::shape(self.scene, &placed, &mut self.notes)?;
        let name = &entry.name.name;
        fill(name, &shape, &entry.pose, grid.spacing, points.sampling)
            .map_err(|error| self.refused(points.at, name, &error))
    }

    fn refused(&self, at: crate::scene::Place, what: &str, error: &MpmError) -> SceneError {
        let text = format!("material points {what:?}: {error}");
        self.scene.text.error(at, SceneFault::World(text))
    }
}

fn settings(grid: &GridEntry) -> MpmSettings {
    MpmSettings {
        gradient: grid.gradient,
        rotation_target: grid.rotation_target,
        matrix: grid.matrix,
        bounds: grid.bounds,
        ..MpmSettings::new(grid.spacing)
    }
}
