//! The ledger in the cluster: the last checkpoint, in ConfigMaps, fenced by version and epoch.
//!
//! One ConfigMap is the head; it names a set of shards and the epoch of who wrote it. A checkpoint
//! writes a new set, then the head by PUT with the version that was read, then takes the old set
//! away: so the head always names a set that is whole. A new leader writes the head with its epoch
//! before it reads the shards; from then on every head of the one before is a 409, and that one
//! ends. Names of shards hold the epoch, so two leaders never write to one.
//!
//! A 409 alone says only that the head is another one: somebody wrote a label, or a write of this
//! leader was carried out though its answer was lost, and the client sent it again. So after a 409
//! the head is read, and who wrote it decides ([`claims`]):
//!
//! | the head is | then |
//! |---|---|
//! | of a higher epoch, or of this epoch and another holder | this leader ends |
//! | of this leader, of a lower epoch, or not there | it is written again, on the new version |
//!
//! A write of the head that had no answer may still be carried out, and then names shards that look
//! like nobody's. So after a checkpoint has failed the head is read, and written again with a mark:
//! from then on every older write is a 409, and what the head does not name is taken away. Until
//! that has succeeded no shard is written: failures leave one set behind at most.
//!
//! Cost: as the checkpoint's size ([`crate::shards`]), and two writes more than it has shards.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::{Api, Client};
use serde::{Deserialize, Serialize};

use crate::error::{KubernetesError, is_code};
use crate::shards::{self, Manifest};

/// The head's name.
const HEAD: &str = "meed-ledger";
/// The key of its data.
const KEY: &str = "head";
/// The key of the name of who wrote it: an epoch alone does not tell two leaders apart when the
/// Lease was deleted between them. A program before 0.3 writes none.
const HOLDER: &str = "holder";
/// So often the head is written again after others have written it, in one checkpoint.
const CONTESTS: usize = 5;
/// The key of a shard's data.
const STATE: &str = "state";
/// The annotation of the head that makes it another: the number of a checkpoint.
const SETTLED: &str = "meed.dev/settled";
/// The label of shards.
const LABEL: &str = "meed.dev/ledger";
/// The form that is written, and the only one that is read.
const VERSION: u32 = 1;

/// A checkpoint that takes longer has failed.
pub(crate) const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(20);

/// What stands in the head.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Head {
    version: u32,
    /// The term of who wrote it.
    epoch: i32,
    /// What the ledger began with.
    about: About,
    /// The set, where there is one.
    set: Option<ShardSet>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct ShardSet {
    name: String,
    #[serde(flatten)]
    manifest: Manifest,
}

impl ShardSet {
    /// Its shards.
    fn numbers(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..self.manifest.shards).map(|number| (self.name.as_str(), number))
    }
}

/// What a ledger began with, and what cannot change while it lasts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct About {
    /// Time zero, in microseconds since 1970.
    pub(crate) origin: i64,
    /// The policy of the whole cluster.
    pub(crate) policy: String,
    /// What is counted.
    pub(crate) resources: Vec<String>,
}

/// A checkpoint that was read.
pub(crate) struct Checkpoint {
    /// What the ledger began with.
    pub(crate) about: About,
    /// The driver's state.
    pub(crate) state: Vec<u8>,
}

/// A leader of one term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Writes {
    pub(crate) epoch: i32,
    /// A name that no other process has.
    pub(crate) holder: String,
}

/// See the module.
pub(crate) struct LedgerStore {
    api: Api<ConfigMap>,
    holder: String,
    head: ConfigMap,
    written: Head,
    count: u64,
    /// A checkpoint has failed: some of its shards may be there.
    is_littered: bool,
}

impl LedgerStore {
    /// Claims the ledger for a leader, and reads it.
    pub(crate) async fn open(
        client: &Client,
        namespace: &str,
        Writes { epoch, holder }: Writes,
    ) -> Result<(LedgerStore, Option<Checkpoint>), KubernetesError> {
        let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let written = Head { version: VERSION, epoch, ..Head::default() };
        let (head, count) = (ConfigMap::default(), 0);
        let mut store = LedgerStore { api, holder, head, written, count, is_littered: false };
        store.adopt().await?;
        store.write_head(Contested::Adopts).await?;
        let checkpoint = store.read().await?;
        store.sweep().await?;
        Ok((store, checkpoint))
    }

    /// Reads the head, which may be nobody's; another leader's ends this one.
    async fn look(&mut self) -> Result<Head, KubernetesError> {
        self.head = match self.api.get_opt(HEAD).await {
            Ok(Some(head)) => head,
            Ok(None) => {
                let metadata = ObjectMeta { name: Some(HEAD.to_owned()), ..ObjectMeta::default() };
                ConfigMap { metadata, ..ConfigMap::default() }
            }
            Err(error) => return Err(refused("read the ledger", error)),
        };
        let found = read_head(&self.head)?.unwrap_or_default();
        let theirs = self.head.data.as_ref().and_then(|data| data.get(HOLDER));
        let ours = (self.written.epoch, self.holder.as_str());
        claims(ours, (found.epoch, theirs.map(String::as_str)))?;
        Ok(found)
    }

    /// What the head names is for good from now on.
    async fn adopt(&mut self) -> Result<(), KubernetesError> {
        let found = self.look().await?;
        self.written = Head { version: VERSION, epoch: self.written.epoch, ..found };
        Ok(())
    }

    async fn read(&self) -> Result<Option<Checkpoint>, KubernetesError> {
        let Some(set) = &self.written.set else { return Ok(None) };
        let mut all = Vec::new();
        for number in 0..set.manifest.shards {
            let name = shard_name(&set.name, number);
            let shard = self.api.get(&name).await;
            let shard = shard.map_err(|error| refused("read a shard of the ledger", error))?;
            let bytes = shard.binary_data.and_then(|mut data| data.remove(STATE));
            let what = format!("has no `{STATE}`");
            all.push(bytes.ok_or(KubernetesError::Ledger { name, what })?.0);
        }
        let state = shards::join(&set.manifest, &all)
            .map_err(|what| KubernetesError::Ledger { name: HEAD.to_owned(), what })?;
        Ok(Some(Checkpoint { about: self.written.about.clone(), state }))
    }

    /// Writes a checkpoint. After an error nothing is known, but that the last one is whole.
    pub(crate) async fn save(
        &mut self,
        about: &About,
        state: Vec<u8>,
    ) -> Result<(), KubernetesError> {
        // Tens of megabytes are not packed where others wait for their turn.
        let cut = tokio::task::spawn_blocking(move || shards::cut(&state)).await;
        let failed = |why: &dyn std::fmt::Display| KubernetesError::Engine(why.to_string());
        let (manifest, pieces) = cut.map_err(|why| failed(&why))?.map_err(|why| failed(&why))?;
        self.count += 1;
        if self.is_littered {
            self.settle().await?;
        }
        // Until all is done: an error, or nobody who waits any more, ends it anywhere.
        self.is_littered = true;
        let name = format!("{HEAD}-e{}-{}", self.written.epoch, self.count);
        for (number, piece) in pieces.into_iter().enumerate() {
            let shard = ConfigMap {
                metadata: ObjectMeta {
                    name: Some(shard_name(&name, number)),
                    labels: Some([(LABEL.to_owned(), "shard".to_owned())].into()),
                    ..ObjectMeta::default()
                },
                binary_data: Some([(STATE.to_owned(), ByteString(piece))].into()),
                ..ConfigMap::default()
            };
            let made = self.api.create(&PostParams::default(), &shard).await;
            made.map_err(|error| refused("write a shard of the ledger", error))?;
        }
        let before = self.written.set.replace(ShardSet { name, manifest });
        self.written.about = about.clone();
        if self.write_head(Contested::Writes).await? {
            // It may have named another set meanwhile: one of ours, whose write was late.
            self.sweep().await?;
        } else {
            for (set, number) in before.iter().flat_map(ShardSet::numbers) {
                self.remove(&shard_name(set, number)).await?;
            }
        }
        self.is_littered = false;
        Ok(())
    }

    /// A checkpoint has failed: what the head names now is for good, and all else goes.
    async fn settle(&mut self) -> Result<(), KubernetesError> {
        self.adopt().await?;
        self.write_head(Contested::Adopts).await?;
        self.sweep().await
    }

    /// Writes the head; whether others had written it meanwhile.
    async fn write_head(&mut self, contested: Contested) -> Result<bool, KubernetesError> {
        for attempt in 0..CONTESTS {
            let head = self.next_head();
            let parameters = PostParams::default();
            let written = match head.metadata.resource_version {
                Some(_) => self.api.replace(HEAD, &parameters, &head).await,
                None => self.api.create(&parameters, &head).await,
            };
            match written {
                Ok(head) => {
                    self.head = head;
                    return Ok(attempt > 0);
                }
                Err(error) if is_code(&error, 409) || is_code(&error, 404) => {}
                Err(error) => return Err(refused("write the ledger", error)),
            }
            match contested {
                Contested::Adopts => self.adopt().await?,
                Contested::Writes => _ = self.look().await?,
            }
        }
        let what = format!("was written by others {CONTESTS} times while this leader wrote it");
        Err(KubernetesError::Ledger { name: HEAD.to_owned(), what })
    }

    /// The head as it is to be, on the version that was read. A number in a mark makes it another
    /// where nothing else does, so that what was sent before and is late is refused.
    fn next_head(&self) -> ConfigMap {
        let mut head = self.head.clone();
        let notes = head.metadata.annotations.get_or_insert_default();
        notes.insert(SETTLED.to_owned(), format!("{}-{}", self.written.epoch, self.count));
        let text = serde_json::to_string(&self.written).unwrap_or_default();
        let data = [(KEY, text), (HOLDER, self.holder.clone())];
        head.data = Some(data.map(|(key, value)| (key.to_owned(), value)).into());
        head
    }

    /// Takes shards away that the head does not name: a leader ended while it wrote them, or a
    /// checkpoint failed.
    async fn sweep(&self) -> Result<(), KubernetesError> {
        let ours = ListParams::default().labels(LABEL);
        let found = self.api.list_metadata(&ours).await;
        let found = found.map_err(|error| refused("list the ledger's shards", error))?;
        let set = self.written.set.as_ref();
        let named = set.into_iter().flat_map(ShardSet::numbers);
        let named: Vec<String> = named.map(|(set, number)| shard_name(set, number)).collect();
        for shard in found.items {
            let name = shard.metadata.name.unwrap_or_default();
            // Those of a leader that came after are not ours to take away.
            let is_later = epoch_of(&name).is_some_and(|epoch| epoch > self.written.epoch);
            if !named.contains(&name) && !is_later {
                self.remove(&name).await?;
            }
        }
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), KubernetesError> {
        match self.api.delete(name, &DeleteParams::default()).await {
            Ok(_) => Ok(()),
            Err(error) if is_code(&error, 404) => Ok(()),
            Err(error) => Err(refused("remove a shard of the ledger", error)),
        }
    }
}

/// What is done with a head that somebody else has written meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Contested {
    /// What it names is taken over.
    Adopts,
    /// It is written over: a checkpoint is newer than whatever it names.
    Writes,
}

/// Whether a leader may write the head of `theirs`: nobody does who has a higher epoch, or is
/// another of the same one. Of an epoch of 0 nobody has led.
fn claims(
    (epoch, me): (i32, &str),
    (theirs, holder): (i32, Option<&str>),
) -> Result<(), KubernetesError> {
    let why = match theirs.cmp(&epoch) {
        Ordering::Less => return Ok(()),
        Ordering::Equal if holder == Some(me) => return Ok(()),
        Ordering::Equal => format!("ConfigMap {HEAD} is of another leader of epoch {epoch}"),
        Ordering::Greater => {
            format!("ConfigMap {HEAD} is of epoch {theirs}, this leader's is {epoch}")
        }
    };
    Err(KubernetesError::Deposed(why))
}

/// The epoch of the ledger; 0: there is none.
pub(crate) async fn last_epoch(client: &Client, namespace: &str) -> Result<i32, KubernetesError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let head = api.get_opt(HEAD).await.map_err(|error| refused("read the ledger", error))?;
    let head = head.as_ref().map(read_head).transpose()?.flatten();
    Ok(head.map_or(0, |head| head.epoch))
}

/// The name of the last checkpoint, where it can be read.
pub(crate) async fn last_checkpoint(client: &Client, namespace: &str) -> Option<String> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let head = read_head(&api.get(HEAD).await.ok()?).ok()??;
    head.set.map(|set| set.name)
}

fn refused(what: &str, error: kube::Error) -> KubernetesError {
    KubernetesError::api(what, error)
}

/// The epoch in the name of a shard.
fn epoch_of(name: &str) -> Option<i32> {
    name.strip_prefix(HEAD)?.strip_prefix("-e")?.split('-').next()?.parse().ok()
}

fn shard_name(set: &str, number: usize) -> String {
    format!("{set}-{number}")
}

fn read_head(head: &ConfigMap) -> Result<Option<Head>, KubernetesError> {
    let empty = BTreeMap::new();
    let Some(text) = head.data.as_ref().unwrap_or(&empty).get(KEY) else { return Ok(None) };
    let wrong = |what: String| KubernetesError::Ledger { name: HEAD.to_owned(), what };
    let read: Head = serde_json::from_str(text).map_err(|why| wrong(why.to_string()))?;
    match read.version {
        VERSION => Ok(Some(read)),
        other => Err(wrong(format!("version {other}; this program reads {VERSION}"))),
    }
}

#[cfg(test)]
mod tests;
