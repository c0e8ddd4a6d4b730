//! However the bytes of a stream are split over reads, the reply is the same.

use vanta_core::provider::ModelContext;
use vanta_providers::HttpClient;

use crate::fixture::{self, Fixture};
use crate::replay::{End, ReplayServer, Script};
use crate::runner::{runtime, summary};

const SPLITS: usize = 50;
const DAMAGES: usize = 20;

#[test]
fn any_split_of_a_fixture_gives_the_same_reply() {
    let runtime = runtime();
    let server = ReplayServer::start();
    let client = HttpClient::new();
    let mut random = Random(0x5eed);
    for fixture in fixture::all().iter().filter(|fixture| fixture.is_supported() && fixture.is_stream()) {
        let [script] = &fixture.scripts()[..] else { continue };
        if script.end != End::Normal {
            continue;
        }
        let whole =
            runtime.block_on(outcome(fixture, &server, &client, vec![script.chunks.concat()], script));
        for _ in 0..SPLITS {
            let chunks = split(&script.chunks.concat(), &mut random);
            let found = runtime.block_on(outcome(fixture, &server, &client, chunks.clone(), script));
            assert_eq!(summary(&found), summary(&whole), "{} split as {chunks:?}", fixture.name());
        }
    }
}

/// Damaged bytes may give any reply or error, but give one, and only calls whose arguments parse are usable.
#[test]
fn damaged_streams_end_in_a_reply_or_an_error() {
    let runtime = runtime();
    let server = ReplayServer::start();
    let client = HttpClient::new();
    let mut random = Random(0xdead);
    for fixture in fixture::all().iter().filter(|fixture| fixture.is_supported()) {
        let [script] = &fixture.scripts()[..] else { continue };
        if script.end != End::Normal {
            continue;
        }
        for _ in 0..DAMAGES {
            let mut bytes = script.chunks.concat();
            for _ in 0..=random.below(6) {
                damage(&mut bytes, &mut random);
            }
            let found =
                runtime.block_on(outcome(fixture, &server, &client, split(&bytes, &mut random), script));
            if let Ok(reply) = &found {
                assert!(reply.message().tool_calls().all(|call| !call.name().is_empty()));
            }
        }
    }
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.below(256) as u8),
        2 => bytes.extend_from_within(at.saturating_sub(40)..at),
        _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
    }
}

async fn outcome(
    fixture: &Fixture,
    server: &ReplayServer,
    client: &HttpClient,
    chunks: Vec<Vec<u8>>,
    script: &Script,
) -> Result<vanta_core::provider::ModelReply, vanta_core::provider::ProviderError> {
    let script = Script { chunks, delay: std::time::Duration::ZERO, ..script.clone() };
    let address = server.serve(fixture.name(), vec![script]);
    let provider = fixture.provider(&address, client);
    provider.complete(fixture.request(fixture.messages()), &ModelContext::default()).await
}

/// Between one and eight pieces, sometimes single bytes.
fn split(bytes: &[u8], random: &mut Random) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = (0..random.below(8)).map(|_| random.below(bytes.len() + 1)).collect();
    for at in cuts.clone() {
        if random.below(2) == 0 {
            cuts.push((at + 1).min(bytes.len()));
        }
    }
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).collect()
}

/// A small generator of its own, so that the splits are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}
