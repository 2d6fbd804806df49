//! A task sees the GPUs that it was given and no others, whatever it asks for and whatever its
//! user's environment says.

use crate::bench::Server;

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
}
