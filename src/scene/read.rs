//! The scene file as a whole: its top level, and how its parts refer to each other.

use std::sync::Arc;

use toml::de::DeTable;

use super::drive::Drives;
use super::error::{SceneError, SceneFault};
use super::fingerprint::ActingKeys;
use super::item::{Item, NamedReference};
use super::key_override;
use super::material::Materials;
use super::names::{NameKind, Names};
use super::pairs::FilterEntry;
use super::parameters::Parameters;
use super::quantity::Subject;
use super::run_time::ParameterUses;
use super::schema::{Key, LIST_OF_TABLES, REQUIRED, TableSchema, ValueKind};
use super::table::{Context, TableReader};
use super::text::{SceneText, SourceLocation};
use super::{SCHEMA_VERSION, Scene, SceneOptions};
use crate::registry::{Part, ReadBody};

const fn section(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        value: ValueKind::Described(value),
        unit: "",
        default,
        about,
    }
}

pub(super) static SCENE: TableSchema = TableSchema {
    name: "scene",
    keys: &[
        section("schema", "`1`", REQUIRED, "version of this schema"),
        section("title", "text", REQUIRED, "one line"),
        section("description", "text", "none", "what it shows, what to try"),
        section(
            "parameters",
            "table of name = number",
            "none",
            "numbers that `--set name=value` overrides and expressions use; `--set section.key=value` overrides any key",
        ),
        section("simulation", "table", REQUIRED, "steps, lengths, gravity"),
        section("contact", "table", "its defaults", "contact model"),
        section(
            "solver",
            "table",
            "its defaults",
            "solver of the contact problem",
        ),
        section(
            "recording",
            "table",
            "its defaults",
            "how much of a run is kept",
        ),
        section(
            "camera",
            "table",
            "frames what moves",
            "where the replay looks from",
        ),
        section("cameras", LIST_OF_TABLES, "none", "more cameras"),
        section(
            "image_sensors",
            LIST_OF_TABLES,
            "none",
            "cameras on bodies that take colour and depth images",
        ),
        section(
            "materials",
            "table of name = table",
            "none",
            "named surfaces; the one called `default` holds where none is given",
        ),
        section(
            "fixed",
            LIST_OF_TABLES,
            "none",
            "shapes that stand in the world",
        ),
        section(
            "bodies",
            LIST_OF_TABLES,
            "none",
            "rigid bodies made of shapes",
        ),
        section(
            "repeat",
            LIST_OF_TABLES,
            "none",
            "many bodies from templates",
        ),
        section("fem", LIST_OF_TABLES, "none", "bodies of finite elements"),
        section("grid", "table", "none", "the grid of material points"),
        section(
            "material_points",
            LIST_OF_TABLES,
            "none",
            "bodies of particles: dough, sand, liquid",
        ),
        section(
            "cloth",
            LIST_OF_TABLES,
            "none",
            "triangle meshes among the material points",
        ),
        section(
            "rods",
            LIST_OF_TABLES,
            "none",
            "ropes, rings, belts and strips",
        ),
        section(
            "models",
            LIST_OF_TABLES,
            "none",
            "robots from URDF, MJCF and SDFormat files",
        ),
        section(
            "filters",
            LIST_OF_TABLES,
            "none",
            "contact that is not computed",
        ),
        section(
            "pairs",
            LIST_OF_TABLES,
            "none",
            "contact parameters of pairs",
        ),
        section(
            "constraints",
            LIST_OF_TABLES,
            "none",
            "what holds bodies together",
        ),
        section(
            "joint_targets",
            LIST_OF_TABLES,
            "none",
            "set points of actuators over time",
        ),
        section(
            "frame_targets",
            LIST_OF_TABLES,
            "none",
            "set points of end effectors over time",
        ),
        section(
            "joint_efforts",
            LIST_OF_TABLES,
            "none",
            "torques and forces of joints over time",
        ),
        section(
            "joint_motions",
            LIST_OF_TABLES,
            "none",
            "prescribed motions of joints",
        ),
        section(
            "body_motions",
            LIST_OF_TABLES,
            "none",
            "prescribed motions of bodies",
        ),
        section(
            "loads",
            LIST_OF_TABLES,
            "none",
            "forces and torques on bodies over time",
        ),
        section(
            "observables",
            LIST_OF_TABLES,
            "none",
            "columns of the table of numbers",
        ),
        section("expect", LIST_OF_TABLES, "none", "a check of the scene"),
    ],
};

/// Reads everything; the first fault ends it.
pub(super) fn scene(text: Arc<SceneText>, options: &SceneOptions) -> Result<Scene, SceneError> {
    if let Some(time_step_s) = options.time_step_s
        && !(time_step_s.is_finite() && time_step_s > 0.0)
    {
        return Err(SceneError::Override {
            text: format!("time_step_s={time_step_s}"),
            reason: "the time step must be positive".into(),
        });
    }
    let is_table = |kind: &&Part<ReadBody>| SCENE.key(kind.name()).is_some();
    let taken = options.registry.bodies.iter().find(is_table);
    let taken = taken.map(|kind| format!("the table `{}`", kind.name()));
    if let Some(part) = options.registry.duplicate().or(taken) {
        return Err(SceneError::RegisteredTwice(part));
    }
    let mut document = DeTable::parse(text.as_str()).map_err(|error| {
        let place = error
            .span()
            .map_or(SourceLocation::default(), SourceLocation::from);
        text.error(place, SceneFault::Syntax(error.message().trim().to_owned()))
    })?;
    let of_keys = options
        .parameters
        .iter()
        .filter(|s| key_override::is_of_key(s));
    for setting in of_keys {
        key_override::put(setting, &mut document)?;
    }
    // Parameters come first: everything else may use them.
    let registry = Arc::new(options.registry.clone());
    let mut context = Context::new(Arc::clone(&text), registry);
    let Parameters {
        values: parameters,
        definitions,
    } = {
        let table = open(&context, document.get_ref())?;
        check_version(&table)?;
        super::parameters::resolve(
            &text,
            table.optional("parameters").as_ref(),
            &options.parameters,
        )?
    };
    for (name, value) in &parameters {
        context.scope.set(name.clone(), *value);
    }
    let (simulation, stepper) = {
        let table = open(&context, document.get_ref())?;
        super::settings::simulation(&table.required("simulation")?, options.time_step_s)?
    };
    context.scope.set("dt", simulation.time_step_s);

    let table = open(&context, document.get_ref())?;
    for key in ["schema", "simulation"] {
        table.required(key)?;
    }
    table.optional("parameters");
    let title = table.required("title")?.reference()?.name;
    let materials = Materials::read(table.optional("materials").as_ref())?;
    let mut names = Names::default();
    let fixed = each(&table, "fixed", |item| {
        super::body::fixed(&context, item, &materials)
    })?;
    for entry in &fixed {
        names.declare(&text, &entry.name, NameKind::Fixed)?;
    }
    let mut bodies = each(&table, "bodies", |item| {
        super::body::body(&context, item, &materials)
    })?;
    for entry in &bodies {
        names.declare(&text, &entry.name, NameKind::Body)?;
    }
    let mut repeats = Vec::new();
    for (name, made) in each(&table, "repeat", |item| {
        super::repeat::repeat(&context, item, &materials)
    })? {
        names.declare(&text, &name, NameKind::Repeat)?;
        for entry in &made {
            names.declare(&text, &entry.name, NameKind::Body)?;
        }
        repeats.push((name, bodies.len()..bodies.len() + made.len()));
        bodies.extend(made);
    }
    let soft = super::soft::soft_bodies(&context, &table, &materials)?;
    for entry in &soft.entries {
        names.declare(&text, &entry.name, NameKind::Soft)?;
    }
    for (name, _) in &soft.copies {
        names.declare(&text, name, NameKind::Copies)?;
    }
    let models = each(&table, "models", |item| {
        super::model::model(&context, item, &materials)
    })?;
    for entry in &models {
        names.declare(&text, &entry.name, NameKind::Model)?;
    }
    let constraints = each(&table, "constraints", super::constraint::constraint)?;
    for entry in &constraints {
        names.declare(&text, &entry.name, NameKind::Constraint)?;
    }
    let observables =
        super::observable::observables(&context, table.optional("observables").as_ref())?;
    let scene = Scene {
        folder: None,
        options: options.clone(),
        uses: ParameterUses::default(),
        acting: ActingKeys::default(),
        title,
        description: table.text_or_empty("description")?,
        parameters,
        simulation,
        stepper,
        contact: super::contact::contact(&context, table.optional("contact").as_ref())?,
        solver: super::solver::solver(
            &context,
            table.optional("solver").as_ref(),
            options.solver.as_deref(),
        )?,
        recording: super::settings::recording(table.optional("recording").as_ref())?,
        cameras: super::camera::cameras(
            table.optional("camera").as_ref(),
            table.optional("cameras").as_ref(),
        )?,
        image_sensors: super::image_sensor::image_sensors(
            table.optional("image_sensors").as_ref(),
        )?,
        filters: each(&table, "filters", super::pairs::filter)?,
        pairs: each(&table, "pairs", super::pairs::pair)?,
        drives: super::drive::drives(&table, &models)?,
        expectations: each(&table, "expect", |item| {
            super::expect::expectation(&context, item, &observables, &simulation)
        })?,
        observables,
        materials,
        fixed,
        bodies,
        repeats,
        soft,
        models,
        constraints,
        names,
        text: Arc::clone(&text),
    };
    table.finish();
    check_references(&scene)?;
    let evaluated = context.evaluated();
    let document = document.get_ref();
    let mut acting = ActingKeys::of(document, &evaluated, &definitions, &scene.parameters);
    acting.put_overrides(options, &simulation);
    Ok(Scene {
        uses: ParameterUses::find(document, &evaluated, &definitions),
        acting,
        ..scene
    })
}

fn open<'a>(
    context: &'a Context,
    document: &'a DeTable<'a>,
) -> Result<TableReader<'a>, SceneError> {
    TableReader::open(context, document, SourceLocation::default(), &SCENE)
}

/// Refuses a file of another version of the schema; a file without `schema` lacks a required key.
fn check_version(table: &TableReader<'_>) -> Result<(), SceneError> {
    let item = table.required("schema")?;
    let version = item.number()?;
    if version == f64::from(SCHEMA_VERSION) {
        return Ok(());
    }
    Err(item.error(SceneFault::SchemaVersion {
        found: version.to_string(),
        known: SCHEMA_VERSION,
    }))
}

/// Reads every element of the optional list of tables at `key`; no element where the key is absent.
pub(super) fn each<T>(
    table: &TableReader<'_>,
    key: &'static str,
    read: impl Fn(&Item<'_>) -> Result<T, SceneError>,
) -> Result<Vec<T>, SceneError> {
    let list = table
        .optional(key)
        .map_or(Ok(Vec::new()), |item| item.tables())?;
    list.iter().map(read).collect()
}

/// Every name that refers to something has to be there and of the right kind; parts of models are looked up later.
fn check_references(scene: &Scene) -> Result<(), SceneError> {
    let check = |reference: &NamedReference, allowed: &[NameKind]| {
        scene
            .names
            .find(&scene.text, reference, allowed)
            .map(|_| ())
    };
    for filter in &scene.filters {
        let references = match filter {
            FilterEntry::Between(pair) => pair.as_slice(),
            FilterEntry::Within(list) => list.as_slice(),
        };
        references
            .iter()
            .try_for_each(|m| check(m, NameKind::TOUCHING))?;
    }
    for pair in &scene.pairs {
        pair.between
            .iter()
            .try_for_each(|m| check(m, NameKind::TOUCHING))?;
    }
    for constraint in &scene.constraints {
        let allowed = [
            NameKind::World,
            NameKind::Fixed,
            NameKind::Body,
            NameKind::Model,
            NameKind::Soft,
        ];
        constraint
            .between
            .iter()
            .try_for_each(|m| check(m, &allowed))?;
    }
    for sensor in &scene.image_sensors {
        let carriers = [
            NameKind::World,
            NameKind::Fixed,
            NameKind::Body,
            NameKind::Model,
        ];
        check(&sensor.on, &carriers)?;
    }
    for follow in scene.cameras.iter().filter_map(|c| c.follow.as_ref()) {
        check(follow, &[NameKind::Body, NameKind::Model, NameKind::Soft])?;
    }
    check_drives(&scene.drives, &check)?;
    for observable in &scene.observables {
        let allowed: &[NameKind] = match observable.quantity.subject() {
            Subject::Frame if observable.among.is_some() => &[NameKind::Repeat, NameKind::Copies],
            Subject::Frame => &[
                NameKind::Body,
                NameKind::Fixed,
                NameKind::Model,
                NameKind::Soft,
            ],
            Subject::Link => &[NameKind::Body, NameKind::Fixed, NameKind::Model],
            Subject::Soft if observable.among.is_some() => &[NameKind::Copies],
            Subject::Soft => &[NameKind::Soft],
            Subject::Rod | Subject::Cloth => &[NameKind::Soft, NameKind::Copies],
            Subject::Joint => &[NameKind::Model],
            Subject::Contact => NameKind::TOUCHING,
            Subject::Mass => &[
                NameKind::Body,
                NameKind::Model,
                NameKind::Repeat,
                NameKind::Soft,
                NameKind::Copies,
            ],
            Subject::Constraint => &[NameKind::Constraint, NameKind::Model],
            Subject::Whole => &[],
        };
        if let Some(of) = &observable.of {
            check(of, allowed)?;
        }
        if let Some(with) = &observable.with {
            check(with, NameKind::TOUCHING)?;
        }
    }
    Ok(())
}

/// The names in drives: joints and frames are parts of models, prescribed motions are of bodies, and loads act on anything that
/// moves.
fn check_drives(
    drives: &Drives,
    check: &impl Fn(&NamedReference, &[NameKind]) -> Result<(), SceneError>,
) -> Result<(), SceneError> {
    let model = [NameKind::Model];
    let by_joint = [
        &drives.joint_targets,
        &drives.joint_efforts,
        &drives.joint_motions,
    ];
    for drive in by_joint.into_iter().flatten() {
        check(&drive.model, &model)?;
    }
    for target in &drives.frame_targets {
        check(&target.frame, &model)?;
    }
    for motion in &drives.body_motions {
        check(&motion.body, &[NameKind::Body])?;
    }
    for load in &drives.loads {
        check(&load.on, &[NameKind::Body, NameKind::Model, NameKind::Soft])?;
    }
    Ok(())
}
