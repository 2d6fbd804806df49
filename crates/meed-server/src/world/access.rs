//! Tokens and links for browsers: who may make them, list them, and take them back.
//!
//! A token is somebody's, and never allows more than they may ([`crate::settings::Members::role`]
//! takes the lesser). So everybody may make their own; others' are an admin's business. None of
//! this is offered over HTTP: who has a token cannot make another that outlives it.

use serde_json::json;

use super::World;
use super::planned::Planned;
use crate::access::{CODE_SECONDS, Secret, TokenRow};
use crate::clock::wall_us;
use crate::protocol::{Answer, NotDone, RefusalKind, TokenMade, TokenWish};
use crate::settings::Role;
use crate::user::LocalUser;

/// Most tokens of one user, and most bytes of a token's name.
const MOST_OF_ONE: usize = 100;
const MAX_NAME: usize = 100;

impl World {
    /// A new token; it is good once it is durable.
    pub(super) fn make_token(
        &mut self,
        user: &LocalUser,
        wish: TokenWish,
    ) -> Result<Planned, NotDone> {
        let wrong = |why: String| NotDone::new(RefusalKind::Wrong, why);
        let name = wish.name.trim();
        if name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control) {
            return Err(wrong(format!("a token's name has 1 to {MAX_NAME} bytes on one line")));
        }
        if wish.expires_s == Some(0) {
            return Err(wrong("a token must be good for some time".to_owned()));
        }
        let of = self.owner(user, wish.user.as_deref())?;
        let own = self.doors.tokens().into_iter().filter(|row| row.uid == of.uid).count();
        if own >= MOST_OF_ONE {
            let why = format!("{} has {own} tokens; revoke some first", of.name);
            return Err(NotDone::new(RefusalKind::Limit, why));
        }
        let role = self.settings.members.role(&of);
        if wish.role > role {
            let (wished, role) = (wish.role.word(), role.word());
            let why = format!("{} is {role} here; a token for {wished} would be more", of.name);
            return Err(NotDone::new(RefusalKind::Forbidden, why));
        }
        let secret = Secret::fresh()
            .map_err(|why| NotDone::new(RefusalKind::Failed, format!("no randomness: {why}")))?;
        let created_us = wall_us();
        let end = |seconds: u64| created_us.saturating_add(seconds.saturating_mul(1_000_000));
        let row = TokenRow {
            id: secret.id,
            name: name.to_owned(),
            uid: of.uid,
            gid: of.gid,
            user: of.name,
            role: wish.role,
            reads_only: wish.reads_only,
            created_us,
            expires_us: wish.expires_s.map(end),
            hash: secret.hash,
        };
        self.writes.token(&row);
        Ok(Planned::Token(Box::new(row), secret.text))
    }

    fn owner(&self, user: &LocalUser, named: Option<&str>) -> Result<LocalUser, NotDone> {
        let forbidden = |why: &str| Err(NotDone::new(RefusalKind::Forbidden, why));
        let of = match named.filter(|name| *name != user.name) {
            None => user.clone(),
            Some(_) if self.settings.members.role(user) < Role::Admin => {
                return forbidden("only an admin may make tokens for others");
            }
            Some(name) => LocalUser::named(name).ok_or_else(|| {
                NotDone::new(RefusalKind::Unknown, format!("the system knows no user `{name}`"))
            })?,
        };
        if !rustix::process::geteuid().is_root() && !of.is_server() {
            return forbidden("this server serves its own user only");
        }
        Ok(of)
    }

    /// The token is durable.
    pub(super) fn admit(&self, row: TokenRow, secret: String) -> Answer {
        let token = row.view();
        self.doors.admit(row);
        Answer::of(Ok(TokenMade { secret, token }))
    }

    /// Tokens of the user, of an admin all.
    pub(super) fn list_tokens(&self, user: &LocalUser) -> Answer {
        let mut rows = self.doors.tokens();
        rows.retain(|row| self.is_own(user, row));
        rows.sort_by(|a, b| (a.created_us, &a.id).cmp(&(b.created_us, &b.id)));
        let views: Vec<_> = rows.iter().map(TokenRow::view).collect();
        Answer::of(Ok(json!({ "tokens": views })))
    }

    fn is_own(&self, user: &LocalUser, row: &TokenRow) -> bool {
        row.uid == user.uid || self.settings.members.role(user) == Role::Admin
    }

    /// It is good for nothing from this turn on.
    pub(super) fn revoke_token(&mut self, user: &LocalUser, id: &str) -> Result<Planned, NotDone> {
        let row = self.doors.token(id).filter(|row| self.is_own(user, row)).ok_or_else(|| {
            NotDone::new(RefusalKind::Unknown, format!("you have no token `{id}`"))
        })?;
        self.writes.token_gone(&row.id);
        self.doors.revoke(&row.id);
        Ok(Planned::Answer(Answer::of(Ok(json!({ "revoked": row.id })))))
    }

    /// A link for a browser of the user.
    pub(super) fn link(&self, user: &LocalUser) -> Result<Answer, NotDone> {
        let failed = |why: String| NotDone::new(RefusalKind::Failed, why);
        let address = self.doors.address().ok_or_else(|| {
            failed("the server's HTTP interface is off; start it with --http".to_owned())
        })?;
        let code = self.doors.code(user).map_err(|why| failed(why.to_string()))?;
        let url = format!("{address}/#code={code}");
        Ok(Answer::of(Ok(json!({ "url": url, "address": address, "seconds": CODE_SECONDS }))))
    }
}
