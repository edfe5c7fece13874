// The state of the page is its address: whatever is chosen stands behind the "#",
// so that a link brings another reader to the same view.

const defaults = {
  m: "", // measure
  k: 0, // type of questions of the figures, 0 is all
  t: "", d: "", // types and domains, by number, joined by "."
  s: "", // search
  a: "*", av: "", // system A, or any of them, and what is asked of it
  b: "", bv: "", // system B
  x: "", // "1": systems disagree
  o: "file", // order
  q: "", // open question, see keyOf
};

let state = { ...defaults };
const listeners = [];

// watch calls f with the keys that changed.
function watch(f) {
  listeners.push(f);
}

function readState() {
  const params = new URLSearchParams(location.hash.slice(1));
  const next = { ...defaults };
  for (const key of Object.keys(defaults)) {
    if (params.has(key)) next[key] = typeof defaults[key] === "number" ? Number(params.get(key)) || 0 : params.get(key);
  }
  return check(next);
}

// check replaces what the run does not have.
function check(next) {
  const measures = (run.measures || []).map((m) => m.key);
  if (!measures.includes(next.m)) next.m = measures[0] || "";
  if (!(next.k >= 0 && next.k <= (run.types || []).length)) next.k = 0;
  const names = run.systems.map((s) => s.name);
  if (!["*", "*every", ...names].includes(next.a)) next.a = "*";
  if (!["", ...names].includes(next.b)) next.b = "";
  if (!Object.hasOwn(tests, next.av)) next.av = "";
  if (!Object.hasOwn(tests, next.bv)) next.bv = "";
  if (!Object.hasOwn(orders, next.o)) next.o = "file";
  for (const [key, list] of [["t", run.types], ["d", run.domains]]) {
    next[key] = [...numbers(next[key])].filter((n) => n < (list || []).length).join(".");
  }
  return next;
}

function hashOf(of) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(of)) {
    if (value !== defaults[key] && !(key === "m" && value === run.measures[0].key)) params.set(key, value);
  }
  return params.toString();
}

// set changes the state. Opening a question is a step that the browser's back
// button takes back; everything else replaces the address.
function set(change) {
  const next = check({ ...state, ...change });
  const push = next.q !== "" && state.q === "";
  apply(next);
  const hash = hashOf(state);
  const url = hash === "" ? location.pathname + location.search : `#${hash}`;
  try {
    history[push ? "pushState" : "replaceState"](null, "", url);
  } catch {
    location.hash = hash; // a page without an address of its own
  }
}

function apply(next) {
  const changed = new Set(Object.keys(defaults).filter((key) => next[key] !== state[key]));
  state = next;
  if (changed.size > 0) for (const f of listeners) f(changed);
}

function startState() {
  state = readState();
  const follow = () => {
    const section = location.hash.length > 1 && !location.hash.includes("=") ? byID(location.hash.slice(1)) : null;
    if (section) section.scrollIntoView();
    else apply(readState());
  };
  window.addEventListener("hashchange", follow);
  window.addEventListener("popstate", follow);
}

// Sets of numbers in the state.
function numbers(text) {
  return new Set(text.split(".").filter((n) => /^\d{1,6}$/.test(n)).map(Number));
}

function toggled(text, n) {
  const all = numbers(text);
  if (!all.delete(n)) all.add(n);
  return [...all].sort((x, y) => x - y).join(".");
}

// systemOf is the place of a system by its name, -1 if it is none.
const systemOf = (name) => run.systems.findIndex((s) => s.name === name);

// keyOf names a question in the address, questionOf finds it.
const keyOf = (q) => `${run.domains[run.questions.domain[q]]}/${run.questions.id[q]}`;

function questionOf(key) {
  if (key !== "") for (let q = 0; q < run.n; q++) if (keyOf(q) === key) return q;
  return -1;
}
