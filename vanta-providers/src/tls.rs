//! TLS settings, made once per process: ring for the cryptography, the operating system for the roots.
//!
//! Nothing is installed as a process-wide default, so a program that uses rustls otherwise keeps its choice.

use std::sync::{Arc, OnceLock};

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// The settings every client shares. Session tickets are shared as well, which makes reconnecting cheap.
pub(crate) fn config() -> Result<ClientConfig, rustls::Error> {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let config = build(Arc::new(ring::default_provider()))?;
    Ok(CONFIG.get_or_init(|| config).clone())
}

fn build(crypto: Arc<CryptoProvider>) -> Result<ClientConfig, rustls::Error> {
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&crypto)).with_safe_default_protocol_versions()?;
    // A machine without any root certificate still reaches servers on loopback; each TLS connection fails there.
    let mut config = match Verifier::new(crypto) {
        Ok(verifier) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        }
        Err(_) => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
