// Triangles of a shape at its pose, between two frames if it deforms.
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in float a_value;
layout(location = 6) in vec3 a_next;
layout(location = 7) in vec3 a_nextNormal;
layout(location = 8) in float a_nextValue;
uniform mat4 u_clipFromWorld, u_worldFromShape;
uniform vec3 u_origin;         // m, of the numbers of positions
uniform float u_step, u_mix;   // m; share of the next frame
out vec3 v_world, v_normal, v_local;
out float v_value;

void main() {
  v_local = u_origin + u_step * mix(a_position, a_next, u_mix);
  vec4 world = u_worldFromShape * vec4(v_local, 1.0);
  v_world = world.xyz;
  v_normal = mat3(u_worldFromShape) * mix(a_normal, a_nextNormal, u_mix);
  v_value = mix(a_value, a_nextValue, u_mix);
  gl_Position = u_clipFromWorld * world;
}
