"""The HTML report in a real browser: it loads in silence, sorts, filters, prints; texts stay text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CHROMIUM, Browser, Page, running, url_of
from pages import HOSTILE, POLICY, hostile_file, many_things, page_of, reported, said_by
from process import FIXTURES
from support import entity

from memttl.core.report import ReportOutcome
from memttl.report.report_html import render

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="needs Debian's package chromium")
TROUBLE = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening")
COLUMNS = ("why", "expires", "entity", "type", "text", "tier", "age", "tokens")
ROWS = """[...document.querySelectorAll(".observations tbody tr")].filter((row) => !row.hidden)"""
ORDER = f"""{ROWS}.map((row) => row.dataset.line + ":" + row.dataset.index)"""
COUNT = """document.querySelector(".count").textContent"""
WIDTHS = (360, 400, 768, 1280)
# text against what is behind it: WCAG's contrast of each element that has text of its own and is to be seen
CONTRASTS = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const ratio = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = new Map();
  const note = (what, value) => seen.set(what, Math.min(value, seen.get(what) ?? 99));
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (element.closest("svg, script") || !own && !element.matches("input") || !element.checkVisibility()) continue;
    const colour = rgb(getComputedStyle(element).color);
    note("text " + element.tagName + "." + element.className, ratio(colour, behind(element)));
  }
  for (const shape of document.querySelectorAll("pattern rect, .bar rect:not([fill])"))
    note("bar " + shape.className.baseVal, ratio(rgb(getComputedStyle(shape).fill), behind(document.body)));
  return [...seen];
})()"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running() as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def many(folder: Path) -> ReportOutcome:
    return reported(many_things(folder), policy=POLICY, undated=True)


@pytest.fixture(scope="module")
def many_url(many: ReportOutcome, folder: Path) -> str:
    return written(folder / "many.html", many)


@pytest.fixture(scope="module")
def opened(browser: Browser, many_url: str) -> Iterator[Page]:
    with browser.page(many_url) as page:
        yield page


@pytest.fixture
def page(opened: Page, many: ReportOutcome) -> Page:
    """The page of many things, opened once for many tests, with nothing sorted or filtered."""
    opened.evaluate("document.querySelector('form').reset()")
    opened.wait_for(f"""{ORDER}.join() === "{",".join(listed_where(many, lambda _: True))}" """)
    return opened


@pytest.fixture(scope="module")
def hostile_url(folder: Path) -> str:
    (folder / "hostile").mkdir()
    return written(folder / "hostile.html", reported(hostile_file(folder / "hostile"), policy=POLICY, undated=True))


def written(path: Path, *outcomes: ReportOutcome) -> str:
    """The address of the page of some reports."""
    path.write_bytes(render(outcomes).encode())
    return url_of(path)


def trouble(page: Page) -> list[dict[str, Any]]:
    """Whatever the page complained of, the violations of its own policy included."""
    page.evaluate("new Promise(requestAnimationFrame)")
    return page.told(*TROUBLE)


def rows(page: Page) -> list[str]:
    """The rows that are shown, as `line:index`, in order."""
    return list(page.evaluate(ORDER))


def texts_of(page: Page) -> list[str]:
    """The texts as they are to be read; on paper, where no row waits until it is scrolled to."""
    page.look(media="print")
    texts = page.evaluate("[...document.querySelectorAll('.words')].map((words) => words.innerText)")
    page.look()
    return list(texts)


def key_of(outcome: ReportOutcome, column: str) -> dict[str, Any]:
    """What each listed observation sorts by in a column, None where it has nothing there."""

    def key(item: Any) -> Any:
        v = item.verdict
        return {
            "why": ["expired", "due", "review", "undated"].index(item.listed_as),
            "expires": v.expires_at,
            "entity": v.entity.casefold(),
            "type": v.entity_type.casefold() if v.entity_type else None,
            "text": v.observation.casefold(),
            "tier": v.tier.casefold(),
            "age": None if v.created_at is None else int(str(v.created_at)[:10].replace("-", "")),
            "tokens": item.tokens,
        }[column]  # fmt: skip

    return {f"{item.verdict.line}:{item.verdict.index}": key(item) for item in outcome.report.listed}


@pytest.mark.parametrize("url", ["many_url", "hostile_url"])
@pytest.mark.parametrize("dark", [False, True])
def test_page_loads_in_silence_and_asks_for_nothing(
    browser: Browser, request: pytest.FixtureRequest, url: str, dark: bool
) -> None:
    address = request.getfixturevalue(url)
    with browser.page(address, dark=dark) as page:
        assert trouble(page) == []
        asked = {event["request"]["url"] for event in page.told("Network.requestWillBeSent")}
        assert asked - {"data:,"} == {address}


def test_a_script_that_is_not_the_pages_own_is_refused(browser: Browser, many_url: str) -> None:
    with browser.page(many_url) as page:
        page.evaluate(
            'document.body.append(Object.assign(document.createElement("script"), {text: "window.other = 1"}))'
        )
        assert page.evaluate("window.other") is None
        assert "Content Security Policy" in str(trouble(page))


def test_browser_reads_the_numbers_of_the_json_document(browser: Browser, many: ReportOutcome, many_url: str) -> None:
    with browser.page(many_url) as page:
        shown = page.evaluate(
            """[...document.querySelectorAll(".totals dd")].map((dd) => [dd.dataset.key, dd.innerText])"""
        )
        totals = {key: int(words.replace(",", "")) for key, words in shown}
        bars = page.evaluate("""[...document.querySelectorAll(".timeline tbody tr")].map((row) => [
            row.cells[0].innerText,
            Object.fromEntries([...row.querySelectorAll("rect")].map((bar) => [bar.dataset.tier, +bar.dataset.v]))])""")
        texts = texts_of(page)
    said = said_by(page_of(many).one("section", id="file-1"))
    assert totals.items() >= said["summary"].items()
    assert bars == [[month["month"], month["tiers"]] for month in said["months"]]
    assert texts == [item["observation"] for item in said["observations"]]


@pytest.mark.parametrize("place", range(len(COLUMNS)))
def test_click_on_a_heading_sorts_by_it_and_a_second_one_turns_it_round(
    page: Page, many: ReportOutcome, place: int
) -> None:
    keys = key_of(many, COLUMNS[place])
    before = rows(page)
    button = f'document.querySelectorAll(".observations th button")[{place}]'
    for descending in (False, True):
        page.click(button)
        known = [row for row in before if keys[row] is not None]
        # the age in days grows as the day of birth sinks
        turned = descending != (COLUMNS[place] == "age")
        if COLUMNS[place] in ("entity", "text", "type", "tier"):
            collated = page.evaluate(f"""{sorted({keys[row] for row in known})!r}.sort(
                new Intl.Collator("en", {{numeric: true, sensitivity: "base"}}).compare)""")
            order = {key: rank for rank, key in enumerate(collated)}
            known.sort(key=lambda row: order[keys[row]], reverse=turned)
        else:
            known.sort(key=lambda row: keys[row], reverse=turned)
        assert stable(rows(page), keys) == stable(known + [row for row in before if keys[row] is None], keys)
        sorts = page.evaluate("""[...document.querySelectorAll(".observations th")].map((th) => th.ariaSort)""")
        assert sorts.pop(place) == ("descending" if descending else "ascending")
        assert set(sorts) == {"none"}


def stable(order: list[str], keys: dict[str, Any]) -> list[str]:
    """The order as it is: equal keys keep the report's own order in either direction."""
    return [f"{row}={keys[row]}" for row in order]


def test_table_is_sorted_filtered_and_put_back_by_keyboard_alone(browser: Browser, many_url: str) -> None:
    with browser.page(many_url) as page:
        before = rows(page)
        page.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        tab_to(page, ".find")
        page.type("offer 3")
        page.wait_for(f'{COUNT}.startsWith("1 of")')
        tab_to(page, "[type=reset]")
        page.press("Enter")
        page.wait_for(f"""{COUNT} === "{len(before)} of {len(before)} shown" """)
        tab_to(page, "th.tokens button")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.press(" ")
        rising = rows(page)
        page.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.ariaSort") == "descending"
        assert rows(page) != rising != before
        tab_out(page)


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(60):
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
        page.press("Tab")
    raise AssertionError(f"Tab never comes to {selector}")


def tab_out(page: Page) -> None:
    """Press Tab until the focus has left the page: nothing holds it."""
    for _ in range(200):
        page.press("Tab")
        if page.evaluate("document.activeElement === document.body || document.activeElement.className === 'skip'"):
            return
    raise AssertionError("the focus never leaves the page")


def listed_where(outcome: ReportOutcome, passes: Any) -> list[str]:
    return [f"{i.verdict.line}:{i.verdict.index}" for i in outcome.report.listed if passes(i)]


@pytest.mark.parametrize(
    "words", ["sprint 7", "SALES", "note 3", "keep sales", "incident", "nowhere", "session] 2026-03", "]", "N" * 300]
)
def test_words_filter_over_entity_type_text_and_tier(page: Page, many: ReportOutcome, words: str) -> None:
    def passes(item: Any) -> bool:
        v = item.verdict
        parts = (v.entity, v.entity_type or "no type", v.observation, v.tier, v.reason)
        said = "\n".join(str(part).casefold() for part in parts)
        return all(word in said for word in words.casefold().split())

    page.evaluate("document.querySelector('.find').focus()")
    page.type(words)
    expected = listed_where(many, passes)
    page.wait_for(f"""{COUNT} === "{len(expected)} of {len(many.report.listed)} shown" """)
    assert rows(page) == expected


@pytest.mark.parametrize(
    ("key", "value"),
    [("why", "expired"), ("why", "undated"), ("tier", "session"), ("source", "object"), ("source", "unknown")],
)
def test_choices_filter(page: Page, many: ReportOutcome, key: str, value: str) -> None:
    of = {"why": lambda i: i.listed_as, "tier": lambda i: i.verdict.tier, "source": lambda i: i.verdict.age_source}[key]
    expected = listed_where(many, lambda item: of(item) == value)
    assert expected
    page.evaluate(f"""(() => {{
        const select = document.querySelector("select[data-key={key}]");
        select.value = "{value}";
        select.dispatchEvent(new Event("change", {{bubbles: true}}));
    }})()""")
    assert rows(page) == expected
    assert page.evaluate(COUNT) == f"{len(expected)} of {len(many.report.listed)} shown"
    page.click('document.querySelector("[type=reset]")')
    page.wait_for(f"{ROWS}.length === {len(many.report.listed)}")


def test_hostile_texts_show_as_text(browser: Browser, hostile_url: str) -> None:
    with browser.page(hostile_url) as page:
        shown = texts_of(page)
        assert {text for text in HOSTILE if text.isascii() and text.isprintable()} <= set(shown)
        for number in range(len(COLUMNS)):
            page.click(f'document.querySelectorAll(".observations th button")[{number}]')
        page.type("x")
        assert (
            page.evaluate(
                "document.querySelectorAll('img, main b, main i, iframe, [onerror], [onload], [onfocus]').length"
            )
            == 0
        )
        assert page.evaluate("document.querySelectorAll('script').length") == 1
        assert page.evaluate("window.broken") is None
        assert trouble(page) == []


def test_page_is_whole_without_javascript(browser: Browser, many: ReportOutcome, many_url: str) -> None:
    with browser.page(many_url, javascript=False) as page:
        assert rows(page) == listed_where(many, lambda _: True)
        assert page.evaluate("document.querySelector('.controls').checkVisibility()") is False
        assert page.evaluate("document.querySelectorAll('th button').length") == 0
        assert page.evaluate("document.querySelectorAll('.bar rect').length") > 0


@pytest.mark.parametrize("url", ["many_url", "hostile_url"])
def test_page_never_scrolls_sideways(browser: Browser, request: pytest.FixtureRequest, url: str) -> None:
    with browser.page(request.getfixturevalue(url)) as page:
        for width in WIDTHS:
            page.resize(width)
            assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [width, width]


def test_ages_that_may_be_higher_are_said_where_people_see_it(
    browser: Browser, many: ReportOutcome, folder: Path
) -> None:
    seen = many._replace(report=many.report._replace(seen_age=39))
    with browser.page(written(folder / "seen.html", seen)) as page:
        said = "document.querySelector('.figure .older')"
        assert page.evaluate(f"{said}.innerText").startswith("39 of all may be older")
        assert page.evaluate(f"{said}.getBoundingClientRect().width") > 200


def test_large_figures_stay_in_their_place_at_every_width(browser: Browser, many: ReportOutcome, folder: Path) -> None:
    weights = many.report.weights._replace(tokens_estimated=13_105_245, tokens_freed_estimated=3_105_245)
    large = many._replace(report=many.report._replace(weights=weights))
    with browser.page(written(folder / "figures.html", large)) as page:
        for width in (*WIDTHS, 800, 1000):
            page.resize(width)
            assert page.evaluate("""[...document.querySelectorAll(".totals.large dd")].filter((dd) => {
                const range = document.createRange();
                range.selectNodeContents(dd);
                return range.getBoundingClientRect().right > dd.parentElement.getBoundingClientRect().right + 1;
            }).length""") == 0, width  # fmt: skip


@pytest.mark.parametrize(("width", "least"), [(1280, 0.4), (800, 0.3), (640, 0.9), (400, 0.9)])
@pytest.mark.parametrize("group_by", [None, "type"])
def test_the_observation_has_room_at_every_width(
    browser: Browser, folder: Path, width: int, least: float, group_by: str | None
) -> None:
    least -= 0.12 if group_by and width > 640 else 0
    names = ("Session notes 2026-10", "n" * 300)
    path = folder / "room.jsonl"
    path.write_bytes(b"\n".join(entity(["[session] 2026-01-10: x"], name=name) for name in names))
    with browser.page(written(folder / "room.html", reported(path, group_by=group_by)), width=width) as page:
        shares = page.evaluate("""[...document.querySelectorAll(".observations tbody tr")].map((row) =>
            row.querySelector(".text").getBoundingClientRect().width / row.getBoundingClientRect().width)""")
        assert len(shares) == 2
        assert min(shares) > least


def test_on_a_phone_the_facts_of_a_card_take_one_line(browser: Browser, folder: Path) -> None:
    path = folder / "card.jsonl"
    path.write_bytes(entity(["[session] 2026-01-10: x"], name="Session notes 2026-10"))
    with browser.page(written(folder / "card.html", reported(path)), width=400) as page:
        tops = page.evaluate("""["expires", "tier", "age", "tokens"].map((key) =>
            Math.round(document.querySelector("td." + key).getBoundingClientRect().top))""")
        assert len(set(tops)) == 1
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.observations thead tr'), '::before').content")
            == '"Sort by"'
        )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1280])
def test_text_and_bars_stand_out_from_what_is_behind_them(
    browser: Browser, many_url: str, dark: bool, width: int
) -> None:
    with browser.page(many_url, dark=dark, width=width) as page:
        page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        contrasts = dict(page.evaluate(CONTRASTS))
    assert len(contrasts) > 20
    assert {what: ratio for what, ratio in contrasts.items() if ratio < (4.5 if what.startswith("text") else 3)} == {}


def test_dark_is_dark_and_paper_is_light_even_then(browser: Browser, many_url: str) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    with browser.page(many_url) as page:
        light = page.evaluate(colour)
        page.look(dark=True)
        assert page.evaluate(colour) != light
        page.look(dark=True, media="print")
        assert page.evaluate(colour) == light


def test_paper_has_no_controls_and_repeats_the_heads(browser: Browser, many_url: str) -> None:
    with browser.page(many_url, media="print") as page:
        for selector in (".controls", ".skip", "summary", "footer"):
            assert page.evaluate(f"document.querySelector({selector!r}).checkVisibility()") is False
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.observations thead')).display")
            == "table-header-group"
        )
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.observations tbody tr')).breakInside") == "avoid"
        )
    with browser.page(many_url) as page:
        assert page.pdf().count(b"/Type /Page\n") > 2


def test_headings_controls_and_charts_have_names(browser: Browser, many_url: str) -> None:
    with browser.page(many_url) as page:
        page.call("Accessibility.enable")
        nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    named = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")]
    for role in ("button", "searchbox", "combobox", "image", "region", "table", "link", "columnheader", "heading"):
        found = [name for one, name in named if one == role]
        assert found, role
        if role != "table":
            assert all(found), role
    assert ("searchbox", "Find") in named
    assert {
        ("button", name) for name in ("Why", "Expires", "Entity", "Type", "Observation", "Tier", "Age", "Tokens")
    } <= set(named)
    assert page_of_status(named)


def page_of_status(named: list[tuple[str, str]]) -> bool:
    """Say whether there is a place whose changes are read out."""
    return any(role == "status" for role, _ in named)


def test_ten_thousand_rows_are_filtered_and_sorted(browser: Browser, folder: Path) -> None:
    texts = [[f"[session] 2026-01-{1 + n % 28:02}: number {n * 100 + m}" for m in range(100)] for n in range(100)]
    path = folder / "large.jsonl"
    path.write_bytes(b"\n".join(entity(some, name=f"E {n}") for n, some in enumerate(texts)))
    with browser.page(written(folder / "large.html", reported(path))) as page:
        page.evaluate("document.querySelector('.find').focus()")
        page.type("77 number")
        wanted = sum("77" in str(n) for n in range(10_000))
        page.wait_for(f'{COUNT} === "{wanted} of 10,000 shown"')
        page.click('document.querySelector("th.text button")')
        assert len(rows(page)) == wanted
        page.evaluate("document.querySelector('.find').value = ''")
        page.click('document.querySelector("[type=reset]")')
        page.wait_for(f'{COUNT} === "10,000 of 10,000 shown"')


def test_each_of_several_files_has_its_own_table(browser: Browser, many: ReportOutcome, folder: Path) -> None:
    address = written(folder / "two.html", many, reported(FIXTURES / "memory/example.jsonl"))
    with browser.page(address) as page:
        page.evaluate("document.querySelectorAll('.find')[1].focus()")
        page.type("webhooks")
        second = 'document.querySelectorAll(".count")[1].textContent'
        page.wait_for(f'{second} === "1 of 9 shown"')
        assert page.evaluate(COUNT) == f"{len(many.report.listed)} of {len(many.report.listed)} shown"
