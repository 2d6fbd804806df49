//! Durations and amounts: what parses is within bounds and is written so that it parses to the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meed::{MAX_AMOUNT, MAX_MICROS, Unit};
use meed_config::units::{format_amount, format_span, parse_amount, parse_span};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match parse_span(text) {
        Ok(span) => {
            assert!(span.as_micros() <= MAX_MICROS);
            assert_eq!(parse_span(&format_span(span)), Ok(span));
            // Where floating point can say anything, it must agree.
            if let Ok(seconds) = text.trim().parse::<f64>() {
                assert!((span.as_secs_f64() - seconds).abs() <= seconds.abs() * 1e-12 + 1e-12);
            }
        }
        Err(error) => assert!(error.to_string().len() < 500, "{error}"),
    }
    for unit in [Unit::Milli, Unit::Bytes] {
        match parse_amount(text, unit) {
            Ok(amount) => {
                assert!(amount <= MAX_AMOUNT);
                assert_eq!(parse_amount(&format_amount(amount, unit), unit), Ok(amount));
            }
            Err(error) => assert!(error.to_string().len() < 500, "{error}"),
        }
    }
});
