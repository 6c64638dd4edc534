//! The tables of `docs/benchmarks.md`, `docs/gpu.md` and the README are those of `bench/results/*.json`, and the README's prose quotes
//! the same numbers.
//!
//! A table stands between the lines `<!-- table: NAME -->` and `<!-- end -->`.
//! `PLIANT_UPDATE_DOCS=1 cargo test --workspace --test suite -- benchmark_tables` prints the tables anew after a file has changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

const RESULTS: &str = "bench/results";
const PAGES: [&str; 3] = ["docs/benchmarks.md", "docs/gpu.md", "README.md"];

/// One measured table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Day of the measurement.
    date: String,
    /// Commit that was measured, where it was recorded.
    commit: Option<String>,
    /// Processor and load.
    machine: String,
    /// Threads of each engine; absent where the table compares them.
    threads: Option<u32>,
    /// The command that measures.
    command: String,
    columns: Vec<Column>,
    /// Numbers and labels by name.
    rows: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    heading: String,
    /// Text with `{name}` for a value of the row. `{name?}` may be absent; a cell that lacks another value is `-`.
    cell: String,
    #[serde(default)]
    align: Align,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Align {
    #[default]
    Left,
    Right,
}

fn root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(root(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

impl Table {
    fn named(name: &str) -> Self {
        let path = format!("{RESULTS}/{name}.json");
        serde_json::from_str(&read(&path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// Where the numbers come from, and the table in Markdown.
    fn markdown(&self) -> String {
        let commit = self.commit.iter().map(|commit| format!(", {commit}"));
        let threads = self.threads.iter().map(|threads| match threads {
            1 => ", one thread".to_owned(),
            n => format!(", {n} threads"),
        });
        let qualifiers: String = commit.chain(threads).collect();
        let mut text = format!(
            "{}, {}{qualifiers}; `{}`\n\n",
            self.date, self.machine, self.command
        );
        let headings = self.columns.iter().map(|column| column.heading.clone());
        let rule = self.columns.iter().map(|column| match column.align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        });
        text += &line(headings);
        text += &format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            text += &line(self.columns.iter().map(|column| column.of(row)));
        }
        text
    }

    /// A value of the row whose first column begins with `label`.
    fn number(&self, label: &str, name: &str) -> f64 {
        let row = self
            .rows
            .iter()
            .find(|row| self.columns[0].of(row).starts_with(label));
        let value = row.and_then(|row| row[name].as_f64());
        value.unwrap_or_else(|| panic!("{label}: no number {name}"))
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

impl Column {
    fn of(&self, row: &Map<String, Value>) -> String {
        let mut text = String::new();
        for (k, part) in self.cell.split(['{', '}']).enumerate() {
            if k % 2 == 0 {
                text += part;
                continue;
            }
            let (name, may_be_absent) = match part.strip_suffix('?') {
                Some(name) => (name, true),
                None => (part, false),
            };
            match row.get(name) {
                Some(value) => text += &shown(value),
                None if may_be_absent => {}
                None => return "-".into(),
            }
        }
        text
    }
}

/// A value as tables have it: whole numbers with separators of thousands.
fn shown(value: &Value) -> String {
    let Some(number) = value.as_u64() else {
        return value.as_str().map_or(value.to_string(), str::to_owned);
    };
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<_> = groups.map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Names of the tables on a page, and the page with all tables printed from their files.
fn renewed(page: &str) -> (Vec<String>, String) {
    let text = read(page);
    let (mut names, mut out, mut lines) = (Vec::new(), String::new(), text.lines());
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let marker = line.strip_prefix("<!-- table: ");
        if let Some(name) = marker.and_then(|rest| rest.strip_suffix(" -->")) {
            out += &Table::named(name).markdown();
            let end = lines.find(|line| *line == "<!-- end -->");
            assert!(end.is_some(), "{page}: no <!-- end --> after {line}");
            out += "<!-- end -->\n";
            names.push(name.to_owned());
        }
    }
    (names, out)
}

#[test]
fn pages_and_files_agree() {
    for page in PAGES {
        let (_, renewed) = renewed(page);
        if std::env::var_os("PLIANT_UPDATE_DOCS").is_some() {
            fs::write(root(page), renewed).unwrap_or_else(|e| panic!("{page}: {e}"));
            continue;
        }
        for (number, (found, expected)) in read(page).lines().zip(renewed.lines()).enumerate() {
            assert_eq!(
                found,
                expected,
                "{page}:{}: run with PLIANT_UPDATE_DOCS=1 to print the tables anew",
                number + 1
            );
        }
    }
}

#[test]
fn every_file_is_on_a_page() {
    let files = fs::read_dir(root(RESULTS)).expect("the folder exists");
    let files: BTreeSet<String> = files
        .map(|file| file.expect("a readable entry").path())
        .map(|path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into()
        })
        .collect();
    let names = PAGES.into_iter().flat_map(|page| renewed(page).0);
    assert_eq!(files, names.collect());
}

/// Checks that the README's prose has the text, whatever its line breaks are.
#[track_caller]
fn check_quoted(text: &str) {
    let readme = read("README.md");
    let words: Vec<&str> = readme.split_whitespace().collect();
    assert!(words.join(" ").contains(text), "README.md lacks {text:?}");
}

#[test]
fn the_readme_quotes_the_tables() {
    let rigid = Table::named("rigid-bodies");
    let ratio = |row: &str| rigid.number(row, "pliant") / rigid.number(row, "drake_sap");
    check_quoted(&format!(
        "{:.0}, {:.0} and {:.0} times Drake's rate",
        ratio("clutter"),
        ratio("ten-box stack"),
        ratio("7-joint arm")
    ));
    let patches = Table::named("contact-patches");
    let ratio = |row: &str| patches.number(row, "ratio_sap");
    check_quoted(&format!(
        "{:.1} times Drake's rate for a box on a box, {:.1} for ten balls in a bowl, {:.1} for 40 boxes in a bin, {:.0} for a gripper",
        ratio("`box-on-box`"),
        ratio("`bowl`"),
        ratio("`boxes`"),
        ratio("`pepper`")
    ));
    let fem = Table::named("finite-elements");
    let ratio = |row: &str| fem.number(row, "ratio");
    check_quoted(&format!(
        "{:.0} times Drake's rate for a cantilever without contact, {:.0} for a torus on a hook (29,520 degrees of freedom), \
         {:.1} for one link, {:.1} for a chain of a hundred",
        ratio("`cantilever`"),
        ratio("`torus`"),
        ratio("`link`"),
        ratio("`chain-100`")
    ));
    let chain = |column: &str| fem.number("`chain-100`", column);
    assert!(chain("pliant_ms") > chain("drake_ms"));
    check_quoted("With pliant's default model the chain is slower than Drake's.");
    let dynamics = &Table::named("robot-dynamics").rows[0];
    let fraction = |name: &str| shown(&dynamics[name]);
    check_quoted(&format!(
        "RNEA {}, CRBA {}, ABA {}, Jacobians {}",
        fraction("rnea"),
        fraction("crba"),
        fraction("aba"),
        fraction("jacobians")
    ));
}
