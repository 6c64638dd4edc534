// Small balls, one per instance: squares facing the viewer, which ball.frag makes round.
layout(location = 3) in vec4 a_corner; // x, y in -1..1
layout(location = 4) in vec3 a_start;  // the centre
layout(location = 2) in float a_value;
uniform mat4 u_clipFromWorld;
uniform vec3 u_right, u_up;
uniform float u_radius;
out vec3 v_center;
out vec2 v_square;
out float v_value;

void main() {
  v_center = a_start;
  v_square = a_corner.xy;
  v_value = a_value;
  vec3 world = a_start + u_radius * (a_corner.x * u_right + a_corner.y * u_up);
  gl_Position = u_clipFromWorld * vec4(world, 1.0);
}
