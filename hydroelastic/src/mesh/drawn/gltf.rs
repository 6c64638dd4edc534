//! glTF 2.0, as JSON with files beside it or embedded data, and as GLB.

use std::cell::RefCell;
use std::path::Path;

use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3};
use serde_json::Value;

use super::budget::Budget;
use super::{DEPTH_MAX, DrawnPart, fault, note};
use crate::mesh::base64;
use crate::mesh::error::{MeshError, presentable, quote};
use crate::mesh::read::bytes_of;
use crate::mesh::report::{LoadReport, Severity};

const REMEDY: &str = "Export the mesh again as glTF 2.0 without compression";

/// A document with its binary data.
struct Document<'a> {
    json: Value,
    buffers: Vec<Vec<u8>>,
    file: &'a str,
    budget: RefCell<Budget<'a>>,
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
    let json: Value = serde_json::from_slice(text).map_err(|error| {
        fault(
            file,
            format!("its JSON is not valid: {}", presentable(&error.to_string())),
            REMEDY,
        )
    })?;
    if let Some(required) = json["extensionsRequired"].as_array()
        && let Some(name) = required.iter().filter_map(Value::as_str).next()
    {
        let name = quote(name.as_bytes());
        let what = format!("needs the extension {name}, which is not supported");
        return Err(fault(file, what, REMEDY));
    }
    let mut document = Document {
        json,
        buffers: Vec::new(),
        file,
        budget: RefCell::new(Budget::new(file)),
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
    let scene = document.number(&document.json["scene"], "scene")?;
    for node in items(&document.json["scenes"][scene.unwrap_or(0)]["nodes"]) {
        document.node(node, &turn, 0, &mut parts)?;
    }
    Ok(parts)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |array| array)
}

/// The JSON and binary chunks of a GLB file.
fn chunks<'a>(bytes: &'a [u8], file: &str) -> Result<(&'a [u8], Option<&'a [u8]>), MeshError> {
    let short = || fault(file, "ends within a chunk", REMEDY);
    let word = |at: usize| -> Result<usize, MeshError> {
        let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
        Ok(u32::from_le_bytes(*four.ok_or_else(short)?) as usize)
    };
    let piece = |at: usize, length: usize| {
        let piece = bytes.get(at..).and_then(|rest| rest.get(..length));
        piece.ok_or_else(short)
    };
    if word(4)? != 2 {
        let what = format!("has version {} of GLB, but 2 is supported", word(4)?);
        return Err(fault(file, what, REMEDY));
    }
    let length = word(12)?;
    let text = piece(20, length)?;
    let next = 20 + length;
    if bytes.len() - next < 8 {
        return Ok((text, None));
    }
    Ok((text, Some(piece(next + 8, word(next)?)?)))
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
                        let uri = quote(uri.as_bytes());
                        let what = format!("has its data in {uri}, which is no .bin file");
                        return Err(fault(self.file, what, REMEDY));
                    }
                    bytes_of(&beside)?.0
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
        if depth > DEPTH_MAX {
            let what = format!("has nodes that are nested more than {DEPTH_MAX} deep");
            return Err(fault(self.file, what, REMEDY));
        }
        self.budget.borrow_mut().visit()?;
        let node = self.item("nodes", node)?;
        let X_SN = X_SP * self.transform(node)?;
        if !node["mesh"].is_null() {
            for primitive in items(&self.item("meshes", &node["mesh"])?["primitives"]) {
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

    /// A whole number; `None` if it is not given.
    fn number(&self, value: &Value, name: &str) -> Result<Option<usize>, MeshError> {
        let number = value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        if number.is_none() && !value.is_null() {
            let what = format!("has {name} = {}, which is no index or count", shown(value));
            return Err(fault(self.file, what, REMEDY));
        }
        Ok(number)
    }

    /// The entry of an array of the document that `reference` numbers.
    fn item(&self, array: &str, reference: &Value) -> Result<&Value, MeshError> {
        let entries = items(&self.json[array]);
        let entry = self
            .number(reference, array)?
            .and_then(|at| entries.get(at));
        entry.ok_or_else(|| {
            let what = format!(
                "refers to {} of {} {array}",
                shown(reference),
                entries.len()
            );
            fault(self.file, what, REMEDY)
        })
    }

    /// The triangles of a primitive; `None` for points and lines.
    fn primitive(&self, primitive: &Value) -> Result<Option<DrawnPart>, MeshError> {
        let mode = self.number(&primitive["mode"], "mode")?.unwrap_or(4);
        if mode < 4 {
            return Ok(None);
        }
        let vertices = self.positions(&primitive["attributes"]["POSITION"])?;
        let corners = match primitive["indices"].is_null() {
            true => (0..vertices.len() as u32).collect(),
            false => self.indices(&primitive["indices"])?,
        };
        self.budget.borrow_mut().spend(corners.len())?;
        let triangles = match mode {
            4 => corners
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
            5 => (corners.windows(3).enumerate())
                .map(|(k, c)| [[c[0], c[1], c[2]], [c[1], c[0], c[2]]][k % 2])
                .collect(),
            6 => (corners.windows(2).skip(1))
                .map(|c| [corners[0], c[0], c[1]])
                .collect(),
            _ => {
                let what = format!("has primitives of mode {mode}; 0 to 6 are known");
                return Err(fault(self.file, what, REMEDY));
            }
        };
        Ok(Some(DrawnPart {
            vertices,
            triangles,
            rgba: self.colour(&primitive["material"])?,
        }))
    }

    fn colour(&self, material: &Value) -> Result<Option<[f64; 4]>, MeshError> {
        if material.is_null() {
            return Ok(None);
        }
        let material = self.item("materials", material)?;
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
        Ok(Some(rgba))
    }

    fn positions(&self, accessor: &Value) -> Result<Vec<Vector3<f64>>, MeshError> {
        let array = self.accessor(accessor, "VEC3")?;
        if array.kind != FLOAT {
            return Err(array.fault("of positions that are not of the type FLOAT"));
        }
        let number =
            |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let vertex =
            |bytes: &[u8]| Vector3::new(number(bytes), number(&bytes[4..]), number(&bytes[8..]));
        Ok(array.elements().map(vertex).collect())
    }

    fn indices(&self, accessor: &Value) -> Result<Vec<u32>, MeshError> {
        let array = self.accessor(accessor, "SCALAR")?;
        if array.kind == FLOAT {
            return Err(array.fault("of indices that are not whole numbers"));
        }
        let index = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0, |n, byte| n << 8 | u32::from(*byte))
        };
        Ok(array.elements().map(index).collect())
    }

    /// The bytes of an accessor, which lie within its buffer view.
    fn accessor(&self, accessor: &Value, of: &str) -> Result<Array<'_>, MeshError> {
        let bad = |what: &str| fault(self.file, format!("has an accessor {what}"), REMEDY);
        let accessor = self.item("accessors", accessor)?;
        if !accessor["sparse"].is_null() {
            return Err(bad("with sparse values, which are not supported"));
        }
        if accessor["type"].as_str() != Some(of) {
            return Err(bad(&format!(
                "of the type {}, but {of} is needed",
                shown(&accessor["type"])
            )));
        }
        let view = self.item("bufferViews", &accessor["bufferView"])?;
        let buffer = self.number(&view["buffer"], "buffer")?;
        let buffer = buffer.and_then(|at| self.buffers.get(at));
        let buffer = buffer.ok_or_else(|| bad("without a buffer"))?;
        let kind = self
            .number(&accessor["componentType"], "componentType")?
            .unwrap_or(0);
        let size = match kind {
            5121 => 1,
            5123 => 2,
            5125 | FLOAT => 4,
            _ => return Err(bad(&format!("whose numbers have the type {kind}"))),
        };
        let element = match of {
            "VEC3" => 3 * size,
            _ => size,
        };
        let stride = self
            .number(&view["byteStride"], "byteStride")?
            .unwrap_or(element);
        if stride < element {
            return Err(bad(&format!(
                "with a byteStride of {stride} for elements of {element} bytes"
            )));
        }
        let count = self.number(&accessor["count"], "count")?;
        let count = count.ok_or_else(|| bad("without a count"))?;
        let offset = |of: &Value| self.number(&of["byteOffset"], "byteOffset");
        let (first, inside) = (offset(view)?.unwrap_or(0), offset(accessor)?.unwrap_or(0));
        let start = first.checked_add(inside);
        let bytes = start.and_then(|start| buffer.get(start..));
        let bytes = bytes.unwrap_or_default();
        let needed = match count.checked_sub(1) {
            None => Some(0),
            Some(before) => before
                .checked_mul(stride)
                .and_then(|n| n.checked_add(element)),
        };
        if needed.is_none_or(|needed| needed > bytes.len()) {
            return Err(bad(&format!(
                "of {count} elements beyond the end of its data"
            )));
        }
        self.budget.borrow_mut().spend(count)?;
        Ok(Array {
            file: self.file,
            bytes,
            kind,
            count,
            stride,
            element,
        })
    }

    /// The pose of a node in its parent: a matrix, or translation, rotation and scale.
    fn transform(&self, node: &Value) -> Result<Matrix4<f64>, MeshError> {
        if let Some(matrix) = self.numbers::<16>(node, "matrix")? {
            return Ok(Matrix4::from_column_slice(&matrix));
        }
        let mut transform = Matrix4::identity();
        if let Some([x, y, z, w]) = self.numbers(node, "rotation")? {
            let rotation = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-12);
            let rotation = rotation.ok_or_else(|| {
                fault(self.file, "has a node with a rotation of length 0", REMEDY)
            })?;
            transform = rotation.to_homogeneous();
        }
        if let Some(scale) = self.numbers::<3>(node, "scale")? {
            transform *= Matrix4::new_nonuniform_scaling(&scale.into());
        }
        if let Some(translation) = self.numbers::<3>(node, "translation")? {
            transform.append_translation_mut(&translation.into());
        }
        Ok(transform)
    }

    /// N numbers of a node, if it has them.
    fn numbers<const N: usize>(
        &self,
        node: &Value,
        name: &str,
    ) -> Result<Option<[f64; N]>, MeshError> {
        let written = &node[name];
        if written.is_null() {
            return Ok(None);
        }
        let numbers: Vec<f64> = items(written).iter().filter_map(Value::as_f64).collect();
        let is_whole = items(written).len() == numbers.len();
        let numbers = <[f64; N]>::try_from(numbers).ok().filter(|_| is_whole);
        let what = || format!("has a node whose {name} is not {N} numbers");
        numbers
            .map(Some)
            .ok_or_else(|| fault(self.file, what(), REMEDY))
    }
}

/// `componentType` of f32.
const FLOAT: usize = 5126;

/// Equally spaced elements of a buffer, all within it.
struct Array<'a> {
    file: &'a str,
    bytes: &'a [u8],
    kind: usize,
    count: usize,
    stride: usize,
    /// Bytes of an element.
    element: usize,
}

impl<'a> Array<'a> {
    fn elements(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let Self {
            bytes,
            stride,
            element,
            ..
        } = *self;
        (0..self.count).map(move |k| &bytes[k * stride..k * stride + element])
    }

    fn fault(&self, what: &str) -> MeshError {
        fault(self.file, format!("has an accessor {what}"), REMEDY)
    }
}

/// A value in a message.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text.as_bytes()),
        _ => "a list".to_owned(),
    }
}

/// The sRGB component of a linear one (IEC 61966-2-1).
fn srgb(linear: f64) -> f64 {
    match linear <= 0.003_130_8 {
        true => 12.92 * linear,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    }
}
