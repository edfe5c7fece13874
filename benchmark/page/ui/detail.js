// The panel with one question: gold, and one system or two side by side with what
// they ranked, read, answered and were told.

const panel = { node: null, drawn: 0 };

function startPanel() {
  panel.node = byID("panel");
  watch((changed) => (changed.has("q") || (state.q !== "" && (changed.has("a") || changed.has("b")))) && drawPanel(changed.has("q")));
  document.addEventListener("keydown", panelKey);
  if (state.q !== "") drawPanel(true);
}

// sides are the systems that are shown: A, or the best one that was asked, and B.
function sides(q) {
  const out = [];
  let a = systemOf(state.a);
  if (a < 0) a = (standings().find((r) => run.cells[r.s].state[q] !== ABSENT) || { s: -1 }).s;
  if (a < 0) a = run.systems.findIndex((_, s) => run.cells[s].state[q] !== ABSENT);
  if (a >= 0) out.push(a);
  const b = systemOf(state.b);
  if (b >= 0 && b !== a) out.push(b);
  return out;
}

function closePanel() {
  set({ q: "" });
  grid.node.focus({ preventScroll: true });
}

// step goes to the next question of the selection, or the one before.
function step(by) {
  const at = grid.list.indexOf(questionOf(state.q));
  const next = at + by;
  if (next < 0 || next >= grid.list.length) return;
  set({ q: keyOf(grid.list[next]) });
  go(next, grid.column);
}

function panelKey(event) {
  const typing = event.target.closest && event.target.closest("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !typing && run.n > 0) {
    event.preventDefault();
    byID("search").scrollIntoView({ block: "center" });
    byID("search").focus();
    return;
  }
  if (state.q === "") return;
  if (event.key === "Escape" && !(typing && typing.value && typing.type === "search")) closePanel();
  else if (!typing && (event.key === "j" || event.key === "J")) step(1);
  else if (!typing && (event.key === "k" || event.key === "K")) step(-1);
}

async function drawPanel(moved) {
  const q = questionOf(state.q);
  const turn = ++panel.drawn;
  if (q < 0) {
    panel.node.hidden = true;
    document.body.classList.remove("with-panel");
    highlight();
    return;
  }
  const d = await details(q);
  if (turn !== panel.drawn) return; // another question was opened since
  const first = panel.node.hidden;
  const scrolled = panel.node.scrollTop;
  fill(panel.node, panelHead(q), panelBody(q, d));
  panel.node.hidden = false;
  document.body.classList.add("with-panel");
  panel.node.scrollTop = moved ? 0 : scrolled;
  if (first) byID("panel-title").focus({ preventScroll: true });
  highlight();
}

function panelHead(q) {
  const at = grid.list.indexOf(q);
  const copy = button("Copy link", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Copy it from the address bar";
    }
  }, { class: "quiet", id: "copy" });
  return el("div", { class: "panel-head" },
    button("‹", () => step(-1), { "aria-label": "Previous question", disabled: at <= 0, class: "quiet", id: "previous" }),
    button("›", () => step(1), { "aria-label": "Next question", disabled: at < 0 || at >= grid.list.length - 1, class: "quiet", id: "next" }),
    el("span", { class: "soft" }, at < 0 ? "not in the selection" : `${(at + 1).toLocaleString("en")} of ${grid.list.length.toLocaleString("en")}`),
    el("span", { class: "space" }), copy,
    button("Close", closePanel, { class: "quiet", id: "close" }));
}

function panelBody(q, d) {
  const { domain, type, id } = run.questions;
  const shown = sides(q);
  return el("div", { class: "panel-body" },
    el("p", { class: "eyebrow" }, `${run.types[type[q]].title} · ${run.domains[domain[q]]} · ${id[q]}`),
    el("h2", { id: "panel-title", tabIndex: -1 }, d.text),
    strip(q, shown),
    gold(d, shown),
    el("div", { class: `sides n${shown.length}` }, shown.map((s, i) => side(q, d, s, i, shown))));
}

// strip is the row of the matrix, with names: a click makes a system A.
function strip(q, shown) {
  const list = standings().map((r) => r.s);
  run.systems.forEach((_, s) => list.includes(s) || list.push(s));
  return el("div", { class: "strip", role: "group", "aria-label": "Systems" }, list.filter((s) => run.cells[s].state[q] !== ABSENT).map((s) => {
    const c = cell(s, q), name = run.systems[s].name;
    return button([el("span", { class: `cell ${look(c)}`, "aria-hidden": "true" }, marks[look(c)]), cutText(name, 24)],
      (event) => (event.shiftKey ? set({ b: name }) : set({ a: name, b: state.b === name ? "" : state.b })), {
        class: `system${shown[0] === s ? " is-a" : shown[1] === s ? " is-b" : ""}`, data: { tip: `${name}: ${words(c)}. With Shift beside A.` }, "aria-pressed": String(shown.includes(s)),
      });
  }));
}

// gold is the expected answer, and for each system shown which of its statements
// the answer made, and where the gold pages were ranked.
function gold(d, shown) {
  const letter = (i) => (shown.length > 1 ? `${"AB"[i]}: ` : "");
  const statements = (d.gold || []).map((statement, g) => {
    const made = shown.map((s, i) => {
      const a = d.answers[s];
      if (!a || !a.matches) return null;
      const yes = a.matches.some(([of]) => of === g);
      return el("span", { class: yes ? "made" : "missing" }, `${letter(i)}${yes ? "stated" : "not stated"}`);
    });
    return el("li", null, statement, " ", made);
  });
  const pages = (d.pages || []).map((unit) => el("li", null, el("span", { class: "star", "aria-hidden": "true" }, "★"), unit.join(" or "), " ", shown.map((s, i) => {
    const a = d.answers[s];
    if (!a) return null;
    const at = a.ranked.findIndex((r) => unit.includes(r.doc));
    return el("span", { class: at < 0 ? "missing" : "made" }, `${letter(i)}${at < 0 ? (a.ranked.length ? `not in the first ${a.ranked.length}` : "nothing ranked") : `rank ${at + 1}`}`);
  })));
  return el("div", { class: "gold" },
    statements.length > 0 && [el("h3", null, statements.length > 1 ? "Gold statements" : "Gold answer"), el("ul", { class: "plainlist" }, statements)],
    pages.length > 0 && [el("h3", null, pages.length > 1 ? "Gold pages" : "Gold page"), el("ul", { class: "plainlist" }, pages)]);
}

// side is one system's answer.
function side(q, d, s, i, shown) {
  const a = d.answers[s], c = cell(s, q);
  const names = run.systems.map((system) => [system.name, cutText(system.name, 34)]);
  const chooser = choice(`System ${"AB"[i]} in this panel`, i === 0 ? names : [["", "none"], ...names], run.systems[s].name,
    (v) => set(i === 0 ? { a: v, b: state.b === v ? "" : state.b } : { b: v }));
  const head = el("div", { class: "side-head" }, el("b", { class: `mark-${"ab"[i]}` }, "AB"[i]), chooser,
    shown.length === 1 && choice("Compare with", [["", "compare with …"], ...names.filter(([v]) => v !== run.systems[s].name)], "", (v) => set({ b: v }), { id: "compare" }));
  if (!a) return el("article", null, head, el("p", { class: "soft" }, "This system was not asked."));
  return el("article", { data: { side: "ab"[i] } }, head,
    el("p", { class: "verdict" }, el("span", { class: `cell ${look(c)}`, "aria-hidden": "true" }, marks[look(c)]), el("b", null, words(c))),
    a.reason && el("p", { class: "reason" }, `${a.verdict ? `${a.verdict}: ` : ""}${a.reason}`),
    !a.reason && a.verdict && el("p", { class: "reason" }, a.verdict),
    answerText(a, i), said(a, d), passages(a, d, i), ranking(a, d), steps(a), costs(a, c));
}

function answerText(a, i) {
  if (!a.text) return el("p", { class: "soft" }, "No answer.");
  return el("blockquote", { class: "answer" }, a.text.map((span) => (span.m
    ? [el("span", { class: "cited" }, span.t), span.m.map((n) => el("sup", null, button(String(n), () => showPassage(i, n), { class: "cite", "aria-label": `Passage ${n}` })))]
    : span.t)));
}

function showPassage(i, n) {
  const node = byID(`passage-${i}-${n}`);
  if (!node) return;
  node.closest("details").open = true;
  node.scrollIntoView({ block: "center", behavior: "smooth" });
  node.classList.add("flash");
  setTimeout(() => node.classList.remove("flash"), 1200);
}

// said are the statements that the judge found in the answer.
function said(a, d) {
  if (!a.said || a.said.length === 0) return null;
  const made = new Set((a.matches || []).map(([, predicted]) => predicted));
  const rows = a.said.map((statement, n) => el("li", { class: made.has(n) ? "yes" : "no" },
    el("span", { class: made.has(n) ? "made" : "missing" }, made.has(n) ? "in the gold" : "not in the gold"), " ", statement));
  return el("details", null, el("summary", null, `Statements of the answer (${made.size} of ${a.said.length} in the gold)`), el("ul", { class: "plainlist" }, rows));
}

const goldDocs = (d) => new Set((d.pages || []).flat());
const star = (is) => (is ? el("span", { class: "star", data: { tip: "gold page" } }, "★ gold") : null);

// goldWords are the words of the gold answer that say something: those that few gold
// answers of the run have.
const wordPattern = /([\p{L}\p{N}]{4,}|\p{N}+)/u;
const wordsIn = (text) => text.toLowerCase().split(wordPattern).filter((w) => wordPattern.test(w));
let having = null; // in how many gold answers a word stands

function goldWords(d) {
  if (!having) {
    having = new Map();
    for (const text of run.questions.answer) for (const w of new Set(wordsIn(text))) having.set(w, (having.get(w) || 0) + 1);
  }
  const few = Math.max(2, run.n * 0.05);
  return new Set((d.gold || []).flatMap(wordsIn).filter((w) => (having.get(w) || 0) <= few));
}

// plain is Markdown without the marks of headings, bold text, items and tables.
const plain = (text) => text.replace(/^ *\|?[ :|-]*\|[ :|-]*$/gm, "").replace(/^#{1,6} +/gm, "").replace(/\*\*(\S|\S.*?\S)\*\*/g, "$1")
  .replace(/^( *)[-*] +/gm, "$1• ").replace(/^ *\| *| *\| *$/gm, "").replace(/ +\| +/g, " · ");

// lit is a part of a passage: quoted words are marked, words of the gold answer
// underlined.
function lit(spans, words) {
  return spans.map((span) => {
    const text = plain(span.t).split(wordPattern).map((w) => (words.has(w.toLowerCase()) ? el("u", null, w) : w));
    return span.m ? el("mark", null, text) : text;
  });
}

function passages(a, d, i) {
  if (!a.passages || a.passages.length === 0) return el("p", { class: "soft" }, "Nothing was read.");
  const golden = goldDocs(d), words = goldWords(d);
  const kept = a.passages.some((p) => p.text);
  return el("details", { open: true }, el("summary", null, `Read (${a.passages.length + (a.unshown || 0)})`),
    el("ol", { class: "passages" }, a.passages.map((p, n) => el("li", { id: `passage-${i}-${n + 1}` },
      el("p", { class: "source" }, el("b", null, `${n + 1} `), p.doc || "made of sources", " ", star(golden.has(p.doc) || (p.docs || []).some((doc) => golden.has(doc))),
        p.tokens > 0 && el("span", { class: "soft" }, ` ${plural(p.tokens, "token")}`)),
      p.text && el("p", { class: "excerpt" }, lit(p.text, words)),
      p.docs && p.docs.length > 0 && el("p", { class: "soft" }, `from ${p.docs.slice(0, 3).join(", ")}${p.docs.length > 3 ? ` and ${p.docs.length - 3} more` : ""}`)))),
    a.unshown && el("p", { class: "soft" }, `and ${a.unshown} more`),
    el("p", { class: "soft" }, kept ? [el("mark", null, "Marked"), " is quoted in the answer, ", el("u", null, "underlined"), " stands in the gold answer."] : "The texts of the passages were not kept."));
}

function ranking(a, d) {
  if (a.ranked.length === 0) return null;
  const golden = goldDocs(d);
  return el("details", { open: true }, el("summary", null, "Ranking"),
    el("ol", { class: "ranking" }, a.ranked.map((r) => el("li", { class: golden.has(r.doc) ? "golden" : "" },
      el("span", { data: { tip: r.chunk } }, r.doc), " ", star(golden.has(r.doc)), el("span", { class: "score" }, r.score.toPrecision(3))))));
}

function steps(a) {
  if (!a.steps || a.steps.length === 0) return null;
  return el("details", null, el("summary", null, `Steps of the search (${a.steps.length})`),
    el("ol", { class: "steps" }, a.steps.map((s) => el("li", null, el("b", null, s.kind), s.query ? ` ${s.query}` : "", s.found && s.found.length > 0 && el("p", { class: "soft" }, s.found.join(" · "))))));
}

function costs(a, c) {
  const rows = [];
  if (a.costs.context >= 0) rows.push(["evidence", plural(a.costs.context, "token")]);
  if (a.costs.calls) rows.push(["model", `${plural(a.costs.calls, "call")}, ${plural((a.costs.prompt || 0) + (a.costs.completion || 0), "token")}`]);
  if (a.costs.ms) rows.push(["time", a.costs.ms < 1000 ? `${Math.max(1, Math.round(a.costs.ms))} ms` : `${(a.costs.ms / 1000).toFixed(1)} s`]);
  if (c.score >= 0) rows.push(["score", `${c.score} %`]);
  return el("dl", { class: "costs" }, rows.map(([k, v]) => [el("dt", null, k), el("dd", null, v)]));
}

// start draws the page.
async function start() {
  startTips();
  startContents();
  startTheme(() => {});
  await loadIndex();
  startState();
  if (run.n > 0) {
    startFilters();
    startMatrix();
    drawOutcomes();
    watch((changed) => (changed.has("t") || changed.has("d")) && drawOutcomes());
    startFigures();
    startPanel();
    performance.mark("ready");
    document.documentElement.dataset.ready = "true";
  }
  await loaded();
  startTables();
}
