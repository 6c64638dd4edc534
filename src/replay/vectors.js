// Vectors, quaternions (w, x, y, z) and 4×4 matrices (column-major, as in WebGL), all plain arrays.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const normalized = (a) => scale(a, 1 / (length(a) || 1));
const mix = (a, b, s) => a + (b - a) * s;
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

function quaternionProduct(a, b) {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

function rotated(q, v) {
  const u = [q[1], q[2], q[3]];
  const t = scale(cross(u, v), 2);
  return add(v, add(scale(t, q[0]), cross(u, t)));
}

// Normalised linear interpolation along the shorter arc; nearly uniform for the small rotations between frames.
function quaternionBetween(a, b, s) {
  const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const q = a.map((component, i) => mix(component, sign * b[i], s));
  const norm = Math.hypot(...q) || 1;
  return q.map((component) => component / norm);
}

const poseProduct = (a, b) => ({
  position: add(a.position, rotated(a.rotation, b.position)),
  rotation: quaternionProduct(a.rotation, b.rotation),
});

const poseMatrix = (pose) => setPose(new Float32Array(16), pose);

// Writes the matrix of a pose into `matrix`.
function setPose(matrix, { position, rotation: [w, x, y, z] }) {
  matrix[0] = 1 - 2 * (y * y + z * z);
  matrix[1] = 2 * (x * y + w * z);
  matrix[2] = 2 * (x * z - w * y);
  matrix[4] = 2 * (x * y - w * z);
  matrix[5] = 1 - 2 * (x * x + z * z);
  matrix[6] = 2 * (y * z + w * x);
  matrix[8] = 2 * (x * z + w * y);
  matrix[9] = 2 * (y * z - w * x);
  matrix[10] = 1 - 2 * (x * x + y * y);
  matrix[12] = position[0];
  matrix[13] = position[1];
  matrix[14] = position[2];
  matrix[15] = 1;
  return matrix;
}

function matrixProduct(a, b) {
  const c = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      c[4 * column + row] = sum;
    }
  }
  return c;
}

function perspective(fieldOfView, aspect, near, far) {
  const f = 1 / Math.tan(fieldOfView / 2);
  return new Float32Array([f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0]);
}

// A box of half width r around the origin, seen along −z from depth 0 to `depth`.
function orthographic(r, depth) {
  return new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -2 / depth, 0, 0, 0, -1, 1]);
}

function lookAt(eye, target, up) {
  const z = normalized(sub(eye, target));
  const x = normalized(cross(up, z));
  const y = cross(z, x);
  return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
}
