// Only depth (for the shadow map) or, where something is being picked, which one it is.
uniform vec4 u_id;
out vec4 color;
void main() { color = u_id; }
