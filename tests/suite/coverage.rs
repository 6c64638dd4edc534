//! `docs/theory/coverage.md` names files, names in them, scenes, keys and counts that there are.
//!
//! A cell names a file by its path, and after it, set off by a space or by a comma and a space, what is in the file. What stands for itself is a key of scene
//! files in the column of the program, and a bundled scene or its settings in the column of what shows it.

use std::fs;
use std::path::{Path, PathBuf};

use pliant::scene::bundled;

const PAGE: &str = "docs/theory/coverage.md";
const KEYS: &str = "docs/reference/scene";
const VERDICTS: [&str; 4] = ["full", "partial", "differs", "absent"];

/// The columns whose names are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Program,
    ShownBy,
    Verdict,
}

/// A feature of a paper.
struct Row {
    paper: String,
    place: String,
    program: String,
    shown_by: String,
    verdict: String,
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(root(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The cells of a row of a table.
fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix('|').and_then(|l| l.strip_suffix('|'));
    let inner = inner.unwrap_or_else(|| panic!("{PAGE}: no row of a table: {line}"));
    inner
        .split('|')
        .map(|cell| cell.trim().to_owned())
        .collect()
}

/// Rows of tables, without headings and rules.
fn table_rows(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with('|'));
    lines.skip(2).map(cells).collect()
}

/// The rows of all papers.
fn rows(page: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let paper = section.lines().next().unwrap_or_default();
        for cells in table_rows(section) {
            let [place, program, shown_by, verdict] = <[String; 4]>::try_from(cells)
                .unwrap_or_else(|cells| panic!("{PAGE}, {paper}: not four cells: {cells:?}"));
            rows.push(Row {
                paper: paper.to_owned(),
                place,
                program,
                shown_by,
                verdict,
            });
        }
    }
    rows
}

impl Row {
    /// The verdict, and the reason after it.
    fn judged(&self) -> (&str, Option<&str>) {
        match self.verdict.split_once(": ") {
            Some((verdict, reason)) => (verdict, Some(reason)),
            None => (&self.verdict, None),
        }
    }

    fn has_verdict(&self, verdict: &str) -> bool {
        self.judged().0 == verdict
    }
}

/// Whether `text` has `name` as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// Whether the scene reference has the key of a setting such as `contact.model = "sap"`.
fn is_key(setting: &str, reference: &str) -> bool {
    let path = setting.split('=').next().unwrap_or_default().trim();
    let key = path.rsplit('.').next().unwrap_or_default();
    reference.contains(&format!("`{key}`"))
}

/// How many files and scenes a cell names; what it names in vain goes to `faults`.
fn named(cell: &str, column: Column, reference: &str, faults: &mut Vec<String>) -> usize {
    let mut count = 0;
    let mut file: Option<String> = None;
    let parts: Vec<&str> = cell.split('`').collect();
    for pair in parts.chunks_exact(2) {
        let (before, item) = (pair[0], pair[1]);
        let is_path = item.contains('/') && !item.contains([' ', '=']);
        if is_path {
            file = fs::read_to_string(root(item)).ok();
            count += 1;
            if file.is_none() {
                faults.push(format!("no file {item}"));
            }
            continue;
        }
        match (&file, column) {
            (Some(text), _) if matches!(before, " " | ", ") => {
                if !item.split("::").all(|name| has_word(text, name)) {
                    faults.push(format!("no {item} in its file"));
                }
                continue;
            }
            (_, Column::Program) if !is_key(item, reference) => {
                faults.push(format!("no key of scene files: {item}"));
            }
            (_, Column::ShownBy) if !item.starts_with("--set ") => {
                count += 1;
                if bundled::scene(item).is_none() {
                    faults.push(format!("no bundled scene {item}"));
                }
            }
            _ => {}
        }
        file = None;
    }
    count
}

#[test]
fn everything_that_the_page_names_exists() {
    let entries = fs::read_dir(root(KEYS)).expect("the folder exists");
    let pages = entries.map(|entry| entry.expect("a readable entry").path());
    let reference: String = pages
        .map(|page| fs::read_to_string(page).expect("a readable page"))
        .collect();
    let mut faults = Vec::new();
    let rows = rows(&read(PAGE));
    for row in &rows {
        let mut found = Vec::new();
        let in_program = named(&row.program, Column::Program, &reference, &mut found);
        let shown = named(&row.shown_by, Column::ShownBy, &reference, &mut found);
        named(&row.verdict, Column::Verdict, &reference, &mut found);
        if !row.has_verdict("absent") {
            if in_program == 0 {
                found.push("no file".into());
            }
            if shown == 0 && !row.shown_by.contains("](") {
                found.push("nothing shows it".into());
            }
        }
        let at = |fault| format!("{}, {}: {fault}", row.paper, row.place);
        faults.extend(found.into_iter().map(at));
    }
    assert!(rows.len() > 100, "rows are found");
    assert!(faults.is_empty(), "{PAGE}: {faults:#?}");
}

#[test]
fn every_row_has_a_verdict_and_its_reason() {
    for row in rows(&read(PAGE)) {
        let (verdict, reason) = row.judged();
        let at = format!("{PAGE}, {}, {}", row.paper, row.place);
        assert!(VERDICTS.contains(&verdict), "{at}: {verdict}");
        let is_reasoned = reason.is_some_and(|reason| !reason.trim().is_empty());
        assert_eq!(is_reasoned, verdict != "full", "{at}: the reason");
        let is_linked = reason.is_some_and(|reason| reason.contains("]("));
        assert!(verdict != "differs" || is_linked, "{at}: no link");
    }
}

#[test]
fn the_counts_are_those_of_the_rows() {
    let page = read(PAGE);
    let rows = rows(&page);
    let head = page.split("\n## ").next().unwrap_or_default();
    let counts = table_rows(head);
    let mut papers: Vec<&str> = rows.iter().map(|row| row.paper.as_str()).collect();
    papers.dedup();
    assert_eq!(
        counts.len(),
        papers.len() + 1,
        "{PAGE}: a line for each paper, and the sum"
    );
    let expected = |own: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let of = |verdict: &str| {
            rows.iter()
                .filter(|row| own(row) && row.has_verdict(verdict))
                .count()
        };
        let mut numbers: Vec<usize> = VERDICTS.iter().map(|verdict| of(verdict)).collect();
        numbers.push(rows.iter().filter(|row| own(row)).count());
        numbers.iter().map(ToString::to_string).collect()
    };
    for (paper, line) in papers.iter().zip(&counts) {
        assert!(
            line[0].starts_with(&format!("[{paper}](")),
            "{PAGE}: {paper}"
        );
        assert_eq!(
            line[1..],
            expected(&|row| row.paper == *paper),
            "{PAGE}: {paper}"
        );
    }
    assert_eq!(
        counts[papers.len()][1..],
        expected(&|_| true),
        "{PAGE}: all"
    );
}
