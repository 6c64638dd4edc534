//! How much is read: one budget for files and for what a scene asks for, checked before memory is taken.

pub(crate) use pliant_hydroelastic::mesh::read_bounded as read;

/// Bytes of a scene file.
pub(crate) const SCENE_BYTES: u64 = 64 << 20;
/// Bytes of a file that a scene or an option names: robots, meshes, trajectories, checkpoints.
pub(crate) const FILE_BYTES: u64 = 1 << 30;
/// Tetrahedra, triangles and rod edges of all deformable bodies: of so many the world has about 10 GB.
pub(super) const ELEMENTS: f64 = 1e7;
/// Material points of a scene: of so many the state has 5 GB.
pub(crate) const PARTICLES: usize = 20_000_000;
/// Columns of a trajectory.
pub(super) const COLUMNS: usize = 10_000;
/// Numbers of a trajectory.
pub(super) const NUMBERS: usize = 1 << 27;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn longer_files_and_devices_are_refused() {
        let path = std::env::temp_dir().join(format!("pliant_budget_{}", std::process::id()));
        std::fs::write(&path, [7; 100]).expect("written");

        assert_eq!(read(&path, 100).expect("100 bytes"), [7; 100]);
        let refused = read(&path, 99).expect_err("too long").to_string();
        assert!(refused.contains("more than"), "{refused}");
        std::fs::remove_file(&path).expect("removed");
        if cfg!(unix) {
            let refused = read(Path::new("/dev/zero"), 100).expect_err("endless");
            assert_eq!(refused.to_string(), "is no file");
        }
        assert!(read(&std::env::temp_dir(), 100).is_err());
    }
}
