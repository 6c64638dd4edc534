// A segment of a round thread, one per instance, between the rings at two nodes.
layout(location = 3) in vec4 a_corner; // x, y on the circle; 0 or 1 for the first or second node
layout(location = 4) in vec3 a_start;
layout(location = 9) in vec3 a_aside;
layout(location = 10) in vec3 a_other;
layout(location = 2) in float a_value;
layout(location = 6) in vec3 a_next;
layout(location = 11) in vec3 a_nextAside;
layout(location = 12) in vec3 a_nextOther;
layout(location = 8) in float a_nextValue;
uniform mat4 u_clipFromWorld;
uniform float u_radius;
out vec3 v_world, v_normal, v_local;
out float v_value;

void main() {
  float end = a_corner.z;
  v_normal = a_corner.x * mix(a_aside, a_nextAside, end) + a_corner.y * mix(a_other, a_nextOther, end);
  v_world = mix(a_start, a_next, end) + u_radius * v_normal;
  v_local = vec3(0.0);
  v_value = mix(a_value, a_nextValue, end);
  gl_Position = u_clipFromWorld * vec4(v_world, 1.0);
}
