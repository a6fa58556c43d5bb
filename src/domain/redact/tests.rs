//! Tests of redacting: no form of a key comes through, and other text stays.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn redactor() -> Redactor {
    Redactor::new(["sk-live-0123456789", "p@ss wörd/1\"", "abc", "ollama", "2023-06-01", "Bearer q7Hd-local"])
}

#[test]
fn a_known_secret_goes_in_every_form_it_travels_in() {
    let secret = "p@ss wörd/1\"";
    let known = Redactor::new([secret]);
    for before in ["", "a", "ab", "user:"] {
        let basic = base64::engine::general_purpose::STANDARD.encode(format!("{before}{secret} and more"));
        let clean = known.redact(&basic).into_owned();
        assert!(clean.contains(REDACTED), "{before}: {clean}");
    }
    assert_eq!(known.redact("url?k=p%40ss%20w%C3%B6rd%2F1%22&x"), "url?k=[redacted]&x");
    assert_eq!(known.redact("url?k=p%40ss%20w%c3%b6rd%2f1%22&x"), "url?k=[redacted]&x");
    assert_eq!(known.redact(r#"{"k":"p@ss wörd/1\""}"#), r#"{"k":"[redacted]"}"#);
    assert_eq!(known.redact("it is p@ss wörd/1\"."), "it is [redacted].");
}

#[test]
fn a_header_value_is_hidden_with_and_without_its_scheme() {
    assert_eq!(redactor().redact("x q7Hd-local y"), "x [redacted] y");
}

#[test]
fn ordinary_values_are_no_secrets() {
    let clean = redactor();
    for text in ["connect ollama on 2023-06-01", "abc", "nothing here", ""] {
        assert!(matches!(clean.redact(text), Cow::Borrowed(_)), "{text}");
    }
    let paths = Redactor::new(["/home/me/.config", "https://example.com/x", "123456"]);
    assert_eq!(
        paths.redact("in /home/me/.config of https://example.com/x: 123456"),
        "in /home/me/.config of https://example.com/x: 123456"
    );
}

#[test]
fn keys_of_well_known_shapes_go() {
    let none = Redactor::default();
    for key in [
        "sk-proj-a8F3kQz91LmX0pRtYv2w",
        "sk-ant-api03-a8F3kQz91LmX0pRtYv2w",
        "ghp_a8F3kQz91LmX0pRtYv2wa8F3kQz91LmX0pRt",
        "github_pat_11ABCDEFG0a8F3kQz91LmX_0pRtYv2w",
        "xoxb-123456789012-abcdefghijkl",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyA8F3kQz91LmX0pRtYv2wa8F3kQz91LmX0",
        "hf_a8F3kQz91LmX0pRtYv2wa8F3kQz91LmX0",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    ] {
        assert_eq!(none.redact(&format!("before {key} after")), "before [redacted] after", "{key}");
        assert_eq!(none.redact(&format!("日本語{key}語")), "日本語[redacted]語", "{key}");
    }
    assert_eq!(none.redact("Authorization: Bearer a8F3kQz91LmX0pRt=="), "Authorization: Bearer [redacted]");
    assert_eq!(none.redact("password = \"a8F3kQz91LmX0pRt\";"), "password = \"[redacted]\";");
    assert_eq!(none.redact("export API_KEY=a8F3kQz91LmX0pRt\n"), "export API_KEY=[redacted]\n");
    assert_eq!(none.redact(r#"{\"token\": \"a8F3kQz91LmX0pRt\"}"#), r#"{\"token\": \"[redacted]\"}"#);
}

#[test]
fn private_key_blocks_go_whole_and_also_when_cut() {
    let none = Redactor::default();
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(4);
    let block =
        format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{body}-----END RSA PRIVATE KEY-----");
    assert_eq!(none.redact(&format!("a\n{block}\nb")), "a\n[redacted]\nb");
    assert_eq!(none.redact(&format!("a\n-----BEGIN PRIVATE KEY-----\n{body}")), "a\n[redacted]");
    assert_eq!(none.redact(&format!("\"-----BEGIN PRIVATE KEY-----\\n{}\"", "QUJD".repeat(30))), "\"[redacted]\"");
    let source = "if line == \"-----BEGIN PRIVATE KEY-----\" { return; }";
    assert_eq!(none.redact(source), source, "speaking of a key is no key");
}

#[test]
fn code_and_prose_about_secrets_stay() {
    let none = Redactor::default();
    for text in [
        "let token = self.next_token_of_stream2();",
        "password=changeme",
        "pip install sk-learn-extension-template",
        "the task-force-of-the-century-2024 met",
        "Authorization: Bearer authentication-is-required",
        "secret: getAccessTokenForUser1",
        "token: process.env.OPENAI_API_KEY2",
        "tokens=16000 max_tokens: 1000000000000000000",
    ] {
        assert!(matches!(none.redact(text), Cow::Borrowed(_)), "{text} became {}", none.redact(text));
    }
}

#[test]
fn overlapping_finds_become_one() {
    let both = Redactor::new(["sk-live-0123456789abcdef0A1b"]);
    assert_eq!(both.redact("k=sk-live-0123456789abcdef0A1bC2d3"), "k=[redacted]");
    let twice = Redactor::new(["abcdef1", "ghijkl2"]);
    assert_eq!(twice.redact("abcdef1ghijkl2 abcdef1"), "[redacted] [redacted]");
}

#[test]
fn values_are_walked_to_the_leaves() {
    let mut value = json!({
        "list": [{"text": "key sk-live-0123456789"}, 1, null],
        "password": "a8F3kQz91LmX0pRt",
        "sk-live-0123456789": true,
        "count": 7,
    });
    redactor().redact_value(&mut value);
    let clean = json!({
        "list": [{"text": "key [redacted]"}, 1, null],
        "password": "[redacted]",
        "[redacted]": true,
        "count": 7,
    });
    assert_eq!(value, clean);
}

#[test]
fn debug_output_shows_no_secret() {
    assert!(!format!("{:?}", redactor()).contains("0123456789"));
}

proptest! {
    #[test]
    fn a_known_secret_is_never_left_and_twice_is_once(
        before in "\\PC{0,20}", after in "\\PC{0,20}", secret in "[A-Za-z0-9+/=\"\\\\ü]{6,40}"
    ) {
        let known = Redactor::new([&secret]);
        let clean = known.redact(&format!("{before}{secret}{after}")).into_owned();
        if !shapes::is_ordinary(secret.trim()) && secret.trim().len() >= SHORTEST {
            prop_assert!(!clean.contains(secret.trim()) || REDACTED.contains(secret.trim()));
        }
        prop_assert_eq!(known.redact(&clean), clean.as_str());
    }
}
