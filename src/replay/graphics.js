// A thin layer over WebGL2: programs with named uniforms, vertex arrays, the shadow map.

class Program {
  constructor(gl, vertex, fragment, name) {
    this.gl = gl;
    this.handle = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(`shader ${name}: ${gl.getShaderInfoLog(shader)}`);
      gl.attachShader(this.handle, shader);
    }
    gl.linkProgram(this.handle);
    if (!gl.getProgramParameter(this.handle, gl.LINK_STATUS)) throw new Error(`shader ${name}: ${gl.getProgramInfoLog(this.handle)}`);
    this.uniforms = new Map();
    for (let i = 0; i < gl.getProgramParameter(this.handle, gl.ACTIVE_UNIFORMS); i++) {
      const { name: uniform, type } = gl.getActiveUniform(this.handle, i);
      this.uniforms.set(uniform.replace("[0]", ""), { type, location: gl.getUniformLocation(this.handle, uniform) });
    }
  }

  // Sets the values of the uniforms that the program has.
  use(values) {
    this.gl.useProgram(this.handle);
    this.set(values);
    return this;
  }

  set(values) {
    const { gl } = this;
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms.get(name);
      if (!uniform) continue;
      const { type, location } = uniform;
      if (type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(location, false, value);
      else if (type === gl.FLOAT_VEC4) gl.uniform4fv(location, value);
      else if (type === gl.FLOAT_VEC3) gl.uniform3fv(location, value);
      else if (type === gl.FLOAT_VEC2) gl.uniform2fv(location, value);
      else if (type === gl.FLOAT) gl.uniform1f(location, value);
      else if (type === gl.INT_VEC2) gl.uniform2iv(location, value);
      else gl.uniform1i(location, value); // integers and textures
    }
  }
}

// Locations of attributes, the same in all vertex shaders.
const ATTRIBUTES = {
  a_position: 0, a_normal: 1, a_value: 2, a_corner: 3, a_start: 4, a_along: 5, a_next: 6, a_nextNormal: 7, a_nextValue: 8, a_aside: 9, a_other: 10, a_nextAside: 11, a_nextOther: 12,
};

// Corners (and instances) of something to draw. `attributes`: name → { size, data, each, normalized } with each = 1 for one value per instance
// and normalized for whole numbers that stand for 0 to 1, or { size, each, within, stride, offset } for numbers that lie among those of the attribute `within`.
class Geometry {
  constructor(gl, attributes, indices) {
    this.gl = gl;
    this.attributes = attributes;
    this.array = gl.createVertexArray();
    this.buffers = {};
    this.kinds = {};
    gl.bindVertexArray(this.array);
    for (const [name, { data, each = 0 }] of Object.entries(attributes)) {
      gl.enableVertexAttribArray(ATTRIBUTES[name]);
      gl.vertexAttribDivisor(ATTRIBUTES[name], each);
      if (data) this.buffers[name] = gl.createBuffer();
    }
    for (const name of Object.keys(this.buffers)) this.update(name, attributes[name].data);
    this.indexed = Boolean(indices);
    gl.bindVertexArray(this.array);
    if (indices) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, (this.indices = gl.createBuffer()));
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    }
    gl.bindVertexArray(null);
  }

  // Gives an attribute and those within it new numbers; the type of the array is that of the numbers.
  update(name, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    if (this.kinds[name] === data.constructor) return;
    this.kinds[name] = data.constructor;
    const type = data instanceof Uint16Array ? gl.UNSIGNED_SHORT : data instanceof Uint8Array ? gl.UNSIGNED_BYTE : gl.FLOAT;
    gl.bindVertexArray(this.array);
    for (const [part, { size, normalized = false, within = part, stride = 0, offset = 0 }] of Object.entries(this.attributes)) {
      if (within === name) gl.vertexAttribPointer(ATTRIBUTES[part], size, type, normalized, stride, offset);
    }
    gl.bindVertexArray(null);
  }

  updateIndices(indices) {
    this.gl.bindVertexArray(this.array);
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, this.indices);
    this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, indices, this.gl.DYNAMIC_DRAW);
    this.gl.bindVertexArray(null);
  }

  draw(count, instances = 1) {
    if (count === 0 || instances === 0) return;
    const { gl } = this;
    gl.bindVertexArray(this.array);
    if (this.indexed) gl.drawElementsInstanced(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0, instances);
    else gl.drawArraysInstanced(gl.TRIANGLES, 0, count, instances);
    gl.bindVertexArray(null);
  }
}

// Depth from the sun. One texture with two samplers: the depth itself, for the distance of the occluder, and a filtered comparison,
// for the shadow.
class ShadowMap {
  constructor(gl, size) {
    this.gl = gl;
    this.size = size;
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
    this.frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.texture, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    const sampler = (filter, compare) => {
      const handle = gl.createSampler();
      gl.samplerParameteri(handle, gl.TEXTURE_MIN_FILTER, filter);
      gl.samplerParameteri(handle, gl.TEXTURE_MAG_FILTER, filter);
      gl.samplerParameteri(handle, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
      gl.samplerParameteri(handle, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
      gl.samplerParameteri(handle, gl.TEXTURE_COMPARE_MODE, compare ? gl.COMPARE_REF_TO_TEXTURE : gl.NONE);
      gl.samplerParameteri(handle, gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL);
      return handle;
    };
    this.depth = sampler(gl.NEAREST, false);
    this.test = sampler(gl.LINEAR, true);
  }

  begin() {
    const { gl } = this;
    this.bind(null, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.frame);
    gl.viewport(0, 0, this.size, this.size);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1.5, 2);
  }

  end() {
    const { gl } = this;
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.bind(this.texture, [this.depth, this.test]);
  }

  bind(texture, samplers) {
    for (const unit of [0, 1]) {
      this.gl.activeTexture(this.gl.TEXTURE0 + unit);
      this.gl.bindTexture(this.gl.TEXTURE_2D, texture);
      this.gl.bindSampler(unit, samplers ? samplers[unit] : null);
    }
  }
}
