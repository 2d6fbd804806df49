//! `cargo xtask kubernetes`: Meed against a real control plane, built from the Go module proxy.
//!
//! etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kwok, kubectl and Helm are built
//! once, into a cache outside the checkout
//! (`crates/meed-kubernetes/control-plane/control-plane.sh`). Without Go or openssl it says what it
//! leaves out, and that is no failure.
//!
//! There are two of Kubernetes: the newest, and with `oldest` before all else the oldest that Meed
//! is for (1.36).
//!
//! `tutorial` runs `docs/kubernetes-tutorial.md` as it stands, which is one of the tests, too; with
//! `--write` it writes what the run prints into the page.
//!
//! `image` builds the image of `deploy/Containerfile` around a static program, and runs it.
//!
//! `curves` runs two tenants under `fair` and `long-term` and draws the picture of
//! `docs/kubernetes.md`.
//!
//! `speed`, `takeover` and `admits` are three of the tests (`tests/cluster/speed.rs` and so on) at
//! the size that is asked for, with Meed built as released; Markdown tables come out. For `admits`
//! Kueue is built, too.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{cargo, root, runs, succeed, target_folder};

/// Which Kubernetes the control plane is of, for the script.
const KUBERNETES: &str = "CP_K8S";

/// The oldest that Meed is for.
const OLDEST: &str = "k8s-1.36";

/// With this variable a missing control plane fails the tests.
const REQUIRED: &str = "MEED_CONTROL_PLANE";

/// What the tests run in place of the program that they were built with.
const PROGRAM: &str = "MEED_KUBERNETES_PROGRAM";

/// The static program of which the image is made.
const IMAGE: &str = "MEED_IMAGE";

/// Where it runs.
const STATIC: &str = "x86_64-unknown-linux-musl";

const ADMITS: &str = "cargo xtask kubernetes admits [--quick] [--nodes N] [--pods N] \
                      [--queues N] [--meed PROGRAM]";

const TUTORIAL: &str = "cargo xtask kubernetes tutorial [--write]";

const IMAGE_USAGE: &str = "cargo xtask kubernetes image [--meed PROGRAM]";

const SPEED: &str = "cargo xtask kubernetes speed [--quick] [--nodes N] [--pods N,N] [--rounds N] \
                     [--meed PROGRAM]";
const TAKEOVER: &str = "cargo xtask kubernetes takeover [--quick] [--nodes N] [--pods N] \
                        [--queues N] [--meed PROGRAM]";

pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let mut args = args.peekable();
    let kubernetes = match args.next_if(|what| what == "oldest") {
        Some(_) => OLDEST.to_owned(),
        None => std::env::var(KUBERNETES).unwrap_or_default(),
    };
    let measured = match args.peek().map(String::as_str) {
        Some("speed") => Some(Measured {
            test: "speed::every_way_places_all_pods",
            sizes: "MEED_SPEED",
            full: &[("nodes", "1000"), ("pods", "5000,30000"), ("rounds", "1")],
            quick: &[("nodes", "200"), ("pods", "1000"), ("rounds", "1")],
            usage: SPEED,
        }),
        Some("admits") => Some(Measured {
            test: "admits::gates_are_taken_from_all_pods",
            sizes: "MEED_ADMITS",
            full: &[("nodes", "1000"), ("pods", "5000"), ("queues", "1000")],
            quick: &[("nodes", "50"), ("pods", "500"), ("queues", "50")],
            usage: ADMITS,
        }),
        Some("takeover") => Some(Measured {
            test: "takeover::a_replacement_decides_soon",
            sizes: "MEED_TAKEOVER",
            full: &[("nodes", "1000"), ("pods", "30000"), ("queues", "10000")],
            quick: &[("nodes", "50"), ("pods", "1000"), ("queues", "100")],
            usage: TAKEOVER,
        }),
        _ => None,
    };
    let image = match args.peek().map(String::as_str) {
        Some("image") => {
            args.next();
            Some(asked_image(&mut args)?)
        }
        _ => None,
    };
    let tutorial = match args.peek().map(String::as_str) {
        Some("tutorial") => {
            args.next();
            Some(asked_tutorial(&mut args)?)
        }
        _ => None,
    };
    let is_drawn = args.next_if(|what| what == "curves").is_some();
    let beside_kueue = args.peek().is_some_and(|what| what == "admits");
    let measured = match measured {
        Some(measured) => {
            args.next();
            Some(measured.asked(&mut args)?)
        }
        None => None,
    };
    let tests: Vec<String> = args.collect();
    let script = root().join("crates/meed-kubernetes/control-plane/control-plane.sh");
    let is_built = Command::new(&script).arg("bin").env(KUBERNETES, &kubernetes).output();
    let is_built = is_built.is_ok_and(|told| told.status.success());
    if let Some(missing) = missing(is_built) {
        crate::say(&format!(
            "LEFT OUT: Meed on Kubernetes is not tested against a real control plane, for there \
             is no {missing} here; install Go 1.26 or newer, openssl and bash"
        ));
        return Ok(());
    }
    if !is_built {
        crate::say("The control plane is built: 10 to 25 minutes on two cores, once.");
        let mut build = Command::new(&script);
        build.arg("build").env(KUBERNETES, &kubernetes);
        succeed(&mut build, "the build of the control plane")?;
    }
    if beside_kueue {
        let built = Command::new(&script).args(["build", "kueue"]).status();
        if !built.is_ok_and(|built| built.success()) {
            crate::say("LEFT OUT: Kueue, which could not be built");
        }
    }
    if tests.iter().any(|test| test == "build") {
        return Ok(());
    }
    let mut cargo = cargo();
    cargo.env(REQUIRED, "1").env(KUBERNETES, &kubernetes);
    // Of the whole workspace, as its tests are built: one package alone has other features.
    cargo.args(["test", "--locked", "--workspace", "--test", "cluster", "--"]);
    if let Some(program) = image {
        if let Some(missing) = missing_for_image(program.is_some()) {
            crate::say(&format!("LEFT OUT: the image is not built and tried: {missing}"));
            return Ok(());
        }
        cargo.env(IMAGE, program.map_or_else(static_program, Ok)?);
        cargo.args(["--exact", "image::the_image_has_the_program_alone_and_leads_a_cluster"]);
        return succeed(cargo.arg("--nocapture"), "the test of the image");
    }
    if is_drawn {
        return curves(cargo);
    }
    if let Some(how) = tutorial {
        cargo.env("MEED_TUTORIAL", how);
        cargo.args(["--exact", "tutorial::the_page_runs_as_it_stands", "--nocapture"]);
        return succeed(&mut cargo, "the tutorial");
    }
    match measured {
        Some(Asked { test, variable, sizes, program }) => {
            let program = program.map_or_else(release, Ok)?;
            leads(&program)?;
            cargo.env(PROGRAM, program).env(variable, sizes);
            cargo.args(["--exact", test, "--nocapture"]);
        }
        // They wait for clusters more than they compute.
        None => _ = cargo.arg("--test-threads=3").args(tests),
    }
    succeed(&mut cargo, "a test against the control plane")
}

/// Runs what is drawn, and draws it.
fn curves(mut cargo: Command) -> Result<(), String> {
    let samples = target_folder().join("kubernetes-curves");
    let named = |why: std::io::Error| format!("{}: {why}", samples.display());
    std::fs::create_dir_all(&samples).map_err(named)?;
    cargo.env("MEED_CURVES", &samples);
    cargo.args(["--exact", "curves::who_lends_gets_it_back_under_long_term_alone", "--nocapture"]);
    succeed(&mut cargo, "the run that is drawn")?;
    crate::curves::draw(&samples, &root())
}

/// A test that measures, and how much.
struct Measured {
    test: &'static str,
    /// The variable that tells it.
    sizes: &'static str,
    full: &'static [(&'static str, &'static str)],
    quick: &'static [(&'static str, &'static str)],
    usage: &'static str,
}

/// The same as it was asked for.
struct Asked {
    test: &'static str,
    variable: &'static str,
    sizes: String,
    program: Option<PathBuf>,
}

impl Measured {
    fn asked(self, args: &mut impl Iterator<Item = String>) -> Result<Asked, String> {
        let Measured { test, sizes: variable, full, quick, usage } = self;
        let owned = |sizes: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            sizes.iter().map(|&(key, value)| (key, value.to_owned())).collect()
        };
        let (mut sizes, mut program) = (owned(full), None);
        while let Some(arg) = args.next() {
            if arg == "--quick" {
                sizes = owned(quick);
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{arg} needs a value; {usage}"))?;
            let key = arg.strip_prefix("--").unwrap_or_default();
            match sizes.iter_mut().find(|(name, _)| *name == key) {
                Some((_, size)) if is_size(&value) => *size = value,
                Some(_) => {
                    return Err(format!(
                        "{arg} {value}: give a whole number above 0, or several as in \
                         5000,30000; {usage}"
                    ));
                }
                None if key == "meed" => program = Some(PathBuf::from(value)),
                None => return Err(usage.to_owned()),
            }
        }
        let sizes: Vec<String> =
            sizes.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Ok(Asked { test, variable, sizes: sizes.join(" "), program })
    }
}

/// One whole number, or several: `5000,30000`.
fn is_size(value: &str) -> bool {
    value.split(',').all(|number| number.parse::<u32>().is_ok_and(|number| number > 0))
}

/// `meed` itself starts another program, which would have to be beside it.
fn leads(program: &Path) -> Result<(), String> {
    match Command::new(program).args(["run", "--help"]).output() {
        Ok(told) if told.status.success() => Ok(()),
        Ok(_) => Err(format!("--meed {}: give a program meed-kubernetes", program.display())),
        Err(why) => Err(format!("--meed {}: {why}", program.display())),
    }
}

/// This checkout's program, built as released.
fn release() -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--package", "meed-kubernetes"]);
    succeed(&mut build, "cargo build --release")?;
    Ok(target_folder().join("release/meed-kubernetes"))
}

/// Whether the page is read, or written.
fn asked_tutorial(args: &mut impl Iterator<Item = String>) -> Result<&'static str, String> {
    match (args.next().as_deref(), args.next()) {
        (None, _) => Ok("read"),
        (Some("--write"), None) => Ok("write"),
        _ => Err(TUTORIAL.to_owned()),
    }
}

/// The static program that was named, or none.
fn asked_image(args: &mut impl Iterator<Item = String>) -> Result<Option<PathBuf>, String> {
    match (args.next().as_deref(), args.next(), args.next()) {
        (None, ..) => Ok(None),
        (Some("--meed"), Some(program), None) => Ok(Some(PathBuf::from(program))),
        _ => Err(IMAGE_USAGE.to_owned()),
    }
}

/// This checkout's program for musl, as released but not compiled in one piece.
fn static_program() -> Result<PathBuf, String> {
    let mut build = cargo();
    // C of zstd, xz and ring.
    build.env("CC_x86_64_unknown_linux_musl", "musl-gcc");
    build.args(["build", "--release", "--locked", "--package", "meed-kubernetes"]);
    succeed(build.args(["--target", STATIC]), "cargo build for musl")?;
    Ok(target_folder().join(STATIC).join("release/meed-kubernetes"))
}

/// What is not there to build an image, and to run it.
fn missing_for_image(has_program: bool) -> Option<&'static str> {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|told| told.stdout == b"0\n");
    let needs = [
        (is_root, "it needs the rights to mount and to change the root: run it as root"),
        (runs("buildah", "--version"), "it needs buildah; Debian's package buildah has it"),
        (
            has_program || runs("musl-gcc", "--version"),
            "it needs musl-gcc; Debian's package musl-tools has it",
        ),
    ];
    needs.into_iter().find(|(is_there, _)| !is_there).map(|(_, what)| what)
}

/// What is not installed.
fn missing(is_built: bool) -> Option<&'static str> {
    match (is_built || runs("go", "version"), runs("openssl", "version")) {
        (false, _) => Some("Go"),
        (_, false) => Some("openssl"),
        _ => None,
    }
}
