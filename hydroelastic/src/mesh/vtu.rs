//! VTU, VTK's XML unstructured grid: ASCII, inline base64 and appended (raw or base64) arrays, plain or zlib-compressed.

use super::base64;
use super::cells::{CellKind, Cells, Grid};
use super::cursor::Cursor;
use super::error::{Flaw, MeshError, Place, Spot, quote};
use super::names::{Names, Naming, Numbering, Spots};
use super::report::{LoadReport, Severity};
use super::scalar::{Endian, Scalar};
use super::vtk_cells;
use nalgebra::Vector3;
use roxmltree::{Document, Node};

/// Deflate cannot shrink more than this, so a header that announces more is wrong.
const DEFLATE_RATIO_MAX: usize = 1032;

/// What the root element says about all arrays.
struct Context<'a> {
    file: &'a str,
    endian: Endian,
    header: Scalar,
    compressed: bool,
    appended: Option<Appended<'a>>,
}

enum Appended<'a> {
    Raw(&'a [u8]),
    Base64(&'a [u8]),
}

/// One array's numbers.
enum Values {
    Text {
        numbers: Vec<f64>,
        lines: Vec<u32>,
    },
    Binary {
        bytes: Vec<u8>,
        scalar: Scalar,
        endian: Endian,
    },
}

pub(crate) fn parse(bytes: &[u8], file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
    let (xml, appended) = split_appended(bytes);
    let text = std::str::from_utf8(&xml).map_err(|error| {
        let line = 1 + xml[..error.valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count() as u32;
        let at = Place::new(file, Spot::Line(line));
        MeshError::Syntax(Flaw::new(
            at,
            "bytes that are not UTF-8 text",
            "VTU files are XML in UTF-8",
        ))
    })?;
    let document = Document::parse(text).map_err(|error| {
        let at = Place::new(file, Spot::Line(error.pos().row));
        MeshError::Syntax(Flaw::new(
            at,
            format!("not well-formed XML: {error}"),
            "A VTU file is an XML document",
        ))
    })?;
    let root = document.root_element();
    let place = |node: Node<'_, '_>| {
        Place::new(
            file,
            Spot::Line(document.text_pos_at(node.range().start).row),
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
            place(root),
            what,
            "Supported is <VTKFile type=\"UnstructuredGrid\">",
        );
        return Err(MeshError::Unsupported(flaw));
    }
    let context = context(root, file, appended, &place)?;
    let mut mesh = Mesh::default();
    let grid = child(root, "UnstructuredGrid", &place)?;
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        mesh.add_piece(piece, &context, &place)?;
    }
    let fields =
        |node: &Node<'_, '_>| node.has_tag_name("PointData") || node.has_tag_name("CellData");
    let has_arrays = |node: &Node<'_, '_>| node.children().any(|array| array.is_element());
    if let Some(node) = grid
        .descendants()
        .find(|node| fields(node) && has_arrays(node))
    {
        report.add(Severity::Ignored, place(node), "fields on points and cells");
    }
    Ok(mesh.into_grid(file, report))
}

/// Cuts out the content of `<AppendedData>`, which need not be XML, and closes the document behind it.
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
    // The data start behind an underscore.
    let start = content
        .iter()
        .position(|byte| *byte == b'_')
        .map_or(content.len(), |at| at + 1);
    (xml, Some(&content[start..]))
}

fn context<'a>(
    root: Node<'_, '_>,
    file: &'a str,
    appended: Option<&'a [u8]>,
    place: &dyn Fn(Node<'_, '_>) -> Place,
) -> Result<Context<'a>, MeshError> {
    let unsupported = |what: &str, value: &str, remedy: &str| {
        let what = format!("{what} {}", quote(value.as_bytes()));
        Err(MeshError::Unsupported(Flaw::new(place(root), what, remedy)))
    };
    let endian = match root.attribute("byte_order").unwrap_or("LittleEndian") {
        "LittleEndian" => Endian::Little,
        "BigEndian" => Endian::Big,
        other => return unsupported("byte_order", other, "It is LittleEndian or BigEndian"),
    };
    let header = match root.attribute("header_type").unwrap_or("UInt32") {
        "UInt32" => Scalar::U32,
        "UInt64" => Scalar::U64,
        other => return unsupported("header_type", other, "It is UInt32 or UInt64"),
    };
    let compressed = match root.attribute("compressor") {
        None | Some("") => false,
        Some("vtkZLibDataCompressor") => true,
        Some(other) => {
            return unsupported("compressor", other, "Save it uncompressed or with zlib");
        }
    };
    let node = root
        .children()
        .find(|node| node.has_tag_name("AppendedData"));
    let appended = match (appended, node.and_then(|node| node.attribute("encoding"))) {
        (None, _) => None,
        (Some(data), Some("raw")) => Some(Appended::Raw(data)),
        (Some(data), None | Some("base64")) => Some(Appended::Base64(data)),
        (Some(_), Some(other)) => {
            return unsupported("AppendedData encoding", other, "It is raw or base64");
        }
    };
    Ok(Context {
        file,
        endian,
        header,
        compressed,
        appended,
    })
}

fn child<'d>(
    node: Node<'d, 'd>,
    name: &str,
    place: &dyn Fn(Node<'_, '_>) -> Place,
) -> Result<Node<'d, 'd>, MeshError> {
    node.children()
        .find(|child| child.has_tag_name(name))
        .ok_or_else(|| {
            let what = format!("<{}> has no <{name}>", node.tag_name().name());
            MeshError::Syntax(Flaw::new(
                place(node),
                what,
                "A VTU file has Points and Cells with their arrays",
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
        place: &dyn Fn(Node<'_, '_>) -> Place,
    ) -> Result<(), MeshError> {
        let syntax = |node: Node<'_, '_>, what: String, remedy: &str| {
            MeshError::Syntax(Flaw::new(place(node), what, remedy))
        };
        let count = |name: &str| {
            let text = piece.attribute(name).unwrap_or("");
            text.trim().parse::<usize>().map_err(|_| {
                let what = format!("{name} is {}", quote(text.as_bytes()));
                syntax(piece, what, "It must be a count, 0 or more")
            })
        };
        let (n_points, n_cells) = (count("NumberOfPoints")?, count("NumberOfCells")?);
        if n_points == 0 && n_cells == 0 {
            return Ok(());
        }
        let points_node = child(piece, "Points", place)?;
        let array = child(points_node, "DataArray", place)?;
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
        let points = read_array(array, context, place)?;
        if Some(points.len()) != n_points.checked_mul(3) {
            let what = format!("{} coordinates for {n_points} points", points.len());
            return Err(syntax(
                array,
                what,
                "There are three for each point; was the file cut off?",
            ));
        }
        let cells = child(piece, "Cells", place)?;
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
                        "Cells have the arrays connectivity, offsets and types",
                    )
                })?;
            read_array(node, context, place).map(|values| (node, values))
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
                    "There is one for each cell; was the file cut off?",
                ));
            }
        }

        let base = self.points.len();
        let line_of = |node, values: &Values, k: usize| match (values.line(k), place(node).spot) {
            (Some(line), _) | (None, Spot::Line(line)) => line,
            _ => 1,
        };
        for p in 0..n_points {
            let point = Vector3::from_fn(|axis, _| points.float(3 * p + axis));
            let line = line_of(array, &points, 3 * p);
            if !point.iter().all(|x| x.is_finite()) {
                let what = format!("point {p} is at ({}, {}, {})", point.x, point.y, point.z);
                let at = Place::new(context.file, Spot::Line(line));
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
                    "cell {c} reaches from offset {start} to {}",
                    offsets.integer(c)
                );
                let remedy = "Offsets grow up to the number of entries in connectivity";
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
                    let at = Place::new(
                        context.file,
                        Spot::Line(line_of(connectivity_node, &connectivity, k)),
                    );
                    return Err(MeshError::Index(Flaw::new(
                        at,
                        what,
                        "VTK counts points from 0",
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
                spots: Spots::Lines(self.point_lines),
            },
            elements: Naming {
                word: "cell",
                plural: "cells",
                numbering: Numbering::From(0),
                spots: Spots::Lines(self.cell_lines),
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

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Text { numbers, .. } => numbers.len(),
            Self::Binary { bytes, scalar, .. } => bytes.len() / scalar.size(),
        }
    }

    fn float(&self, k: usize) -> f64 {
        match self {
            Self::Text { numbers, .. } => numbers[k],
            Self::Binary {
                bytes,
                scalar,
                endian,
            } => scalar.float(&bytes[k * scalar.size()..(k + 1) * scalar.size()], *endian),
        }
    }

    fn integer(&self, k: usize) -> i64 {
        match self {
            // Text arrays of integers are checked to hold integers below 2⁵³.
            Self::Text { numbers, .. } => numbers[k] as i64,
            Self::Binary {
                bytes,
                scalar,
                endian,
            } if !scalar.is_float() => {
                scalar.integer(&bytes[k * scalar.size()..(k + 1) * scalar.size()], *endian)
            }
            Self::Binary { .. } => self.float(k) as i64,
        }
    }

    fn line(&self, k: usize) -> Option<u32> {
        match self {
            Self::Text { lines, .. } => lines.get(k).or(lines.last()).copied(),
            Self::Binary { .. } => None,
        }
    }
}

fn read_array(
    node: Node<'_, '_>,
    context: &Context<'_>,
    place: &dyn Fn(Node<'_, '_>) -> Place,
) -> Result<Values, MeshError> {
    let name = node.attribute("Name").unwrap_or("Points");
    let error =
        |what: String, remedy: &str| MeshError::Syntax(Flaw::new(place(node), what, remedy));
    let type_name = node.attribute("type").unwrap_or("");
    let scalar = Scalar::of_xml_name(type_name).ok_or_else(|| {
        error(
            format!("{name}: unknown type {}", quote(type_name.as_bytes())),
            "Use Float64, Int64 or UInt8",
        )
    })?;
    let text = node.text().unwrap_or("");
    let bytes = match node.attribute("format").unwrap_or("ascii") {
        "ascii" => return read_text(node, text, scalar, context, place),
        "binary" => {
            let data = decode(text.as_bytes())
                .map_err(|what| error(format!("{name}: {what}"), "Save it again"))?;
            unpack(&data, context)
        }
        "appended" => {
            let offset = node
                .attribute("offset")
                .unwrap_or("")
                .trim()
                .parse::<usize>();
            let offset = offset.map_err(|_| {
                error(
                    format!("{name}: no offset"),
                    "Appended arrays need an offset",
                )
            })?;
            let beyond = || {
                error(
                    format!("{name}: offset {offset} lies beyond the data"),
                    "Was the file cut off?",
                )
            };
            match &context.appended {
                None => {
                    return Err(error(
                        format!("{name}: there is no <AppendedData>"),
                        "Was the file cut off?",
                    ));
                }
                Some(Appended::Raw(data)) => {
                    unpack(data.get(offset..).ok_or_else(beyond)?, context)
                }
                Some(Appended::Base64(data)) => {
                    let data = data.get(offset..).ok_or_else(beyond)?;
                    let data = decode(base64_run(data, context));
                    let data =
                        data.map_err(|what| error(format!("{name}: {what}"), "Save it again"))?;
                    unpack(&data, context)
                }
            }
        }
        other => {
            let what = format!("{name}: format {}", quote(other.as_bytes()));
            return Err(error(what, "It is ascii, binary or appended"));
        }
    };
    let bytes = bytes.map_err(|what| {
        error(
            format!("{name}: {what}"),
            "The file was cut off or its header is wrong",
        )
    })?;
    if bytes.len() % scalar.size() != 0 {
        let what = format!(
            "{name}: {} bytes are no whole number of {type_name}",
            bytes.len()
        );
        return Err(error(what, "Is the type right?"));
    }
    Ok(Values::Binary {
        bytes,
        scalar,
        endian: context.endian,
    })
}

fn read_text(
    node: Node<'_, '_>,
    text: &str,
    scalar: Scalar,
    context: &Context<'_>,
    place: &dyn Fn(Node<'_, '_>) -> Place,
) -> Result<Values, MeshError> {
    let name = node.attribute("Name").unwrap_or("Points");
    let first = node.first_child().map_or(node, |child| child);
    let line = match place(first).spot {
        Spot::Line(line) => line,
        _ => 1,
    };
    let mut cursor = Cursor::starting_at_line(text.as_bytes(), context.file, line);
    let (mut numbers, mut lines) = (Vec::new(), Vec::new());
    while let Some(word) = cursor.word() {
        let item = || format!("{name}, entry {}", numbers.len());
        let number = if scalar.is_float() {
            cursor.number(word, &item)?
        } else {
            const EXACT_MAX: i64 = 1 << 53;
            cursor.integer(word, &item)?.clamp(-EXACT_MAX, EXACT_MAX) as f64
        };
        numbers.push(number);
        lines.push(word.line);
    }
    Ok(Values::Text { numbers, lines })
}

fn decode(text: &[u8]) -> Result<Vec<u8>, String> {
    base64::decode(text).map_err(|at| format!("character {at} is not base64"))
}

/// The symbols of one array among all that are appended, as its header tells.
fn base64_run<'d>(data: &'d [u8], context: &Context<'_>) -> &'d [u8] {
    let symbols = |bytes: usize| bytes.div_ceil(3).saturating_mul(4);
    let head = |bytes: usize| {
        let text = data.get(..symbols(bytes)).unwrap_or(data);
        base64::decode(text).unwrap_or_default()
    };
    let word = context.header.size();
    let number = |bytes: &[u8], k: usize| {
        let bytes = bytes.get(k * word..(k + 1) * word);
        bytes.map_or(0, |bytes| {
            usize::try_from(context.header.integer(bytes, context.endian)).unwrap_or(usize::MAX)
        })
    };
    let length = if context.compressed {
        let blocks = number(&head(3 * word), 0);
        let header_bytes = blocks.saturating_add(3).saturating_mul(word);
        if symbols(header_bytes) > data.len() {
            data.len()
        } else {
            let header = head(header_bytes);
            let packed =
                (0..blocks).fold(0_usize, |sum, k| sum.saturating_add(number(&header, 3 + k)));
            symbols(header_bytes).saturating_add(symbols(packed))
        }
    } else {
        symbols(number(&head(word), 0).saturating_add(word))
    };
    data.get(..length).unwrap_or(data)
}

/// Takes the bytes of one array out of its block: a length and the bytes, or zlib blocks behind their sizes.
fn unpack(data: &[u8], context: &Context<'_>) -> Result<Vec<u8>, String> {
    let word = context.header.size();
    let number = |k: usize| {
        let bytes = k
            .checked_mul(word)
            .and_then(|start| data.get(start..start + word));
        let bytes = bytes.ok_or("the data end inside the header")?;
        usize::try_from(context.header.integer(bytes, context.endian))
            .map_err(|_| "a length is too large")
    };
    if !context.compressed {
        let length = number(0)?;
        let bytes = word.checked_add(length).and_then(|end| data.get(word..end));
        return bytes.map(<[u8]>::to_vec).ok_or_else(|| {
            format!(
                "{length} bytes are announced, {} are there",
                data.len() - word
            )
        });
    }
    let (blocks, block_size, last_size) = (number(0)?, number(1)?, number(2)?);
    let mut at = blocks
        .checked_add(3)
        .and_then(|words| words.checked_mul(word))
        .ok_or("too many blocks")?;
    let mut bytes = Vec::new();
    for block in 0..blocks {
        let packed = number(3 + block)?;
        let source = at.checked_add(packed).and_then(|end| data.get(at..end));
        let source =
            source.ok_or_else(|| format!("the data end inside compressed block {block}"))?;
        let size = if block + 1 == blocks && last_size > 0 {
            last_size
        } else {
            block_size
        };
        if size > packed.saturating_mul(DEFLATE_RATIO_MAX) {
            return Err(format!("compressed block {block} cannot hold {size} bytes"));
        }
        let plain = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(source, size);
        let plain = plain.map_err(|_| format!("compressed block {block} is damaged"))?;
        if plain.len() != size {
            return Err(format!(
                "compressed block {block} holds {} bytes instead of {size}",
                plain.len()
            ));
        }
        bytes.extend_from_slice(&plain);
        at += packed;
    }
    Ok(bytes)
}
