//! COLLADA (DAE): meshes, the nodes of the scene that place them, and the diffuse colours of their materials.

use std::collections::BTreeMap;

use nalgebra::{Matrix4, Unit, UnitQuaternion, Vector3};
use roxmltree::{Node, ParsingOptions};

use super::{DEPTH_MAX, DrawnPart, TRIANGLES_MAX, fault, note};
use crate::mesh::error::MeshError;
use crate::mesh::report::{LoadReport, Severity};

const REMEDY: &str = "Export the mesh again as COLLADA 1.4 with triangles";

struct Document<'a, 'b> {
    file: &'a str,
    /// Elements by their `id`.
    by_id: BTreeMap<&'b str, Node<'b, 'b>>,
}

pub(super) fn parse(
    bytes: &[u8],
    file: &str,
    report: &mut LoadReport,
) -> Result<Vec<DrawnPart>, MeshError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| fault(file, "is not valid UTF-8", "Save the file as UTF-8"))?;
    let options = ParsingOptions {
        allow_dtd: false,
        ..ParsingOptions::default()
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let xml = roxmltree::Document::parse_with_options(text, options)
        .map_err(|error| fault(file, format!("is not well-formed XML: {error}"), REMEDY))?;
    let root = xml.root_element();
    let by_id = (root.descendants()).filter_map(|node| Some((node.attribute("id")?, node)));
    let document = Document {
        file,
        by_id: by_id.collect(),
    };
    let asset = child(root, "asset");
    let unit = asset.and_then(|asset| child(asset, "unit"));
    let metre = unit.and_then(|unit| unit.attribute("meter")?.trim().parse().ok());
    let metre: f64 = metre.filter(|m| *m > 0.0).unwrap_or(1.0);
    let up = asset.and_then(|asset| child(asset, "up_axis")?.text());
    if let Some(up) = up.filter(|up| up.trim() != "Z_UP") {
        let text = format!("up_axis {}, as robot files assume z up", up.trim());
        note(report, file, Severity::Ignored, text);
    }
    if root.descendants().any(|n| n.has_tag_name_in("texture")) {
        let text = "textures; materials with a texture have no colour";
        note(report, file, Severity::Ignored, text);
    }
    let mut parts = Vec::new();
    let scene = child(root, "scene").and_then(|scene| child(scene, "instance_visual_scene"));
    let scene = scene.and_then(|instance| document.referred(instance.attribute("url")));
    let in_metres = Matrix4::new_scaling(metre);
    match scene {
        Some(scene) => document.node(scene, &in_metres, 0, &mut parts)?,
        // Without a scene, all meshes are shown where they are.
        None => {
            for geometry in root.descendants().filter(|n| n.has_tag_name_in("geometry")) {
                document.geometry(geometry, None, &in_metres, &mut parts)?;
            }
        }
    }
    Ok(parts)
}

fn child<'b>(node: Node<'b, 'b>, tag: &str) -> Option<Node<'b, 'b>> {
    node.children().find(|child| child.tag_name().name() == tag)
}

fn numbers(node: Node<'_, '_>) -> Vec<f64> {
    let text = node.text().unwrap_or_default();
    text.split_ascii_whitespace()
        .map_while(|word| word.parse().ok())
        .collect()
}

impl<'b> Document<'_, 'b> {
    /// The element that a reference `#id` names.
    fn referred(&self, reference: Option<&str>) -> Option<Node<'b, 'b>> {
        self.by_id.get(reference?.strip_prefix('#')?).copied()
    }

    fn node(
        &self,
        node: Node<'b, 'b>,
        X_SP: &Matrix4<f64>,
        depth: usize,
        parts: &mut Vec<DrawnPart>,
    ) -> Result<(), MeshError> {
        let n: usize = parts.iter().map(|part| part.triangles.len()).sum();
        if depth > DEPTH_MAX || n > TRIANGLES_MAX {
            return Err(fault(self.file, "has too many nested nodes", REMEDY));
        }
        let X_SN = X_SP * transform(node);
        for inner in node.children().filter(Node::is_element) {
            match inner.tag_name().name() {
                "node" => self.node(inner, &X_SN, depth + 1, parts)?,
                "instance_node" => {
                    if let Some(other) = self.referred(inner.attribute("url")) {
                        self.node(other, &X_SN, depth + 1, parts)?;
                    }
                }
                "instance_geometry" => {
                    if let Some(geometry) = self.referred(inner.attribute("url")) {
                        self.geometry(geometry, Some(inner), &X_SN, parts)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The triangles of a geometry; `instance` binds its materials.
    fn geometry(
        &self,
        geometry: Node<'b, 'b>,
        instance: Option<Node<'b, 'b>>,
        X_SN: &Matrix4<f64>,
        parts: &mut Vec<DrawnPart>,
    ) -> Result<(), MeshError> {
        let Some(mesh) = child(geometry, "mesh") else {
            return Ok(());
        };
        for faces in mesh.children().filter(Node::is_element) {
            let tag = faces.tag_name().name();
            if ["triangles", "polylist", "polygons"].contains(&tag) {
                let (vertices, triangles) = self.faces(faces)?;
                let part = DrawnPart {
                    vertices,
                    triangles,
                    rgba: faces
                        .attribute("material")
                        .and_then(|symbol| self.colour(symbol, instance)),
                };
                part.check(self.file)?;
                parts.push(part.placed(X_SN));
            }
        }
        Ok(())
    }

    /// Vertices, and faces cut into triangles.
    #[allow(clippy::type_complexity, reason = "two arrays that belong together")]
    fn faces(&self, faces: Node<'b, 'b>) -> Result<(Vec<Vector3<f64>>, Vec<[u32; 3]>), MeshError> {
        let bad = |what: &str| fault(self.file, what, REMEDY);
        let inputs = || faces.children().filter(|n| n.has_tag_name_in("input"));
        let offset = |input: Node<'_, '_>| -> usize {
            let written = input.attribute("offset").and_then(|o| o.parse().ok());
            written.unwrap_or(0)
        };
        let stride = 1 + inputs().map(offset).max().unwrap_or(0);
        let vertex = inputs().find(|n| n.attribute("semantic") == Some("VERTEX"));
        let vertex = vertex.ok_or_else(|| bad("has faces without vertices"))?;
        let at = offset(vertex);
        let source = self.referred(vertex.attribute("source"));
        let position = source.and_then(|vertices| {
            let mut inputs = vertices.children().filter(|n| n.has_tag_name_in("input"));
            inputs.find(|n| n.attribute("semantic") == Some("POSITION"))
        });
        let source = position.and_then(|input| self.referred(input.attribute("source")));
        let floats = source.and_then(|source| child(source, "float_array"));
        let floats = numbers(floats.ok_or_else(|| bad("has vertices without positions"))?);
        let vertices = floats.chunks_exact(3).map(Vector3::from_column_slice);

        let counts = child(faces, "vcount").map(numbers);
        let mut triangles = Vec::new();
        for p in faces.children().filter(|n| n.has_tag_name_in("p")) {
            let indices = numbers(p);
            let corners: Vec<u32> = (indices.iter().skip(at).step_by(stride))
                .map(|x| *x as u32)
                .collect();
            let sizes: Vec<usize> = match (faces.tag_name().name(), &counts) {
                ("triangles", _) => vec![3; corners.len() / 3],
                (_, Some(counts)) => counts.iter().map(|n| *n as usize).collect(),
                _ => vec![corners.len()],
            };
            let mut first = 0_usize;
            for size in sizes {
                let polygon = corners.get(first..first.saturating_add(size));
                let polygon =
                    polygon.ok_or_else(|| bad("has fewer corners than its faces need"))?;
                let fan = polygon.windows(2).skip(1);
                triangles.extend(fan.map(|edge| [polygon[0], edge[0], edge[1]]));
                first += size;
            }
        }
        Ok((vertices.collect(), triangles))
    }

    /// The diffuse colour of a material, whose symbol the instance binds.
    fn colour(&self, symbol: &str, instance: Option<Node<'b, 'b>>) -> Option<[f64; 4]> {
        let bound = instance.and_then(|instance| {
            let mut bindings = instance.descendants();
            let bound = bindings.find(|n| n.attribute("symbol") == Some(symbol))?;
            self.referred(bound.attribute("target"))
        });
        let material = bound.or_else(|| self.by_id.get(symbol).copied())?;
        let effect = child(material, "instance_effect")?;
        let effect = self.referred(effect.attribute("url"))?;
        let diffuse = effect
            .descendants()
            .find(|n| n.has_tag_name_in("diffuse"))?;
        let numbers = numbers(child(diffuse, "color")?);
        let [red, green, blue, ..] = numbers[..] else {
            return None;
        };
        let opacity = numbers.get(3).copied().unwrap_or(1.0);
        Some([red, green, blue, opacity].map(|c| c.clamp(0.0, 1.0)))
    }
}

/// Tags are compared without their namespace.
trait HasTag {
    fn has_tag_name_in(&self, tag: &str) -> bool;
}

impl HasTag for Node<'_, '_> {
    fn has_tag_name_in(&self, tag: &str) -> bool {
        self.tag_name().name() == tag
    }
}

/// The pose of a node in its parent: its matrices, translations, rotations and scales in their order.
fn transform(node: Node<'_, '_>) -> Matrix4<f64> {
    let mut transform = Matrix4::identity();
    for element in node.children().filter(Node::is_element) {
        let numbers = numbers(element);
        transform *= match (element.tag_name().name(), &numbers[..]) {
            ("matrix", m) if m.len() == 16 => Matrix4::from_row_slice(m),
            ("translate", &[x, y, z]) => Matrix4::new_translation(&Vector3::new(x, y, z)),
            ("scale", &[x, y, z]) => Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z)),
            ("rotate", &[x, y, z, degrees]) => {
                let axis = Unit::try_new(Vector3::new(x, y, z), 1e-12);
                axis.map_or(Matrix4::identity(), |axis| {
                    UnitQuaternion::from_axis_angle(&axis, degrees.to_radians()).to_homogeneous()
                })
            }
            _ => continue,
        };
    }
    transform
}
