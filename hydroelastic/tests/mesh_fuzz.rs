//! Fuzzed mesh files: however the bytes of a valid file are damaged, a reader returns a mesh or an error. It does not
//! panic and does not request memory out of proportion to the file.

use pliant_hydroelastic::mesh::{
    MeshError, SurfaceOptions, SurfaceUse, TetOptions, VtuCells, VtuEncoding, VtuFile,
    drawn_from_bytes, generate, hull_from_bytes, surface_from_bytes, tets_from_bytes,
};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Records the largest single allocation of this thread.
struct Watching;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system's allocator unchanged; the bookkeeping neither allocates nor unwinds.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size())));
        // SAFETY: the caller's guarantee about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` through `alloc` with the same layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watching = Watching;

/// Number of files of [`seeds`].
const SEEDS: usize = 14;

/// Valid files of a few hundred bytes, of every format and kind.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let tets = generate::tet_cuboid(nalgebra::Vector3::repeat(0.5), [1, 1, 1]).unwrap();
    let cells: Vec<[u32; 4]> = tets.tets().iter().map(|tet| tet.map(u32::from)).collect();
    let cube = generate::cuboid(nalgebra::Vector3::repeat(0.5)).unwrap();
    let vtu = VtuFile {
        points: tets.vertices(),
        cells: VtuCells::Tets(&cells),
        point_data: Vec::new(),
        cell_data: Vec::new(),
    };
    let mut seeds = Vec::new();
    for encoding in [VtuEncoding::Ascii, VtuEncoding::Base64] {
        let mut bytes = Vec::new();
        vtu.write(&mut bytes, encoding).unwrap();
        seeds.push(("seed.vtu", bytes));
    }

    let mut obj = String::new();
    let mut ascii_stl = String::from("solid s\n");
    let mut binary_stl = vec![0; 80];
    binary_stl.extend(12_u32.to_le_bytes());
    cube.vertices()
        .iter()
        .for_each(|v| obj += &format!("v {} {} {}\n", v.x, v.y, v.z));
    for (t, triangle) in cube.raw_triangles().enumerate() {
        let [a, b, c] = triangle.map(|corner| corner + 1);
        obj += &format!("f {a} {b}/1 {c}//1\n");
        ascii_stl += "facet normal 0 0 0 outer loop\n";
        binary_stl.extend([0; 12]);
        for corner in cube.corners((t as u32).into()) {
            ascii_stl += &format!("vertex {} {} {}\n", corner.x, corner.y, corner.z);
            corner
                .iter()
                .for_each(|x| binary_stl.extend((*x as f32).to_le_bytes()));
        }
        ascii_stl += "endloop endfacet\n";
        binary_stl.extend([0, 0]);
    }
    seeds.push(("seed.obj", obj.into_bytes()));
    seeds.push(("seed.stl", (ascii_stl + "endsolid s\n").into_bytes()));
    seeds.push(("seed.stl", binary_stl));

    let header = |kind: &str| {
        format!(
            "# vtk DataFile Version 4.2\nt\n{kind}\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 double\n"
        )
    };
    let mut ascii_vtk = header("ASCII");
    let mut new_vtk = header("ASCII").replace("4.2", "5.1");
    let mut binary_vtk = header("BINARY").into_bytes();
    let mut gmsh = String::from("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n");
    let mut gmsh_4 = String::from(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 8 1 8\n3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n",
    );
    for (v, p) in tets.vertices().iter().enumerate() {
        let line = format!("{} {} {}\n", p.x, p.y, p.z);
        ascii_vtk += &line;
        new_vtk += &line;
        gmsh_4 += &line;
        gmsh += &format!("{} {line}", v + 1);
        p.iter().for_each(|x| binary_vtk.extend(x.to_be_bytes()));
    }
    ascii_vtk += "CELLS 6 30\n";
    new_vtk += "CELLS 7 24\nOFFSETS vtktypeint64\n0 4 8 12 16 20 24\nCONNECTIVITY vtktypeint64\n";
    binary_vtk.extend(b"\nCELLS 6 30\n");
    gmsh += "$EndNodes\n$Elements\n6\n";
    gmsh_4 += "$EndNodes\n$Elements\n1 6 1 6\n3 1 4 6\n";
    for (t, [a, b, c, d]) in cells.iter().enumerate() {
        ascii_vtk += &format!("4 {a} {b} {c} {d}\n");
        new_vtk += &format!("{a} {b} {c} {d}\n");
        [4, *a, *b, *c, *d]
            .iter()
            .for_each(|n| binary_vtk.extend(n.to_be_bytes()));
        let corners = format!("{} {} {} {}\n", a + 1, b + 1, c + 1, d + 1);
        gmsh += &format!("{} 4 2 1 1 {corners}", t + 1);
        gmsh_4 += &format!("{} {corners}", t + 1);
    }
    let types = "CELL_TYPES 6\n10\n10\n10\n10\n10\n10\n";
    binary_vtk.extend(b"\nCELL_TYPES 6\n");
    (0..6).for_each(|_| binary_vtk.extend(10_u32.to_be_bytes()));
    seeds.push(("seed.vtk", (ascii_vtk + types).into_bytes()));
    seeds.push(("seed.vtk", (new_vtk + types).into_bytes()));
    seeds.push(("seed.vtk", binary_vtk));
    seeds.push(("seed.msh", (gmsh + "$EndElements\n").into_bytes()));
    seeds.push(("seed.msh", (gmsh_4 + "$EndElements\n").into_bytes()));

    let mut mujoco: Vec<u8> = [8, 0, 0, 12_u32]
        .iter()
        .flat_map(|n| n.to_le_bytes())
        .collect();
    let floats = cube.vertices().iter().flatten();
    mujoco.extend(floats.flat_map(|x| (*x as f32).to_le_bytes()));
    mujoco.extend(cube.raw_triangles().flatten().flat_map(u32::to_le_bytes));
    seeds.push(("seed.msh", mujoco));
    let gltf = include_bytes!("data/triangle.gltf");
    let mut glb = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    glb.extend((gltf.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(gltf);
    seeds.push(("seed.glb", glb));
    seeds.push(("seed.gltf", gltf.to_vec()));
    seeds.push(("seed.dae", include_bytes!("data/triangle.dae").to_vec()));
    seeds
}

/// Reads the bytes as each kind of mesh.
fn read_all_ways(bytes: &[u8], name: &str) -> [Result<(), MeshError>; 5] {
    let options = SurfaceOptions::default();
    [
        tets_from_bytes(bytes, name, &TetOptions::default()).map(|_| ()),
        surface_from_bytes(bytes, name, SurfaceUse::Solid, &options).map(|_| ()),
        surface_from_bytes(bytes, name, SurfaceUse::Cloth, &options).map(|_| ()),
        hull_from_bytes(bytes, name, &options.scale).map(|_| ()),
        drawn_from_bytes(bytes, name, &options.scale).map(|_| ()),
    ]
}

#[test]
fn every_seed_is_a_valid_file() {
    assert_eq!(seeds().len(), SEEDS);
    for (name, bytes) in seeds() {
        assert!(
            read_all_ways(&bytes, name).iter().any(Result::is_ok),
            "{name}: {}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

/// One kind of damage, with its position as a fraction of the file.
#[derive(Clone, Debug)]
enum Damage {
    Set(f64, u8),
    Flip(f64, u8),
    Cut(f64),
    Remove(f64, usize),
    Repeat(f64, usize),
    Insert(f64, &'static [u8]),
}

fn damage() -> impl Strategy<Value = Damage> {
    let nasty: Vec<&'static [u8]> = vec![
        b"-1",
        b"0",
        b"4294967295",
        b"99999999999999999999",
        b"nan",
        b"1e999",
        b"-",
        b" ",
        b"\n",
        b"/",
        b"\\\n",
        b"$End",
        b"<",
        b"&",
        b"\x00",
        b"\xff\xff\xff\xff",
        b"OFFSETS",
        b"BINARY",
        b"12",
        b"7",
        b"#",
        b"=",
    ];
    prop_oneof![
        (0.0..1.0, any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (0.0..1.0, 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, 1 << bit)),
        (0.0..1.0).prop_map(Damage::Cut),
        (0.0..1.0, 1..40_usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (0.0..1.0, 1..40_usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
        (0.0..1.0, proptest::sample::select(nasty)).prop_map(|(at, text)| Damage::Insert(at, text)),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        let n = bytes.len();
        let place = |at: f64| ((at * n as f64) as usize).min(n.saturating_sub(1));
        if n == 0 {
            break;
        }
        match *damage {
            Damage::Set(at, byte) => bytes[place(at)] = byte,
            Damage::Flip(at, mask) => bytes[place(at)] ^= mask,
            Damage::Cut(at) => bytes.truncate(place(at)),
            Damage::Remove(at, length) => {
                bytes.drain(place(at)..(place(at) + length).min(n));
            }
            Damage::Repeat(at, length) => {
                let piece = bytes[place(at)..(place(at) + length).min(n)].to_vec();
                bytes.splice(place(at)..place(at), piece);
            }
            Damage::Insert(at, text) => {
                bytes.splice(place(at)..place(at), text.iter().copied());
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_give_a_mesh_or_an_error_with_a_plain_message(
        seed in 0..SEEDS,
        damages in proptest::collection::vec(damage(), 1..5),
    ) {
        let (name, bytes) = seeds().swap_remove(seed);
        let bytes = damaged(bytes, &damages);
        LARGEST.set(0);
        let results = read_all_ways(&bytes, name);
        let largest = LARGEST.get();
        // The largest tables have some 20 bytes for each half-edge, of which a number in the file gives two or so.
        prop_assert!(largest <= 16_384 + 64 * bytes.len(), "{} bytes at once for a file of {}", largest, bytes.len());
        for error in results.into_iter().filter_map(Result::err) {
            let text = error.to_string();
            prop_assert!(text.starts_with(name), "{}", text);
            prop_assert!(text.len() < 1500 && text.chars().all(|c| !c.is_control()), "{:?}", text);
        }
    }
}
