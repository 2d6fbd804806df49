/* Who leads, and in which term: crates/meed-kubernetes/src/lease.rs, and the claim of the ledger
   (ledger.rs). A stranger deletes the Lease under its holder, once.

   action here   stands for
   take          lease::take: read (the Lease is made where there is none), Watched::step, then
                 ledger::last_epoch, raise and the PUT of lease::write
   claim         LedgerStore::open with ledger::claims
   renew         Held::renew: a Lease that is gone, or another's, ends the process
   stranger      kubectl delete lease meed

   A lease is stale when its holder has not renewed it for 15 s; a holder gives up after 10 s (an
   assumption on clocks that lease.rs states). So here a held lease is taken only when its holder
   has ended, or stands still (stopped): it goes on later, and does not know.

   A version is given to a Lease once, over all Leases of that name (resourceVersion and uid).
   Run: cargo xtask models. With WITHOUT_HOLDER only a higher epoch ends a leader: the search must
   find that two of one epoch lead. */

#ifdef WITHOUT_HOLDER
#define ANOTHERS(mine, me) (g_epoch > mine)
#else
#define ANOTHERS(mine, me) (g_epoch > mine || (g_epoch == mine && g_holder != me))
#endif

#define NONE 0

bool there;
byte holder = NONE, epoch, version, versions;
byte g_epoch, g_holder = NONE;         /* the ledger */
bool leads[4], stopped[4], used[12];
byte deletions = 1;
bool twice;

active proctype stranger() {
  do
  :: atomic { deletions > 0 && there -> deletions--; there = false }
  :: break
  od
}

inline write_lease(me, term) { versions++; version = versions; holder = me; epoch = term }

proctype process(byte me) {
  byte seen, floor, mine, was;
  bool renewed;

  /* take */
  do
  :: atomic { !there -> there = true; holder = NONE; epoch = 0; versions++; version = versions }
  :: atomic { there && (holder == NONE || !leads[holder] || stopped[holder]) ->
       seen = version; was = epoch; break }
  :: goto over
  od;
  floor = g_epoch;
  mine = (was > floor -> was : floor) + 1;
  atomic {
    if
    :: there && version == seen -> write_lease(me, mine); leads[me] = true
    :: else -> goto over
    fi
  };

  /* claim: GET and PUT of the head are one, for a 409 has the head read again */
  if
  :: atomic { ANOTHERS(mine, me) -> leads[me] = false; goto over }
  :: atomic { !ANOTHERS(mine, me) ->
       twice = twice || used[mine]; used[mine] = true; g_epoch = mine; g_holder = me }
  fi;

  /* keep */
  do
  :: atomic { !renewed && there && holder == me && epoch == mine ->
       renewed = true; versions++; version = versions }
  :: atomic { !(there && holder == me && epoch == mine) -> leads[me] = false; goto over }
  :: atomic { !stopped[me] -> stopped[me] = true }
  :: atomic { stopped[me] -> stopped[me] = false; goto over }
  :: break
  od;
over:
  leads[me] = false
}

init { atomic { run process(1); run process(2); run process(3) } }

/* No two terms that wrote the ledger have one epoch. */
ltl once { [] !twice }
