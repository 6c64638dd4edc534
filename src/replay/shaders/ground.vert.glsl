// The boundary plane of a half space, as a square around the scene: horizontal ground fades out, a slope has edges.
layout(location = 0) in vec3 a_position;
uniform mat4 u_clipFromWorld, u_worldFromShape;
uniform vec2 u_center; // centre of the scene in the plane's coordinates, m
uniform float u_reach; // half the square's edge, m
out vec3 v_world;
out vec2 v_local;

void main() {
  v_local = u_center + u_reach * a_position.xy;
  vec4 world = u_worldFromShape * vec4(v_local, 0.0, 1.0);
  v_world = world.xyz;
  gl_Position = u_clipFromWorld * world;
}
