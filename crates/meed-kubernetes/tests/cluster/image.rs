//! The image of `deploy/Containerfile`: what is in it, and that it leads a cluster.
//!
//! `cargo xtask kubernetes image` builds the static program and runs this. The program is put in
//! the place of the stage that compiles it, for that one wants an image from a registry; all other
//! steps are those of the file. The image's files are then run as a kubelet does: as its user, with
//! the token of the shipped service account, and nothing of this machine's file system.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::plane::{Plane, manifests, say, until, with_plane};

/// The static program.
const PROGRAM: &str = "MEED_IMAGE";
/// Where a pod finds its service account.
const ACCOUNT: &str = "var/run/secrets/kubernetes.io/serviceaccount";

/// Images, in a folder of the test's own.
struct Images {
    folder: PathBuf,
}

impl Images {
    fn buildah(&self, arguments: &[&str]) -> Result<String, String> {
        let mut buildah = Command::new("buildah");
        buildah.args(["--storage-driver", "vfs", "--root"]).arg(self.folder.join("root"));
        buildah.arg("--runroot").arg(self.folder.join("run")).args(arguments);
        let told = buildah.output().map_err(|why| format!("buildah: {why}"))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        match told.status.success() {
            true => Ok(text(&told.stdout)),
            false => Err(text(&told.stderr)),
        }
    }
}

fn checkout() -> PathBuf {
    manifests().join("../..")
}

/// A process that ends with the test.
struct Runs(Child);

impl Drop for Runs {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The image's files in this folder, run as its user.
async fn run(plane: &Plane, root: &Path, user: &str, entry: &str) -> Runs {
    let account = root.join(ACCOUNT);
    std::fs::create_dir_all(&account).expect("a folder");
    let token = plane.token("meed-system", "meed").await;
    let config = std::fs::read_to_string(plane.kubeconfig("admin")).expect("a kubeconfig");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let ca = &config["clusters"][0]["cluster"]["certificate-authority-data"];
    let ca: k8s_openapi::ByteString = serde_json::from_value(ca.clone()).expect("base64");
    for (name, text) in
        [("token", token.as_bytes()), ("ca.crt", &ca.0), ("namespace", b"meed-system".as_slice())]
    {
        std::fs::write(account.join(name), text).expect("it is written");
    }
    let log = std::fs::File::create(plane.state().join("image.log")).expect("a log");
    let mut chroot = Command::new("chroot");
    chroot.arg(format!("--userspec={user}")).arg(root).arg(entry);
    chroot.args(["run", "--policy=long-term,quantum=0", "--checkpoint-seconds=1"]);
    chroot.args(["--status-seconds=1", "--listen=127.0.0.1:0", "--dashboard=127.0.0.1:0"]);
    // By its own PATH chroot is found, which is not in /bin everywhere.
    chroot.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    chroot.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
    chroot.env("KUBERNETES_SERVICE_PORT", plane.port("api").to_string());
    chroot.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    Runs(chroot.spawn().expect("it starts"))
}

#[test]
fn the_image_has_the_program_alone_and_leads_a_cluster() {
    let Some(program) = std::env::var_os(PROGRAM).map(PathBuf::from) else {
        say("skipped: cargo xtask kubernetes image runs this");
        return;
    };
    with_plane(&["kwok"], async |plane| {
        let images = Images { folder: plane.state().join("images") };
        let stage = plane.state().join("stage");
        let target = stage.join("src/target/dist");
        std::fs::create_dir_all(&target).expect("a folder");
        std::fs::copy(&program, target.join("meed-kubernetes")).expect("the program");
        let file = checkout().join("deploy/Containerfile");
        let context = format!("build={}", stage.display());
        let (file, from) = (file.to_string_lossy(), checkout());
        let (from, name) = (from.to_string_lossy(), "meed-kubernetes:test");
        images
            .buildah(&["build", "--build-context", &context, "-f", &file, "-t", name, &from])
            .expect("it is built");
        let told = images.buildah(&["inspect", "--type", "image", name]).expect("it is there");
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let config = &told["OCIv1"]["config"];
        let user = config["User"].as_str().expect("a user");
        assert_eq!(user, "65532:65532", "nobody's, as the Deployment says");
        assert_eq!(config["Entrypoint"], serde_json::json!(["/meed-kubernetes"]));

        let container = images.buildah(&["from", "--pull-never", name]).expect("a container");
        let root = PathBuf::from(images.buildah(&["mount", &container]).expect("its files"));
        let mut names: Vec<String> = std::fs::read_dir(&root)
            .expect("the files")
            .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["LICENSE-APACHE", "LICENSE-MIT", "meed-kubernetes"]);

        plane.nodes(1).await;
        plane.queue("alpha", "Binds").await;
        let mut runs = run(&plane, &root, user, "/meed-kubernetes").await;
        let log = || std::fs::read_to_string(plane.state().join("image.log")).unwrap_or_default();
        until("it leads", 30, async || {
            let ended = runs.0.try_wait().expect("it can be asked");
            assert!(ended.is_none(), "it ended: {}", log());
            log().contains("and decides")
        })
        .await;
        plane.submit("alpha", "a", 2, "1", "").await;
        until("pods run", 30, async || plane.ran(&["alpha"]).await.len() == 2).await;
        let id = runs.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill runs").success());
        let mut ended = None;
        until("it ends", 30, async || {
            ended = runs.0.try_wait().expect("it can be asked");
            ended.is_some()
        })
        .await;
        assert!(ended.expect("it has ended").success(), "{}", log());
        plane.ledger_is_true("alpha", 0.0).await;
        plane.invariants(&["alpha"], 8.0).await;
    });
}
