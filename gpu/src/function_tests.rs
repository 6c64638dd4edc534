//! Functions of the shaders against those of the processor in f64, one by one.

use std::io::Write as _;
use std::sync::OnceLock;

use nalgebra::{Matrix3, Point3, UnitQuaternion, Vector2, Vector3};
use pliant_hydroelastic::mesh::{TriMesh, generate};
use pliant_hydroelastic::{SampledShape, Shape};

use crate::adapter::Gpu;
use crate::error::GpuError;
use crate::layout::OBJECT;
use crate::shader::source;
use crate::shapes::Shapes;

/// The device of all tests, or `None` with a line that says that `test` was skipped.
pub(crate) fn device(test: &str) -> Option<&'static Gpu> {
    static DEVICE: OnceLock<Result<Gpu, GpuError>> = OnceLock::new();
    match DEVICE.get_or_init(Gpu::open) {
        Ok(gpu) => Some(gpu),
        Err(GpuError::NoAdapter) => {
            writeln!(std::io::stderr(), "SKIPPED {test}: no Vulkan adapter").expect("stderr");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// Runs `body`, which reads `given[i + k]` and writes `found[i + k]` for k below `width`, over all of `given`. It may read `scene`.
pub(crate) fn evaluate(
    gpu: &Gpu,
    files: &[&str],
    (body, scene): (&str, &[[f32; 4]]),
    width: u32,
    given: &[[f32; 4]],
) -> Vec<[f32; 4]> {
    let text = format!(
        "{}
const OBJECT = {OBJECT};
struct Parts {{ scene_at: u32, }}
var<private> P: Parts;
@group(0) @binding(0) var<storage, read> given: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> scene: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    // The layout has `scene` only where it is used.
    let i = (id.y * 32768u + id.x) * {width}u + min(0u, arrayLength(&scene));
    if i >= arrayLength(&given) {{ return; }}
    {body}
}}",
        files.iter().map(|f| source(f)).collect::<String>()
    );
    let bytes: &[u8] = bytemuck::cast_slice(given);
    let size = bytes.len() as u64;
    let table: &[u8] = bytemuck::cast_slice(scene);
    let buffer = |usage, size: u64| {
        gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    use wgpu::BufferUsages as Usage;
    let input = buffer(Usage::STORAGE | Usage::COPY_DST, size);
    let output = buffer(Usage::STORAGE | Usage::COPY_SRC, size);
    let read_back = buffer(Usage::MAP_READ | Usage::COPY_DST, size);
    let tables = buffer(Usage::STORAGE | Usage::COPY_DST, table.len().max(16) as u64);
    gpu.queue.write_buffer(&input, 0, bytes);
    gpu.queue.write_buffer(&tables, 0, table);
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
    let pipeline = gpu
        .device
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[&input, &output, &tables]
            .map(|b| b.as_entire_binding())
            .map({
                let mut binding = 0;
                move |resource| {
                    binding += 1;
                    wgpu::BindGroupEntry {
                        binding: binding - 1,
                        resource,
                    }
                }
            }),
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        let groups = (given.len() as u32 / width).div_ceil(64);
        pass.dispatch_workgroups(groups.min(512), groups.div_ceil(512), 1);
    }
    encoder.copy_buffer_to_buffer(&output, 0, &read_back, 0, size);
    gpu.queue.submit([encoder.finish()]);
    read_back.map_async(wgpu::MapMode::Read, 0..size, |mapped| {
        mapped.expect("a buffer for reading");
    });
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .expect("the device answers");
    let bytes = read_back.get_mapped_range(0..size).expect("mapped");
    assert!(gpu.fault().is_none(), "{:?}", gpu.fault());
    bytemuck::pod_collect_to_vec(&bytes)
}

/// Numbers in [-1, 1) by a linear congruential generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = (self.0)
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.next())
    }

    pub(crate) fn rotation(&mut self) -> Matrix3<f64> {
        let turn = UnitQuaternion::from_scaled_axis(self.vector() * 3.0);
        turn.to_rotation_matrix().into_inner()
    }
}

fn solid(mesh: &TriMesh) -> Shape {
    let vertices: Vec<_> = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
    let triangles: Vec<_> = mesh.raw_triangles().collect();
    Shape::mesh(&vertices, &triangles).expect("a closed surface")
}

#[test]
fn a_million_signed_distances_are_those_of_the_processor() {
    let Some(gpu) = device("a_million_signed_distances_are_those_of_the_processor") else {
        return;
    };
    let mut random = Random(1);
    let cloud: Vec<_> = (0..40)
        .map(|_| Point3::from(random.vector() * 0.35))
        .collect();
    let egg = Shape::ellipsoid(Vector3::new(0.4, 0.3, 0.35)).expect("lengths");
    let sampled = SampledShape::of(&egg, 0.04, 0.05).expect("samples");
    let torus = generate::torus(0.3, 0.12, 24, 12).expect("a torus");
    let shapes = [
        Shape::half_space(),
        Shape::sphere(0.3).expect("a radius"),
        Shape::cuboid(Vector3::new(0.4, 0.7, 0.2)).expect("lengths"),
        Shape::cylinder(0.25, 0.6).expect("lengths"),
        Shape::capsule(0.2, 0.5).expect("lengths"),
        Shape::ellipsoid(Vector3::new(0.3, 0.15, 0.45)).expect("lengths"),
        Shape::elliptic_cylinder(Vector2::new(0.1, 0.4), 0.5).expect("lengths"),
        Shape::cone(0.35, 0.7).expect("lengths"),
        Shape::convex_hull(&cloud).expect("a hull"),
        solid(&torus),
        Shape::custom(sampled),
    ];
    let mut tables = Shapes::default();
    for shape in shapes {
        let device = tables.of(&shape).expect("a shader");
        let (number, size) = (device.number, device.size);
        let points: Vec<[f32; 4]> = (0..100_000)
            .map(|_| {
                let p = random.vector() * 0.6;
                [p.x as f32, p.y as f32, p.z as f32, 0.0]
            })
            .collect();
        let body = format!(
            "found[i] = signed_distance({number}u, vec3<f32>({:?}, {:?}, {:?}), given[i].xyz);",
            size.x, size.y, size.z
        );
        let body = (body.as_str(), tables.vectors());
        let found = evaluate(gpu, &["signed_distance.wgsl"], body, 1, &points);
        let (mut worst, mut worst_foot) = (0.0_f64, 0.0_f64);
        for (point, found) in points.iter().zip(&found) {
            let p = Point3::new(point[0], point[1], point[2]).map(f64::from);
            let expected = shape.signed_distance(&p);
            let [x, y, z, distance] = found.map(f64::from);
            worst = worst.max((distance - expected.value).abs());
            if matches!(shape, Shape::Custom(_)) {
                // The gradient of a spline is unique, and no unit vector; beyond the grid it leads to it.
                let (grid, gradient) = (shape.local_aabb(), Vector3::new(x, y, z));
                let beyond = (grid.min - p).sup(&(p - grid.max)).sup(&Vector3::zeros());
                let scale = if beyond.norm() > 0.0 {
                    beyond.norm()
                } else {
                    0.04
                };
                worst_foot = worst_foot.max(scale * (gradient - expected.gradient).norm());
                continue;
            }
            // Where two nearest points are equally far either direction will do: it leads to the surface.
            let foot = p - Vector3::new(x, y, z) * distance;
            worst_foot = worst_foot.max(shape.signed_distance(&foot).value.abs());
        }
        let name = shape.name();
        eprintln!("{name}: {worst:.1e} m, feet {worst_foot:.1e} m from the surface");
        assert!(worst < 3e-7 && worst_foot < 5e-7, "{name}");
    }
}

/// Matrices U diag(s) Vᵀ with stretches over five decades, every third of them reflections, in columns.
fn matrices(random: &mut Random, n: usize) -> (Vec<[f32; 4]>, Vec<Matrix3<f64>>) {
    let mut columns = Vec::new();
    let mut all = Vec::new();
    for k in 0..n {
        let mut stretches = Vector3::from_fn(|_, _| 10_f64.powf(2.5 * random.next()));
        if k % 3 == 0 {
            stretches[k % 2] *= -1.0;
        }
        if k % 5 == 0 {
            stretches.y = stretches.x;
        }
        let f = random.rotation() * Matrix3::from_diagonal(&stretches) * random.rotation();
        let f = f.map(|x| x as f32);
        columns.extend(f.column_iter().map(|c| [c[0], c[1], c[2], 0.0]));
        all.push(f.map(f64::from));
    }
    (columns, all)
}

fn of_columns(columns: &[[f32; 4]]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| f64::from(columns[j][i]))
}

const READ: &str = "let f = mat3x3<f32>(given[i].xyz, given[i + 1u].xyz, given[i + 2u].xyz);";

#[test]
fn small_stretches_and_those_of_reflections_keep_their_relative_accuracy() {
    let Some(gpu) = device("small_stretches_and_those_of_reflections_keep_their_relative_accuracy")
    else {
        return;
    };
    let (columns, all) = matrices(&mut Random(2), 60_000);
    let body = format!(
        "{READ}
    let svd = signed_svd(f);
    found[i] = vec4<f32>(svd.stretches, determinant(svd.u) * determinant(svd.v));
    let back = rebuilt(svd, svd.stretches);
    let error = sqrt(norm_squared(back - f) / norm_squared(f));
    found[i + 1u] = vec4<f32>(error, sqrt(norm_squared(svd.u * transpose(svd.u) - identity())), 0.0, 0.0);"
    );
    let found = evaluate(gpu, &["tensor.wgsl"], (&body, &[]), 3, &columns);
    let (mut rebuilt, mut product) = (0.0_f64, 0.0_f64);
    for (f, found) in all.iter().zip(found.chunks_exact(3)) {
        let [a, b, c, handedness] = found[0].map(f64::from);
        assert!((handedness - 1.0).abs() < 1e-5, "{f}");
        assert!(a >= b && b >= c.abs() * (1.0 - 1e-5), "{f}");
        // The logarithms of all stretches enter the stress of plastic materials. Their product is det F.
        let det = f.determinant();
        let scale = f.norm().powi(3);
        if det.abs() > 1e-5 * scale {
            product = product.max((a * b * c / det - 1.0).abs());
        }
        rebuilt = rebuilt.max(f64::from(found[1][0]));
        assert!(found[1][1] < 1e-5, "{f}");
    }
    eprintln!("F rebuilt to {rebuilt:.1e}, product of the stretches to {product:.1e}");
    assert!(rebuilt < 2e-6 && product < 5e-3, "{rebuilt:e} {product:e}");
}

#[test]
fn the_polar_rotation_is_that_of_the_processor_where_that_is_defined() {
    let Some(gpu) = device("the_polar_rotation_is_that_of_the_processor_where_that_is_defined")
    else {
        return;
    };
    let (columns, all) = matrices(&mut Random(3), 60_000);
    let body = format!(
        "{READ}
    let r = polar_rotation(f);
    found[i] = vec4<f32>(r[0], 0.0); found[i + 1u] = vec4<f32>(r[1], 0.0); found[i + 2u] = vec4<f32>(r[2], 0.0);"
    );
    let found = evaluate(gpu, &["tensor.wgsl"], (&body, &[]), 3, &columns);
    let (mut worst, mut compared) = (0.0_f64, 0);
    for (f, found) in all.iter().zip(found.chunks_exact(3)) {
        let r = of_columns(found);
        assert!(
            (r * r.transpose() - Matrix3::identity()).norm() < 3e-6,
            "{f}"
        );
        assert!(r.determinant() > 0.0, "{f}");
        // The derivative of the rotation is 1/(s₂ + s₃), with the sign of det F.
        let mut s: Vec<f64> = f.singular_values().iter().copied().collect();
        s.sort_by(f64::total_cmp);
        let gap = s[1] + s[0] * f.determinant().signum();
        let condition = f.norm() / gap;
        if condition > 1e3 {
            continue;
        }
        let svd = f.svd(true, true);
        let (mut u, v_t) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
        if (u * v_t).determinant() < 0.0 {
            let least = svd.singular_values.imin();
            u.column_mut(least).neg_mut();
        }
        compared += 1;
        worst = worst.max((r - u * v_t).norm() / condition);
    }
    eprintln!("{compared} rotations to {worst:.1e} of their condition");
    assert!(compared > 20_000 && worst < 3e-6, "{compared} {worst:e}");
}

#[test]
fn vanishing_and_denormal_strains_give_finite_rotations() {
    let Some(gpu) = device("vanishing_and_denormal_strains_give_finite_rotations") else {
        return;
    };
    let tiny = f32::MIN_POSITIVE * 0.25;
    let columns: Vec<[f32; 4]> = [0.0, tiny, 1e-30, 1e-19, 1e-12]
        .iter()
        .flat_map(|&x| {
            let diagonal = [[x, 0.0, 0.0, 0.0], [0.0, x, 0.0, 0.0], [0.0, 0.0, x, 0.0]];
            let flat = [[1.0, 0.0, 0.0, 0.0], [0.0, x, 0.0, 0.0], [x, 0.0, -x, 0.0]];
            diagonal.into_iter().chain(flat)
        })
        .collect();
    let body = format!(
        "{READ}
    let r = signed_svd(f);
    let q = r.u * transpose(r.v);
    found[i] = vec4<f32>(q[0], r.stretches.x); found[i + 1u] = vec4<f32>(q[1], r.stretches.y); found[i + 2u] = vec4<f32>(q[2], r.stretches.z);"
    );
    for found in evaluate(gpu, &["tensor.wgsl"], (&body, &[]), 3, &columns).chunks_exact(3) {
        let r = of_columns(found);
        assert!(
            (r * r.transpose() - Matrix3::identity()).norm() < 1e-5,
            "{found:?}"
        );
        assert!(found.iter().all(|c| c[3].is_finite()), "{found:?}");
    }
}
