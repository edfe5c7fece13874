// SPDX-License-Identifier: Apache-2.0

package office

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words are the words of paragraphs and cells, and of formulas between them (ECMA-376 part 1, 22.1).
type words struct {
	bare  bool            // paragraphs contain texts, without elements between
	looks map[string]look // of styles, by their IDs
	boxes []*element      // text boxes that were met
}

// look has the parts of a format that change what words say.
type look struct {
	gone  bool // struck or hidden
	raise int  // above or below the line
}

// Marks around what stands above and below the line, and where two numbers must not meet. XML
// cannot hold them.
const markUp, markDown, markEnd, markGap = "\x01", "\x02", "\x03", "\x04"

// struck reports whether words are struck out or hidden.
func struck(props *element) bool {
	through := props.attr("text-line-through-style") + props.attr("text-line-through-type")
	return props.on("strike") || props.on("dstrike") || props.on("vanish") || props.attr("display") == "none" ||
		through != "" && !strings.HasPrefix(through, "none") || strings.HasSuffix(props.attr("strike"), "Strike") && props.attr("strike") != "noStrike"
}

// raised says on which side of the line words stand.
func raised(props *element) int {
	at := props.at("vertAlign").attr("val") + props.attr("baseline") + props.attr("text-position")
	switch {
	case strings.HasPrefix(at, "sub"), strings.HasPrefix(at, "-"):
		return -1
	case strings.HasPrefix(at, "super"), at != "" && at[0] > '0' && at[0] <= '9':
		return 1
	}
	return 0
}

// line is the text of an element, on one line.
func (w *words) line(e *element) string {
	var b strings.Builder
	if e != nil {
		w.write(&b, e)
	}
	return resolved(b.String())
}

// said is the text of a part, with its marks.
func (w *words) said(e *element) string {
	var b strings.Builder
	if e != nil {
		w.all(&b, e)
	}
	return b.String()
}

func (w *words) all(b *strings.Builder, e *element) {
	last := ""
	for _, k := range e.kids {
		if k.name == "oMath" && last == k.name {
			b.WriteString("; ")
		}
		if w.write(b, k); k.name != "" {
			last = k.name
		}
	}
}

func (w *words) write(b *strings.Builder, e *element) {
	switch e.name {
	case "":
		if w.bare {
			b.WriteString(e.text)
		}
	case "t":
		b.WriteString(e.all())
	case "r", "span":
		w.run(b, e)
	case "tab", "br", "cr", "s", "line-break", "ptab":
		b.WriteByte(' ')
	case "noBreakHyphen":
		b.WriteByte('-')
	case "sym":
		b.WriteString(symbol(e))
	case "txbxContent", "text-box":
		w.boxes = append(w.boxes, e)
	case "hidden-text":
	default:
		if !w.formula(b, e) {
			w.all(b, e)
		}
	}
}

// run writes words of one format.
func (w *words) run(b *strings.Builder, e *element) {
	props := e.at("rPr")
	of := w.looks[e.attr("style-name")+props.at("rStyle").attr("val")]
	if props != nil {
		of.gone = struck(props) || of.gone && props.at("strike") == nil
		if side := raised(props); side != 0 {
			of.raise = side
		}
	}
	switch {
	case of.gone:
	case of.raise > 0:
		b.WriteString(markUp + w.said(e) + markEnd)
	case of.raise < 0:
		b.WriteString(markDown + w.said(e) + markEnd)
	default:
		w.all(b, e)
	}
}

// formulas are the parts of formulas, written on a line: [name] is a part of them, {name} one between
// brackets if it has operators, and a mark before it goes with one that is not there; <name usual>
// is a sign among the properties.
var formulas = map[string]string{
	"oMath": "[]", "f": "{num}/{den}", "sSup": "{e}^{sup}", "sSub": "{e}_{sub}", "sSubSup": "{e}_{sub}^{sup}", "sPre": "_{sub}^{sup}{e}",
	"limLow": "[e]_{lim}", "limUpp": "[e]^{lim}", "rad": "√([e])", "root": "{e}^(1/{deg})", "nary": " <chr ∫>_{sub}^{sup} [e]",
	"acc": "[e]<chr >", "choose": "{num}, {den}",
}

// formulaPart is one of a text of formulas.
var formulaPart = regexp.MustCompile(`([_^]?)\{(\w+)\}|\[(\w*)\]|<(\w+) (.?)>`)

// formula writes a part of a formula; false if the element is none.
func (w *words) formula(b *strings.Builder, e *element) bool {
	name := e.name
	switch {
	case name == "d" || name == "m" || name == "eqArr":
		w.fence(b, e)
		return true
	case name == "rad" && w.operand(e.at("deg")) != "":
		name = "root"
	case name == "f" && e.at("fPr", "type").attr("val") == "noBar":
		name = "choose"
	}
	pattern := formulas[name]
	if pattern == "" {
		return false
	}
	b.WriteString(markGap)
	at := 0
	for _, m := range formulaPart.FindAllStringSubmatchIndex(pattern, -1) {
		b.WriteString(pattern[at:m[0]])
		switch at = m[1]; {
		case m[4] >= 0:
			if s := w.operand(e.at(pattern[m[4]:m[5]])); s != "" {
				b.WriteString(pattern[m[2]:m[3]] + s)
			}
		case m[6] == m[7] && m[6] >= 0:
			w.all(b, e)
		case m[6] >= 0:
			b.WriteString(w.said(e.at(pattern[m[6]:m[7]])))
		default:
			b.WriteString(property(e, pattern[m[8]:m[9]], pattern[m[10]:m[11]]))
		}
	}
	b.WriteString(pattern[at:] + markGap)
	return true
}

// property is a sign among the properties of a part of a formula.
func property(e *element, name, usual string) string {
	if k := e.at(e.name+"Pr", name); k != nil {
		return k.attr("val")
	}
	return usual
}

// fence writes parts between brackets, or rows.
func (w *words) fence(b *strings.Builder, e *element) {
	mark, next, last := "", "; ", ""
	if e.name == "d" {
		mark, next, last = property(e, "begChr", "("), property(e, "sepChr", "|"), property(e, "endChr", ")")
	}
	for _, k := range e.kids {
		if k.name == "e" {
			b.WriteString(mark + w.said(k))
			mark = next
		} else if k.name == "mr" {
			b.WriteString(mark)
			for _, cell := range k.kids {
				b.WriteString(w.said(cell) + " ")
			}
			mark = next
		}
	}
	b.WriteString(last)
}

// operand is a part of a formula, between brackets if it has operators.
func (w *words) operand(e *element) string {
	s := strings.Trim(w.said(e), markGap+" ")
	if fenced := len(e.at("d").all()) > 0 && len(e.at("d").all()) == len(e.all()); fenced || utf8.RuneCountInString(s) <= 1 || strings.Trim(s, "0123456789.,") == "" {
		return s
	}
	return "(" + s + ")"
}

// gaps finds marks between two digits.
var gaps = regexp.MustCompile(`([0-9]?)\x04+([0-9]?)`)

// resolved resolves the marks of a text: digits above the line are an exponent, unless they are
// the upper half of a fraction, and digits never meet others that were apart.
func resolved(s string) string {
	if !strings.ContainsAny(s, markUp+markDown+markGap) {
		return s
	}
	var b, inner strings.Builder
	for {
		i := strings.IndexAny(s, markUp+markDown)
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		kind := s[i : i+1]
		for s = s[i:]; strings.HasPrefix(s, kind); { // words of several formats
			part, rest, _ := strings.Cut(s[1:], markEnd)
			inner.WriteString(part)
			s = rest
		}
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(b.String(), markGap))
		b.WriteString(lifted(inner.String(), kind == markUp, before, s))
		inner.Reset()
	}
	return gaps.ReplaceAllStringFunc(b.String(), func(m string) string {
		outer := strings.Trim(m, markGap)
		if len(outer) == 2 {
			return outer[:1] + " " + outer[1:]
		}
		return outer
	})
}

// lifted returns text above or below the line, with a mark if digits stand after a letter or a digit.
func lifted(inner string, above bool, before rune, rest string) string {
	amount := strings.TrimLeft(inner, "+-−–"+markGap)
	number := amount != "" && unicode.IsDigit(rune(amount[0]))
	after := unicode.IsDigit(before) || unicode.IsLetter(before) || before == ')'
	switch {
	case !number || !after:
		return inner
	case above && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "⁄")):
		return markGap + inner // 2 3/4
	case above:
		return "^" + inner + markGap
	case unicode.IsDigit(before):
		return "_" + inner + markGap
	}
	return inner + markGap
}

// signs are the characters of fonts of symbols, after the last two digits of their codes.
var signs = map[string]string{
	"Wingdings":   " 6f☐ a8☐ a7▪ b7• d8➢ e0→ e8→ f0⇒ fb✗ fc✓ fd☒ fe☑",
	"Wingdings 2": " 4f✗ 50✓ 51☒ 52☑ 53☒ 54☒ a3☐",
	"Symbol": " 2d− 40≅ 41Α 42Β 43Χ 44Δ 45Ε 46Φ 47Γ 48Η 49Ι 4bΚ 4cΛ 4dΜ 4eΝ 4fΟ 50Π 51Θ 52Ρ 53Σ 54Τ 55Υ 57Ω 58Ξ 59Ψ 5aΖ " +
		"61α 62β 63χ 64δ 65ε 66φ 67γ 68η 69ι 6aϕ 6bκ 6cλ 6dμ 6eν 6fο 70π 71θ 72ρ 73σ 74τ 75υ 77ω 78ξ 79ψ 7aζ a3≤ a5∞ ae→ b0° b1± b3≥ b4× b7• b9≠ bb≈ d7·",
}

// symbol is a sign by its code in a font.
func symbol(e *element) string {
	code := strings.ToLower(e.attr("char"))
	_, sign, found := strings.Cut(signs[e.attr("font")], " "+code[max(0, len(code)-2):])
	if !found || len(code) < 2 {
		return ""
	}
	_, n := utf8.DecodeRuneInString(sign)
	return sign[:n]
}
