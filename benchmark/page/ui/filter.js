// Which questions are shown, and in which order; the two-by-two of every system;
// the selection as CSV.

// filters are the keys of the state that select or order questions.
const filters = ["t", "d", "s", "a", "av", "b", "bv", "x", "o"];

// chosen are the questions of the types and domains that are chosen.
function chosen() {
  const types = numbers(state.t), domains = numbers(state.d);
  const out = [];
  const { type, domain } = run.questions;
  for (let q = 0; q < run.n; q++) {
    if ((types.size === 0 || types.has(type[q])) && (domains.size === 0 || domains.has(domain[q]))) out.push(q);
  }
  return out;
}

// holds tells whether a test holds for a system, for any or for every one of them.
function holds(who, test, q) {
  const f = tests[test][1];
  if (who !== "*" && who !== "*every") return f(cell(systemOf(who), q));
  let any = false, every = true;
  for (let s = 0; s < run.systems.length; s++) {
    const c = cell(s, q);
    if (c.state === ABSENT) continue;
    const yes = f(c);
    any = any || yes;
    every = every && yes;
  }
  return who === "*" ? any : any && every;
}

// tally counts the systems that answered a question, and those that were judged.
function tally(q) {
  let right = 0, all = 0;
  for (let s = 0; s < run.systems.length; s++) {
    const c = cell(s, q);
    if (!judged(c)) continue;
    all++;
    if (answered(c)) right++;
  }
  return { right, all, share: all ? right / all : -1 };
}

// selected are the questions that pass every filter, in order.
function selected() {
  const terms = state.s.toLowerCase().split(/\s+/).filter(Boolean);
  const out = chosen().filter((q) =>
    terms.every((term) => run.haystack[q].includes(term)) &&
    (state.av === "" || holds(state.a, state.av, q)) &&
    (state.b === "" || state.bv === "" || holds(state.b, state.bv, q)) &&
    (state.x === "" || disagree(q)));
  return orders[state.o][1](out);
}

function disagree(q) {
  const { right, all } = tally(q);
  return right > 0 && right < all;
}

const byKey = (key) => (list) => {
  const keys = new Map(list.map((q) => [q, key(q)]));
  return list.sort((x, y) => keys.get(x) - keys.get(y) || x - y);
};

const lead = (q) => {
  const value = (name) => {
    const s = systemOf(name);
    return s < 0 ? 0 : Math.max(0, run.cells[s].score[q]);
  };
  return value(state.b) - value(state.a);
};

const orders = {
  file: ["as in the data set", (list) => list],
  hard: ["hardest first", byKey((q) => tally(q).share)],
  easy: ["easiest first", byKey((q) => -tally(q).share)],
  split: ["most disagreement first", byKey((q) => { const { right, all } = tally(q); return all ? Math.abs(right / all - 0.5) : 1; })],
  lead: ["A ahead of B first", byKey(lead)],
  text: ["by text", (list) => list.sort((x, y) => run.questions.text[x].localeCompare(run.questions.text[y], "en") || x - y)],
};

// Chips are buttons that stay pressed.
function chips(label, titles, key) {
  if (titles.length < 2) return null;
  const buttons = titles.map((title, i) => button(cutText(title, 30), () => set({ [key]: toggled(state[key], i) }), { class: "chip", data: { key, n: i } }));
  return el("div", { class: "chips", role: "group", "aria-label": label }, el("span", { class: "label" }, label), buttons);
}

const presets = [
  ["Systems disagree", { x: "1" }],
  ["Retrieved, not answered", { av: "lost" }],
  ["Nobody answered", { a: "*every", av: "missed" }],
];

function startFilters() {
  const search = el("input", { type: "search", id: "search", placeholder: "Search questions and gold answers", "aria-label": "Search questions and gold answers", value: state.s, autocomplete: "off", spellcheck: false });
  search.addEventListener("input", () => set({ s: search.value }));
  const conditions = Object.entries(tests).map(([key, [label]]) => [key, label]);
  const names = run.systems.map((s) => [s.name, cutText(s.name, 34)]);
  const a = choice("System A", [["*", "any system"], ["*every", "every system"], ...names], state.a, (v) => set({ a: v, ...(v === state.b ? { b: "" } : {}) }), { id: "a" });
  const av = choice("Condition on A", [["", "…"], ...conditions], state.av, (v) => set({ av: v }), { id: "av" });
  const b = choice("System B", [["", "no other"], ...names], state.b, (v) => set({ b: v }), { id: "b" });
  const bv = choice("Condition on B", [["", "…"], ...conditions], state.bv, (v) => set({ bv: v }), { id: "bv" });
  const order = choice("Order", Object.entries(orders).map(([key, [label]]) => [key, label]), state.o, (v) => set({ o: v }), { id: "order" });
  const quick = presets.map(([label, change]) => {
    const on = () => Object.entries(change).every(([key, value]) => state[key] === value);
    const b = button(label, () => set(on() ? Object.fromEntries(Object.keys(change).map((key) => [key, defaults[key]])) : change), { class: "chip" });
    watch(() => b.setAttribute("aria-pressed", on()));
    b.setAttribute("aria-pressed", on());
    return b;
  });
  const clear = button("Clear all", () => set(Object.fromEntries(filters.map((key) => [key, defaults[key]]))), { class: "quiet", id: "clear" });
  fill(byID("filters"),
    el("div", { class: "line" }, search, el("label", null, "Order ", order)),
    el("div", { class: "line conditions" },
      el("span", null, el("b", { class: "mark-a" }, "A "), a, " ", av),
      el("span", null, el("b", { class: "mark-b" }, "B "), b, " ", bv), clear),
    el("div", { class: "chips", role: "group", "aria-label": "Show" }, el("span", { class: "label" }, "Show"), quick),
    chips("Types", run.types.map((t) => t.title), "t"),
    chips("Domains", run.domains, "d"));
  const sync = () => {
    if (search.value !== state.s) search.value = state.s;
    [a.value, av.value, b.value, bv.value, order.value] = [state.a, state.av, state.b, state.bv, state.o];
    bv.disabled = state.b === "";
    const pressed = { t: numbers(state.t), d: numbers(state.d) };
    for (const chip of byID("filters").querySelectorAll("[data-key]")) {
      chip.setAttribute("aria-pressed", pressed[chip.dataset.key].has(Number(chip.dataset.n)));
    }
    clear.disabled = filters.every((key) => state[key] === defaults[key]);
  };
  watch(sync);
  sync();
  byID("csv").addEventListener("click", download);
}

// The cards: for each system how many questions it found a gold page for, and
// answered. Of the types chosen, or all, they count those that are right or wrong.
function cardTypes() {
  const types = numbers(state.t);
  const facts = run.types.flatMap((t, i) => (t.fact && (types.size === 0 || types.has(i)) ? [i] : []));
  return facts.length > 0 ? facts : [...types];
}

function drawOutcomes() {
  const types = cardTypes();
  const list = chosen().filter((q) => types.length === 0 || types.includes(run.questions.type[q]));
  const facts = types.length > 0 && types.every((t) => run.types[t].fact);
  byID("outcomes-note").textContent = `${plural(list.length, "question")}${facts ? " that are right or wrong" : ""}, of the types and domains chosen below. ` +
    "Retrieved: a gold page among the first five chunks. A click shows the questions.";
  const all = standings().map((r) => r.s);
  run.systems.forEach((_, s) => all.includes(s) || all.push(s));
  const cards = all.map((s) => card(s, list, types)).filter(Boolean);
  byID("outcomes").hidden = cards.length === 0;
  fill(byID("cards"), cards);
}

function card(s, list, types) {
  const name = run.systems[s].name;
  const of = (key) => list.filter((q) => tests[key][1](cell(s, q))).length;
  const count = { both: of("both"), lost: of("lost"), lucky: of("lucky"), neither: of("neither") };
  const all = count.both + count.lost + count.lucky + count.neither;
  if (all === 0) return null;
  const box = (key) => {
    const text = `${tests[key][0]}: ${count[key]} of ${all}`;
    const show = () => {
      set({ a: name, av: key, b: state.b === name ? "" : state.b, t: types.length < run.types.length ? types.join(".") : "" });
      byID("questions").scrollIntoView({ behavior: "smooth" });
    };
    const b = button(String(count[key]), show, { class: `box ${key}`, "aria-label": `${name}: ${text}`, data: { tip: text } });
    b.style.setProperty("--share", `${Math.round(15 + (70 * count[key]) / all)}%`);
    return b;
  };
  return el("div", { class: "card" }, el("h3", null, name),
    el("div", { class: "two" },
      el("i"), el("i", null, "right"), el("i", null, "not right"),
      el("i", null, "retrieved"), box("both"), box("lost"),
      el("i", null, "not"), box("lucky"), box("neither")));
}

// download writes the selection, one line for each question and system.
function download() {
  const quote = (v) => {
    const text = String(v);
    return `"${(/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
  };
  const states = ["absent", "pending", "right", "wrong", "scored", "refused", "failed", "unscored", "searched"];
  const known = (n) => (n < 0 ? "" : n);
  const lines = ["domain,id,type,question,system,outcome,score_percent,gold_found_percent,context_tokens,ms"];
  for (const q of selected()) {
    for (let s = 0; s < run.systems.length; s++) {
      const c = cell(s, q);
      if (c.state === ABSENT) continue;
      const { domain, id, type, text } = run.questions;
      lines.push([run.domains[domain[q]], id[q], run.types[type[q]].title, text[q], run.systems[s].name].map(quote).join(",") +
        `,${states[c.state]},${known(c.score)},${known(c.found)},${known(c.tokens)},${c.ms || ""}`);
    }
  }
  const link = el("a", { href: URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], { type: "text/csv" })), download: "selection.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
