"use strict";

const byId = (id) => document.getElementById(id);
const before = []; // the questions of this dialogue

// make returns an element; all text is text.
function make(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// cite writes an answer with the numbers of its sources behind what they support.
function cite(to, answer, sources) {
  const bytes = new TextEncoder().encode(answer);
  const cut = (a, b) => new TextDecoder().decode(bytes.slice(a, b));
  const ends = (sources || []).map((s, i) => [s.end, i + 1]).sort((a, b) => a[0] - b[0]);
  let at = 0;
  to.replaceChildren();
  for (const [end, number] of ends) {
    to.append(cut(at, end), make("sup", "", number));
    at = end;
  }
  to.append(cut(at));
}

// place says where a text stands; the whole path is its title.
function place(x, number) {
  const p = make("p", "place", (number ? number + "  " : "") + x.file + ":" + x.place);
  p.title = x.path + ":" + x.place;
  return p;
}

// dense is a text without empty lines; and without the marks of Markdown where its file is read as such.
function dense(s, file) {
  s = s || "";
  if (/\.(md|markdown|html?|docx|org|adoc|rst|csv|tsv|pdf)$/i.test(file)) {
    s = s.replace(/^ *\|?[ :|-]*\|[ :|-]*$/gm, "").replace(/^#{1,6} +/gm, "").replace(/\*\*(\S|\S.*?\S)\*\*/g, "$1")
      .replace(/^( *)[-*] +/gm, "$1• ").replace(/^ *\| *| *\| *$/gm, "").replace(/ +\| +/g, " · ");
  }
  return s.replace(/\n\s*\n/g, "\n");
}

function source(s, number) {
  const li = make("li");
  li.append(place(s, number));
  const text = make("p", "text", dense(s.before, s.path));
  const quote = dense(s.quote, s.path);
  text.append(...(s.lit ? lit(quote, s.lit) : [make("mark", "", quote)]), dense(s.after, s.path));
  li.append(text);
  return li;
}

// lit marks words of a text, which are letters and digits alone.
function lit(text, words) {
  const any = words.map((w) => /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u.test(w) ? w : `(?<![\\p{L}\\p{N}])${w}(?![\\p{L}\\p{N}])`);
  return text.split(new RegExp(`(${any.join("|")})`, "u")).map((part, i) => i % 2 ? make("mark", "", part) : part);
}

function sources(list, numbered) {
  const ul = make("ul", "sources");
  list.forEach((s, i) => ul.append(source(s, numbered ? i + 1 : 0)));
  return ul;
}

function found(list) {
  const d = make("details");
  d.append(make("summary", "", "What was found"));
  const ul = make("ul", "found");
  for (const p of list) {
    const li = make("li");
    li.append(place(p), make("p", "text", dense(p.text, p.path)));
    ul.append(li);
  }
  d.append(ul);
  return d;
}

// picture asks for a page of its own. It is a form, since drawing answers the question again.
function picture(question) {
  const form = make("form", "note");
  form.method = "post";
  form.action = "graph";
  form.target = "_blank";
  const q = make("input");
  q.type = "hidden";
  q.name = "q";
  q.value = question;
  form.append(q, make("button", "link", "Open it as a picture"));
  return form;
}

async function graph(turn, question) {
  const reply = await fetch("api/graph?q=" + encodeURIComponent(question));
  if (!reply.ok) return;
  const n = await reply.json();
  if (n.facts.length === 0) return;
  const d = make("details");
  d.append(make("summary", "", `The graph around ${n.names.join(", ")}`));
  d.append(picture(question));
  const ul = make("ul", "facts");
  for (const f of n.facts) {
    const li = make("li", "", f.head + " ");
    li.append(make("em", "", f.relation), " " + f.tail);
    if (f.path) li.append(" ", make("em", "", f.file + ":" + f.place));
    ul.append(li);
  }
  if (n.more) ul.append(make("li", "", `and ${n.more} more`));
  d.append(ul);
  turn.append(d);
}

// show writes a reply, or the beginning of one.
function show(turn, answer, r) {
  answer.textContent = r.answer || "…";
  if (r.error) {
    turn.classList.add("failed");
    answer.textContent = r.error;
    return;
  }
  if (!r.system) return; // more is to come
  turn.querySelectorAll(":scope > :not(h2):not(.answer)").forEach((e) => e.remove());
  if (r.note) turn.append(make("p", "note", r.note));
  if (r.read_as) turn.append(make("p", "note", "asked as: " + r.read_as));
  if (r.refused) turn.classList.add("refused");
  else cite(answer, r.answer, r.sources);
  if (r.sources) turn.append(sources(r.sources, true));
  if (r.facts) {
    const ul = make("ul", "facts");
    r.facts.forEach((f) => ul.append(make("li", "", f)));
    turn.append(ul);
  }
  if (r.closest) {
    turn.append(make("p", "note", r.closest.length > 1 ? "The closest passages:" : "The closest passage:"), sources(r.closest, false));
  }
  if (r.passages && r.passages.length) turn.append(found(r.passages));
}

async function ask(question) {
  const turn = make("section", "turn");
  const answer = make("p", "answer", "…");
  turn.append(make("h2", "", question), answer);
  byId("turns").prepend(turn);
  try {
    const reply = await fetch("api/ask", {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ question, before: before.slice(-20) }),
    });
    if (!reply.ok) throw new Error(await reply.text());
    const lines = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await lines.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const line of parts) show(turn, answer, JSON.parse(line));
    }
    before.push(question);
    await graph(turn, question);
  } catch (error) {
    show(turn, answer, { error: "No answer: " + error.message });
  }
}

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = byId("question"), button = byId("send");
  const question = input.value.trim();
  if (!question || button.disabled) return;
  button.disabled = true;
  input.value = "";
  await ask(question);
  button.disabled = false;
  input.focus();
});

byId("new").addEventListener("click", () => {
  before.length = 0;
  byId("turns").replaceChildren();
  byId("question").focus();
});

fetch("api/about").then((r) => r.json()).then((a) => {
  byId("docs").textContent = a.name;
  byId("docs").title = a.docs;
  document.title = "Ask " + a.name;
  const files = a.files === 1 ? "1 file" : `${a.files} files`;
  byId("about").textContent = `${files}, searched by ${a.system}`;
  if (a.skipped.length === 0) return;
  const d = make("details"), ul = make("ul", "facts");
  d.append(make("summary", "", "What is not read"), ul);
  a.skipped.forEach((line) => ul.append(make("li", "", line)));
  byId("about").after(d);
});
