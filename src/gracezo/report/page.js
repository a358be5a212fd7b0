"use strict";
(() => {
  const table = document.getElementById("coordinates");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search");
  const found = document.getElementById("found");
  let sorted = null; // [column, 1 or -1]

  const key = (row, column) => {
    const cell = row.cells[column];
    if (column === 0) return cell.textContent;
    const data = cell.querySelector("data");
    return data ? Number(data.value) : NaN;
  };

  function sort() {
    if (!sorted) return;
    const [column, way] = sorted;
    const rows = [...body.rows].map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => {
      if (column === 0) return way * a.localeCompare(b, undefined, { numeric: true });
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b); // unknown ones last
      return way * (a - b);
    });
    body.append(...rows.map(([, row]) => row));
  }

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.rows) {
      row.hidden = wanted !== "" && !row.cells[0].textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    found.textContent = wanted === "" ? "" : `${shown} of ${body.rows.length} listed`;
  }

  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const way = sorted && sorted[0] === column ? -sorted[1] : column === 0 ? 1 : -1;
      sorted = [column, way];
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      sort();
    });
  });
  search.addEventListener("input", filter);

  if (document.body.dataset.live !== "yes") return;

  const live = document.getElementById("live");
  let version = "";

  function take(view) {
    for (const [name, html] of Object.entries(view.parts)) {
      const place = document.querySelector(`[data-part="${name}"]`);
      const open = [...place.querySelectorAll("details")].map((details) => details.open);
      if (place.taken !== html) {
        place.innerHTML = html; // made by our own server, with all that comes from outside escaped
        place.taken = html;
      }
      place.querySelectorAll("details").forEach((details, i) => (details.open = Boolean(open[i])));
    }
    document.title = view.title;
    sort();
    filter();
  }

  async function follow() {
    let pause = 1000;
    try {
      const answer = await fetch(`view?since=${encodeURIComponent(version)}`, { cache: "no-store" });
      if (answer.status === 200) {
        const view = await answer.json();
        version = view.version;
        take(view);
        live.textContent = view.said;
      } else if (answer.status !== 204) {
        throw new Error(String(answer.status));
      }
    } catch (error) {
      live.textContent = "No connection to gracezo watch; trying again.";
      pause = 3000;
    }
    setTimeout(follow, document.hidden ? 5 * pause : pause);
  }
  follow();
})();
