//! A server on loopback that answers with what a test prescribes, byte for byte and with its timing.
//!
//! The first segment of a path names the script; the n-th request for a name gets its n-th answer, the last one
//! repeats. Every thread ends when the server is dropped.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) delay: Duration,
    pub(crate) end: End,
}

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Normal,
    Reset,
    Stall,
}

impl Script {
    pub(crate) fn stream(chunks: Vec<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream", chunks)
    }

    pub(crate) fn new(status: u16, content_type: &str, chunks: Vec<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, chunks, delay: Duration::ZERO, end: End::Normal }
    }
}

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    pub(crate) at: Instant,
    /// When the answer's body was complete.
    pub(crate) answered: Option<Instant>,
}

#[derive(Default)]
struct State {
    scripts: Mutex<HashMap<String, Vec<Script>>>,
    seen: Mutex<HashMap<String, Vec<Seen>>>,
    open: Mutex<Vec<TcpStream>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    stop: AtomicBool,
}

pub(crate) struct ReplayServer {
    address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

impl ReplayServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stop.load(Ordering::SeqCst) {
                    return;
                }
                shared.open.lock().unwrap().push(stream.try_clone().unwrap());
                let state = Arc::clone(&shared);
                let thread = std::thread::spawn(move || drop(converse(stream, &state)));
                shared.threads.lock().unwrap().push(thread);
            }
        });
        Self { address, state, accepting: Some(accepting) }
    }

    /// Prescribes the answers for `name` and forgets its requests.
    pub(crate) fn serve(&self, name: &str, scripts: Vec<Script>) -> String {
        self.state.scripts.lock().unwrap().insert(name.to_owned(), scripts);
        self.state.seen.lock().unwrap().remove(name);
        format!("http://{}/{name}", self.address)
    }

    /// How many connections were ever made.
    pub(crate) fn connections(&self) -> usize {
        self.state.open.lock().unwrap().len()
    }

    pub(crate) fn seen(&self, name: &str) -> Vec<Seen> {
        self.state.seen.lock().unwrap().get(name).cloned().unwrap_or_default()
    }
}

impl Drop for ReplayServer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.accepting.take() {
            thread.join().unwrap();
        }
        for stream in self.state.open.lock().unwrap().drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
        for thread in self.state.threads.lock().unwrap().drain(..) {
            thread.join().unwrap();
        }
    }
}

fn converse(stream: TcpStream, state: &State) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some((path, headers)) = read_head(&mut reader)? {
        let path = path.trim_start_matches('/');
        let (name, rest) = path.split_once('/').unwrap_or((path, ""));
        let script = {
            let scripts = state.scripts.lock().unwrap();
            let seen = state.seen.lock().unwrap().get(name).map_or(0, Vec::len);
            scripts.get(name).and_then(|list| list.get(seen.min(list.len() - 1)).cloned())
        };
        let Some(script) = script else { return Ok(()) };
        let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let at = Instant::now();
        let index = {
            let mut seen = state.seen.lock().unwrap();
            let log = seen.entry(name.to_owned()).or_default();
            log.push(Seen { path: format!("/{rest}"), headers, body, at, answered: None });
            log.len() - 1
        };
        answer(&mut stream, &script)?;
        if let Some(seen) = state.seen.lock().unwrap().get_mut(name).and_then(|log| log.get_mut(index)) {
            seen.answered = Some(Instant::now());
        }
        match script.end {
            End::Normal => {}
            End::Stall => return wait_for_hangup(&mut reader),
            End::Reset => {
                // Time for the bytes sent so far to be read.
                std::thread::sleep(Duration::from_millis(50));
                return stream.shutdown(Shutdown::Both);
            }
        }
    }
    Ok(())
}

fn wait_for_hangup(reader: &mut impl Read) -> io::Result<()> {
    reader.read(&mut [0]).map(drop)
}

type Head = (String, HashMap<String, String>);

fn read_head(reader: &mut impl BufRead) -> io::Result<Option<Head>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.trim().to_owned()),
            None => return Ok(Some((path, headers))),
        };
    }
}

fn answer(stream: &mut TcpStream, script: &Script) -> io::Result<()> {
    let json = script.headers.iter().any(|(name, value)| name == "content-type" && value.contains("json"));
    let whole = json && script.chunks.len() == 1;
    let mut head = format!("HTTP/1.1 {} x\r\n", script.status);
    for (name, value) in &script.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if whole {
        let missing = if script.end == End::Normal { 0 } else { 64 };
        head.push_str(&format!("content-length: {}\r\n", script.chunks[0].len() + missing));
    } else {
        head.push_str("transfer-encoding: chunked\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    for chunk in script.chunks.iter().filter(|chunk| !chunk.is_empty()) {
        std::thread::sleep(script.delay);
        if whole {
            stream.write_all(chunk)?;
        } else {
            let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
            framed.extend_from_slice(chunk);
            framed.extend_from_slice(b"\r\n");
            stream.write_all(&framed)?;
        }
    }
    if !whole && script.end == End::Normal {
        stream.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}
