//! Scripts that were written for Slurm's `sbatch`: their lines `#SBATCH` are read where Meed can do
//! what they say; the others are named, each with what is to be done instead.
//!
//! A script is one where it is the command's first word, begins with `#!`, and has such lines
//! before its first command. Options of the command line come first, as with `sbatch`. The script
//! finds what Slurm would have told it (`SLURM_JOB_ID` and so on); it is read when its task starts,
//! while `sbatch` keeps a copy.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

use super::submit::SubmitArgs;

/// Most bytes of a script that are looked at.
const MOST: u64 = 1 << 16;

/// What a script asks for, as options of `meed submit`.
#[derive(Default, PartialEq, Debug)]
struct Asked {
    cpus_per_task: Option<u64>,
    tasks: Option<u64>,
    memory: Option<String>,
    memory_per_cpu: Option<String>,
    gpus: Option<u32>,
    time: Option<String>,
    name: Option<String>,
    array: Option<String>,
    folder: Option<String>,
    output: Option<String>,
    error: Option<String>,
    after: Vec<String>,
    after_any: Vec<String>,
    hold: bool,
    wait: bool,
    /// What Meed does not do, a sentence each.
    not_done: Vec<String>,
}

/// Takes what the script asks for that the command line does not say. What is not done of it, a
/// sentence each.
///
/// # Errors
///
/// A line that says no amount or time.
pub(super) fn adopt(args: &mut SubmitArgs) -> Result<Vec<String>, String> {
    let Some(script) = args.command.first().cloned() else { return Ok(Vec::new()) };
    let Some(text) = text_of(Path::new(&script)) else { return Ok(Vec::new()) };
    let lines = lines(&text);
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let asked = read(&lines).map_err(|why| format!("{}: {why}", script.display()))?;
    let (tasks, cpus) = (asked.tasks.unwrap_or(1), asked.cpus_per_task.unwrap_or(1));
    let all = tasks.saturating_mul(cpus);
    let work = &mut args.work;
    if asked.tasks.is_some() || asked.cpus_per_task.is_some() {
        work.cpu.get_or_insert_with(|| all.to_string());
    }
    if let Some(memory) = asked.memory {
        work.memory.get_or_insert(memory);
    } else if let Some(each) = asked.memory_per_cpu {
        let bytes = meed_config::units::parse_amount(&each, meed::Unit::Bytes);
        let bytes = bytes.map_err(|why| format!("--mem-per-cpu: {why}"))?;
        work.memory.get_or_insert(format!("{}B", bytes.saturating_mul(all)));
    }
    work.gpu = work.gpu.or(asked.gpus);
    let folder = asked.folder.map(Into::into);
    work.folder = work.folder.take().or(folder);
    let or = |own: &mut Option<String>, asked: Option<String>| *own = own.take().or(asked);
    or(&mut work.time, asked.time);
    or(&mut work.name, asked.name);
    if args.tasks.is_none() {
        or(&mut args.array, asked.array);
    }
    args.output = args.output.take().or(asked.output.map(Into::into));
    args.error = args.error.take().or(asked.error.map(Into::into));
    args.after.extend(asked.after);
    args.after_any.extend(asked.after_any);
    args.hold |= asked.hold;
    args.wait |= asked.wait;
    let own_name =
        Path::new(&script).file_name().unwrap_or_default().to_string_lossy().into_owned();
    args.shown = Some(work.name.clone().unwrap_or(own_name));
    args.command =
        told_as_slurm_does(program(&args.command, &text), args.array.is_some(), all, args.work.gpu);
    Ok(asked.not_done)
}

/// The command, which finds in its environment what Slurm would have told it.
fn told_as_slurm_does(
    program: Vec<OsString>,
    is_array: bool,
    cpus: u64,
    gpus: Option<u32>,
) -> Vec<OsString> {
    let mut told = format!(
        "export SLURM_JOB_ID=$MEED_JOB SLURM_JOBID=$MEED_JOB SLURM_NTASKS=1 SLURM_NNODES=1 \
         SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_CPUS_PER_TASK={cpus} SLURM_CPUS_ON_NODE={cpus} \
         SLURM_SUBMIT_DIR=\"$PWD\"; "
    );
    if is_array {
        told += "export SLURM_ARRAY_JOB_ID=$MEED_JOB SLURM_ARRAY_TASK_ID=$MEED_TASK \
                 SLURM_ARRAY_TASK_COUNT=$MEED_TASKS; ";
    }
    if let Some(gpus) = gpus {
        told += &format!("export SLURM_GPUS={gpus} SLURM_JOB_GPUS=$MEED_GPUS; ");
    }
    told += "exec \"$@\"";
    let first: [&OsStr; 4] = ["sh".as_ref(), "-c".as_ref(), told.as_ref(), "sh".as_ref()];
    first.into_iter().map(OsString::from).chain(program).collect()
}

/// The script with what runs it. A script need not be executable: sbatch does not ask that either.
fn program(command: &[OsString], text: &str) -> Vec<OsString> {
    let Some((script, arguments)) = command.split_first() else { return Vec::new() };
    let script = Path::new(script);
    // A shell looks for what has no `/` elsewhere.
    let here = script.components().count() == 1 && script.is_relative();
    let script = if here { Path::new(".").join(script) } else { script.to_owned() };
    let first = text.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    let runs = (!is_executable(&script)).then(|| first.trim().splitn(2, char::is_whitespace));
    let runs = runs.into_iter().flatten().map(|word| OsString::from(word.trim()));
    runs.chain([script.into_os_string()]).chain(arguments.iter().cloned()).collect()
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// The beginning of the script; `None`: it is none.
fn text_of(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok().filter(|_| path.is_file())?;
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"#!").then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// What stands behind `#SBATCH`, before the first command.
fn lines(text: &str) -> Vec<&str> {
    let comments = text.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#'));
    comments.filter_map(|line| line.strip_prefix("#SBATCH")).map(str::trim).collect()
}

fn read(lines: &[&str]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    for line in lines {
        let mut words = words(line).into_iter().peekable();
        while let Some(word) = words.next() {
            let word = word.as_str();
            let (option, mut value) = match word.strip_prefix("--") {
                Some(long) => match long.split_once('=') {
                    Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
                    None => (long.to_owned(), None),
                },
                None => match word.strip_prefix('-').and_then(|word| word.split_at_checked(1)) {
                    Some((letter, "")) => (letter.to_owned(), None),
                    Some((letter, rest)) => (letter.to_owned(), Some(rest.to_owned())),
                    // A remark behind the options.
                    None => break,
                },
            };
            if value.is_none() && words.peek().is_some_and(|next| !next.starts_with('-')) {
                value = words.next();
            }
            asked.take(&option, value.unwrap_or_default())?;
        }
    }
    Ok(asked)
}

/// Words of a line, in quotes or not; behind `#` is a remark.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut quote, mut is_in) = (None, false);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(end), _) if letter == end => quote = None,
            (None, '"' | '\'') => (quote, is_in) = (Some(letter), begun(&mut words, is_in)),
            (None, '#') if !is_in => break,
            (None, _) if letter.is_whitespace() => is_in = false,
            _ => {
                is_in = begun(&mut words, is_in);
                words.last_mut().into_iter().for_each(|word| word.push(letter));
            }
        }
    }
    words
}

fn begun(words: &mut Vec<String>, is_in: bool) -> bool {
    if !is_in {
        words.push(String::new());
    }
    true
}

impl Asked {
    fn take(&mut self, option: &str, value: String) -> Result<(), String> {
        let number = |value: &str| {
            let read = value.parse::<u64>();
            read.map_err(|_| format!("#SBATCH --{option}: `{value}` is no number"))
        };
        match option {
            "c" | "cpus-per-task" => self.cpus_per_task = Some(number(&value)?),
            "n" | "ntasks" | "ntasks-per-node" => self.tasks = Some(number(&value)?),
            "N" | "nodes" if value == "1" || value == "1-1" => {}
            "mem" => self.memory = memory(&value).transpose()?,
            "mem-per-cpu" => self.memory_per_cpu = memory(&value).transpose()?,
            "G" | "gpus" | "gpus-per-node" | "gpus-per-task" => self.gpus = Some(gpus(&value)?),
            "gres" => {
                for part in value.split(',') {
                    match part.strip_prefix("gpu") {
                        Some(count) => self.gpus = Some(gpus(count.trim_start_matches(':'))?),
                        None => self.refuse(option, part, "Meed has no such resource"),
                    }
                }
            }
            "t" | "time" => self.time = time(&value)?,
            "J" | "job-name" => self.name = Some(value),
            "a" | "array" => match value.contains(',') {
                true => {
                    return Err(format!(
                        "#SBATCH --array={value}: a list of several ranges; write one range, or \
                         give --array on the command line"
                    ));
                }
                false => self.array = Some(value),
            },
            "D" | "chdir" => self.folder = Some(value),
            "o" | "output" | "e" | "error" if value.contains('%') => {
                self.refuse(option, &value, "Meed keeps the output: `meed logs`");
            }
            "o" | "output" => self.output = Some(value),
            "e" | "error" => self.error = Some(value),
            "H" | "hold" => self.hold = true,
            "W" | "wait" => self.wait = true,
            "d" | "dependency" => self.dependency(&value),
            "p" | "partition" | "A" | "account" | "q" | "qos" => {
                self.refuse(option, &value, "name a queue with --queue");
            }
            "mail-type" | "mail-user" => self.refuse(option, &value, "Meed sends no mail"),
            _ => self.refuse(option, &value, "Meed has nothing like it"),
        }
        Ok(())
    }

    fn refuse(&mut self, option: &str, value: &str, why: &str) {
        let dashes = if option.len() == 1 { "-" } else { "--" };
        let value = if value.is_empty() { String::new() } else { format!(" {value}") };
        self.not_done.push(format!("#SBATCH {dashes}{option}{value}: not done; {why}"));
    }

    fn dependency(&mut self, value: &str) {
        for part in value.split(',') {
            let mut words = part.split(':');
            let jobs = match words.next() {
                Some("afterok") => &mut self.after,
                Some("afterany") => &mut self.after_any,
                _ => {
                    self.refuse("dependency", part, "write --after or --after-any");
                    continue;
                }
            };
            jobs.extend(words.map(str::to_owned));
        }
    }
}

/// Slurm's units are powers of 1024, and megabytes where there is none. 0 is all of the node's.
fn memory(text: &str) -> Option<Result<String, String>> {
    let (digits, unit) = match text.find(|letter: char| !letter.is_ascii_digit()) {
        Some(end) => text.split_at(end),
        None => (text, "M"),
    };
    let unit = unit.strip_suffix(['B', 'b']).unwrap_or(unit).to_ascii_uppercase();
    let is_right = !digits.is_empty() && ["K", "M", "G", "T"].contains(&unit.as_str());
    match (is_right, digits) {
        (true, "0") => None,
        (true, digits) => Some(Ok(format!("{digits}{unit}iB"))),
        (false, _) => Some(Err(format!("#SBATCH --mem: `{text}` is no amount; write 8G"))),
    }
}

/// `2`, or `a100:2`; nothing is one.
fn gpus(text: &str) -> Result<u32, String> {
    let count = text.rsplit(':').next().unwrap_or_default();
    match count {
        "" => Ok(1),
        _ if count.chars().all(|letter| letter.is_ascii_digit()) => {
            count.parse().map_err(|_| format!("`{text}`: too many GPUs"))
        }
        // A type alone.
        _ => Ok(1),
    }
}

/// `M`, `M:S`, `H:M:S`, `D-H`, `D-H:M` or `D-H:M:S`; no limit at all is `UNLIMITED`.
fn time(text: &str) -> Result<Option<String>, String> {
    if ["UNLIMITED", "INFINITE", "0"].contains(&text.to_ascii_uppercase().as_str()) {
        return Ok(None);
    }
    let wrong = || format!("#SBATCH --time: `{text}` is no time; write hours:minutes:seconds");
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days), rest),
        None => (None, text),
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let parts: Vec<u64> = rest.split(':').map(number).collect::<Result<_, _>>()?;
    let (hours, minutes, seconds) = match (days.is_some(), parts.as_slice()) {
        (false, &[minutes]) => (0, minutes, 0),
        (false, &[minutes, seconds]) => (0, minutes, seconds),
        (true, &[hours]) => (hours, 0, 0),
        (true, &[hours, minutes]) => (hours, minutes, 0),
        (_, &[hours, minutes, seconds]) => (hours, minutes, seconds),
        _ => return Err(wrong()),
    };
    let days = days.map_or(Ok(0), number)?;
    let all = [(days, 86_400), (hours, 3600), (minutes, 60), (seconds, 1)];
    let sum =
        all.iter().try_fold(0_u64, |sum, (count, each)| sum.checked_add(count.checked_mul(*each)?));
    sum.map(|seconds| Some(format!("{seconds}s"))).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_sbatch_reads_them() {
        let script = "#!/bin/bash -l\n#\n#SBATCH --job-name=\"my run\"  # a remark\n\
            #SBATCH -c 4 --mem=16G\n#SBATCH --gres=gpu:a100:2,lustre\n#SBATCH -t1-02:30\n\
            #SBATCH --array=0-9%2\n#SBATCH -p long\n##SBATCH --hold\n\
            #SBATCH --dependency=afterok:3:4,singleton\n#SBATCH -o out.txt -e err.%j\n\
            module load cuda\n#SBATCH --hold\n";
        let lines = lines(script);
        assert_eq!(lines.len(), 8, "{lines:?}");
        let asked = read(&lines).unwrap();
        let wanted = Asked {
            cpus_per_task: Some(4),
            memory: Some("16GiB".to_owned()),
            gpus: Some(2),
            time: Some("95400s".to_owned()),
            name: Some("my run".to_owned()),
            array: Some("0-9%2".to_owned()),
            output: Some("out.txt".to_owned()),
            after: vec!["3".to_owned(), "4".to_owned()],
            not_done: vec![
                "#SBATCH --gres lustre: not done; Meed has no such resource".to_owned(),
                "#SBATCH -p long: not done; name a queue with --queue".to_owned(),
                "#SBATCH --dependency singleton: not done; write --after or --after-any".to_owned(),
                "#SBATCH -e err.%j: not done; Meed keeps the output: `meed logs`".to_owned(),
            ],
            ..Asked::default()
        };
        assert_eq!(asked, wanted);
    }

    #[test]
    fn a_script_is_run_by_what_its_first_line_names() {
        let of = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let text = "#!/bin/bash -l\n";
        let told = program(&of(&["no-such.sh", "x"]), text);
        assert_eq!(told, of(&["/bin/bash", "-l", "./no-such.sh", "x"]));
        assert_eq!(program(&of(&["/bin/sh", "x"]), text), of(&["/bin/sh", "x"]));
    }

    #[test]
    fn times_and_memory_are_slurms() {
        for (text, seconds) in [
            ("90", "5400s"),
            ("1:30", "90s"),
            ("02:00:00", "7200s"),
            ("2-0", "172800s"),
            ("1-0:30", "88200s"),
        ] {
            assert_eq!(time(text).unwrap().as_deref(), Some(seconds), "{text}");
        }
        assert_eq!(time("UNLIMITED"), Ok(None));
        for text in ["", "soon", "1:2:3:4", "1-", "99999999999999999999"] {
            assert!(time(text).is_err(), "{text}");
        }
        let of = |text: &str| memory(text).transpose();
        assert_eq!(of("4000"), Ok(Some("4000MiB".to_owned())));
        assert_eq!(of("8GB"), Ok(Some("8GiB".to_owned())));
        assert_eq!(of("0"), Ok(None));
        assert!(of("lots").is_err() && of("8X").is_err());
        assert_eq!(
            (gpus(""), gpus("2"), gpus("a100:3"), gpus("a100")),
            (Ok(1), Ok(2), Ok(3), Ok(1))
        );
    }
}
