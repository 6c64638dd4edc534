//! Contact geometry: shapes, meshes and their readers, signed distance, point contact.

pub mod mesh;
