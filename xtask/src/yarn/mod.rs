//! `cargo xtask yarn`: the plug-in for Hadoop YARN is built and tested; needs Maven and a JDK.
//!
//! The first run downloads Hadoop's jars into Maven's own repository. Without Maven or a JDK it
//! says what it leaves out, and that is no failure.

mod bench;
mod daemons;
mod experiment;
mod site;
mod spark;
mod witness;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::tools::{
    built_for, cargo, has_target, root, runs, succeed, succeed_quietly, target_folder,
};

/// Tests without a cluster, and those with one: a minute each.
const UNITS: &str = "LongTermFairTest,OrderTableTest,CapacityTest,RowsTest,SelfCheckTest,AskedTest,\
    ReclaimTest,ClaimsTest";
const STORIES: &str = "MiniClusterTest";

/// The versions of Hadoop that it is tested with; the jar is built against the first one.
const VERSIONS: [&str; 2] = ["3.4.2", "3.5.0"];

/// Which native library.
enum Built {
    /// As the tests build it: soon there.
    Tested,
    /// As it is shipped.
    Shipped,
}

pub(crate) fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    if let Some(missing) = missing() {
        crate::say(&format!(
            "LEFT OUT: the plug-in for Hadoop YARN is neither built nor tested (yarn/), for there \
             is no {missing} here; install Maven and a JDK of at least version 11"
        ));
        return Ok(());
    }
    match args.next().as_deref() {
        None | Some("test") => {
            let asked = versions(args)?;
            library(&Built::Tested)?;
            tested(&asked, &format!("-Dtest={UNITS},{STORIES}"))
        }
        Some("units") => {
            let asked = versions(args)?;
            library(&Built::Tested)?;
            tested(&asked, &format!("-Dtest={UNITS}"))
        }
        Some("jar") => jar(&Built::Shipped).map(|jar| crate::say(&jar.display().to_string())),
        Some("bench") => {
            let asked = bench::Asked::read(args)?;
            library(&Built::Shipped)?;
            bench::run(&asked, maven)
        }
        Some("daemons") => {
            let asked = versions(args)?;
            let jar = jar(&Built::Tested)?;
            asked.iter().try_for_each(|version| {
                crate::say(&format!("Hadoop {version}"));
                daemons::run(&jar, version)
            })
        }
        Some("spark") => {
            let mut args = args.peekable();
            let version = args.next_if(|word| word.starts_with('3'));
            let version = version.unwrap_or_else(|| VERSIONS[0].to_owned());
            match args.next().as_deref() {
                None => spark::run(&jar(&Built::Tested)?, &version),
                Some("experiment") => spark::experiment(of_tests, &version, args),
                Some(other) => Err(format!("yarn spark knows experiment, not \"{other}\"")),
            }
        }
        Some("experiment") => experiment::run(args),
        Some("compile") => {
            let version = args.next().ok_or("which version of Hadoop? as in: compile 3.5.0")?;
            compile(&version)
        }
        Some(other) => Err(format!(
            "yarn knows test, units, jar, bench, daemons, spark, experiment and compile \
             VERSION, not \"{other}\""
        )),
    }
}

/// The versions that are named, or all.
fn versions(args: impl Iterator<Item = String>) -> Result<Vec<String>, String> {
    let named: Vec<String> = args.collect();
    match named.iter().find(|version| !version.starts_with('3')) {
        Some(odd) => {
            Err(format!("`{odd}` is no version of Hadoop 3; say 3.4.2, as in: units 3.4.2"))
        }
        None if named.is_empty() => Ok(VERSIONS.map(str::to_owned).to_vec()),
        None => Ok(named),
    }
}

fn tested(versions: &[String], tests: &str) -> Result<(), String> {
    versions.iter().try_for_each(|version| {
        maven_of(version, &["test", tests])?;
        crate::say(&format!("the plug-in's tests pass with Hadoop {version}"));
        Ok(())
    })
}

/// What is not installed.
fn missing() -> Option<&'static str> {
    match (runs("mvn", "--version"), runs("javac", "-version")) {
        (false, _) => Some("Maven (mvn)"),
        (_, false) => Some("JDK (javac)"),
        _ => None,
    }
}

/// Builds the native library, and puts it where Maven takes it into the jar.
fn library(built: &Built) -> Result<(), String> {
    let file = match built {
        Built::Tested => built_for("plugin", "meed_yarn", ".so")?,
        Built::Shipped => {
            let mut build = cargo();
            build.args(["build", "--quiet", "--locked", "-p", "meed-yarn", "--profile", "yarn"]);
            succeed(&mut build, "the native library")?;
            target_folder().join("yarn/libmeed_yarn.so")
        }
    };
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let to = root().join("target/yarn").join(platform);
    let named = |why: std::io::Error| format!("{}: {why}", to.display());
    fs::create_dir_all(&to).map_err(named)?;
    fs::copy(file, to.join("libmeed_yarn.so")).map_err(named)?;
    Ok(())
}

/// Linux on aarch64, beside the machine's own platform: what Rust and Java call it, and the linker
/// (Debian's gcc-aarch64-linux-gnu).
const OTHER: (&str, &str, &str) =
    ("aarch64-unknown-linux-gnu", "linux-aarch64", "aarch64-linux-gnu-gcc");

/// The native library for [`OTHER`], where the target and a linker are here.
fn other_library() -> Result<(), String> {
    let (target, platform, linker) = OTHER;
    let to = root().join("target/yarn").join(platform);
    // One of an earlier build would go into the jar.
    let _ = fs::remove_dir_all(&to);
    let missing = match (has_target(target), runs(linker, "--version")) {
        (false, _) => format!("target of Rust's (rustup target add {target})"),
        (true, false) => format!("linker ({linker}; Debian's gcc-aarch64-linux-gnu)"),
        (true, true) => {
            let linker_of = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";
            let mut build = cargo();
            build.args(["build", "--quiet", "--locked", "-p", "meed-yarn", "--profile", "yarn"]);
            build.args(["--target", target]).env(linker_of, linker);
            succeed(&mut build, "the native library for Linux on aarch64")?;
            let built = target_folder().join(target).join("yarn/libmeed_yarn.so");
            let named = |why: std::io::Error| format!("{}: {why}", to.display());
            fs::create_dir_all(&to).map_err(named)?;
            fs::copy(built, to.join("libmeed_yarn.so")).map_err(named)?;
            return Ok(());
        }
    };
    crate::say(&format!(
        "LEFT OUT of the jar: the native library for Linux on aarch64, for there is no {missing}; \
         on such a machine the plug-in leaves ordering to stock fair sharing"
    ));
    Ok(())
}

/// The jar as the tests have it; `built`: its native library is there.
fn of_tests(built: bool) -> Result<PathBuf, String> {
    match built {
        true => package(),
        false => jar(&Built::Tested),
    }
}

/// The jar, with the native library of this machine; shipped, with that for aarch64 too.
fn jar(built: &Built) -> Result<PathBuf, String> {
    library(built)?;
    if matches!(built, Built::Shipped) && std::env::consts::ARCH != "aarch64" {
        other_library()?;
    }
    package()
}

fn package() -> Result<PathBuf, String> {
    maven(&["package", "-DskipTests"])?;
    let jar = root().join("yarn/target/meed-yarn-0.3.0.jar");
    jar.canonicalize().map_err(|why| format!("{}: {why}", jar.display()))
}

/// Compiles against another version of Hadoop, into a folder of its own.
fn compile(version: &str) -> Result<(), String> {
    maven_of(version, &["compile"])?;
    crate::say(&format!("the plug-in compiles against Hadoop {version}"));
    Ok(())
}

/// With a version of Hadoop; but for the first one, in a folder of its own.
fn maven_of(version: &str, arguments: &[&str]) -> Result<(), String> {
    if version == VERSIONS[0] {
        return maven(arguments);
    }
    let asked = format!("-Dhadoop.version={version}");
    let folder = format!("-Dmeed.build.dir=target/hadoop-{version}");
    maven(&[arguments, &[asked.as_str(), folder.as_str()]].concat())
}

fn maven(arguments: &[&str]) -> Result<(), String> {
    let mut maven = Command::new("mvn");
    maven.current_dir(root().join("yarn")).args(["-q", "-B"]).args(arguments);
    // Hadoop tells much of what is no news.
    let is_noise = |line: &str| line.contains("INFO") || line.contains("com.sun.jersey");
    succeed_quietly(&mut maven, "Maven", &root().join("target/yarn/maven.log"), |line| {
        !is_noise(line)
    })
}
