// Figures: the measure in dots with whiskers, systems and domains as a heat map,
// and the charts of the tables.

const measure = () => run.measures.find((m) => m.key === state.m);

// standings are the systems that have the measure, best first; those that are not
// compared come last.
function standings() {
  const m = measure();
  const values = m.values[0][state.k];
  const out = [];
  run.systems.forEach((system, s) => {
    const v = values[s];
    if (!v || v.length === 0) return;
    out.push({
      s, name: system.name, note: system.note, value: v[0], low: v[1], high: v[2],
      standing: m.class && state.k === 0 ? m.class[s] : null, // "level", "probable" or "certain"
    });
  });
  return out.sort((x, y) => Boolean(x.note) - Boolean(y.note) || y.value - x.value);
}

const one = (value) => value.toFixed(1);

// paint puts a plot into a figure. The library's own style element is left out:
// the policy of the page does not let it in, and page.css has its rules. So are the
// names of its marks: the plot is read out as one picture.
function paint(figure, plot) {
  for (const node of plot.querySelectorAll("style")) node.remove();
  for (const node of plot.querySelectorAll("[aria-label]")) node.removeAttribute("aria-label");
  for (const old of figure.querySelectorAll(":scope > svg, :scope > .plot")) old.remove();
  figure.append(plot);
  figure.querySelector(".save")?.remove();
  figure.append(el("p", { class: "save" },
    button("Save as SVG", () => saveSVG(figure), { class: "plain" }), button("Save as PDF", () => savePDF(figure), { class: "plain" })));
}

// saveSVG saves a chart as a picture that needs no page: its colours and letters are written into it, and
// its legend stands below.
function saveSVG(figure) {
  const from = figure.querySelector("svg.plot, .plot svg"), to = from.cloneNode(true), legend = [...figure.querySelectorAll(".legend li")];
  const own = [from, ...from.querySelectorAll("*")], copies = [to, ...to.querySelectorAll("*")];
  own.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of ["fill", "stroke"]) if (style[name]) copies[i].setAttribute(name, style[name]);
  });
  const { width, height } = from.viewBox.baseVal, paper = getComputedStyle(document.body), svg = (tag, props, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    return node;
  };
  const high = height + legend.length * 18;
  for (const [key, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", width, height: high, viewBox: `0 0 ${width} ${high}`, "font-family": paper.fontFamily, "font-size": getComputedStyle(from).fontSize })) to.setAttribute(key, value);
  to.prepend(svg("title", {}, from.getAttribute("aria-label")), svg("rect", { width: "100%", height: "100%", fill: paper.backgroundColor }));
  legend.forEach((item, i) => to.append(
    svg("rect", { x: 8, y: height + i * 18, width: 10, height: 10, fill: item.querySelector(".key").style.background }),
    svg("text", { x: 24, y: height + i * 18 + 9, fill: paper.color }, item.textContent)));
  const link = el("a", { href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(to)], { type: "image/svg+xml" })), download: `${figure.id || "chart"}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// savePDF prints a chart alone: the browser's printer writes PDF, in lines and letters.
function savePDF(figure) {
  const root = document.documentElement;
  figure.classList.add("alone");
  root.classList.add("one-figure");
  window.addEventListener("afterprint", () => {
    figure.classList.remove("alone");
    root.classList.remove("one-figure");
  }, { once: true });
  window.print();
}

async function drawDots() {
  const figure = byID("dots");
  const m = measure();
  byID("measure-help").textContent = m ? m.help || "" : "";
  if (!m) return;
  const rows = standings();
  const height = rows.length * 26 + 40;
  figure.style.minHeight = `${height + 36}px`; // so that nothing moves when it is drawn
  const Plot = await charts();
  const width = Math.max(280, figure.clientWidth);
  const left = Math.min(24 + 7.2 * Math.max(4, ...rows.map((r) => r.name.length)), Math.round(width * 0.36));
  const ticks = width < 500 ? 4 : 8;
  const most = Math.max(1, ...rows.map((r) => r.high ?? r.value));
  const tested = rows.some((r) => r.standing !== null);
  const x2 = Math.min(100, most * 1.04);
  const x1 = Math.max(0, 10 * Math.floor((Math.min(100, ...rows.map((r) => r.low ?? r.value)) - 2) / 10)); // dots need no axis from 0
  const level = (r) => r.standing === "level" && !r.note;
  const behind = (r) => (tested && r.standing !== "level" && r.standing !== "probable") || r.note;
  const tone = (r) => (behind(r) ? "var(--soft)" : "var(--accent)");
  const labels = new Map(rows.map((r) => [r.name, cutText(r.name, Math.floor((left - 12) / 7.2)) + (r.note ? " †" : "")]));
  const plot = Plot.plot({
    width, marginLeft: left, marginRight: 52, marginTop: 26, marginBottom: 8, height,
    className: "plot", style: { background: "none", fontSize: "12.5px" },
    ariaLabel: `${m.title}, percent, best first`,
    x: { domain: [x1, x2], label: null, axis: "top", grid: true, ticks },
    y: { domain: rows.map((r) => r.name), label: null, tickFormat: (n) => labels.get(n), tickSize: 0, padding: 0 },
    marks: [
      Plot.barX(rows.filter(level), { x1, x2, y: "name", fill: "var(--band)" }),
      Plot.gridX({ ticks, stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.ruleY(rows.filter((r) => r.low !== undefined), { x1: "low", x2: "high", y: "name", stroke: tone, strokeWidth: 1.5 }),
      Plot.dot(rows, { x: "value", y: "name", r: 4.5, fill: (r) => (behind(r) || r.standing === "probable" ? "var(--paper)" : "var(--accent)"), stroke: tone, strokeWidth: 1.5 }),
      Plot.text(rows, { x: () => x2, y: "name", text: (r) => one(r.value), dx: 8, textAnchor: "start", fill: "var(--ink)" }),
    ],
  });
  plot.setAttribute("role", "img");
  const best = rows[0];
  plot.setAttribute("aria-label", `${m.title}: ${rows.map((r) => `${r.name} ${one(r.value)}${r.low === undefined ? "" : ` (${one(r.low)} to ${one(r.high)})`}${behind(r) ? ", behind" : r.standing === "probable" ? ", probably behind" : ""}`).join("; ")}`);
  paint(figure, plot);
  figure.querySelector("figcaption")?.remove();
  if (!best) return;
  const said = ["Percent, best first; whiskers are 95 % intervals."];
  if (tested) said.push("Filled dots on the band: level with the best, as far as this number of questions can tell. Hollow: probably behind it. Grey: certainly.");
  else if (state.k > 0) said.push("Which systems are level with the best was tested over all questions, not by type.");
  for (const r of rows) if (r.note) said.push(`† ${r.name} is not compared: ${r.note}.`);
  figure.append(el("figcaption", { class: "soft" }, said.join(" ")));
}

// The heat map is a table: its colours are steps of one hue, and every cell has
// its number.
function drawHeat() {
  const m = measure();
  const host = byID("heat");
  if (!m) return;
  const columns = run.domains.length > 1 ? [0, ...run.domains.map((_, d) => d + 1)] : [0];
  const rows = standings();
  let high = 0;
  const value = (d, s) => m.values[d][state.k][s];
  for (const d of columns) for (const r of rows) {
    const v = value(d, r.s);
    if (v && v.length) high = Math.max(high, v[0]);
  }
  const step = (v) => (high > 0 ? Math.min(6, Math.floor((7 * v) / high)) : 0); // from 0, which is not the least figure
  const title = (d) => (d === 0 ? "All" : run.domains[d - 1]);
  const table = el("table", { class: "heat" },
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "System"),
      columns.map((d) => el("th", { scope: "col" }, d === 0 ? "All" : button(cutText(title(d), 24), () => pick(d, null), { class: "plain", data: { tip: `Questions of ${title(d)}` } }))))),
    el("tbody", null, rows.map((r) => el("tr", null,
      el("th", { scope: "row" }, button(cutText(r.name, 34), () => pick(0, r.name), { class: "plain", data: { tip: r.note || `Questions with ${r.name} as A` } })),
      columns.map((d) => {
        const v = value(d, r.s);
        if (!v || !v.length) return el("td", { class: "none" }, "–");
        const range = v.length > 1 ? `, 95 % interval ${one(v[1])} to ${one(v[2])}` : "";
        return el("td", { class: `h${step(v[0])}`, data: { tip: `${r.name}, ${title(d)}: ${one(v[0])} %${range}` }, on: { click: () => pick(d, r.name) } }, one(v[0]));
      })))));
  fill(host, table);
}

// pick shows the questions of a domain with a system as A.
function pick(domain, name) {
  set({ d: domain > 0 ? String(domain - 1) : "", ...(name ? { a: name, b: state.b === name ? "" : state.b } : {}) });
  byID("questions").scrollIntoView({ behavior: "smooth" });
}

// Charts of the tables are drawn when their table is unfolded. The heads of the
// columns sort, and say what their figures are.
function startTables() {
  for (const details of document.querySelectorAll("details.table")) {
    const draw = () => {
      if (details.open) for (const figure of details.querySelectorAll("[data-chart]")) drawChart(figure);
    };
    details.addEventListener("toggle", draw);
    draw();
    const heads = [...details.querySelectorAll("thead tr:last-child th")];
    heads.forEach((head, column) => {
      const title = head.textContent.trim();
      const tip = [run.help || {}, help].find((h) => Object.hasOwn(h, title.toLowerCase()))?.[title.toLowerCase()];
      fill(head, button(title, () => sortTable(details, heads, column), { class: "plain", data: tip ? { tip } : {} }));
    });
  }
  window.addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.table")) details.open = true;
  });
}

// sortTable sorts by a column: numbers by size, largest first, then the other way;
// names by their letters. What is no number stays below.
function sortTable(details, heads, column) {
  const up = column === 0 ? heads[0].ariaSort !== "ascending" : heads[column].ariaSort === "descending";
  for (const head of heads) head.ariaSort = null;
  heads[column].ariaSort = up ? "ascending" : "descending";
  const body = details.querySelector("tbody");
  const key = (row) => {
    const text = row.children[column].firstChild?.textContent || "";
    if (column === 0) return text;
    const n = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(n) ? null : n;
  };
  const order = (x, y) => (column === 0 ? x.localeCompare(y, "en") : x - y) * (up ? 1 : -1);
  const rows = [...body.rows].map((row) => [key(row), row]);
  rows.sort(([x], [y]) => (x === null || y === null ? (x === null) - (y === null) : order(x, y)));
  body.append(...rows.map(([, row]) => row));
}

// help explains titles of columns that are no figures of a run.
const help = {
  "detectable": "The least true difference that is found with probability .8 after the correction, in points.",
  "p (holm)": "The p-value corrected by Holm, for the family that the note below names.",
  "p": "The p-value of the paired test over source pages that the interval is of.",
  "difference": "certain: p (Holm) is below .05; probable: p alone is; level: neither is.",
  "points": "Difference of the two means in percentage points.",
  "isolated %": "Share of nodes without an edge.",
};

const hues = ["#3f6fb5", "#c8742c", "#3d8f78", "#9466b0", "#b39a2f", "#b5546f", "#4f9fb8", "#7d7f86"];

async function drawChart(figure) {
  const chart = run.charts[Number(figure.dataset.chart)];
  const Plot = await charts();
  const width = Math.max(280, Math.min(760, figure.clientWidth));
  const lines = chart.lines || [];
  const points = lines.flatMap((line) => line.points.map((p) => ({ ...p, line: line.name })));
  const names = lines.map((line) => line.name);
  const xs = [...new Set(points.map((p) => p.x))].sort((x, y) => x - y);
  const plot = Plot.plot({
    width, className: "plot", style: { background: "none", fontSize: "12px" }, height: 320, marginLeft: 46, marginBottom: 40,
    x: { label: chart.x, ticks: chart.dots || xs.length > 14 || width < 500 ? 5 : xs, tickFormat: "~s", ...(chart.dots ? { type: "log", inset: 24 } : {}) },
    y: { label: "%", grid: true, zero: true },
    color: { domain: names, range: names.map((_, i) => hues[i % hues.length]) },
    marks: [
      Plot.ruleX(lines.length > 3 && !chart.dots ? [] : points.filter((p) => p.low !== undefined), { x: "x", y1: "low", y2: "high", stroke: "line", strokeOpacity: 0.5 }),
      Plot.line(points, { x: "x", y: "y", stroke: "line", z: "line" }),
      Plot.dot(points, { x: "x", y: "y", fill: "line", r: 3 }),
      Plot.text(chart.dots ? lines.filter((l) => l.points.length === 1).map((l) => ({ ...l.points[0], line: l.name })) : [], { x: "x", y: "y", text: "line", dx: 6, dy: -8, textAnchor: "start", fill: "var(--ink)" }),
    ],
  });
  figure.querySelector(".legend")?.remove();
  figure.append(el("ul", { class: "legend" }, names.map((name, i) => {
    const key = el("i", { class: "key" });
    key.style.background = hues[i % hues.length];
    return el("li", null, key, name);
  })));
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${chart.title}: ${names.join(", ")} by ${chart.x}`);
  paint(figure, plot);
}

function startFigures() {
  if (run.n === 0 && run.systems.length === 0) return;
  const measures = byID("measure"), kinds = byID("kind");
  for (const m of run.measures || []) measures.append(el("option", { value: m.key }, m.title));
  ["all", ...run.types.map((t) => t.title.toLowerCase())].forEach((title, i) => kinds.append(el("option", { value: String(i) }, title)));
  measures.addEventListener("change", () => set({ m: measures.value }));
  kinds.addEventListener("change", () => set({ k: Number(kinds.value) }));
  const draw = () => {
    measures.value = state.m;
    kinds.value = String(state.k);
    byID("domains").hidden = run.domains.length < 2;
    drawHeat();
    drawDots();
  };
  watch((changed) => (changed.has("m") || changed.has("k")) && draw());
  draw();
  window.addEventListener("resize", later(drawDots, 150));
}
