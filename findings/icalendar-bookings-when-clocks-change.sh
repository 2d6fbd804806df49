#!/usr/bin/env bash
# recurring-ical-events 3.8.2 with icalendar 7.3.2: bookings that recur, in Europe/Berlin, where
# clocks go from 2:00 to 3:00 on 2026-03-29.
#
# Guess: DURATION:PT2H is two hours of time (RFC 5545: hours are exact, days are by the clock), so
# a booking from 1:30 lasts until 4:30 on that day; bookings of each hour begin an hour apart.
# Seen: it ends at 3:30, after 1 hour; PT24H lasts 23 hours. Of bookings of each hour the one at
# 2:30, a time that there is not, begins at the same instant as the one at 3:30.
. "$(dirname "$0")/lib.sh"
install recurring-ical-events==3.8.2 icalendar==7.3.2
expect 'PT2H: 2:00:00, 1:00:00, 2:00:00
PT24H: 1 day, 0:00:00, 23:00:00, 1 day, 0:00:00
each hour, in UTC: 00:30, 01:30, 01:30, 02:30' <<'PY'
from datetime import timezone

import icalendar
import recurring_ical_events


def bookings(start, length, rule):
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:x", "BEGIN:VEVENT", "UID:1",
             f"DTSTART;TZID=Europe/Berlin:{start}", f"DURATION:{length}", f"RRULE:{rule}",
             "END:VEVENT", "END:VCALENDAR", ""]
    calendar = icalendar.Calendar.from_ical("\r\n".join(lines))
    for event in recurring_ical_events.of(calendar).between((2026, 3, 26), (2026, 4, 2)):
        yield [event[key].dt.astimezone(timezone.utc) for key in ("DTSTART", "DTEND")]


for length in ("PT2H", "PT24H"):
    found = bookings("20260328T013000", length, "FREQ=DAILY;COUNT=3")
    print(f"{length}:", ", ".join(str(end - start) for start, end in found))
hourly = bookings("20260329T013000", "PT30M", "FREQ=HOURLY;COUNT=4")
print("each hour, in UTC:", ", ".join(f"{start:%H:%M}" for start, _ in hourly))
PY
