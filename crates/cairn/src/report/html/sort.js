"use strict";
// Tables are whole without this; it only reorders their rows.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const sort = () => {
      const up = head.ariaSort !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.ariaSort = up ? "ascending" : "descending";
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (up ? 1 : -1) * key(a).localeCompare(key(b), "en", { numeric: true }));
      table.tBodies[0].append(...rows);
    };
    head.tabIndex = 0;
    head.title = "sort by this column";
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
}
