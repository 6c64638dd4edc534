//! COLLADA (DAE): meshes, the nodes of the scene that place them, and the diffuse colours of their materials.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::str::FromStr;

use nalgebra::{Matrix4, Unit, UnitQuaternion, Vector3};
use roxmltree::{Node, ParsingOptions};

use super::budget::Budget;
use super::{DEPTH_MAX, DrawnPart, fault, note};
use crate::mesh::error::{MeshError, presentable, quote};
use crate::mesh::report::{LoadReport, Severity};

const REMEDY: &str = "Export the mesh again as COLLADA 1.4 with triangles";

struct Document<'a, 'b> {
    file: &'a str,
    /// Elements by their `id`.
    by_id: BTreeMap<&'b str, Node<'b, 'b>>,
    budget: RefCell<Budget<'a>>,
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
    let xml = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        fault(
            file,
            format!(
                "is not well-formed XML: {}",
                presentable(&error.to_string())
            ),
            REMEDY,
        )
    })?;
    let root = xml.root_element();
    let by_id = (root.descendants()).filter_map(|node| Some((node.attribute("id")?, node)));
    let document = Document {
        file,
        by_id: by_id.collect(),
        budget: RefCell::new(Budget::new(file)),
    };
    let asset = child(root, "asset");
    let unit = asset.and_then(|asset| child(asset, "unit"));
    let metre = match unit.and_then(|unit| unit.attribute("meter")) {
        None => 1.0,
        Some(written) => {
            let metre = written.trim().parse::<f64>().ok();
            let usable = metre.filter(|m| *m > 0.0 && m.is_finite());
            usable.ok_or_else(|| {
                let what = format!("has the unit meter={}", quote(written.as_bytes()));
                fault(file, what, "It is the length of a unit in m, such as 0.001")
            })?
        }
    };
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

impl<'b> Document<'_, 'b> {
    /// The element that a reference `#id` names.
    fn referred(&self, reference: Option<&str>) -> Option<Node<'b, 'b>> {
        self.by_id.get(reference?.strip_prefix('#')?).copied()
    }

    /// The numbers in the text of an element.
    fn numbers<T: FromStr>(&self, node: Node<'_, '_>) -> Result<Vec<T>, MeshError> {
        let words = || node.text().unwrap_or_default().split_ascii_whitespace();
        self.budget.borrow_mut().spend(words().count())?;
        let parsed = words().map(|word| {
            word.parse().map_err(|_| {
                let tag = node.tag_name().name();
                let what = format!(
                    "has {} among the numbers of <{tag}>",
                    quote(word.as_bytes())
                );
                fault(self.file, what, REMEDY)
            })
        });
        parsed.collect()
    }

    fn node(
        &self,
        node: Node<'b, 'b>,
        X_SP: &Matrix4<f64>,
        depth: usize,
        parts: &mut Vec<DrawnPart>,
    ) -> Result<(), MeshError> {
        if depth > DEPTH_MAX {
            let what = format!("has nodes that are nested more than {DEPTH_MAX} deep");
            return Err(fault(self.file, what, REMEDY));
        }
        self.budget.borrow_mut().visit()?;
        let X_SN = X_SP * self.transform(node)?;
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
                    rgba: match faces.attribute("material") {
                        Some(symbol) => self.colour(symbol, instance)?,
                        None => None,
                    },
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
        let offset = |input: Node<'_, '_>| {
            let written = input.attribute("offset").unwrap_or("0");
            let offset = written.trim().parse::<u16>().map(usize::from);
            offset.map_err(|_| bad(&format!("has the offset {}", quote(written.as_bytes()))))
        };
        let mut stride = 1;
        for input in inputs() {
            stride = stride.max(1 + offset(input)?);
        }
        let vertex = inputs().find(|n| n.attribute("semantic") == Some("VERTEX"));
        let vertex = vertex.ok_or_else(|| bad("has faces without vertices"))?;
        let at = offset(vertex)?;
        let source = self.referred(vertex.attribute("source"));
        let position = source.and_then(|vertices| {
            let mut inputs = vertices.children().filter(|n| n.has_tag_name_in("input"));
            inputs.find(|n| n.attribute("semantic") == Some("POSITION"))
        });
        let source = position.and_then(|input| self.referred(input.attribute("source")));
        let floats = source.and_then(|source| child(source, "float_array"));
        let floats = floats.ok_or_else(|| bad("has vertices without positions"))?;
        let floats: Vec<f64> = self.numbers(floats)?;
        let vertices = floats.chunks_exact(3).map(Vector3::from_column_slice);

        let counts = child(faces, "vcount").map(|counts| self.numbers::<u32>(counts));
        let counts = counts.transpose()?;
        let mut triangles = Vec::new();
        for p in faces.children().filter(|n| n.has_tag_name_in("p")) {
            let indices: Vec<i64> = self.numbers(p)?;
            // The others number normals and texture coordinates, which are not used.
            let corners = indices.iter().skip(at).step_by(stride);
            let corners = corners.map(|index| {
                u32::try_from(*index).map_err(|_| bad(&format!("refers to the vertex {index}")))
            });
            let corners: Vec<u32> = corners.collect::<Result<_, _>>()?;
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
    fn colour(
        &self,
        symbol: &str,
        instance: Option<Node<'b, 'b>>,
    ) -> Result<Option<[f64; 4]>, MeshError> {
        let Some(color) = self.diffuse(symbol, instance) else {
            return Ok(None);
        };
        let numbers: Vec<f64> = self.numbers(color)?;
        let [red, green, blue, ..] = numbers[..] else {
            return Ok(None);
        };
        let opacity = numbers.get(3).copied().unwrap_or(1.0);
        Ok(Some([red, green, blue, opacity].map(|c| c.clamp(0.0, 1.0))))
    }

    fn diffuse(&self, symbol: &str, instance: Option<Node<'b, 'b>>) -> Option<Node<'b, 'b>> {
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
        child(diffuse, "color")
    }

    /// The pose of a node in its parent: its matrices, translations, rotations and scales in their order.
    fn transform(&self, node: Node<'_, '_>) -> Result<Matrix4<f64>, MeshError> {
        let mut transform = Matrix4::identity();
        for element in node.children().filter(Node::is_element) {
            let tag = element.tag_name().name();
            if !["matrix", "translate", "scale", "rotate"].contains(&tag) {
                continue;
            }
            let numbers: Vec<f64> = self.numbers(element)?;
            transform *= match (tag, &numbers[..]) {
                ("matrix", m) if m.len() == 16 => Matrix4::from_row_slice(m),
                ("translate", &[x, y, z]) => Matrix4::new_translation(&Vector3::new(x, y, z)),
                ("scale", &[x, y, z]) => Matrix4::new_nonuniform_scaling(&Vector3::new(x, y, z)),
                ("rotate", &[x, y, z, degrees]) => {
                    let axis = Unit::try_new(Vector3::new(x, y, z), 1e-12);
                    axis.map_or(Matrix4::identity(), |axis| {
                        let turn = UnitQuaternion::from_axis_angle(&axis, degrees.to_radians());
                        turn.to_homogeneous()
                    })
                }
                _ => {
                    let what = format!("has a <{tag}> of {} numbers", numbers.len());
                    return Err(fault(self.file, what, REMEDY));
                }
            };
        }
        Ok(transform)
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
