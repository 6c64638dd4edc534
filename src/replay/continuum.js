// Surfaces of continua of material points: balls leave their depths, which are smoothed and lit as one surface.

// Radius of the balls, in radii of the points: a half of their distance.
const SPLAT = 1.9;
// Of the smoothing and of the range of depths that belong together, in radii of the balls.
const SMOOTHING = 0.9;
const DEPTH_RANGE = 4;
const ROUNDS = 2;

class ContinuumPass {
  // Null where the browser cannot draw into numbers: there the points are drawn as grains.
  static create(gl, program) {
    return gl.getExtension("EXT_color_buffer_float") ? new ContinuumPass(gl, program) : null;
  }

  constructor(gl, program) {
    this.gl = gl;
    this.splat = program("ball.vert", "ball.frag", true, "#define SPLAT");
    this.smooth = program("sky.vert", "smooth.frag", false);
    this.light = program("sky.vert", "continuum.frag", true);
    this.size = [0, 0];
    this.targets = [];
    this.nothing = gl.createVertexArray();
  }

  // Two pairs of a depth and a colour for each pixel; the first has a depth buffer too.
  resize(width, height) {
    if (this.size[0] === width && this.size[1] === height) return;
    const { gl } = this;
    for (const { frame, depths, tints, buffer } of this.targets) {
      gl.deleteFramebuffer(frame);
      gl.deleteTexture(depths);
      gl.deleteTexture(tints);
      if (buffer) gl.deleteRenderbuffer(buffer);
    }
    this.size = [width, height];
    gl.activeTexture(gl.TEXTURE2); // the others are those of the shadow map
    this.targets = [0, 1].map((number) => {
      const texture = (format) => {
        const handle = gl.createTexture();
        gl.bindTexture(gl.TEXTURE_2D, handle);
        gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        return handle;
      };
      const target = { frame: gl.createFramebuffer(), depths: texture(gl.R32F), tints: texture(gl.RGBA8), buffer: null };
      gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target.depths, 0);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT1, gl.TEXTURE_2D, target.tints, 0);
      gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1]);
      if (number === 0) {
        target.buffer = gl.createRenderbuffer();
        gl.bindRenderbuffer(gl.RENDERBUFFER, target.buffer);
        gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, target.buffer);
      }
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      return target;
    });
  }

  // Draws the surface of `items`. `spread`: half the width and height of the picture at a depth of 1.
  draw(items, common, spread, look) {
    const { gl } = this;
    this.resize(gl.drawingBufferWidth, gl.drawingBufferHeight);
    const [first, second] = this.targets;
    const blends = gl.isEnabled(gl.BLEND);
    gl.disable(gl.BLEND);
    gl.bindFramebuffer(gl.FRAMEBUFFER, first.frame);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.COLOR, 1, [0, 0, 0, 0]);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.splat.use(common);
    let radius = 0;
    for (const item of items) {
      this.splat.set(item.between);
      this.splat.set({ u_radius: item.radius, u_color: item.visual.color, u_useValue: item.useValue, u_ramp: item.ramp });
      item.balls.draw(6, item.ballCount);
      radius = Math.max(radius, item.radius);
    }
    gl.disable(gl.DEPTH_TEST);
    gl.bindVertexArray(this.nothing);
    this.smooth.use({ u_depths: 2, u_tints: 3, u_focus: this.size[1] / (2 * spread[1]), u_range: DEPTH_RANGE * radius });
    for (let round = 0; round < ROUNDS; round++) {
      this.smooth.set({ u_width: (SMOOTHING * radius) / (1 + round) });
      for (const [from, to, axis] of [[first, second, [1, 0]], [second, first, [0, 1]]]) {
        this.bind(from);
        gl.bindFramebuffer(gl.FRAMEBUFFER, to.frame);
        this.smooth.set({ u_axis: axis });
        gl.drawArrays(gl.TRIANGLES, 0, 3);
      }
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.enable(gl.DEPTH_TEST);
    if (blends) gl.enable(gl.BLEND);
    this.bind(first);
    this.light.use(common);
    this.light.set({ u_depths: 2, u_tints: 3, u_spread: spread, u_liquid: look === "liquid" ? 1 : 0, u_bias: 0.8 * radius });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    this.bind(null);
  }

  bind(target) {
    const { gl } = this;
    for (const [unit, texture] of [[2, target?.depths], [3, target?.tints]]) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture ?? null);
    }
  }
}
