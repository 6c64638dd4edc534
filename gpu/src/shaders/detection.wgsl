// Whether a particle is in contact with an obstacle in this substep, as pliant-mpm's detection says: a gap below twice the approach of the
// substep and a tenth of the radius, and no flush neighbour covers the point.

// Steps of up to this fraction of the grid spacing count as flush.
const FLUSH = 1e-3;

// An obstacle in this substep.
struct Placed {
    shape: vec4<f32>,
    rotation: vec4<f32>,
    translation: vec3<f32>,
    belt: vec3<f32>,
    link: i32,
    way: f32,
}

fn place_of(obstacle: u32) -> Placed {
    let at = P.scene_at + P.obstacles_at + 4u * obstacle;
    var placed: Placed;
    placed.shape = scene[at];
    placed.rotation = scene[at + 1u];
    let place = scene[at + 2u];
    placed.translation = place.xyz;
    let belt = scene[at + 3u];
    placed.belt = belt.xyz;
    placed.link = i32(place.w);
    placed.way = 2.0 * P.dt * length(belt.xyz);
    if placed.link >= 0 {
        let base = LINK * u32(placed.link);
        let q = link_rotation(u32(placed.link));
        placed.translation = out3(base + 4u) + rotated(q, placed.translation);
        placed.rotation = product(q, placed.rotation);
        let rate = length(out3(base + 8u));
        placed.way += 2.0 * P.dt * (length(out3(base + 11u)) + select(0.0, rate * belt.w, rate > 0.0));
    }
    return placed;
}

// Gradient and value of the signed distance, world axes.
fn distance_to(placed: Placed, x: vec3<f32>) -> vec4<f32> {
    let local = rotated(conjugate(placed.rotation), x - placed.translation);
    let found = signed_distance(u32(placed.shape.x), placed.shape.yzw, local);
    return vec4<f32>(rotated(placed.rotation, found.xyz), found.w);
}

fn centre_of(p: u32) -> vec3<f32> {
    return (vec3<f32>(cell_of(p)) + particles[P.particles_at + p].fraction) * P.spacing;
}

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
    let placed = place_of(obstacle);
    let x = centre_of(p);
    let distance = distance_to(placed, x);
    let radius = scene[P.scene_at + OBJECT * object].w;
    let gap = distance.w - radius;
    let v = particles[P.particles_at + p].v;
    if gap > 2.0 * P.dt * length(v) + placed.way + 0.1 * radius {
        return found;
    }
    let normal = distance.xyz;
    let point = x - normal * distance.w;
    let surface = rotated(placed.rotation, placed.belt);
    let link = placed.link;
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

// Whether the obstacle of `other` covers the point of a contact of the same particle; see internal_edges.rs of pliant-mpm.
fn covers(p: u32, o_other: u32, other: Touch, o: u32, found: Touch) -> bool {
    let flush = FLUSH * P.spacing;
    if distance_to(place_of(o_other), found.point).w > flush {
        return false;
    }
    let depth = max(-dot(centre_of(p) - other.point, other.normal), 0.0);
    let above = found.point + other.normal * (2.0 * flush + depth);
    return distance_to(place_of(o), above).w >= flush;
}

fn is_covered(p: u32, o: u32, found: Touch) -> bool {
    for (var k = 0u; k < P.n_obstacles; k++) {
        if k != o {
            let other = touch(p, k);
            if other.is_near && covers(p, k, other, o, found) && !covers(p, o, found, k, other) {
                return true;
            }
        }
    }
    return false;
}
