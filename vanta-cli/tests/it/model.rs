//! A model on loopback that follows a script: what an OpenAI-compatible server would send, and whatever else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::vanta::DEADLINE;

/// One answer of the script.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Text(&'static str),
    /// Calls of tools: name and arguments as the model wrote them.
    Calls(Vec<(&'static str, String)>),
    /// Any status, content type and body.
    Raw(u16, &'static str, &'static str),
    /// Text, and then the connection ends without an end mark.
    Truncated(&'static str),
    /// The same, once the test says so.
    Held(Box<Reply>),
}

/// A call with arguments that are what they should be.
pub(crate) fn calls(calls: &[(&'static str, Value)]) -> Reply {
    Reply::Calls(calls.iter().map(|(name, args)| (*name, args.to_string())).collect())
}

pub(crate) fn shell(command: &str) -> Reply {
    calls(&[("shell", json!({ "command": command }))])
}

#[derive(Debug)]
pub(crate) struct Model {
    port: u16,
    requests: Arc<Mutex<Vec<Value>>>,
    released: Arc<AtomicBool>,
}

impl Model {
    /// Answers the n-th request with the n-th reply, and every later one with the last.
    pub(crate) fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let model = Self {
            port: listener.local_addr().unwrap().port(),
            requests: Arc::default(),
            released: Arc::default(),
        };
        let (requests, released) = (Arc::clone(&model.requests), Arc::clone(&model.released));
        // Ends with the process of the tests.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, released) = (Arc::clone(&requests), Arc::clone(&released));
                let script = script.clone();
                thread::spawn(move || serve(stream, &script, &requests, &released));
            }
        });
        model
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn wait_for_requests(&self, count: usize) {
        let begin = Instant::now();
        while self.requests.lock().unwrap().len() < count {
            assert!(begin.elapsed() < DEADLINE, "the model was not asked {count} times");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets held replies go.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    /// The results in the last request, by the id of their call; every call must have exactly one.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let request = self.requests().pop().expect("the model was asked");
        let messages = request["messages"].as_array().unwrap().clone();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let calls: Vec<String> = messages
            .iter()
            .flat_map(|message| message["tool_calls"].as_array().cloned().unwrap_or_default())
            .map(|call| text(&call["id"]))
            .collect();
        let results: Vec<(String, String)> = messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| (text(&message["tool_call_id"]), text(&message["content"])))
            .collect();
        assert_eq!(calls, results.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>(), "unpaired calls");
        results
    }

    /// The one result of the last request.
    pub(crate) fn result(&self) -> String {
        let [(_, content)] = <[_; 1]>::try_from(self.results()).expect("one result");
        content
    }
}

fn serve(stream: TcpStream, script: &[Reply], requests: &Mutex<Vec<Value>>, released: &AtomicBool) {
    let Some(body) = read_request(&stream) else { return };
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(serde_json::from_slice(&body).unwrap_or_default());
        requests.len()
    };
    let mut reply = &script[(number - 1).min(script.len() - 1)];
    if let Reply::Held(inner) = reply {
        let begin = Instant::now();
        while !released.load(Ordering::SeqCst) && begin.elapsed() < DEADLINE {
            thread::sleep(Duration::from_millis(10));
        }
        reply = inner;
    }
    // The other side may be gone, killed by a test.
    let _ = answer(stream, reply, number);
}

fn read_request(stream: &TcpStream) -> Option<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn answer(mut stream: TcpStream, reply: &Reply, number: usize) -> std::io::Result<()> {
    let (status, kind, body) = match reply {
        Reply::Raw(status, kind, body) => (*status, *kind, (*body).to_owned()),
        Reply::Text(text) => (200, STREAM, whole(&json!({ "content": text }), "stop")),
        Reply::Truncated(text) => (200, STREAM, event(&json!({ "content": text }), None)),
        Reply::Calls(calls) => (200, STREAM, whole(&deltas(calls, number), "tool_calls")),
        Reply::Held(_) => unreachable!("held once"),
    };
    write!(stream, "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}")?;
    stream.flush()
}

const STREAM: &str = "text/event-stream";

fn deltas(calls: &[(&str, String)], number: usize) -> Value {
    let call = |(index, (name, arguments)): (usize, &(&str, String))| {
        json!({"index": index, "id": format!("call-{number}-{index}"), "type": "function",
               "function": {"name": name, "arguments": arguments}})
    };
    json!({ "tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>() })
}

fn whole(delta: &Value, finish: &str) -> String {
    let end = format!("{}data: [DONE]\n\n", event(&json!({}), Some(finish)));
    event(delta, None) + &end
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let mut chunk = json!({"id": "r", "object": "chat.completion.chunk", "model": "stub",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    if finish.is_some() {
        chunk["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    }
    format!("data: {chunk}\n\n")
}
