//! Reader of the section `$Elements`.

use super::element_types::element_type;
use super::layout::Layout;
use super::numbers::Numbers;
use crate::mesh::cells::CellKind;
use crate::mesh::error::{Flaw, MeshError};

/// Elements with node numbers as in the file.
pub(super) struct RawElements {
    pub(super) kinds: Vec<CellKind>,
    pub(super) tags: Vec<u64>,
    pub(super) lines: Vec<u32>,
    pub(super) ends: Vec<usize>,
    pub(super) nodes: Vec<u64>,
}

pub(super) fn read_elements(
    numbers: &mut Numbers<'_>,
    layout: Layout,
) -> Result<RawElements, MeshError> {
    let header = || "$Elements, first line".to_owned();
    let blocks = if layout == Layout::Version2 {
        1
    } else {
        numbers.count(8, 20, "element blocks")?
    };
    let total = numbers.count(4, 16, "elements")?;
    if layout == Layout::Version41 {
        numbers.tag(&header)?;
        numbers.tag(&header)?;
    }
    numbers.end_record(&header)?;
    let mut elements = RawElements {
        kinds: Vec::with_capacity(total),
        tags: Vec::with_capacity(total),
        lines: Vec::with_capacity(total),
        ends: Vec::with_capacity(total),
        nodes: Vec::new(),
    };
    for block in 0..blocks {
        let name = || format!("$Elements, block {block}");
        let line = numbers.cursor.line();
        let mut in_block = total;
        let mut block_type = None;
        if layout != Layout::Version2 {
            numbers.int(&name)?;
            numbers.int(&name)?;
            let code = numbers.int(&name)?;
            in_block = numbers.count(4, 16, "elements of a block")?;
            numbers.end_record(&name)?;
            block_type = Some(code);
        }
        if in_block > total - elements.kinds.len() {
            let left = total - elements.kinds.len();
            let what = format!(
                "{} has {in_block} elements, but only {left} are left",
                name()
            );
            return Err(numbers.cursor.syntax(
                line,
                what,
                "The element counts of all blocks must add up to the number in the first line",
            ));
        }
        for _ in 0..in_block {
            read_element(numbers, &mut elements, block_type, total)?;
        }
    }
    if elements.kinds.len() < total {
        let what = format!(
            "$Elements declares {total} elements, but its blocks contain {}",
            elements.kinds.len()
        );
        return Err(numbers.error_here(
            what,
            "The element counts of all blocks must add up to the number in the first line",
        ));
    }
    Ok(elements)
}

fn read_element(
    numbers: &mut Numbers<'_>,
    elements: &mut RawElements,
    block_type: Option<i64>,
    total: usize,
) -> Result<(), MeshError> {
    let line = numbers.cursor.line();
    let count = elements.kinds.len();
    let tag = numbers.tag(&|| format!("$Elements, element {count} of {total}"))?;
    let name = || format!("element {tag}");
    let code = match block_type {
        Some(code) => code,
        None => {
            let code = numbers.int(&name)?;
            let n_tags = numbers.count(2, 4, &format!("tags of element {tag}"))?;
            for _ in 0..n_tags {
                numbers.int(&name)?;
            }
            code
        }
    };
    let known = u32::try_from(code)
        .ok()
        .and_then(|code| element_type(code).map(|known| (code, known)));
    let Some((code, (_, dimension, n_nodes))) = known else {
        let what = format!("element {tag} has type {code}, which is unknown");
        let flaw = Flaw::new(
            numbers.cursor.location(line),
            what,
            "Supported are type 2 (triangle) and types 4 and 11 (tetrahedra of 4 and 10 nodes)",
        );
        return Err(MeshError::Unsupported(flaw));
    };
    let kind = match (code, dimension) {
        (2, _) => CellKind::Triangle,
        (3, _) => CellKind::Polygon,
        (4, _) => CellKind::Tet,
        (11, _) => CellKind::Tet10,
        (_, 0 | 1) => CellKind::Thin,
        (_, 2) => CellKind::OtherSurface(code),
        _ => CellKind::OtherVolume(code),
    };
    for _ in 0..n_nodes {
        let node = numbers.tag(&name)?;
        elements.nodes.push(node);
    }
    numbers.end_record(&name)?;
    elements.kinds.push(kind);
    elements.tags.push(tag);
    elements.lines.push(line);
    elements.ends.push(elements.nodes.len());
    Ok(())
}
