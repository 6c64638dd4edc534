//! Notes of files and steps for people and programs: notes of one kind are counted, and each file is named once.

use serde::Serialize;

/// Notes of one kind above which only the first is shown.
const SHOWN_OF_KIND: usize = 2;

/// Notes, sorted by whether something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Notes {
    /// What was ignored, repaired or chosen.
    notes: Vec<String>,
    /// What was kept or computed, and is probably not meant or not accurate.
    warnings: Vec<String>,
}

impl Notes {
    /// The notes `all`, those of one kind counted.
    pub(super) fn of(all: &[String]) -> Self {
        let (warnings, notes) = condensed(all)
            .into_iter()
            .partition(|note| note.contains("suspicious"));
        Self { notes, warnings }
    }

    /// Adds notes about results.
    pub(super) fn note(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(more);
        self
    }

    /// Adds warnings about results.
    pub(super) fn warn(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(more);
        self
    }

    /// Notes, then warnings about files and steps.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().chain(&self.warnings)
    }

    /// One paragraph for each file, whose path stands above its notes, with lines of at most `columns` characters if words permit.
    pub(super) fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        let mut file = None;
        for note in self.all() {
            let (path, line, rest) = located(note);
            if path.is_some() && path != file {
                text += &format!("{}:\n", path.unwrap_or_default());
            }
            file = path;
            let indent = if path.is_some() { "  " } else { "" };
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            text += &wrapped(&format!("{line}{rest}"), indent, columns);
        }
        text
    }
}

/// Of more than two notes of a kind the first, with the number of the others.
pub(super) fn condensed(notes: &[String]) -> Vec<String> {
    let kinds: Vec<String> = notes.iter().map(|note| kind(note)).collect();
    let mut shown = Vec::new();
    for (k, note) in notes.iter().enumerate() {
        let of_kind = kinds.iter().filter(|other| **other == kinds[k]).count();
        if of_kind <= SHOWN_OF_KIND {
            shown.push(note.clone());
        } else if !kinds[..k].contains(&kinds[k]) {
            shown.push(format!("{note} (and {} more of this kind)", of_kind - 1));
        }
    }
    shown
}

/// The note without what differs from one object to the next: quoted names, numbers, paths.
fn kind(note: &str) -> String {
    let mut kind = String::new();
    for (part, text) in note.split('"').enumerate() {
        if part % 2 == 1 {
            kind.push('_');
            continue;
        }
        for word in text.split_inclusive(char::is_whitespace) {
            match word.contains('/') || word.contains(|c: char| c.is_ascii_digit()) {
                true => kind.push_str("_ "),
                false => kind.push_str(word),
            }
        }
    }
    kind
}

/// Path, line and text of `PATH:LINE: TEXT` or `PATH: TEXT`; a path has a slash or a dot, and no space.
fn located(note: &str) -> (Option<&str>, Option<&str>, &str) {
    let Some((place, rest)) = note.split_once(": ") else {
        return (None, None, note);
    };
    if place.contains([' ', '"']) || !place.contains(['/', '.']) {
        return (None, None, note);
    }
    match place.split_once(':') {
        Some((path, line)) => (Some(path), Some(line), rest),
        None => (Some(place), None, rest),
    }
}

/// `text` in lines of at most `columns` characters, those after the first indented further by two.
pub(super) fn wrapped(text: &str, indent: &str, columns: usize) -> String {
    let mut lines = String::new();
    let mut line = indent.to_owned();
    for word in text.split_whitespace() {
        let is_empty = line.trim().is_empty();
        if !is_empty && line.chars().count() + 1 + word.chars().count() > columns {
            lines += &format!("{line}\n");
            line = format!("{indent}  {word}");
        } else if is_empty {
            line += word;
        } else {
            line += &format!(" {word}");
        }
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn notes_of_one_kind_are_counted_and_others_stay() {
        let all = notes(&[
            "a.urdf:3: suspicious: link \"l1\": mass 2 kg",
            "robot \"r\" sits",
            "a.urdf:9: suspicious: link \"l2\": mass 3.5 kg",
            "a.urdf:12: suspicious: link \"l3\": mass 4 kg",
        ]);
        let expected = notes(&[
            "a.urdf:3: suspicious: link \"l1\": mass 2 kg (and 2 more of this kind)",
            "robot \"r\" sits",
        ]);
        assert_eq!(condensed(&all), expected);
        assert_eq!(condensed(&all[..3]), all[..3]);
    }

    #[test]
    fn warnings_are_told_from_notes() {
        let all = notes(&["m.obj: ignored: 2 materials", "m.obj: suspicious: far away"]);
        let sorted = Notes::of(&all).warn(["no solution".to_owned()]);
        assert_eq!(sorted.notes, all[..1]);
        assert_eq!(sorted.warnings, [&*all[1], "no solution"]);
    }

    #[test]
    fn a_path_stands_once_above_its_notes() {
        let all = notes(&[
            "r/a.urdf:3: ignored: <gazebo>",
            "r/a.urdf:40: repaired: prefix",
        ]);
        let expected = "r/a.urdf:\n  line 3: ignored: <gazebo>\n  line 40: repaired: prefix\n";
        assert_eq!(Notes::of(&all).text(70), expected);
    }

    #[test]
    fn lines_end_at_the_column() {
        assert_eq!(
            wrapped("one two three four", "  ", 11),
            "  one two\n    three\n    four\n"
        );
    }
}
