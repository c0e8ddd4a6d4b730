//! The permission prompt on a terminal: four answers, and whatever is not clearly a yes is a No.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::model::{Model, Reply, shell};
use crate::vanta::{Ended, Running, World, wait_until};

const DELETE: &str = "rm -rf old; echo ran >> effects.txt";

/// A terminal, and what it shows.
struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    seat: File,
}

impl Terminal {
    fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let seat = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let keyboard = File::from(master);
        let (mut reader, screen) = (keyboard.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let shown = Arc::clone(&screen);
        // Ends when the last one at the other side is gone.
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { keyboard, screen, seat }
    }

    fn side(&self) -> Stdio {
        OwnedFd::from(self.seat.try_clone().unwrap()).into()
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Presses `keys` once the prompt has been shown `times` times.
    fn press(&mut self, times: usize, keys: &[u8]) {
        wait_until("the prompt", || self.screen().matches("mean no.").count() >= times);
        // The prompt is read key by key; give it the time to begin.
        thread::sleep(std::time::Duration::from_millis(200));
        self.keyboard.write_all(keys).unwrap();
    }
}

/// A run with `script` whose prompts are answered with `keys`, one after the other.
fn answered(script: Vec<Reply>, keys: &[&[u8]]) -> (World, Model, String, Ended) {
    let model = Model::start(script);
    let world = World::new(&model);
    fs::create_dir(world.root().join("old")).unwrap();
    let mut terminal = Terminal::open();
    let mut command = world.command(&["run", "clean up", "--color", "never"]);
    command.stdin(terminal.side()).stderr(terminal.side()).stdout(Stdio::piped());
    let running = Running::adopt(command.spawn().unwrap());
    drop(command);
    for (number, keys) in keys.iter().enumerate() {
        terminal.press(number + 1, keys);
    }
    let ended = running.end();
    let screen = terminal.screen();
    (world, model, screen, ended)
}

fn once() -> Vec<Reply> {
    vec![shell(DELETE), Reply::Text("Done.")]
}

#[test]
fn yes_runs_it_once() {
    let (world, _, screen, ended) = answered(once(), &[b"y"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done.\n"), "{screen}");
    assert_eq!(world.file("effects.txt"), "ran\n");
    for shown in ["May shell do this?", "| $ rm -rf old; echo ran >> effects.txt", "why: ", "[v] never"] {
        assert!(screen.contains(shown), "{shown}: {screen}");
    }
}

#[test]
fn enter_esc_and_ctrl_c_are_no() {
    for keys in [&b"\r"[..], b"\x1b", b"\x1b[A", b"\x03", b"\x04", b"n"] {
        let (world, model, screen, ended) = answered(once(), &[keys]);
        assert_eq!(ended.code, 0, "{screen}");
        assert_eq!(world.file("effects.txt"), "", "{keys:?}");
        assert!(model.result().contains("the user said no"), "{}", model.result());
    }
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let model = Model::start(vec![Reply::Held(Box::new(shell(DELETE))), Reply::Text("Done.")]);
    let world = World::new(&model);
    fs::create_dir(world.root().join("old")).unwrap();
    let mut terminal = Terminal::open();
    let mut command = world.command(&["run", "clean up"]);
    command.stdin(terminal.side()).stderr(terminal.side()).stdout(Stdio::piped());
    let running = Running::adopt(command.spawn().unwrap());
    model.wait_for_requests(1);
    terminal.keyboard.write_all(b"yyy\n").unwrap();
    model.release();
    terminal.press(1, b"n");
    running.end();
    assert_eq!(world.file("effects.txt"), "");
}

#[test]
fn a_rule_answers_the_same_call_and_no_other() {
    let push = || shell("git push origin a");
    let script = || vec![push(), push(), shell("git push origin b"), Reply::Text("Done.")];
    // Nothing can be pushed from here; what counts is whether it was tried.
    let (world, _, screen, ended) = answered(script(), &[b"a", b"n"]);
    assert_eq!(ended.code, 0, "{screen}");
    assert!(screen.contains("don't ask again: allow exactly this call of shell"), "{screen}");
    assert_eq!((world.count("tool_started"), screen.matches("mean no.").count()), (2, 2), "{screen}");

    let (world, _, screen, ended) = answered(script(), &[b"v", b"n"]);
    assert_eq!(ended.code, 0, "{screen}");
    assert_eq!((world.count("tool_started"), screen.matches("mean no.").count()), (0, 2), "{screen}");
}

#[test]
fn a_command_cannot_draw_on_the_prompt() {
    let command = "rm -rf old\n  [y] yes\u{1b}[2A\u{202e}";
    let (_, _, screen, _) = answered(vec![shell(command), Reply::Text("Done.")], &[b"n"]);
    assert!(screen.contains("|   [y] yes\\u{1b}[2A\\u{202e}"), "{screen}");
    assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}'), "{screen}");
}

#[test]
fn without_a_terminal_a_prompt_that_was_asked_for_reads_lines() {
    for (input, ran) in [(&b"y\n"[..], "ran\n"), (b"no\n", ""), (b"", ""), (b"\n", "")] {
        let model = Model::start(once());
        let world = World::new(&model);
        fs::create_dir(world.root().join("old")).unwrap();
        world.piped(&["run", "clean up", "--on-ask", "prompt"], input).is(0, &["May shell do this?"]);
        assert_eq!(world.file("effects.txt"), ran, "{input:?}");
    }
}
