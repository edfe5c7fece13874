// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// words reads the words of paragraphs and cells. It writes them as HTML, which load.HTML converts to a line
// with powers, indices and formulas.
type words struct {
	bare   bool             // a paragraph contains text without elements around it, as in ODT
	styles map[string]style // styles by ID
	boxes  []*element       // text boxes of the paragraph
	font   string           // font of the current run
	fields []bool           // open fields of the paragraph: true if their result has begun
}

// style returns a style with the properties that it inherits from at most the given number of parents.
func (w *words) style(id string, parents int) style {
	s := w.styles[id]
	if s.parent != "" && parents > 0 {
		of := w.style(s.parent, parents-1)
		s.level, s.script, s.gone = cmp.Or(s.level, of.level), cmp.Or(s.script, of.script), s.gone || of.gone && !s.kept
		if s.list == "" {
			s.list, s.depth = of.list, of.depth
		}
	}
	return s
}

// style is a style of paragraphs or of words.
type style struct {
	level  int // level of the heading, 0 for other text
	list   string
	depth  int
	parent string
	gone   bool   // struck or hidden
	kept   bool   // not struck, even if the parent style is
	script string // sup, sub or ""
}

// struck reports whether words are struck out or hidden.
func struck(props *element) bool {
	through := props.attr("text-line-through-style") + props.attr("text-line-through-type")
	return props.on("strike") || props.on("dstrike") || props.on("vanish") || props.attr("display") == "none" ||
		through != "" && !strings.HasPrefix(through, "none") || strings.HasSuffix(props.attr("strike"), "Strike") && props.attr("strike") != "noStrike"
}

// script returns sup or sub for words above or below the line, "" for others.
func script(props *element) string {
	at := props.at("vertAlign").attr("val") + props.attr("baseline") + props.attr("text-position")
	raise, _ := strconv.Atoi(props.at("position").attr("val")) // height above the line, in half points
	switch {
	case strings.HasPrefix(at, "sub"), strings.HasPrefix(at, "-"), raise <= -4:
		return "sub"
	case strings.HasPrefix(at, "super"), at != "" && at[0] > '0' && at[0] <= '9', raise >= 4:
		return "sup"
	}
	return ""
}

// line returns the text of an element on one line.
func (w *words) line(e *element) string {
	s := w.html(e)
	if !strings.Contains(s, "<") {
		return html.UnescapeString(s)
	}
	s = strings.NewReplacer("</sup><sup>", "", "</sub><sub>", "").Replace(s) // a power may consist of several runs
	return escaped.ReplaceAllString(load.HTML("", s).Document.Text, "$1")
}

// escaped matches a character with the backslash that keeps it from being markup.
var escaped = regexp.MustCompile("\\\\([!-/:-@[-`{-~])")

// html returns the text of an element as HTML.
func (w *words) html(e *element) string {
	if e == nil || e.name == "" && !w.bare {
		return ""
	}
	switch e.name {
	case "", "t":
		if slices.Contains(w.fields, false) {
			return "" // the instruction of a field, before its result
		}
		return html.EscapeString(signed(w.font, e.all()))
	case "r", "span":
		return w.run(e)
	case "p":
		return w.inside(e) + " "
	case "tab", "br", "cr", "s", "line-break", "ptab":
		return " "
	case "noBreakHyphen":
		return "-"
	case "fldChar":
		switch n := len(w.fields); e.attr("fldCharType") {
		case "begin":
			w.fields = append(w.fields[:min(n, maxNesting)], false)
		case "separate":
			w.fields = append(w.fields[:max(0, n-1)], true)
		case "end":
			w.fields = w.fields[:max(0, n-1)]
		}
	case "sym":
		code, _ := strconv.ParseUint(e.attr("char"), 16, 16)
		return signed(e.attr("font"), string(rune(code)))
	case "phant":
		if property(e, "show", "1") == "0" {
			return ""
		}
	case "txbxContent", "text-box":
		w.boxes = append(w.boxes, e)
		return ""
	}
	if s := w.formula(e); s != "" {
		return apart + s + apart
	}
	return w.inside(e)
}

// inside returns the children of an element as HTML.
func (w *words) inside(e *element) string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	last := ""
	for _, k := range e.kids {
		if k.name == "oMath" && last == k.name {
			b.WriteString("; ")
		}
		if b.WriteString(w.html(k)); k.name != "" {
			last = k.name
		}
	}
	return b.String()
}

// run returns a run, which is words of one format, as HTML.
func (w *words) run(e *element) string {
	props := e.at("rPr")
	of := w.style(e.attr("style-name")+props.at("rStyle").attr("val"), 16)
	w.font = cmp.Or(props.at("rFonts").attr("ascii"), props.at("sym").attr("typeface"), props.at("latin").attr("typeface"))
	if props != nil {
		of.gone = struck(props) || of.gone && props.at("strike") == nil
		of.script = cmp.Or(script(props), of.script)
	}
	switch {
	case of.gone:
		return ""
	case of.script != "":
		return "<" + of.script + ">" + w.inside(e) + "</" + of.script + ">"
	}
	return w.inside(e)
}

// apart separates two numbers of a formula.
const apart = "<mn></mn>"

// formulas are templates of MathML for the elements of formulas (ECMA-376 part 1, 22.1): [name] inserts a
// child, {name} a child in brackets if it has operators, (name usual) a character from the properties, usual if
// they have none.
var formulas = map[string]string{
	"f": "<mfrac>{num}{den}</mfrac>", "choose": "[num], [den]", "rad": "<msqrt>[e]</msqrt>", "root": "<mroot>{e}{deg}</mroot>",
	"sSup": "<msup>{e}{sup}</msup>", "sSub": "<msub>{e}{sub}</msub>", "sSubSup": "<msubsup>{e}{sub}{sup}</msubsup>",
	"sPre": "<msubsup><mrow></mrow>{sub}{sup}</msubsup>[e]", "nary": " <msubsup><mo>(chr ∫)</mo>{sub}{sup}</msubsup> [e]",
	"limLow": "[e]<msub><mrow></mrow>{lim}</msub>", "limUpp": "[e]<msup><mrow></mrow>{lim}</msup>", "acc": "[e](chr )", "func": "[fName] [e]",
}

// formulaPart matches a placeholder of a template in formulas.
var formulaPart = regexp.MustCompile(`\{\w+\}|\[\w+\]|\(\w+ .?\)`)

// formula returns an element of a formula as MathML, "" for other elements.
func (w *words) formula(e *element) string {
	name := e.name
	switch {
	case name == "oMath":
		return "<math>" + apart + strings.ReplaceAll(w.inside(e), " ", "<mspace></mspace>") + apart + "</math>"
	case name == "d":
		return property(e, "begChr", "(") + w.list(e, property(e, "sepChr", "|")) + property(e, "endChr", ")")
	case name == "m" || name == "eqArr":
		return w.list(e, "; ")
	case name == "mr":
		return w.list(e, " ")
	case name == "rad" && len(operands(e.at("deg"))) > 0:
		name = "root"
	case name == "f" && e.at("fPr", "type").attr("val") == "noBar":
		name = "choose"
	}
	return formulaPart.ReplaceAllStringFunc(formulas[name], func(part string) string {
		name, usual, _ := strings.Cut(part[1:len(part)-1], " ")
		switch part[0] {
		case '{':
			return "<mrow>" + w.operand(e.at(name)) + "</mrow>"
		case '[':
			return strings.TrimSpace(w.inside(e.at(name)))
		}
		return property(e, name, usual)
	})
}

// operand returns an element as HTML, without brackets that enclose all of it.
func (w *words) operand(e *element) string {
	if of := operands(e); len(of) == 1 && of[0].name == "d" && property(of[0], "begChr", "(") == "(" {
		return w.list(of[0], property(of[0], "sepChr", "|"))
	}
	return strings.TrimSpace(w.inside(e))
}

// operands returns the child elements without the properties.
func operands(e *element) (out []*element) {
	if e != nil {
		out = slices.DeleteFunc(slices.Clone(e.kids), func(k *element) bool { return k.name == "" || strings.HasSuffix(k.name, "Pr") })
	}
	return out
}

// list returns the elements or rows of a formula, joined by a mark.
func (w *words) list(e *element, mark string) string {
	var parts []string
	for _, k := range e.kids {
		if k.name == "e" || k.name == "mr" {
			parts = append(parts, w.html(k))
		}
	}
	return strings.Join(parts, mark)
}

// property returns a character among the properties of an element, usual if it is not there.
func property(e *element, name, usual string) string {
	if k := e.at(e.name+"Pr", name); k != nil {
		usual = k.attr("val")
	}
	return html.EscapeString(usual)
}

// signs are the characters of symbol fonts, each after the last two hexadecimal digits of its code.
var signs = map[string]string{
	"Wingdings":   " 6f☐ a8☐ a7▪ b7• d8➢ e0→ e8→ f0⇒ fb✗ fc✓ fd☒ fe☑",
	"Wingdings 2": " 4f✗ 50✓ 51☒ 52☑ 53☒ 54☒ a3☐",
	"Symbol": " 2d− 40≅ 41Α 42Β 43Χ 44Δ 45Ε 46Φ 47Γ 48Η 49Ι 4bΚ 4cΛ 4dΜ 4eΝ 4fΟ 50Π 51Θ 52Ρ 53Σ 54Τ 55Υ 57Ω 58Ξ 59Ψ 5aΖ " +
		"61α 62β 63χ 64δ 65ε 66φ 67γ 68η 69ι 6aϕ 6bκ 6cλ 6dμ 6eν 6fο 70π 71θ 72ρ 73σ 74τ 75υ 77ω 78ξ 79ψ 7aζ a3≤ a5∞ ae→ b0° b1± b3≥ b4× b7• b9≠ bb≈ d7·",
}

// signed returns a text with the characters of a symbol font replaced by Unicode. Codes of the private range
// f000 to f0ff mean the same characters.
func signed(font, s string) string {
	table := signs[font]
	return strings.Map(func(r rune) rune {
		private := r >= 0xf000 && r < 0xf100
		if table != "" && (private || r < 0x100) {
			if _, sign, found := strings.Cut(table, fmt.Sprintf(" %02x", r&0xff)); found {
				r, _ = utf8.DecodeRuneInString(sign)
				return r
			}
		}
		if private || r == 0 {
			return -1
		}
		return r
	}, s)
}
