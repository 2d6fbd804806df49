//! Addresses and answers, read.

use meed_cli::exit::Failure;

use super::http::{Master, parse};
use super::is_application;

#[test]
fn addresses() {
    for (written, shown) in [
        ("http://rm:8088", "http://rm:8088"),
        ("http://rm:8088/", "http://rm:8088"),
        ("rm", "http://rm:8088"),
        ("rm:80", "http://rm:80"),
        ("HTTP://rm/gateway/yarn/", "http://rm:8088/gateway/yarn"),
        ("http://[::1]:9", "http://[::1]:9"),
        ("[::1]", "http://[::1]:8088"),
    ] {
        assert_eq!(Master::at(written).unwrap().shown, shown);
    }
    for (written, why) in [
        ("https://rm:8090", "https is not supported"),
        ("ftp://rm", "begins with ftp://"),
        ("http://", "names no host"),
        ("http://rm:port", "no port after the colon"),
        ("http://rm:99999", "no port after the colon"),
        ("http://me:secret@rm", "names a user"),
        ("http://rm?user.name=me", "more than an address"),
        ("http://r m", "names no host"),
    ] {
        match Master::at(written) {
            Err(Failure::Usage(told)) => assert!(told.contains(why), "{told}"),
            other => panic!("{written}: {other:?}"),
        }
    }
}

#[test]
fn answers() {
    let whole = parse(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"a\":1}").unwrap();
    assert_eq!((whole.status, whole.json().unwrap()["a"].as_u64()), (200, Some(1)));
    let chunks =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4\r\n\":1}\r\n\
        0\r\n\r\n";
    assert_eq!(parse(chunks).unwrap().json().unwrap()["a"].as_u64(), Some(1));
    let moved = parse(b"HTTP/1.1 307 Moved\r\nLocation: http://rm2:8088/ws/v1\r\n\r\n").unwrap();
    assert_eq!(moved.location.as_deref(), Some("http://rm2:8088/ws/v1"));
    for (bytes, why) in [
        (&b"SSH-2.0-OpenSSH\r\n\r\n"[..], "none of HTTP"),
        (b"", "none of HTTP"),
        (b"HTTP/1.1 OK\r\n\r\n", "none of HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x50", "TLS"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "ends in the middle"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}\r\n", "in the middle"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "middle"),
    ] {
        let told = parse(bytes).unwrap_err().to_string();
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn identities_of_applications() {
    assert!(is_application("application_1760000000000_0001"));
    for wrong in ["17", "application_1", "application_1_x", "application_1_2_3", "job_1_2", ""] {
        assert!(!is_application(wrong), "{wrong}");
    }
}
