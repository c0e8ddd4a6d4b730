//! Typed state that one session's tools and adapters keep between calls.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// One value per type, shared by clones, gone with the session's process.
///
/// A tool crate keeps what it learned here (hashes of files it read), a provider adapter its encoded
/// messages. Nothing in it is durable.
///
/// ```
/// use std::sync::Mutex;
/// use vanta_core::Slots;
///
/// #[derive(Default)]
/// struct Seen(Mutex<Vec<String>>);
///
/// let slots = Slots::default();
/// slots.get::<Seen>().0.lock().unwrap().push("a.txt".into());
/// assert_eq!(slots.get::<Seen>().0.lock().unwrap().len(), 1);
/// ```
#[derive(Clone, Default)]
pub struct Slots(Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>);

impl Slots {
    /// The value of type `T`, made with `Default` at first use.
    #[must_use]
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = map.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The entry was made for this very type, so the downcast holds; a fresh value is a safe fallback.
        Arc::clone(slot).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for Slots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slots")
    }
}
