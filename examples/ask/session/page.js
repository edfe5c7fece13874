"use strict";

const byId = (id) => document.getElementById(id);
const turns = new Map(); // the turns of this visit, by what history knows them by
let about = { paid: true, fields: {}, kinds: {} };

// told are the questions that are shown, or their answers, oldest first.
const told = (what) => [...byId("turns").children].reverse().map((t) => t.dataset[what] || "").slice(-20);
const query = (fields) => new URLSearchParams(Object.entries(fields).filter(([, v]) => v !== "")).toString();
const many = (n, what) => n === 1 ? `1 ${what}` : `${n} ${what}s`;

// cite draws an answer with the numbers of its sources behind what they support.
function cite(to, answer, sources) {
  const bytes = new TextEncoder().encode(answer);
  const cut = (a, b) => unsigned(new TextDecoder().decode(bytes.slice(a, b)));
  const ends = (sources || []).map((s, i) => [s.end, i + 1]).sort((a, b) => a[0] - b[0]);
  let at = 0, signed = "";
  for (const [end, number] of ends) {
    signed += cut(at, end) + String.fromCharCode(NUMBER + number);
    at = end;
  }
  draw(to, signed + cut(at));
}

// place says where a text stands; a click opens the file there.
function place(x, number, where) {
  const b = make("button", "place", (number ? number + "  " : "") + x.file + ":" + x.place);
  b.type = "button";
  b.title = x.path + ":" + x.place;
  b.setAttribute("aria-expanded", "false");
  b.addEventListener("click", () => openFile(b, x, where));
  const page = /^p(\d+)/.exec(x.place);
  if (!page || !/\.pdf$/i.test(x.file)) return b;
  const both = document.createDocumentFragment(), open = make("a", "note", `Open page ${page[1]} of the PDF`);
  Object.assign(open, { href: "api/pdf?" + query({ file: x.file, where }) + "#page=" + page[1], target: "_blank", rel: "noopener" });
  both.append(b, open);
  return both;
}

// openFile shows the text of a file around a place, below the button, or closes it.
async function openFile(button, x, where) {
  const shown = button.parentElement.querySelector(".file");
  if (shown) {
    shown.remove();
    button.setAttribute("aria-expanded", "false");
    return;
  }
  const file = make("div", "file", "…");
  file.tabIndex = 0;
  file.setAttribute("role", "region");
  file.setAttribute("aria-label", "Text of " + x.file);
  button.after(file);
  button.setAttribute("aria-expanded", "true");
  try {
    const reply = await fetch("api/source?" + query({ file: x.file, start: x.from, end: x.to, where }));
    if (!reply.ok) throw new Error(await reply.text());
    const e = await reply.json();
    draw(file, unsigned(e.before) + BEGIN + unsigned(e.raw || e.quote) + END + unsigned(e.after), x.file);
    const mark = file.querySelector("mark");
    if (mark) file.scrollTop = mark.getBoundingClientRect().top - file.getBoundingClientRect().top - 60;
  } catch (error) {
    file.textContent = "This file cannot be shown: " + error.message;
  }
}

function sources(list, numbered, where) {
  const ul = make("ul", "sources");
  list.forEach((s, i) => {
    const li = make("li"), text = make("div", "text");
    draw(text, unsigned(s.before) + BEGIN + unsigned(s.raw || s.quote) + END + unsigned(s.after), s.path, s.lit);
    li.append(place(s, numbered ? i + 1 : 0, where), text);
    ul.append(li);
  });
  return ul;
}

function found(list, where) {
  const d = make("details"), ul = make("ul", "found");
  d.append(make("summary", "", "What was found"), ul);
  for (const p of list) {
    const li = make("li"), text = make("div", "text");
    draw(text, unsigned(p.text), p.path);
    li.append(place(p, 0, where), text);
    ul.append(li);
  }
  return d;
}

// picture asks for a page of its own. It is a form, since drawing answers the question again.
function picture(q, where) {
  const form = make("form", "note");
  Object.assign(form, { method: "post", action: "graph", target: "_blank" });
  for (const [name, value] of Object.entries({ q, where })) {
    const input = make("input");
    Object.assign(input, { type: "hidden", name, value });
    form.append(input);
  }
  form.append(make("button", "link", "Open it as a picture"));
  return form;
}

async function graph(turn, question, where) {
  if (!about.graph || about.paid && where) return; // no GET may cost
  const reply = await fetch("api/graph?" + query({ q: question, where }));
  if (!reply.ok) return;
  const n = await reply.json();
  if (n.facts.length === 0) return;
  const d = make("details"), ul = make("ul", "facts");
  d.append(make("summary", "", `The graph around ${n.names.join(", ")}`), picture(question, where), ul);
  for (const f of n.facts) {
    const li = make("li", "", f.head + " ");
    li.append(make("em", "", f.relation), " " + f.tail);
    if (f.path) li.append(" ", make("em", "", f.file + ":" + f.place));
    ul.append(li);
  }
  if (n.more) ul.append(make("li", "", `and ${n.more} more`));
  turn.append(d);
}

// timeline shows where the time of an answer went: a row for each of its spans (OTLP), below
// the one that it is a part of.
function timeline(trace) {
  const spans = trace.resourceSpans[0].scopeSpans[0].spans, d = make("details"), table = make("table", "spans"), body = make("tbody");
  if (!spans.length) return d;
  const at = (time) => Number(BigInt(time) - BigInt(spans[0].startTimeUnixNano)) / 1e6;
  const whole = Math.max(...spans.map((s) => at(s.endTimeUnixNano)), 1e-6), head = make("tr");
  const show = (s, depth) => {
    const is = Object.fromEntries((s.attributes || []).map((a) => [a.key, Object.values(a.value)[0]])), row = make("tr"), name = make("th", "", s.name), bar = make("div", "bar"), line = make("td");
    const start = at(s.startTimeUnixNano), took = at(s.endTimeUnixNano) - start;
    const says = [is["wildgraph.stage"], is["gen_ai.request.model"], is["wildgraph.system"], is["gen_ai.usage.input_tokens"] && `${is["gen_ai.usage.input_tokens"]} + ${is["gen_ai.usage.output_tokens"] || 0} tokens`,
      is["wildgraph.cost"] && `${is["wildgraph.cost"].toFixed(5)} ${is["wildgraph.currency"]}`, is["gen_ai.request.model"] && !is["wildgraph.paid"] && "from the cache", is["error.type"]];
    name.scope = "row";
    name.style.paddingLeft = depth * 14 + "px";
    bar.classList.toggle("call", s.kind === 3);
    Object.assign(bar.style, { marginLeft: 100 * start / whole + "%", width: Math.max(100 * took / whole, .4) + "%" });
    line.append(bar);
    row.append(name, make("td", "", says.filter(Boolean).join(", ")), line, make("td", "", took < 10 ? took.toFixed(2) : took.toFixed(0)));
    body.append(row);
    if (body.childElementCount < 300) for (const c of spans) if (c.parentSpanId === s.spanId) show(c, depth + 1);
  };
  for (const s of spans) if (!s.parentSpanId) show(s, 0);
  for (const h of ["Step", "Of what", "When", "ms"]) head.append(Object.assign(make("th", "", h), { scope: "col" }));
  const top = make("thead"), wide = make("div", "wide");
  top.append(head);
  table.append(top, body);
  wide.append(table);
  Object.assign(wide, { tabIndex: 0, role: "region", ariaLabel: "Where the time went" });
  d.append(make("summary", "", `Where the time went (${whole < 10 ? whole.toFixed(1) : whole.toFixed(0)} ms)`), wide);
  return d;
}

// show writes a reply, or the beginning of one. Whoever listens is told the whole one.
function show(turn, r) {
  const answer = turn.querySelector(".answer");
  if (r.error) {
    turn.classList.add("failed");
    answer.textContent = byId("status").textContent = r.error;
    return;
  }
  draw(answer, unsigned(r.answer) || "…");
  if (!r.system) return; // more is to come
  if (r.note) turn.append(make("p", "note", r.note));
  if (r.read_as) turn.append(make("p", "note", "asked as: " + r.read_as));
  if (r.refused) turn.classList.add("refused");
  else cite(answer, r.answer, r.sources);
  byId("status").textContent = answer.textContent;
  const where = turn.dataset.where;
  if (r.sources) turn.append(sources(r.sources, true, where));
  if (r.facts) {
    const ul = make("ul", "facts");
    r.facts.forEach((f) => ul.append(make("li", "", f)));
    turn.append(ul);
  }
  if (r.uncited) turn.append(make("p", "note", "No passage is cited for this."));
  if (r.closest) turn.append(make("p", "note", r.closest.length > 1 ? "The closest passages:" : "The closest passage:"), sources(r.closest, false, where));
  if (r.passages && r.passages.length) turn.append(found(r.passages, where));
  if (r.trace) turn.append(timeline(r.trace));
}

// checked says beside the field what a condition leaves, or what is wrong with it.
async function checked() {
  const input = byId("where"), where = input.value.trim(), says = byId("matching");
  const r = where ? await load("api/about?" + query({ where })).catch((e) => ({ error: e.message })) : null, bad = r !== null && Boolean(r.error);
  if (where !== input.value.trim()) return checked(); // it was changed meanwhile
  says.textContent = r === null ? "" : r.error || `${r.files} of ${many(about.files, "file")}`;
  says.classList.toggle("bad", bad);
  input.setAttribute("aria-invalid", bad);
  byId("limit").textContent = where && !bad ? ": " + where : "";
  if (bad) byId("only").open = true;
  return !bad;
}

async function ask(question, where, enter) {
  const turn = make("section", "turn"), id = `${performance.timeOrigin} ${turns.size}`, before = told("question"), answers = told("answer");
  const title = make("h2", "", question);
  title.id = "turn-" + turns.size;
  turn.setAttribute("aria-labelledby", title.id);
  turn.setAttribute("aria-busy", "true");
  Object.assign(turn.dataset, { question, where, id });
  turn.append(title, make("div", "answer", "…"));
  if (where) title.after(make("p", "note", "only files where " + where));
  turns.set(id, turn);
  byId("turns").prepend(turn);
  const shown = [...byId("turns").children].map((t) => t.dataset.id);
  history[enter ? "replaceState" : "pushState"](shown, "", "?" + query({ q: question, where }));
  begun();
  byId("status").textContent = "Searching the files";
  try {
    const reply = await fetch("api/ask", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ question, before, answers, where: where || undefined }),
    });
    if (!reply.ok) throw new Error(await reply.text());
    const lines = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await lines.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const line of parts) {
        const r = JSON.parse(line);
        turn.dataset.answer = r.refused ? "" : r.answer || "";
        show(turn, r);
      }
    }
    await graph(turn, question, where);
  } catch (error) {
    show(turn, { error: "No answer: " + error.message });
  }
  turn.removeAttribute("aria-busy");
}

// submit asks what stands in the fields, if the condition is one.
async function submit(enter) {
  const input = byId("question"), button = byId("send"), question = input.value.trim();
  if (!question || button.disabled) return;
  button.disabled = true;
  byId("wait").textContent = "";
  const good = await checked();
  if (good) {
    input.value = "";
    await ask(question, byId("where").value.trim(), enter);
  }
  button.disabled = false;
  byId(good ? "question" : "where").focus();
}

// begun shows the first screen, or that something was asked.
function begun() {
  const any = byId("turns").children.length > 0;
  byId("start").hidden = any || byId("suggestions").children.length === 0;
  byId("after").hidden = !any;
}

// arrive shows the state of an address: the turns of this visit again, a question of a link asked
// at once, or put into its field where a model would be asked.
async function arrive(state, moved = true) {
  const link = new URLSearchParams(location.search), shown = (Array.isArray(state) ? state : []).filter((id) => turns.has(id));
  byId("turns").replaceChildren(...shown.map((id) => turns.get(id)));
  const q = (link.get("q") || "").trim(), where = link.get("where") || "", there = shown.length > 0 && turns.get(shown[0]).dataset.question === q;
  if (q && !there) byId("question").value = q;
  if (where || moved) byId("where").value = where; // what was typed while the page came stays
  byId("wait").textContent = "";
  begun();
  if (!q || there || about.paid) await checked();
  if (!q || there) return;
  if (!about.paid) return submit(true);
  byId("wait").textContent = "This question came with the link. A model answers it when you press Ask.";
  byId("send").focus();
}

function fresh() {
  history.pushState([], "", location.pathname);
  arrive([]);
  byId("question").focus();
}

// tell fills the first screen.
function tell(a) {
  about = a;
  byId("docs").textContent = a.name;
  byId("docs").title = a.docs;
  document.title = "Ask " + a.name;
  const kinds = Object.entries(a.kinds).sort((x, y) => y[1] - x[1]).map(([kind, n]) => `${n} ${kind || "without a kind"}`);
  if (kinds.length > 6) kinds.splice(5, kinds.length, "…");
  const at = new Date(a.read).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  byId("about").textContent = `${many(a.files, "file")}${kinds.length ? ` (${kinds.join(", ")})` : ""}, read ${at}, searched by ${a.system}, ${a.model ? "answered by " + a.model : "answered by quotes, without a model"}`;
  for (const [name, condition] of Object.entries(a.fields).slice(0, 40)) {
    const li = make("li", "", condition ? undefined : name), b = make("button", "example", condition);
    b.type = "button";
    b.addEventListener("click", () => { byId("where").value = condition; byId("where").focus(); checked(); });
    if (condition) li.append(b);
    byId("fields").append(li);
  }
  if (a.skipped.length === 0) return;
  const d = make("details"), ul = make("ul", "facts");
  d.append(make("summary", "", "What is not read"), ul);
  a.skipped.forEach((line) => ul.append(make("li", "", line)));
  byId("about").after(d);
}

// suggest shows questions that the files answer, as links to them.
function suggest(questions) {
  for (const q of questions) {
    const li = make("li"), a = make("a", "", q);
    a.href = "?" + query({ q });
    a.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      byId("question").value = q;
      submit(false);
    });
    li.append(a);
    byId("suggestions").append(li);
  }
  begun();
}

byId("form").addEventListener("submit", (event) => { event.preventDefault(); submit(false); });
byId("where").addEventListener("change", checked);
byId("new").addEventListener("click", fresh);
addEventListener("popstate", (event) => arrive(event.state));
const load = (path) => fetch(path).then((r) => r.ok ? r.json() : r.text().then((text) => { throw new Error(text); }));
load("api/about").then((a) => { if (a.error) throw new Error(a.error); tell(a); }).then(() => arrive(history.state, false)).catch((e) => { byId("about").textContent = "The files cannot be told: " + e.message; });
load("api/suggestions").then((s) => suggest(s.questions)).catch(() => {}); // the page is whole without them
