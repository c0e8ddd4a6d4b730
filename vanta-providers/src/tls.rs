//! TLS settings, made once per process: ring for the cryptography, the operating system for the roots.
//!
//! Nothing is installed as a process-wide default, so a program that uses rustls otherwise keeps its choice.

use std::sync::{Arc, OnceLock};

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
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

/// Settings that trust nobody, for connections that are not encrypted.
pub(crate) fn without_roots() -> Result<ClientConfig, rustls::Error> {
    let builder = start(&Arc::new(ring::default_provider()))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn build(crypto: Arc<CryptoProvider>) -> Result<ClientConfig, rustls::Error> {
    let builder = start(&crypto)?;
    // Without any root certificate the connections fail, each with its reason, not the setting up.
    let mut config = match Verifier::new(crypto) {
        Ok(verifier) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        }
        Err(_) => builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn start(crypto: &Arc<CryptoProvider>) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, rustls::Error> {
    ClientConfig::builder_with_provider(Arc::clone(crypto)).with_safe_default_protocol_versions()
}
