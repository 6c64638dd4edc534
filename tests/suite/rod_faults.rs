//! Invalid rods: messages with line, node and value.

use crate::rods_in_scenes::{CORD, check_refused};

#[test]
fn errors_in_rods_give_line_and_reason() {
    let with = |replaced: &str, by: &str| {
        assert!(CORD.contains(replaced));
        CORD.replace(replaced, by)
    };
    for (fragment, expected) in [
        (
            with("youngs_modulus = 1e6\n", ""),
            "lacks the key `youngs_modulus`",
        ),
        (
            with("youngs_modulus = 1e6", "youngs_modulus = 0"),
            "youngs_modulus = 0",
        ),
        (with("radius = 0.002", "radius = -1"), "radius = -1"),
        (with("edges = 8", "edges = 1"), "edges = 1"),
        (
            format!("{CORD}poissons_ratio = 0.6\n"),
            "poissons_ratio = 0.6 must lie in (-1, 0.5]",
        ),
        (
            format!("{CORD}color_by = \"stress\"\n"),
            "`stress` is of `[[fem]]`",
        ),
        (
            format!("{CORD}natural_shape = \"as-built\"\nnatural_twist = 1\n"),
            "leaves no `natural_curvature`",
        ),
        (
            format!("{CORD}natural_shape = \"as-built\"\nnatural_scatter = {{ twist = 1 }}\n"),
            "leaves no `natural_scatter`",
        ),
        (
            format!("{CORD}natural_scatter = {{ seed = 3 }}\n"),
            "no scatter is given; give `twist`, `curvature` or both",
        ),
        (
            format!("{CORD}natural_scatter = {{ twist = -1 }}\n"),
            "twist = -1",
        ),
        (
            format!("{CORD}natural_scatter = {{ twist = 1, seed = 0.5 }}\n"),
            "seed = 0.5",
        ),
        (
            with(
                "line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 8 }",
                "circle = { radius = 0.1, edges = 8 }",
            ) + "start = \"pinned\"\n",
            "has no `start` and no `finish`",
        ),
        (
            with(
                "line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 8 }",
                "circle = { radius = 0.1, edges = 8 }",
            ) + "tips = \"flat\"\n",
            "a closed centreline has no `tips`",
        ),
        (
            format!("{CORD}tips = \"sharp\"\n"),
            "tips = \"sharp\" is not one of",
        ),
        (
            format!("{CORD}curvature_schedule = [[0, 0], [0, 1]]\n"),
            "must lie after the time before it",
        ),
        (
            format!("{CORD}bending_stiffness = [1, -1]\n"),
            "must not be negative",
        ),
        (with("to = [0.4, 0, 0]", "to = [0, 0, 0]"), "rod \"cord\": "),
        (
            with("numbers = [0]", "numbers = [9]"),
            "names vertex 9; the body has 9",
        ),
        (
            with(
                "line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 8 }",
                "nodes = { file = \"absent.txt\" }",
            ),
            "no file \"absent.txt\"",
        ),
        (
            format!(
                "{CORD}start = \"pinned\"\n[[constraints]]\nname = \"t\"\nbetween = [\"world\", \"cord/root\"]\n"
            ),
            "is fixed already",
        ),
        (
            format!("{CORD}finish = \"welded\"\n"),
            "`finish = \"welded\"`, and nothing holds node 8",
        ),
        (
            format!(
                "{CORD}[[observables]]\nname = \"crossings\"\nquantity = \"strand-crossings\"\nof = \"cord/root\"\n"
            ),
            "is of `[[rods]]`, each of them whole",
        ),
        (
            format!("{CORD}twist_schedule = [[1, 0], [0, 1]]\n"),
            "must lie after the time before it",
        ),
    ] {
        check_refused(&fragment, expected);
    }
}

#[test]
fn invalid_nodes_are_refused_at_the_rod_s_line_by_number_and_value() {
    let rod = |centreline: &str, more: &str| {
        format!(
            "[[rods]]\nname = \"cord\"\ncentreline = {{ {centreline} }}\nsection = {{ circle = {{ radius = 0.002 }} }}\nyoungs_modulus = 1e6\ndensity = 1000\n{more}"
        )
    };
    let through = |nodes: &str, ends: &str| {
        rod(
            &format!("points = {{ nodes = [{nodes}], ends = \"{ends}\" }}"),
            "",
        )
    };
    let straight = "line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 8 }";
    // Errors reported at the rod's name, and errors reported at their own line.
    for (fragment, line, expected) in [
        (
            through("[0, 0, 0], [1, 0, 0]", "open"),
            6,
            "at least 3 nodes, but 2 were given",
        ),
        (
            through("[0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 0, 0]", "open"),
            6,
            "nodes 1 and 2 coincide: they are 0e0 m apart",
        ),
        (
            through("[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]", "open"),
            6,
            "node 1: the centreline turns by 180.0 degrees",
        ),
        (
            through(
                "[0, 0, 0], [1, 0, 0], [2, 0.3, 0], [3, 0.5, 0], [4, 1.5, 0]",
                "joined",
            ),
            6,
            "has a gap: its last node 4 and its first node are 4.27",
        ),
        (
            through("[0, 0, 0], [1, nan, 0], [2, 0, 0]", "open"),
            7,
            "nan",
        ),
        (
            rod(straight, "director = [0, 0, 0]\n"),
            11,
            "director = [0, 0, 0] has length 0 at node 0: it must be a unit vector",
        ),
        (
            rod(straight, "director = [0, 3, 4]\n"),
            11,
            "director = [0, 3, 4] has length 5 at node 0: it must be a unit vector, such as [0.000000, 0.600000, 0.800000]",
        ),
        (
            rod(straight, "director = [1, 0, 0]\n"),
            6,
            "edge 0: the director [1.0, 0.0, 0.0]",
        ),
        (
            rod(straight, "twisting_stiffness = -0.5\n"),
            11,
            "twisting_stiffness = -0.5",
        ),
    ] {
        check_refused(&fragment, expected);
        check_refused(&fragment, &format!("test.toml:{line}:"));
    }
}
