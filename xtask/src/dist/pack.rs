//! The archive and the package for Debian.
//!
//! Both hold the same parts. Neither knows when it was made: files have the time of the commit, so
//! that the same sources give the same bytes, given the same tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{printed, root, succeed};

/// Examples that need no trace.
const EXAMPLES: [&str; 5] =
    ["lending.toml", "hierarchy.toml", "drfh.toml", "drfh.json", "wide.toml"];

/// Shells, and what their script is called where Debian looks for it.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "meed.bash", "usr/share/bash-completion/completions/meed"),
    ("zsh", "_meed", "usr/share/zsh/vendor-completions/_meed"),
    ("fish", "meed.fish", "usr/share/fish/vendor_completions.d/meed.fish"),
];

/// What is packed, in a folder of its own.
pub(crate) struct Parts {
    /// `meed-VERSION-TARGET`.
    name: String,
    version: String,
    folder: PathBuf,
    /// When the sources were committed, in seconds since 1970.
    time: String,
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let named = |why: std::io::Error| format!("{}: {why}", to.display());
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(named)?;
    fs::copy(from, to).map(|_| ()).map_err(|why| format!("{}: {why}", from.display()))
}

fn write(to: &Path, text: &[u8]) -> Result<(), String> {
    let named = |why: std::io::Error| format!("{}: {why}", to.display());
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(named)?;
    fs::write(to, text).map_err(named)
}

impl Parts {
    /// Of `meed`, the first program, and the others beside it.
    pub(crate) fn make(programs: &[PathBuf], out: &Path, target: &str) -> Result<Parts, String> {
        let program = programs.first().ok_or("no program to pack")?;
        let told = printed(Command::new(program).arg("--version"), "meed --version")?;
        let told = String::from_utf8_lossy(&told);
        let version = told.trim().strip_prefix("meed ").ok_or("meed --version is odd")?.to_owned();
        let name = format!("meed-{version}-{target}");
        let folder = out.join(&name);
        // The programs move into it.
        for program in programs {
            copy(program, &folder.join(program.file_name().unwrap_or_default()))?;
            fs::remove_file(program).map_err(|why| format!("{}: {why}", program.display()))?;
        }
        for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            copy(&root().join(file), &folder.join(file))?;
        }
        for example in EXAMPLES {
            let to = folder.join("examples").join(example);
            copy(&root().join("examples").join(example), &to)?;
        }
        let licences = super::licences::text(target)?;
        write(&folder.join("LICENSES-OF-PARTS"), licences.as_bytes())?;
        let meed = || Command::new(folder.join("meed"));
        for (shell, file, _) in SHELLS {
            let script = printed(meed().args(["completions", shell]), "meed completions")?;
            write(&folder.join("completions").join(file), &script)?;
        }
        succeed(meed().arg("man").arg(folder.join("man")), "meed man")?;
        let mut git = Command::new("git");
        git.arg("-C").arg(root()).args(["log", "-1", "--format=%ct"]);
        let time = printed(&mut git, "git log")?;
        let time = String::from_utf8_lossy(&time).trim().to_owned();
        Ok(Parts { name, version, folder, time })
    }
}

/// `meed-VERSION-TARGET.tar.gz`.
pub(crate) fn archive(parts: &Parts, out: &Path) -> Result<PathBuf, String> {
    let file = out.join(format!("{}.tar.gz", parts.name));
    let mut tar = Command::new("tar");
    tar.arg("--create").arg("--file").arg(&file);
    // gzip, without a name and a time in it.
    tar.args(["--use-compress-program", "gzip -9 -n"]);
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", parts.time)).arg("--mode=u=rwX,go=rX");
    tar.arg("-C").arg(out).arg(&parts.name);
    succeed(&mut tar, "tar")?;
    Ok(file)
}

/// `meed_VERSION_amd64.deb`.
pub(crate) fn debian(parts: &Parts, out: &Path, is_static: bool) -> Result<PathBuf, String> {
    let tree = out.join("deb");
    let from = |file: &str| parts.folder.join(file);
    for (program, _) in super::PROGRAMS {
        copy(&from(program), &tree.join("usr/bin").join(program))?;
    }
    for (_, file, to) in SHELLS {
        copy(&from("completions").join(file), &tree.join(to))?;
    }
    let man = tree.join("usr/share/man/man1");
    let pages = fs::read_dir(from("man")).map_err(|why| format!("pages of the manual: {why}"))?;
    for page in pages {
        let page = page.map_err(|why| why.to_string())?.path();
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        write(&man.join(format!("{name}.gz")), &zipped(&page)?)?;
    }
    let doc = tree.join("usr/share/doc/meed");
    let changes = zipped(&from("CHANGELOG.md"))?;
    write(&doc.join("changelog.gz"), &changes)?;
    copy(&from("README.md"), &doc.join("README.md"))?;
    let mit = fs::read_to_string(from("LICENSE-MIT")).map_err(|why| why.to_string())?;
    let parts_of = fs::read_to_string(from("LICENSES-OF-PARTS")).map_err(|why| why.to_string())?;
    let copyright = format!(
        "Meed is licensed under MIT or, as you like, Apache 2.0\n\
         (/usr/share/common-licenses/Apache-2.0).\n\n{mit}\n{parts_of}"
    );
    write(&doc.join("copyright"), copyright.as_bytes())?;
    for example in EXAMPLES {
        copy(&from("examples").join(example), &doc.join("examples").join(example))?;
    }
    let size = printed(Command::new("du").args(["-sk"]).arg(&tree), "du")?;
    let size = String::from_utf8_lossy(&size);
    let size = size.split_whitespace().next().unwrap_or("0");
    let needs = if is_static { "" } else { "Depends: libc6\n" };
    let control = format!(
        "Package: meed\nVersion: {}\nArchitecture: amd64\nSection: science\nPriority: optional\n\
         Maintainer: The authors of Meed <meed@localhost>\nInstalled-Size: {size}\n{needs}\
         Description: fair scheduler with a memory, and its simulator\n \
         Meed decides who is served next on a shared cluster, so that over time every\n \
         tenant gets the share that it contributed. It simulates policies on your own\n \
         log, and shares one machine.\n",
        parts.version
    );
    write(&tree.join("DEBIAN/control"), control.as_bytes())?;
    succeed(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&tree), "chmod")?;
    let file = out.join(format!("meed_{}_amd64.deb", parts.version));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(&file);
    build.env("SOURCE_DATE_EPOCH", &parts.time).stdout(std::process::Stdio::null());
    succeed(&mut build, "dpkg-deb")?;
    fs::remove_dir_all(&tree).map_err(|why| format!("{}: {why}", tree.display()))?;
    Ok(file)
}

fn zipped(file: &Path) -> Result<Vec<u8>, String> {
    printed(Command::new("gzip").args(["-9", "-n", "-c"]).arg(file), "gzip")
}
