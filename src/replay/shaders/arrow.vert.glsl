// Arrows of forces and moments, one per instance: a bar and a head.
layout(location = 3) in vec4 a_corner; // radial x, radial y, part, slope
layout(location = 4) in vec3 a_start;  // m
layout(location = 5) in vec3 a_along;  // N, or N m
uniform mat4 u_clipFromWorld;
uniform float u_radius, u_headRadius, u_headLength, u_metresPerUnit, u_longest, u_shorter;
out vec3 v_world, v_normal, v_local;
out float v_value;

void main() {
  float size = max(0.0, min(length(a_along) * u_metresPerUnit, u_longest) - u_shorter);
  vec3 along = size > 0.0 ? normalize(a_along) : vec3(0.0, 0.0, 1.0);
  // An arrow shorter than its head shrinks as a whole.
  float shrink = min(1.0, size / (1.4 * u_headLength));
  vec3 aside = normalize(cross(along, abs(along.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
  vec3 radial = a_corner.x * aside + a_corner.y * cross(along, aside);
  int part = int(a_corner.z + 0.5);
  float offset = part == 0 ? 0.0 : part == 3 ? size : size - u_headLength * shrink;
  float radius = (part == 2 ? u_headRadius : part == 3 ? 0.0 : u_radius) * shrink;
  v_world = a_start + offset * along + radius * radial;
  v_normal = a_corner.w < 0.0 ? -along : normalize(radial + a_corner.w * along);
  v_local = vec3(0.0);
  v_value = -1.0;
  gl_Position = u_clipFromWorld * vec4(v_world, 1.0);
}
