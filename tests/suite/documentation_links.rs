//! Relative links of the Markdown pages, and source files that `docs` names, are files of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// Markdown files below a folder, without build outputs and hidden folders.
fn markdown_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                markdown_below(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Targets of `[text](target)` outside code blocks, without anchors, web addresses and links within the page.
fn relative_links(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|prose| prose.split("](").skip(1));
    targets
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_relative_link_is_dead() {
    let mut pages = Vec::new();
    markdown_below(Path::new(env!("CARGO_MANIFEST_DIR")), &mut pages);
    let mut dead = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).expect("a readable page");
        for link in relative_links(&text) {
            if !page.with_file_name(&link).exists() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(pages.len() > 10, "pages are found");
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_source_file_that_docs_name_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = Vec::new();
    markdown_below(&root.join("docs"), &mut pages);
    let mut missing = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).expect("a readable page");
        // Whole paths only: `convex.rs` may follow one, and `mpm/src/material/NAME.rs` is a file to be written.
        let named = text.split('`').filter(|name| {
            name.ends_with(".rs") && name.contains('/') && !name.contains([' ', '\n', 'N'])
        });
        for name in named {
            if !root.join(name).exists() {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
