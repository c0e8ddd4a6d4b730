//! The `.vanta/` files: append-only approvals and events that several processes may write.
//!
//! Every change is one line, appended in one write under an OS lock and synced before it is acknowledged, so
//! what was acknowledged survives a kill and a power loss. A torn last line is cut and kept aside; any other
//! damage refuses all work and says where. Who may run what is decided elsewhere: [`assess`](crate::assess)
//! for actions, [`Approval`](crate::Approval) for legal changes of state.
//!
//! Against other processes of the same user, checksums and MACs are tamper evidence and no prevention.
//!
//! ```
//! use vanta_kernel::store::{Approvals, StateDir, VantaDir};
//! use vanta_kernel::{Action, Answer, Proposal, Risk};
//!
//! # let place = tempfile::tempdir()?;
//! # let (root, state) = (place.path().join("project"), place.path().join("state"));
//! # std::fs::create_dir(&root)?;
//! let approvals = Approvals::open(&VantaDir::open(&root)?, &StateDir::at(state)?)?;
//! let proposal = Proposal::new(vec![Action::delete("old.txt")], Risk::Ask, "delete.scope", "deletes a file");
//! let asked = approvals.propose(&proposal, 1_000)?;
//!
//! // Any process may answer, days later; one holder may use the answer, once.
//! approvals.decide(asked.id(), Answer::Approve, "dana", 2_000)?;
//! approvals.consume(asked.id(), proposal.binding(), "session 7, call 3", 3_000)?;
//! assert!(approvals.consume(asked.id(), proposal.binding(), "session 8, call 1", 3_000).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approvals;
mod dirs;
mod error;
mod events;
mod log;
mod row;

pub use approvals::Approvals;
pub use dirs::{StateDir, VantaDir, make_folder, open_file, sync_folder};
pub use error::StoreError;
pub use events::Events;
pub use log::Repair;
