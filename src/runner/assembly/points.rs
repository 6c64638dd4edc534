//! Material points: one grid and one body of the world for all of a scene, one geometry for each object.

use std::f64::consts::PI;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::DeformableModel;
use pliant_coupling::{BodyIdx, Geometry};
use pliant_hydroelastic::{AnalyticShape, Shape};
use pliant_mpm::{
    Material, MaterialPoints, MpmBuilder, MpmError, MpmSettings, ObjectIdx, ObjectSpec,
    ParticleSet, ShaderLaw, Sink, Source, TransferScheme, WallForm, fill,
};

use super::Draft;
use super::directory::Owner;
use super::soft::{SoftBody, scale};
use super::solids;
use crate::recording::{Color, PointsLook, VisualShape};
use crate::runner::soft::{Members, PointsObject, SoftModel};
use crate::scene::budget;
use crate::scene::{
    GridEntry, Matter, PlacedShape, PointsEntry, SceneError, SceneFault, ShapeEntry, SoftEntry,
    SourceEntry, SourceLocation, Surface,
};

/// Of walls of the grid, which hide what is behind them only a little.
const WALL_COLOR: [f64; 4] = [0.62, 0.68, 0.76, 0.3];

/// Grains are drawn one by one, other materials as a surface.
fn look_of(material: &dyn Material) -> PointsLook {
    match material.shader_law() {
        Some(ShaderLaw::Sand { .. }) => PointsLook::Grains,
        _ if material.bears_shear() => PointsLook::Solid,
        _ => PointsLook::Liquid,
    }
}

impl Draft<'_> {
    /// Adds every entry of material points, in the order of the scene.
    pub(super) fn add_points(&mut self) -> Result<(), SceneError> {
        let (mut entries, mut cloths) = (Vec::new(), Vec::new());
        for entry in &self.scene.soft.entries {
            match &entry.matter {
                Matter::Points(points) => entries.push((entry, points)),
                Matter::Cloth(cloth) => cloths.push((entry, &**cloth)),
                Matter::Fem(_) | Matter::Rod(_) | Matter::Own(_) => {}
            }
        }
        let all = cloths.iter().map(|(entry, _)| *entry);
        let first = all.chain(entries.iter().map(|(entry, _)| *entry)).next();
        let (Some(grid), Some(first)) = (&self.scene.soft.grid, first) else {
            return Ok(());
        };
        let settings = match self.scene.stepper.name() {
            "asynchronous" => settings(grid),
            _ => of_implicit_steps(settings(grid)),
        };
        let mut builder = MpmBuilder::new(settings);
        for wall in &grid.walls {
            builder.wall(*wall);
            let facing = UnitQuaternion::rotation_between(&Vector3::z(), &wall.normal_W);
            // The half turn about x, where there is no shortest one.
            let half_turn = || UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI);
            self.picture.add_fixed(
                "wall of the grid",
                Isometry3::from_parts(wall.p_WQ.into(), facing.unwrap_or_else(half_turn)),
                AnalyticShape::HalfSpace {}.into(),
                Some(WALL_COLOR),
            );
        }
        for sink in &grid.sinks {
            let shape = self.finished_shape(&sink.shape, sink.at)?;
            builder.sink(Sink {
                shape,
                X_WS: sink.pose,
            });
        }
        let stay = grid.sinks.is_empty() && entries.iter().all(|(_, p)| p.sources.is_empty());
        let mut objects = Vec::new();
        let mut n_points = 0;
        // Cloths come first: their particles keep their places whatever sinks take out.
        let mut added = Vec::new();
        let first_hold = self.holds.len();
        for (entry, cloth) in &cloths {
            let so_far = (n_points, self.holds.len() - first_hold);
            let cloth = self.add_cloth(&mut builder, (entry, cloth), grid, so_far)?;
            n_points += cloth.n_particles();
            added.push(cloth);
        }
        for (number, (entry, points)) in entries.iter().enumerate() {
            let mut set = ParticleSet::default();
            if let Some(shape) = &points.shape {
                set = self.particles_in(entry, points, (shape, points.at), &entry.pose, grid)?;
            }
            for source in &points.sources {
                let of_shape = (&source.shape, source.at);
                let batch = self.particles_in(entry, points, of_shape, &source.pose, grid)?;
                if set.points.is_empty() {
                    set.particle_volume = batch.particle_volume;
                }
                builder.source(particle_source(
                    ObjectIdx(cloths.len() + number),
                    source,
                    batch,
                ));
            }
            let range = n_points..n_points + set.points.len();
            n_points = range.end;
            if n_points > budget::PARTICLES {
                let text = format!(
                    "the scene has more than {} material points so far, the most that are made; take a coarser grid or fewer copies",
                    budget::PARTICLES
                );
                let at = entry.name.at;
                return Err(self.scene.text.error(at, SceneFault::World(text)));
            }
            let members = match stay {
                true => Members::Stay(range),
                false => Members::OfObject,
            };
            let particle_volume = set.particle_volume;
            let name = entry.name.name.as_str();
            let mut object =
                ObjectSpec::new(name, Arc::clone(&points.material), points.density, set);
            object.velocity_W = entry.velocity;
            object.angular_velocity_W = entry.angular_velocity;
            object.contact_radius = points.contact_radius;
            builder.object(object);
            objects.push((members, particle_volume));
        }
        let model = builder
            .build()
            .map_err(|error| self.refused(grid.at, "grid", &error))?;
        let body = self
            .builder
            .add_body(&first.name.name, Box::new(model.clone()));
        for hold in &mut self.holds[first_hold..] {
            hold.body = body;
        }
        let n_cloths = added.len();
        for ((entry, _), cloth) in cloths.iter().zip(added) {
            self.add_cloth_object(&model, body, entry, cloth);
        }
        for (part, ((entry, points), object)) in entries.iter().zip(objects).enumerate() {
            let part = (n_cloths + part) as u32;
            self.add_object(&model, body, part, (entry, points), object)?;
        }
        self.soft_starts.push((body, model.default_state()));
        Ok(())
    }

    /// Adds one of the bodies that share the grid: contact geometry, regions, look, and its place in the directory.
    fn add_object(
        &mut self,
        model: &MaterialPoints,
        body: BodyIdx,
        part: u32,
        (entry, points): (&SoftEntry, &PointsEntry),
        (members, particle_volume): (Members, f64),
    ) -> Result<(), SceneError> {
        let points_stay = matches!(members, Members::Stay(_));
        if let (false, Some(region)) = (points_stay, entry.regions.first()) {
            let text = format!(
                "material points {:?}: a region is of particles that stay, and this scene has sources or sinks",
                entry.name.name
            );
            return Err(self
                .scene
                .text
                .error(region.name.at, SceneFault::World(text)));
        }
        let first_vertex = match &members {
            Members::Stay(range) => range.start as u32,
            Members::OfObject => 0,
        };
        let name = &entry.name.name;
        let geometry = Geometry::of_vertices(name, body, self.material(entry.surface));
        let geometry = self.add_geometry(Owner::Soft(body), entry.surface, geometry.of_part(part));
        let start = model.default_state();
        let object = PointsObject {
            model: model.clone(),
            object: ObjectIdx(part as usize),
            members,
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
        // Where only some are drawn, these stand for the others.
        let drawn_of = places.len().div_ceil(points.drawn_max).max(1) as f64;
        let look = VisualShape::Points {
            radius: 0.5 * (particle_volume * drawn_of).cbrt(),
            look: look_of(&*points.material),
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
                first_vertex,
                regions: named
                    .map(|(r, points)| (r.name.name.clone(), points.into()))
                    .collect(),
                start: places.into(),
                points_stay,
                held: Arc::from([]),
                welds: Vec::new(),
                model: Arc::new(object),
            },
        );
        Ok(())
    }

    /// Particles that fill a shape with the pose `X_WS`, at the spacing of the grid.
    fn particles_in(
        &mut self,
        entry: &SoftEntry,
        points: &PointsEntry,
        (shape, at): (&ShapeEntry, SourceLocation),
        X_WS: &Isometry3<f64>,
        grid: &GridEntry,
    ) -> Result<ParticleSet, SceneError> {
        let shape = self.finished_shape(shape, at)?;
        let name = &entry.name.name;
        fill(name, &shape, X_WS, grid.spacing, points.sampling)
            .map_err(|error| self.refused(at, name, &error))
    }

    /// The shape with its file read and checked.
    fn finished_shape(
        &mut self,
        shape: &ShapeEntry,
        at: SourceLocation,
    ) -> Result<Shape, SceneError> {
        let placed = PlacedShape {
            shape: shape.clone(),
            at,
            pose: Isometry3::identity(),
            surface: Surface::default(),
            surface_velocity: Vector3::zeros(),
            visual: None,
            color: None,
            density: 0.0,
        };
        solids::shape(self.scene, &placed, &mut self.notes)
    }

    fn refused(&self, at: SourceLocation, what: &str, error: &MpmError) -> SceneError {
        let text = format!("material points {what:?}: {error}");
        self.scene.text.error(at, SceneFault::World(text))
    }
}

/// The settings of the grid that a scene gives; others have their defaults.
fn settings(grid: &GridEntry) -> MpmSettings {
    MpmSettings {
        gradient: grid.gradient,
        transfer: grid.transfer,
        walls: grid.wall_form,
        rotation_target: grid.rotation_target,
        matrix: grid.matrix,
        bounds: grid.bounds,
        ..MpmSettings::new(grid.spacing)
    }
}

/// Settings whose automatic choices suit every solver: steps with mirrored walls have no assembled matrix, and what affine FLIP keeps of
/// long steps is noise.
fn of_implicit_steps(mut settings: MpmSettings) -> MpmSettings {
    if settings.walls == WallForm::Automatic {
        settings.walls = WallForm::Held;
    }
    if settings.transfer == TransferScheme::Automatic {
        settings.transfer = TransferScheme::Apic;
    }
    settings
}

/// Fills that follow each other at the rate of `source`.
fn particle_source(object: ObjectIdx, source: &SourceEntry, batch: ParticleSet) -> Source {
    let speed = source.velocity.norm();
    let along = |p: &Point3<f64>| p.coords.dot(&source.velocity) / speed;
    let low = batch.points.iter().map(along).fold(f64::INFINITY, f64::min);
    let high = batch
        .points
        .iter()
        .map(along)
        .fold(f64::NEG_INFINITY, f64::max);
    let passing_s = (high - low + batch.spacing()) / speed;
    let interval_s = source.every_s.unwrap_or(passing_s);
    let batches = source.until_s.map_or(u32::MAX, |until| {
        // A fill at the very end counts, regardless of round-off.
        let last = ((until - source.from_s) / interval_s + 1e-9).floor();
        last.min(f64::from(u32::MAX - 1)) as u32 + 1
    });
    Source {
        object,
        points: batch.points,
        velocity_W: source.velocity,
        start_s: source.from_s,
        interval_s,
        batches,
    }
}
