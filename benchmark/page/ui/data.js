// The data of the page: pieces of gzip in script elements that are no scripts.

// unpack decodes a piece as text.
async function unpack(id) {
  const coded = byID(id).textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(coded)
    : Uint8Array.from(atob(coded), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// run is the index; it is set once, before anything is drawn.
let run = null;

// The states of an answer, as package page numbers them.
const ABSENT = 0, PENDING = 1, RIGHT = 2, WRONG = 3, SCORED = 4, REFUSED = 5, FAILED = 6, UNSCORED = 7, SEARCHED = 8;

async function loadIndex() {
  run = JSON.parse(await unpack("index"));
  run.n = run.questions ? (run.questions.id || []).length : 0;
  run.systems = run.systems || [];
  run.haystack = [];
  for (let q = 0; q < run.n; q++) {
    const { id, text, answer } = run.questions;
    run.haystack.push(`${id[q]}\n${text[q]}\n${answer[q]}`.toLowerCase());
  }
}

// details are those of a question, from the piece that holds it.
const opened = new Map();

async function details(q) {
  let piece = run.pieces.length - 1;
  while (run.pieces[piece] > q) piece--;
  if (!opened.has(piece)) {
    if (opened.size > 8) opened.delete(opened.keys().next().value);
    if (!byID(`piece${piece}`)) await loaded();
    opened.set(piece, unpack(`piece${piece}`).then(JSON.parse));
  }
  return (await opened.get(piece))[q - run.pieces[piece]];
}

// loaded waits until the browser has read the whole file.
function loaded() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

// charts loads the library that draws. Its scripts are named in the page's policy.
let drawing = null;

function charts() {
  if (!drawing) {
    drawing = (async () => {
      for (const id of ["library0", "library1"]) {
        const script = document.createElement("script");
        script.textContent = await unpack(id);
        document.head.append(script);
      }
      return window.Plot;
    })();
  }
  return drawing;
}

// cell is a system's answer to a question in short.
function cell(s, q) {
  const c = run.cells[s];
  return { state: c.state[q], score: c.score[q], found: c.found[q], tokens: c.tokens[q], ms: c.ms[q] };
}

const judged = (c) => c.state === RIGHT || c.state === WRONG || c.state === SCORED || c.state === REFUSED;
const asked = (c) => c.state !== ABSENT && c.state !== PENDING;
const answered = (c) => c.state === RIGHT || (c.state === SCORED && c.score > 0);
const missed = (c) => judged(c) && !answered(c);

// tests are what can be asked of one answer.
const tests = {
  answered: ["answered", answered],
  missed: ["not answered", missed],
  both: ["retrieved and answered", (c) => c.found > 0 && answered(c)],
  lost: ["retrieved, not answered", (c) => c.found > 0 && missed(c)],
  lucky: ["answered, not retrieved", (c) => c.found === 0 && answered(c)],
  neither: ["neither retrieved nor answered", (c) => c.found === 0 && missed(c)],
  found: ["page retrieved", (c) => c.found > 0],
  unfound: ["page not retrieved", (c) => c.found === 0],
  refused: ["refused", (c) => c.state === REFUSED],
  failed: ["failed or without a score", (c) => c.state === FAILED || c.state === UNSCORED],
  pending: ["not asked yet", (c) => c.state === PENDING],
};

// look is how a cell is drawn: a word for its colour and mark.
function look(c) {
  switch (c.state) {
    case ABSENT: return "absent";
    case PENDING: return "pending";
    case RIGHT: return c.found === 0 ? "lucky" : "right";
    case SCORED: return c.score === 0 ? (c.found > 0 ? "lost" : "wrong") : `part${Math.min(4, Math.ceil(c.score / 25))}`;
    case FAILED: case UNSCORED: return "failed";
    case SEARCHED: return c.found > 0 ? `part${Math.ceil(c.found / 25)}` : "wrong";
    default: return c.found > 0 ? "lost" : "wrong";
  }
}

const marks = { right: "●", lucky: "◐", lost: "○", wrong: "·", failed: "!", pending: "", absent: "", part1: "", part2: "", part3: "", part4: "" };

const legend = [
  ["right", "answered, a gold page among the first five"],
  ["lucky", "answered, no gold page among them"],
  ["lost", "retrieved, not answered"],
  ["wrong", "neither"],
  ["part2", "share of statements"],
  ["failed", "failed, or without a score"],
  ["pending", "not asked yet"],
];

// words say what a cell shows.
function words(c) {
  const verdict = {
    [ABSENT]: "not asked", [PENDING]: "not asked yet", [RIGHT]: "answered", [WRONG]: "not answered",
    [SCORED]: `F1 of statements ${c.score} %`, [REFUSED]: "refused", [FAILED]: "failed", [UNSCORED]: "without a score", [SEARCHED]: "searched for",
  }[c.state];
  if (!asked(c)) return verdict;
  const found = c.found < 0 ? "" : c.found === 0 ? ", no gold page in the first five" : c.found === 100 ? ", all gold pages in the first five" : `, ${c.found} % of the gold pages in the first five`;
  return verdict + found;
}
