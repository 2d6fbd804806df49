/* The head of the ledger and its sets of shards: crates/meed-kubernetes/src/ledger.rs.

   Leaders of epochs 1 and 2 write checkpoints by compare and swap. A write may have no answer and
   be carried out late; it may be carried out, answered 504, and be sent again by the client; a
   stranger writes labels. Each leader may end anywhere.

   action here      stands for
   look, adopt      LedgerStore::look, ::adopt
   write_head       LedgerStore::write_head (put_answered, put_resent, put_unanswered: one PUT)
   sweep, drop_set  LedgerStore::sweep, ::remove
   leader           LedgerStore::open, then ::save again and again (::settle after a failure)
   stranger         kubectl label configmap meed-ledger
   network          a PUT that nobody waits for any more

   Sets are numbered epoch * 10 + checkpoint. A head of set 0 names none.
   Run: cargo xtask models. With WITHOUT_EPOCH a leader does not ask whose the head is: the search
   must find that both write. */

#define CHECKPOINTS 2
#define CONTESTS 5
#define OF(set) ((set) / 10)

byte rv = 1, h_epoch = 0, h_set = 0;
bool shard[30];
bool late[3];
byte late_rv[3], late_set[3];
byte labels = 1, resends = 1;
bool claimed[3], torn;

active proctype stranger() {
  do
  :: atomic { labels > 0 -> labels--; rv++ }
  :: break
  od
}

inline deliver(me) {
  late[me] = false;
  if
  :: rv == late_rv[me] -> rv++; h_epoch = me; h_set = late_set[me]
  :: else -> skip
  fi
}

active proctype network() {
end:
  do
  :: atomic { late[1] -> deliver(1) }
  :: atomic { late[2] -> deliver(2) }
  od
}

inline look() {
  atomic {
    my_rv = rv; found = h_set;
#ifndef WITHOUT_EPOCH
    if
    :: h_epoch > me -> goto ended
    :: else -> skip
    fi
#endif
  }
}

/* ok: the head is written, and the answer says so. */
inline write_head(adopts) {
  ok = false; tries = 0;
  do
  :: atomic { my_rv == rv -> rv++; h_epoch = me; h_set = set; my_rv = rv; ok = true; break }
  :: atomic { my_rv == rv && resends > 0 -> resends--; rv++; h_epoch = me; h_set = set }
  :: atomic { my_rv == rv && !late[me] ->
       late[me] = true; late_rv[me] = my_rv; late_set[me] = set; break }
  :: my_rv != rv && tries < CONTESTS ->
       tries++;
       look();
       if
       :: adopts -> set = found
       :: else -> skip
       fi
  :: my_rv != rv && tries == CONTESTS -> break
  od
}

/* What the head does not name goes, but for what a later leader wrote. */
inline sweep() {
  d_step {
    for (s : 11 .. 29) {
      if
      :: shard[s] && s != set && OF(s) <= me -> shard[s] = false
      :: else -> skip
      fi
    }
    s = 0
  }
}

proctype leader(byte me) {
  byte my_rv, found, set, before, n, s, tries;
  bool ok, littered;

  /* LedgerStore::open */
  look(); set = found;
  write_head(true);
  if
  :: ok -> atomic { claimed[me] = true; torn = torn || (set != 0 && !shard[set]) }
  :: else -> goto ended
  fi;
  sweep();

  /* LedgerStore::save */
  do
  :: n < CHECKPOINTS ->
     n++;
     if
     :: littered ->
        /* settle: a mark makes the head another, whatever it names. */
        look(); set = found;
        write_head(true);
        if
        :: !ok -> goto again
        :: else -> sweep(); littered = false
        fi
     :: else -> skip
     fi;
     littered = true;
     before = set; set = me * 10 + n;
     shard[set] = true;
     write_head(false);
     if
     :: ok && tries > 0 -> sweep(); littered = false
     :: ok && tries == 0 ->
        if
        :: before != 0 -> shard[before] = false
        :: else -> skip
        fi;
        littered = false
     :: else -> skip
     fi;
again: skip
  :: break
  od;
ended:
  /* Whoever ends for the head's sake ends before a higher epoch. */
  skip
}

init { atomic { run leader(1); run leader(2) } }

/* The head names a whole set, and no leader has read a torn one. */
ltl whole { [] (!torn && (h_set == 0 || shard[h_set])) }
/* Once the second leader has claimed it, the first one's writes are over. */
ltl fenced { [] (claimed[2] -> [] (h_epoch == 2)) }
