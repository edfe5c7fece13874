// The matrix of questions and systems. Only the rows in view are elements: some
// thousand questions scroll and filter at once.

const grid = { list: [], row: 0, column: -1, height: 34, width: 0, node: null, body: null, rows: new Map() };

function startMatrix() {
  grid.body = el("div", { class: "rows", role: "rowgroup" });
  grid.head = el("div", { class: "head", role: "rowgroup" });
  grid.node = el("div", { class: "grid", role: "grid", tabIndex: 0, "aria-label": "Questions and systems", "aria-colcount": run.systems.length + 1 }, grid.head, grid.body);
  fill(byID("matrix"), grid.node);
  fill(byID("legend"), legend.filter(([kind]) => kind !== "pending" || run.cells.some((c) => c.state.includes(PENDING))).map(([kind, text]) => el("li", null, sample(kind), text)));
  grid.node.addEventListener("scroll", drawRows, { passive: true });
  grid.node.addEventListener("keydown", gridKey);
  grid.node.addEventListener("click", gridClick);
  grid.node.addEventListener("focus", () => highlight());
  watch((changed) => {
    if (filters.some((key) => changed.has(key))) refilter();
    if (changed.has("a") || changed.has("b")) drawHead();
  });
  window.addEventListener("resize", later(layout, 150));
  for (const [event, paper] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(event, () => {
      grid.paper = paper;
      clearRows();
      if (paper) grid.body.style.height = `${Math.min(onPaper + 8, grid.list.length) * grid.height}px`;
      drawRows();
    });
  }
  drawHead();
  layout();
  refilter();
}

const sample = (kind) => el("span", { class: `cell ${kind}`, "aria-hidden": "true" }, marks[kind] || "");

// layout fits the cells into the width: beside the question, or below it.
function layout() {
  const width = grid.node.clientWidth;
  if (width === grid.width) return;
  grid.width = width;
  const n = Math.max(1, run.systems.length);
  const below = narrow();
  grid.height = below ? 80 : 34;
  const size = below ? Math.min(22, Math.floor((width - 16) / n)) : Math.min(24, Math.floor((width * 0.62) / n));
  grid.node.style.setProperty("--cell", `${Math.max(11, size)}px`);
  grid.node.style.setProperty("--row", `${grid.height}px`);
  grid.node.style.setProperty("--n", String(n));
  grid.node.classList.toggle("below", below);
  clearRows();
  drawRows();
}

function drawHead() {
  const heads = run.systems.map((system, s) => el("span", { role: "columnheader", "aria-colindex": s + 2 },
    el("button", {
      type: "button", tabIndex: -1, class: system.name === state.a ? "is-a" : system.name === state.b ? "is-b" : "",
      data: { system: s, tip: `${system.name}${system.note ? `: ${system.note}` : ""}. A click makes it A, with Shift B.` },
      "aria-label": system.name,
    }, el("span", null, cutText(system.name, 22)))));
  fill(grid.head, el("div", { class: "row", role: "row", "aria-rowindex": 1 }, el("span", { class: "question", role: "columnheader", "aria-colindex": 1 }, "Question"), heads));
}

function refilter() {
  const before = grid.list[grid.row], list = selected();
  if (grid.list.length > 0 && list.length === grid.list.length && list.every((q, i) => q === grid.list[i])) return;
  grid.list = list;
  grid.row = Math.max(0, grid.list.indexOf(before));
  grid.node.setAttribute("aria-rowcount", String(grid.list.length + 1));
  byID("count").textContent = `${plural(grid.list.length, "question")}${grid.list.length < run.n ? ` of ${run.n.toLocaleString("en")}` : ""}`;
  clearRows();
  grid.node.scrollTop = 0;
  drawRows();
}

function clearRows() {
  grid.rows.clear();
  grid.body.replaceChildren();
  grid.node.removeAttribute("aria-activedescendant");
  const height = Math.max(1.5, grid.list.length) * grid.height;
  grid.body.style.height = `${height}px`;
  grid.node.style.height = `min(72vh, 46rem, ${height + grid.head.offsetHeight + 4}px)`;
}

// drawRows makes the rows in view and drops the others; on paper as many as a person
// leafs through.
const onPaper = 400;

function drawRows() {
  const top = grid.paper ? 0 : Math.max(0, grid.node.scrollTop - grid.head.offsetHeight);
  const height = grid.paper ? onPaper * grid.height : grid.node.clientHeight;
  const from = Math.max(0, Math.floor(top / grid.height) - 4);
  const to = Math.min(grid.list.length, Math.ceil((top + height) / grid.height) + 8);
  for (const [i, node] of grid.rows) {
    if (i < from || i >= to) {
      node.remove();
      grid.rows.delete(i);
    }
  }
  for (let i = from; i < to; i++) {
    if (grid.rows.has(i)) continue;
    const node = rowOf(i);
    grid.rows.set(i, node);
    grid.body.append(node);
  }
  if (grid.list.length === 0) fill(grid.body, el("div", { class: "row empty", role: "row" }, el("span", { role: "gridcell" }, "No question passes these filters.")));
  highlight();
}

function rowOf(i) {
  const q = grid.list[i];
  const type = run.types[run.questions.type[q]].title;
  const row = el("div", { class: "row", role: "row", id: `row${i}`, data: { row: i }, "aria-rowindex": i + 2 },
    el("span", { class: "question", role: "rowheader", id: `cell${i}.0`, "aria-colindex": 1 }, el("small", null, cutText(type, 20)), run.questions.text[q]));
  for (let s = 0; s < run.systems.length; s++) {
    const c = cell(s, q), kind = look(c);
    const text = `${run.systems[s].name}: ${words(c)}`;
    row.append(el("span", { class: `cell ${kind}`, role: "gridcell", id: `cell${i}.${s + 1}`, "aria-colindex": s + 2, "aria-label": text, data: { system: s, tip: text } }, marks[kind]));
  }
  row.style.transform = `translateY(${i * grid.height}px)`;
  return row;
}

// highlight marks the row and the cell that the keys are at.
function highlight() {
  for (const node of grid.body.querySelectorAll(".here, .open")) node.classList.remove("here", "open");
  const open = state.q === "" ? -1 : questionOf(state.q);
  for (const [i, node] of grid.rows) if (grid.list[i] === open) node.classList.add("open");
  const at = byID(`cell${grid.row}.${grid.column + 1}`);
  if (!at) return;
  at.classList.add("here");
  at.parentElement.classList.add("here");
  grid.node.setAttribute("aria-activedescendant", at.id);
}

// go moves to a row and brings it into view.
function go(row, column) {
  grid.row = Math.max(0, Math.min(grid.list.length - 1, row));
  grid.column = Math.max(-1, Math.min(run.systems.length - 1, column));
  const head = grid.head.offsetHeight;
  const top = grid.row * grid.height;
  if (top < grid.node.scrollTop) grid.node.scrollTop = top;
  const bottom = top + grid.height + head - grid.node.clientHeight;
  if (bottom > grid.node.scrollTop) grid.node.scrollTop = bottom;
  drawRows();
}

function gridKey(event) {
  if (event.target.closest("button") && event.key === "Enter") return;
  const page = Math.max(1, Math.floor(grid.node.clientHeight / grid.height) - 2);
  const moves = {
    ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1],
    PageDown: [page, 0], PageUp: [-page, 0], Home: [-grid.list.length, 0], End: [grid.list.length, 0],
  };
  if (event.key in moves) {
    const [down, right] = moves[event.key];
    go(grid.row + down, grid.column + right);
  } else if (event.key === "Enter" || event.key === " ") {
    open(grid.row, grid.column);
  } else return;
  event.preventDefault();
}

function gridClick(event) {
  const head = event.target.closest("[role=columnheader] button");
  if (head) {
    const name = run.systems[Number(head.dataset.system)].name;
    const key = event.shiftKey ? "b" : "a", other = event.shiftKey ? "a" : "b";
    set({ [key]: name, ...(state[other] === name ? { [other]: defaults[other] } : {}) });
    return;
  }
  const row = event.target.closest("[data-row]");
  if (!row) return;
  const at = event.target.closest("[data-system]");
  open(Number(row.dataset.row), at ? Number(at.dataset.system) : -1);
}

// open shows the question of a row, with a system as A if its cell was chosen.
function open(row, column) {
  if (row < 0 || row >= grid.list.length) return;
  grid.row = row;
  grid.column = column;
  const change = { q: keyOf(grid.list[row]) };
  if (column >= 0) {
    const name = run.systems[column].name;
    if (name !== state.a && state.av === "") Object.assign(change, { a: name, b: state.b === name ? "" : state.b });
    else if (name !== state.a && state.bv === "") change.b = name;
  }
  set(change);
  highlight();
}
