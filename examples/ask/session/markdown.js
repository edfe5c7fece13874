"use strict";

// Markdown as elements. Texts become text nodes and nothing else: no markup of a page, no
// address of a link is ever more than text.

// make returns an element; all text is text.
function make(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// Signs of private use stand in a text for what it does not say itself: where a quote begins
// and ends, and the numbers of sources.
const BEGIN = "\uE000", END = "\uE001", NUMBER = 0xE100, SIGNS = /[\uE000-\uF8FF]/g;
const unsigned = (s) => (s || "").replace(SIGNS, "");

// Drawing appends texts, lit between the signs of a quote, or where they are words to be lit.
class Drawing {
  constructor(words, hard) {
    this.lit = false;
    this.hard = hard; // whether the end of a line is one
    const any = (words || []).map((w) => /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u.test(w) ? w : `(?<![\\p{L}\\p{N}])${w}(?![\\p{L}\\p{N}])`);
    this.words = any.length ? new RegExp(`(${any.join("|")})`, "u") : null;
  }
  text(to, s) {
    for (const part of s.split(/([\uE000-\uF8FF])/)) {
      if (part === BEGIN || part === END) this.lit = part === BEGIN;
      else if (/^[\uE100-\uF8FF]$/.test(part)) to.append(make("sup", "", part.charCodeAt(0) - NUMBER));
      else if (this.lit && this.words) to.append(...part.split(this.words).map((w, i) => i % 2 ? make("mark", "", w) : w));
      else if (part) to.append(this.lit ? make("mark", "", part) : part);
    }
  }
  // inline draws emphasis, code and links: pieces of at most 500 letters, so that no text takes long.
  inline(to, s, depth = 0) {
    const token = /(`{1,3})(?!`)(.{1,500}?)\1(?!`)|(\*\*|__)(?=\S)(.{0,500}?\S)\3|(?<![\p{L}\p{N}*])\*(?=[^\s*])([^*]{0,500}[^\s*])\*|!?\[([^\][]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s"[^"]*")?\)/gsu;
    let at = 0;
    for (const m of depth < 4 ? s.matchAll(token) : []) {
      this.text(to, s.slice(at, m.index));
      at = m.index + m[0].length;
      const e = m[2] !== undefined ? make("code") : m[4] !== undefined ? make("strong") : m[5] !== undefined ? make("em") : make("span", "link-text");
      if (m[2] !== undefined) this.text(e, m[2]);
      else this.inline(e, m[4] ?? m[5] ?? m[6], depth + 1);
      to.append(e);
    }
    this.text(to, s.slice(at));
  }
  // verbatim is a text as it stands.
  verbatim(to, s) {
    const pre = make("pre", "code");
    this.text(pre, s);
    to.append(pre);
  }
  row(table, line, head) {
    const cells = line.trim().replace(/^([\uE000-\uF8FF]*)\|/, "$1").replace(/\|([\uE000-\uF8FF]*)$/, "$1").split(/(?<!\\)\|/);
    const tr = make("tr");
    for (const c of cells.slice(0, 100)) {
      tr.append(make(head ? "th" : "td"));
      this.inline(tr.lastChild, c.trim().replaceAll("\\|", "|"));
    }
    table.append(tr);
  }
  // blocks draws paragraphs, headings, lists, tables and code.
  blocks(to, s) {
    const lines = s.split("\n"), isRow = (l) => /^\s*\||.\|\s*$/.test(unsigned(l)), isRule = (l) => /^\s*\|?[\s:|-]*-[\s:|-]*$/.test(unsigned(l)) && /\|/.test(l);
    let open = null; // the paragraph, list or table that lines are added to
    const into = (tag, className) => {
      if (!open || open.tagName.toLowerCase() !== tag || open.className !== className) {
        open = make(tag, className);
        to.append(tag === "table" ? make("div", "wide") : open);
        if (tag === "table") to.lastChild.append(open);
      }
      return open;
    };
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i];
      const [, signs, rest] = line.match(/^([\uE000-\uF8FF]*)([^]*)$/);
      const fence = rest.match(/^\s*(```+|~~~+)/), heading = rest.match(/^\s{0,3}#{1,6}\s+(.*)/), item = rest.match(/^(\s*)(?:[-*+•]|(\d{1,9})[.)])\s+(.*)/);
      if (fence) {
        let end = i + 1;
        while (end < lines.length && !unsigned(lines[end]).trim().startsWith(fence[1])) end++;
        this.verbatim(to, signs + lines.slice(i + 1, end).join("\n"));
        if (end < lines.length) this.text(to.lastChild, (lines[end].match(SIGNS) || []).join(""));
        i = end;
        open = null;
      } else if (!unsigned(line).trim()) {
        this.text(to, signs);
        open = null;
      } else if (isRow(line) || isRule(line)) {
        const head = !isRule(line) && isRule(lines[i + 1]) && !(open && open.tagName === "TABLE");
        if (isRule(line)) this.text(to, (line.match(SIGNS) || []).join(""));
        else this.row(into("table", ""), line, head);
      } else if (heading) {
        open = null;
        this.inline(into("p", "heading"), signs + heading[1].replace(/\s+#+$/, ""));
        open = null;
      } else if (item) {
        const li = make("li", item[1].length > 1 ? "deep" : "");
        if (item[2]) li.value = item[2];
        this.inline(li, signs + item[3]);
        into(item[2] ? "ol" : "ul", "items").append(li);
      } else if (/^\s{2,}\S/.test(rest) && open && open.lastChild && open.lastChild.tagName === "LI") {
        this.inline(open.lastChild, " " + line.trim());
      } else {
        if (!open || open.tagName !== "P") into("p", "");
        const wraps = !this.hard && !/( {2}|\\)$/.test(unsigned(lines[i - 1] || ""));
        this.inline(open, (open.childNodes.length ? wraps ? " " : "\n" : "") + line.trim());
      }
    }
  }
}

// Files that are read as Markdown, or converted to it. In plain text the end of a line is one.
const MARKDOWN = /\.(mdx?|markdown|x?html?|doc[xm]|xls[xm]|pp[ts][xm]|odt|epub|eml|ipynb|json|jsonl|ndjson|csv|tsv|pdf|txt|text|log)$/i, PLAIN = /\.(txt|text|log)$/i;

// draw replaces what an element shows by a text: a model's answer, or that of a file.
function draw(to, s, file, words) {
  to.replaceChildren();
  const d = new Drawing(words, !file || PLAIN.test(file));
  if (!file || MARKDOWN.test(file)) d.blocks(to, s);
  else d.verbatim(to, s);
}
