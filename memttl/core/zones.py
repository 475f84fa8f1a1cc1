"""Time zones by name, and the zone's own time for people to read. Called by the policy and by `--now`."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

# files of the system beside the zones: of no place, or of whatever place that machine is set to; `right/` counts leap
# seconds, which no clock that is asked here does
NO_NAMES = ("Factory", "posixrules", "localtime")


def read_zone(name: str) -> tzinfo:
    """Give the time zone of an IANA name.

    Raises:
        ValueError: there is no such zone; the text names a near one.
    """
    if name.upper() in ("UTC", "Z", "ETC/UTC"):
        return UTC
    import zoneinfo  # here, and not at the top: most policies are in UTC

    try:
        if name in NO_NAMES or name.startswith("right/"):
            raise LookupError(name)
        return zoneinfo.ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        from memttl.core.near import near

        zones = sorted(zoneinfo.available_timezones() - set(NO_NAMES))
        raise ValueError(f"no such time zone; use an IANA name, such as Europe/Berlin{near(name, zones)}") from None


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """Give an instant (aware) in `zone`; as it stands within a day of the calendar's ends, the years 1 and 9999."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        return moment
