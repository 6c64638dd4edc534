//! Writer of files for ParaView: VTU files, and PVD files that list them over time.

use super::base64;
use super::error::{FilePosition, Flaw, Location, MeshError};
use nalgebra::{Matrix3, Vector3};
use std::fmt::Write as _;
use std::io::Write;

/// The cells that connect the points of a VTU file, by indices of points counted from 0. A file has cells of one kind.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{VtuCells, VtuEncoding, VtuFile};
///
/// // A square as one polygon, and its corners as particles.
/// let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| Vector3::new(x, y, 0.0));
/// let text = |cells| {
///     let file = VtuFile { points: &corners, cells, point_data: Vec::new(), cell_data: Vec::new() };
///     let mut text = Vec::new();
///     file.write(&mut text, VtuEncoding::Ascii).map(|()| String::from_utf8_lossy(&text).into_owned())
/// };
/// assert!(text(VtuCells::Polygons(&[4]))?.contains("NumberOfCells=\"1\""));
/// assert!(text(VtuCells::Vertices)?.contains("NumberOfCells=\"4\""));
/// let error = text(VtuCells::Lines(&[[0, 4]])).unwrap_err();
/// assert!(error.to_string().contains("point 4 of 4"));
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum VtuCells<'a> {
    /// Each point is a cell: particles.
    Vertices,
    /// Segments.
    Lines(&'a [[u32; 2]]),
    /// Triangles.
    Triangles(&'a [[u32; 3]]),
    /// Tetrahedra.
    Tets(&'a [[u32; 4]]),
    /// Flat polygons with corners of their own: the number of points of each, in order.
    Polygons(&'a [u32]),
}

/// The values of a field, one per point or cell.
///
/// ```
/// use nalgebra::{Matrix3, Vector3};
/// use pliant_hydroelastic::mesh::{VtuArray, VtuCells, VtuEncoding, VtuFile, VtuValues};
///
/// // The stress of a particle: nine numbers, row by row.
/// let stresses = [Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)];
/// let file = VtuFile {
///     points: &[Vector3::zeros()],
///     cells: VtuCells::Vertices,
///     point_data: vec![VtuArray { name: "stress", values: VtuValues::Matrices(&stresses) }],
///     cell_data: Vec::new(),
/// };
/// let mut text = Vec::new();
/// file.write(&mut text, VtuEncoding::Ascii)?;
/// let text = String::from_utf8(text)?;
/// assert!(text.contains("Name=\"stress\" NumberOfComponents=\"9\"") && text.contains("1e0 2e0 3e0 4e0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum VtuValues<'a> {
    /// One number each.
    Scalars(&'a [f64]),
    /// One vector each.
    Vectors(&'a [Vector3<f64>]),
    /// One matrix each, written row by row.
    Matrices(&'a [Matrix3<f64>]),
    /// One integer each.
    Integers(&'a [i64]),
}

/// A named field of a [`VtuFile`], with one value per point or per cell.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{VtuArray, VtuCells, VtuEncoding, VtuFile, VtuValues};
///
/// // Two particles need two speeds.
/// let write = |speeds: &[f64]| {
///     let file = VtuFile {
///         points: &[Vector3::zeros(), Vector3::x()],
///         cells: VtuCells::Vertices,
///         point_data: vec![VtuArray { name: "speed", values: VtuValues::Scalars(speeds) }],
///         cell_data: Vec::new(),
///     };
///     file.write(&mut Vec::new(), VtuEncoding::Ascii)
/// };
/// assert!(write(&[0.1, 0.2]).is_ok());
/// let error = write(&[0.1]).unwrap_err();
/// assert!(error.to_string().contains("field \"speed\" has 1 values for 2 points"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VtuArray<'a> {
    /// Its name, as ParaView shows it.
    pub name: &'a str,
    /// Its values.
    pub values: VtuValues<'a>,
}

/// Encoding of the numbers of a VTU file.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, VtuCells, VtuEncoding, VtuFile, surface_from_bytes};
///
/// // A third of a metre is read back bit for bit from both.
/// let points = [Vector3::zeros(), Vector3::x() / 3.0, Vector3::y()];
/// let file = VtuFile { points: &points, cells: VtuCells::Triangles(&[[0, 1, 2]]), point_data: Vec::new(), cell_data: Vec::new() };
/// for encoding in [VtuEncoding::Ascii, VtuEncoding::Base64] {
///     let mut bytes = Vec::new();
///     file.write(&mut bytes, encoding)?;
///     let is_readable = bytes.windows(8).any(|word| word == b"33333333");
///     assert_eq!(is_readable, encoding == VtuEncoding::Ascii);
///     let (mesh, _) = surface_from_bytes(&bytes, "a.vtu", SurfaceUse::Cloth, &SurfaceOptions::default())?;
///     assert_eq!(mesh.vertices(), points);
/// }
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VtuEncoding {
    /// Decimal, exact on reading back: human-readable.
    Ascii,
    /// Base64 of little-endian binary, inline in each array: smaller and faster.
    Base64,
}

/// The content of a VTU file.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{VtuArray, VtuCells, VtuEncoding, VtuFile, VtuValues};
///
/// let file = VtuFile {
///     points: &[Vector3::zeros(), Vector3::x()],
///     cells: VtuCells::Lines(&[[0, 1]]),
///     point_data: vec![VtuArray { name: "temperature", values: VtuValues::Scalars(&[290.0, 310.0]) }],
///     cell_data: Vec::new(),
/// };
/// let mut text = Vec::new();
/// file.write(&mut text, VtuEncoding::Ascii)?;
/// assert!(String::from_utf8(text)?.contains("Name=\"temperature\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VtuFile<'a> {
    /// Positions, m.
    pub points: &'a [Vector3<f64>],
    /// The cells that connect them.
    pub cells: VtuCells<'a>,
    /// Fields with one value per point.
    pub point_data: Vec<VtuArray<'a>>,
    /// Fields with one value per cell.
    pub cell_data: Vec<VtuArray<'a>>,
}

impl VtuValues<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Scalars(values) => values.len(),
            Self::Vectors(values) => values.len(),
            Self::Matrices(values) => values.len(),
            Self::Integers(values) => values.len(),
        }
    }

    fn components(&self) -> usize {
        match self {
            Self::Scalars(_) | Self::Integers(_) => 1,
            Self::Vectors(_) => 3,
            Self::Matrices(_) => 9,
        }
    }
}

impl VtuCells<'_> {
    /// VTK's cell type, the end of each cell in the list of corners, and that list.
    fn corners(&self, n_points: usize) -> (i64, Vec<i64>, Vec<i64>) {
        fn flat<const N: usize>(cells: &[[u32; N]]) -> Vec<i64> {
            cells
                .iter()
                .flatten()
                .map(|corner| i64::from(*corner))
                .collect()
        }
        let (cell_type, corners_each, corners) = match self {
            Self::Vertices => (1, 1, (0..n_points as i64).collect()),
            Self::Lines(cells) => (3, 2, flat(cells)),
            Self::Triangles(cells) => (5, 3, flat(cells)),
            Self::Tets(cells) => (10, 4, flat(cells)),
            Self::Polygons(counts) => {
                let mut n = 0;
                let ends = counts.iter().map(|count| {
                    n += i64::from(*count);
                    n
                });
                return (7, ends.collect(), (0..n).collect());
            }
        };
        let n_cells = corners.len() / corners_each;
        let ends = (1..=n_cells).map(|c| (c * corners_each) as i64).collect();
        (cell_type, ends, corners)
    }
}

impl VtuFile<'_> {
    /// Writes the file.
    ///
    /// # Errors
    /// [`MeshError::Setting`] when a field does not have one value per point or cell, or a cell refers to a point that
    /// does not exist; [`MeshError::Write`] when the stream fails.
    pub fn write(&self, out: &mut dyn Write, encoding: VtuEncoding) -> Result<(), MeshError> {
        let (cell_type, offsets, connectivity) = self.cells.corners(self.points.len());
        let n_cells = offsets.len();
        self.validate(&connectivity, n_cells)?;
        let types = vec![cell_type; n_cells];

        let mut text = String::new();
        text.push_str("<?xml version=\"1.0\"?>\n");
        text.push_str("<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" ");
        text.push_str("byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n");
        let counts = (self.points.len(), n_cells);
        text.push_str(&format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>\n",
            counts.0, counts.1
        ));
        array(
            &mut text,
            "Points",
            &VtuValues::Vectors(self.points),
            encoding,
        );
        text.push_str("</Points>\n<Cells>\n");
        for (name, values) in [
            ("connectivity", &connectivity),
            ("offsets", &offsets),
            ("types", &types),
        ] {
            array(&mut text, name, &VtuValues::Integers(values), encoding);
        }
        text.push_str("</Cells>\n");
        for (section, fields) in [
            ("PointData", &self.point_data),
            ("CellData", &self.cell_data),
        ] {
            if !fields.is_empty() {
                text.push_str(&format!("<{section}>\n"));
                fields
                    .iter()
                    .for_each(|field| array(&mut text, field.name, &field.values, encoding));
                text.push_str(&format!("</{section}>\n"));
            }
        }
        text.push_str("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n");
        Ok(out.write_all(text.as_bytes())?)
    }

    fn validate(&self, connectivity: &[i64], n_cells: usize) -> Result<(), MeshError> {
        let refuse = |what: String, remedy: &str| {
            Err(MeshError::Setting(Flaw::new(
                Location::new("VTU output", FilePosition::Whole),
                what,
                remedy,
            )))
        };
        let n_points = self.points.len();
        if let Some(corner) = connectivity
            .iter()
            .find(|corner| **corner >= n_points as i64)
        {
            return refuse(
                format!("a cell refers to point {corner} of {n_points}"),
                "Points are numbered from 0",
            );
        }
        for (fields, count, item) in [
            (&self.point_data, n_points, "points"),
            (&self.cell_data, n_cells, "cells"),
        ] {
            if let Some(field) = fields.iter().find(|field| field.values.len() != count) {
                let what = format!(
                    "field {:?} has {} values for {count} {item}",
                    field.name,
                    field.values.len()
                );
                return refuse(what, "A field needs one value for each");
            }
        }
        Ok(())
    }
}

fn array(text: &mut String, name: &str, values: &VtuValues<'_>, encoding: VtuEncoding) {
    let kind = if matches!(values, VtuValues::Integers(_)) {
        "Int64"
    } else {
        "Float64"
    };
    let format = if encoding == VtuEncoding::Ascii {
        "ascii"
    } else {
        "binary"
    };
    let (name, components) = (escape(name), values.components());
    text.push_str(&format!(
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"{format}\">\n"
    ));
    match encoding {
        VtuEncoding::Ascii => ascii(text, values),
        VtuEncoding::Base64 => {
            let mut bytes = ((8 * components * values.len()) as u64)
                .to_le_bytes()
                .to_vec();
            match values {
                VtuValues::Integers(values) => {
                    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()))
                }
                _ => each_float(values, |value| bytes.extend(value.to_le_bytes())),
            }
            base64::encode(&bytes, text);
            text.push('\n');
        }
    }
    text.push_str("</DataArray>\n");
}

/// One item per line.
fn ascii(text: &mut String, values: &VtuValues<'_>) {
    let components = values.components();
    let mut written = 0;
    let mut put = |number: std::fmt::Arguments<'_>| {
        written += 1;
        let end = if written % components == 0 { '\n' } else { ' ' };
        write!(text, "{number}{end}").expect("writing to a string cannot fail");
    };
    match values {
        VtuValues::Integers(values) => values.iter().for_each(|value| put(format_args!("{value}"))),
        // The shortest decimal that reads back as the same number.
        _ => each_float(values, |value| put(format_args!("{value:e}"))),
    }
}

fn each_float(values: &VtuValues<'_>, mut put: impl FnMut(f64)) {
    match values {
        VtuValues::Scalars(values) => values.iter().for_each(|value| put(*value)),
        VtuValues::Vectors(values) => values
            .iter()
            .for_each(|vector| vector.iter().for_each(|x| put(*x))),
        VtuValues::Matrices(values) => {
            values
                .iter()
                .for_each(|matrix| matrix.transpose().iter().for_each(|x| put(*x)));
        }
        VtuValues::Integers(values) => values.iter().for_each(|value| put(*value as f64)),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A PVD file: the VTU files by time and part (body) of the scene.
///
/// ```
/// use pliant_hydroelastic::mesh::PvdSeries;
///
/// let mut series = PvdSeries::default();
/// series.add(0.0, 0, "torus_0000.vtu");
/// series.add(0.1, 0, "torus_0001.vtu");
/// let mut file = Vec::new();
/// series.write(&mut file)?;
/// assert!(String::from_utf8_lossy(&file).contains(r#"<DataSet timestep="0.1" part="0" file="torus_0001.vtu"/>"#));
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PvdSeries {
    entries: Vec<(f64, u32, String)>,
}

impl PvdSeries {
    /// Adds one file, its path relative to that of the PVD file; `time_s` in seconds.
    pub fn add(&mut self, time_s: f64, part: u32, file: &str) {
        self.entries.push((time_s, part, file.to_owned()));
    }

    /// Writes the list. Call it after each frame so that a viewer can follow the simulation.
    ///
    /// # Errors
    /// [`MeshError::Write`] when the stream fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), MeshError> {
        let mut text =
            String::from("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" ");
        text.push_str("byte_order=\"LittleEndian\">\n<Collection>\n");
        for (time, part, file) in &self.entries {
            let file = escape(file);
            text.push_str(&format!(
                "<DataSet timestep=\"{time}\" part=\"{part}\" file=\"{file}\"/>\n"
            ));
        }
        text.push_str("</Collection>\n</VTKFile>\n");
        Ok(out.write_all(text.as_bytes())?)
    }
}
