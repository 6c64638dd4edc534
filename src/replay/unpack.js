// Unpacks the document in the page into arrays. src/recording/packing.rs writes it and describes each stream.

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
const float64s = (base64) => new Float64Array(bytesOf(base64).buffer);
const float32s = (base64) => new Float32Array(bytesOf(base64).buffer);
const uint32s = (base64) => new Uint32Array(bytesOf(base64).buffer);

class IntegerReader {
  constructor(base64) {
    this.bytes = bytesOf(base64);
    this.at = 0;
    this.zeros = 0;
  }
  digits() {
    let value = 0;
    let weight = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("a stream of the recording ends too early");
      value += (byte & 0x7f) * weight;
      if (byte < 0x80) return value;
      weight *= 128;
    }
  }
  next() {
    if (this.zeros > 0) {
      this.zeros--;
      return 0;
    }
    const digits = this.digits();
    if (digits === 0) {
      this.zeros = this.digits();
      return 0;
    }
    return digits % 2 ? -(digits + 1) / 2 : digits / 2;
  }
}

// Poses of one body: seven numbers per frame, x y z and the quaternion w x y z.
function unpackPoses({ origin, step, quaternionStep, stream }, frameCount) {
  const reader = new IntegerReader(stream);
  const poses = new Float64Array(7 * frameCount);
  for (let channel = 0; channel < 7; channel++) {
    let last = 0;
    let secondLast = 0;
    for (let k = 0; k < frameCount; k++) {
      const value = reader.next() + 2 * last - secondLast;
      secondLast = last;
      last = value;
      poses[7 * k + channel] = channel < 3 ? origin[channel] + step * value : quaternionStep * value;
    }
  }
  return poses;
}

// Contacts of each frame: six numbers each, point and force (of patches: centre of pressure and moment).
function unpackContacts({ origin, step, forceStep, stream }, frameCount) {
  const reader = new IntegerReader(stream);
  let before = [];
  return Array.from({ length: frameCount }, () => {
    const count = reader.next();
    const now = Array.from({ length: 6 * count }, (_, i) => reader.next() + (before[i] ?? 0));
    before = now;
    return Float32Array.from(now, (value, i) => (i % 6 < 3 ? origin[i % 6] + step * value : forceStep * value));
  });
}

// Patches of each frame: corners, values from 0 to 1, and triangles.
function unpackPatches({ origin, step, stream }, frameCount) {
  const reader = new IntegerReader(stream);
  let before = { corners: 0, counts: [], joined: [], grid: [], values: [] };
  return Array.from({ length: frameCount }, () => {
    const polygons = reader.next();
    const same = reader.next() === 1;
    let { corners, counts, joined } = before;
    if (!same) {
      [corners, counts, joined] = [0, [], []];
      for (let i = 0; i < polygons; i++) {
        counts.push(reader.next());
        for (let k = 0; k < counts[i]; k++) {
          const number = corners - reader.next();
          joined.push(number);
          corners = Math.max(corners, number + 1);
        }
      }
    }
    const read = (parts, was) => {
      const now = new Int32Array(parts * corners);
      for (let i = 0; i < now.length; i++) now[i] = reader.next() + ((same ? was[i] : now[i - parts]) ?? 0);
      return now;
    };
    const grid = read(3, before.grid);
    const values = read(1, before.values);
    before = { corners, counts, joined, grid, values };
    const triangles = [];
    let first = 0;
    for (const count of counts) {
      for (let k = 2; k < count; k++) triangles.push(joined[first], joined[first + k - 1], joined[first + k]);
      first += count;
    }
    return {
      points: Float32Array.from(grid, (x, i) => origin[i % 3] + step * x),
      values: Float32Array.from(values, (x) => x / 255),
      triangles: Uint32Array.from(triangles),
    };
  });
}

// Points of a deformable body in each frame: 16-bit positions on its grid, and 8-bit values on its scale or none.
function unpackPoints({ origin, step, stream }, frameCount) {
  const reader = new IntegerReader(stream);
  let before = { points: [], values: [] };
  const frames = Array.from({ length: frameCount }, () => {
    const count = reader.next();
    const hasValues = reader.next() === 1;
    const points = new Uint16Array(3 * count);
    for (let i = 0; i < points.length; i++) points[i] = reader.next() + (before.points[i] ?? 0);
    const values = new Uint8Array(hasValues ? count : 0);
    for (let i = 0; i < values.length; i++) values[i] = reader.next() + (before.values[i] ?? 0);
    return (before = { points, values });
  });
  return { origin, step, frames };
}

function unpackRecording(document) {
  const times = float64s(document.times);
  const rowTimes = float64s(document.rowTimes);
  return {
    title: document.title,
    times,
    cameras: document.cameras,
    inputs: document.inputs,
    bodies: document.bodies.map(({ name, poses }) => ({ name, poses: unpackPoses(poses, times.length) })),
    visuals: document.visuals.map((visual) => {
      const [[kind, sizes]] = Object.entries(visual.shape);
      return {
        ...visual,
        shape: { kind, ...sizes },
        pose: { position: visual.position, rotation: visual.quat_wxyz },
        soft: sizes.frames ? unpackPoints(sizes.frames, times.length) : null,
      };
    }),
    contacts: unpackContacts(document.contacts, times.length),
    contactCounts: uint32s(document.contactCounts),
    patches: document.patches ? unpackPatches(document.patches, times.length) : null,
    moments: document.moments ? unpackContacts(document.moments, times.length) : null,
    patchScale: document.patches ? { name: "contact pressure", unit: "Pa", min: 0, max: document.patches.pressureMax } : null,
    observables: document.observables.map(({ name, unit, times: own, values }) => ({
      name,
      unit,
      times: own ? float64s(own) : rowTimes,
      values: float32s(values),
    })),
  };
}

// The frame at or before time t, and the position of t between it and the next, 0 to 1.
function locateFrame(times, t) {
  const k = clamp(lastAtOrBefore(times, t), 0, times.length - 1);
  if (k + 1 >= times.length) return { k, next: k, s: 0 };
  return { k, next: k + 1, s: clamp((t - times[k]) / (times[k + 1] - times[k]), 0, 1) };
}

// Index of the last of ascending numbers that is at most t; −1 if there is none.
function lastAtOrBefore(ascending, t) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (ascending[half] <= t) low = half + 1;
    else high = half;
  }
  return low - 1;
}

function bodyPose(poses, { k, next, s }) {
  const [a, b] = [7 * k, 7 * next];
  return {
    position: [0, 1, 2].map((i) => mix(poses[a + i], poses[b + i], s)),
    rotation: quaternionBetween([...poses.subarray(a + 3, a + 7)], [...poses.subarray(b + 3, b + 7)], s),
  };
}

// Positions and values (0 to 1) of a deformable body, interpolated between frames of equal numbers of points.
function softPoints({ origin, step, frames }, { k, next, s }) {
  const here = frames[k];
  const there = frames[next].points.length === here.points.length ? frames[next] : here;
  const points = new Float32Array(here.points.length);
  for (let i = 0; i < points.length; i++) points[i] = origin[i % 3] + step * mix(here.points[i], there.points[i], s);
  const values = new Float32Array(points.length / 3).fill(-1);
  for (let i = 0; i < here.values.length; i++) values[i] = mix(here.values[i], there.values[i] ?? here.values[i], s) / 255;
  return { points, values };
}
