//! `cargo xtask dist`: what is given to others. Static programs (musl) for Linux on x86-64, as an
//! archive with its manual, completions and licences, and as a package for Debian; the wheel for
//! Python; a list of what is in them (SBOM); checksums. All of it is left in target/dist-out.
//!
//! Each thing that is made is tried as a stranger would: in an empty folder, without an environment
//! (`try_out.rs`). `cargo xtask dist quick` builds, packs and tries the programs as `cargo build
//! --release` makes them: for CI, where programs compiled in one piece take too long; and `cargo
//! xtask dist with PROGRAM` those that were built elsewhere.

mod licences;
mod newcomer;
mod pack;
mod sbom;
mod try_out;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cargo, has_target, printed, runs, succeed, target_folder};

use pack::Parts;

/// The programs that are packed, each of the package of its name but for `meed`, which the others
/// lie beside.
pub(crate) const PROGRAMS: [(&str, &str); 4] = [
    ("meed", "meed-cli"),
    ("meed-server", "meed-server"),
    ("meed-slurm", "meed-slurm"),
    ("meed-papers", "meed-papers"),
];

const TARGET: &str = "x86_64-unknown-linux-musl";
/// Each stripped static program is smaller than this.
const MOST_BYTES: u64 = 12_000_000;

/// Where the program comes from.
enum Build {
    /// Static, built in one piece.
    Whole,
    /// As `cargo build --release` makes it.
    Quick,
    /// As it is there.
    With(PathBuf),
}

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let build = match (args.next().as_deref(), args.next()) {
        (None, _) => Build::Whole,
        (Some("quick"), None) => Build::Quick,
        (Some("with"), Some(program)) => Build::With(program.into()),
        _ => return Err("dist stands alone, or before quick, or before with PROGRAM".to_owned()),
    };
    if let Some(missing) = missing(&build) {
        return Err(missing);
    }
    let out = target_folder().join("dist-out");
    // What an earlier version made would be among the checksums.
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out).map_err(|why| format!("{}: {why}", out.display()))?;
    let programs = programs(&build, &out)?;
    let program = programs.first().ok_or("no program was built")?;
    let is_static = try_out::is_static(program)?;
    let target = if is_static { TARGET } else { "x86_64-unknown-linux-gnu" };
    if matches!(build, Build::Whole) && !is_static {
        return Err("the program is not static".to_owned());
    }
    if is_static {
        programs.iter().try_for_each(|program| check_size(program))?;
    }
    let parts = Parts::make(&programs, &out, target)?;
    let archive = pack::archive(&parts, &out)?;
    let package = pack::debian(&parts, &out, is_static)?;
    let mut made = vec![archive.clone(), package.clone(), sbom::write(&out, target)?];
    try_out::archive(&archive)?;
    try_out::package(&package)?;
    newcomer::run(&archive)?;
    if !matches!(build, Build::Quick) {
        made.extend(wheel(&out)?);
    }
    checksums(&out, &made)?;
    for file in &made {
        let size = fs::metadata(file).map(|data| data.len()).unwrap_or(0);
        crate::say(&format!("{:>9} kB  {}", size / 1000, file.display()));
    }
    Ok(())
}

/// The wheel beside them, where there is Python.
fn wheel(out: &Path) -> Result<Option<PathBuf>, String> {
    let environment = match crate::python::environment() {
        Ok(environment) => environment,
        Err(missing) => {
            crate::say(&format!("LEFT OUT: the wheel, for there is no {missing} here"));
            return Ok(None);
        }
    };
    let wheel = crate::python::wheel(&environment)?;
    let copy = out.join(wheel.file_name().ok_or("a wheel without a name")?);
    fs::copy(&wheel, &copy).map_err(|why| format!("{}: {why}", copy.display()))?;
    try_out::wheel(&copy)?;
    Ok(Some(copy))
}

/// What is not installed, and how to install it; Rust's target is installed here.
fn missing(build: &Build) -> Option<String> {
    let tools = [
        ("tar", "GNU tar"),
        ("dpkg-deb", "Debian's dpkg"),
        ("sha256sum", "coreutils"),
        ("readelf", "binutils"),
    ];
    if let Some((_, name)) = tools.iter().find(|(tool, _)| !runs(tool, "--version")) {
        return Some(format!("dist needs {name}"));
    }
    if !matches!(build, Build::Whole) {
        return None;
    }
    if !runs("musl-gcc", "--version") {
        return Some("dist needs musl-gcc; Debian's package musl-tools has it".to_owned());
    }
    if !has_target(TARGET) {
        // Without rustup, or without a network, the answer below says what to do.
        let _ = Command::new("rustup").args(["target", "add", TARGET]).status();
    }
    (!has_target(TARGET)).then(|| {
        format!("dist needs Rust's standard library for {TARGET}: rustup target add {TARGET}")
    })
}

/// The programs, stripped, in `out`; `meed` is the first.
fn programs(build: &Build, out: &Path) -> Result<Vec<PathBuf>, String> {
    let mut cargo = cargo();
    cargo.args(["build", "--locked"]);
    for (_, package) in PROGRAMS {
        cargo.args(["-p", package]);
    }
    let folder = match build {
        Build::Whole => {
            // C of zstd, xz and ring.
            cargo.env("CC_x86_64_unknown_linux_musl", "musl-gcc");
            cargo.env("CFLAGS_x86_64_unknown_linux_musl", zstd());
            cargo.env("CARGO_ENCODED_RUSTFLAGS", small()?.join("\u{1f}"));
            cargo.args(["--profile", "shipped", "--target", TARGET]);
            succeed(&mut cargo, "the programs")?;
            target_folder().join(TARGET).join("shipped")
        }
        Build::Quick => {
            cargo.arg("--release");
            succeed(&mut cargo, "the programs")?;
            target_folder().join("release")
        }
        Build::With(program) => program.parent().unwrap_or(Path::new(".")).to_owned(),
    };
    let mut stripped = Vec::new();
    for (name, _) in PROGRAMS {
        let built = match build {
            Build::With(program) if name == "meed" => program.clone(),
            _ => folder.join(name),
        };
        let program = out.join(name);
        succeed(Command::new("strip").arg("-o").arg(&program).arg(&built), "strip")?;
        crate::say(&format!("{name} has {} bytes", size(&program)?));
        stripped.push(program);
    }
    Ok(stripped)
}

fn size(file: &Path) -> Result<u64, String> {
    let data = fs::metadata(file).map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(data.len())
}

fn check_size(program: &Path) -> Result<(), String> {
    match size(program)? {
        0..MOST_BYTES => Ok(()),
        size => Err(format!(
            "{} has {size} bytes; less than {MOST_BYTES} are wanted",
            program.display()
        )),
    }
}

/// Meed writes zstd at level 3, whose strategy is "double fast": those of other levels are left out
/// (a fiftieth of the program). What is written stays the same, and everything can be read.
fn zstd() -> String {
    let others = ["GREEDY", "LAZY", "LAZY2", "BTLAZY2", "BTOPT", "BTULTRA"];
    others.map(|name| format!("-DZSTD_EXCLUDE_{name}_BLOCK_COMPRESSOR")).join(" ")
}

/// What makes the program smaller when it is linked: no tables for unwinding, the places that are
/// moved when it is loaded written as bits, and functions of the same machine code there once.
fn small() -> Result<Vec<String>, String> {
    let script = crate::tools::root().join("xtask/src/dist/no-unwind.ld");
    let links = [
        format!("-B{}", lld()?.display()),
        "-fuse-ld=lld".to_owned(),
        "-Wl,--no-eh-frame-hdr".to_owned(),
        format!("-Wl,-T,{}", script.display()),
        "-Wl,-z,pack-relative-relocs".to_owned(),
        // Nothing here compares functions by where they are. Data keep a place of their own each.
        "-Wl,--icf=all".to_owned(),
    ];
    Ok(links.map(|option| format!("-Clink-arg={option}")).to_vec())
}

/// The folder with the linker that is part of Rust's toolchain, under the name that gcc looks for.
fn lld() -> Result<PathBuf, String> {
    let rustc = |what| {
        let told = printed(Command::new("rustc").args(["--print", what]), "rustc")?;
        Ok::<String, String>(String::from_utf8_lossy(&told).trim().to_owned())
    };
    let rustlib = PathBuf::from(rustc("sysroot")?).join("lib/rustlib");
    let folder = rustlib.join(rustc("host-tuple")?).join("bin/gcc-ld");
    match folder.join("ld.lld").is_file() {
        true => Ok(folder),
        false => Err(format!(
            "dist needs Rust's own linker, {}/ld.lld; Rust from rustup has it",
            folder.display()
        )),
    }
}

/// SHA256SUMS, as `sha256sum --check` reads it.
fn checksums(out: &Path, made: &[PathBuf]) -> Result<(), String> {
    let mut command = Command::new("sha256sum");
    command.current_dir(out).args(made.iter().filter_map(|file| file.file_name()));
    let sums = command.output().map_err(|why| format!("sha256sum: {why}"))?;
    if !sums.status.success() {
        return Err(format!("sha256sum: {}", String::from_utf8_lossy(&sums.stderr)));
    }
    let file = out.join("SHA256SUMS");
    fs::write(&file, &sums.stdout).map_err(|why| format!("{}: {why}", file.display()))?;
    let mut check = Command::new("sha256sum");
    succeed(check.current_dir(out).args(["--check", "--quiet", "SHA256SUMS"]), "the checksums")
}
