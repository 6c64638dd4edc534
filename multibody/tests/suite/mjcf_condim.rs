//! Friction of pairs of geoms. Expected numbers are those of `mjContact` and `mjModel.pair_friction` of MuJoCo 4.0.0.

use pliant_multibody::{LoadedModel, PairContact, PairFriction, RobotOptions, read_robot};

use crate::mjcf_models::{load, parse};
use crate::shared_data::shared;

/// The contact of two geoms that the file prescribes.
fn between(loaded: &LoadedModel, names: [&str; 2]) -> Option<PairContact> {
    let model = &loaded.model;
    let mut pairs = model.shape_pairs().iter();
    let found = pairs.find(|pair| {
        let own = pair
            .shapes
            .map(|s| &*model.link(s.link).collisions[s.shape].name);
        own == names || own == [names[1], names[0]]
    })?;
    Some(found.contact)
}

#[track_caller]
fn expect(loaded: &LoadedModel, names: [&str; 2], [sliding, torsional, rolling]: [Option<f64>; 3]) {
    let expected = PairContact::Friction(PairFriction {
        sliding,
        torsional,
        rolling,
    });
    assert_eq!(between(loaded, names), Some(expected));
}

const FLOOR: &str = "<geom name=\"floor\" type=\"plane\" size=\"5 5 1\" ";

fn free(name: &str, x: f64, attributes: &str) -> String {
    format!(
        "<body name=\"{name}\" pos=\"{x} 0 0.1\"><freejoint/><geom name=\"{name}\" type=\"box\" size=\".1 .1 .1\" {attributes}/></body>"
    )
}

#[test]
fn two_geoms_with_condim_1_have_no_friction() {
    let Some(path) = shared("data/cases/mjcf-condim/condim.xml") else {
        return;
    };
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let [pair] = loaded.model.shape_pairs() else {
        panic!("one pair");
    };
    let PairContact::Friction(friction) = pair.contact else {
        panic!("they touch");
    };
    assert_eq!(friction.sliding, Some(0.0));
}

#[test]
fn condim_is_the_larger_one_of_each_pair() {
    let bodies = free("a", 0.0, "condim=\"1\"") + &free("b", 1.0, "condim=\"1\"");
    let mixed = load(&format!("<worldbody>{FLOOR}/>{bodies}</worldbody>"));
    expect(&mixed, ["a", "b"], [Some(0.0), None, None]);
    assert_eq!(between(&mixed, ["floor", "a"]), None);
    assert!(mixed.report.entries.is_empty(), "{}", mixed.report);

    let alone = load(&format!(
        "<worldbody>{}</worldbody>",
        free("a", 0.0, "condim=\"1\"")
    ));
    let text = alone.report.to_string();
    assert!(
        text.contains("bodies of the scene count as condim = 3: a"),
        "{text}"
    );

    let class = "<default><geom condim=\"1\"/></default>";
    let slider = free("slider", 0.0, "friction=\"0.7\"");
    let inherited = load(&format!("{class}<worldbody>{FLOOR}/>{slider}</worldbody>"));
    expect(&inherited, ["floor", "slider"], [Some(0.0), None, None]);

    let text = format!("<worldbody>{FLOOR} condim=\"2\"/></worldbody>");
    let error = parse(&text).expect_err("condim 2").to_string();
    assert!(error.contains("condim = 2 must be 1, 3, 4 or 6"), "{error}");
}

#[test]
fn friction_is_the_larger_one_or_of_the_higher_priority() {
    let floor = format!("{FLOOR} friction=\"0.3 0.01 0.002\" condim=\"1\"/>");
    let bodies = free("b", 0.0, "friction=\"0.7 0.001 0.0005\" condim=\"4\"")
        + &free("c", 1.0, "friction=\"0.2\" priority=\"1\"")
        + &free("d", 2.0, "")
        + &free("e", 3.0, "condim=\"6\"");
    let loaded = load(&format!("<worldbody>{floor}{bodies}</worldbody>"));
    expect(&loaded, ["floor", "b"], [Some(0.7), Some(0.01), None]);
    expect(&loaded, ["floor", "c"], [Some(0.2), None, None]);
    // Without `friction` it is 1.
    expect(&loaded, ["floor", "d"], [Some(1.0), None, None]);
    expect(&loaded, ["b", "e"], [Some(1.0), Some(0.005), Some(0.0005)]);
    // Of the higher priority, with its condim of 3: torsional friction of `b` does not act.
    expect(&loaded, ["b", "c"], [Some(0.2), Some(0.0), None]);
    // Two geoms without friction in the file have that of the scene.
    expect(&loaded, ["d", "e"], [None, Some(0.005), Some(0.0001)]);
    // The shapes keep theirs for bodies of the scene.
    let model = &loaded.model;
    let of = |name: &str| {
        model
            .link(model.link_named(name).expect("a link"))
            .collisions[0]
            .proximity
    };
    assert_eq!(
        (
            of("b").mu_dynamic,
            of("b").torsional_friction,
            of("b").rolling_friction
        ),
        (Some(0.7), Some(0.001), None)
    );
    assert_eq!(of("e").rolling_friction, Some(0.0001));
}

#[test]
fn masks_apart_by_pair_of_geoms() {
    let two = r#"<geom name="g" size="0.1"/><geom name="h" size="0.1" pos="0.3 0 0" contype="2" conaffinity="2"/>"#;
    let loaded = load(&format!(
        r#"<worldbody><body name="a"><freejoint/>{two}</body><body name="b" pos="1 0 0"><freejoint/><geom name="i" size="0.1"/></body></worldbody>"#
    ));
    assert_eq!(between(&loaded, ["h", "i"]), Some(PairContact::Excluded));
    assert_eq!(between(&loaded, ["g", "i"]), None);
}

#[test]
fn pairs_touch_whatever_masks_and_exclusions_say() {
    let loaded = load(
        r#"<worldbody><geom name="f" type="plane" size="1 1 1" friction="0.3" condim="1"/>
             <body name="b"><freejoint/><geom name="b" size=".1" friction="0.7" condim="4"/>
               <body name="p"><joint/><geom name="p" size=".1"/></body></body>
             <body name="c" pos="0 1 .1"><freejoint/><geom name="c" size=".1" friction="0.2" contype="0" conaffinity="0"/></body>
           </worldbody>
           <contact><exclude body1="world" body2="b"/><pair geom1="f" geom2="b"/><pair geom1="f" geom2="c" condim="1"/>
             <pair geom1="b" geom2="p" condim="6" friction="0.4 0.4"/></contact>"#,
    );
    expect(&loaded, ["f", "b"], [Some(1.0), Some(0.0), Some(0.0)]);
    expect(&loaded, ["f", "c"], [Some(0.0), Some(0.0), Some(0.0)]);
    expect(&loaded, ["b", "p"], [Some(0.4), Some(0.005), Some(0.0001)]);
    let model = &loaded.model;
    let only: Vec<&str> = model
        .shapes_of_pairs_only()
        .iter()
        .map(|s| &*model.link(s.link).name)
        .collect();
    assert_eq!(only, ["c"]);
    for (pair, expected) in [
        (r#"geom1="f" geom2="x""#, "geom2=\"x\" is not a geom"),
        (r#"geom1="f" geom2="f""#, "one rigid body"),
        (r#"geom1="f" geom2="b" condim="2""#, "condim = 2 must be"),
        (
            r#"geom1="f" geom2="b" friction="-1""#,
            "must not be negative",
        ),
    ] {
        let error = parse(&format!(
            r#"<worldbody><geom name="f" type="plane" size="1 1 1"/><body><freejoint/><geom name="b" size=".1"/></body></worldbody><contact><pair {pair}/></contact>"#
        ))
        .expect_err(pair)
        .to_string();
        assert!(
            error.contains("m.xml:") && error.contains(expected),
            "{error}"
        );
    }
}
