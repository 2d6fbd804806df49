//! Against an API server that goes wrong as it is told.

use http::Method;
use serde_json::{Value, json};

use super::*;
use crate::fake::{Fake, Objects, Then};

const MAPS: &str = "/api/v1/namespaces/n/configmaps";
const PATH: &str = "/api/v1/namespaces/n/configmaps/meed-ledger";

fn leader(epoch: i32, holder: &str) -> Writes {
    Writes { epoch, holder: holder.to_owned() }
}

async fn open(
    fake: &Fake,
    writes: Writes,
) -> Result<(LedgerStore, Option<Checkpoint>), KubernetesError> {
    LedgerStore::open(&fake.connector().client().unwrap(), "n", writes).await
}

async fn opened(fake: &Fake, epoch: i32) -> (LedgerStore, Option<Vec<u8>>) {
    let (store, checkpoint) = open(fake, leader(epoch, "me")).await.unwrap();
    (store, checkpoint.map(|checkpoint| checkpoint.state))
}

async fn save(store: &mut LedgerStore, state: &str) -> Result<(), KubernetesError> {
    store.save(&About::default(), state.as_bytes().to_vec()).await
}

/// The head is as a leader has left it: one set, whole, and nothing else.
fn is_tidy(objects: &Objects) {
    let head: Value =
        serde_json::from_str(objects.get(PATH).unwrap()["data"][KEY].as_str().unwrap()).unwrap();
    let mut names = objects.names(MAPS);
    names.sort();
    assert_eq!(names, [HEAD.to_owned(), format!("{}-0", head["set"]["name"].as_str().unwrap())]);
}

fn is_deposed(done: Result<impl Sized, KubernetesError>) -> String {
    match done {
        Err(KubernetesError::Deposed(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it goes on"),
    }
}

#[test]
fn a_shard_tells_whose_it_is() {
    assert_eq!(epoch_of(&shard_name("meed-ledger-e12-3", 4)), Some(12));
    assert_eq!(epoch_of("meed-ledger"), None);
    assert_eq!(epoch_of("other-e1-2-3"), None);
}

#[test]
fn only_a_higher_epoch_or_another_leader_of_the_same_one_ends_a_leader() {
    let may = |epoch, theirs| claims((epoch, "me"), theirs).is_ok();
    assert!(may(1, (0, None)) && may(3, (2, Some("other"))) && may(3, (2, None)));
    assert!(may(3, (3, Some("me"))));
    assert!(!may(3, (4, Some("me"))) && !may(3, (4, None)));
    assert!(!may(3, (3, Some("other"))) && !may(3, (3, None)));
}

#[tokio::test]
async fn what_is_saved_is_what_the_next_leader_reads() {
    let fake = Fake::start().await;
    let (mut store, none) = opened(&fake, 1).await;
    assert_eq!(none, None);
    for state in ["first", "second"] {
        save(&mut store, state).await.unwrap();
        fake.objects(|objects| is_tidy(objects));
    }
    assert_eq!(opened(&fake, 2).await.1, Some(b"second".to_vec()));
    assert_eq!(last_epoch(&fake.connector().client().unwrap(), "n").await.unwrap(), 2);
    is_deposed(save(&mut store, "late").await);
    is_deposed(open(&fake, leader(1, "me")).await);
    assert_eq!(opened(&fake, 3).await.1, Some(b"second".to_vec()));
}

/// A label between any two writes: of a backup, of an administrator.
#[tokio::test]
async fn a_label_on_the_head_does_not_end_the_leader() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    for state in ["first", "second", "third"] {
        fake.objects(|objects| objects.label(PATH));
        save(&mut store, state).await.unwrap();
        fake.objects(|objects| is_tidy(objects));
    }
    let label = fake.objects(|objects| objects.get(PATH).unwrap()["metadata"]["labels"].clone());
    assert_eq!(label, json!({ "backup": "yes" }), "it stays");
    assert_eq!(opened(&fake, 2).await.1, Some(b"third".to_vec()));
}

/// The leader before writes a checkpoint while the next one claims the ledger.
#[tokio::test]
async fn a_checkpoint_that_comes_before_the_claim_is_read() {
    let fake = Fake::start().await;
    let (mut before, _) = opened(&fake, 1).await;
    save(&mut before, "first").await.unwrap();
    let newer = Fake::start().await;
    let (mut elsewhere, _) = opened(&newer, 1).await;
    for state in ["first", "second"] {
        save(&mut elsewhere, state).await.unwrap();
    }
    let late: Vec<(String, Value)> = newer.objects(|objects| {
        let names = objects.names(MAPS).into_iter().map(|name| format!("{MAPS}/{name}"));
        names.map(|path| (path.clone(), objects.get(&path).unwrap().clone())).collect()
    });
    let mut is_done = false;
    fake.on(move |method, path, objects| {
        if *method == Method::PUT && path == PATH && !std::mem::replace(&mut is_done, true) {
            late.iter().for_each(|(path, object)| _ = objects.put(path, object.clone()));
        }
        Then::Goes
    });
    assert_eq!(opened(&fake, 2).await.1, Some(b"second".to_vec()));
    fake.objects(|objects| is_tidy(objects));
}

/// The write is carried out, the answer is 504, and the client sends it again: 409.
#[tokio::test]
async fn a_write_that_is_sent_twice_does_not_end_the_leader() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    let mut is_done = false;
    fake.on(move |method, path, _| {
        let is_head = *method == Method::PUT && path == PATH;
        match is_head && !std::mem::replace(&mut is_done, true) {
            true => Then::DoneBut(504),
            false => Then::Goes,
        }
    });
    save(&mut store, "first").await.unwrap();
    fake.objects(|objects| is_tidy(objects));
    assert_eq!(opened(&fake, 2).await.1, Some(b"first".to_vec()));
}

/// A write of the head has no answer, and is carried out after the leader has read the head again:
/// between the read and the write of the next checkpoint.
#[tokio::test]
async fn a_late_write_of_its_own_does_not_end_the_leader() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    save(&mut store, "first").await.unwrap();
    // What is sent, and not carried out yet.
    fake.on(|method, path, _| match *method == Method::PUT && path == PATH {
        true => Then::DoneBut(500),
        false => Then::Goes,
    });
    let before = fake.objects(|objects| objects.get(PATH).unwrap().clone());
    save(&mut store, "second").await.unwrap_err();
    let late = fake.objects(|objects| {
        let late = objects.get(PATH).unwrap().clone();
        objects.put(PATH, before);
        late
    });
    let mut late = Some(late);
    fake.on(move |method, path, objects| {
        if *method == Method::PUT
            && path == PATH
            && let Some(late) = late.take()
        {
            objects.put(PATH, late);
        }
        Then::Goes
    });
    save(&mut store, "third").await.unwrap();
    fake.objects(|objects| is_tidy(objects));
    assert_eq!(opened(&fake, 2).await.1, Some(b"third".to_vec()));
}

/// Two leaders have one epoch: the Lease was deleted before the first had a ledger. One of them
/// goes on.
#[tokio::test]
async fn of_two_leaders_of_one_epoch_one_ends() {
    let fake = Fake::start().await;
    let (mut first, _) = open(&fake, leader(1, "first")).await.unwrap();
    let why = is_deposed(open(&fake, leader(1, "second")).await);
    assert!(why.contains("another leader of epoch 1"), "{why}");
    save(&mut first, "state").await.unwrap();

    // They are at it at the same time: the second writes between the read and the write.
    let fake = Fake::start().await;
    let head = json!({ "version": 1, "epoch": 1, "about": About::default(), "set": null });
    let theirs = json!({ "data": { "head": head.to_string(), "holder": "second" } });
    let mut theirs = Some(theirs);
    fake.on(move |method, _, objects| {
        if *method != Method::GET
            && let Some(theirs) = theirs.take()
        {
            objects.put(PATH, theirs);
        }
        Then::Goes
    });
    is_deposed(open(&fake, leader(1, "first")).await);
}

/// Whoever deletes the head under a leader gets it again with the next checkpoint.
#[tokio::test]
async fn a_head_that_was_deleted_is_made_again() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    save(&mut store, "first").await.unwrap();
    fake.objects(|objects| objects.remove(PATH));
    save(&mut store, "second").await.unwrap();
    fake.objects(|objects| is_tidy(objects));
    assert_eq!(opened(&fake, 2).await.1, Some(b"second".to_vec()));
}

/// A ledger of version 0.2 has no holder.
#[tokio::test]
async fn a_ledger_of_an_earlier_version_is_read() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    save(&mut store, "state").await.unwrap();
    fake.objects(|objects| {
        let mut head = objects.get(PATH).unwrap().clone();
        head["data"].as_object_mut().unwrap().remove(HOLDER);
        objects.put(PATH, head)
    });
    assert_eq!(opened(&fake, 2).await.1, Some(b"state".to_vec()));
}

/// Somebody writes the head all the time: the checkpoint fails, and the leader goes on.
#[tokio::test]
async fn a_head_that_others_write_all_the_time_fails_a_checkpoint_and_no_more() {
    let fake = Fake::start().await;
    let (mut store, _) = opened(&fake, 1).await;
    fake.on(|method, path, objects| {
        if *method == Method::PUT && path == PATH {
            objects.label(PATH);
        }
        Then::Goes
    });
    let why = save(&mut store, "first").await.unwrap_err();
    assert!(matches!(why, KubernetesError::Ledger { .. }), "{why}");
    fake.on(|_, _, _| Then::Goes);
    save(&mut store, "second").await.unwrap();
    fake.objects(|objects| is_tidy(objects));
}
