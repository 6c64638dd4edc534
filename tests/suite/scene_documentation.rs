//! `docs/scenes.md` agrees with the program: its tables are those of the schema, its examples form a scene that runs.
//!
//! `PLIANT_UPDATE_DOCS=1 cargo test --test suite scene_documentation` prints the tables anew after a change of the schema.

use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunLength, RunOptions, run};
use pliant::scene::{Scene, SceneOptions, quantities_markdown, tables};
use pliant_contact_sap::SolverKind;
use pliant_fem::MATERIAL_PRESETS;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/scenes.md")
}

fn text() -> String {
    fs::read_to_string(page()).expect("docs/scenes.md is there")
}

/// The Markdown that belongs under a marker line such as `<!-- keys: [contact] -->`.
fn table_of(marker: &str) -> Option<String> {
    let inner = marker.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    if let Some(name) = inner.strip_prefix("keys: ") {
        let table = tables().into_iter().find(|table| table.name == name);
        let table = table.unwrap_or_else(|| {
            panic!("docs/scenes.md asks for the keys of {name:?}, which is no table")
        });
        if table.keys.is_empty() {
            return Some(format!("`{name}` has no keys: `{{}}`.\n"));
        }
        return Some(format!("`{name}`\n\n{}", table.markdown()));
    }
    match inner {
        "quantities" => Some(quantities_markdown()),
        "stuffs" => {
            let mut table = String::from(
                "Presets of `made_of`\n\n| name | E, Pa | ν | density, kg/m³ | source |\n|---|---|---|---|---|\n",
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
        _ => panic!("docs/scenes.md has an unknown marker {inner:?}"),
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
fn tables_of_the_page_are_those_of_the_schema() {
    let text = text();
    let renewed = renewed(&text);
    if std::env::var_os("PLIANT_UPDATE_DOCS").is_some() {
        fs::write(page(), &renewed).expect("docs/scenes.md can be written");
        return;
    }
    for (number, (found, expected)) in text.lines().zip(renewed.lines()).enumerate() {
        assert_eq!(
            found,
            expected,
            "docs/scenes.md:{}: run with PLIANT_UPDATE_DOCS=1 to print the tables anew",
            number + 1
        );
    }
    assert_eq!(text, renewed);
}

#[test]
fn every_table_of_the_schema_is_on_the_page() {
    let text = text();
    for table in tables() {
        let marker = format!("<!-- keys: {} -->", table.name);
        assert!(text.contains(&marker), "docs/scenes.md lacks {marker}");
    }
}

/// All `toml` blocks, one after the other.
fn example() -> String {
    let text = text();
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
fn examples_of_the_page_are_one_scene_that_runs_as_expected() {
    let scene = Scene::parse("docs/scenes.md", &example(), &SceneOptions::default())
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
