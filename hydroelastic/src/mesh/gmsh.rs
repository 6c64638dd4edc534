//! Gmsh MSH: version 2 (ASCII), 4.0 (ASCII), 4.1 (ASCII and binary). Sections other than nodes and elements are skipped.

mod element_types;
mod elements;
mod layout;
mod nodes;
mod numbers;

use super::cells::{CellKind, Cells, Grid};
use super::cursor::{Cursor, Word, parse_number};
use super::error::{Flaw, MeshError, quote};
use super::names::{FilePositions, Names, Naming, Numbering};
use super::report::{LoadReport, Severity};
use super::scalar::Endian;
use element_types::element_type;
use elements::{RawElements, read_elements};
use layout::Layout;
use nalgebra::Vector3;
use nodes::read_nodes;
use numbers::Numbers;
use std::collections::BTreeMap;

pub(crate) fn parse(bytes: &[u8], file: &str, mut report: LoadReport) -> Result<Grid, MeshError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut numbers = Numbers {
        cursor: Cursor::new(bytes, file),
        binary: None,
    };
    let mut layout = None;
    let mut nodes = None;
    let mut elements = None;
    let mut skipped: BTreeMap<String, u32> = BTreeMap::new();
    while let Some(word) = numbers.cursor.word() {
        let line = word.line;
        numbers.cursor.line_text();
        let Some(name) = word.bytes.strip_prefix(b"$") else {
            let what = format!(
                "expected a section such as $Nodes, found {}",
                quote(word.bytes)
            );
            return Err(numbers.cursor.syntax(
                line,
                what,
                "Sections start with $Name and end with $EndName",
            ));
        };
        match (name, layout) {
            (b"MeshFormat", None) => layout = Some(mesh_format(&mut numbers)?),
            (b"Nodes", Some(layout)) if nodes.is_none() => {
                nodes = Some(read_nodes(&mut numbers, layout)?)
            }
            (b"Elements", Some(layout)) if elements.is_none() => {
                elements = Some(read_elements(&mut numbers, layout)?)
            }
            (b"Nodes" | b"Elements", Some(_)) => {
                let what = format!("a second section {}", quote(word.bytes));
                return Err(numbers
                    .cursor
                    .syntax(line, what, "Each may occur once; merge them"));
            }
            (b"Comments", _) | (_, Some(_)) => {
                skip_section(&mut numbers.cursor, word)?;
                let name = quote(word.bytes).replace('`', "");
                skipped.entry(name).or_insert(line);
                continue;
            }
            _ => {
                let what = format!("{} precedes $MeshFormat", quote(word.bytes));
                return Err(numbers.cursor.syntax(
                    line,
                    what,
                    "A Gmsh file starts with $MeshFormat",
                ));
            }
        }
        end_section(&mut numbers.cursor, name)?;
    }
    let missing = |name: &str| {
        let what = format!("{name} is missing at the end of the file");
        MeshError::Syntax(Flaw::new(
            numbers.cursor.here(),
            what,
            "A mesh needs $MeshFormat, $Nodes and $Elements",
        ))
    };
    let (tags, points, lines) = nodes.ok_or_else(|| missing("$Nodes"))?;
    let elements = elements.ok_or_else(|| missing("$Elements"))?;
    skipped.remove("$Comments");
    if let Some(&first) = skipped.values().min() {
        let list: Vec<&str> = skipped.keys().take(12).map(String::as_str).collect();
        let text = format!("sections without effect on the mesh: {}", list.join(", "));
        report.add(Severity::Ignored, numbers.cursor.location(first), text);
    }
    assemble(&numbers, file, tags, points, lines, elements, report)
}

/// Maps node numbers to indices.
fn assemble(
    numbers: &Numbers<'_>,
    file: &str,
    tags: Vec<u64>,
    points: Vec<Vector3<f64>>,
    lines: Vec<u32>,
    elements: RawElements,
    report: LoadReport,
) -> Result<Grid, MeshError> {
    let mut by_tag: Vec<(u64, u32)> = tags.iter().copied().zip(0_u32..).collect();
    by_tag.sort_unstable();
    if let Some(pair) = by_tag.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let line = lines.get(pair[1].1 as usize).copied().unwrap_or(0);
        let what = format!("node {} occurs twice", pair[0].0);
        return Err(numbers
            .cursor
            .syntax(line.max(1), what, "Node numbers must be unique"));
    }
    let mut cells = Cells::default();
    let mut start = 0;
    for (e, (kind, end)) in elements.kinds.iter().zip(&elements.ends).enumerate() {
        let mut corners = Vec::with_capacity(end - start);
        for node in &elements.nodes[start..*end] {
            let Ok(found) = by_tag.binary_search_by_key(node, |entry| entry.0) else {
                let what = format!(
                    "element {} refers to node {node}, which does not exist",
                    elements.tags[e]
                );
                let location = numbers
                    .cursor
                    .location(elements.lines.get(e).copied().unwrap_or(1));
                return Err(MeshError::Index(Flaw::new(
                    location,
                    what,
                    "Every node must be listed in $Nodes",
                )));
            };
            corners.push(by_tag[found].1);
        }
        if *kind == CellKind::Tet10 {
            // Gmsh has the node of edge 2-3 before that of edge 1-3.
            corners.swap(8, 9);
        }
        start = *end;
        cells.push(*kind, corners);
    }
    let positions = |lines: Vec<u32>| {
        if numbers.binary.is_some() {
            FilePositions::Unknown
        } else {
            FilePositions::Lines(lines)
        }
    };
    let names = Names {
        file: file.to_owned(),
        vertices: Naming {
            word: "node",
            plural: "nodes",
            numbering: Numbering::Tags(tags),
            positions: positions(lines),
        },
        elements: Naming {
            word: "element",
            plural: "elements",
            numbering: Numbering::Tags(elements.tags),
            positions: positions(elements.lines),
        },
    };
    Ok(Grid {
        names,
        points,
        cells,
        kind_name: |code| element_type(code).map_or("unknown element", |e| e.0),
        report,
    })
}

fn mesh_format(numbers: &mut Numbers<'_>) -> Result<Layout, MeshError> {
    let cursor = &mut numbers.cursor;
    let line = cursor.line();
    let mut next = |name: &str| {
        let word = cursor.word_on_line();
        word.ok_or_else(|| {
            cursor.syntax(
                line,
                format!("$MeshFormat: the {name} is missing"),
                "Write: 4.1 0 8",
            )
        })
    };
    let version = next("version")?;
    let file_type = next("file type")?;
    let data_size = next("data size")?;
    cursor.line_text();
    let unsupported = |what: String, remedy: &str| {
        Err(MeshError::Unsupported(Flaw::new(
            cursor.location(line),
            what,
            remedy,
        )))
    };
    // The version is written as "2", "2.2", "4.1" or "2.2000001", hence compared as a number.
    let number = parse_number(version.bytes).unwrap_or(-1.0);
    let layout = match (number * 10.0).round() {
        20.0..=22.0 => Layout::Version2,
        40.0 => Layout::Version40,
        41.0 => Layout::Version41,
        _ => {
            let what = format!("Gmsh format version {}", quote(version.bytes));
            return unsupported(
                what,
                "Versions 2 to 2.2, 4.0 and 4.1 are supported; save it as one of them",
            );
        }
    };
    match (file_type.bytes, layout) {
        (b"0", _) => Ok(layout),
        (b"1", Layout::Version41) if data_size.bytes == b"8" => {
            let one = cursor.block(4).ok_or_else(|| cursor.ended("$MeshFormat"))?;
            numbers.binary = Some(if one == 1_i32.to_le_bytes() {
                Endian::Little
            } else if one == 1_i32.to_be_bytes() {
                Endian::Big
            } else {
                return Err(cursor.syntax(
                    line,
                    "the binary marker is not 1",
                    "Save the file again",
                ));
            });
            cursor.line_text();
            Ok(layout)
        }
        (b"1", _) => unsupported(
            format!(
                "binary Gmsh {} with data size {}",
                quote(version.bytes),
                quote(data_size.bytes)
            ),
            "Binary files are supported in version 4.1 with data size 8 only; save it as ASCII or as 4.1",
        ),
        _ => Err(cursor.syntax(
            line,
            format!("$MeshFormat: file type {}", quote(file_type.bytes)),
            "The file type must be 0 (ASCII) or 1 (binary)",
        )),
    }
}

/// Expects the word $EndName.
fn end_section(cursor: &mut Cursor<'_>, name: &[u8]) -> Result<(), MeshError> {
    let label = String::from_utf8_lossy(name);
    match cursor.word() {
        Some(word) if word.bytes.strip_prefix(b"$End") == Some(name) => {
            cursor.line_text();
            Ok(())
        }
        Some(word) => {
            let what = format!("expected $End{label}, found {}", quote(word.bytes));
            Err(cursor.syntax(word.line, what, "Check the count of the section"))
        }
        None => Err(MeshError::Syntax(Flaw::new(
            cursor.here(),
            format!("end of file before $End{label}"),
            "The file was truncated; write it again",
        ))),
    }
}

/// Advances past the line `$EndName` of an ignored section, whose content may be binary.
fn skip_section(cursor: &mut Cursor<'_>, section: Word<'_>) -> Result<(), MeshError> {
    let name = &section.bytes[1..];
    while let Some(line) = cursor.line_text() {
        // In binary files the marker need not follow a line break.
        let marker = line
            .bytes
            .windows(4)
            .rposition(|w| w == b"$End")
            .map(|at| &line.bytes[at + 4..]);
        if marker == Some(name) {
            return Ok(());
        }
    }
    let what = format!("end of file inside the section {}", quote(section.bytes));
    Err(cursor.syntax(
        section.line,
        what,
        "Each section must end with $End and its name",
    ))
}
