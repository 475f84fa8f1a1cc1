
// Sorts and filters the listed observations of each report. The page is whole without it: it adds buttons to the
// headings, shows the controls, and from then on only moves and hides rows.
"use strict";
{
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const numbered = (count) => count.toLocaleString("en-US");
  const SEARCHED = ["entity", "type", "text", "tier"];

  for (const listing of document.querySelectorAll(".listing")) {
    const table = listing.querySelector("table");
    const form = listing.querySelector("form");
    const body = table.tBodies[0];
    const inOrder = [...body.rows]; // the report's own order
    const heads = [...table.tHead.rows[0].cells];
    const found = form.querySelector(".find");
    const selects = [...form.querySelectorAll("select")];
    const count = form.querySelector(".count");
    let texts = null;

    const cellOf = (row, key) => row.cells[heads.findIndex((head) => head.classList.contains(key))];

    // what the search looks through: made once, at the first search
    const textOf = (row) => [...SEARCHED.map((key) => {
      const cell = cellOf(row, key);
      return (cell.querySelector(".words") ?? cell).textContent.toLowerCase();
    }), row.querySelector(".reason").textContent.toLowerCase()].join("\n");

    const filter = () => {
      const words = found.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !texts) texts = new Map(inOrder.map((row) => [row, textOf(row)]));
      let shown = 0;
      for (const row of inOrder) {
        const passes = selects.every((select) => !select.value || row.dataset[select.dataset.key] === select.value)
          && words.every((word) => texts.get(row).includes(word));
        if (row.hidden === passes) row.hidden = !passes;
        shown += passes;
      }
      count.textContent = `${numbered(shown)} of ${numbered(inOrder.length)} shown`;
    };

    // what a cell sorts by; null where there is nothing, which stands last in either direction
    const keyOf = (row, place, kind) => {
      const cell = row.cells[place];
      if (kind === "text") return cell.querySelector(".none") ? null : (cell.querySelector(".words") ?? cell).textContent;
      const value = cell.dataset.v;
      return value === undefined ? null : kind === "number" ? Number(value) : value;
    };
    const compared = { number: (a, b) => a - b, date: (a, b) => (a < b ? -1 : a > b ? 1 : 0), text: collator.compare };

    const arrange = (rows) => {
      const pieces = document.createDocumentFragment();
      pieces.append(...rows);
      body.append(pieces);
    };

    const sort = (head, place) => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      const kind = head.dataset.kind;
      const rows = inOrder.map((row) => [keyOf(row, place, kind), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return up ? compared[kind](a, b) : compared[kind](b, a);
      });
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      arrange(rows.map(([, row]) => row));
    };

    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(head, place));
      head.append(button);
      head.setAttribute("aria-sort", "none");
    });

    let due = 0;
    const soon = () => { // many letters typed at once are one search
      clearTimeout(due);
      due = setTimeout(filter, 60);
    };
    found.addEventListener("input", soon);
    for (const select of selects) select.addEventListener("change", filter);
    form.addEventListener("submit", (event) => { event.preventDefault(); filter(); });
    form.addEventListener("reset", () => setTimeout(() => { // the fields are empty only after the event
      for (const head of heads) head.setAttribute("aria-sort", "none");
      arrange(inOrder);
      filter();
    }));
    form.hidden = false;
    filter(); // a reloaded page keeps what was typed
  }
}
