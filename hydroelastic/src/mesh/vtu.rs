//! VTU, VTK's XML unstructured grid: ASCII, inline base64 and appended (raw or base64) arrays, plain or zlib-compressed.

mod arrays;

use super::cells::{CellKind, Cells, Grid};
use super::error::{FilePosition, Flaw, Location, MeshError, presentable, quote};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::{LoadReport, Severity};
use super::scalar::{Endian, Scalar};
use super::vtk_cells;
use arrays::{Appended, Compression, Context, Values, read_array};
use nalgebra::Vector3;
use roxmltree::{Document, Node};
use std::cell::Cell;

/// Limit on the size of the decoded arrays relative to the file; meshes compress by factors of 2 to 10.
const DECODED_RATIO_MAX: usize = 64;
/// Decoded size that is always allowed: a small file of zeros compresses a thousandfold.
const DECODED_BYTES_FREE: usize = 1 << 25;

pub(crate) fn parse(bytes: &[u8], file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
    let (xml, appended) = split_appended(bytes);
    let text = std::str::from_utf8(&xml).map_err(|error| {
        let line = 1 + xml[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u32;
        let at = Location::new(file, FilePosition::Line(line));
        MeshError::Syntax(Flaw::new(
            at,
            "bytes that are not UTF-8 text",
            "VTU files are XML in UTF-8",
        ))
    })?;
    let document = Document::parse(text).map_err(|error| {
        let cut_off = matches!(
            error,
            roxmltree::Error::UnclosedRootNode | roxmltree::Error::UnexpectedEndOfStream
        );
        let line = if cut_off {
            text.lines().count() as u32
        } else {
            error.pos().row
        };
        let at = Location::new(file, FilePosition::Line(line));
        MeshError::Syntax(Flaw::new(
            at,
            format!("not well-formed XML: {}", presentable(&error.to_string())),
            "A VTU file is an XML document",
        ))
    })?;
    let root = document.root_element();
    let location = |node: Node<'_, '_>| {
        Location::new(
            file,
            FilePosition::Line(document.text_pos_at(node.range().start).row),
        )
    };
    let kind = root.attribute("type").unwrap_or("");
    if !root.has_tag_name("VTKFile") || kind != "UnstructuredGrid" {
        let what = match root.has_tag_name("VTKFile") {
            true => format!("a VTK file of type {}", quote(kind.as_bytes())),
            false => format!(
                "the root element is {}",
                quote(root.tag_name().name().as_bytes())
            ),
        };
        let flaw = Flaw::new(
            location(root),
            what,
            "Supported is <VTKFile type=\"UnstructuredGrid\">",
        );
        return Err(MeshError::Unsupported(flaw));
    }
    let context = context(root, file, bytes.len(), appended, &location)?;
    let mut mesh = Mesh::default();
    let grid = child(root, "UnstructuredGrid", &location)?;
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        mesh.add_piece(piece, &context, &location)?;
    }
    let fields =
        |node: &Node<'_, '_>| node.has_tag_name("PointData") || node.has_tag_name("CellData");
    let has_arrays = |node: &Node<'_, '_>| node.children().any(|array| array.is_element());
    if let Some(node) = grid
        .descendants()
        .find(|node| fields(node) && has_arrays(node))
    {
        report.add(
            Severity::Ignored,
            location(node),
            "fields on points and cells",
        );
    }
    Ok(mesh.into_grid(file, report))
}

/// Separates the content of `<AppendedData>`, which need not be XML, and closes the document after it.
fn split_appended(bytes: &[u8]) -> (Vec<u8>, Option<&[u8]>) {
    const TAG: &[u8] = b"<AppendedData";
    let Some(tag) = bytes.windows(TAG.len()).position(|window| window == TAG) else {
        return (bytes.to_vec(), None);
    };
    let Some(end) = bytes[tag..].iter().position(|byte| *byte == b'>') else {
        return (bytes.to_vec(), None);
    };
    let content = &bytes[tag + end + 1..];
    let mut xml = bytes[..=tag + end].to_vec();
    xml.extend_from_slice(b"</AppendedData></VTKFile>");
    // The data start after an underscore.
    let start = content
        .iter()
        .position(|byte| *byte == b'_')
        .map_or(content.len(), |at| at + 1);
    (xml, Some(&content[start..]))
}

fn context<'a>(
    root: Node<'_, '_>,
    file: &'a str,
    file_bytes: usize,
    appended: Option<&'a [u8]>,
    location: &dyn Fn(Node<'_, '_>) -> Location,
) -> Result<Context<'a>, MeshError> {
    let unsupported = |what: &str, value: &str, remedy: &str| {
        let what = format!("{what} {}", quote(value.as_bytes()));
        Err(MeshError::Unsupported(Flaw::new(
            location(root),
            what,
            remedy,
        )))
    };
    let endian = match root.attribute("byte_order").unwrap_or("LittleEndian") {
        "LittleEndian" => Endian::Little,
        "BigEndian" => Endian::Big,
        other => return unsupported("byte_order", other, "It must be LittleEndian or BigEndian"),
    };
    let header = match root.attribute("header_type").unwrap_or("UInt32") {
        "UInt32" => Scalar::U32,
        "UInt64" => Scalar::U64,
        other => return unsupported("header_type", other, "It is UInt32 or UInt64"),
    };
    let compression = match root.attribute("compressor") {
        None | Some("") => Compression::None,
        Some("vtkZLibDataCompressor") => Compression::Zlib,
        Some(other) => Compression::Other(other.to_owned()),
    };
    let node = root
        .children()
        .find(|node| node.has_tag_name("AppendedData"));
    let appended = match (appended, node.and_then(|node| node.attribute("encoding"))) {
        (None, _) => None,
        (Some(data), Some("raw")) => Some(Appended::Raw(data)),
        (Some(data), None | Some("base64")) => Some(Appended::Base64(data)),
        (Some(_), Some(other)) => {
            return unsupported("AppendedData encoding", other, "It must be raw or base64");
        }
    };
    Ok(Context {
        file,
        endian,
        header,
        compression,
        appended,
        budget: Cell::new(
            DECODED_BYTES_FREE.saturating_add(DECODED_RATIO_MAX.saturating_mul(file_bytes)),
        ),
    })
}

fn child<'d>(
    node: Node<'d, 'd>,
    name: &str,
    location: &dyn Fn(Node<'_, '_>) -> Location,
) -> Result<Node<'d, 'd>, MeshError> {
    node.children()
        .find(|child| child.has_tag_name(name))
        .ok_or_else(|| {
            let what = format!("<{}> has no <{name}>", node.tag_name().name());
            MeshError::Syntax(Flaw::new(
                location(node),
                what,
                "A VTU file needs Points and Cells with their arrays",
            ))
        })
}

#[derive(Default)]
struct Mesh {
    points: Vec<Vector3<f64>>,
    point_lines: Vec<u32>,
    cells: Cells,
    cell_lines: Vec<u32>,
}

impl Mesh {
    fn add_piece(
        &mut self,
        piece: Node<'_, '_>,
        context: &Context<'_>,
        location: &dyn Fn(Node<'_, '_>) -> Location,
    ) -> Result<(), MeshError> {
        let syntax = |node: Node<'_, '_>, what: String, remedy: &str| {
            MeshError::Syntax(Flaw::new(location(node), what, remedy))
        };
        let count = |name: &str| {
            let text = piece.attribute(name).unwrap_or("");
            text.trim().parse::<usize>().map_err(|_| {
                let what = format!("{name} is {}", quote(text.as_bytes()));
                syntax(piece, what, "It must be a non-negative integer")
            })
        };
        let (n_points, n_cells) = (count("NumberOfPoints")?, count("NumberOfCells")?);
        if n_points == 0 && n_cells == 0 {
            return Ok(());
        }
        let points_node = child(piece, "Points", location)?;
        let array = child(points_node, "DataArray", location)?;
        if array
            .attribute("NumberOfComponents")
            .is_some_and(|n| n.trim() != "3")
        {
            return Err(syntax(
                array,
                "points do not have 3 components".into(),
                "Write NumberOfComponents=\"3\"",
            ));
        }
        let points = read_array(array, context, location)?;
        if Some(points.len()) != n_points.checked_mul(3) {
            let what = format!("{} coordinates for {n_points} points", points.len());
            return Err(syntax(
                array,
                what,
                "Each point needs three; the file may be truncated",
            ));
        }
        let cells = child(piece, "Cells", location)?;
        let named = |name: &str| {
            let mut arrays = cells
                .children()
                .filter(|node| node.has_tag_name("DataArray"));
            let node = arrays
                .find(|node| node.attribute("Name") == Some(name))
                .ok_or_else(|| {
                    let what = format!("<Cells> has no array {name}");
                    syntax(
                        cells,
                        what,
                        "Cells need the arrays connectivity, offsets and types",
                    )
                })?;
            read_array(node, context, location).map(|values| (node, values))
        };
        let (connectivity_node, connectivity) = named("connectivity")?;
        let (offsets_node, offsets) = named("offsets")?;
        let (types_node, types) = named("types")?;
        for (node, values) in [(offsets_node, &offsets), (types_node, &types)] {
            if values.len() != n_cells {
                let name = node.attribute("Name").unwrap_or("");
                let what = format!("{name}: {} entries for {n_cells} cells", values.len());
                return Err(syntax(
                    node,
                    what,
                    "Each cell needs one; the file may be truncated",
                ));
            }
        }

        let base = self.points.len();
        let line_of =
            |node, values: &Values, k: usize| match (values.line(k), location(node).position) {
                (Some(line), _) | (None, FilePosition::Line(line)) => line,
                _ => 1,
            };
        for p in 0..n_points {
            let point = Vector3::from_fn(|axis, _| points.float(3 * p + axis));
            let line = line_of(array, &points, 3 * p);
            if !point.iter().all(|x| x.is_finite()) {
                let what = format!("point {p} is at ({}, {}, {})", point.x, point.y, point.z);
                let at = Location::new(context.file, FilePosition::Line(line));
                return Err(MeshError::Coordinate(Flaw::new(
                    at,
                    what,
                    "Coordinates must be finite numbers",
                )));
            }
            self.points.push(point);
            self.point_lines.push(line);
        }
        let mut start = 0;
        for c in 0..n_cells {
            let end = usize::try_from(offsets.integer(c)).unwrap_or(usize::MAX);
            if end < start || end > connectivity.len() {
                let what = format!(
                    "cell {c} extends from offset {start} to {}",
                    offsets.integer(c)
                );
                let remedy = "Offsets must increase up to the number of entries in connectivity";
                return Err(syntax(offsets_node, what, remedy));
            }
            let mut corners = Vec::with_capacity(end - start);
            for k in start..end {
                let index = connectivity.integer(k);
                let Some(index) = usize::try_from(index)
                    .ok()
                    .filter(|index| *index < n_points)
                else {
                    let what = format!("cell {c} refers to point {index} of {n_points}");
                    let at = Location::new(
                        context.file,
                        FilePosition::Line(line_of(connectivity_node, &connectivity, k)),
                    );
                    return Err(MeshError::Index(Flaw::new(
                        at,
                        what,
                        "VTK numbers points from 0",
                    )));
                };
                corners.push((base + index) as u32);
            }
            let kind = vtk_cells::kind(types.integer(c), corners.len()).map_err(|what| {
                let remedy = "Tetrahedra are type 10 with 4 points, triangles type 5 with 3";
                syntax(types_node, format!("cell {c}: {what}"), remedy)
            })?;
            self.cell_lines
                .push(line_of(connectivity_node, &connectivity, start));
            self.cells.push(
                kind,
                if kind == CellKind::Thin {
                    Vec::new()
                } else {
                    corners
                },
            );
            start = end;
        }
        Ok(())
    }

    fn into_grid(self, file: &str, report: LoadReport) -> Grid {
        let names = Names {
            file: file.to_owned(),
            vertices: Naming {
                word: "point",
                plural: "points",
                numbering: Numbering::From(0),
                positions: FilePositions::Lines(self.point_lines),
            },
            elements: Naming {
                word: "cell",
                plural: "cells",
                numbering: Numbering::From(0),
                positions: FilePositions::Lines(self.cell_lines),
            },
        };
        Grid {
            names,
            points: self.points,
            cells: self.cells,
            kind_name: vtk_cells::name,
            report,
        }
    }
}
