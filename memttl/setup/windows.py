"""A schedule as a task of the Windows Task Scheduler, in XML.

`workflow/schedule.py` installs or prints it. Names, order and namespace of the elements are those of Microsoft's schema
([MS-TSCH] 2.5); `fixtures/schedule/task.xml` holds one.
"""

from __future__ import annotations

import subprocess
from xml.sax.saxutils import escape

from memttl.core.schedule import MARK, Job, Times, times_of
from memttl.errors import UsageError

NAMESPACE = "http://schemas.microsoft.com/windows/2004/02/mit/task"
_LONGEST_PROGRAM = 259  # pathType of the schema; the arguments may be of any length
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def task(job: Job) -> str:
    """Give the text of the task. It names no encoding, so that it may be stored as UTF-8 or as UTF-16 with its mark.

    Raises:
        UsageError: Task Scheduler cannot do it so often, or would read a path as something else, or takes none so long.
    """
    _refuse_variables(job.words)
    _refuse_length(job.words[0])
    return f"""\
<?xml version="1.0"?>
<Task version="1.2" xmlns="{NAMESPACE}">
  <RegistrationInfo>
    <Source>{MARK}</Source>
    <Description>{escape(job.title)}</Description>
  </RegistrationInfo>
  <Triggers>
{_trigger(times_of("windows", job.wish.cadence), job.spread)}
  </Triggers>
  <Principals>
    <Principal id="Author">
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>true</StartWhenAvailable>
    <Enabled>true</Enabled>
    <ExecutionTimeLimit>PT1H</ExecutionTimeLimit>
    <Priority>7</Priority>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(job.words[0])}</Command>
      <Arguments>{escape(subprocess.list2cmdline(job.words[1:]))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def _refuse_length(program: str) -> None:
    if len(program) > _LONGEST_PROGRAM:
        raise UsageError(
            f"The path of this Python is {len(program)} characters long, and Task Scheduler takes no more than "
            f"{_LONGEST_PROGRAM}; nothing was done.",
            hint="Install memttl into a folder with a shorter path.",
        )


def _refuse_variables(words: tuple[str, ...]) -> None:
    for word in words:
        if word.count("%") > 1 or "$(" in word:
            raise UsageError(
                f"Task Scheduler would read a part of {word} as a variable, and has no way to write it otherwise; "
                "nothing was done.",
                hint="Name the file by a path without % and $(.",
            )


def _trigger(times: Times, spread: int) -> str:
    if times.unit in ("minute", "hour"):
        # with a repetition no RandomDelay is allowed: the time of the first run spreads them
        interval = f"PT{times.n}{'M' if times.unit == 'minute' else 'H'}"
        minute = spread % min(60, times.n if times.unit == "minute" else 60)
        return f"""\
    <TimeTrigger>
      <Enabled>true</Enabled>
      <StartBoundary>2026-01-01T00:{minute:02}:00</StartBoundary>
      <Repetition>
        <Interval>{interval}</Interval>
        <StopAtDurationEnd>false</StopAtDurationEnd>
      </Repetition>
    </TimeTrigger>"""
    return f"""\
    <CalendarTrigger>
      <Enabled>true</Enabled>
      <StartBoundary>2026-01-01T03:{spread % 60:02}:00</StartBoundary>
      <RandomDelay>PT30M</RandomDelay>
{_schedule(times, spread)}
    </CalendarTrigger>"""


def _schedule(times: Times, spread: int) -> str:
    if times.unit == "day":
        return f"""\
      <ScheduleByDay>
        <DaysInterval>{times.n}</DaysInterval>
      </ScheduleByDay>"""
    if times.unit == "week":
        return f"""\
      <ScheduleByWeek>
        <WeeksInterval>{times.n}</WeeksInterval>
        <DaysOfWeek>
          <{_DAYS[spread % 7]} />
        </DaysOfWeek>
      </ScheduleByWeek>"""
    months = "\n".join(f"          <{month} />" for month in _MONTHS[:: times.n])
    return f"""\
      <ScheduleByMonth>
        <DaysOfMonth>
          <Day>{1 + spread % 28}</Day>
        </DaysOfMonth>
        <Months>
{months}
        </Months>
      </ScheduleByMonth>"""
