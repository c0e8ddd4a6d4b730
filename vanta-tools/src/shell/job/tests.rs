use super::*;

fn job(command: &str, limit: u64) -> Job {
    Job {
        program: ["/bin/sh", "-c", "--", command].map(OsString::from).to_vec(),
        cwd: PathBuf::from("/"),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap_or_default())],
        limit: Duration::from_millis(limit),
    }
}

/// A number that no other process has on its command line.
fn mark(place: u32) -> String {
    format!("{}.{}{place}", 3000 + place, std::process::id())
}

fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

fn gone(mark: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(3);
    while alive(mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    !alive(mark)
}

#[tokio::test]
async fn both_outputs_keep_their_order() {
    let command = "for i in 1 2 3; do echo out$i; echo err$i 1>&2; done; exit 3";
    let report = job(command, 9000).run(&CancelToken::new()).await.unwrap();
    assert_eq!(report.output.text(), "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    assert_eq!(report.end, End::Exit(3));
}

#[tokio::test]
async fn a_child_of_a_child_dies_at_the_limit() {
    let mark = mark(1);
    let command = format!("(trap '' TERM; sh -c 'trap \"\" TERM; sleep {mark} & wait') & wait");
    let begun = Instant::now();
    let report = job(&command, 300).run(&CancelToken::new()).await.unwrap();
    assert_eq!(report.end, End::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(5) && gone(&mark));
}

#[tokio::test]
async fn a_background_child_neither_holds_the_call_nor_survives_it() {
    let mark = mark(2);
    let begun = Instant::now();
    let report = job(&format!("sleep {mark} & echo mine"), 30_000).run(&CancelToken::new()).await.unwrap();
    assert!(report.left == Left::Stopped && report.output.text() == "mine\n" && report.end == End::Exit(0));
    assert!(begun.elapsed() < Duration::from_secs(3) && gone(&mark));
}

#[tokio::test]
async fn cancelling_stops_and_keeps_what_was_printed() {
    let (mark, cancel) = (mark(3), CancelToken::new());
    let token = cancel.clone();
    let canceller = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel();
    });
    let report = job(&format!("echo early; sleep {mark}"), 30_000).run(&cancel).await.unwrap();
    canceller.await.unwrap();
    assert!(report.end == End::Cancelled && report.output.text() == "early\n" && gone(&mark));
}

#[tokio::test]
async fn dropping_the_call_leaves_nothing_running() {
    let mark = mark(4);
    let cancel = CancelToken::new();
    let command = format!("trap '' TERM; sleep {mark} & sleep {mark}");
    let dropped = tokio::time::timeout(Duration::from_millis(200), job(&command, 30_000).run(&cancel)).await;
    assert!(dropped.is_err() && gone(&mark));
}

#[tokio::test]
async fn fifty_megabytes_pass_in_bounded_memory() {
    let report =
        job("head -c 50000000 /dev/zero | tr '\\0' q; echo; echo END", 60_000).run(&CancelToken::new()).await;
    let text = report.unwrap().output.text();
    assert!(text.ends_with("qqq\nEND\n") && text.starts_with("qqq") && text.len() < 64 * 1024);
}

#[tokio::test]
async fn there_is_no_terminal_and_no_input() {
    let command =
        "cat; test -t 0 || echo no0; test -t 1 || echo no1; (: < /dev/tty) 2>/dev/null || echo no-tty";
    let report = job(command, 9000).run(&CancelToken::new()).await.unwrap();
    assert_eq!(report.output.text(), "no0\nno1\nno-tty\n");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let mut job = job("", 1000);
    job.program = vec!["/no/such/program".into()];
    assert!(job.run(&CancelToken::new()).await.is_err());
}

#[tokio::test]
async fn a_signal_is_told_apart() {
    let report = job("kill -9 $$", 9000).run(&CancelToken::new()).await.unwrap();
    assert_eq!(report.end, End::Signal(9));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_that_left_the_group_is_found_by_its_mark() {
    let mark = mark(5);
    let command = format!("setsid sh -c 'sleep {mark} & wait' >/dev/null 2>&1 & sleep 0.1; echo done");
    let report = job(&command, 9000).run(&CancelToken::new()).await.unwrap();
    assert!(report.output.text() == "done\n" && gone(&mark));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_without_mark_and_group_is_found_by_the_output_it_holds() {
    let mark = mark(6);
    let command = format!("env -i setsid sleep {mark} & echo done; sleep 0.1");
    let report = job(&command, 9000).run(&CancelToken::new()).await.unwrap();
    assert_eq!((report.output.text().as_str(), report.left), ("done\n", Left::Stopped));
    assert!(gone(&mark));
}

#[tokio::test]
async fn a_command_that_leaves_nothing_says_nothing() {
    let report = job("sleep 0 & wait; echo done", 9000).run(&CancelToken::new()).await.unwrap();
    assert_eq!(report.left, Left::Nothing);
}
