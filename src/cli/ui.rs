//! `attache ui`: a page on this machine that shows a state and changes with it.

use std::io::{IsTerminal as _, stdout};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::state::{Scope, State};
use super::{Failure, escaped, print};
use crate::ui::loopback::Loopback;

mod about;
mod answer;
mod answer_cache;
mod change;
mod follow;
mod history;
mod in_cluster;
mod json;
mod page_state;
mod session;
mod teams;
mod text;

use about::About;
use follow::{Followed, PAUSE, PollResult};
pub(super) use in_cluster::in_cluster;
use session::{Session, Work};

/// A look is followed by a pause of at least this many times its length.
const REST: u32 = 3;

/// Arguments of `attache ui`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    at: State,
    /// The namespace of objects that do not name one. Defaults to that of the context; for files, to `default`.
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The address of the page, on this machine; port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    address: SocketAddr,
    /// Only print the URL. Without it, a browser is opened if the output is a terminal.
    #[arg(long)]
    no_open: bool,
}

/// Runs the command, until it is interrupted.
///
/// # Errors
/// If the directory or cluster does not exist, the configuration is wrong, or the address cannot be used.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args
        .at
        .from
        .as_ref()
        .is_some_and(|from| from.as_os_str() == "-")
    {
        return Err("standard input cannot be followed: use a directory".into());
    }
    let scope = Scope {
        namespace: args.namespace.clone(),
        all_namespaces: true,
    };
    let mut followed = Followed::open(&args.at, &scope)?;
    let runtime = followed.runtime()?;
    let page = runtime.block_on(Loopback::bind(args.address))?;
    let page_state = followed.first()?;
    let session = Arc::new(Session::new(
        args.about(&followed),
        page_state,
        followed.texts(),
        Arc::new(Work::default()),
    ));
    print(&format!("{}\n", page.url()))?;
    if !args.no_open && stdout().is_terminal() {
        // Without a browser here, the user opens the printed URL elsewhere.
        let _ = open::that_detached(page.url_to_open());
    }
    let shows = Arc::clone(&session);
    thread::spawn(move || follow(&mut followed, &shows));
    Ok(runtime.block_on(page.serve(session))?)
}

/// Shows each new state, for ever.
fn follow(followed: &mut Followed, session: &Session) {
    let mut trouble: Option<String> = None;
    let mut pause = PAUSE;
    loop {
        thread::sleep(pause);
        let began = Instant::now();
        let looked = followed.poll();
        // Looking at very many files takes a while. It must not use the machine all the time.
        pause = PAUSE.max(began.elapsed() * REST);
        match looked {
            Ok(PollResult::New(page_state)) => {
                trouble = None;
                session.show(&page_state);
            }
            Ok(PollResult::Same) => {
                trouble = None;
                session.recover();
            }
            Ok(PollResult::Unread) => {}
            Err(why) => {
                let why = escaped(&why.to_string());
                if trouble.as_ref() != Some(&why) {
                    eprintln!("attache: {why}");
                }
                session.fail(why.lines().next().unwrap_or_default());
                trouble = Some(why);
            }
        }
    }
}

// === impl Args ===

impl Args {
    fn about(&self, followed: &Followed) -> About {
        About {
            mode: if self.at.is_of_files() {
                "directory"
            } else {
                "cluster"
            },
            source: self.at.described(),
            user: followed.user(),
            arguments: self.at.again(),
        }
    }
}
