//! Many writers at once, and writers that are killed.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use vanta_kernel::json::Json;
use vanta_kernel::store::{Approvals, Events, StateDir, StoreError, VantaDir};
use vanta_kernel::{Answer, ApprovalStatus};

use crate::support::{NOW, Place, proposal};

#[test]
fn handles_are_shared_between_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<(Approvals, Events, StateDir, VantaDir)>();
}

#[test]
fn eight_writers_with_handles_of_their_own_leave_no_gap() {
    let place = Place::new();
    let mut taken = parallel(|writer| {
        let events = place.events().unwrap();
        (0..200).map(|n| events.append("tick", &fields(writer, n), NOW).unwrap()).collect()
    });
    taken.sort_unstable();
    assert_eq!(taken, (1..=1600).collect::<Vec<u64>>());
    assert_eq!(place.events().unwrap().read(0).unwrap().len(), 1600);
}

#[test]
fn eight_writers_with_one_handle_leave_no_gap() {
    let place = Place::new();
    let (approvals, events) = (place.approvals().unwrap(), place.events().unwrap());
    let mut ids = parallel(|writer| {
        let one = |n| {
            events.append("tick", &fields(writer, n), NOW).unwrap();
            approvals.propose(&proposal(), NOW).unwrap().id().get()
        };
        (0..200).map(one).collect()
    });
    ids.sort_unstable();
    assert_eq!(ids, (1..=1600).collect::<Vec<u64>>());
    assert_eq!(place.approvals().unwrap().list(NOW).unwrap().len(), 1600);
}

#[test]
fn of_many_holders_one_gets_the_answer() {
    let place = Place::new();
    let approvals = place.approvals().unwrap();
    let id = approvals.propose(&proposal(), NOW).unwrap().id();
    approvals.decide(id, Answer::Approve, "dana", NOW).unwrap();
    let won = parallel(|writer| {
        let approvals = place.approvals().unwrap();
        let used = approvals.consume(id, proposal().binding(), &format!("holder {writer}"), NOW);
        used.map(|_| writer).into_iter().collect()
    });
    assert_eq!(won.len(), 1);
    let holder = format!("holder {}", won[0]);
    assert_eq!(approvals.get(id, NOW).unwrap().unwrap().holder(), Some(&*holder));
}

#[test]
fn what_a_killed_writer_acknowledged_is_there() {
    let place = Place::new();
    for round in 0..12 {
        let mut writers = [spawn_writer(&place), spawn_writer(&place)];
        let mut outputs =
            writers.each_mut().map(|writer| BufReader::new(writer.stdout.take().unwrap()).lines());
        let mut acknowledged: Vec<String> =
            outputs[0].by_ref().map(Result::unwrap).filter(|line| is_report(line)).take(5 + round).collect();
        thread::sleep(Duration::from_micros(137 * round as u64));
        for writer in &mut writers {
            writer.kill().unwrap();
            assert_eq!(writer.wait().unwrap().signal(), Some(9));
        }
        acknowledged.extend(outputs.into_iter().flatten().map_while(Result::ok));
        check(&place, &acknowledged);
    }
    let events = place.events().unwrap();
    let last = events.append("after", &[], NOW).unwrap();
    assert_eq!(events.read(0).unwrap().len() as u64, last);
    assert!(last > 24, "the writers wrote");
}

/// Not a test of its own: what a child of the test above runs.
#[test]
fn writer() {
    let Some(dir) = std::env::var_os(WRITER) else { return };
    let dir = std::path::PathBuf::from(dir);
    let vanta = VantaDir::open(&dir.join("root")).unwrap();
    let approvals = Approvals::open(&vanta, &StateDir::at(dir.join("state")).unwrap()).unwrap();
    let events = Events::open(&vanta).unwrap();
    loop {
        println!("\nevent {}", events.append("tick", &[], NOW).unwrap());
        let id = approvals.propose(&proposal(), NOW).unwrap().id();
        approvals.decide(id, Answer::Approve, "dana", NOW).unwrap();
        println!("\napproved {id}");
        approvals.consume(id, proposal().binding(), "me", NOW).unwrap();
        println!("\nused {id}");
    }
}

#[test]
fn a_write_that_does_not_fit_leaves_the_file_whole() {
    let place = Place::new();
    let script = "trap '' XFSZ; ulimit -f 32; exec \"$0\" --exact processes::filler --nocapture";
    let ran = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .env(FILLER, place.dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let acknowledged: u64 =
        text.lines().find_map(|line| line.strip_prefix("full after ")).unwrap().parse().unwrap();
    assert!(acknowledged > 10);
    let events = place.events().unwrap();
    assert_eq!(events.read(0).unwrap().len() as u64, acknowledged);
    assert_eq!(events.append("next", &[], NOW).unwrap(), acknowledged + 1);
    assert!(events.repairs().is_empty(), "nothing was left behind");
}

/// Not a test of its own: appends until the file may not grow, then says how far it got.
#[test]
fn filler() {
    let Some(dir) = std::env::var_os(FILLER) else { return };
    let events = Events::open(&VantaDir::open(&std::path::Path::new(&dir).join("root")).unwrap()).unwrap();
    let mut last = 0;
    let error = loop {
        match events.append("tick", &[("n", "x".repeat(99).into())], NOW) {
            Ok(seq) => last = seq,
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, StoreError::Io { path, .. } if path.ends_with("events.jsonl")), "{error}");
    assert_eq!(events.read(0).unwrap().len() as u64, last, "the handle goes on");
    println!("\nfull after {last}");
}

#[test]
fn the_state_folder_is_outside_the_root() {
    let place = Place::new();
    let home = place.dir.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let ask = |variables: &[(&str, &std::path::Path)]| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::state_home", "--nocapture"]);
        command.env(STATE_HOME, place.root()).env_remove("XDG_STATE_HOME").env_remove("HOME");
        let ran = command.envs(variables.iter().copied()).output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("state ")).unwrap().to_owned()
    };
    let state = ask(&[("HOME", &home)]);
    let digest = state.strip_prefix(home.join(".local/state/vanta/").to_str().unwrap()).unwrap();
    assert_eq!(digest.len(), 64);
    let xdg = home.join("xdg");
    let both = ask(&[("HOME", &home), ("XDG_STATE_HOME", &xdg)]);
    assert_eq!(both, xdg.join("vanta").join(digest).to_str().unwrap());
    let relative = ask(&[("HOME", &home), ("XDG_STATE_HOME", std::path::Path::new("rel"))]);
    assert_eq!(relative, state);
    assert!(ask(&[]).contains("no folder for state"));
}

/// Not a test of its own: says where the state of a root lies.
#[test]
fn state_home() {
    let Some(root) = std::env::var_os(STATE_HOME) else { return };
    match StateDir::for_root(std::path::Path::new(&root)) {
        Ok(state) => println!("\nstate {}", state.path().display()),
        Err(error) => println!("\nstate {error}"),
    }
}

#[test]
fn a_deleted_lock_file_is_replaced_for_all() {
    let place = Place::new();
    let events = place.events().unwrap();
    std::fs::remove_file(place.file("events.lock")).unwrap();
    let taken = parallel(|_| {
        let own = place.events().unwrap();
        (0..40).flat_map(|_| [&own, &events].map(|log| log.append("tick", &[], NOW).unwrap())).collect()
    });
    assert_eq!(taken.len(), 640);
    assert_eq!(place.events().unwrap().read(0).unwrap().len(), 640);
}

const FILLER: &str = "VANTA_TEST_FILLER";
const STATE_HOME: &str = "VANTA_TEST_STATE_HOME";
const WRITER: &str = "VANTA_TEST_WRITER";

fn spawn_writer(place: &Place) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::writer", "--nocapture"])
        .env(WRITER, place.dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn is_report(line: &str) -> bool {
    ["event ", "approved ", "used "].iter().any(|word| line.starts_with(word))
}

fn check(place: &Place, acknowledged: &[String]) {
    let events = place.events().unwrap().read(0).unwrap();
    let approvals = place.approvals().unwrap().list(NOW).unwrap();
    let number = |text: &str| text.parse::<usize>().unwrap();
    let status = |id: &str| approvals[number(id) - 1].status();
    for line in acknowledged {
        match line.split_once(' ') {
            Some(("event", seq)) => assert_eq!(events[number(seq) - 1].seq(), seq.parse::<u64>().unwrap()),
            Some(("approved", id)) => {
                assert!(matches!(status(id), ApprovalStatus::Approved | ApprovalStatus::Consumed));
            }
            Some(("used", id)) => assert_eq!(status(id), ApprovalStatus::Consumed),
            _ => {}
        }
    }
}

fn fields(writer: u64, n: u64) -> [(&'static str, Json); 2] {
    [("writer", writer.into()), ("n", n.into())]
}

fn parallel(write: impl Fn(u64) -> Vec<u64> + Sync) -> Vec<u64> {
    let write = &write;
    thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|writer| scope.spawn(move || write(writer))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}
