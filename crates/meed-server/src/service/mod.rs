//! The service: a socket, signals, the service manager, and the one thread that owns the world.
//!
//! | thread | what |
//! |---|---|
//! | this one | takes what has come, all of it together, to a turn of the world |
//! | `accept` | takes connections, within limits |
//! | one per connection | reads requests, bounded in size and time; writes answers |
//! | `signals` | SIGHUP reads the settings again, SIGTERM and SIGINT stop |
//! | `watch` | waits for supervisors |
//!
//! A turn takes what came while the last one waited for the disk: the more comes, the more shares a
//! sync. Nothing but turns touches the world, so there is no lock to hold for too long.

mod claim;
mod connection;
mod handed;
mod notify;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::settings::{Settings, SettingsError, ThisMachine};
use crate::user::LocalUser;
use crate::world::{Places, TurnEvent, World, WorldError};
use claim::{listen, lock};
use connection::Limits;
use notify::Notify;

/// What comes to the thread of the world.
pub(crate) enum Message {
    /// To a turn.
    Event(TurnEvent),
    /// The server is to stop.
    Stop,
}

/// Most that a turn takes.
const MOST_IN_A_TURN: usize = 4096;
/// What may wait for a turn; who sends more waits.
const QUEUE: usize = 8192;
/// How often is looked for chores.
const CHORES: Duration = Duration::from_millis(500);

/// How a server is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The configuration.
    pub config: Option<PathBuf>,
    /// The state folder; the usual one unless given.
    pub state: Option<PathBuf>,
    /// The socket; the usual one unless given.
    pub socket: Option<PathBuf>,
    /// Where the HTTP interface listens; as the configuration says unless given.
    pub http: Option<SocketAddr>,
}

/// Why a server could not start, or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Another server has the state folder.
    #[error(
        "{}: in use by another server; stop it, or name another folder with --state",
        .0.display()
    )]
    InUse(PathBuf),
    /// Another server has the socket.
    #[error(
        "{}: another server answers there; stop it, or name another with --socket",
        .0.display()
    )]
    SocketInUse(PathBuf),
    /// The HTTP interface cannot listen.
    #[error("HTTP: {0}")]
    Http(String),
    /// A path of a socket that is too long for the system, and so on.
    #[error("{}: {error}", path.display())]
    File {
        /// What.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Where a server of this user usually keeps its state.
pub fn usual_state() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/meed");
    }
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/state"));
    let base = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_default().join("meed")
}

/// Where a server of this user is usually met.
pub fn usual_socket(state: &Path) -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from(SYSTEM_SOCKET);
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(folder) => Path::new(&folder).join("meed/meed.sock"),
        None => state.join("meed.sock"),
    }
}

/// Where the server of the whole machine is met.
pub const SYSTEM_SOCKET: &str = "/run/meed/meed.sock";

/// Serves until it is stopped. `say` takes remarks for the operator.
///
/// # Errors
///
/// Why it could not start, or could not go on.
pub fn serve(options: &Options, say: &dyn Fn(&str)) -> Result<(), ServeError> {
    // The permissions that are named are those that are meant.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let named = |path: &Path| {
        let path = path.to_owned();
        move |error| ServeError::File { path, error }
    };
    let state = options.state.clone().unwrap_or_else(usual_state);
    let state = std::path::absolute(&state).map_err(named(&state))?;
    let socket = options.socket.clone().unwrap_or_else(|| usual_socket(&state));
    let machine = ThisMachine::look().map_err(named(Path::new("/proc")))?;
    let me = LocalUser::current();
    let alone = (me.uid != 0).then_some(me.name.as_str());
    let config = options.config.as_deref().map(std::path::absolute).transpose();
    let config = config.map_err(named(Path::new("the configuration")))?;
    let settings = Settings::read(config.as_deref(), &machine, alone)?;
    let handed = handed::socket()?;
    let _lock = lock(&state)?;
    let (sender, receiver) = sync_channel(QUEUE);
    let of_watch = sender.clone();
    let gone = move |token| drop(of_watch.send(Message::Event(TurnEvent::Gone(token))));
    let http = crate::http::listen(&settings.http, options.http).map_err(ServeError::Http)?;
    let places = Places { state: state.clone() };
    let mut world = World::open(places, settings, machine, gone)?;
    remark(&mut world, say);
    // Before anybody is answered: who is may read in the log what tasks are bounded by.
    world.bounds_remarks().iter().for_each(|words| say(words));
    let (listener, is_ours) = match handed {
        Some(listener) => (listener, false),
        None => (listen(&socket)?, true),
    };
    let limits = Arc::new(Limits::default());
    start("accept", {
        let sender = sender.clone();
        move || connection::accept(&listener, &sender, &limits)
    })
    .map_err(named(&socket))?;
    if let Some(http) = http {
        let state = state.clone();
        let url =
            http.serve(&mut world, sender.clone(), state).map_err(named(Path::new("http")))?;
        say(&format!("HTTP at {url}"));
    }
    signals(sender).map_err(named(&socket))?;
    let notify = Notify::from_environment();
    let at = if is_ours { socket.display().to_string() } else { "a socket handed over".to_owned() };
    say(&format!("serves at {at}, state in {}", state.display()));
    if alone.is_some() {
        say("runs without root: it serves its own user only");
    }
    notify.ready();
    let done = run(&mut world, &receiver, &notify, say);
    notify.stopping();
    if is_ours {
        let _ = std::fs::remove_file(&socket);
    }
    done?;
    world.close()?;
    say("stopped; tasks run on");
    Ok(())
}

fn run(
    world: &mut World,
    receiver: &Receiver<Message>,
    notify: &Notify,
    say: &dyn Fn(&str),
) -> Result<(), ServeError> {
    let mut chores = crate::clock::boot_us();
    loop {
        let mut events = Vec::new();
        let mut stops = false;
        let patience = world.next_look().map_or(CHORES, |look| look.min(CHORES));
        match receiver.recv_timeout(patience) {
            Ok(message) => {
                let more = receiver.try_iter().take(MOST_IN_A_TURN);
                for message in std::iter::once(message).chain(more) {
                    match message {
                        Message::Event(event) => events.push(event),
                        Message::Stop => stops = true,
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => stops = true,
        }
        if !events.is_empty() || world.next_look().is_some_and(|look| look.is_zero()) {
            world.turn(events)?;
        }
        let now = crate::clock::boot_us();
        if now.saturating_sub(chores) >= CHORES.as_micros() as u64 {
            chores = now;
            world.tidy()?;
            notify.alive();
        }
        remark(world, say);
        if stops {
            return Ok(());
        }
    }
}

fn remark(world: &mut World, say: &dyn Fn(&str)) {
    world.remarks().iter().for_each(|remark| say(remark));
}

fn signals(sender: SyncSender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGTERM, SIGINT])?;
    start("signals", move || {
        for signal in &mut signals {
            let message = match signal {
                SIGHUP => Message::Event(TurnEvent::Reload),
                _ => Message::Stop,
            };
            if sender.send(message).is_err() {
                return;
            }
        }
    })
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}
