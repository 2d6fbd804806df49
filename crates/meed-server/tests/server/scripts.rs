//! What scripts and shells ask: `--json` of every command, and what a TAB offers.

use std::fs;
use std::process::{Command, Stdio};

use meed_cli::programs::COMPLETE;
use serde_json::{Value, json};

use crate::bench::{MEED, Server, meed, text, until};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_answer_in_json_has_a_version() {
    let (server, _) = crate::web::served(None);
    let taken = server.ok(&["submit", "--json", "--name", "one", "--hold", "--", "true"]);
    let taken: Value = serde_json::from_str(&taken).unwrap();
    assert_eq!((&taken["schema"], &taken["job"]), (&json!(1), &json!(1)), "{taken}");
    for args in [
        &["jobs"][..],
        &["show", "one"],
        &["why", "one"],
        &["queues"],
        &["top"],
        &["reload"],
        &["dashboard"],
        &["token", "list"],
        &["token", "create", "--name", "t"],
        &["hold", "one"],
        &["release", "one"],
        &["wait", "one"],
        &["cancel", "one"],
    ] {
        // Whether the job ends well before it is cancelled does not matter here.
        let output = server.output(&[args, &["--json"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["schema"], 1, "{args:?}: {answer}");
    }
}

#[test]
fn output_is_told_line_by_line() {
    let server = Server::start(None);
    let script = "echo task $MEED_TASK; printf 'a\\tb \"c\"\\n\\n\\377\\n'; printf end";
    let job = server.submit(&["--array", "3-4", "--", "sh", "-c", script]);
    server.ok(&["wait", &job]);
    let told = lines(&server.ok(&["logs", &job, "--json"]));
    let of = |task: u64| -> Vec<&Value> {
        let own = told.iter().filter(|line| line["task"] == task);
        own.map(|line| &line["line"]).collect()
    };
    for task in [3, 4] {
        let first = json!(format!("task {task}"));
        let wanted = [&first, &json!("a\tb \"c\""), &json!(""), &json!([255]), &json!("end")];
        assert_eq!(of(task), wanted, "{told:?}");
    }
    let number: u64 = job.parse().unwrap();
    assert!(told.iter().all(|line| line["schema"] == 1 && line["job"] == number));
    let only = lines(&server.ok(&["logs", &job, "--task", "4", "--json"]));
    assert!(only.len() == 5 && only.iter().all(|line| line["task"] == 4), "{only:?}");
    // As they come: a line that is not whole yet is waited for.
    let go = server.path("go");
    let script = format!(
        "echo one; printf tw; while ! test -e {}; do sleep 0.02; done; echo o",
        go.display()
    );
    let job = server.submit(&["--", "sh", "-c", &script]);
    let shown = server.path("shown");
    let mut follow = server.command(&["logs", "-f", &job, "--json"]);
    let mut follow = follow.stdout(fs::File::create(&shown).unwrap()).spawn().unwrap();
    let read = || fs::read_to_string(&shown).unwrap();
    until("the first line is told", || read().contains("\"one\"").then_some(()));
    assert!(!read().contains("tw"), "{}", read());
    fs::write(&go, "").unwrap();
    assert!(until("it ends", || follow.try_wait().unwrap()).success());
    let told: Vec<Value> = lines(&read()).iter().map(|line| line["line"].clone()).collect();
    assert_eq!(told, [json!("one"), json!("two")]);
}

#[test]
fn top_is_a_document_or_a_stream_of_them() {
    let mut server = Server::start(None);
    let job = server.submit(&["--hold", "--", "true"]);
    let view = server.json(&["top"]);
    assert_eq!(view["jobs"][0]["id"].to_string(), job, "{view}");
    assert!(view["queues"].is_array() && view["resources"][0]["has"].is_number(), "{view}");
    let mut stream = server.command(&["top", "--json", "--every", "0.1s"]);
    let shown = server.path("shown");
    let mut stream = stream.stdout(fs::File::create(&shown).unwrap()).spawn().unwrap();
    let seen = || fs::read_to_string(&shown).unwrap().lines().count();
    until("views come one after the other", || (seen() >= 3).then_some(()));
    server.stop();
    let ended = until("it ends with the server", || stream.try_wait().unwrap());
    assert_eq!(ended.code(), Some(6));
    let views = lines(&fs::read_to_string(&shown).unwrap());
    assert!(views.windows(2).all(|pair| pair[0]["at_us"].as_u64() < pair[1]["at_us"].as_u64()));
}

/// What bash is offered behind these words, of which the last is begun.
fn offered(server: &Server, words: &[&str]) -> Vec<String> {
    let script = server.path("completion.bash");
    let mut made = Vec::new();
    let shells = clap_complete::env::Shells::builtins();
    let bash = shells.completer("bash").unwrap();
    bash.write_registration(COMPLETE, "meed", "meed", "meed", &mut made).unwrap();
    fs::write(&script, &made).unwrap();
    // `meed` hands the question on to the server's program, which lies beside it.
    let program = meed("the way of a completion through meed").unwrap_or_else(|| MEED.into());
    let folder = server.path("bin");
    let _ = fs::create_dir(&folder);
    let _ = std::os::unix::fs::symlink(program, folder.join("meed"));
    let folder = folder.display().to_string();
    // As bash does when TAB is pressed.
    let ask = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; \
               f=$(complete -p meed | sed 's/.*-F \\([^ ]*\\).*/\\1/'); \
               $f meed \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
               printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", ask, "bash"]).arg(&script).arg("meed").args(words);
    bash.env("MEED_SOCKET", server.socket()).stdin(Stdio::null()).current_dir(server.base.path());
    bash.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    let output = bash.output().unwrap();
    let told = text(&output.stdout);
    told.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_shell_completes_commands_jobs_and_queues() {
    let config = "[server]\nmembers = { lab = [\"root\"], lake = [\"root\"], sea = [] }\n\
                  [[queue]]\nname = \"lab\"\n[[queue]]\nname = \"lake\"\n\
                  [[queue]]\nname = \"sea\"\n";
    let mut server = Server::start(Some(config));
    let held = ["-q", "lab", "--hold", "--name"];
    server.submit(&[&held[..], &["training", "--", "true"]].concat());
    server.submit(&[&held[..], &["two words", "--", "true"]].concat());
    let done = ["-q", "lab", "--wait", "--name", "trial", "--", "true"];
    server.submit(&done);
    assert_eq!(offered(&server, &["sub"]), ["submit"]);
    assert_eq!(offered(&server, &["submit", "--queue", "la"]), ["lab", "lake"]);
    assert_eq!(offered(&server, &["jobs", "-q", "s"]), ["sea"]);
    assert_eq!(offered(&server, &["cancel", "tr"]), ["training"], "what has ended cannot be");
    assert_eq!(offered(&server, &["show", "tr"]), ["trial", "training"]);
    assert_eq!(offered(&server, &["logs", "3"]), ["3"]);
    let all = offered(&server, &["hold", ""]);
    assert!(["training", "1", "2"].iter().all(|it| all.iter().any(|is| is == it)), "{all:?}");
    assert!(!all.iter().any(|it| it.contains("two") || it == "3"), "{all:?}");
    assert_eq!(offered(&server, &["submit", "--after", "tri"]), ["trial"]);
    // Without a server there is nothing to offer, and nothing is said.
    server.stop();
    assert_eq!(offered(&server, &["cancel", "tr"]), [""; 0]);
}

/// A script of sbatch: what Meed can do of its lines is done, the rest is named.
#[test]
fn a_script_that_was_written_for_sbatch_runs() {
    let config = "[server]\naffinity = false\n\
        [cluster]\nresources = [\"cpu\", \"memory\"]\n\
        node = [{ capacity = { cpu = 4, memory = \"1GiB\" } }]\n";
    let server = Server::start(Some(config));
    let script = "#!/bin/sh\n#SBATCH --job-name=sweep -c 2\n#SBATCH --mem=64M --time=0:30\n\
        #SBATCH --array=3-4\n#SBATCH --partition=gpu\n\
        echo $SLURM_JOB_ID.$SLURM_ARRAY_TASK_ID on $SLURM_CPUS_PER_TASK with $1\n";
    std::fs::write(server.path("job.sh"), script).unwrap();
    let done = server.output(&["submit", "--wait", "job.sh", "--more"]);
    let said = text(&done.stderr);
    let wanted = "meed: #SBATCH --partition gpu: not done; name a queue with --queue\n";
    assert_eq!(said, wanted);
    let out = text(&done.stdout);
    assert_eq!(
        out,
        "1\n==> task 3 <==\n1.3 on 2 with --more\n==> task 4 <==\n1.4 on 2 with --more\n"
    );
    let shown = server.json(&["show", "sweep"]);
    assert_eq!(
        (&shown["spec"]["demand"]["cpu"], &shown["spec"]["time_ms"]),
        (&"2".into(), &30_000.into())
    );
    assert_eq!(shown["spec"]["demand"]["memory"], "64MiB");
    // The command line comes first.
    let job = server.submit(&["--cpu", "1", "--tasks", "1", "./job.sh"]);
    assert_eq!(server.json(&["show", &job])["spec"]["demand"]["cpu"], "1");
    std::fs::write(server.path("wrong.sh"), "#!/bin/sh\n#SBATCH --time=soon\n").unwrap();
    let (code, why) = server.refused(&["submit", "wrong.sh"]);
    assert_eq!(code, Some(3));
    assert!(why.contains("wrong.sh: #SBATCH --time: `soon` is no time"), "{why}");
}
