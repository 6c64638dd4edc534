//! Cloths on the grid of the material points.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::DeformableModel;
use pliant_coupling::{BodyIdx, Geometry};
use pliant_hydroelastic::mesh::{
    Degenerate, SurfaceOptions, SurfaceUse, generate, surface_from_bytes,
};
use pliant_mpm::{ClothMesh, ClothSpec, MaterialPoints, MpmBuilder, ObjectIdx};

use super::Draft;
use super::directory::Owner;
use super::soft::{SoftBody, scale};
use crate::recording::{Color, VisualShape};
use crate::runner::soft::{ClothObject, SoftModel};
use crate::scene::{ClothEntry, ClothShape, GridEntry, SceneError, SceneFault, SoftEntry, Track};

/// A cloth that has been added to a model: what its part of the world is made from.
pub(super) struct AddedCloth {
    object: ObjectIdx,
    spec: ClothSpec,
    /// Index of its first vertex among the particles.
    first: usize,
    regions: Vec<Vec<u32>>,
}

impl AddedCloth {
    /// Number of its particles: vertices and centroids.
    pub(super) fn n_particles(&self) -> usize {
        let surface = self.spec.mesh.surface();
        surface.vertices().len() + surface.triangles().len()
    }
}

/// Vertices of a cloth that are held between two times.
pub(crate) struct Hold {
    pub(crate) body: BodyIdx,
    /// Number of the held set of the model.
    pub(crate) set: usize,
    pub(crate) from_s: f64,
    pub(crate) until_s: f64,
    /// Offset over time, m.
    pub(crate) path: Option<Track>,
}

impl Draft<'_> {
    /// Adds a cloth to the model, with its held vertices as sets. `first` is the number of particles so far, `sets` that of sets.
    pub(super) fn add_cloth(
        &mut self,
        builder: &mut MpmBuilder,
        (entry, cloth): (&SoftEntry, &ClothEntry),
        grid: &GridEntry,
        (first, sets): (usize, usize),
    ) -> Result<AddedCloth, SceneError> {
        let name = entry.name.name.as_str();
        let mesh = self.cloth_mesh(entry, cloth, grid)?;
        let regions = self.regions(entry, mesh.surface().vertices())?;
        let mut spec = ClothSpec::new(name, mesh, cloth.material);
        spec.contact_radius = cloth.contact_radius;
        let place = |p: &mut Vector3<f64>| *p = (entry.pose * nalgebra::Point3::from(*p)).coords;
        spec.positions.iter_mut().for_each(place);
        spec.velocity_W = entry.velocity;
        for (k, held) in cloth.held.iter().enumerate() {
            let members = regions[held.region].iter().map(|v| first as u32 + v);
            builder.grip(format!("{name}, held set {k}"), members.collect());
            self.holds.push(Hold {
                // The body is added after all of its objects.
                body: BodyIdx(usize::MAX),
                set: sets + k,
                from_s: held.from_s,
                until_s: held.until_s,
                path: held.path.clone(),
            });
        }
        Ok(AddedCloth {
            object: builder.cloth(spec.clone()),
            spec,
            first,
            regions,
        })
    }

    fn cloth_mesh(
        &mut self,
        entry: &SoftEntry,
        cloth: &ClothEntry,
        grid: &GridEntry,
    ) -> Result<ClothMesh, SceneError> {
        let name = &entry.name.name;
        let refused = |error: &dyn std::fmt::Display| {
            let text = format!("cloth {name:?}: {error}");
            self.scene.text.error(cloth.at, SceneFault::World(text))
        };
        let surface = match &cloth.mesh {
            ClothShape::Sheet { size, cells } => {
                generate::sheet(*size, *cells).map_err(|error| refused(&error))?
            }
            ClothShape::StaggeredSheet { size, edge } => {
                generate::staggered_sheet(*size, *edge).map_err(|error| refused(&error))?
            }
            ClothShape::Disc { radius, edge } => {
                generate::disc(*radius, *edge).map_err(|error| refused(&error))?
            }
            ClothShape::Shirt(measures) => {
                generate::shirt(measures).map_err(|error| refused(&error))?
            }
            ClothShape::Surface { file, scale } => {
                let (bytes, path) = self.scene.open(file)?;
                let options = SurfaceOptions {
                    degenerate: Degenerate::Refuse,
                    scale: Vector3::repeat(*scale),
                    ..SurfaceOptions::default()
                };
                let path = path.display().to_string();
                let read = surface_from_bytes(&bytes, &path, SurfaceUse::Cloth, &options);
                let (surface, report) = read.map_err(|error| {
                    let fault = SceneFault::File(error.to_string());
                    self.scene.text.error(file.at, fault)
                })?;
                let entries = report.entries.iter();
                self.notes
                    .extend(entries.map(|e| format!("cloth {name:?}: {e}")));
                surface
            }
        };
        let made = ClothMesh::new(name, surface, grid.spacing);
        let (mesh, report) = made.map_err(|error| {
            let text = format!("cloth: {error}");
            self.scene.text.error(cloth.at, SceneFault::World(text))
        })?;
        let entries = report.entries.iter();
        self.notes
            .extend(entries.map(|e| format!("cloth {name:?}: {e}")));
        Ok(mesh)
    }

    /// Geometry, picture and directory entry of a cloth.
    pub(super) fn add_cloth_object(
        &mut self,
        model: &MaterialPoints,
        body: BodyIdx,
        entry: &SoftEntry,
        added: AddedCloth,
    ) {
        let AddedCloth {
            object,
            spec,
            first,
            regions,
        } = added;
        let name = &entry.name.name;
        let geometry = Geometry::of_vertices(name, body, self.material(entry.surface));
        let geometry = self.add_geometry(
            Owner::Soft(body),
            entry.surface,
            geometry.of_part(object.0 as u32),
        );
        let surface = spec.mesh.surface();
        let n = surface.vertices().len();
        let mut masses = vec![0.0; n];
        for (corners, area) in surface.raw_triangles().zip(spec.mesh.areas()) {
            let third = area * spec.material.areal_density() / 3.0;
            corners.iter().for_each(|v| masses[*v as usize] += third);
        }
        let soft = ClothObject {
            model: model.clone(),
            object,
            vertices: first..first + n,
            triangles: surface.raw_triangles().collect(),
            masses,
            volume: spec.mesh.areas().sum::<f64>() * spec.material.thickness(),
        };
        let mut points = Vec::new();
        soft.points(&model.default_state(), &mut points);
        let index = self.directory.trees.len() + self.directory.soft.len();
        let color = entry
            .color
            .map_or(Color::palette(index), super::picture::color);
        let look = VisualShape::DeformingMesh {
            n_vertices: n as u32,
            triangles: surface.raw_triangles().collect(),
            tetrahedra: Vec::new(),
            scale: scale(entry.shown, entry.shown_max),
        };
        self.picture.add_soft(
            name,
            self.directory.soft.len(),
            entry.shown,
            look,
            color,
            entry.shown_max,
            usize::MAX,
        );
        let named = entry.regions.iter().zip(regions);
        self.directory.add_soft(
            name,
            SoftBody {
                body,
                geometry,
                first_vertex: first as u32,
                regions: named
                    .map(|(r, points)| (r.name.name.clone(), points.into()))
                    .collect(),
                start: points.into(),
                points_stay: true,
                held: Arc::from([]),
                welds: Vec::new(),
                model: Arc::new(soft),
            },
        );
    }
}
