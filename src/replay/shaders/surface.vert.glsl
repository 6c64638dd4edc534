// Triangles of a shape at its pose.
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec3 a_normal;
layout(location = 2) in float a_value;
uniform mat4 u_clipFromWorld, u_worldFromShape;
out vec3 v_world, v_normal, v_local;
out float v_value;

void main() {
  vec4 world = u_worldFromShape * vec4(a_position, 1.0);
  v_world = world.xyz;
  v_normal = mat3(u_worldFromShape) * a_normal;
  v_local = a_position;
  v_value = a_value;
  gl_Position = u_clipFromWorld * world;
}
