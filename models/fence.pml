/* The fence looks at the copy of the Lease that an API server keeps. Two API servers, whose copies
   fall behind, two leaders one after the other, two pods, room for one.
   crates/meed-kubernetes/src; deploy/kubernetes/chart/objects/fence.yaml.

   action here   stands for
   take          lease::take, when the one before has not renewed for 15 s: it stands still, or its
                 renewals do not arrive, and it believes to lead
   list          Begin::read: Watches::hear_up_to, Picture::into_listed, World::restore
   ask           World::decide, Writer::carry_out: a PATCH with the epoch, to either API server
   carry_out     the API server: policy meed-fence with its own copy of the Lease
   answer        Writer::is_deposed: after a refusal Claim::is_over reads the Lease itself
   hear          World::pod_seen, World::confirm, World::admit_lifted: what another let go is held
   catch_up      the copy of an API server follows the database

   Run: cargo xtask models. With WITHOUT_READ a refusal alone ends a leader, as it did in 0.2: the
   search must find that the one that holds the lease ends. `room` is what the fence does not
   give: the search must find that two pods have the room of one where a copy is behind. */

byte lease = 1, copy[2] = 1;
bool leads[3], has_next;
bool let_go[2];
bool known_let_go[6];              /* what leader l knows of pod p, at 2 * l + p */
bool in_flight[3];
byte to_server[3], of_pod[3];
bool is_refused[3];
bool ended_rightful, late;

#define KNOWS(l, p) known_let_go[2 * (l) + (p)]
#define SEES_ROOM(l) (!KNOWS(l, 0) && !KNOWS(l, 1))

proctype servers() {
end:
  do
  :: atomic { copy[0] != lease -> copy[0] = lease }
  :: atomic { copy[1] != lease -> copy[1] = lease }
  :: atomic { in_flight[1] -> in_flight[1] = false;
       if
       :: copy[to_server[1]] == 1 -> late = late || lease != 1; let_go[of_pod[1]] = true
       :: else -> is_refused[1] = true
       fi }
  :: atomic { in_flight[2] -> in_flight[2] = false;
       if
       :: copy[to_server[2]] == 2 -> let_go[of_pod[2]] = true
       :: else -> is_refused[2] = true
       fi }
  od
}

proctype leader(byte me) {
  byte p, s;
  /* take, list */
  atomic { lease = me; leads[me] = true };
  atomic { KNOWS(me, 0) = let_go[0]; KNOWS(me, 1) = let_go[1] };
end:
  do
  :: atomic { leads[me] && !in_flight[me] && !is_refused[me] && SEES_ROOM(me) ->
       if
       :: p = 0
       :: p = 1
       fi;
       if
       :: s = 0
       :: s = 1
       fi;
       /* Its room is held from here on. */
       KNOWS(me, p) = true; of_pod[me] = p; to_server[me] = s; in_flight[me] = true }
  :: atomic { is_refused[me] -> is_refused[me] = false;
       KNOWS(me, of_pod[me]) = let_go[of_pod[me]];
#ifdef WITHOUT_READ
       leads[me] = false;
       ended_rightful = ended_rightful || lease == me
#else
       if
       :: lease != me -> leads[me] = false
       :: else -> skip
       fi
#endif
     }
  :: atomic { leads[me] && let_go[0] && !KNOWS(me, 0) -> KNOWS(me, 0) = true }
  :: atomic { leads[me] && let_go[1] && !KNOWS(me, 1) -> KNOWS(me, 1) = true }
  :: atomic { me == 1 && !has_next -> has_next = true; run leader(2) }
  od
}

init { atomic { run servers(); run leader(1) } }

/* Who holds the lease is not ended by a copy that is behind. */
ltl stays { [] !ended_rightful }
/* Two pods have the room of one only where a write of the leader before was carried out late. */
ltl late_only { [] (let_go[0] && let_go[1] -> late) }
/* Not kept: the room of one is given once. */
ltl room { [] !(let_go[0] && let_go[1]) }
