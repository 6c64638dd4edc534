// Depth for the shadow map, or item numbers for picking.
uniform vec4 u_id;
out vec4 color;
void main() { color = u_id; }
