const $ = id => document.getElementById(id);

// el makes an element; strings among its children become text nodes.
function el(tag, attributes, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) out.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) out.setAttribute(name, value === true ? "" : value);
  }
  out.append(...children.filter(c => c != null));
  return out;
}

// unpack reads a piece of the page.
async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const view = { selected: null, reading: false, community: null, near: new Set(), path: [], pathEdges: new Set() };
let data, told;

function say(text) {
  $("message").textContent = text;
  $("message").hidden = false;
}

async function start() {
  try {
    data = await unpack("piece0");
  } catch {
    return say("This browser cannot unpack the page.");
  }
  view.theme = ground();
  build();
  legend();
  asked();
  search();
  $("theme").onclick = () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark" || !document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    repaint();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  try {
    render();
  } catch {
    say("This browser draws no WebGL: the graph is not shown, but names can be searched for and read.");
    for (const id of ["nearer", "further", "whole", "png", "svg"]) $(id).hidden = true;
  }
  addEventListener("hashchange", open);
  open();
  document.documentElement.dataset.ready = "true"; // for whoever waits
}

// open shows the node that the address names.
function open() {
  const name = decodeURIComponent(location.hash.slice(1)), at = name ? data.names.indexOf(name) : -1;
  if (at >= 0 && view.selected !== at) select(at, true);
}

// build makes the graph.
function build() {
  const graph = new graphology.UndirectedGraph();
  view.degree = new Array(data.names.length).fill(0);
  const from = data.from || [], to = data.to || [];
  from.forEach((f, i) => { view.degree[f]++; view.degree[to[i]]++; });
  const small = data.names.length > 5000 ? .55 : data.names.length > 1000 ? .8 : 1.2;
  data.names.forEach((name, n) => {
    let size = small * Math.min(2 + 1.1 * Math.sqrt(view.degree[n]), 22);
    if (data.mark) size *= .6 + 1.6 * data.mark[n] / 100;
    graph.addNode(n, { x: data.x[n], y: data.y[n], size, label: name, color: colour(data.community[n]) });
  });
  from.forEach((f, i) => graph.addEdgeWithKey("e" + i, f, to[i], { size: .7 }));
  view.graph = graph;
  const sizes = graph.mapNodes((_, a) => a.size).sort((a, b) => b - a);
  view.named = sizes[Math.min(60, sizes.length - 1)] || 0; // the size from which on nodes are named
}

function render() {
  let asked = [];
  const many = data.names.length > 3000, { NodePointProgram, NodeCircleProgram, EdgeLineProgram, EdgeRectangleProgram } = Sigma.rendering;
  view.renderer = new Sigma(view.graph, $("stage"), {
    labelFont: "system-ui, sans-serif", labelSize: 13, labelDensity: .9, defaultDrawNodeLabel: (_, n) => asked.push(n),
    labelRenderedSizeThreshold: Math.max(view.named, 2), labelGridCellSize: 90,
    // A point for a node and a line for an edge, in place of two or three triangles.
    nodeProgramClasses: { circle: many ? NodePointProgram : NodeCircleProgram },
    edgeProgramClasses: { line: many ? EdgeLineProgram : EdgeRectangleProgram }, defaultEdgeType: "line",
    hideEdgesOnMove: view.graph.size > 20_000, stagePadding: innerWidth < 700 ? 26 : 60, minCameraRatio: .005, maxCameraRatio: 4, zIndex: true,
    defaultDrawNodeHover: hover(() => view.theme), nodeReducer: node, edgeReducer: edge,
  });
  view.renderer.on("beforeRender", () => asked = []);
  view.renderer.on("afterRender", () => {
    const context = view.renderer.getCanvases().labels.getContext("2d");
    context.font = "13px system-ui, sans-serif";
    context.fillStyle = view.theme.ink;
    view.names = free(context, asked, view.renderer.getDimensions().width);
    for (const n of view.names) context.fillText(n.label, n.left, n.y + 4);
  });
  view.renderer.refresh({ skipIndexation: true }); // with the names
  view.renderer.on("clickNode", e => select(+e.node));
  view.renderer.on("clickStage", () => select(null));
  const camera = view.renderer.getCamera();
  $("nearer").onclick = () => camera.animatedZoom();
  $("further").onclick = () => camera.animatedUnzoom();
  $("whole").onclick = () => camera.animatedReset();
  $("svg").onclick = () => save(new Blob([svg(view)], { type: "image/svg+xml" }), "graph.svg");
  $("png").onclick = async () => save(await png(view), "graph.png");
}

// lit tells whether a node is in what is chosen.
function lit(n) {
  if (view.path.length) return view.path.includes(n);
  if (view.selected !== null) return n === view.selected || view.near.has(n);
  if (view.community !== null) return data.community[n] === view.community;
  return true;
}

const chosen = () => view.path.length || view.selected !== null || view.community !== null;

function node(key, attributes) {
  const n = +key, out = { ...attributes };
  if (!lit(n)) return { ...out, color: view.theme.faint, size: out.size * .6, label: null, zIndex: 0 };
  if (chosen()) out.zIndex = 1;
  if (n === view.selected || view.path.includes(n) || view.selected !== null && !view.path.length && view.near.size <= 30) out.forceLabel = true;
  if (n === view.selected) out.zIndex = 2;
  if (data.mark && data.mark[n] >= 50) out.forceLabel = true;
  return out;
}

function edge(key, attributes) {
  const [a, b] = view.graph.extremities(key).map(Number), out = { ...attributes, color: view.graph.size > 8000 ? view.theme.faint : view.theme.edge };
  if (view.path.length) return view.pathEdges.has(key) ? { ...out, color: view.theme.accent, size: 3, zIndex: 1 } : { ...out, hidden: true };
  if (view.selected !== null) return a === view.selected || b === view.selected ? { ...out, color: colour(data.community[a === view.selected ? b : a]), size: 1.4, zIndex: 1 } : { ...out, hidden: true };
  if (view.community !== null && !(lit(a) && lit(b))) return { ...out, hidden: true };
  if (view.graph.size < 8000 && data.community[a] === data.community[b]) out.color = mixed(colour(data.community[a]), view.theme.paper, .55);
  if (data.mark && data.mark[a] && data.mark[b]) out.size = .7 + 2.5 * Math.min(data.mark[a], data.mark[b]) / 100;
  return out;
}

// mixed is a share of one colour on another.
function mixed(a, b, share) {
  const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
  return "#" + [0, 1, 2].map(i => Math.round(share * part(a, i) + (1 - share) * part(b, i)).toString(16).padStart(2, "0")).join("");
}

function repaint() {
  view.theme = ground();
  if (!view.renderer) return;
  view.renderer.refresh({ skipIndexation: true });
}

// legend lists the communities.
function legend() {
  const size = [];
  data.community.forEach(c => size[c] = (size[c] || 0) + 1);
  const shown = data.communities.map((_, c) => c).filter(c => size[c] > 1).slice(0, maxColoured);
  $("legend").hidden = shown.length < 2;
  $("legend").open = !data.question && innerWidth > 700;
  for (const c of shown) {
    $("communities").append(el("button", {
      type: "button", class: "community", "aria-pressed": "false", onclick: e => {
        const on = view.community !== c;
        select(null);
        view.community = on ? c : null;
        for (const b of $("communities").children) b.setAttribute("aria-pressed", "false");
        e.currentTarget.setAttribute("aria-pressed", on);
        view.renderer?.refresh({ skipIndexation: true });
      },
    }, dot(c), data.communities[c], el("span", { class: "count" }, String(size[c]))));
  }
}

function dot(c) {
  const out = el("span", { class: "dot" });
  out.style.background = colour(c);
  return out;
}

// asked tells what led to an answer.
function asked() {
  if (!data.question) return;
  const heavy = data.mark.map((m, n) => [m, n]).filter(([m]) => m > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, 12);
  const weights = heavy.map(([m, n]) => {
    const bar = el("span", { class: "bar", title: m + " %" });
    bar.style.width = m + "%";
    return el("button", { type: "button", class: "weigh", onclick: () => select(n) }, data.names[n], bar);
  });
  $("asked").append(el("p", { class: "question" }, data.question), data.answer ? el("p", { class: "answer" }, data.answer) : null, el("h3", {}, "What led to it"), ...weights);
  $("asked").hidden = false;
  document.body.classList.add("asks");
}

// find are the best matches of a name: those that begin so, then those with most neighbours.
function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const out = [];
  data.names.forEach((name, n) => {
    const at = name.toLowerCase().indexOf(wanted);
    if (at >= 0) out.push([at === 0 ? (name.length === wanted.length ? 0 : 1) : 2, n]);
  });
  return out.sort((a, b) => a[0] - b[0] || view.degree[b[1]] - view.degree[a[1]] || a[1] - b[1]).slice(0, 10).map(m => m[1]);
}

// complete makes a field offer names and hand the one that is taken to take.
function complete(field, list, take) {
  let found = [], at = 0;
  const show = () => {
    list.replaceChildren(...found.map((n, i) => el("li", { role: "option", "aria-selected": String(i === at), onclick: () => done(n) }, dot(data.community[n]), data.names[n], el("span", { class: "count" }, String(view.degree[n])))));
    if (field.value.trim() && !found.length) list.append(el("li", { class: "none" }, "No such name."));
    list.hidden = !field.value.trim();
    field.setAttribute("aria-expanded", String(!list.hidden));
  };
  const done = n => {
    field.value = "";
    found = [];
    show();
    take(n);
  };
  field.addEventListener("input", () => { found = find(field.value); at = 0; show(); });
  field.addEventListener("keydown", e => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      at = Math.max(0, Math.min(found.length - 1, at + (e.key === "ArrowDown" ? 1 : -1)));
      e.preventDefault();
      show();
    } else if (e.key === "Enter" && found.length) done(found[at]);
    else if (e.key === "Escape") { field.value = ""; found = []; show(); }
  });
}

function search() {
  complete($("search"), $("matches"), n => select(n, true));
  addEventListener("keydown", e => {
    if (e.key === "/" && document.activeElement.tagName !== "INPUT") { e.preventDefault(); $("search").focus(); }
    if (e.key === "Escape") select(null);
  });
}

// select shows a node, its neighbours and its facts; null shows everything.
async function select(n, move) {
  view.selected = n;
  view.path = [];
  view.pathEdges.clear();
  if (n !== null && view.community !== null) {
    view.community = null;
    for (const b of $("communities").children) b.setAttribute("aria-pressed", "false");
  }
  view.near = new Set(n === null ? [] : view.graph.neighbors(n).map(Number));
  view.renderer?.refresh({ skipIndexation: true });
  history.replaceState(null, "", n === null ? location.pathname + location.search : "#" + encodeURIComponent(data.names[n]));
  read(n !== null);
  if (n === null) return;
  if (move || innerWidth < 700) fit([n, ...view.near]);
  if (!told) {
    told = await unpack("piece1");
    told.of = data.names.map(() => []);
    (told.facts || []).forEach((f, i) => { told.of[f.h].push(i); told.of[f.t].push(i); });
  }
  if (view.selected === n) panel(n);
}

// fit moves the camera so that nodes are on the screen.
function fit(nodes) {
  if (!view.renderer) return;
  const at = nodes.map(n => view.renderer.getNodeDisplayData(n)), camera = view.renderer.getCamera();
  const low = c => at.reduce((m, d) => Math.min(m, d[c]), 1), high = c => at.reduce((m, d) => Math.max(m, d[c]), 0);
  const wide = high("x") - low("x"), tall = high("y") - low("y"), { width, height } = view.renderer.getDimensions(), side = Math.min(width, height);
  const state = { x: (low("x") + high("x")) / 2, y: (low("y") + high("y")) / 2, ratio: Math.min(1.3, Math.max(.08, 1.35 * Math.max(wide * side / width, tall * side / height))) };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) camera.setState(state);
  else camera.animate(state, { duration: 400 });
}

// read makes room for the panel, or takes it away.
function read(on) {
  if (!on) $("panel").hidden = true;
  if (document.body.classList.toggle("reading", on) !== view.reading) view.renderer?.resize().refresh({ skipIndexation: true });
  view.reading = on;
}

const name = n => el("button", { type: "button", onclick: () => select(n, true) }, data.names[n]);

// panel writes what is known of a node.
function panel(n) {
  const facts = [...told.of[n]].sort((a, b) => Number(told.facts[b].r || 0) - Number(told.facts[a].r || 0) || (told.facts[b].n || 0) - (told.facts[a].n || 0) || a - b);
  const list = el("div"), page = 30;
  let shown = 0;
  const more = el("button", { type: "button", class: "more", onclick: () => add() });
  const add = () => {
    list.append(...facts.slice(shown, shown += page).map(i => fact(told.facts[i], n)));
    more.hidden = shown >= facts.length;
    more.textContent = `${Math.min(page, facts.length - shown)} more of ${facts.length - shown}`;
  };
  add();
  const field = el("input", { type: "search", placeholder: "The path to another name", "aria-label": "The path to another name", autocomplete: "off" }), matches = el("ul", { class: "matches", role: "listbox", hidden: true }), path = el("div");
  complete(field, matches, to => walk(n, to, path));
  $("panel").replaceChildren(
    el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => select(null) }, "×"),
    el("h2", {}, data.names[n]),
    el("p", { class: "soft" }, [told.kinds[n], `${view.degree[n]} neighbour${view.degree[n] === 1 ? "" : "s"}`, view.near.size ? `community of ${data.communities[data.community[n]]}` : null].filter(Boolean).join(" · ")),
    ...(told.about[n] || []).map(text => el("p", { class: "about" }, text)),
    el("div", { class: "search" }, field, matches), path,
    el("h3", {}, facts.length ? `${facts.length} fact${facts.length === 1 ? "" : "s"}` : "No fact about it and another name"), list, more);
  $("panel").hidden = false;
  $("panel").scrollTop = 0;
}

function fact(f, of) {
  const end = n => n === of ? el("b", {}, data.names[n]) : name(n);
  const page = f.p >= 0 ? told.pages[f.p] + (f.n > 1 ? ` · said ${f.n} times` : "") : null;
  return el("div", { class: "fact" },
    el("div", { class: "triple" }, end(f.h), el("i", {}, f.l ? ` ${f.l} ` : " – "), end(f.t), f.r ? el("span", { class: "read" }, "read") : null),
    f.a ? el("p", { class: "soft" }, f.a) : null, f.s ? el("blockquote", {}, f.s) : null, page ? el("p", { class: "page" }, page) : null);
}

// walk finds a shortest path and shows it.
function walk(from, to, into) {
  const before = new Map([[from, null]]);
  let layer = [from];
  while (layer.length && !before.has(to)) {
    const next = [];
    for (const v of layer) for (const w of view.graph.neighbors(v).map(Number).sort((a, b) => view.degree[b] - view.degree[a] || a - b)) if (!before.has(w)) { before.set(w, v); next.push(w); }
    layer = next;
  }
  view.path = [];
  view.pathEdges.clear();
  if (!before.has(to)) {
    into.replaceChildren(el("p", { class: "soft" }, `No path leads to ${data.names[to]}.`));
  } else {
    for (let v = to; v !== null; v = before.get(v)) {
      view.path.unshift(v);
      if (before.get(v) !== null) view.pathEdges.add(view.graph.edge(v, before.get(v)));
    }
    fit(view.path);
    into.replaceChildren(el("ol", { class: "path" }, ...view.path.map(v => el("li", {}, name(v)))));
  }
  view.renderer?.refresh({ skipIndexation: true });
}
