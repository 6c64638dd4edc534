//! Reader of the section `$Nodes`.

use nalgebra::Vector3;

use super::layout::Layout;
use super::numbers::Numbers;
use crate::mesh::error::MeshError;

/// Numbers, positions and lines in the file.
type Nodes = (Vec<u64>, Vec<Vector3<f64>>, Vec<u32>);

pub(super) fn read_nodes(numbers: &mut Numbers<'_>, layout: Layout) -> Result<Nodes, MeshError> {
    let header = || "$Nodes, first line".to_owned();
    let blocks = if layout == Layout::Version2 {
        1
    } else {
        numbers.count(8, 20, "node blocks")?
    };
    let total = numbers.count(7, 32, "nodes")?;
    if layout == Layout::Version41 {
        numbers.tag(&header)?;
        numbers.tag(&header)?;
    }
    numbers.end_record(&header)?;
    let mut tags = Vec::with_capacity(total);
    let mut points = Vec::with_capacity(total);
    let mut lines = Vec::with_capacity(total);
    for block in 0..blocks {
        let name = || format!("$Nodes, block {block}");
        let line = numbers.cursor.line();
        let mut parameters = 0;
        let mut in_block = total;
        if layout != Layout::Version2 {
            let first = numbers.int(&name)?;
            let second = numbers.int(&name)?;
            let dimension = if layout == Layout::Version41 {
                first
            } else {
                second
            };
            let parametric = numbers.int(&name)?;
            in_block = numbers.count(7, 32, "nodes of a block")?;
            numbers.end_record(&name)?;
            if !(0..=3).contains(&dimension) || !(0..=1).contains(&parametric) {
                let what = format!("{}: dimension {dimension}, parametric {parametric}", name());
                return Err(numbers.cursor.syntax(
                    line,
                    what,
                    "The dimension must be 0 to 3, parametric 0 or 1",
                ));
            }
            parameters = parametric * dimension;
        }
        if in_block > total - tags.len() {
            let what = format!(
                "{} has {in_block} nodes, but only {} are left",
                name(),
                total - tags.len()
            );
            return Err(numbers.cursor.syntax(
                line,
                what,
                "The node counts of all blocks must add up to the number in the first line",
            ));
        }
        if layout == Layout::Version41 {
            for _ in 0..in_block {
                tags.push(numbers.tag(&|| format!("{}, node number", name()))?);
                numbers.end_record(&name)?;
            }
        }
        for _ in 0..in_block {
            let line = numbers.cursor.line();
            if layout != Layout::Version41 {
                tags.push(numbers.tag(&|| format!("node {} of {total}", points.len()))?);
            }
            let tag = tags[points.len()];
            let name = || format!("node {tag}");
            let mut point = Vector3::zeros();
            for x in point.iter_mut() {
                *x = numbers.coordinate(&name)?;
            }
            for _ in 0..parameters {
                numbers.coordinate(&name)?;
            }
            numbers.end_record(&name)?;
            points.push(point);
            lines.push(line);
        }
    }
    if points.len() < total {
        let what = format!(
            "$Nodes declares {total} nodes, but its blocks contain {}",
            points.len()
        );
        return Err(numbers.error_here(
            what,
            "The node counts of all blocks must add up to the number in the first line",
        ));
    }
    Ok((tags, points, lines))
}
