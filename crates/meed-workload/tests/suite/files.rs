//! Files as they are in the wild: compressed, cut short, damaged, empty, endless.

use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

use meed::{ResourceKinds, Unit};
use meed_files::FileError;
use meed_files::lines::Lines;
use meed_files::open::Input;
use meed_workload::swim::{SwimAssumptions, SwimSource};
use meed_workload::{JobSource, OnBadLine, Origin, TraceError};

fn kinds() -> ResourceKinds {
    ResourceKinds::new(vec![("slot".into(), Unit::Milli)]).unwrap()
}

fn swim(lines: usize) -> String {
    // Numbers that do not compress to nothing, so that a cut lies within the data.
    let bytes = |line: usize| line.wrapping_mul(2_654_435_761) % 1_000_000_007;
    (0..lines).map(|line| format!("job{line}\t{line}\t1\t{}\t0\t0\n", bytes(line))).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zst(bytes: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn count(bytes: Vec<u8>) -> Result<u64, TraceError> {
    let origin = Origin::bytes("t.tsv", bytes);
    let mut source =
        SwimSource::open(&origin, &kinds(), &SwimAssumptions::default(), OnBadLine::Stop)?;
    while source.next_job()?.is_some() {}
    assert_eq!(source.progress(), Some(1.0));
    Ok(source.counts().jobs)
}

#[test]
fn compression_is_told_by_content() {
    let text = swim(20_000);
    let (front, back) = text.as_bytes().split_at(text.find("\njob9999\t").unwrap() + 1);
    let plain = text.as_bytes().to_vec();
    let skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd".to_vec();
    let rows = [
        ("plain", plain.clone()),
        ("gzip", gzip(&plain)),
        ("gzip of two members", [gzip(front), gzip(back)].concat()),
        ("zstd", zst(&plain, 20)),
        ("zstd with the longest window", zst(&plain, 27)),
        ("zstd of two frames", [zst(front, 20), zst(back, 20)].concat()),
        ("zstd after a skippable frame", [skippable, zst(&plain, 20)].concat()),
        ("xz", xz(&plain)),
        ("xz of two streams", [xz(front), xz(back)].concat()),
    ];
    for (name, bytes) in rows {
        assert_eq!(count(bytes).unwrap(), 20_000, "{name}");
    }
}

#[test]
fn cut_and_damaged_files_say_so() {
    let text = swim(20_000).into_bytes();
    for (name, whole) in [("gzip", gzip(&text)), ("zstd", zst(&text, 20)), ("xz", xz(&text))] {
        // In the header, in the middle, and just before the end (the checksum).
        for keep in [whole.len() / 100, whole.len() / 2, whole.len() - 3] {
            let error = count(whole[..keep].to_vec()).unwrap_err();
            assert!(
                matches!(error, TraceError::File(FileError::Truncated { .. })),
                "{name} cut at {keep}: {error:?}"
            );
            let message = error.to_string();
            assert!(
                message
                    .starts_with(&format!("t.tsv: its {name} data is cut short (good up to line ")),
                "{message}"
            );
        }
        let mut damaged = whole.clone();
        let middle = whole.len() / 2;
        damaged[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0x5a);
        let error = count(damaged).unwrap_err();
        let message = error.to_string();
        // Damage may also decompress to something that is no line; either way it is noticed, and
        // where.
        assert!(
            matches!(error, TraceError::File(FileError::Damaged { .. }))
                && message.contains(&format!("its {name} data is damaged after line"))
                || error.is_bad_line(),
            "{name}: {message}"
        );
    }
}

#[test]
fn a_window_that_is_too_large_is_refused_before_it_is_allocated() {
    let message = count(zst(swim(10).as_bytes(), 28)).unwrap_err().to_string();
    assert_eq!(
        message,
        "t.tsv: decompressing it takes more than 128 MB; compress it again, with zstd --long=27 at \
         most"
    );
}

#[test]
fn missing_files_and_folders_are_named() {
    let open = |path: &Path| Origin::path(path).open().err().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.swf");
    assert!(open(&missing).starts_with(&format!("cannot open {}: ", missing.display())));
    assert!(open(folder.path()).starts_with(&format!("cannot open {}: ", folder.path().display())));
}

/// Never ends, never breaks a line, and counts what is taken from it.
struct Endless(Arc<std::sync::atomic::AtomicU64>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        buffer.fill(b'x');
        self.0.fetch_add(buffer.len() as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(buffer.len())
    }
}

#[test]
fn a_line_without_end_is_an_error_and_eats_no_memory() {
    let taken = Arc::default();
    let input = Input::new("e".into(), Box::new(Endless(Arc::clone(&taken))), None).unwrap();
    let mut lines = Lines::new(input, 1 << 20);
    let message = lines.next_line().unwrap_err().to_string();
    assert_eq!(
        message,
        "e:1: a line without end (no line break within 1048576 bytes); is this a trace?"
    );
    assert!(taken.load(std::sync::atomic::Ordering::Relaxed) < 2 << 20);
}

fn lines_of(bytes: &[u8], limit: usize) -> Result<Vec<Vec<u8>>, FileError> {
    let mut lines = Lines::new(Origin::bytes("t", bytes).open().unwrap(), limit);
    let mut all = Vec::new();
    while let Some(line) = lines.next_line()? {
        all.push(line.to_vec());
    }
    assert_eq!(lines.number(), all.len() as u64);
    Ok(all)
}

#[test]
fn lines_end_as_they_like() {
    let rows: &[(&[u8], &[&[u8]])] = &[
        (b"", &[]),
        (b"a", &[b"a"]),
        (b"a\n", &[b"a"]),
        (b"a\r\nb\n", &[b"a", b"b"]),
        (b"\n\nc", &[b"", b"", b"c"]),
        (b"a\rb\n\r\n", &[b"a\rb", b""]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", &[b"a", b"\xef\xbb\xbfb"]),
        (b"12345678\n", &[b"12345678"]),
        (b"12345678", &[b"12345678"]),
    ];
    for (bytes, expected) in rows {
        assert_eq!(lines_of(bytes, 8).unwrap(), *expected, "{}", bytes.escape_ascii());
    }
    for bytes in ["123456789\n", "123456789", "a\n123456789\n"] {
        assert!(
            matches!(lines_of(bytes.as_bytes(), 8), Err(FileError::EndlessLine { .. })),
            "{bytes}"
        );
    }
}

#[test]
fn lines_that_span_buffers_are_whole() {
    let line = |length: usize| vec![b'a' + (length % 26) as u8; length];
    let all: Vec<Vec<u8>> = (0..40).map(|number| line(number * 25_013)).collect();
    let joined = all.iter().flat_map(|line| [line.as_slice(), b"\n"].concat()).collect::<Vec<u8>>();
    assert_eq!(lines_of(&joined, 1 << 20).unwrap(), all);
    assert_eq!(lines_of(&gzip(&joined), 1 << 20).unwrap(), all);
}

#[test]
fn a_failing_disk_is_no_truncated_file() {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof)),
                n => Ok(n),
            }
        }
    }
    let whole = gzip(swim(20_000).as_bytes());
    let half = Cursor::new(whole[..whole.len() / 2].to_vec());
    let mut lines =
        Lines::new(Input::new("f".into(), Box::new(Failing(half)), None).unwrap(), 1 << 20);
    let error = loop {
        match lines.next_line() {
            Ok(line) => assert!(line.is_some()),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, FileError::Io { action: "read", .. }), "{error:?}");
}
