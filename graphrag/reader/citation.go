// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
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

// maxMark limits the pieces that one mark can cite.
const maxMark = 999

// citables are the pieces that a reply can cite: passages by number, facts and reports by the indexes of
// derived texts, and in open mode the model's own knowledge.
type citables struct {
	passages       int
	facts, reports []int
	memory         bool
}

func materialOf(evidence []graphrag.Hit, derived []graphrag.Derived, mode Mode) citables {
	m := citables{passages: len(evidence), memory: mode == Open}
	m.facts, m.reports = numbered(derived)
	return m
}

// Patterns: words before a number in a mark, the forms of marks, and lists of sources at the end of a reply.
const (
	labels = `passages?|sources?|facts?|reports?|entit(?:y|ies)|relationships?|claims?|documents?|docs?|refs?|references?|chunks?|notes?|evidence|points?|` +
		`quellen?|textstellen?|stellen?|abschnitte?|belege?|фрагменты?|extraits?|pasajes?|fuentes?|brano|brani|fonti?|fontes?|trechos?|bron|bronnen|källor|källa|kilder?|источники?|отрывок|出典|文段|来源|段落|資料|资料|文献`
	itemForm    = `(?:(?:data:\s*)?(?:(?:see|siehe|vgl\.?|cf\.?|voir|véase|vedi|zie|см\.)\s+)?(?:(?:` + labels + `)\.?[:：]?\s*\(?)?\s*#?(?:[fr]\s?)?\d{1,3}(?:\s*[-–]\s*[fr]?\d{1,3})?\)?|memory|none|\+\s?more\)?)`
	items       = `\s*` + itemForm + `(?:(?:\s*(?:[,;、，；&]|and|und|et|och|og|en|y|e|и|和|と)\s*)+(?:` + itemForm + `)?)*\s*(?:(?::\d{1,3})?†[^\]】\n]*)?`
	listHeading = `(?i)(?:^|[\s.!?。])[(*_#]*(?:sources?|references?|citations?|quellen?|fuentes?|fonti|fontes|bronnen|källor|kilder|источники|来源|出典)[*_]*\s*[:：][*_]*\s*`
	markForm    = `(\*\*|\^|<sup>)?(\\?\[{1,2}\^?|【|［|\(|（)(` + items + `)(\\?\]{1,2}|】|］|\)|）)(\*\*|\^|</sup>)?`
)

var (
	markOf     = regexp.MustCompile(`(?i)` + markForm)
	itemOf     = regexp.MustCompile(`(?i)(` + labels + `)?\.?[:：]?\s*\(?\s*#?(?:([fr])\s?)?(\d{1,3})(?:\s*[-–]\s*([fr]?)(\d{1,3}))?|memory|none`)
	listBegins = regexp.MustCompile(listHeading + `[^.!?]*$`)
	listOf     = regexp.MustCompile(listHeading +
		`(?:(?:` + items + `)[.)*\s]*|(?:[-*•]?\s*(?:` + markForm + `)[^\n\[【]*\s*)+|(?:[-*•]\s*(?:` + items + `)[.)]?\s*)+)$|` +
		`\n\s*\n(?:(?:` + markForm + `) +\pL[^\n.!?]{0,100}(?:\n|$))+$`)
	citing   = regexp.MustCompile(`(?i)passage|source|quelle|textstelle|fuente|fonte|fonti|bron|källa|kilde|источник|出典|文段|来源`)
	leading  = regexp.MustCompile(`(?i)(^|[.!?]\s|\n)(?:according to|as stated in|based on|per|laut|gemäß|nach|selon|d'après|según|secondo|segundo|volgens|enligt|ifølge|согласно)$`)
	codeOf   = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]*`")
	footnote = regexp.MustCompile(`(?m)^\[\^\d+\]:`)
	counting = regexp.MustCompile(`[(（]\d{1,2}[)）] \pL`)
	closing  = map[string]string{"[": "]", "\\[": "\\]", "[[": "]]", "[^": "]", "【": "】", "［": "］", "(": ")", "（": "）"}
	wrapping = map[string]string{"": "", "**": "**", "^": "^", "<sup>": "</sup>"}

	// Numbers in braces, or superscripts, after a word or a stop. After units and formulas (powered) and LaTeX
	// commands they are not marks.
	unusual = regexp.MustCompile(`(\\?\pL+|[^\\_^$}\pL\pN]|^)(\{\s?\d{1,3}\s?\}|[¹²³⁴-⁹](?:[, ]?[¹²³⁴-⁹])*)($|[\s.,;:!?。，、)”"»])`)
	powered = regexp.MustCompile(`(?i)^(?:\\.*|\p{Latin}{1,2}|[^\p{Latin}\p{Han}\p{Hiragana}\p{Katakana}.,;:!?。，、”"»)\s]{1,2}|sin|cos|tan|log|exp|sec|min|mol|rad|bar|inch(?:es)?|f(?:ee|oo)t|yards?|miles?|seconds?|.*m[eèé]t(?:re|er|ro)s?|сек|.*метр.?.?|.*米)$`)
	onLine  = strings.NewReplacer("¹", "[1]", "²", "[2]", "³", "[3]", "⁴", "[4]", "⁵", "[5]", "⁶", "[6]", "⁷", "[7]", "⁸", "[8]", "⁹", "[9]", "{", "[", "}", "]", ",", "", " ", "")
)

// bracketed rewrites numbers in braces and superscripts as marks in square brackets, if all pieces that they
// name exist and they are not in code.
func (m citables) bracketed(reply string) string {
	mark := func(found string) string {
		part := unusual.FindStringSubmatch(found)
		marks := onLine.Replace(part[2])
		for _, n := range itemOf.FindAllString(marks, -1) {
			if number, err := strconv.Atoi(n); err != nil || number < 1 || number > m.passages {
				return found
			}
		}
		if powered.MatchString(part[1]) || part[2][0] != '{' && strings.TrimSpace(part[1]) == "" {
			return found
		}
		return part[1] + marks + part[3]
	}
	var b strings.Builder
	last := 0
	for _, code := range append(codeOf.FindAllStringIndex(reply, -1), []int{len(reply), len(reply)}) {
		b.WriteString(unusual.ReplaceAllStringFunc(reply[last:code[0]], mark) + reply[code[0]:code[1]])
		last = code[1]
	}
	return b.String()
}

// cite removes the citation marks from a reply, [1], [2, F3], [passage 4], 【5†source】, (6) and similar ones,
// and a list of sources at its end. It returns the text without them; one citation for each sentence and each
// piece that is cited in it; the clauses of each citation, which are the parts of the sentence before its
// marks; and whether the mark of a refusal was among them. Marks of pieces that do not exist are removed too.
// The list counts for the sentences without marks. Years, code, links, powers and footnotes are not changed.
func cite(reply string, of citables) (answer string, citations []graphrag.Citation, clauses [][]text.Span, none bool) {
	reply = of.bracketed(reply)
	var list []graphrag.Citation
	tail := max(0, len(reply)-maxTail)
	if at := listOf.FindStringIndex(reply[tail:]); at != nil && tail+at[0] > 0 {
		list, _, _ = of.pieces(reply[tail+at[0]:])
		_, size := utf8.DecodeRuneInString(reply[tail+at[0]:])
		reply = reply[:tail+at[0]+size]
	}
	var b strings.Builder
	var marks []placedMark
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
		case plain && (len(pieces) == 0 || len(before) == start && part(2) == "(" || start > count || after != "" && strings.IndexAny(after[:min(len(after), utf8.UTFMax)], ".,;:!?\n。、，；") != 0 || strings.ContainsAny(before[len(before)-1:], "0123456789")):
			continue
		}
		joint := strings.TrimRight(reply[last:start], " \t")
		if last > 0 && strings.Trim(joint, "-–,; ") == "" {
			joint = "" // several marks in a row: [1], [3]
		}
		if at := leading.FindStringSubmatchIndex(joint); at != nil && strings.HasPrefix(after, ", ") { // "According to [1], it sank."
			next, size := utf8.DecodeRuneInString(after[2:])
			joint, end = joint[:at[3]]+string(unicode.ToUpper(next)), end+2+size
		}
		b.WriteString(joint) // the blank before a mark goes with it: "so [1]." becomes "so."
		for _, p := range pieces {
			marks = append(marks, placedMark{b.Len(), p})
		}
		last, none = end, none || refused
	}
	b.WriteString(reply[last:])
	answer = strings.TrimRight(b.String(), " \t\r\n")
	lead := len(answer) - len(strings.TrimLeft(answer, " \t\r\n"))
	for i := range marks {
		marks[i].at -= lead
	}
	answer = answer[lead:]
	citations, clauses = attach(answer, marks, list)
	return answer, citations, clauses, none
}

// placedMark is a cited piece, and the offset of its mark in the text without marks.
type placedMark struct {
	at    int
	piece graphrag.Citation
}

// apart reports whether the brackets between two texts can be a citation mark: they are not the index of an
// array, or part of a link or a quotation.
func apart(before, after string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	prior, _ := utf8.DecodeLastRuneInString(before[:len(before)-size])
	index := r == '_' || r == ']' || r < utf8.RuneSelf && unicode.IsLetter(r) && !unicode.IsLetter(prior) && !strings.ContainsRune("’'", prior)
	return !index && !strings.HasPrefix(after, "(") && !strings.HasPrefix(after, ": http") && !strings.HasPrefix(strings.TrimLeft(after, " "), "=") && !strings.HasPrefix(after, "+") && !strings.HasSuffix(strings.TrimRight(before, " "), "=") &&
		!(strings.ContainsRune("\"“'", r) && after != "" && strings.ContainsAny("\"”'", after[:1]))
}

// attach returns the citations of marks, and the clauses of each citation. A mark belongs to the last sentence
// that begins before it. Its clause begins with the sentence or at the mark before it, and ends at the mark, or
// with the sentence if no word follows.
func attach(answer string, marks []placedMark, list []graphrag.Citation) (citations []graphrag.Citation, clauses [][]text.Span) {
	all := text.Sentences(answer)
	places := make(map[graphrag.Citation]int)
	s, prior, begin := 0, 0, 0 // prior is the offset of the last mark, begin of the mark before it
	for _, m := range marks {
		for s+1 < len(all) && all[s+1].Start < m.at {
			s++
		}
		if s >= len(all) {
			continue
		}
		if m.at > prior {
			begin, prior = prior, m.at
		}
		clause := text.Span{Start: max(all[s].Start, begin), End: min(m.at, all[s].End)}
		if clause.Start >= clause.End || len(text.Default().Terms(clause.In(answer))) == 0 {
			clause = all[s]
		} else if !strings.ContainsFunc(answer[clause.End:all[s].End], unicode.IsLetter) {
			clause.End = all[s].End
		}
		m.piece.Start, m.piece.End = all[s].Start, all[s].End
		place, ok := places[m.piece]
		if !ok {
			place = len(citations)
			places[m.piece] = place
			citations, clauses = append(citations, m.piece), append(clauses, nil)
		}
		clauses[place] = append(clauses[place], clause)
	}
	if len(list) == 0 {
		return citations, clauses
	}
	marked := make(map[int]bool)
	for _, c := range citations {
		marked[c.Start] = true
	}
	for _, p := range all[:min(len(all), max(maxListed/len(list), 1))] {
		for _, c := range list {
			if !marked[p.Start] {
				c.Start, c.End = p.Start, p.End
				citations, clauses = append(citations, c), append(clauses, []text.Span{p})
			}
		}
	}
	return citations, clauses
}

// quoted matches three or more words in quotation marks.
var quoted = regexp.MustCompile(`[“"«„]((?:[^\s“”"«»„]+\s+){2,}[^“”"«»„]+)[”"»“]`)

// supported returns the valid citations of an answer: at least one of their clauses is supported. A clause is
// supported if the pieces that it cites, together with the question and the titles of pages, contain its
// numbers, in digits or words, and at least half of its names, since names are written in several ways. Each
// piece must contain a word of the clause and all quotations in it. If the languages differ, only numbers are
// compared. A clause which says that the passages do not state something has no source.
func supported(asked string, answer graphrag.Answer, found []graphrag.Citation, clauses [][]text.Span) (out []graphrag.Citation) {
	known := make(map[graphrag.Citation]*claimed)
	together := make(map[text.Span]map[string]bool)
	for i, c := range found {
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
			known[of] = claimOf(s)
		}
		for _, clause := range clauses[i] {
			if together[clause] == nil {
				together[clause] = maps.Clone(claimOf(asked).terms)
			}
			maps.Copy(together[clause], known[of].terms)
		}
	}
	for i, c := range found {
		of := known[graphrag.Citation{Of: c.Of, Evidence: c.Evidence}]
		if c.Of == graphrag.OfMemory || slices.ContainsFunc(clauses[i], func(s text.Span) bool { return of.by(s.In(answer.Text), together[s]) }) &&
			!IsRefusal(asked, answer.Text[c.Start:c.End]) {
			out = append(out, c)
		}
	}
	return out
}

// figure matches a number, with separators between thousands.
var figure = regexp.MustCompile(`\d+(?:[.,'’ \x{a0}\x{202f}]\d{3}\b)*`)

// numbersOf returns the numbers of a text as digits without leading zeros.
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

// claimed is a cited piece: its text, and its terms and numbers.
type claimed struct {
	text     string
	terms    map[string]bool
	language text.Language
}

func claimOf(s string) *claimed {
	c := &claimed{oneLine(s), make(map[string]bool), text.LanguageOf(s)}
	for _, t := range slices.Concat(text.Default().Terms(s), numbersOf(s), numeralsOf(s, c.language)) {
		c.terms[t] = true
	}
	return c
}

// by reports whether the piece supports a clause. together has the terms of all pieces that the clause cites
// and of the question. "One" is not compared as a number, since it is also an article.
func (c *claimed) by(clause string, together map[string]bool) bool {
	for _, m := range quoted.FindAllStringSubmatch(clause, -1) {
		if !strings.Contains(c.text, strings.TrimRight(oneLine(m[1]), ".,;:!?… ")) {
			return false
		}
	}
	lacks := func(t string) bool { return !together[t] }
	terms := slices.DeleteFunc(text.Default().Terms(clause), func(t string) bool { return t == "yes" || t == "no" })
	l := text.LanguageOf(clause)
	foreign := l != c.language && l != "" && c.language != ""
	names := slices.DeleteFunc(text.Default().Terms(text.ReadQuestion(clause).Names), func(t string) bool { return strings.Trim(t, "0123456789") == "" })
	unlike := func(t string) bool { return t != "#1" && lacks(t) }
	if all := len(names); slices.ContainsFunc(numbersOf(clause), lacks) || slices.ContainsFunc(numeralsOf(clause, cmp.Or(l, c.language)), unlike) ||
		!foreign && l != text.German && 2*len(slices.DeleteFunc(names, lacks)) < all {
		return false
	}
	return len(terms) == 0 || foreign || slices.ContainsFunc(terms, func(t string) bool { return c.terms[t] })
}

func oneLine(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// piece returns a citation of the piece with a number, counted from 1, among the pieces of a letter.
func (m citables) piece(letter byte, number int) graphrag.Citation {
	switch letter {
	case 'F':
		return graphrag.Citation{Of: graphrag.OfDerived, Evidence: m.facts[number-1]}
	case 'R':
		return graphrag.Citation{Of: graphrag.OfDerived, Evidence: m.reports[number-1]}
	}
	return graphrag.Citation{Evidence: number - 1}
}

func (m citables) count(letter byte) int {
	return map[byte]int{'F': len(m.facts), 'R': len(m.reports), 0: m.passages}[letter]
}

// maxListed limits the citations that a list of sources adds, maxTail the bytes of that list, maxMarkBytes the
// bytes of a mark.
const maxListed, maxTail, maxMarkBytes = 10_000, 4096, 200

// pieces returns the existing pieces that the inside of a mark names. ok is false if it is not a mark, none is
// true if it contains the mark of a refusal.
func (m citables) pieces(inside string) (pieces []graphrag.Citation, none, ok bool) {
	label := byte(0)
	if before, _, ok := strings.Cut(inside, "†"); ok {
		inside, _, _ = strings.Cut(before, ":") // as in 【4:0†source】
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

// memory is the mark for the model's own knowledge.
const memory = "memory"

// isSourceSpan reports whether the text of a chunk equals its source span, so that it was not cleaned. Cleaning
// only removes bytes.
func isSourceSpan(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }
