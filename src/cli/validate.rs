//! `pliant validate`.

use crate::validate::{CASES, Case, CaseLength, Finding, Relation};
use clap::Args;

use super::output::{number, print, say, table};
use super::run::use_threads;
use super::{Ending, Failure};

#[derive(Args)]
pub(super) struct ValidateArguments {
    /// Only cases whose name contains this
    name: Option<String>,
    /// Print a JSON list of findings on stdout
    #[arg(long)]
    json: bool,
    /// Run the slow parts too
    #[arg(long)]
    full: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

pub(super) fn main(arguments: &ValidateArguments) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    let asked = |case: &&Case| {
        arguments
            .name
            .as_ref()
            .is_none_or(|part| case.name.contains(part.as_str()))
    };
    let cases: Vec<&Case> = CASES.iter().filter(asked).collect();
    if cases.is_empty() {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(format!(
            "no case contains {:?}; known are {}",
            arguments.name.as_deref().unwrap_or(""),
            known.join(", ")
        )
        .into());
    }
    let length = if arguments.full {
        CaseLength::Full
    } else {
        CaseLength::Quick
    };
    let mut findings: Vec<Finding> = Vec::new();
    for case in cases {
        if let Some(file) = case.missing() {
            say!("{}: skipped: {file} is not there", case.name);
            continue;
        }
        say!("{}: {}", case.name, case.about);
        findings.extend(case.run(length)?);
    }
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&findings)?))?;
    } else {
        let rows: Vec<Vec<String>> = findings.iter().map(row).collect();
        print(&table(
            &["case", "expected", "found", "tolerance", "", "source"],
            &rows,
            &[4, 5],
        ))?;
    }
    let all_pass = findings.iter().all(|finding| finding.pass);
    Ok(if all_pass {
        Ending::AsExpected
    } else {
        Ending::NotAsExpected
    })
}

fn row(finding: &Finding) -> Vec<String> {
    vec![
        finding.name.clone(),
        match finding.relation {
            Relation::Equals => number(finding.expected),
            Relation::AtLeast => format!(">= {}", number(finding.expected)),
            Relation::AtMost => format!("<= {}", number(finding.expected)),
        },
        finding.found.map_or("none".into(), number),
        number(finding.tolerance),
        if finding.pass {
            "pass".into()
        } else {
            "FAIL".into()
        },
        finding.source.clone(),
    ]
}
