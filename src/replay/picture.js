// Renders the recorded world at one time: shadow map, sky, bodies (items.js), surfaces of continua (continuum.js), ground, patches, arrows.

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
      thread: this.program("thread.vert", "surface.frag", true),
      threadDepth: this.program("thread.vert", "depth.frag", false),
      sky: this.program("sky.vert", "sky.frag", true),
    };
    this.shadows = new ShadowMap(gl, 2048);
    this.nothing = gl.createVertexArray();
    this.square = new Geometry(gl, { a_position: { size: 3, data: new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0]) } });
    const arrow = arrowCorners();
    this.arrowCorners = arrow.length / 4;
    [this.arrows, this.moments] = [0, 1].map(() => new Geometry(gl, {
      a_corner: { size: 4, data: arrow },
      a_start: { size: 3, data: EMPTY, each: 1, stride: 24 },
      a_along: { size: 3, each: 1, within: "a_start", stride: 24, offset: 12 },
    }));
    this.centers = ballGeometry(gl);
    this.patches = new Geometry(gl, { a_position: { size: 3, data: EMPTY }, a_value: { size: 1, data: EMPTY } }, new Uint32Array(0));
    this.drawn = this.recording.visuals.map((visual) => makeItem(gl, recording, visual));
    this.drawn.forEach((item, i) => (item.id = [((i + 1) & 255) / 255, ((i + 1) >> 8 & 255) / 255, 0, 1]));
    this.continuum = ContinuumPass.create(gl, this.program);
    this.bounds = sceneBounds(this.drawn, recording);
    gl.enable(gl.DEPTH_TEST);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  }

  // The box around items at time t.
  boxOf(items, t) {
    const { k, next, s } = locateFrame(this.recording.times, t);
    const boxes = items.map((item) => boxAtFrame(item, this.recording, s < 0.5 ? k : next)).filter(Boolean);
    return boxes.length > 0 ? bounded(boxes) : this.bounds;
  }

  // The centre of items at time t: of a rigid body its origin, of a soft body the mean of its points.
  centre(items, t) {
    const at = locateFrame(this.recording.times, t);
    const centres = items.map(({ visual }) => {
      if (visual.soft) return meanOf(softPoints(visual.soft, at).points) ?? this.bounds.center;
      return visual.body === null ? visual.pose.position : bodyPose(this.recording.bodies[visual.body].poses, at).position;
    });
    return scale(centres.reduce(add), 1 / centres.length);
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
    this.bodies = this.recording.bodies.map(({ poses }) => bodyPose(poses, at));
    for (const item of this.drawn) item.moveTo(at, this.bodies);
    const { contacts, moments, patches } = this.recording;
    this.showFrame(contacts[this.nearest], moments?.[this.nearest] ?? EMPTY, patches?.[this.nearest] ?? null);
  }

  // Contacts and patches are those of the nearest frame.
  showFrame(contacts, moments, patch) {
    this.contactCount = contacts.length / 6;
    this.momentCount = moments.length / 6;
    this.patchCorners = patch?.triangles.length ?? 0;
    const { shown = {} } = this;
    if (shown.contacts !== contacts) this.arrows.update("a_start", contacts);
    if (shown.moments !== moments) {
      this.moments.update("a_start", moments);
      const centers = moments.filter((_, i) => i % 6 < 3);
      for (const [name, data] of [["a_start", centers], ["a_next", centers], ["a_value", new Uint8Array(this.momentCount)], ["a_nextValue", new Uint8Array(this.momentCount)]]) this.centers.update(name, data);
    }
    if (patch && (shown.patch !== patch || shown.values !== patch.values)) {
      this.patches.update("a_position", patch.points);
      this.patches.update("a_value", patch.values);
      this.patches.updateIndices(patch.triangles);
    }
    this.shown = { contacts, moments, patch, values: patch?.values };
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
    this.facing = { u_right: common.u_right, u_up: common.u_up };
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    this.programs.sky.use(common);
    gl.bindVertexArray(this.nothing);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.enable(gl.DEPTH_TEST);

    const spread = [1 / projection[0], 1 / projection[5]];
    this.drawItems(this.programs, common, (item) => item.visual.color[3] >= 1 && !this.isSurface(item));
    this.drawContinuum("solid", common, spread);
    gl.enable(gl.BLEND);
    this.drawGrounds(view, theme, common);
    this.drawItems(this.programs, common, (item) => item.visual.color[3] < 1 && !this.isSurface(item));
    this.drawContinuum("liquid", common, spread);
    if (view.patches) this.drawPatches(common);
    if (view.forces) this.drawArrows(this.arrows, this.contactCount, { color: theme.force, scale: view.metresPerNewton, heads: 1 }, view, common);
    if (view.moments) this.drawArrows(this.moments, this.momentCount, { color: theme.moment, scale: view.metresPerNewtonMetre, heads: 2 }, view, common);
    if (view.patches) this.drawCenters(view, theme, common);
    gl.disable(gl.BLEND);
  }

  // Whether the points of an item are drawn as one surface.
  isSurface(item) {
    return this.continuum !== null && (item.look === "solid" || item.look === "liquid");
  }

  drawContinuum(look, common, spread) {
    const items = this.drawn.filter((item) => this.isSurface(item) && item.look === look && item.ballCount > 0);
    if (items.length > 0) this.continuum.draw(items, common, spread, look);
  }

  drawItems({ surface, thread, ball }, common, wanted, radiusOf = ({ radius }) => radius) {
    const { gl } = this;
    const items = this.drawn.filter(wanted);
    surface.use(common);
    for (const item of items) {
      if (!item.geometry) continue;
      // Back faces of closed shapes are invisible; drawing them causes flicker along edges.
      if (item.closed) gl.enable(gl.CULL_FACE);
      else gl.disable(gl.CULL_FACE);
      surface.set(item.between);
      surface.set({ u_worldFromShape: item.matrix, u_color: item.visual.color, u_marking: item.marking, u_backShade: item.backShade, u_useValue: item.useValue, u_ramp: item.ramp, u_id: item.id });
      item.geometry.draw(item.count);
    }
    gl.disable(gl.CULL_FACE);
    if (items.some((item) => item.threads)) thread.use(common);
    for (const item of items) {
      if (!item.threads) continue;
      thread.set({ u_radius: item.radius, u_color: item.visual.color, u_marking: 0, u_backShade: 1, u_useValue: item.useValue, u_ramp: item.ramp, u_id: item.id });
      item.threads.draw(6 * TUBE_SIDES, item.segmentCount);
    }
    if (items.some((item) => item.balls)) ball.use(common);
    for (const item of items) {
      if (!item.balls) continue;
      ball.set(item.between);
      ball.set({ u_radius: radiusOf(item), u_color: item.visual.color, u_useValue: item.useValue, u_ramp: item.ramp, u_id: item.id });
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
    const { surfaceDepth: surface, threadDepth: thread, ballDepth: ball } = this.programs;
    this.shadows.begin();
    const common = { u_clipFromWorld: matrix, u_right: [look[0], look[4], look[8]], u_up: [look[1], look[5], look[9]] };
    this.drawItems({ surface, thread, ball }, common, (item) => item.visual.color[3] > 0.3, ({ radius, shadowRadius }) => shadowRadius ?? radius);
    this.shadows.end();
    return { matrix, texel, range };
  }

  drawGrounds(view, theme, common) {
    const { bounds, programs: { ground } } = this;
    const declared = this.drawn.filter((item) => item.kind === "half_space");
    const below = { position: [bounds.center[0], bounds.center[1], bounds.low[2]], rotation: [1, 0, 0, 0] };
    const grounds = declared.map((item) => ({ pose: item.pose, color: item.visual.color }));
    if (!declared.some(({ pose }) => rotated(pose.rotation, [0, 0, 1])[2] > 0.3)) grounds.push({ pose: below, color: [...GROUND_GREY, 1] });
    const planes = [];
    ground.use(common);
    for (const { pose, color } of grounds) {
      const normal = rotated(pose.rotation, [0, 0, 1]);
      if (dot(normal, sub(common.u_eye, pose.position)) <= 0) continue; // the camera is inside
      // Of planes in the same place, such as a floor and a wall of the grid, the first is drawn.
      const offset = dot(normal, pose.position);
      if (planes.some((plane) => dot(plane.normal, normal) > 0.9999 && Math.abs(plane.offset - offset) < 1e-3 * bounds.radius)) continue;
      planes.push({ normal, offset });
      const level = isLevel(normal);
      const [w, ...v] = pose.rotation;
      const center = rotated([w, ...scale(v, -1)], sub(bounds.center, pose.position));
      const tint = color.slice(0, 3).map((x, i) => clamp((x / GROUND_GREY[i]) * theme.ground[i], 0, 1));
      ground.set({
        u_worldFromShape: poseMatrix(pose), u_normal: normal, u_center: center.slice(0, 2),
        u_reach: (level ? 16 : 1.25) * bounds.radius, u_fadeFrom: level ? 0.12 : 1,
        u_gridUnit: 10 ** Math.floor(Math.log10(bounds.radius / 2)), u_gridStrength: view.grid ? 0.55 : 0,
        u_groundColor: linearColor(tint), u_gridColor: linearColor(theme.grid), u_shade: theme.shade, u_opacity: color[3],
      });
      this.square.draw(6);
    }
  }

  // Normal of the steepest half space, if none is horizontal.
  slope() {
    const all = this.drawn.filter((item) => item.kind === "half_space").map((item) => rotated(item.visual.pose.rotation, [0, 0, 1]));
    const normals = all.filter((normal) => normal[2] > 0.3);
    return normals.some(isLevel) ? null : normals.sort((a, b) => a[2] - b[2])[0] ?? null;
  }

  // Patches lie between bodies: parts that a body hides are a hint.
  drawPatches(common) {
    const { gl, programs: { patch } } = this;
    gl.disable(gl.CULL_FACE);
    patch.use({ ...common, ...FIXED, u_worldFromShape: poseMatrix(IDENTITY), u_useValue: 1, u_color: [0, 0, 0, 1] });
    this.patches.draw(this.patchCorners);
  }

  // Arrows begin between or inside bodies: hidden parts are drawn translucent. Moments have two heads, by the right-hand rule.
  drawArrows(arrows, count, { color, scale, heads }, view, common) {
    const { gl, programs: { arrow }, arrowCorners: corners } = this;
    const thick = 0.0042 * view.camera.distance * view.forceCrowding ** 0.5;
    const its = { u_metresPerUnit: scale, u_longest: view.longestArrow, u_radius: thick, u_headRadius: 2.4 * thick, u_headLength: 6.5 * thick, u_marking: 0, u_backShade: 1, u_useValue: 0 };
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

  // Centres of pressure of patches; hidden ones are drawn translucent, as arrows are.
  drawCenters(view, theme, common) {
    const { gl, programs: { ball } } = this;
    ball.use({ ...common, ...FIXED, u_radius: 0.007 * view.camera.distance, u_useValue: 0 });
    for (const [hidden, opacity] of [[true, 0.28], [false, 1]]) {
      gl.depthMask(!hidden);
      gl.depthFunc(hidden ? gl.GREATER : gl.LESS);
      ball.set({ u_color: [...theme.moment, opacity] });
      this.centers.draw(6, this.momentCount);
    }
  }

  // The items at the pixels of a small picture of width × height, from below, of the part of the screen that `zoom` makes the whole; null where there is none.
  itemsAt(width, height, zoom) {
    const { gl } = this;
    this.pickFrame ??= gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.pickFrame);
    const buffers = [[gl.RGBA8, gl.COLOR_ATTACHMENT0], [gl.DEPTH_COMPONENT16, gl.DEPTH_ATTACHMENT]].map(([format, attachment]) => {
      const buffer = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
      gl.renderbufferStorage(gl.RENDERBUFFER, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
      return buffer;
    });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const { surfaceDepth: surface, threadDepth: thread, ballDepth: ball } = this.programs;
    this.drawItems({ surface, thread, ball }, { ...this.facing, u_clipFromWorld: matrixProduct(zoom, this.clipFromWorld) }, () => true);
    const pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    for (const buffer of buffers) gl.deleteRenderbuffer(buffer);
    return Array.from({ length: width * height }, (_, i) => this.drawn[pixels[4 * i] + 256 * pixels[4 * i + 1] - 1] ?? null);
  }

  // The item drawn at x, y (-1..1, y up).
  pick(x, y) {
    const { width, height } = this.canvas;
    return this.itemsAt(1, 1, new Float32Array([width, 0, 0, 0, 0, height, 0, 0, 0, 0, 1, 0, -x * width, -y * height, 0, 1]))[0];
  }
}
