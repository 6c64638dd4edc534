// Renders the recorded world at one time: shadow map, sky, rigid and deformable bodies, ground, patches, arrows.

const THEMES = {
  light: {
    horizon: [0.955, 0.962, 0.972], zenith: [0.83, 0.87, 0.92], ground: [0.925, 0.932, 0.943], grid: [0.66, 0.69, 0.74], shade: 0.56,
    sun: [1.08, 1.03, 0.95], sky: [0.42, 0.46, 0.52], bounce: [0.26, 0.25, 0.24], force: [0.84, 0.15, 0.28], moment: [0.1, 0.42, 0.85],
  },
  dark: {
    horizon: [0.125, 0.14, 0.163], zenith: [0.06, 0.068, 0.082], ground: [0.15, 0.166, 0.192], grid: [0.36, 0.39, 0.44], shade: 0.42,
    sun: [1.02, 0.98, 0.92], sky: [0.26, 0.29, 0.34], bounce: [0.12, 0.12, 0.13], force: [1.0, 0.42, 0.45], moment: [0.45, 0.72, 1.0],
  },
};
// Elevation of the sun, and its azimuth relative to the initial camera, in radians.
const SUN_ELEVATION = 0.96;
const SUN_AZIMUTH = -0.8;
// Colours of the pressure of patches from low to high.
const RAMP = [[0.19, 0.12, 0.4], [0.17, 0.38, 0.62], [0.16, 0.62, 0.56], [0.6, 0.81, 0.37], [0.99, 0.9, 0.35]];
// Values of a body go from its own colour over amber to crimson.
const VALUE_COLORS = [[0.95, 0.65, 0.25], [0.88, 0.33, 0.19], [0.62, 0.07, 0.2]];
const rampFrom = ([r, g, b]) => [[r, g, b], [r, g, b].map((x, k) => (x + VALUE_COLORS[0][k]) / 2), ...VALUE_COLORS];
const GROUND_GREY = [0.8, 0.81, 0.83]; // Color::GROUND: takes the theme's own ground colour
const isLevel = (normal) => normal[2] > 0.999;
const linearColor = (srgb) => srgb.map((x) => x ** 2.2);
const IDENTITY = { position: [0, 0, 0], rotation: [1, 0, 0, 0] };

class Picture {
  constructor(canvas, recording, shaders) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: false });
    if (!gl) throw new Error("this browser does not support WebGL 2");
    this.canvas = canvas;
    this.gl = gl;
    this.recording = recording;
    this.program = (vertex, fragment, lit, defines = "") => {
      const head = `#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler2D;\nprecision highp sampler2DShadow;\n${defines}\n`;
      return new Program(gl, head + shaders[vertex], head + (lit ? shaders.light : "") + shaders[fragment], `${vertex} + ${fragment}`);
    };
    this.programs = {
      surface: this.program("surface.vert", "surface.frag", true),
      surfaceDepth: this.program("surface.vert", "depth.frag", false),
      ground: this.program("ground.vert", "ground.frag", true),
      arrow: this.program("arrow.vert", "surface.frag", true),
      patch: this.program("surface.vert", "patch.frag", true),
      ball: this.program("ball.vert", "ball.frag", true),
      ballDepth: this.program("ball.vert", "ball.frag", false, "#define DEPTH_ONLY"),
      sky: this.program("sky.vert", "sky.frag", true),
    };
    this.shadows = new ShadowMap(gl, 2048);
    this.nothing = gl.createVertexArray();
    this.square = new Geometry(gl, { a_position: { size: 3, data: new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0]) } });
    const arrow = arrowCorners();
    this.arrowCorners = arrow.length / 4;
    this.arrows = new Geometry(gl, {
      a_corner: { size: 4, data: arrow },
      a_start: { size: 3, data: new Float32Array(0), each: 1 },
      a_along: { size: 3, data: new Float32Array(0), each: 1 },
    });
    this.moments = new Geometry(gl, {
      a_corner: { size: 4, data: arrow },
      a_start: { size: 3, data: new Float32Array(0), each: 1 },
      a_along: { size: 3, data: new Float32Array(0), each: 1 },
    });
    this.centers = this.balls();
    const empty = { data: new Float32Array(0) };
    this.patches = new Geometry(gl, { a_position: { size: 3, ...empty }, a_value: { size: 1, ...empty } }, new Uint32Array(0));
    this.drawn = this.recording.visuals.map((visual) => this.prepare(visual));
    this.bounds = sceneBounds(this.drawn, recording);
    this.pickFrame = this.createPickFrame();
    gl.enable(gl.DEPTH_TEST);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  }

  balls() {
    const empty = new Float32Array(0);
    const corners = new Float32Array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap((c) => [...c, 0, 0]));
    return new Geometry(this.gl, {
      a_corner: { size: 4, data: corners },
      a_start: { size: 3, data: empty, each: 1 },
      a_value: { size: 1, data: empty, each: 1 },
    });
  }

  prepare(visual) {
    const { gl } = this;
    const { shape } = visual;
    // Only bodies of a single shape need a marking that makes rotation visible.
    const alone = this.recording.visuals.filter(({ body }) => body === visual.body).length === 1;
    const item = { visual, kind: shape.kind, marking: alone ? MARKING[shape.kind] ?? 0 : 0, useValue: shape.scale ? 1 : 0, ramp: rampFrom(visual.color).flat() };
    const empty = new Float32Array(0);
    const moving = { a_position: { size: 3, data: empty }, a_normal: { size: 3, data: empty }, a_value: { size: 1, data: empty } };
    if (shape.kind === "deforming_mesh") {
      const { origin, step, frames } = visual.soft;
      const first = Float32Array.from(frames[0].points, (x, i) => origin[i % 3] + step * x);
      Object.assign(item, creased(first, uint32s(shape.triangles)));
      item.geometry = new Geometry(gl, moving, item.triangles);
    } else if (shape.kind === "points") {
      item.balls = this.balls();
    } else if (shape.kind === "thread") {
      item.balls = this.balls();
      const longest = visual.soft.frames.reduce((most, { points }) => Math.max(most, points.length / 3), 0);
      item.geometry = new Geometry(gl, moving, tubeTriangles(longest + 1));
    } else if (shape.kind !== "half_space") {
      const mesh = meshOf(shape);
      item.closed = shape.kind !== "mesh";
      item.box = boxAround(mesh.positions);
      item.count = mesh.indices.length;
      item.geometry = new Geometry(gl, {
        a_position: { size: 3, data: new Float32Array(mesh.positions) }, a_normal: { size: 3, data: new Float32Array(mesh.normals) },
      }, new Uint32Array(mesh.indices));
    }
    return item;
  }

  // Sets the direction of the sun for a camera at this azimuth.
  lightFor(azimuth) {
    const c = Math.cos(SUN_ELEVATION);
    this.sun = [c * Math.cos(azimuth + SUN_AZIMUTH), c * Math.sin(azimuth + SUN_AZIMUTH), Math.sin(SUN_ELEVATION)];
  }

  // Updates all poses and buffers to time t.
  moveTo(t) {
    const at = locateFrame(this.recording.times, t);
    this.nearest = at.s < 0.5 ? at.k : at.next;
    const bodies = this.recording.bodies.map(({ poses }) => bodyPose(poses, at));
    this.bodies = bodies;
    for (const item of this.drawn) {
      const { visual } = item;
      if (!visual.soft) {
        item.pose = poseProduct(visual.body === null ? IDENTITY : bodies[visual.body], visual.pose);
        item.matrix = poseMatrix(item.pose);
        continue;
      }
      const { points, values } = softPoints(visual.soft, at);
      item.matrix = poseMatrix(IDENTITY);
      const count = points.length / 3;
      item.ballCount = count;
      if (item.kind === "deforming_mesh") {
        item.count = item.triangles.length;
        const positions = Float32Array.from({ length: 3 * item.source.length }, (_, i) => points[3 * item.source[Math.floor(i / 3)] + (i % 3)]);
        item.geometry.update("a_position", positions);
        item.geometry.update("a_normal", smoothNormals(positions, item.triangles));
        item.geometry.update("a_value", Float32Array.from(item.source, (v) => values[v]));
        continue;
      }
      if (item.kind === "points") {
        item.balls.update("a_start", points);
        item.balls.update("a_value", values);
      } else if (item.kind === "thread") {
        // Balls round the ends.
        item.balls.update("a_start", Float32Array.of(...points.slice(0, 3), ...points.slice(-3)));
        item.balls.update("a_value", Float32Array.of(...values.slice(0, 1), ...values.slice(-1)));
        item.ballCount = Math.min(count, 2);
        const joined = visual.shape.joined && count > 2;
        const line = joined ? Float32Array.of(...points, ...points.subarray(0, 3)) : points;
        const rings = tubeRings(line, visual.shape.radius);
        item.count = Math.max(0, line.length / 3 - 1) * TUBE_SIDES * 6;
        item.geometry.update("a_position", rings.positions);
        item.geometry.update("a_normal", rings.normals);
        item.geometry.update("a_value", Float32Array.from({ length: (line.length / 3) * TUBE_SIDES }, (_, i) => values[Math.floor(i / TUBE_SIDES) % count]));
      }
    }
    const patches = this.recording.patches?.[this.nearest];
    this.patchCorners = patches?.triangles.length ?? 0;
    if (patches) {
      this.patches.update("a_position", patches.points);
      this.patches.update("a_value", patches.values);
      this.patches.updateIndices(patches.triangles);
    }
    const contacts = this.recording.contacts[this.nearest];
    this.contactCount = contacts.length / 6;
    const starts = (arrows) => arrows.filter((_, i) => i % 6 < 3);
    const alongs = (arrows) => arrows.filter((_, i) => i % 6 >= 3);
    this.arrows.update("a_start", starts(contacts));
    this.arrows.update("a_along", alongs(contacts));
    const moments = this.recording.moments?.[this.nearest] ?? new Float32Array(0);
    this.momentCount = moments.length / 6;
    this.moments.update("a_start", starts(moments));
    this.moments.update("a_along", alongs(moments));
    this.centers.update("a_start", starts(moments));
    this.centers.update("a_value", new Float32Array(this.momentCount).fill(-1));
  }

  // `view`: { camera, theme: "light" | "dark", metresPerNewton, metresPerNewtonMetre, longestArrow (m), forceCrowding (1 for few arrows, less for many) }
  // and the switches patches, forces, moments and grid.
  draw(view) {
    const { gl, canvas, bounds } = this;
    const theme = THEMES[view.theme];
    const shadow = this.drawShadows(view.camera);
    const { view: look, projection } = view.camera.matrices(canvas.width / canvas.height, bounds.radius);
    this.clipFromWorld = matrixProduct(projection, look);
    const common = {
      u_clipFromWorld: this.clipFromWorld, u_eye: view.camera.eye, u_sun: this.sun, u_height: canvas.height,
      u_sunColor: theme.sun, u_skyColor: theme.sky, u_bounceColor: theme.bounce,
      u_horizon: linearColor(theme.horizon), u_zenith: linearColor(theme.zenith),
      u_shadowFromWorld: shadow.matrix, u_shadowTexel: shadow.texel, u_shadowRange: shadow.range, u_shadowDepth: 0, u_shadowTest: 1,
      u_ramp: RAMP.flat(),
      u_right: [look[0], look[4], look[8]], u_up: [look[1], look[5], look[9]],
    };
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    this.programs.sky.use(common);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);

    this.drawItems(this.programs, common, (item) => item.visual.color[3] >= 1);
    gl.enable(gl.BLEND);
    this.drawGrounds(view, theme, common);
    this.drawItems(this.programs, common, (item) => item.visual.color[3] < 1);
    if (view.patches) this.drawPatches(common);
    if (view.forces) this.drawArrows(this.arrows, this.contactCount, { color: theme.force, scale: view.metresPerNewton, heads: 1 }, view, common);
    if (view.moments) this.drawArrows(this.moments, this.momentCount, { color: theme.moment, scale: view.metresPerNewtonMetre, heads: 2 }, view, common);
    if (view.patches) this.drawCenters(view, theme, common);
    gl.disable(gl.BLEND);
  }

  drawItems({ surface, ball }, common, wanted) {
    const { gl } = this;
    const items = this.drawn.filter(wanted);
    surface.use(common);
    for (const item of items) {
      if (!item.geometry) continue;
      // Back faces of closed shapes are invisible; drawing them causes flicker along edges.
      if (item.closed) gl.enable(gl.CULL_FACE);
      else gl.disable(gl.CULL_FACE);
      surface.set({ u_worldFromShape: item.matrix, u_color: item.visual.color, u_marking: item.marking, u_useValue: item.useValue, u_ramp: item.ramp, u_id: item.id });
      item.geometry.draw(item.count);
    }
    gl.disable(gl.CULL_FACE);
    for (const item of items) {
      if (!item.balls) continue;
      ball.use({ ...common, u_radius: item.visual.shape.radius, u_color: item.visual.color, u_useValue: item.useValue, u_ramp: item.ramp });
      item.balls.draw(6, item.ballCount);
    }
  }

  // The shadow map covers the scene or, for a near camera, the surroundings of its target: shadows are sharp at any zoom.
  drawShadows(camera) {
    const { bounds } = this;
    const close = Math.max(0.9 * camera.distance, 0.1 * bounds.radius);
    const radius = Math.min(1.25 * bounds.radius, close);
    const range = 10 * bounds.radius;
    const center = radius < close ? bounds.center : camera.target;
    const look = lookAt(add(center, scale(this.sun, range / 2)), center, [0, 0, 1]);
    const texel = (2 * radius) / this.shadows.size;
    // Moves by whole texels, so that shadow edges do not flicker while the camera moves.
    for (const i of [12, 13]) look[i] = Math.round(look[i] / texel) * texel;
    const matrix = matrixProduct(orthographic(radius, range), look);
    const { surfaceDepth: surface, ballDepth: ball } = this.programs;
    this.shadows.begin();
    const common = { u_clipFromWorld: matrix, u_right: [look[0], look[4], look[8]], u_up: [look[1], look[5], look[9]] };
    this.drawItems({ surface, ball }, common, (item) => item.visual.color[3] > 0.3);
    this.shadows.end();
    return { matrix, texel, range };
  }

  drawGrounds(view, theme, common) {
    const { bounds, programs: { ground } } = this;
    const declared = this.drawn.filter((item) => item.kind === "half_space");
    const below = { position: [bounds.center[0], bounds.center[1], bounds.low[2]], rotation: [1, 0, 0, 0] };
    const grounds = declared.length > 0
      ? declared.map((item) => ({ pose: item.pose, color: item.visual.color }))
      : [{ pose: below, color: GROUND_GREY }];
    ground.use(common);
    for (const { pose, color } of grounds) {
      const normal = rotated(pose.rotation, [0, 0, 1]);
      if (dot(normal, sub(common.u_eye, pose.position)) <= 0) continue; // the camera is inside
      const level = isLevel(normal);
      const [w, ...v] = pose.rotation;
      const center = rotated([w, ...scale(v, -1)], sub(bounds.center, pose.position));
      const tint = color.slice(0, 3).map((x, i) => clamp((x / GROUND_GREY[i]) * theme.ground[i], 0, 1));
      ground.set({
        u_worldFromShape: poseMatrix(pose), u_normal: normal, u_center: center.slice(0, 2),
        u_reach: (level ? 16 : 1.25) * bounds.radius, u_fadeFrom: level ? 0.12 : 1,
        u_gridUnit: 10 ** Math.floor(Math.log10(bounds.radius / 2)), u_gridStrength: view.grid ? 0.55 : 0,
        u_groundColor: linearColor(tint), u_gridColor: linearColor(theme.grid), u_shade: theme.shade,
      });
      this.square.draw(6);
    }
  }

  // Normal of the steepest half space, if none is horizontal.
  slope() {
    const normals = this.drawn.filter((item) => item.kind === "half_space").map((item) => rotated(item.visual.pose.rotation, [0, 0, 1]));
    return normals.some(isLevel) ? null : normals.sort((a, b) => a[2] - b[2])[0] ?? null;
  }

  // Patches lie inside bodies: hidden parts are drawn translucent.
  drawPatches(common) {
    const { gl, programs: { patch } } = this;
    gl.disable(gl.CULL_FACE);
    patch.use({ ...common, u_worldFromShape: poseMatrix(IDENTITY), u_useValue: 1 });
    gl.depthMask(false);
    gl.depthFunc(gl.GREATER);
    patch.set({ u_color: [0, 0, 0, 0.72] });
    this.patches.draw(this.patchCorners);
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
    patch.set({ u_color: [0, 0, 0, 1] });
    this.patches.draw(this.patchCorners);
  }

  // Arrows begin between or inside bodies: hidden parts are drawn translucent. Moments have two heads, by the right-hand rule.
  drawArrows(arrows, count, { color, scale, heads }, view, common) {
    const { gl, programs: { arrow }, arrowCorners: corners } = this;
    const thick = 0.0042 * view.camera.distance * view.forceCrowding ** 0.5;
    const its = { u_metresPerUnit: scale, u_longest: view.longestArrow, u_radius: thick, u_headRadius: 2.4 * thick, u_headLength: 6.5 * thick, u_marking: 0, u_useValue: 0 };
    arrow.use({ ...common, ...its });
    for (const [hidden, opacity] of [[true, 0.28], [false, 1]]) {
      gl.depthMask(!hidden);
      gl.depthFunc(hidden ? gl.GREATER : gl.LESS);
      for (let head = 0; head < heads; head++) {
        arrow.set({ u_color: [...color, opacity], u_shorter: 4.2 * thick * head });
        arrows.draw(corners, count);
      }
    }
  }

  // Centres of pressure of patches.
  drawCenters(view, theme, common) {
    const { gl, programs: { ball } } = this;
    gl.disable(gl.DEPTH_TEST);
    ball.use({ ...common, u_radius: 0.007 * view.camera.distance, u_color: [...theme.moment, 1], u_useValue: 0 });
    this.centers.draw(6, this.momentCount);
    gl.enable(gl.DEPTH_TEST);
  }

  createPickFrame() {
    const { gl } = this;
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    for (const [format, attachment] of [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]]) {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, 1, 1);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.drawn.forEach((item, i) => (item.id = [((i + 1) & 255) / 255, ((i + 1) >> 8 & 255) / 255, 0, 1]));
    return frame;
  }

  // The item drawn at x, y (-1..1, y up): renders this pixel with item numbers as colours.
  pick(x, y) {
    const { gl, canvas } = this;
    const zoomed = new Float32Array([canvas.width, 0, 0, 0, 0, canvas.height, 0, 0, 0, 0, 1, 0, -x * canvas.width, -y * canvas.height, 0, 1]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickFrame);
    gl.viewport(0, 0, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const { surfaceDepth } = this.programs;
    surfaceDepth.use({ u_clipFromWorld: matrixProduct(zoomed, this.clipFromWorld) });
    for (const item of this.drawn) {
      if (!item.geometry) continue;
      surfaceDepth.set({ u_worldFromShape: item.matrix, u_id: item.id });
      item.geometry.draw(item.count);
    }
    const pixel = new Uint8Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return this.drawn[pixel[0] + 256 * pixel[1] - 1] ?? null;
  }
}

// Bounding box of points (x, y, z in sequence).
function boxAround(positions) {
  const box = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
  for (let i = 0; i < positions.length; i++) {
    box.low[i % 3] = Math.min(box.low[i % 3], positions[i]);
    box.high[i % 3] = Math.max(box.high[i % 3], positions[i]);
  }
  return box;
}

const corners = ({ low, high }) => Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => (i >> axis & 1 ? high : low)[axis]));
const boxCenter = ({ low, high }) => scale(add(low, high), 0.5);

// Bounding box of an item at frame k, or null if it is empty.
function boxAtFrame({ visual, box }, { bodies }, k) {
  const at = { k, next: k, s: 0 };
  if (visual.soft) {
    if (visual.soft.frames[k].points.length === 0) return null;
    const { low, high } = boxAround(softPoints(visual.soft, at).points);
    const r = visual.shape.radius ?? 0;
    return { low: low.map((x) => x - r), high: high.map((x) => x + r) };
  }
  const body = visual.body === null ? IDENTITY : bodyPose(bodies[visual.body].poses, at);
  const { position, rotation } = poseProduct(body, visual.pose);
  return boxAround(corners(box).flatMap((corner) => add(position, rotated(rotation, corner))));
}

function bounded(boxes) {
  const { low, high } = boxAround(boxes.flatMap((box) => [...box.low, ...box.high]));
  return { boxes, low, high, center: boxCenter({ low, high }), radius: Math.max(length(sub(high, low)) / 2, 1e-6) };
}

// Bounds of the scene for the initial view: for each item the box that contains it most of the time, without items far from
// the others. Returns these boxes and their common box and ball.
function sceneBounds(drawn, recording) {
  const count = Math.min(recording.times.length, 40);
  const frames = Array.from({ length: count }, (_, i) => Math.round((i * (recording.times.length - 1)) / Math.max(1, count - 1)));
  const boxes = [];
  for (const item of drawn) {
    if (!item.visual.soft && !item.box) continue;
    const over = frames.map((k) => boxAtFrame(item, recording, k)).filter(Boolean);
    if (over.length === 0) continue;
    const share = Math.floor(0.12 * over.length);
    const sorted = (side, axis) => over.map((box) => box[side][axis]).sort((a, b) => a - b);
    boxes.push({
      low: [0, 1, 2].map((axis) => sorted("low", axis)[share]),
      high: [0, 1, 2].map((axis) => sorted("high", axis).at(-1 - share)),
    });
  }
  if (boxes.length === 0) return bounded([{ low: [-1, -1, 0], high: [1, 1, 1] }]);
  const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
  const typical = [0, 1, 2].map((axis) => median(boxes.map((box) => boxCenter(box)[axis])));
  const reach = ({ low, high }) => Math.max(length(sub(low, typical)), length(sub(high, typical)));
  const limit = 8 * median(boxes.map(reach));
  const near = boxes.filter((box) => reach(box) <= limit);
  return bounded(near);
}
