// Edges and deformation gradients of triangles. A triangle is (three vertices, centroid), (D_m^-1 in columns) in `scene`, all of them particles.

// From particle a to particle b, m: differences of cells and fractions keep their digits.
fn between(a: u32, b: u32) -> vec3<f32> {
    let cells = vec3<f32>(particles[P.particles_at + b].cell - particles[P.particles_at + a].cell);
    return (cells + (particles[P.particles_at + b].fraction - particles[P.particles_at + a].fraction)) * P.spacing;
}

fn inverse_edges_of(triangle: u32) -> mat2x2<f32> {
    let m = scene[P.scene_at + P.triangles_at + 2u * triangle + 1u];
    return mat2x2<f32>(m.x, m.y, m.z, m.w);
}

// [D_s D_m^-1, normal].
fn deformation_of(triangle: u32, normal: vec3<f32>) -> mat3x3<f32> {
    let vertices = indices_of(scene[P.scene_at + P.triangles_at + 2u * triangle]);
    let edges = mat2x3<f32>(between(vertices.x, vertices.y), between(vertices.x, vertices.z));
    let plane = edges * inverse_edges_of(triangle);
    return mat3x3<f32>(plane[0], plane[1], normal);
}
