//! Frames for a page that shows a run as it goes on: each is packed by itself, since its grids cannot wait for the end.

use serde::Serialize;

use super::packing::{self, PackedContacts, PackedPatches, PackedPoints, PackedPoses};
use super::page::{drawn_vertices, html, moment, to_json};
use super::{ContactArrow, Deformed, Frame, Recording, RecordingError, ValueScale, VisualShape};

const SCRIPTS: [&str; 2] = [
    include_str!("../replay/parameters.js"),
    include_str!("../replay/live.js"),
];

/// What the page must know of a soft visual to pack its points.
struct SoftVisual {
    /// The drawn vertices of a mesh; `None`: all points.
    used: Option<Vec<u32>>,
    scale: Option<ValueScale>,
    end: ScaleEnd,
}

/// Where a colour scale ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScaleEnd {
    /// Where the scene says.
    Given,
    /// At the largest value, which is known at the end only.
    Fitted,
}

/// Packs the frames of one recording.
pub(crate) struct LivePage {
    soft: Vec<SoftVisual>,
    n_bodies: usize,
}

/// `src/replay/live.js` reads it; the members are as in the document of a replay with one frame.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LiveFrame {
    /// f64, s.
    times: String,
    poses: Vec<PackedPoses>,
    soft: Vec<LivePoints>,
    contacts: PackedContacts,
    contact_count: u32,
    patches: Option<PackedPatches>,
    moments: Option<PackedContacts>,
    /// Times of the rows since the frame before, f64, s.
    row_times: String,
    /// Their values row by row, f32.
    rows: String,
}

#[derive(Serialize)]
struct LivePoints {
    #[serde(flatten)]
    points: PackedPoints,
    /// The value that 255 stands for, where that is not the maximum of the visual's scale.
    max: Option<f64>,
}

impl LivePage {
    /// For frames of `recording`; the scales of the visuals `fitted` end at their largest value.
    pub(crate) fn new(recording: &Recording, fitted: &[usize]) -> Self {
        let visuals = recording.visuals().iter().enumerate();
        let soft = visuals.filter_map(|(index, visual)| {
            let (used, scale) = match &visual.shape {
                VisualShape::DeformingMesh {
                    triangles, scale, ..
                } => (Some(drawn_vertices(triangles).0), scale),
                VisualShape::Points { scale, .. } | VisualShape::Thread { scale, .. } => {
                    (None, scale)
                }
                VisualShape::Analytic(_) | VisualShape::Mesh { .. } => return None,
            };
            Some(SoftVisual {
                used,
                scale: scale.clone(),
                end: match fitted.contains(&index) {
                    true => ScaleEnd::Fitted,
                    false => ScaleEnd::Given,
                },
            })
        });
        Self {
            soft: soft.collect(),
            n_bodies: recording.bodies().len(),
        }
    }

    /// The page, which begins with what `recording` has.
    pub(crate) fn html(recording: &Recording) -> Result<String, RecordingError> {
        html(recording, &SCRIPTS)
    }

    /// A frame, and the rows of the table since the one before, as JSON. `rows` has the values row by row.
    pub(crate) fn frame(&self, frame: &Frame, row_times_s: &[f64], rows: &[f64]) -> String {
        let moments: Vec<ContactArrow> = frame.patch_forces.iter().map(moment).collect();
        let soft = self.soft.iter().zip(&frame.deformed);
        to_json(&LiveFrame {
            times: packing::base64_f64([frame.time_s].into_iter()),
            poses: (0..self.n_bodies)
                .map(|body| PackedPoses::pack([&frame.X_WB[body]].into_iter()))
                .collect(),
            soft: soft.map(|(visual, points)| visual.pack(points)).collect(),
            contacts: PackedContacts::pack([frame.contacts.as_slice()].into_iter()),
            contact_count: frame.contact_count(),
            patches: PackedPatches::pack([&frame.patches].into_iter()),
            moments: (!moments.is_empty())
                .then(|| PackedContacts::pack([moments.as_slice()].into_iter())),
            row_times: packing::base64_f64(row_times_s.iter().copied()),
            rows: packing::base64_f32(rows.iter().copied()),
        })
    }
}

impl SoftVisual {
    fn pack(&self, deformed: &Deformed) -> LivePoints {
        let skin = self.used.as_ref().map(|used| deformed.of_points(used));
        let shown = skin.as_ref().unwrap_or(deformed);
        let largest = shown
            .values
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let fitted = match &self.scale {
            Some(scale) if self.end == ScaleEnd::Fitted && largest > scale.min => {
                let max = largest;
                Some(ValueScale {
                    max,
                    ..scale.clone()
                })
            }
            _ => None,
        };
        let scale = fitted.as_ref().or(self.scale.as_ref());
        LivePoints {
            points: PackedPoints::pack([shown].into_iter(), scale),
            max: fitted.as_ref().map(|scale| scale.max),
        }
    }
}
