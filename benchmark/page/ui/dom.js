// Elements, tooltips and the theme. Every text on the page becomes a text node:
// nothing here, or elsewhere, makes markup of a text.

const byID = (id) => document.getElementById(id);

// el makes an element: properties, then children, of which texts become text nodes.
// "on" holds listeners, "data" data attributes, and what has a dash is an attribute.
function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key === "class") node.className = value;
    else if (key === "role" || key === "for" || key === "scope" || key.includes("-")) node.setAttribute(key, value);
    else node[key] = value;
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

// button is a button that does something.
function button(text, f, props) {
  return el("button", { type: "button", ...props, on: { click: f } }, text);
}

// choice is a select of [value, label] pairs.
function choice(label, options, value, f, props) {
  const select = el("select", { "aria-label": label, ...props, on: { change: () => f(select.value) } });
  for (const [v, text] of options) select.append(el("option", { value: v, selected: v === value }, text));
  return select;
}

const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// cutText shortens a text for a place that holds n characters.
const cutText = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);

const narrow = () => window.innerWidth < 700;

// later runs f once, some time after the last call.
function later(f, ms) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(f, ms);
  };
}

// Tooltips: whatever has data-tip shows it on hover and focus.
function startTips() {
  const tip = byID("tip");
  let owner = null;
  const hide = () => {
    tip.hidden = true;
    if (owner && owner.isConnected) owner.removeAttribute("aria-describedby");
    owner = null;
  };
  const show = (event) => {
    const at = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (at === owner) return;
    hide();
    if (!at) return;
    owner = at;
    owner.setAttribute("aria-describedby", "tip");
    tip.textContent = at.dataset.tip;
    tip.hidden = false;
    const box = at.getBoundingClientRect();
    const own = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, window.innerWidth - own.width - 8));
    const above = box.top - own.height - 6;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 4 ? above : box.bottom + 6}px`;
  };
  document.addEventListener("mouseover", show);
  document.addEventListener("focusin", show);
  document.addEventListener("scroll", hide, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

// The theme follows the system until it is chosen.
const themes = ["auto", "light", "dark"];

function startTheme(changed) {
  const button = byID("theme");
  let theme = "auto";
  try {
    theme = localStorage.getItem("wildgraph-theme") || "auto";
  } catch { /* a page from a file may have no storage */ }
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[theme];
  };
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try {
      localStorage.setItem("wildgraph-theme", theme);
    } catch { /* then it holds until the page is closed */ }
    apply();
    changed();
  });
  if (!themes.includes(theme)) theme = "auto";
  apply();
}

// Links of the contents scroll, and leave the state in the address alone.
function startContents() {
  const links = [...document.querySelectorAll("nav a")];
  for (const link of links) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      byID(link.hash.slice(1)).scrollIntoView({ behavior: "smooth" });
    });
  }
  const mark = () => {
    let here = links[0];
    for (const link of links) {
      if (byID(link.hash.slice(1)).getBoundingClientRect().top < 120) here = link;
    }
    for (const link of links) {
      if (link === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  document.addEventListener("scroll", mark, { passive: true });
  mark();
}
