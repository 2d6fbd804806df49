//! YARN's list of applications, which tells how much memory their containers held and when.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::TraceError;
use crate::error::BadLines;

/// What of an application is taken from the list. Times are milliseconds since 1970, 0 where they
/// are not told.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) queue: String,
    pub(super) submit: u64,
    pub(super) launch: u64,
    pub(super) end: u64,
    /// Mebibytes x seconds of all its containers.
    pub(super) mib_seconds: u64,
}

/// Applications by their ids.
#[derive(Default)]
pub(super) struct List {
    apps: BTreeMap<String, Listed>,
}

impl List {
    /// Takes in a list; what is told of an application that has ended counts more.
    pub(super) fn take(
        &mut self,
        file: &Arc<str>,
        bytes: &[u8],
        bad: &mut BadLines,
    ) -> Result<(), TraceError> {
        crate::yarn::listed(file, bytes, |line, found| {
            let app = match found {
                Ok(app) => app,
                Err(why) => return bad.note(file, line, why),
            };
            if self.apps.get(&app.id).is_none_or(|known| known.end == 0) {
                let listed = Listed {
                    queue: app.queue,
                    submit: app.submit_ms,
                    launch: app.launch_ms,
                    end: app.end_ms,
                    mib_seconds: app.mib_seconds,
                };
                self.apps.insert(app.id, listed);
            }
            Ok(())
        })
    }

    pub(super) fn get(&self, id: &str) -> Option<&Listed> {
        self.apps.get(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.apps.is_empty()
    }
}
