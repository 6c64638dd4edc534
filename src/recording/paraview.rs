//! The frames as VTU files that a PVD file lists over time, for ParaView.
//!
//! Every frame has up to six parts: surfaces (all bodies as triangles, in the world frame), contacts (points with their
//! force), particles, threads, solids (what deforms as tetrahedra), and patches (polygons with their pressure). A part that no
//! frame needs is left out.

mod surface;

use std::path::{Path, PathBuf};

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::mesh::{
    MeshError, PvdSeries, VtuArray, VtuCells, VtuEncoding, VtuFile, VtuValues,
};

use super::output::whole_file;
use super::{
    Anchor, Deformed, Frame, ParticleStates, Recording, RecordingError, ThreadEnds, VisualShape,
};
pub(super) use surface::Surface;

pub(super) fn write(recording: &Recording, folder: &Path) -> Result<PathBuf, RecordingError> {
    if recording.frames().is_empty() {
        return Err(RecordingError::NoFrames {
            title: recording.title().to_owned(),
        });
    }
    let files = folder.join("vtu");
    std::fs::create_dir_all(&files).map_err(|source| RecordingError::write(&files, source))?;
    // Half the edge of the square that stands for a half space: twice as far as any body's frame or soft point gets.
    let reach = 2.0 * recording.extent.reach.max(0.5);
    let surfaces = recording
        .visuals()
        .iter()
        .map(|visual| {
            Surface::of(&visual.shape, reach).map_err(|error| RecordingError::Shape {
                visual: visual.name.clone(),
                reason: error.to_string(),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;

    let mut series = PvdSeries::default();
    let mut index = 0;
    recording.frames().each(|frame| {
        let mut put = |part: u32, name: &str, piece: Piece| -> Result<(), RecordingError> {
            let file = format!("{name}_{index:05}.vtu");
            piece.write(&files.join(&file))?;
            series.add(frame.time_s, part, &format!("vtu/{file}"));
            Ok(())
        };
        if recording
            .visuals()
            .iter()
            .any(|visual| is_surface(&visual.shape))
        {
            put(0, "surfaces", Piece::surfaces(recording, &surfaces, frame))?;
        }
        if recording.extent.contacts.any {
            put(1, "contacts", Piece::contacts(frame))?;
        }
        if recording
            .visuals()
            .iter()
            .any(|visual| matches!(visual.shape, VisualShape::Points { .. }))
        {
            put(2, "particles", Piece::particles(recording, frame))?;
        }
        if recording
            .visuals()
            .iter()
            .any(|visual| matches!(visual.shape, VisualShape::Thread { .. }))
        {
            put(3, "threads", Piece::threads(recording, frame))?;
        }
        if recording
            .visuals()
            .iter()
            .any(|visual| !tetrahedra(&visual.shape).is_empty())
        {
            put(4, "solids", Piece::solids(recording, frame))?;
        }
        if recording.extent.patches.any {
            put(5, "patches", Piece::patches(frame))?;
        }
        index += 1;
        Ok(())
    })?;
    let list = folder.join("replay.pvd");
    whole_file(&list, |file| {
        series.write(file).map_err(|error| refused(&list, error))
    })?;
    Ok(list)
}

fn refused(path: &Path, error: MeshError) -> RecordingError {
    RecordingError::write(path, std::io::Error::other(error))
}

fn is_surface(shape: &VisualShape) -> bool {
    !matches!(
        shape,
        VisualShape::Points { .. } | VisualShape::Thread { .. }
    ) && tetrahedra(shape).is_empty()
}

/// What fills a shape that deforms.
fn tetrahedra(shape: &VisualShape) -> &[[u32; 4]] {
    match shape {
        VisualShape::DeformingMesh { tetrahedra, .. } => tetrahedra,
        _ => &[],
    }
}

enum Cells {
    Vertices,
    Lines(Vec<[u32; 2]>),
    Triangles(Vec<[u32; 3]>),
    Tetrahedra(Vec<[u32; 4]>),
    /// Corners of each polygon.
    Polygons(Vec<u32>),
}

/// The content of one file.
struct Piece {
    points: Vec<Vector3<f64>>,
    cells: Cells,
    data: PointData,
}

/// What is known at each point.
enum PointData {
    Visuals {
        /// The visual that each point belongs to, as its number in the recording.
        visual_idx: Vec<i64>,
        /// The recorded value, NaN where there is none.
        values: Vec<f64>,
        /// Of particles, where all have them.
        states: Option<ParticleStates>,
    },
    /// At contacts, N.
    Forces(Vec<Vector3<f64>>),
    /// In patches, Pa.
    Pressures(Vec<f64>),
}

impl Piece {
    fn empty(cells: Cells) -> Self {
        Self {
            points: vec![],
            cells,
            data: PointData::Visuals {
                visual_idx: vec![],
                values: vec![],
                states: None,
            },
        }
    }

    fn add_points(
        &mut self,
        visual_idx: usize,
        points: impl Iterator<Item = Vector3<f64>>,
        values: &[f64],
    ) {
        let first = self.points.len();
        self.points.extend(points);
        let n = self.points.len();
        debug_assert!(
            values.is_empty() || values.len() == n - first,
            "one value for each point"
        );
        if let PointData::Visuals {
            visual_idx: of,
            values: all,
            ..
        } = &mut self.data
        {
            of.resize(n, visual_idx as i64);
            all.extend_from_slice(values);
            all.resize(n, f64::NAN);
        }
    }

    fn surfaces(recording: &Recording, surfaces: &[Surface], frame: &Frame) -> Self {
        let mut piece = Self::empty(Cells::Vertices);
        let mut triangles = Vec::new();
        for_each_visual(recording, frame, |index, pose, soft| {
            let shape = &recording.visuals()[index].shape;
            if !is_surface(shape) {
                return;
            }
            let first = piece.points.len() as u32;
            triangles.extend(
                surfaces[index]
                    .triangles
                    .iter()
                    .map(|corners| corners.map(|corner| first + corner)),
            );
            match soft {
                Some(soft) => {
                    piece.add_points(index, soft.points.iter().map(|p| p.coords), &soft.values)
                }
                None => {
                    let vertices = surfaces[index].vertices.iter();
                    piece.add_points(
                        index,
                        vertices.map(|v| pose.rotation * v + pose.translation.vector),
                        &[],
                    );
                }
            }
        });
        piece.cells = Cells::Triangles(triangles);
        piece
    }

    fn solids(recording: &Recording, frame: &Frame) -> Self {
        let mut piece = Self::empty(Cells::Vertices);
        let mut cells = Vec::new();
        for_each_visual(recording, frame, |index, _, soft| {
            let tets = tetrahedra(&recording.visuals()[index].shape);
            let (Some(soft), false) = (soft, tets.is_empty()) else {
                return;
            };
            let first = piece.points.len() as u32;
            cells.extend(tets.iter().map(|tet| tet.map(|corner| first + corner)));
            piece.add_points(index, soft.points.iter().map(|p| p.coords), &soft.values);
        });
        piece.cells = Cells::Tetrahedra(cells);
        piece
    }

    fn threads(recording: &Recording, frame: &Frame) -> Self {
        let mut piece = Self::empty(Cells::Vertices);
        let mut lines = Vec::new();
        for_each_visual(recording, frame, |index, _, soft| {
            let shape = &recording.visuals()[index].shape;
            let (Some(soft), VisualShape::Thread { ends, .. }) = (soft, shape) else {
                return;
            };
            let (first, n) = (piece.points.len() as u32, soft.points.len() as u32);
            lines.extend((1..n).map(|i| [first + i - 1, first + i]));
            if *ends == ThreadEnds::Joined && n > 2 {
                lines.push([first + n - 1, first]);
            }
            piece.add_points(index, soft.points.iter().map(|p| p.coords), &soft.values);
        });
        piece.cells = Cells::Lines(lines);
        piece
    }

    fn particles(recording: &Recording, frame: &Frame) -> Self {
        let mut piece = Self::empty(Cells::Vertices);
        let mut all = Some(ParticleStates::default());
        for_each_visual(recording, frame, |index, _, soft| {
            let shape = &recording.visuals()[index].shape;
            let (Some(soft), VisualShape::Points { .. }) = (soft, shape) else {
                return;
            };
            piece.add_points(index, soft.points.iter().map(|p| p.coords), &soft.values);
            match (&mut all, &soft.states) {
                (Some(all), Some(states)) => all.extend(states),
                _ => all = None,
            }
        });
        if let PointData::Visuals { states, .. } = &mut piece.data {
            *states = all;
        }
        piece
    }

    fn contacts(frame: &Frame) -> Self {
        let contacts = frame.contacts.iter();
        Self {
            points: contacts
                .clone()
                .map(|contact| contact.p_WC.coords)
                .collect(),
            cells: Cells::Vertices,
            data: PointData::Forces(contacts.map(|contact| contact.f_W).collect()),
        }
    }

    fn patches(frame: &Frame) -> Self {
        let patches = &frame.patches;
        Self {
            points: patches.points().iter().map(|point| point.coords).collect(),
            cells: Cells::Polygons(patches.counts().to_vec()),
            data: PointData::Pressures(patches.pressures().to_vec()),
        }
    }

    fn write(&self, path: &Path) -> Result<(), RecordingError> {
        let array = |name, values| VtuArray { name, values };
        let (mut ids, mut bodies) = (Vec::new(), Vec::new());
        let point_data = match &self.data {
            PointData::Forces(forces) => vec![array("force", VtuValues::Vectors(forces))],
            PointData::Pressures(pressures) => {
                vec![array("pressure", VtuValues::Scalars(pressures))]
            }
            PointData::Visuals {
                visual_idx,
                values,
                states,
            } => {
                if let Some(states) = states {
                    ids = states.ids.iter().map(|id| i64::from(*id)).collect();
                    bodies = states.bodies.iter().map(|body| i64::from(*body)).collect();
                }
                let states = states.iter().flat_map(|states| {
                    [
                        array("id", VtuValues::Integers(&ids)),
                        array("body", VtuValues::Integers(&bodies)),
                        array("velocity", VtuValues::Vectors(&states.velocities)),
                        array("mass", VtuValues::Scalars(&states.masses)),
                        array("volume", VtuValues::Scalars(&states.volumes)),
                        array(
                            "deformation_gradient",
                            VtuValues::Matrices(&states.deformation_gradients),
                        ),
                        array(
                            "plastic_strain",
                            VtuValues::Scalars(&states.plastic_strains),
                        ),
                    ]
                });
                let visual = array("visual", VtuValues::Integers(visual_idx));
                let value = array("value", VtuValues::Scalars(values));
                [visual, value].into_iter().chain(states).collect()
            }
        };
        let content = VtuFile {
            points: &self.points,
            cells: match &self.cells {
                Cells::Vertices => VtuCells::Vertices,
                Cells::Lines(lines) => VtuCells::Lines(lines),
                Cells::Triangles(triangles) => VtuCells::Triangles(triangles),
                Cells::Tetrahedra(cells) => VtuCells::Tets(cells),
                Cells::Polygons(counts) => VtuCells::Polygons(counts),
            },
            point_data,
            cell_data: vec![],
        };
        whole_file(path, |file| {
            content
                .write(file, VtuEncoding::Base64)
                .map_err(|error| refused(path, error))
        })
    }
}

/// Calls `visit` with each visual's number, its pose in the world, and its points if it deforms.
fn for_each_visual(
    recording: &Recording,
    frame: &Frame,
    mut visit: impl FnMut(usize, Isometry3<f64>, Option<&Deformed>),
) {
    let mut soft = frame.deformed.iter();
    for (index, visual) in recording.visuals().iter().enumerate() {
        let pose = match visual.anchor {
            Anchor::World => visual.X_BG,
            Anchor::Body(body) => frame.X_WB[body.0] * visual.X_BG,
        };
        let points = if visual.shape.deforms() {
            soft.next()
        } else {
            None
        };
        visit(index, pose, points);
    }
}

#[cfg(test)]
mod tests;
