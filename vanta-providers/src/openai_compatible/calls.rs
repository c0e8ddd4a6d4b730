//! Puts the fragments of tool calls together, whatever the server calls them.
//!
//! A fragment names its call by index, by id, by both or by neither; indexes are absent, reused or wrong, ids
//! empty, repeated or shared, names late or sent again. The rules in [`CallRouter::route`] keep two calls apart
//! whenever anything says that they are two. They may fail to join what belongs together; the arguments then do
//! not parse, and the call is handed over as invalid, which is safe.

use std::collections::VecDeque;

use serde_json::Value;
use vanta_core::message::{Args, CallId, Origin, ToolCall};
use vanta_core::provider::{ModelInfo, StreamEvent};

use super::ids;
use super::wire::{CallDelta, Loose};

/// Most calls in one reply.
pub(super) const MAX_CALLS: usize = 256;

/// The calls of one reply, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct CallRouter {
    calls: Vec<OpenCall>,
    /// The call an index stands for at the moment.
    by_index: Vec<(u64, usize)>,
    current: Option<usize>,
}

/// A call whose fragments are arriving.
#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    wire_id: Option<String>,
    /// Its id for everybody else, fixed when the call is announced.
    id: Option<CallId>,
    name: String,
    args: String,
    balance: Balance,
    extra: Option<Value>,
    /// How much of the arguments observers have seen.
    shown: usize,
    /// A fragment held bytes that are no text.
    damaged: bool,
}

impl CallRouter {
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Takes one fragment and returns the position of its call.
    pub(super) fn take(&mut self, delta: CallDelta<'_>, damaged: bool) -> usize {
        let (index, function) = (delta.index.count(), delta.function.unwrap_or_default());
        let (id, name) = (delta.id.text(), function.name.text());
        let args = match &function.arguments {
            Loose::Text(text) => text.clone(),
            Loose::Absent => "".into(),
            Loose::Count(number) => number.to_string().into(),
            Loose::Other(value) => value.to_string().into(),
        };
        let at = self.route(index, id, name, !args.is_empty());
        self.current = Some(at);
        if let Some(index) = index {
            self.by_index.retain(|(known, _)| *known != index);
            self.by_index.push((index, at));
        }
        if let Some(call) = self.calls.get_mut(at) {
            call.extend(index, id, name, &args);
            call.damaged |= damaged;
            call.extra = delta.extra_content.or(call.extra.take());
        }
        at
    }

    /// Takes one call that is whole, from a reply that is whole.
    pub(super) fn take_whole(&mut self, delta: CallDelta<'_>, damaged: bool) -> usize {
        self.by_index.clear();
        self.current = Some(self.open());
        let id = delta.id.text().map(str::to_owned);
        // With neither index nor id, a fragment goes to the current call, which was just opened.
        let at = self.take(CallDelta { index: Loose::Absent, id: Loose::Absent, ..delta }, damaged);
        if let Some(call) = self.calls.get_mut(at) {
            call.wire_id = id;
        }
        at
    }

    /// The position of the call that a fragment belongs to; opens one where needed.
    fn route(&mut self, index: Option<u64>, id: Option<&str>, name: Option<&str>, has_args: bool) -> usize {
        let at_index = index
            .and_then(|index| self.by_index.iter().find(|(known, _)| *known == index))
            .map(|(_, at)| *at);
        let found = match id {
            Some(id) => self.route_by_id(id, index, at_index, name, has_args),
            None => match (at_index, name) {
                (Some(at), _) => Some(at).filter(|at| !self.is_next_call(*at, name, has_args)),
                (None, Some(name)) if index.is_none() => {
                    self.current.filter(|at| self.awaits(*at, name, has_args))
                }
                (None, Some(_)) => None,
                // A stray tail; at an index of its own, behind a call that is whole, it is a call named later.
                (None, None) => self.current.filter(|at| index.is_none() || !self.is_closed(*at)),
            },
        };
        found.unwrap_or_else(|| self.open())
    }

    fn route_by_id(
        &self,
        id: &str,
        index: Option<u64>,
        at_index: Option<usize>,
        name: Option<&str>,
        has_args: bool,
    ) -> Option<usize> {
        let has_id = |at: &usize| self.call(*at).is_some_and(|call| call.wire_id.as_deref() == Some(id));
        let known = at_index.filter(has_id).or_else(|| (0..self.calls.len()).rev().find(has_id));
        if let Some(at) = known {
            let moved = index.is_some()
                && self.call(at).is_some_and(|call| call.index.is_some() && call.index != index);
            let another = match moved && at_index != Some(at) {
                // One id at two indexes: two calls, unless this is a nameless tail.
                true => name.is_some(),
                false => self.is_closed(at) && name.is_some() && has_args,
            };
            return (!another).then_some(at);
        }
        let at = at_index?;
        let call = self.call(at)?;
        let joins = match &call.wire_id {
            None if name.is_none() => !(call.balance.closed() && has_args),
            None => !self.is_next_call(at, name, has_args),
            // A server that makes up an id for every fragment.
            Some(_) => {
                name.is_none() && !call.name.is_empty() && !call.args.is_empty() && !call.balance.closed()
            }
        };
        joins.then_some(at)
    }

    /// Whether a fragment without id begins another call than the one at `at`, whose index it has.
    fn is_next_call(&self, at: usize, name: Option<&str>, has_args: bool) -> bool {
        let (Some(call), Some(name)) = (self.call(at), name) else { return false };
        !call.name.is_empty() && (call.name != name || (call.balance.closed() && has_args))
    }

    /// Whether the call at `at` can be the one that a fragment with `name`, but no id and no index, goes on with.
    fn awaits(&self, at: usize, name: &str, has_args: bool) -> bool {
        self.call(at).is_some_and(|call| {
            call.name.is_empty() || (call.name == name && has_args && !call.balance.closed())
        })
    }

    fn is_closed(&self, at: usize) -> bool {
        self.call(at).is_some_and(|call| call.balance.closed())
    }

    fn call(&self, at: usize) -> Option<&OpenCall> {
        self.calls.get(at)
    }

    fn open(&mut self) -> usize {
        self.calls.push(OpenCall::default());
        self.calls.len().saturating_sub(1)
    }

    /// Shows observers what is new about the call at `at`; nothing before it has a name.
    ///
    /// `is_used` tells ids that earlier turns have, `seed` makes ids where the server gave none.
    pub(super) fn announce(
        &mut self,
        at: usize,
        is_used: impl Fn(&str) -> bool,
        seed: &[&str],
        events: &mut VecDeque<StreamEvent>,
    ) {
        if self.call(at).is_none_or(|call| call.name.is_empty()) {
            return;
        }
        let taken = |id: &str| {
            is_used(id) || self.calls.iter().any(|call| call.id.as_ref().is_some_and(|c| c.as_str() == id))
        };
        let fresh = match self.call(at) {
            Some(OpenCall { id: None, wire_id, .. }) => Some(ids::local(wire_id.as_deref(), at, seed, taken)),
            _ => None,
        };
        let Some(call) = self.calls.get_mut(at) else { return };
        if let Some(id) = fresh {
            call.id = Some(id.clone());
            events.push_back(StreamEvent::ToolCallStarted { id, name: call.name.clone() });
        }
        let unseen = call.args.get(call.shown..).unwrap_or_default();
        if let (Some(id), false) = (&call.id, unseen.is_empty()) {
            events.push_back(StreamEvent::ToolCallDelta { id: id.clone(), json: unseen.to_owned() });
            call.shown = call.args.len();
        }
    }

    /// Whether a call never got a name.
    pub(super) fn has_nameless(&self) -> bool {
        self.calls.iter().any(|call| call.name.is_empty())
    }

    /// The call at `at` of a reply that has ended; `None` when it never got a name.
    ///
    /// `whole` says that the model ended its turn itself: only then do empty arguments mean none.
    pub(super) fn finish(&self, at: usize, whole: bool, model: &ModelInfo) -> Option<ToolCall> {
        let call = self.call(at)?;
        let args = if call.damaged {
            Args::invalid(&*call.args, "the arguments arrived with bytes that are no text")
        } else if call.args.trim().is_empty() && !whole {
            Args::invalid(&*call.args, "the reply was cut before the arguments")
        } else {
            Args::parse(&*call.args)
        };
        let made = ToolCall::new(call.id.clone()?, &*call.name, args);
        Some(match &call.extra {
            Some(extra) => made.with_origin(Origin::new(model.provider(), model.id(), extra.clone())),
            None => made,
        })
    }
}

impl OpenCall {
    fn extend(&mut self, index: Option<u64>, id: Option<&str>, name: Option<&str>, args: &str) {
        self.index = self.index.or(index);
        if let (None, Some(id)) = (&self.wire_id, id) {
            self.wire_id = Some(id.to_owned());
        }
        if let (true, Some(name)) = (self.name.is_empty(), name) {
            name.clone_into(&mut self.name);
        }
        self.balance.extend(args);
        self.args.push_str(args);
    }
}

/// Follows brackets and strings of JSON text as it arrives, to know when an object has been closed.
#[derive(Debug, Default)]
struct Balance {
    depth: usize,
    in_string: bool,
    escaped: bool,
    opened: bool,
}

impl Balance {
    fn extend(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.escaped = byte == b'\\';
                self.in_string = byte != b'"';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => {
                        self.depth = self.depth.saturating_add(1);
                        self.opened = true;
                    }
                    b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }

    fn closed(&self) -> bool {
        self.opened && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds fragments given as JSON and lists the calls as `id name args`.
    fn route(fragments: &[&str]) -> Vec<String> {
        let mut router = CallRouter::default();
        let mut events = VecDeque::new();
        for fragment in fragments {
            let at = router.take(serde_json::from_str(fragment).unwrap(), false);
            router.announce(at, |id| id == "used", &["seed"], &mut events);
        }
        (0..router.len())
            .map(|at| {
                let wire = router.calls[at].wire_id.clone().unwrap_or_default();
                router.finish(at, true, &ModelInfo::new("p", "m")).map_or("nameless".into(), |call| {
                    assert!(!call.id().as_str().is_empty());
                    format!("{wire} {} {}", call.name(), call.args().raw())
                })
            })
            .collect()
    }

    fn f(index: &str, id: &str, name: &str, args: &str) -> String {
        let index = if index.is_empty() { String::new() } else { format!(r#""index":{index},"#) };
        let id = if id.is_empty() { String::new() } else { format!(r#""id":"{id}","#) };
        let name = if name.is_empty() { String::new() } else { format!(r#""name":"{name}","#) };
        format!(r#"{{{index}{id}"function":{{{name}"arguments":{}}}}}"#, serde_json::json!(args))
    }

    fn check(fragments: &[(&str, &str, &str, &str)], expected: &[&str]) {
        let fragments: Vec<_> = fragments.iter().map(|(i, id, n, a)| f(i, id, n, a)).collect();
        let fragments: Vec<_> = fragments.iter().map(String::as_str).collect();
        assert_eq!(route(&fragments), expected, "{fragments:?}");
    }

    #[test]
    fn well_behaved_and_interleaved_calls() {
        check(
            &[
                ("0", "a", "f", ""),
                ("0", "", "", "{\"x\""),
                ("1", "b", "g", "{"),
                ("0", "", "", ":1}"),
                ("1", "", "", "}"),
            ],
            &["a f {\"x\":1}", "b g {}"],
        );
    }

    #[test]
    fn indexes_absent_reused_or_wrong() {
        check(
            &[("", "a", "f", "{"), ("", "", "", "}"), ("", "b", "f", ""), ("", "", "", "{}")],
            &["a f {}", "b f {}"],
        );
        check(&[("0", "a", "f", "{}"), ("0", "b", "f", "{}")], &["a f {}", "b f {}"]);
        check(
            &[("0", "a", "f", "{}"), ("0", "b", "f", ""), ("1", "", "", "{"), ("1", "", "", "}")],
            &["a f {}", "b f {}"],
        );
    }

    #[test]
    fn ids_absent_shared_or_repeated() {
        check(&[("0", "", "f", "{}"), ("1", "", "f", "{}")], &[" f {}", " f {}"]);
        check(&[("0", "", "f", "{}"), ("0", "", "f", "{}")], &[" f {}", " f {}"]);
        check(&[("", "", "f", "{}"), ("", "", "f", "{}")], &[" f {}", " f {}"]);
        check(&[("", "", "f", "{"), ("", "", "f", "}")], &[" f {}"]);
        check(&[("0", "a", "f", "{}"), ("1", "a", "f", "{}")], &["a f {}", "a f {}"]);
        check(&[("0", "a", "f", "{}"), ("0", "a", "f", "{}")], &["a f {}", "a f {}"]);
        check(&[("0", "a", "f", "{"), ("0", "a", "f", "}")], &["a f {}"]);
        check(&[("0", "a", "f", "{"), ("0", "x", "", "}")], &["a f {}"]);
        check(
            &[("0", "a", "f", "{"), ("1", "a", "f", "{"), ("0", "a", "", "}"), ("1", "a", "", "}")],
            &["a f {}", "a f {}"],
        );
    }

    #[test]
    fn names_late_or_never() {
        check(&[("0", "a", "", "{"), ("0", "", "f", "}")], &["a f {}"]);
        check(&[("0", "a", "", "{}"), ("0", "b", "", "{}"), ("0", "", "g", "")], &["nameless", "b g {}"]);
        check(&[("", "", "f", ""), ("", "", "f", "")], &[" f ", " f "]);
    }

    #[test]
    fn arguments_of_other_kinds() {
        let object = r#"{"index":0,"id":"a","function":{"name":"f","arguments":{"x":[1]}}}"#;
        let null = r#"{"index":0,"function":{"name":null,"arguments":null}}"#;
        assert_eq!(route(&[object, null]), ["a f {\"x\":[1]}"]);
        assert_eq!(route(&[r#"{"id":7,"function":{"name":"f","arguments":"{}"}}"#]), [" f {}"]);
    }

    #[test]
    fn ids_are_minted_once_and_never_used_twice() {
        let mut router = CallRouter::default();
        let mut events = VecDeque::new();
        for fragment in [
            f("0", "used", "f", "{}"),
            f("1", "", "f", "{}"),
            f("2", "same", "f", "{}"),
            f("3", "same", "f", "{}"),
        ] {
            let at = router.take(serde_json::from_str(&fragment).unwrap(), false);
            router.announce(at, |id| id == "used", &["seed"], &mut events);
        }
        let ids: Vec<_> = (0..4)
            .map(|at| router.finish(at, true, &ModelInfo::new("p", "m")).unwrap().id().as_str().to_owned())
            .collect();
        assert_eq!(ids[2], "same");
        assert!(!ids.contains(&"used".to_owned()));
        assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }
}
