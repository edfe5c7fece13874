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
	bare  bool            // texts stand in paragraphs, and not in elements of their own
	looks map[string]look // of styles, by their IDs
	boxes []*element      // text boxes that were met
}

// look is what the format of words changes in what they say.
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
	w.all(&b, e)
	return b.String()
}

func (w *words) all(b *strings.Builder, e *element) {
	if e != nil {
		for _, k := range e.kids {
			w.write(b, k)
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

// fence writes what stands between brackets, or in rows.
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

// gaps are those between two digits.
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

// lifted is what stands above or below the line after a letter or a digit.
func lifted(inner string, above bool, before rune, rest string) string {
	digits := strings.TrimLeft(inner, "+-−–")
	number := digits != "" && unicode.IsDigit(rune(digits[0]))
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

// wingdings are signs of Microsoft's fonts of symbols.
var wingdings = map[string]string{"52": "☑", "53": "☒", "54": "☒", "6f": "☐", "a8": "☐", "fb": "✗", "fc": "✓", "fd": "☒", "fe": "☑", "e0": "→", "e8": "→", "f0": "⇒"}

// greek are the letters of the font Symbol, from A on and from a on.
const greek = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ"

// symbol is a sign by its code in a font.
func symbol(e *element) string {
	code := strings.ToLower(e.attr("char"))
	if len(code) < 2 {
		return ""
	}
	code = code[len(code)-2:]
	if strings.HasPrefix(e.attr("font"), "Wingdings") {
		return wingdings[code]
	}
	if letters := []rune(greek); e.attr("font") == "Symbol" && len(code) == 2 {
		if i := (strings.IndexByte("0123456789abcdef", code[0])-4)*16 + strings.IndexByte("0123456789abcdef", code[1]) - 1; i >= 0 && i < len(letters) {
			return string(letters[i])
		}
		return map[string]string{"2d": "−", "a3": "≤", "b3": "≥", "b1": "±", "b4": "×", "b0": "°", "b9": "≠", "bb": "≈", "d7": "·", "b7": "•", "a5": "∞", "ae": "→"}[code]
	}
	return ""
}
