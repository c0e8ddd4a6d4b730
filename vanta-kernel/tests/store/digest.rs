//! SHA-256 and HMAC against published vectors, and in pieces against itself.

use vanta_kernel::sha256::{Sha256, eq, hex, hmac_sha256, sha256};

#[test]
fn vectors_of_nist() {
    for (message, digest) in [
        (&b""[..], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
        (
            b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs\
              mnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
        ),
        (&[b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ] {
        assert_eq!(hex(&sha256(message)), digest);
    }
}

#[test]
fn vectors_of_rfc_4231() {
    let long = [0xaa; 131];
    let counted: Vec<u8> = (1..=25).collect();
    for (key, message, mac) in [
        (&[0x0b; 20][..], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        (&counted, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        (
            &long,
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
        (
            &long,
            b"This is a test using a larger than block-size key and a larger than block-size data. The key needs to \
              be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
        ),
    ] {
        assert_eq!(hex(&hmac_sha256(key, message)), mac);
    }
    let truncated = hmac_sha256(&[0x0c; 20], b"Test With Truncation");
    assert_eq!(hex(&truncated[..16]), "a3b6167473100ee06e0c796c2955552b");
}

#[test]
fn pieces_make_the_same_digest() {
    let bytes: Vec<u8> = (0..300_u32).map(|n| (n * 7) as u8).collect();
    for length in 0..bytes.len() {
        for piece in [1, 3, 55, 63, 64, 65, 128] {
            let mut hash = Sha256::new();
            for part in bytes[..length].chunks(piece) {
                hash.update(part);
            }
            assert_eq!(hash.finish(), sha256(&bytes[..length]), "{length} in {piece}");
        }
    }
}

#[test]
fn comparison_sees_every_difference() {
    assert!(eq(b"", b"") && eq(b"same", b"same"));
    assert!(!eq(b"same", b"sane") && !eq(b"same", b"sam") && !eq(b"", b"x"));
}
