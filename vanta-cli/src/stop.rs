//! Being stopped: by Ctrl-C, by SIGTERM, or because nobody reads the output any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use vanta_core::CancelToken;

use crate::exit::{FAILED, INTERRUPTED, TERMINATED};

/// Asks the run to end, and remembers why.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    token: CancelToken,
    code: AtomicU8,
    begun: AtomicBool,
}

impl Stop {
    pub(crate) fn token(&self) -> &CancelToken {
        &self.token
    }

    /// The exit code of a cancelled run.
    pub(crate) fn code(&self) -> u8 {
        match self.code.load(Ordering::SeqCst) {
            0 => INTERRUPTED,
            code => code,
        }
    }

    /// Ends the run. The first reason counts.
    pub(crate) fn stop(&self, code: u8) {
        let _ = self.code.compare_exchange(0, code, Ordering::SeqCst, Ordering::SeqCst);
        self.token.cancel();
    }

    /// Whether the output could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.code.load(Ordering::SeqCst) == FAILED
    }

    /// From now on there is a run that can end by itself.
    pub(crate) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
    }

    /// Stops the run at the first signal; at the second, calls `at_once`, which ends the process: with the exit
    /// code and the reason. Before the run began the first signal does that: nothing would look at the token.
    ///
    /// Needs a runtime.
    pub(crate) fn watch(
        self: &Arc<Self>,
        at_once: impl FnOnce(u8, &'static str) + Send + 'static,
    ) -> std::io::Result<()> {
        let mut signals = Signals::new()?;
        let stop = Arc::clone(self);
        tokio::spawn(async move {
            stop.stop(signals.next().await);
            if !stop.begun.load(Ordering::SeqCst) {
                return at_once(stop.code(), "interrupted before the run began");
            }
            signals.next().await;
            at_once(stop.code(), "interrupted twice; what was at work is unknown");
        });
        Ok(())
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal is gone. Not caught where that was to be ignored, as under `nohup`.
    hangup: Option<Signal>,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    async fn next(&mut self) -> u8 {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => INTERRUPTED,
            _ = self.terminate.recv() => TERMINATED,
            _ = hangup => TERMINATED,
        }
    }
}

/// Whether this process was started with the hang-up signal ignored; where nothing tells, it was.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The first signal is the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}
