// Triangles for every shape: { positions, normals, indices, radius }, in the shape's own frame, z its axis of symmetry.
// `radius` bounds it around the origin.

// A surface from a grid of parameters u, v in 0..1.
function patch(columns, rows, position, normal) {
  const mesh = { positions: [], normals: [], indices: [] };
  for (let j = 0; j <= rows; j++) {
    for (let i = 0; i <= columns; i++) {
      mesh.positions.push(...position(i / columns, j / rows));
      mesh.normals.push(...normalized(normal(i / columns, j / rows)));
    }
  }
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const a = j * (columns + 1) + i;
      const b = a + columns + 1;
      mesh.indices.push(a, a + 1, b + 1, a, b + 1, b);
    }
  }
  return mesh;
}

function joined(...meshes) {
  const all = { positions: [], normals: [], indices: [] };
  for (const mesh of meshes) {
    const first = all.positions.length / 3;
    for (const x of mesh.positions) all.positions.push(x);
    for (const x of mesh.normals) all.normals.push(x);
    for (const i of mesh.indices) all.indices.push(first + i);
  }
  return all;
}

const ROUND = 48;
const onCircle = (u) => [Math.cos(2 * Math.PI * u), Math.sin(2 * Math.PI * u)];

function ellipsoidMesh([a, b, c]) {
  const unit = (u, v) => {
    const [x, y] = onCircle(u);
    const polar = Math.PI * (v - 0.5);
    return [x * Math.cos(polar), y * Math.cos(polar), Math.sin(polar)];
  };
  const position = (u, v) => unit(u, v).map((x, i) => x * [a, b, c][i]);
  return patch(ROUND, ROUND / 2, position, (u, v) => unit(u, v).map((x, i) => x / [a, b, c][i]));
}

function discMesh(radius, z, up) {
  const position = (u, v) => {
    const [x, y] = onCircle(up > 0 ? u : 1 - u);
    return [radius * (1 - v) * x, radius * (1 - v) * y, z];
  };
  return patch(ROUND, 1, position, () => [0, 0, up]);
}

// The side of a cone's frustum from radius r0 at z0 up to radius r1 at z1.
function sideMesh(r0, z0, r1, z1) {
  const position = (u, v) => [...onCircle(u).map((x) => x * mix(r0, r1, v)), mix(z0, z1, v)];
  return patch(ROUND, 1, position, (u) => [...onCircle(u).map((x) => x * (z1 - z0)), r0 - r1]);
}

const cylinderMesh = (r, h) => joined(sideMesh(r, -h / 2, r, h / 2), discMesh(r, h / 2, 1), discMesh(r, -h / 2, -1));
const coneMesh = (r, h) => joined(sideMesh(r, -h / 2, 0, h / 2), discMesh(r, -h / 2, -1));

function capsuleMesh(radius, h) {
  // Two hemispheres; the row of triangles between them is the cylinder.
  const unit = (u, v) => {
    const [x, y] = onCircle(u);
    const row = Math.round(v * 25);
    const polar = (Math.PI / 24) * (row <= 12 ? row - 12 : row - 13);
    return [x * Math.cos(polar), y * Math.cos(polar), Math.sin(polar), row <= 12 ? -1 : 1];
  };
  const position = (u, v) => {
    const [x, y, z, end] = unit(u, v);
    return [radius * x, radius * y, radius * z + (end * h) / 2];
  };
  return patch(ROUND, 25, position, (u, v) => unit(u, v).slice(0, 3));
}

// A box with normals that bend near its edges, for highlights as on rounded edges; its shape is exact.
function boxMesh(size) {
  const halfExtents = size.map((length) => length / 2);
  const bevel = 0.06 * Math.min(...halfExtents);
  const faces = [];
  for (const axis of [0, 1, 2]) {
    for (const side of [-1, 1]) {
      const [i, j] = side > 0 ? [(axis + 1) % 3, (axis + 2) % 3] : [(axis + 2) % 3, (axis + 1) % 3];
      const along = (k, s) => [-halfExtents[k], bevel - halfExtents[k], halfExtents[k] - bevel, halfExtents[k]][Math.round(3 * s)];
      const bend = (s) => [-0.8, 0, 0, 0.8][Math.round(3 * s)];
      const vector = (a, b, c) => {
        const v = [0, 0, 0];
        v[axis] = a;
        v[i] = b;
        v[j] = c;
        return v;
      };
      faces.push(patch(3, 3, (u, v) => vector(side * halfExtents[axis], along(i, u), along(j, v)), (u, v) => vector(side, bend(u), bend(v))));
    }
  }
  return joined(...faces);
}

// A triangle mesh with smooth normals where faces meet at less than 40°, and sharp edges elsewhere.
function facetedMesh(vertices, triangles) {
  const corner = (v) => [vertices[3 * v], vertices[3 * v + 1], vertices[3 * v + 2]];
  const numbers = new Map();
  const numberOf = Array.from({ length: vertices.length / 3 }, (_, v) => {
    const key = corner(v).join();
    if (!numbers.has(key)) numbers.set(key, numbers.size);
    return numbers.get(key);
  });
  const around = Array.from({ length: numbers.size }, () => []);
  const areas = [];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => corner(triangles[t + i]));
    areas.push(cross(sub(b, a), sub(c, a)));
    for (let i = 0; i < 3; i++) around[numberOf[triangles[t + i]]].push(t / 3);
  }
  const facing = areas.map(normalized);
  const mesh = { positions: [], normals: [], indices: [] };
  triangles.forEach((vertex, at) => {
    const own = facing[Math.floor(at / 3)];
    let normal = [0, 0, 0];
    for (const t of around[numberOf[vertex]]) if (dot(facing[t], own) > 0.766) normal = add(normal, areas[t]);
    mesh.positions.push(...corner(vertex));
    mesh.normals.push(...normalized(normal));
    mesh.indices.push(at);
  });
  return mesh;
}

// Cosine of the angle (50°) between faces from which on an edge is shaded as sharp. Smaller angles are curvature of a coarse mesh.
const CREASE_COSINE = 0.64;

// Duplicates the vertices on sharp edges. `source`: the original vertex of each corner.

function creased(points, triangles) {
  const faces = triangles.length / 3;
  const corner = (t, c) => triangles[3 * t + c];
  const at = (v) => [...points.subarray(3 * v, 3 * v + 3)];
  const normals = Array.from({ length: faces }, (_, t) => {
    const [a, b, c] = [0, 1, 2].map((k) => at(corner(t, k)));
    const n = cross(sub(b, a), sub(c, a));
    return length(n) > 0 ? normalized(n) : n;
  });
  const around = Array.from({ length: points.length / 3 }, () => []);
  for (let t = 0; t < faces; t++) for (let c = 0; c < 3; c++) around[corner(t, c)].push([t, c]);
  const source = [];
  const renamed = new Uint32Array(triangles.length);
  around.forEach((left, v) => {
    while (left.length > 0) {
      const group = [left.pop()];
      for (const [t] of group) {
        for (let i = left.length - 1; i >= 0; i--) {
          if (dot(normals[t], normals[left[i][0]]) >= CREASE_COSINE) group.push(...left.splice(i, 1));
        }
      }
      for (const [t, c] of group) renamed[3 * t + c] = source.length;
      source.push(v);
    }
  });
  return { source, triangles: renamed };
}

// Smooth normals of a surface that moves, into `normals`; not normalised: the shader normalises.
function smoothNormals(points, triangles, normals) {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = points[b] - points[a];
    const uy = points[b + 1] - points[a + 1];
    const uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a];
    const vy = points[c + 1] - points[a + 1];
    const vz = points[c + 2] - points[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    normals[a] += x;
    normals[a + 1] += y;
    normals[a + 2] += z;
    normals[b] += x;
    normals[b + 1] += y;
    normals[b + 2] += z;
    normals[c] += x;
    normals[c + 1] += y;
    normals[c + 2] += z;
  }
}

function meshOf(shape) {
  switch (shape.kind) {
    case "sphere": return ellipsoidMesh([shape.radius, shape.radius, shape.radius]);
    case "ellipsoid": return ellipsoidMesh(shape.semi_axes);
    case "box": return boxMesh(shape.size);
    case "cylinder": return cylinderMesh(shape.radius, shape.length);
    case "capsule": return capsuleMesh(shape.radius, shape.length);
    case "cone": return coneMesh(shape.radius, shape.height);
    case "mesh": return facetedMesh(float32s(shape.vertices), uint32s(shape.triangles));
    default: return null;
  }
}

function boundingRadius({ positions }) {
  let r = 0;
  for (let i = 0; i < positions.length; i += 3) r = Math.max(r, Math.hypot(positions[i], positions[i + 1], positions[i + 2]));
  return r;
}

// Markings that make the rotation of round shapes visible (surface.frag).
const MARKING = { sphere: 1, ellipsoid: 1, cylinder: 2, capsule: 2, cone: 2 };

// A round tube: segments of triangles between rings at the nodes of a line, turned by parallel transport.
const TUBE_SIDES = 16;
// Numbers of a node: its place, two directions across the line, and a value.
const NODE = 10;

// Fills in place and directions of the first `count` nodes of `line`.
function tubeNodes(line, count, nodes) {
  let [ax, ay, az] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [from, to] = [3 * Math.max(i - 1, 0), 3 * Math.min(i + 1, count - 1)];
    let tx = line[to] - line[from];
    let ty = line[to + 1] - line[from + 1];
    let tz = line[to + 2] - line[from + 2];
    let size = Math.sqrt(tx * tx + ty * ty + tz * tz) || 1;
    tx /= size;
    ty /= size;
    tz /= size;
    let along = ax * tx + ay * ty + az * tz;
    ax -= along * tx;
    ay -= along * ty;
    az -= along * tz;
    size = Math.sqrt(ax * ax + ay * ay + az * az);
    if (size < 1e-6) {
      [ax, ay, az] = Math.abs(tz) < 0.9 ? [ty, -tx, 0] : [0, tz, -ty];
      size = Math.sqrt(ax * ax + ay * ay + az * az) || 1;
    }
    ax /= size;
    ay /= size;
    az /= size;
    const at = NODE * i;
    nodes[at] = line[3 * i];
    nodes[at + 1] = line[3 * i + 1];
    nodes[at + 2] = line[3 * i + 2];
    nodes[at + 3] = ax;
    nodes[at + 4] = ay;
    nodes[at + 5] = az;
    nodes[at + 6] = ty * az - tz * ay;
    nodes[at + 7] = tz * ax - tx * az;
    nodes[at + 8] = tx * ay - ty * ax;
  }
}

// Corners of a segment: (x, y) on the circle, and 0 or 1 for its first or second node.
function tubeCorners() {
  const corners = [];
  for (let j = 0; j < TUBE_SIDES; j++) {
    const [c, d] = [onCircle(j / TUBE_SIDES), onCircle((j + 1) / TUBE_SIDES)];
    for (const [circle, end] of [[c, 0], [d, 0], [d, 1], [c, 0], [d, 1], [c, 1]]) corners.push(...circle, end, 0);
  }
  return new Float32Array(corners);
}

// Arrows: a round bar and a head. Each corner is (radial x, radial y, part, slope): arrow.vert
// puts part 0 at the bar's start, 1 at its end, 2 on the head's rim, 3 at the tip, and makes the normal from the slope.
function arrowCorners() {
  const corners = [];
  const sides = 12;
  for (let i = 0; i < sides; i++) {
    const [c, d] = [onCircle(i / sides), onCircle((i + 1) / sides)];
    const band = (from, to, slope) => {
      for (const [radial, part] of [[c, from], [d, from], [d, to], [c, from], [d, to], [c, to]]) corners.push(...radial, part, slope);
    };
    band(0, 1, 0);
    band(2, 3, 0.4);
    band(1, 2, -1);
  }
  return new Float32Array(corners);
}
