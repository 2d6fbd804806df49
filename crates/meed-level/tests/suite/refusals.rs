//! What cannot be solved is refused with a sentence that says where and what would be right.

use meed_level::document::{Format, read};
use meed_level::{AllocationPolicy, allocate};

const GOOD: &str = r#"{"servers":[{"count":2,"capacity":{"cpu":2,"memory":12}}],
 "users":[{"name":"a","demand":{"cpu":0.2,"memory":1},"weight":1,"tasks":null,"used":0}]}"#;

fn check(from: &str, to: &str, message: &str) {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    let error = read(&text, Format::Json).expect_err(&text).to_string();
    assert!(error.contains(message), "{text}\n`{message}` is not in: {error}");
}

#[test]
fn the_good_one_is_good() {
    read(GOOD, Format::Json).unwrap();
    let toml = "[[servers]]\ncount = 2\ncapacity = { cpu = 2, memory = 12 }\n\
                [[users]]\nname = \"a\"\ndemand = { cpu = 0.2, memory = 1 }\n";
    assert_eq!(read(toml, Format::Toml).unwrap(), read(GOOD, Format::Json).unwrap());
}

#[test]
fn wrong_values() {
    for (from, to, message) in [
        ("\"cpu\":2,\"memory\":12", "\"cpu\":0,\"memory\":0", "servers[0]: has a capacity of zero"),
        ("\"cpu\":2,", "\"cpu\":-2,", "servers[0]: capacity of `cpu` is -2"),
        ("\"cpu\":2,", "\"cpu\":1e300,", "servers[0]: capacity of `cpu` is 1"),
        ("\"cpu\":2,", "\"cpu\":1e999,", "1: number out of range"),
        ("\"cpu\":2,", "\"cpu\":2,\"cpu\":2,", "1: resource `cpu` is there twice"),
        ("\"cpu\":2,", "\"\":2,", "1: a resource has an empty name"),
        ("\"count\":2", "\"count\":0", "servers[0]: count is 0; it must be a whole number from 1"),
        ("\"count\":2", "\"count\":1.5", "servers[0]: count is 1.5"),
        (
            "\"count\":2",
            "\"cuont\":2",
            "1: unknown field `cuont`, expected `count` or `capacity`; did you mean `count`?",
        ),
        ("\"cpu\":0.2,\"memory\":1", "\"cpu\":0,\"memory\":0", "user `a`: a task demands nothing"),
        ("\"cpu\":0.2,\"memory\":1", "", "user `a`: a task demands nothing"),
        (
            "\"cpu\":0.2",
            "\"cpu\":-1",
            "user `a`: demand of `cpu` is -1; it must be 0, or from 1e-12 to 1e18",
        ),
        (
            "\"cpu\":0.2",
            "\"cpu\":3",
            "user `a`: a task demands 3 of `cpu`; the largest server has 2",
        ),
        (
            "\"cpu\":0.2",
            "\"cpu\":1e12",
            "user `a`: a task demands 1000000000000 of `cpu`; the largest server has 2",
        ),
        (
            "\"cpu\":0.2",
            "\"cpus\":0.2",
            "user `a`: demands the unknown resource `cpus`; did you mean `cpu`?",
        ),
        (
            "\"cpu\":0.2",
            "\"fpga_cards\":0.2",
            "unknown resource `fpga_cards`; the servers have cpu, memory",
        ),
        ("\"cpu\":0.2", "\"cpu\":\"0.2\"", "2: invalid type: string \"0.2\", expected f64"),
        ("\"weight\":1", "\"weight\":0", "user `a`: weight is 0; it must be from 1e-12"),
        ("\"weight\":1", "\"weight\":-1", "user `a`: weight is -1"),
        ("\"tasks\":null", "\"tasks\":-1", "user `a`: tasks is -1; it must be 0, or from"),
        ("\"used\":0", "\"used\":-0.5", "user `a`: used is -0.5"),
        ("\"name\":\"a\"", "\"name\":\"\"", "a user has an empty name"),
        (
            "{\"name\":\"a\"",
            "{\"name\":\"a\",\"demand\":{\"cpu\":1}},{\"name\":\"a\"",
            "there are two users `a`",
        ),
        ("\"servers\":[", "\"slots_per_server\":0,\"servers\":[", "slots_per_server is 0"),
        ("\"servers\":[", "\"server\":[", "1: unknown field `server`"),
    ] {
        check(from, to, message);
    }
    // What TOML can say and JSON cannot.
    for (value, message) in
        [("nan", "weight is NaN"), ("inf", "weight is inf"), ("-inf", "weight is -inf")]
    {
        let text = format!(
            "servers = [{{ capacity = {{ cpu = 1 }} }}]\nusers = [{{ name = \"a\", demand = {{ cpu \
             = 1 }}, weight = {value} }}]"
        );
        let error = read(&text, Format::Toml).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn wrong_documents() {
    for (text, format, message) in [
        ("", Format::Json, "is empty"),
        (" \n", Format::Toml, "is empty"),
        ("{", Format::Json, "1: EOF"),
        ("[]", Format::Json, "1: "),
        ("{}", Format::Json, "missing field `servers`"),
        ("{\"servers\":[],\"users\":[]}", Format::Json, "there are 0 resources"),
        (
            "{\"servers\":[{\"capacity\":{\"cpu\":1}}],\"users\":[]}",
            Format::Json,
            "there are no users",
        ),
        ("servers = [\n", Format::Toml, "1: "),
        ("servers = 1\n\nusers = []", Format::Toml, "1: invalid type: integer"),
        ("users = []\nservers = []\nuser = 1\n", Format::Toml, "3: unknown field `user`"),
    ] {
        let error = read(text, format).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: `{message}` is not in: {error}");
    }
}

#[test]
fn a_task_may_fit_no_server_though_each_amount_fits_one() {
    let text = r#"{"servers":[{"capacity":{"cpu":2,"memory":1}},{"capacity":{"cpu":1,"memory":2}}],
        "users":[{"name":"a","demand":{"cpu":2,"memory":2}}]}"#;
    let error = read(text, Format::Json).unwrap_err().to_string();
    assert!(error.contains("user `a`: a task fits no server: each lacks"), "{error}");
}

#[test]
fn what_a_policy_cannot_share_by() {
    for (from, to, message) in [
        (
            "\"used\":0",
            "\"credits\":1e5",
            "user `a`: credits are 100000; they must be at most 10000",
        ),
        ("\"used\":0", "\"credits\":-1", "user `a`: credits is -1; it must be 0, or from 1e-12"),
        ("\"used\":0", "\"received\":-1", "user `a`: received is -1"),
        ("\"servers\"", "\"worth\":0,\"servers\"", "worth is 0; it must be from 1e-12 to 1e18"),
    ] {
        check(from, to, message);
    }
    let refused = |to: &str, message: &str| {
        let text = GOOD.replacen("\"used\":0", to, 1);
        let text = text.replacen("\"servers\"", "\"worth\":1000,\"servers\"", 1);
        let problem = read(&text, Format::Json).unwrap();
        let why = allocate(&problem, AllocationPolicy::AsYouPay).expect_err(to).to_string();
        assert!(why.contains(message), "`{message}` is not in: {why}");
        allocate(&problem, AllocationPolicy::Drfh).expect("paid counts for one policy only");
    };
    refused("\"used\":0", "user `a`: has paid nothing; under as-you-pay `paid` must be above 0");
    refused("\"paid\":1e-12,\"received\":1", "user `a`: paid is 0.000000000001, too far");
}
