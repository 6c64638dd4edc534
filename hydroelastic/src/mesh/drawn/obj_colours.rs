//! Colours of OBJ faces: `usemtl` in the OBJ file, `Kd` and `d` in its MTL file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use nalgebra::Vector3;

use super::{DrawnPart, note};
use crate::mesh::error::MeshError;
use crate::mesh::read::bytes_of;
use crate::mesh::report::{LoadReport, Severity};

/// The colour of each face of a file, in its order.
#[derive(Default)]
pub(super) struct FaceColours {
    colours: Vec<Option<[f64; 4]>>,
    /// Index into `colours` of each face; missing ones have no colour.
    of_face: Vec<u32>,
}

impl FaceColours {
    /// The triangles by colour.
    pub(super) fn split(
        &self,
        vertices: &[Vector3<f64>],
        triangles: &[[u32; 3]],
        face_of: &[u32],
    ) -> Vec<DrawnPart> {
        let mut triangles_of: BTreeMap<Option<u32>, Vec<[u32; 3]>> = BTreeMap::new();
        for (triangle, face) in triangles.iter().zip(face_of) {
            let material = self.of_face.get(*face as usize).copied();
            triangles_of.entry(material).or_default().push(*triangle);
        }
        let part = |(material, mut triangles): (Option<u32>, Vec<[u32; 3]>)| DrawnPart {
            vertices: used(vertices, &mut triangles),
            triangles,
            rgba: material.and_then(|m| self.colours[m as usize]),
        };
        triangles_of.into_iter().map(part).collect()
    }
}

/// The vertices that triangles use, which are renumbered.
fn used(vertices: &[Vector3<f64>], triangles: &mut [[u32; 3]]) -> Vec<Vector3<f64>> {
    let mut new_index = HashMap::new();
    let mut kept = Vec::new();
    for corner in triangles.iter_mut().flatten() {
        *corner = *new_index.entry(*corner).or_insert_with(|| {
            kept.push(vertices[*corner as usize]);
            kept.len() as u32 - 1
        });
    }
    kept
}

pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    report: &mut LoadReport,
) -> Result<FaceColours, MeshError> {
    let file = path.display().to_string();
    let text = String::from_utf8_lossy(bytes);
    let mut known = BTreeMap::new();
    let mut faces = FaceColours {
        colours: vec![None],
        of_face: Vec::new(),
    };
    let mut index_of = BTreeMap::new();
    let mut current = 0;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("mtllib") => {
                for name in words {
                    materials(path, name, &mut known, report)?;
                }
            }
            Some("usemtl") => {
                let name = words.next().unwrap_or_default().to_owned();
                current = *index_of.entry(name).or_insert_with_key(|name| {
                    let colour = known.get(name).copied();
                    if colour.is_none() {
                        let text = format!("material \"{name}\" is in no MTL file; without colour");
                        note(report, &file, Severity::Suspicious, text);
                    }
                    faces.colours.push(colour);
                    faces.colours.len() as u32 - 1
                });
            }
            Some("f" | "fo") => faces.of_face.push(current),
            _ => {}
        }
    }
    Ok(faces)
}

/// Adds the colours of an MTL file.
fn materials(
    obj: &Path,
    name: &str,
    known: &mut BTreeMap<String, [f64; 4]>,
    report: &mut LoadReport,
) -> Result<(), MeshError> {
    let path = obj.parent().unwrap_or(Path::new("")).join(name);
    let file = path.display().to_string();
    let is_mtl = super::extension(&path) == "mtl";
    let Some((bytes, _)) = is_mtl.then(|| bytes_of(&path).ok()).flatten() else {
        let text = format!("material file \"{name}\" was not found beside it; without colours");
        note(
            report,
            &obj.display().to_string(),
            Severity::Suspicious,
            text,
        );
        return Ok(());
    };
    let mut current = None;
    let mut textures = 0;
    for line in String::from_utf8_lossy(&bytes).lines() {
        let mut words = line.split_whitespace();
        let keyword = words.next().unwrap_or_default();
        let numbers: Vec<f64> = words.clone().map_while(|word| word.parse().ok()).collect();
        if keyword == "newmtl" {
            let name = words.next().unwrap_or_default().to_owned();
            known.insert(name.clone(), [1.0; 4]);
            current = Some(name);
            continue;
        }
        let Some(rgba) = current.as_ref().and_then(|name| known.get_mut(name)) else {
            continue;
        };
        match (keyword, &numbers[..]) {
            ("Kd", [red, green, blue, ..]) => rgba[..3].copy_from_slice(&[*red, *green, *blue]),
            ("Kd", [grey]) => rgba[..3].fill(*grey),
            ("d", [opacity, ..]) => rgba[3] = *opacity,
            ("Tr", [transparency, ..]) => rgba[3] = 1.0 - transparency,
            ("map_Kd", _) => textures += 1,
            _ => {}
        }
        rgba.iter_mut().for_each(|c| *c = c.clamp(0.0, 1.0));
    }
    if textures > 0 {
        let text = format!("{textures} textures (map_Kd); the colours Kd are shown");
        note(report, &file, Severity::Ignored, text);
    }
    Ok(())
}
