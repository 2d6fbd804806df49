/* Three ResourceManagers of YARN, one after the other, the ones before stalled at any step and
   awake again: who writes which folder, and what the next takes over.
   crates/meed-yarn/src/epochs.rs, core/open.rs, core/mod.rs.

   action here   stands for
   list          epochs::prepare: `known`; a higher epoch refuses this one
   copy          epochs::copy_all, a file at a time, from what was listed first
   name          epochs::prepare: the folder has its name once it is whole
   begin, open   open::open_live: epochs::remember_begin where the journal is empty, else
                 epochs::begin; the journal's first record follows
   tick          Core::tick: epochs::is_fenced, then Live::commit into its own folder
   tidy          FileStore: the oldest segment is compressed (another name) or forgotten; twice at
                 most, for retention forgets a segment a day

   A journal is known by the epoch in which it began, and so is the file that says when. A segment
   is a number, its name has a version.
   Run: cargo xtask models. With WITHOUT_OWN_BEGIN one file says for all epochs when the journal
   began, as it did in 0.2; with WITHOUT_AGAIN a file that has gone ends the copy: the search must
   find a wrong begin, and a ResourceManager that is refused. */

#define SEGMENTS 2
#define MANY 4

bool named[MANY];                  /* the folder has its name */
byte journal[MANY];                /* the epoch in which its journal began; 0: it is empty */
byte began[MANY];                  /* began-ms, for each folder; [0]: above all */
byte version[8];                   /* of segment s of epoch e, at 2 * e + s; 0: it is not there */
byte tidies = 2;
bool wrong_begin, refused;

#define AT(e, s) (2 * (e) + (s))

inline higher(me, found) {
  found = 0;
  if
  :: me < 3 && named[3] -> found = 3
  :: me < 2 && named[2] && !named[3] -> found = 2
  :: else -> skip
  fi
}

inline newest_below(me, found) {
  found = 0;
  if
  :: me > 2 && named[2] -> found = 2
  :: me > 1 && named[1] && !(me > 2 && named[2]) -> found = 1
  :: else -> skip
  fi
}

proctype manager(byte me) {
  byte other, from, s, is_begin;
  byte listed[SEGMENTS];
  byte ticks = 2;

  /* list */
  atomic {
    higher(me, other);
    if
    :: other > 0 -> goto over
    :: else -> skip
    fi;
    newest_below(me, from)
  };

again:
  atomic {
    journal[me] = 0; began[me] = 0; version[AT(me, 0)] = 0; version[AT(me, 1)] = 0;
    if
    :: from > 0 -> listed[0] = version[AT(from, 0)]; listed[1] = version[AT(from, 1)]
    :: else -> listed[0] = 0; listed[1] = 0
    fi;
    s = 0
  };
  do
  :: from > 0 && s < SEGMENTS -> atomic {
       if
       :: listed[s] == 0 -> s++
       :: listed[s] > 0 && version[AT(from, s)] == listed[s] ->
          version[AT(me, s)] = listed[s]; s++
       :: listed[s] > 0 && version[AT(from, s)] != listed[s] ->
#ifdef WITHOUT_AGAIN
          refused = true; goto over
#else
          goto again
#endif
       fi
     }
  :: else -> break
  od;
  atomic {
    if
    :: from > 0 -> journal[me] = journal[from]; began[me] = began[from]
    :: else -> skip
    fi
  };
  /* name */
  named[me] = true;

  /* begin, open */
  if
  :: journal[me] == 0 ->
#ifdef WITHOUT_OWN_BEGIN
     began[0] = me;
#else
     began[me] = me;
#endif
     atomic { journal[me] = me; version[AT(me, 0)] = 1 }
  :: else ->
     atomic {
#ifdef WITHOUT_OWN_BEGIN
       is_begin = began[0];
#else
       is_begin = began[me];
#endif
       wrong_begin = wrong_begin || is_begin != journal[me]
     }
  fi;

  do
  :: ticks > 0 ->
     ticks--;
     atomic {
       higher(me, other);
       if
       :: other > 0 -> goto over
       :: else -> skip
       fi
     };
     /* It may stall here, be taken over, and write: into its own folder. */
     version[AT(me, 1)] = (version[AT(me, 1)] > 0 -> version[AT(me, 1)] : 1)
  :: atomic { tidies > 0 && version[AT(me, 0)] > 0 -> tidies--;
       if
       :: version[AT(me, 0)]++
       :: version[AT(me, 0)] = 0
       fi }
  :: break
  od;
over:
  skip
}

init { atomic { run manager(1); run manager(2); run manager(3) } }

/* Who goes on with a journal reads when that journal began. */
ltl begin { [] !wrong_begin }
/* Nobody is refused because the one before tidies its folder. */
ltl taken { [] !refused }
