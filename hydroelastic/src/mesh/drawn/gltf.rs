//! glTF 2.0, as JSON with files beside it or embedded data, and as GLB.

use std::path::Path;

use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

use super::{DEPTH_MAX, DrawnPart, TRIANGLES_MAX, fault, note};
use crate::mesh::base64;
use crate::mesh::error::MeshError;
use crate::mesh::report::{LoadReport, Severity};

const REMEDY: &str = "Export the mesh again as glTF 2.0 without compression";

/// A document with its binary data.
struct Document<'a> {
    json: Value,
    buffers: Vec<Vec<u8>>,
    file: &'a str,
}

pub(super) fn parse(
    bytes: &[u8],
    path: &Path,
    report: &mut LoadReport,
) -> Result<Vec<DrawnPart>, MeshError> {
    let file = &*path.display().to_string();
    let (text, binary) = match bytes.starts_with(b"glTF") {
        true => chunks(bytes, file)?,
        false => (bytes, None),
    };
    let json: Value = serde_json::from_slice(text)
        .map_err(|error| fault(file, format!("its JSON is not valid: {error}"), REMEDY))?;
    if let Some(required) = json["extensionsRequired"].as_array()
        && let Some(name) = required.iter().filter_map(Value::as_str).next()
    {
        let what = format!("needs the extension {name}, which is not supported");
        return Err(fault(file, what, REMEDY));
    }
    let mut document = Document {
        json,
        buffers: Vec::new(),
        file,
    };
    document.read_buffers(path, binary)?;
    if !items(&document.json["textures"]).is_empty() {
        let text = "textures; the base colours of the materials are shown";
        note(report, file, Severity::Ignored, text);
    }
    // y is up in the file: it becomes z, and z becomes −y.
    #[rustfmt::skip]
    let turn = Matrix4::new(
        1.0, 0.0, 0.0, 0.0,
        0.0, 0.0, -1.0, 0.0,
        0.0, 1.0, 0.0, 0.0,
        0.0, 0.0, 0.0, 1.0,
    );
    let mut parts = Vec::new();
    let scene = index(&document.json["scene"]).unwrap_or(0);
    for node in items(&document.json["scenes"][scene]["nodes"]) {
        document.node(node, &turn, 0, &mut parts)?;
    }
    Ok(parts)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |array| array)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().map(|index| index as usize)
}

/// The JSON and binary chunks of a GLB file.
fn chunks<'a>(bytes: &'a [u8], file: &str) -> Result<(&'a [u8], Option<&'a [u8]>), MeshError> {
    let short = || fault(file, "ends within a chunk", REMEDY);
    let word = |at: usize| -> Result<usize, MeshError> {
        let four = bytes.get(at..at + 4).ok_or_else(short)?;
        Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
    };
    if word(4)? != 2 {
        let what = format!("has version {} of GLB, but 2 is supported", word(4)?);
        return Err(fault(file, what, REMEDY));
    }
    let length = word(12)?;
    let text = bytes.get(20..20 + length).ok_or_else(short)?;
    let next = 20 + length;
    if bytes.len() < next + 8 {
        return Ok((text, None));
    }
    let binary = bytes.get(next + 8..next + 8 + word(next)?);
    Ok((text, Some(binary.ok_or_else(short)?)))
}

impl Document<'_> {
    fn read_buffers(&mut self, path: &Path, binary: Option<&[u8]>) -> Result<(), MeshError> {
        for buffer in items(&self.json["buffers"]) {
            let data = match (buffer["uri"].as_str(), binary) {
                (None, Some(binary)) => binary.to_vec(),
                (None, None) => return Err(fault(self.file, "has a buffer without data", REMEDY)),
                (Some(uri), _) if uri.starts_with("data:") => {
                    let encoded = uri.split_once(";base64,").map(|(_, data)| data);
                    let decoded = encoded.and_then(|data| base64::decode(data.as_bytes()).ok());
                    decoded.ok_or_else(|| fault(self.file, "has data that is no base64", REMEDY))?
                }
                (Some(uri), _) => {
                    let beside = path.parent().unwrap_or(Path::new("")).join(uri);
                    if super::extension(&beside) != "bin" {
                        let what = format!("has its data in {uri:?}, which is no .bin file");
                        return Err(fault(self.file, what, REMEDY));
                    }
                    std::fs::read(&beside).map_err(|source| MeshError::Unreadable {
                        file: beside.display().to_string(),
                        source,
                    })?
                }
            };
            self.buffers.push(data);
        }
        Ok(())
    }

    fn node(
        &self,
        node: &Value,
        X_SP: &Matrix4<f64>,
        depth: usize,
        parts: &mut Vec<DrawnPart>,
    ) -> Result<(), MeshError> {
        let node = &self.json["nodes"][index(node).unwrap_or(usize::MAX)];
        let n: usize = parts.iter().map(|part| part.triangles.len()).sum();
        if depth > DEPTH_MAX || n > TRIANGLES_MAX {
            return Err(fault(self.file, "has too many nested nodes", REMEDY));
        }
        let X_SN = X_SP * transform(node);
        if let Some(mesh) = index(&node["mesh"]) {
            for primitive in items(&self.json["meshes"][mesh]["primitives"]) {
                if let Some(part) = self.primitive(primitive)? {
                    parts.push(part.placed(&X_SN));
                }
            }
        }
        for child in items(&node["children"]) {
            self.node(child, &X_SN, depth + 1, parts)?;
        }
        Ok(())
    }

    /// The triangles of a primitive; `None` for points and lines.
    fn primitive(&self, primitive: &Value) -> Result<Option<DrawnPart>, MeshError> {
        let mode = primitive["mode"].as_u64().unwrap_or(4);
        if mode < 4 {
            return Ok(None);
        }
        let positions = self.accessor(&primitive["attributes"]["POSITION"], 3)?;
        let vertices: Vec<Vector3<f64>> = positions
            .chunks_exact(3)
            .map(Vector3::from_column_slice)
            .collect();
        let corners: Vec<u32> = match primitive["indices"].is_null() {
            true => (0..vertices.len() as u32).collect(),
            false => {
                let numbers = self.accessor(&primitive["indices"], 1)?;
                numbers.iter().map(|x| *x as u32).collect()
            }
        };
        let triangles = match mode {
            4 => corners
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
            5 => (corners.windows(3).enumerate())
                .map(|(k, c)| [[c[0], c[1], c[2]], [c[1], c[0], c[2]]][k % 2])
                .collect(),
            _ => (corners.windows(2).skip(1))
                .map(|c| [corners[0], c[0], c[1]])
                .collect(),
        };
        Ok(Some(DrawnPart {
            vertices,
            triangles,
            rgba: self.colour(&primitive["material"]),
        }))
    }

    fn colour(&self, material: &Value) -> Option<[f64; 4]> {
        let material = &self.json["materials"][index(material)?];
        let factor = &material["pbrMetallicRoughness"]["baseColorFactor"];
        let mut rgba = [1.0; 4];
        for (c, value) in rgba.iter_mut().zip(items(factor)) {
            *c = value.as_f64().unwrap_or(1.0).clamp(0.0, 1.0);
        }
        // The factors are linear.
        rgba[..3].iter_mut().for_each(|c| *c = srgb(*c));
        if material["alphaMode"].as_str().unwrap_or("OPAQUE") == "OPAQUE" {
            rgba[3] = 1.0;
        }
        Some(rgba)
    }

    /// The numbers of an accessor, `n` per element.
    fn accessor(&self, accessor: &Value, n: usize) -> Result<Vec<f64>, MeshError> {
        let bad = |what: &str| fault(self.file, format!("has an accessor {what}"), REMEDY);
        let accessor = index(accessor).map(|at| &self.json["accessors"][at]);
        let accessor = accessor.ok_or_else(|| bad("that is missing"))?;
        if !accessor["sparse"].is_null() {
            return Err(bad("with sparse values, which are not supported"));
        }
        let kinds = ["SCALAR", "VEC2", "VEC3"];
        if accessor["type"].as_str() != Some(kinds[n - 1]) {
            return Err(bad("of the wrong type"));
        }
        let view = index(&accessor["bufferView"]).map(|at| &self.json["bufferViews"][at]);
        let view = view.ok_or_else(|| bad("without data"))?;
        let buffer = self
            .buffers
            .get(index(&view["buffer"]).unwrap_or(usize::MAX));
        let buffer = buffer.ok_or_else(|| bad("without a buffer"))?;
        let kind = accessor["componentType"].as_u64().unwrap_or(0);
        let size = match kind {
            5121 => 1,
            5123 => 2,
            5125 | 5126 => 4,
            _ => return Err(bad("whose numbers are not supported")),
        };
        let at = |value: &Value| index(value).unwrap_or(0);
        let start = at(&view["byteOffset"]).saturating_add(at(&accessor["byteOffset"]));
        let stride = index(&view["byteStride"]).unwrap_or(size * n);
        let count = at(&accessor["count"]);
        if count.saturating_mul(size) > buffer.len().saturating_mul(4) {
            return Err(bad("beyond the end of its data"));
        }
        let mut numbers = Vec::with_capacity(count * n);
        for k in 0..count * n {
            let byte = start.saturating_add((k / n).saturating_mul(stride)) + (k % n) * size;
            let bytes = buffer.get(byte..byte.saturating_add(size));
            let bytes = bytes.ok_or_else(|| bad("beyond the end of its data"))?;
            numbers.push(match (kind, bytes) {
                (5126, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
                (_, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
                (_, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
                (_, bytes) => f64::from(bytes[0]),
            });
        }
        Ok(numbers)
    }
}

/// The pose of a node in its parent: a matrix, or translation, rotation and scale.
fn transform(node: &Value) -> Matrix4<f64> {
    let numbers =
        |key: &str| -> Vec<f64> { items(&node[key]).iter().filter_map(Value::as_f64).collect() };
    if let matrix @ [_, ..] = &*numbers("matrix")
        && matrix.len() == 16
    {
        return Matrix4::from_column_slice(matrix);
    }
    let mut transform = Matrix4::identity();
    if let &[x, y, z, w] = &*numbers("rotation") {
        let rotation = UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z));
        transform = rotation.to_homogeneous();
    }
    if let &[x, y, z] = &*numbers("scale") {
        transform *= Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z));
    }
    if let &[x, y, z] = &*numbers("translation") {
        transform.append_translation_mut(&Vector3::new(x, y, z));
    }
    transform
}

/// The sRGB component of a linear one (IEC 61966-2-1).
fn srgb(linear: f64) -> f64 {
    match linear <= 0.003_130_8 {
        true => 12.92 * linear,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    }
}
