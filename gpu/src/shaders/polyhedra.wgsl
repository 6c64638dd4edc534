// Convex hull and mesh: the nearest face, edge or vertex. Their tables in `scene` begin at `at`; places within them count from there.
//
//   hull   faces (normal, offset), (first corner, corners, -, -), then the corners of each face in order
//   mesh   nodes of a binary tree of boxes (low, first triangle), (high, triangles), then triangles: three corners and the pseudo-normals of the
//          face, of the edge from each corner to the next, and of each corner
//
// Nodes are numbered from 1; n, which has no triangles unless it is a leaf, has the nodes 2 n and 2 n + 1 below it. The pseudo-normal of the nearest feature has the sign of the distance
// (Baerentzen and Aanaes 2005); the nearest point of a triangle is that of Ericson (2005), 5.1.5. As in pliant-hydroelastic.

// Offsets of this part of the coordinates are round-off and have no direction.
const NO_OFFSET = 1e-6;

fn hull_distance(at: u32, n_faces: u32, p: vec3<f32>) -> vec4<f32> {
    var top = vec4<f32>(0.0, 0.0, 1.0, -3e38);
    for (var f = 0u; f < n_faces; f++) {
        let face = scene[P.scene_at + at + 2u * f];
        let height = dot(face.xyz, p) - face.w;
        if height > top.w {
            top = vec4<f32>(face.xyz, height);
        }
    }
    if top.w <= 0.0 {
        return top;
    }
    var best = vec4<f32>(top.xyz, 3e38);
    for (var f = 0u; f < n_faces; f++) {
        let face = scene[P.scene_at + at + 2u * f];
        let height = dot(face.xyz, p) - face.w;
        if height <= 0.0 || height >= best.w {
            continue;
        }
        let found = hull_face_distance(at, f, p, vec4<f32>(face.xyz, height), top.xyz);
        if found.w < best.w {
            best = found;
        }
    }
    return best;
}

// From a point above the plane of a face.
fn hull_face_distance(at: u32, f: u32, p: vec3<f32>, above: vec4<f32>, otherwise: vec3<f32>) -> vec4<f32> {
    let list = scene[P.scene_at + at + 2u * f + 1u];
    let first = at + u32(list.x);
    let n = u32(list.y);
    var nearest = vec4<f32>(above.xyz, -1.0);
    for (var i = 0u; i < n; i++) {
        let a = scene[P.scene_at + first + i].xyz;
        let edge = scene[P.scene_at + first + (i + 1u) % n].xyz - a;
        if dot(cross(edge, above.xyz), p - a) <= 0.0 {
            continue;
        }
        let t = clamp(dot(edge, p - a) / dot(edge, edge), 0.0, 1.0);
        let offset = p - a - edge * t;
        let distance = length(offset);
        if nearest.w < 0.0 || distance < nearest.w {
            nearest = vec4<f32>(otherwise, distance);
            if distance > NO_OFFSET * length(p) {
                nearest = vec4<f32>(offset / distance, distance);
            }
        }
    }
    if nearest.w < 0.0 {
        return above;
    }
    return nearest;
}

// The offset from the nearest point of a triangle, and its feature: 0 face, 1 to 3 edges, 4 to 6 corners.
fn triangle_offset(p: vec3<f32>, a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec4<f32> {
    let ab = b - a;
    let ac = c - a;
    let ap = p - a;
    let d1 = dot(ab, ap);
    let d2 = dot(ac, ap);
    if d1 <= 0.0 && d2 <= 0.0 {
        return vec4<f32>(ap, 4.0);
    }
    let bp = p - b;
    let d3 = dot(ab, bp);
    let d4 = dot(ac, bp);
    if d3 >= 0.0 && d4 <= d3 {
        return vec4<f32>(bp, 5.0);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return vec4<f32>(ap - ab * (d1 / (d1 - d3)), 1.0);
    }
    let cp = p - c;
    let d5 = dot(ab, cp);
    let d6 = dot(ac, cp);
    if d6 >= 0.0 && d5 <= d6 {
        return vec4<f32>(cp, 6.0);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return vec4<f32>(ap - ac * (d2 / (d2 - d6)), 3.0);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return vec4<f32>(bp - (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), 2.0);
    }
    let scale = 1.0 / (va + vb + vc);
    return vec4<f32>(ap - ab * (vb * scale) - ac * (vc * scale), 0.0);
}

fn box_square(at: u32, node: u32, p: vec3<f32>) -> f32 {
    let low = scene[P.scene_at + at + 2u * node - 2u].xyz;
    let high = scene[P.scene_at + at + 2u * node - 1u].xyz;
    let beyond = max(max(low - p, p - high), vec3<f32>(0.0));
    return dot(beyond, beyond);
}

// Visits the nodes below a node from the nearer to the farther one. A stack would take 32 registers.
fn mesh_distance(at: u32, n_nodes: u32, p: vec3<f32>) -> vec4<f32> {
    var node = 1u;
    // For each level, the lowest bit for that of `node`: whether `node` and what is above it is the second of its two.
    var seconds = 0u;
    var best = 3e38;
    var nearest = vec4<f32>(0.0);
    var record = at + 2u * n_nodes;
    loop {
        if box_square(at, node, p) < best {
            let first = u32(scene[P.scene_at + at + 2u * node - 2u].w);
            let n = u32(scene[P.scene_at + at + 2u * node - 1u].w);
            if n == 0u {
                let below = 2u * node;
                node = select(below + 1u, below, box_square(at, below, p) <= box_square(at, below + 1u, p));
                seconds <<= 1u;
                continue;
            }
            for (var t = first; t < first + n; t++) {
                let own = at + 2u * n_nodes + 10u * t;
                let found = triangle_offset(p, scene[P.scene_at + own].xyz, scene[P.scene_at + own + 1u].xyz, scene[P.scene_at + own + 2u].xyz);
                let square = dot(found.xyz, found.xyz);
                if square < best {
                    best = square;
                    nearest = found;
                    record = own;
                }
            }
        }
        while (seconds & 1u) == 1u {
            seconds >>= 1u;
            node >>= 1u;
        }
        if node == 1u {
            break;
        }
        node ^= 1u;
        seconds |= 1u;
    }
    let outward = scene[P.scene_at + record + 3u + u32(nearest.w)].xyz;
    if nearest.w == 0.0 {
        return vec4<f32>(outward, dot(outward, p - scene[P.scene_at + record].xyz));
    }
    let distance = sqrt(best);
    if distance <= NO_OFFSET * length(p) {
        return vec4<f32>(normalize(outward), 0.0);
    }
    let sign = select(1.0, -1.0, dot(outward, nearest.xyz) < 0.0);
    return vec4<f32>(nearest.xyz * (sign / distance), sign * distance);
}
