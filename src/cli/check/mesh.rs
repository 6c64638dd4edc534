//! What a mesh file holds: tetrahedra if there are any, otherwise the surface of a solid, otherwise a sheet.

use pliant_hydroelastic::mesh::{
    Bounds, LoadReport, MeshError, SurfaceOptions, SurfaceUse, TetOptions, surface_from_bytes,
    tets_from_bytes,
};
use serde::Serialize;

use crate::cli::Failure;
use crate::cli::notes::Notes;
use crate::cli::output::number;

use super::{Report, counted};

/// The content of a mesh.
#[derive(Serialize)]
struct Content {
    mesh: &'static str,
    vertices: usize,
    tetrahedra: usize,
    triangles: usize,
    components: usize,
    volume_m3: Option<f64>,
    area_m2: Option<f64>,
    min_m: [f64; 3],
    max_m: [f64; 3],
}

pub(super) fn report(name: &str, bytes: &[u8], scale: f64) -> Result<Report, Failure> {
    let tets = TetOptions {
        scale: nalgebra::Vector3::repeat(scale),
        ..TetOptions::default()
    };
    let surface = SurfaceOptions {
        scale: nalgebra::Vector3::repeat(scale),
        ..SurfaceOptions::default()
    };
    let as_tets = match tets_from_bytes(bytes, name, &tets) {
        Ok((mesh, report)) => {
            let Bounds { min, max } = mesh.bounds();
            let content = Content {
                mesh: "tetrahedra",
                vertices: mesh.vertices().len(),
                tetrahedra: mesh.tets().len(),
                triangles: 0,
                components: mesh.component_count(),
                volume_m3: Some(mesh.solid_moments().volume),
                area_m2: None,
                min_m: min.into(),
                max_m: max.into(),
            };
            return content.report(name, &remarks(&report));
        }
        Err(error) => error,
    };
    let mut notes = Vec::new();
    let (mesh, report, kind) = match surface_from_bytes(bytes, name, SurfaceUse::Solid, &surface) {
        Ok((mesh, report)) => (mesh, report, "closed surface"),
        Err(as_solid) => match surface_from_bytes(bytes, name, SurfaceUse::Cloth, &surface) {
            Ok((mesh, report)) => {
                notes.push(format!("not the surface of a solid: {as_solid}"));
                (mesh, report, "open surface")
            }
            // The file has no surface: report what is wrong with its tetrahedra.
            Err(MeshError::Unsupported(_)) => return Err(as_tets.into()),
            // The error as a sheet is the more severe one.
            Err(as_sheet) => return Err(as_sheet.into()),
        },
    };
    notes.extend(remarks(&report));
    let moments = mesh.solid_moments().filter(|_| mesh.is_closed());
    let Bounds { min, max } = mesh.bounds();
    let content = Content {
        mesh: kind,
        vertices: mesh.vertices().len(),
        tetrahedra: 0,
        triangles: mesh.triangles().len(),
        components: mesh.component_count(),
        volume_m3: moments.map(|m| m.volume),
        area_m2: Some(mesh.area()),
        min_m: min.into(),
        max_m: max.into(),
    };
    content.report(name, &notes)
}

fn remarks(report: &LoadReport) -> Vec<String> {
    report.entries.iter().map(ToString::to_string).collect()
}

impl Content {
    fn report(&self, name: &str, notes: &[String]) -> Result<Report, Failure> {
        Report::new("mesh", name, self, Notes::of(notes), self.text(name))
    }

    fn text(&self, name: &str) -> String {
        let elements = match self.tetrahedra {
            0 => format!(
                "{} of {}",
                self.mesh,
                counted(self.triangles, "triangle", "triangles")
            ),
            n => counted(n, "tetrahedron", "tetrahedra"),
        };
        let measures = [
            ("volume", self.volume_m3, "m3"),
            ("area", self.area_m2, "m2"),
        ];
        let measures: String = (measures.iter())
            .filter_map(|(what, value, unit)| {
                Some(format!(", {what} {} {unit}", number((*value)?)))
            })
            .collect();
        // Size and number of parts reveal a wrong unit or a missing part.
        let size: Vec<String> = (self.min_m.iter().zip(&self.max_m))
            .map(|(min, max)| number(max - min))
            .collect();
        let mut text = format!(
            "{name}: {elements}\n  {}, {}{measures}\n  size {} m\n",
            counted(self.vertices, "vertex", "vertices"),
            counted(self.components, "component", "components"),
            size.join(" x ")
        );
        for (axis, (min, max)) in "xyz".chars().zip(self.min_m.iter().zip(&self.max_m)) {
            text += &format!("  {axis} from {} to {} m\n", number(*min), number(*max));
        }
        text
    }
}
