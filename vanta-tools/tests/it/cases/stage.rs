//! The folder a case plays in: placeholders, entries of `setup` and `before`, and a picture of all files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// A workspace root with something outside beside it.
pub(crate) struct Stage {
    pub(crate) root: PathBuf,
    outside: PathBuf,
    tag: String,
}

/// Files and links below the root and what they hold.
pub(crate) type Snapshot = BTreeMap<PathBuf, Vec<u8>>;

impl Stage {
    pub(crate) fn new(dir: &Path) -> Self {
        let dir = fs::canonicalize(dir).unwrap();
        let (root, outside) = (dir.join("work"), dir.join("beside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
        Self { root, outside, tag: format!("{}{}", std::process::id(), nanos) }
    }

    /// `json` with placeholders filled in and long strings built.
    pub(crate) fn expand(&self, json: &Value) -> Value {
        match json {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.expand(item)).collect()),
            Value::Object(object) if object.contains_key("$repeat") => {
                Value::String(repeated(&self.expand(&object["$repeat"])))
            }
            Value::Object(object) if object.contains_key("$concat") => {
                Value::String(list(&self.expand(&object["$concat"])).filter_map(Value::as_str).collect())
            }
            Value::Object(object) => Value::Object(
                object.iter().map(|(key, value)| (self.fill(key), self.expand(value))).collect(),
            ),
            other => other.clone(),
        }
    }

    fn fill(&self, text: &str) -> String {
        let name = |path: &Path| path.to_str().unwrap().to_owned();
        text.replace("{{root}}", &name(&self.root))
            .replace("{{outside}}", &name(&self.outside))
            .replace("{{outside_name}}", self.outside.file_name().unwrap().to_str().unwrap())
            .replace("{{sibling}}", &format!("{}-evil", name(&self.root)))
            .replace("{{tag}}", &self.tag)
    }

    /// Where an entry's path is.
    pub(crate) fn path(&self, entry: &Value) -> PathBuf {
        self.root.join(entry.as_str().unwrap_or_else(|| entry["path"].as_str().unwrap()))
    }

    /// Makes one entry of `setup`.
    pub(crate) fn put(&self, entry: &Value) {
        let path = self.path(entry);
        if let Some(many) = entry.get("many") {
            return self.put_many(&path, many);
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if entry["dir"] == true {
            fs::create_dir_all(&path).unwrap();
        } else if let Some(target) = entry["symlink"].as_str() {
            symlink(target, &path).unwrap();
        } else if let Some(target) = entry["hardlink"].as_str() {
            fs::hard_link(self.root.join(target), &path).unwrap();
        } else if entry["fifo"] == true {
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        } else if let Some(size) = entry["sparse_size"].as_u64() {
            fs::File::create(&path).unwrap().set_len(size).unwrap();
        } else if let Some(text) = entry["append"].as_str() {
            fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
        } else {
            fs::write(&path, content(entry).unwrap_or_default()).unwrap();
        }
        if let Some(mode) = entry["mode"].as_str() {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    fn put_many(&self, folder: &Path, many: &Value) {
        fs::create_dir_all(folder).unwrap();
        for i in 0..many["count"].as_u64().unwrap() {
            let path = folder.join(numbered(many["name"].as_str().unwrap(), i));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, numbered(many["text"].as_str().unwrap_or_default(), i)).unwrap();
        }
    }

    /// A change behind the agent's back.
    pub(crate) fn change(&self, step: &Value) {
        if let Some(entry) = step.get("write") {
            let path = self.path(entry);
            let before = fs::metadata(&path).ok().and_then(|meta| meta.modified().ok());
            self.put(entry);
            if let Some(before) = before.filter(|_| entry["keep_mtime"] == true || step["keep_mtime"] == true)
            {
                fs::File::options().append(true).open(&path).unwrap().set_modified(before).unwrap();
            }
        } else if let Some(path) = step.get("touch") {
            let later = SystemTime::now() + std::time::Duration::from_secs(5);
            fs::File::options().append(true).open(self.path(path)).unwrap().set_modified(later).unwrap();
        } else if let Some(path) = step.get("delete") {
            fs::remove_file(self.path(path)).unwrap();
        } else {
            panic!("unknown step {step}");
        }
    }

    /// Every file and link below the root.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut picture = Snapshot::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                if meta.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = state(&path, &meta);
                    picture.insert(path, bytes);
                }
            }
        }
        picture
    }
}

/// Type, mode and content, as far as it is worth reading.
fn state(path: &Path, meta: &fs::Metadata) -> Vec<u8> {
    let mut state = format!("{:o} {} ", meta.mode(), meta.len()).into_bytes();
    if meta.is_symlink() {
        state.extend(fs::read_link(path).unwrap().as_os_str().as_encoded_bytes());
    } else if meta.is_file() && meta.len() < 64 * 1024 * 1024 {
        state.extend(fs::read(path).unwrap_or_default());
    }
    state
}

/// The bytes an entry gives, if it gives any.
pub(crate) fn content(entry: &Value) -> Option<Vec<u8>> {
    let plain = |key: &str| entry[key].as_str();
    if let Some(text) = plain("text") {
        return Some(text.as_bytes().to_vec());
    }
    if let Some(text) = plain("base64") {
        return Some(base64(text));
    }
    entry.get("repeat").map(|repeat| repeated(repeat).into_bytes())
}

fn repeated(repeat: &Value) -> String {
    let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
    repeat["text"].as_str().unwrap().repeat(times)
}

/// `{i}` as the number, `{i:05}` zero-padded.
fn numbered(text: &str, i: u64) -> String {
    let mut done = text.replace("{i}", &i.to_string());
    while let Some((before, rest)) = done.split_once("{i:0") {
        let (width, after) = rest.split_once('}').unwrap();
        done = format!("{before}{i:0width$}{after}", width = width.parse::<usize>().unwrap());
    }
    done
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("not base64: {c}"),
    };
    let digits: Vec<u32> =
        text.bytes().filter(|c| *c != b'=' && !c.is_ascii_whitespace()).map(digit).collect();
    let group = |four: &[u32]| {
        let value = four.iter().fold(0, |value, digit| value << 6 | digit) << (6 * (4 - four.len()));
        value.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

/// The items of an array; none when it is absent.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
