// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxMark bounds the pieces of one mark.
const maxMark = 999

// material is what a reply can cite: passages by number, facts and reports by the
// places of derived texts, and in open mode the model's own knowledge.
type material struct {
	passages       int
	facts, reports []int
	memory         bool
}

func materialOf(evidence []graphrag.Hit, derived []graphrag.Derived, mode Mode) material {
	m := material{passages: len(evidence), memory: mode == Open}
	m.facts, m.reports = numbered(derived)
	return m
}

// What names a piece within a mark, which marks there are, lists of them at the end, and code, which has none.
const (
	labels = `passages?|sources?|facts?|reports?|entit(?:y|ies)|relationships?|claims?|documents?|docs?|refs?|references?|chunks?|notes?|evidence|points?|` +
		`quellen?|textstellen?|stellen?|abschnitte?|belege?|фрагменты?|extraits?|pasajes?|fuentes?|brano|brani|fonti?|fontes?|trechos?|bron|bronnen|källor|källa|kilder?|источники?|отрывок|出典|文段|来源|段落|資料|资料|文献`
	item    = `(?:(?:data:\s*)?(?:(?:see|siehe|vgl\.?|cf\.?|voir|véase|vedi|zie|см\.)\s+)?(?:(?:` + labels + `)\.?[:：]?\s*\(?)?\s*#?(?:[fr]\s?)?\d{1,3}(?:\s*[-–]\s*[fr]?\d{1,3})?\)?|memory|none|\+\s?more\)?)`
	items   = `\s*` + item + `(?:(?:\s*(?:[,;、，；&]|and|und|et|och|og|en|y|e|и|和|と)\s*)+(?:` + item + `)?)*\s*(?:(?::\d{1,3})?†[^\]】\n]*)?`
	heading = `(?i)(?:^|[\s.!?。])[(*_#]*(?:sources?|references?|citations?|quellen?|fuentes?|fonti|fontes|bronnen|källor|kilder|источники|来源|出典)[*_]*\s*[:：][*_]*\s*`
	marked  = `(\*\*|\^|<sup>)?(\\?\[{1,2}\^?|【|［|\(|（)(` + items + `)(\\?\]{1,2}|】|］|\)|）)(\*\*|\^|</sup>)?`
)

var (
	markOf     = regexp.MustCompile(`(?i)` + marked)
	itemOf     = regexp.MustCompile(`(?i)(` + labels + `)?\.?[:：]?\s*\(?\s*#?(?:([fr])\s?)?(\d{1,3})(?:\s*[-–]\s*([fr]?)(\d{1,3}))?|memory|none`)
	listBegins = regexp.MustCompile(heading + `[^.!?]*$`)
	listOf     = regexp.MustCompile(heading +
		`(?:(?:` + items + `)[.)*\s]*|(?:[-*•]?\s*(?:` + marked + `)[^\n\[【]*\s*)+|(?:[-*•]\s*(?:` + items + `)[.)]?\s*)+)$|` +
		`\n\s*\n(?:(?:` + marked + `) +\pL[^\n.!?]{0,100}(?:\n|$))+$`)
	citing   = regexp.MustCompile(`(?i)passage|source|quelle|textstelle|fuente|fonte|fonti|bron|källa|kilde|источник|出典|文段|来源`)
	leading  = regexp.MustCompile(`(?i)(^|[.!?]\s|\n)(?:according to|as stated in|based on|per|laut|gemäß|nach|selon|d'après|según|secondo|segundo|volgens|enligt|ifølge|согласно)$`)
	codeOf   = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")
	footnote = regexp.MustCompile(`(?m)^\[\^\d+\]:`)
	counting = regexp.MustCompile(`[(（]\d{1,2}[)）] \pL`)
	closing  = map[string]string{"[": "]", "\\[": "\\]", "[[": "]]", "[^": "]", "【": "】", "［": "］", "(": ")", "（": "）"}
	wrapping = map[string]string{"": "", "**": "**", "^": "^", "<sup>": "</sup>"}
)

// cite takes the marks of citations out of a reply, [1], [2, F3], [passage 4], 【5†source】, (6) and their kin, and
// a list of them at its end, and returns the text without them, one citation for each sentence and piece that a
// mark connects, and whether the mark of a refusal was among them. Marks of pieces that do not exist go without
// leaving a citation; a list belongs to the sentences without marks. Years, code, links and footnotes stay.
func cite(reply string, of material) (answer string, citations []graphrag.Citation, none bool) {
	var list []graphrag.Citation
	tail := max(0, len(reply)-maxTail)
	if at := listOf.FindStringIndex(reply[tail:]); at != nil && tail+at[0] > 0 {
		list, _, _ = of.pieces(reply[tail+at[0]:])
		_, size := utf8.DecodeRuneInString(reply[tail+at[0]:])
		reply = reply[:tail+at[0]+size]
	}
	var b strings.Builder
	var marks []mark
	code := codeOf.FindAllStringIndex(reply, -1)
	count := len(reply)
	if at := counting.FindStringIndex(reply); at != nil {
		count = at[0]
	}
	last, notes := 0, footnote.MatchString(reply)
	for _, m := range markOf.FindAllStringSubmatchIndex(reply, -1) {
		part := func(n int) string { return reply[max(m[2*n], 0):max(m[2*n+1], 0)] }
		for len(code) > 0 && code[0][1] <= m[0] {
			code = code[1:]
		}
		start, end := m[0], m[1]
		if wrapping[part(1)] != part(5) || part(1) == "" {
			start, end = m[4], m[9]
		}
		pieces, refused, ok := of.pieces(part(3))
		before, after := strings.TrimRight(reply[:start], " \t"), reply[end:]
		switch plain := strings.ContainsAny(part(2), "(（") && !citing.MatchString(part(3)); {
		case !ok || closing[part(2)] != part(4) || len(code) > 0 && code[0][0] < m[0] || !apart(reply[last:start], after):
			continue
		case part(2) == "[^" && notes:
			continue
		case plain && (len(pieces) == 0 || len(before) == start && part(2) == "(" || start > count || after != "" && !strings.ContainsRune(".,;:!?\n。、，；", firstRune(after)) || strings.ContainsAny(before[len(before)-1:], "0123456789")):
			continue
		}
		joint := strings.TrimRight(reply[last:start], " \t")
		if last > 0 && strings.Trim(joint, "-–,; ") == "" {
			joint = "" // [1], [3]
		}
		if at := leading.FindStringSubmatchIndex(joint); at != nil && strings.HasPrefix(after, ", ") { // "According to [1], it sank."
			next, size := utf8.DecodeRuneInString(after[2:])
			joint, end = joint[:at[3]]+string(unicode.ToUpper(next)), end+2+size
		}
		b.WriteString(joint) // the blank before a mark goes with it: "so [1]." becomes "so."
		for _, p := range pieces {
			marks = append(marks, mark{b.Len(), p})
		}
		last, none = end, none || refused
	}
	b.WriteString(reply[last:])
	return attach(b.String(), marks, list, none)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// mark is a piece that is cited at an offset of the text without marks.
type mark struct {
	at    int
	piece graphrag.Citation
}

// apart reports whether brackets between two texts belong to neither: to no index of an array, link or quotation.
func apart(before, after string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	prior, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	index := r == '_' || r == ']' || r < utf8.RuneSelf && unicode.IsLetter(r) && !unicode.IsLetter(prior) && !strings.ContainsRune("’'", prior)
	return !index && !strings.HasPrefix(after, "(") && !strings.HasPrefix(after, ": http") && !strings.HasPrefix(strings.TrimLeft(after, " "), "=") && !strings.HasPrefix(after, "+") && !strings.HasSuffix(strings.TrimRight(before, " "), "=") &&
		!(strings.ContainsRune("\"“'", r) && after != "" && strings.ContainsAny("\"”'", after[:1]))
}

// attach makes citations of marks: a mark belongs to the last sentence that begins before it.
func attach(raw string, marks []mark, list []graphrag.Citation, none bool) (string, []graphrag.Citation, bool) {
	answer := strings.TrimRight(raw, " \t\r\n")
	lead := len(answer) - len(strings.TrimLeft(answer, " \t\r\n"))
	answer = answer[lead:]

	var citations []graphrag.Citation
	sentences := text.Sentences(answer)
	seen := make(map[graphrag.Citation]bool)
	s := 0
	for _, m := range marks {
		// The sentence of a mark is the last that begins before it.
		for s+1 < len(sentences) && sentences[s+1].Start < m.at-lead {
			s++
		}
		if s >= len(sentences) {
			continue
		}
		m.piece.Start, m.piece.End = sentences[s].Start, sentences[s].End
		if !seen[m.piece] {
			seen[m.piece] = true
			citations = append(citations, m.piece)
		}
	}
	for _, p := range sentences {
		if !slices.ContainsFunc(citations, func(c graphrag.Citation) bool { return c.Start == p.Start }) {
			for _, c := range list {
				c.Start, c.End = p.Start, p.End
				citations = append(citations, c)
			}
		}
		if len(sentences)*max(len(list), 1) > maxListed {
			break
		}
	}
	return answer, citations, none
}

// quoted matches three words or more between quotation marks.
var quoted = regexp.MustCompile(`[“"«„]((?:[^\s“”"«»„]+\s+){2,}[^“”"«»„]+)[”"»“]`)

// supported returns the citations of an answer that hold. The numbers of a sentence, and half of its names or
// more, since a name is written in several ways, stand in its pieces, in any order: in all of them together, since a sentence
// can join two passages, with the question and the titles of pages. Each piece has a word of the sentence, and all that it
// quotes. If the languages differ, numbers alone are compared. A denial that the material tells has no source.
func supported(asked string, answer graphrag.Answer, found []graphrag.Citation) (out []graphrag.Citation) {
	known := make(map[graphrag.Citation]*claimed)
	together := make(map[int]map[string]bool) // by the sentence's start
	for _, c := range found {
		of := graphrag.Citation{Of: c.Of, Evidence: c.Evidence}
		if c.Of == graphrag.OfMemory {
			continue
		}
		if known[of] == nil {
			s := ""
			if c.Of == "" {
				s = passage(answer.Evidence[c.Evidence].Chunk)
			} else {
				s = answer.Derived[c.Evidence].Text
			}
			known[of] = &claimed{oneLine(s), make(map[string]bool), text.LanguageOf(s)}
			for _, t := range append(text.Default().Terms(s), numbersOf(s)...) {
				known[of].terms[t] = true
			}
		}
		if together[c.Start] == nil {
			together[c.Start] = make(map[string]bool)
			for _, t := range append(text.Default().Terms(asked), numbersOf(asked)...) {
				together[c.Start][t] = true
			}
		}
		maps.Copy(together[c.Start], known[of].terms)
	}
	for _, c := range found {
		sentence := answer.Text[c.Start:c.End]
		of := known[graphrag.Citation{Of: c.Of, Evidence: c.Evidence}]
		if c.Of == graphrag.OfMemory || of.by(sentence, together[c.Start]) && !IsRefusal(asked, sentence) {
			out = append(out, c)
		}
	}
	return out
}

// figure is a number, with marks between its thousands.
var figure = regexp.MustCompile(`\d+(?:[.,'’ \x{a0}\x{202f}]\d{3}\b)*`)

// numbersOf are the numbers of a text as digits alone, without zeros in front.
func numbersOf(s string) (out []string) {
	for _, n := range figure.FindAllString(s, -1) {
		out = append(out, "#"+strings.TrimLeft(strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, n), "0"))
	}
	return out
}

// claimed is a piece that sentences claim to rest on.
type claimed struct {
	text     string
	terms    map[string]bool
	language text.Language
}

// by reports whether a sentence can rest on the piece, together being what its pieces and the question have.
func (c *claimed) by(sentence string, together map[string]bool) bool {
	for _, m := range quoted.FindAllStringSubmatch(sentence, -1) {
		if !strings.Contains(c.text, strings.TrimRight(oneLine(m[1]), ".,;:!?… ")) {
			return false
		}
	}
	lacks := func(t string) bool { return !together[t] }
	terms := slices.DeleteFunc(text.Default().Terms(sentence), func(t string) bool { return t == "yes" || t == "no" })
	l := text.LanguageOf(sentence)
	foreign := l != c.language && l != "" && c.language != ""
	names := text.Default().Terms(text.ReadQuestion(sentence).Names)
	if all := len(names); slices.ContainsFunc(numbersOf(sentence), lacks) || !foreign && l != text.German && 2*len(slices.DeleteFunc(names, lacks)) < all {
		return false
	}
	return len(terms) == 0 || foreign || slices.ContainsFunc(terms, func(t string) bool { return c.terms[t] })
}

func oneLine(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// piece is the one of a number, counted from 1, under a letter.
func (m material) piece(letter byte, number int) graphrag.Citation {
	switch letter {
	case 'F':
		return graphrag.Citation{Of: graphrag.OfDerived, Evidence: m.facts[number-1]}
	case 'R':
		return graphrag.Citation{Of: graphrag.OfDerived, Evidence: m.reports[number-1]}
	}
	return graphrag.Citation{Evidence: number - 1}
}

func (m material) count(letter byte) int {
	return map[byte]int{'F': len(m.facts), 'R': len(m.reports), 0: m.passages}[letter]
}

// maxListed bounds the citations that a list at the end is tried for, maxTail the bytes of the list.
const maxListed, maxTail, maxMarkBytes = 10_000, 4096, 200

// pieces are the pieces that the inside of a mark names and that exist; ok is false if it is no mark, none that it
// holds the mark of a refusal.
func (m material) pieces(inside string) (pieces []graphrag.Citation, none, ok bool) {
	label := byte(0)
	if before, _, ok := strings.Cut(inside, "†"); ok {
		inside, _, _ = strings.Cut(before, ":") // 【4:0†source】
	}
	for _, x := range itemOf.FindAllStringSubmatch(inside, -1) {
		switch {
		case strings.EqualFold(x[0], memory):
			if !m.memory {
				return nil, false, false
			}
			pieces = append(pieces, graphrag.Citation{Of: graphrag.OfMemory})
			continue
		case strings.EqualFold(x[0], "none"):
			none = true
			continue
		case x[1] != "":
			label = map[byte]byte{'f': 'F', 'e': 'F', 'r': 'R'}[strings.ToLower(x[1])[0]]
			if l := strings.ToLower(x[1]); strings.HasPrefix(l, "ref") || strings.HasPrefix(l, "ev") || strings.HasPrefix(l, "fo") || strings.HasPrefix(l, "fu") || strings.HasPrefix(l, "ex") {
				label = 0
			}
		}
		letter := label
		if x[2] != "" {
			letter = strings.ToUpper(x[2])[0]
		}
		first, _ := strconv.Atoi(x[3])
		last := first
		if x[5] != "" {
			last, _ = strconv.Atoi(x[5])
		}
		if first == 0 || last < first || x[4] != "" && !strings.EqualFold(x[4], x[2]) {
			return nil, false, false
		}
		for p := first; p <= min(last, m.count(letter)) && len(pieces) < maxMark; p++ {
			pieces = append(pieces, m.piece(letter, p))
		}
	}
	return pieces, none, true
}

// memory is the mark of what a model knows by itself.
const memory = "memory"

// isSourceSpan tells whether the text of a chunk is its source span, byte for
// byte, and was not cleaned. Cleaning only ever takes bytes away.
func isSourceSpan(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }
