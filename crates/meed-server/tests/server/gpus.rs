//! A task sees the GPUs that it was given and no others, whatever it asks for and whatever its
//! user's environment says.

use crate::bench::{Server, is_root, say};

/// Two GPUs by the configuration: none is needed to see what tasks are told.
const GPUS: &str = "[server]\naffinity = false\nmembers = { a = [\"root\"] }\n\
    [cluster]\nresources = [\"cpu\", \"gpu\"]\nnode = [{ capacity = { cpu = 2, gpu = 2 } }]\n\
    [[queue]]\nname = \"a\"\n";

const SAYS: &str = "echo \"${CUDA_VISIBLE_DEVICES-unset} ${HIP_VISIBLE_DEVICES-unset}\"";

/// What a task of a job that asks for so much is told.
fn told(server: &Server, asks: &[&str]) -> String {
    let args = [&["submit", "-q", "a"], asks, &["--", "sh", "-c", SAYS]].concat();
    let mut command = server.command(&args);
    command.env("CUDA_VISIBLE_DEVICES", "0,1").env("HIP_VISIBLE_DEVICES", "0,1");
    let job = command.output().unwrap();
    let job = crate::bench::text(&job.stdout).trim().to_owned();
    server.ok(&["wait", &job]);
    server.ok(&["logs", &job]).trim_end_matches('\n').to_owned()
}

#[test]
fn who_asks_for_none_sees_none() {
    let server = Server::start(Some(GPUS));
    assert_eq!(told(&server, &[]), " ");
    assert_eq!(told(&server, &["-g", "0"]), " ");
    assert_eq!(told(&server, &["-g", "1"]), "0 0");
    assert_eq!(told(&server, &["-g", "2"]), "0,1 0,1");
}

#[test]
fn where_none_are_managed_nothing_is_said_of_them() {
    let config = GPUS.replace(", \"gpu\"", "").replace(", gpu = 2", "");
    let server = Server::start(Some(&config));
    assert_eq!(told(&server, &[]), "0,1 0,1");
    let (code, why) = server.refused(&["submit", "-q", "a", "-g", "1", "true"]);
    assert_eq!(code, Some(3));
    assert!(why.contains("this server lends no GPUs: it lends cpu;"), "{why}");
}

/// Two devices that every machine has, as if they were GPUs.
const DEVICES: &str = "gpu_devices = [\"/dev/zero\", \"/dev/full\"]\n";
const OPENS: &str = "for it in zero full null; do head -c 1 /dev/$it > /dev/null 2>&1 && \
    echo $it; done; true";

fn opens(server: &Server, asks: &[&str]) -> String {
    let command = ["--", "sh", "-c", OPENS];
    let job = server.submit(&[&["-q", "a"], asks, &command].concat());
    server.ok(&["wait", &job]);
    server.ok(&["logs", &job]).replace('\n', " ").trim().to_owned()
}

#[test]
fn a_task_opens_the_gpus_that_it_holds_and_no_others() {
    if !is_root("a filter of devices") {
        return;
    }
    let config = GPUS.replace("[server]\n", &format!("[server]\n{DEVICES}"));
    let mut server = Server::start(Some(&config));
    if !server.log().contains("access to GPUs is enforced")
        && !server.log().contains("access to GPUs are enforced")
    {
        return say("skipped: a filter of devices needs control groups and eBPF");
    }
    assert_eq!(opens(&server, &[]), "null", "who asks for none opens none");
    assert_eq!(opens(&server, &["-g", "1"]), "zero null");
    assert_eq!(opens(&server, &["-g", "2"]), "zero full null");
    let says = "echo $MEED_GPUS $CUDA_VISIBLE_DEVICES; ";
    // The first is held: the other is the only one that this task finds, and its first.
    let go = server.path("go");
    let wait = format!("while ! test -e {}; do sleep 0.02; done; {OPENS}", go.display());
    let first = server.submit(&["-q", "a", "-g", "1", "--", "sh", "-c", &wait]);
    let second = [says, OPENS].concat();
    let second = server.submit(&["-q", "a", "-g", "1", "--", "sh", "-c", &second]);
    server.ok(&["wait", &second]);
    assert_eq!(server.ok(&["logs", &second]), "1 0\nfull\nnull\n");
    // It holds as well when the server is gone, and after it is back.
    server.kill();
    std::fs::write(&go, "").unwrap();
    server.run();
    server.ok(&["wait", &first]);
    assert_eq!(server.ok(&["logs", &first]), "zero\nnull\n");
    server.stop();
}

#[test]
fn devices_that_are_none_are_refused() {
    let mut server = Server::start(Some(GPUS));
    let wrong = GPUS.replace("[server]\n", "[server]\ngpu_devices = [\"/etc/passwd\"]\n");
    std::fs::write(server.path("meed.toml"), wrong).unwrap();
    let (_, why) = server.refused(&["reload"]);
    assert!(why.contains("gpu_devices: /etc/passwd: it is no device"), "{why}");
    server.stop();
}
