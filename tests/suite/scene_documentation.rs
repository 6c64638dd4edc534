//! `docs/reference/scene` says what the program accepts: its tables are the schema's, its examples are one scene that runs.
//!
//! `PLIANT_UPDATE_DOCS=1 cargo test --test suite scene_documentation` prints the tables anew after a change of the schema.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, quantities_markdown, tables};
use pliant_contact_sap::SolverKind;
use pliant_fem::MATERIAL_PRESETS;

const FOLDER: &str = "docs/reference/scene";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

fn read(page: &str) -> String {
    fs::read_to_string(folder().join(page)).unwrap_or_else(|e| panic!("{FOLDER}/{page}: {e}"))
}

/// The index, then the pages that it links to, in its order.
fn pages() -> Vec<String> {
    let index = read("README.md");
    let linked = index.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        (target.ends_with(".md") && !target.contains('/')).then(|| target.to_owned())
    });
    std::iter::once("README.md".to_owned())
        .chain(linked)
        .collect()
}

/// The Markdown that belongs under a marker line such as `<!-- keys: [contact] -->`.
fn table_of(marker: &str) -> Option<String> {
    let inner = marker.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    if let Some(name) = inner.strip_prefix("keys: ") {
        let table = tables().into_iter().find(|table| table.name == name);
        let table = table
            .unwrap_or_else(|| panic!("{FOLDER}: no table of the schema has the name {name:?}"));
        if table.keys.is_empty() {
            return Some(format!("`{name}` has no keys: `{{}}`.\n"));
        }
        return Some(format!("`{name}`\n\n{}", table.markdown()));
    }
    match inner {
        "quantities" => Some(quantities_markdown()),
        "presets" => {
            let mut table = String::from(
                "Presets of `constitutive_material`\n\n| name | E, Pa | ν | density, kg/m³ | source |\n|---|---|---|---|---|\n",
            );
            for preset in MATERIAL_PRESETS {
                table += &format!(
                    "| `{}` | {:e} | {} | {} | {} |\n",
                    preset.name,
                    preset.youngs_modulus,
                    preset.poissons_ratio,
                    preset.density,
                    preset.source
                );
            }
            Some(table)
        }
        "solvers" => {
            let names: Vec<String> = SolverKind::ALL
                .iter()
                .map(|kind| format!("`{kind}`"))
                .collect();
            Some(format!("Solvers: {}.\n", names.join(", ")))
        }
        _ => panic!("{FOLDER}: unknown marker {inner:?}"),
    }
}

/// The page with the block after each marker, up to the next empty line but one, printed from the schema.
fn renewed(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(table) = table_of(line) else {
            continue;
        };
        // The old block ends at the next marker, heading or code block.
        while let Some(next) = lines.peek() {
            if next.starts_with("<!-- ") || next.starts_with("## ") || next.starts_with("```") {
                break;
            }
            lines.next();
        }
        out.push('\n');
        out += &table;
        if lines.peek().is_some() {
            out.push('\n');
        }
    }
    out
}

#[test]
fn tables_of_the_pages_are_those_of_the_schema() {
    for page in pages() {
        let text = read(&page);
        let renewed = renewed(&text);
        if std::env::var_os("PLIANT_UPDATE_DOCS").is_some() {
            fs::write(folder().join(&page), &renewed).unwrap_or_else(|e| panic!("{page}: {e}"));
            continue;
        }
        for (number, (found, expected)) in text.lines().zip(renewed.lines()).enumerate() {
            assert_eq!(
                found,
                expected,
                "{FOLDER}/{page}:{}: run with PLIANT_UPDATE_DOCS=1 to print the tables anew",
                number + 1
            );
        }
        assert_eq!(text, renewed, "{FOLDER}/{page}");
    }
}

#[test]
fn every_table_of_the_schema_is_on_one_page() {
    let text: String = pages().iter().map(|page| read(page)).collect();
    for table in tables() {
        let marker = format!("<!-- keys: {} -->", table.name);
        assert_eq!(text.matches(&marker).count(), 1, "{FOLDER}: {marker}");
    }
}

#[test]
fn the_index_links_to_every_page() {
    let files = fs::read_dir(folder()).expect("the folder exists");
    let files: BTreeSet<String> = files
        .map(|file| {
            file.expect("a readable entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(files, pages().into_iter().collect());
}

/// All `toml` blocks of all pages, one after the other.
fn example() -> String {
    let text: String = pages().iter().map(|page| read(page)).collect();
    let mut example = String::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```toml" => inside = true,
            "```" => inside = false,
            _ if inside => {
                example += line;
                example.push('\n');
            }
            _ => {}
        }
    }
    example
}

#[test]
fn examples_of_the_pages_are_one_scene_that_runs_as_expected() {
    let scene = Scene::parse(FOLDER, &example(), &SceneOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions {
        length: RunLength::Smoke,
        ..RunOptions::default()
    };
    let outcome = run(&scene, &options, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        outcome.summary.is_as_expected(),
        "{:#?}",
        outcome.summary.expectations
    );
}
