// Whether a particle is in contact with an obstacle in this substep, as pliant-mpm's detection says: a gap below twice the approach of the
// substep and a tenth of the radius.

struct Touch {
    is_near: bool,
    gap: f32,
    start_velocity: f32,
    normal: vec3<f32>,
    arm: vec3<f32>,
    surface: vec3<f32>,
    point: vec3<f32>,
    link: i32,
}

fn touch(p: u32, obstacle: u32) -> Touch {
    var found: Touch;
    found.is_near = false;
    let object = particles[P.particles_at + p].object;
    if scene[P.scene_at + P.pairs_at + obstacle * P.n_objects + object].w == 0.0 {
        return found;
    }
    let at = P.obstacles_at + 4u * obstacle;
    let shape = scene[P.scene_at + at];
    var rotation = scene[P.scene_at + at + 1u];
    let place = scene[P.scene_at + at + 2u];
    var translation = place.xyz;
    let belt = scene[P.scene_at + at + 3u];
    let link = i32(place.w);
    var way = 2.0 * P.dt * length(belt.xyz);
    if link >= 0 {
        let q = link_rotation(u32(link));
        let base = LINK * u32(link);
        translation = out3(base + 4u) + rotated(q, translation);
        rotation = product(q, rotation);
        let rate = length(out3(base + 8u));
        way += 2.0 * P.dt * (length(out3(base + 11u)) + select(0.0, rate * belt.w, rate > 0.0));
    }
    let x = (vec3<f32>(cell_of(p)) + particles[P.particles_at + p].fraction) * P.spacing;
    let local = rotated(conjugate(rotation), x - translation);
    let distance = signed_distance(u32(shape.x), shape.yzw, local);
    let radius = scene[P.scene_at + OBJECT * object].w;
    let gap = distance.w - radius;
    let v = particles[P.particles_at + p].v;
    if gap > 2.0 * P.dt * length(v) + way + 0.1 * radius {
        return found;
    }
    let normal = rotated(rotation, distance.xyz);
    let point = x - normal * distance.w;
    let surface = rotated(rotation, belt.xyz);
    var arm = vec3<f32>(0.0);
    if link >= 0 {
        arm = point - out3(LINK * u32(link) + 4u);
    }
    let relative = v - point_velocity(link, arm) - surface;
    if gap > 2.0 * P.dt * length(relative) + 0.1 * radius {
        return found;
    }
    found.is_near = true;
    found.gap = gap;
    found.start_velocity = dot(normal, relative);
    found.normal = normal;
    found.arm = arm;
    found.surface = surface;
    found.point = point;
    found.link = link;
    return found;
}
