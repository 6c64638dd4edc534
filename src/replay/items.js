// What is drawn of each visual, and how it moves. Points of deformable bodies stay as they were recorded, two frames at a time on the graphics
// processor, which interpolates between them: time costs no work where no frame begins.

const EMPTY = new Float32Array(0);
// Numbers of the two frames of deforming points: whole numbers on a grid, or metres (step 1).
const FIXED = { u_origin: [0, 0, 0], u_step: 1, u_mix: 0 };

function makeItem(gl, recording, visual) {
  switch (visual.shape.kind) {
    case "deforming_mesh": return new DeformingItem(gl, visual);
    case "points": return new PointsItem(gl, visual);
    case "thread": return new ThreadItem(gl, visual);
    default: return new RigidItem(gl, recording, visual);
  }
}

// Brightness of the back of a cloth.
const BACK_SHADE = 0.72;

class Item {
  constructor(visual) {
    this.visual = visual;
    this.kind = visual.shape.kind;
    this.marking = 0;
    this.ramp = rampFrom(visual.color).flat();
    this.matrix = poseMatrix(IDENTITY);
    this.useValue = 0;
    this.between = FIXED;
    this.closed = false;
    this.backShade = 1;
  }

  // The recorded frames at both ends of an interval; the second is the first where numbers of points differ.
  framesAt({ k, next, s }) {
    const { frames, origin, step } = this.visual.soft;
    const here = frames[k];
    const there = frames[next].points.length === here.points.length ? frames[next] : here;
    this.between = { u_origin: origin, u_step: step, u_mix: s };
    this.useValue = this.visual.shape.scale && here.values.length > 0 ? 1 : 0;
    return [here, there];
  }
}

class RigidItem extends Item {
  constructor(gl, recording, visual) {
    super(visual);
    const { shape, body } = visual;
    // Only bodies of a single shape need a marking that makes rotation visible.
    const alone = recording.visuals.filter((other) => other.body === body).length === 1;
    this.marking = alone ? MARKING[shape.kind] ?? 0 : 0;
    const mesh = meshOf(shape);
    if (!mesh) return;
    this.closed = shape.kind !== "mesh";
    this.box = boxAround(mesh.positions);
    this.count = mesh.indices.length;
    this.geometry = new Geometry(gl, {
      a_position: { size: 3, data: new Float32Array(mesh.positions) }, a_normal: { size: 3, data: new Float32Array(mesh.normals) },
    }, new Uint32Array(mesh.indices));
  }

  moveTo(at, bodies) {
    const { body, pose } = this.visual;
    if (body === null && this.pose) return;
    this.pose = poseProduct(body === null ? IDENTITY : bodies[body], pose);
    setPose(this.matrix, this.pose);
  }
}

class DeformingItem extends Item {
  constructor(gl, visual) {
    super(visual);
    const { origin, step, frames } = visual.soft;
    const first = Float32Array.from(frames[0].points, (x, i) => origin[i % 3] + step * x);
    Object.assign(this, creased(first, uint32s(visual.shape.triangles)));
    this.count = this.triangles.length;
    this.backShade = BACK_SHADE;
    // Normals of the two frames of one interval, by frame; values may be on a new scale.
    this.looks = [null, null];
    const moving = { size: 3, data: EMPTY };
    const value = { size: 1, data: new Uint8Array(0), normalized: true };
    this.geometry = new Geometry(gl, { a_position: moving, a_normal: moving, a_value: value, a_next: moving, a_nextNormal: moving, a_nextValue: value }, this.triangles);
  }

  moveTo(at) {
    const [here, there] = this.framesAt(at);
    this.show(0, here, ["a_position", "a_normal", "a_value"]);
    this.show(1, there, ["a_next", "a_nextNormal", "a_nextValue"]);
  }

  show(end, frame, [position, normal, value]) {
    const shown = this.looks[end];
    if (shown?.frame === frame && shown.values === frame.values) return;
    const known = this.looks[1 - end];
    const look = known?.frame === frame && known.values === frame.values ? known : this.lookOf(frame, shown === known ? null : shown);
    this.looks[end] = look;
    this.geometry.update(position, look.positions);
    this.geometry.update(normal, look.normals);
    this.geometry.update(value, look.colors);
  }

  // Positions, normals and values of all corners in a frame; takes the memory of `old`.
  lookOf(frame, old) {
    const { source, triangles } = this;
    const { points, values } = frame;
    const look = old?.positions.constructor === points.constructor ? old : {
      positions: new points.constructor(3 * source.length), normals: new Float32Array(3 * source.length), colors: new Uint8Array(source.length),
    };
    const { positions, normals, colors } = look;
    for (let i = 0; i < source.length; i++) {
      const v = 3 * source[i];
      positions[3 * i] = points[v];
      positions[3 * i + 1] = points[v + 1];
      positions[3 * i + 2] = points[v + 2];
    }
    if (values.length > 0) for (let i = 0; i < source.length; i++) colors[i] = values[source[i]];
    smoothNormals(positions, triangles, normals);
    return Object.assign(look, { frame, values });
  }
}

// Squares that ball.frag makes round, one for each point.
function ballGeometry(gl) {
  const corners = new Float32Array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap((c) => [...c, 0, 0]));
  const point = { size: 3, data: EMPTY, each: 1 };
  const value = { size: 1, data: new Uint8Array(0), each: 1, normalized: true };
  return new Geometry(gl, { a_corner: { size: 4, data: corners }, a_start: point, a_value: value, a_next: point, a_nextValue: value });
}

class PointsItem extends Item {
  constructor(gl, visual) {
    super(visual);
    this.balls = ballGeometry(gl);
    this.look = visual.shape.look ?? "grains";
    // Surfaces are made from balls that overlap.
    this.radius = (this.look === "grains" ? 1 : SPLAT) * visual.shape.radius;
    // In the shadow map they stay inside their surface.
    this.shadowRadius = visual.shape.radius;
    this.shown = [null, null];
  }

  moveTo(at) {
    const [here, there] = this.framesAt(at);
    this.ballCount = here.points.length / 3;
    this.show(0, here, "a_start", "a_value");
    this.show(1, there, "a_next", "a_nextValue");
  }

  show(end, { points, values }, position, value) {
    const [shownPoints, shownValues] = this.shown[end] ?? [];
    if (shownPoints !== points) this.balls.update(position, points);
    if (shownValues !== values) this.balls.update(value, values.length > 0 ? values : new Uint8Array(points.length / 3));
    this.shown[end] = [points, values];
  }
}

class ThreadItem extends Item {
  constructor(gl, visual) {
    super(visual);
    const { frames } = visual.soft;
    this.radius = visual.shape.radius;
    const longest = frames.reduce((most, { points }) => Math.max(most, points.length / 3), 0);
    this.makeRoom(longest + 1);
    const node = { each: 1, within: "a_start", stride: 4 * NODE };
    const number = (size, offset) => ({ ...node, size, offset: 4 * offset });
    this.threads = new Geometry(gl, {
      a_corner: { size: 4, data: tubeCorners() },
      a_start: { size: 3, data: this.nodes, each: 1, stride: 4 * NODE },
      a_aside: number(3, 3), a_other: number(3, 6), a_value: number(1, 9),
      a_next: number(3, NODE), a_nextAside: number(3, NODE + 3), a_nextOther: number(3, NODE + 6), a_nextValue: number(1, NODE + 9),
    });
    // Balls round the ends.
    this.balls = ballGeometry(gl);
    this.ends = new Float32Array(6);
    this.endValues = new Float32Array(2);
  }

  makeRoom(count) {
    this.line = new Float32Array(3 * count);
    this.nodes = new Float32Array(NODE * count);
  }

  moveTo(at) {
    const [here, there] = this.framesAt(at);
    const count = here.points.length / 3;
    if (this.line.length < 3 * (count + 1)) this.makeRoom(count + 1);
    const { line, nodes, ends, endValues, visual: { soft: { origin, step } } } = this;
    for (let i = 0; i < 3 * count; i++) line[i] = origin[i % 3] + step * mix(here.points[i], there.points[i], at.s);
    const joined = this.visual.shape.joined && count > 2;
    if (joined) line.copyWithin(3 * count, 0, 3);
    const length = count + (joined ? 1 : 0);
    tubeNodes(line, length, nodes);
    for (let i = 0; i < length; i++) {
      const v = i % count;
      nodes[NODE * i + 9] = this.useValue ? mix(here.values[v], there.values[v] ?? here.values[v], at.s) / 255 : 0;
    }
    this.threads.update("a_start", nodes);
    this.segmentCount = Math.max(0, length - 1);
    this.ballCount = Math.min(count, 2);
    if (count === 0) return;
    for (let i = 0; i < 3; i++) [ends[i], ends[3 + i]] = [line[i], line[3 * (count - 1) + i]];
    for (const [end, node] of [[0, 0], [1, count - 1]]) endValues[end] = nodes[NODE * node + 9];
    this.balls.update("a_start", ends);
    this.balls.update("a_next", ends);
    this.balls.update("a_value", endValues);
    this.balls.update("a_nextValue", endValues);
    this.between = FIXED;
  }
}
