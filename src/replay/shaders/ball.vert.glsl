// Small balls, one per instance, between two frames: squares facing the viewer, which ball.frag makes round.
layout(location = 3) in vec4 a_corner; // x, y in -1..1
layout(location = 4) in vec3 a_start;  // the centre
layout(location = 2) in float a_value;
layout(location = 6) in vec3 a_next;
layout(location = 8) in float a_nextValue;
uniform mat4 u_clipFromWorld;
uniform vec3 u_right, u_up;
uniform float u_radius;
uniform vec3 u_origin;         // m, of the numbers of centres
uniform float u_step, u_mix;   // m; share of the next frame
out vec3 v_center;
out vec2 v_square;
out float v_value;

void main() {
  v_center = u_origin + u_step * mix(a_start, a_next, u_mix);
  v_square = a_corner.xy;
  v_value = mix(a_value, a_nextValue, u_mix);
  vec3 world = v_center + u_radius * (a_corner.x * u_right + a_corner.y * u_up);
  gl_Position = u_clipFromWorld * vec4(world, 1.0);
}
