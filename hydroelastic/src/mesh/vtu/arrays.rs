//! Decoding the numbers of one `<DataArray>`.

use crate::mesh::base64;
use crate::mesh::cursor::Cursor;
use crate::mesh::error::{FilePosition, Flaw, Location, MeshError, presentable, quote};
use crate::mesh::scalar::{Endian, Scalar};
use roxmltree::Node;
use std::cell::Cell;

/// The largest compression ratio of deflate; a header that declares more is wrong.
const DEFLATE_RATIO_MAX: usize = 1032;

/// Settings of the root element that apply to all arrays.
pub(super) struct Context<'a> {
    pub(super) file: &'a str,
    pub(super) endian: Endian,
    pub(super) header: Scalar,
    pub(super) compression: Compression,
    pub(super) appended: Option<Appended<'a>>,
    /// Bytes that may still be decoded; limits the expansion of compressed or repeatedly referenced data.
    pub(super) budget: Cell<usize>,
}

/// Compression of binary arrays.
#[derive(PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Zlib,
    /// Not supported; an error only if there are binary arrays.
    Other(String),
}

pub(super) enum Appended<'a> {
    Raw(&'a [u8]),
    Base64(&'a [u8]),
}

/// The numbers of one array.
pub(super) enum Values {
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

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text { numbers, .. } => numbers.len(),
            Self::Binary { bytes, scalar, .. } => bytes.len() / scalar.size(),
        }
    }

    pub(super) fn float(&self, k: usize) -> f64 {
        match self {
            Self::Text { numbers, .. } => numbers[k],
            Self::Binary {
                bytes,
                scalar,
                endian,
            } => scalar.float(&bytes[k * scalar.size()..(k + 1) * scalar.size()], *endian),
        }
    }

    pub(super) fn integer(&self, k: usize) -> i64 {
        match self {
            // Integers in text arrays are checked to be below 2⁵³ in magnitude.
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

    pub(super) fn line(&self, k: usize) -> Option<u32> {
        match self {
            Self::Text { lines, .. } => lines.get(k).or(lines.last()).copied(),
            Self::Binary { .. } => None,
        }
    }
}

impl Context<'_> {
    fn spend(&self, bytes: usize) -> Result<(), String> {
        let left = self.budget.get().checked_sub(bytes);
        let left = left.ok_or("the arrays are far larger than the file itself")?;
        self.budget.set(left);
        Ok(())
    }
}

pub(super) fn read_array(
    node: Node<'_, '_>,
    context: &Context<'_>,
    location: &dyn Fn(Node<'_, '_>) -> Location,
) -> Result<Values, MeshError> {
    let name = presentable(node.attribute("Name").unwrap_or("Points"));
    let error =
        |what: String, remedy: &str| MeshError::Syntax(Flaw::new(location(node), what, remedy));
    let type_name = node.attribute("type").unwrap_or("");
    let scalar = Scalar::of_xml_name(type_name).ok_or_else(|| {
        error(
            format!("{name}: unknown type {}", quote(type_name.as_bytes())),
            "Use Float64, Int64 or UInt8",
        )
    })?;
    let text = node.text().unwrap_or("");
    let format = node.attribute("format").unwrap_or("ascii");
    if let Compression::Other(compressor) = &context.compression
        && format != "ascii"
    {
        let what = format!("compressor {}", quote(compressor.as_bytes()));
        let flaw = Flaw::new(location(node), what, "Save it uncompressed or with zlib");
        return Err(MeshError::Unsupported(flaw));
    }
    let bytes = match format {
        "ascii" => return read_text(node, text, scalar, context, location),
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
                    "Add the attribute offset, which appended arrays need",
                )
            })?;
            let beyond = || {
                error(
                    format!("{name}: offset {offset} lies beyond the data"),
                    "The file may be truncated",
                )
            };
            match &context.appended {
                None => {
                    return Err(error(
                        format!("{name}: there is no <AppendedData>"),
                        "The file may be truncated",
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
            return Err(error(what, "The format must be ascii, binary or appended"));
        }
    };
    let bytes = bytes.map_err(|what| {
        error(
            format!("{name}: {what}"),
            "The file was truncated or its header is wrong",
        )
    })?;
    if bytes.len() % scalar.size() != 0 {
        let what = format!(
            "{name}: {} bytes are not a multiple of the size of {type_name}",
            bytes.len()
        );
        return Err(error(what, "Check the type"));
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
    location: &dyn Fn(Node<'_, '_>) -> Location,
) -> Result<Values, MeshError> {
    let name = presentable(node.attribute("Name").unwrap_or("Points"));
    let first = node.first_child().map_or(node, |child| child);
    let line = match location(first).position {
        FilePosition::Line(line) => line,
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

/// The symbols of one array among all appended data, according to its header.
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
    let length = if context.compression == Compression::Zlib {
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

/// Extracts the bytes of one array: a length and the bytes, or zlib blocks preceded by their sizes.
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
    if context.compression == Compression::None {
        let length = number(0)?;
        let bytes = word.checked_add(length).and_then(|end| data.get(word..end));
        let bytes = bytes.ok_or_else(|| {
            format!(
                "{length} bytes are declared, but {} are present",
                data.len() - word
            )
        })?;
        context.spend(length)?;
        return Ok(bytes.to_vec());
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
        context.spend(size)?;
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
