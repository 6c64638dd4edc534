//! Names of the vertices and elements of a file in messages, and their locations in it.

use super::error::{FilePosition, Location};

/// Numbering of the items of one kind in the file.
#[derive(Clone, Debug)]
pub(crate) enum Numbering {
    /// Consecutive, from this number.
    From(u64),
    /// Explicit numbers.
    Tags(Vec<u64>),
    /// Vertices of an STL file: corner `i % 3` of triangle `i / 3`.
    Corners,
}

/// Positions of the items in the file.
#[derive(Clone, Debug)]
pub(crate) enum FilePositions {
    Unknown,
    /// The line of each.
    Lines(Vec<u32>),
    /// Equally spaced records of a binary file.
    Bytes {
        first: u64,
        stride: u64,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Naming {
    pub(crate) word: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) numbering: Numbering,
    pub(crate) positions: FilePositions,
}

impl Naming {
    pub(crate) fn counted(word: &'static str, plural: &'static str, first: u64) -> Self {
        Self {
            word,
            plural,
            numbering: Numbering::From(first),
            positions: FilePositions::Unknown,
        }
    }

    /// The number as in the file.
    pub(crate) fn number(&self, item: u32) -> String {
        match &self.numbering {
            Numbering::From(first) => (first + u64::from(item)).to_string(),
            Numbering::Tags(tags) => tags[item as usize].to_string(),
            Numbering::Corners => format!("{}.{}", item / 3, item % 3),
        }
    }

    /// "vertex 5", "triangle 7, corner 2".
    pub(crate) fn name(&self, item: u32) -> String {
        match self.numbering {
            Numbering::Corners => format!("triangle {}, corner {}", item / 3, item % 3),
            _ => format!("{} {}", self.word, self.number(item)),
        }
    }

    fn position(&self, item: u32) -> FilePosition {
        match &self.positions {
            FilePositions::Unknown => FilePosition::Whole,
            FilePositions::Lines(lines) => FilePosition::Line(lines[item as usize]),
            FilePositions::Bytes { first, stride } => {
                FilePosition::Byte(first + stride * u64::from(item))
            }
        }
    }
}

/// Names and locations of all items in one file.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) file: String,
    pub(crate) vertices: Naming,
    pub(crate) elements: Naming,
}

impl Names {
    /// For arrays in memory: all numbered from 0.
    pub(crate) fn of_arrays(file: &str, element: &'static str, elements: &'static str) -> Self {
        Self {
            file: file.to_owned(),
            vertices: Naming::counted("vertex", "vertices", 0),
            elements: Naming::counted(element, elements, 0),
        }
    }

    pub(crate) fn whole(&self) -> Location {
        Location::new(&self.file, FilePosition::Whole)
    }

    pub(crate) fn vertex_location(&self, vertex: u32) -> Location {
        Location::new(&self.file, self.vertices.position(vertex))
    }

    pub(crate) fn element_location(&self, element: u32) -> Location {
        Location::new(&self.file, self.elements.position(element))
    }

    pub(crate) fn vertex_list(&self, vertices: &[u32]) -> String {
        let numbers: Vec<String> = vertices
            .iter()
            .map(|vertex| self.vertices.number(*vertex))
            .collect();
        numbers.join(" ")
    }

    /// "cell 3 (line 17), cell 4 (line 18) and 12 more".
    pub(crate) fn list(&self, naming: &Naming, items: &[u32]) -> String {
        const NAMED_MAX: usize = 4;
        let mut text = String::new();
        for (k, item) in items.iter().take(NAMED_MAX).enumerate() {
            if k > 0 {
                text.push_str(", ");
            }
            text.push_str(&naming.name(*item));
            if let FilePosition::Line(line) = naming.position(*item) {
                text.push_str(&format!(" (line {line})"));
            }
        }
        if items.len() > NAMED_MAX {
            text.push_str(&format!(" and {} more", items.len() - NAMED_MAX));
        }
        text
    }

    pub(crate) fn element_list(&self, elements: &[u32]) -> String {
        self.list(&self.elements, elements)
    }
}
