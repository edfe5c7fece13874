// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxMark bounds the numbers in citation marks. Larger ones are text: [1945].
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

// cite takes the citation marks [1], [2, F3], [R4-6] and [memory] out of a reply
// and returns the text without them, and one citation for each sentence and piece
// that a mark connects. Marks of pieces that do not exist go without leaving a
// citation. Brackets with anything else inside stay.
func cite(reply string, of material) (string, []graphrag.Citation) {
	type mark struct {
		at    int // offset in the text without marks
		piece graphrag.Citation
	}
	var b strings.Builder
	var marks []mark
	for i := 0; i < len(reply); {
		open := strings.IndexByte(reply[i:], '[')
		if open < 0 {
			b.WriteString(reply[i:])
			break
		}
		open += i
		pieces, end := parseMark(reply, open, of)
		if end == 0 {
			b.WriteString(reply[i : open+1])
			i = open + 1
			continue
		}
		// The blank before a mark goes with it: "so [1]." becomes "so.".
		b.WriteString(strings.TrimRight(reply[i:open], " \t"))
		for _, p := range pieces {
			marks = append(marks, mark{b.Len(), p})
		}
		i = end
	}
	answer := strings.TrimRight(b.String(), " \t\r\n")
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
	return answer, citations
}

// quoted is what stands between quotation marks, of three words or more.
var quoted = regexp.MustCompile(`[“"«„]((?:[^\s“”"«»„]+\s+){2,}[^“”"«»„]+)[”"»“]`)

// supported returns the citations of an answer whose pieces have words of the sentence that cites
// them, and all of what it quotes. A sentence in another language than the piece is believed.
func supported(answer graphrag.Answer, marked []graphrag.Citation) (out []graphrag.Citation) {
	known := make(map[graphrag.Citation]*claimed)
	for _, c := range marked {
		of := graphrag.Citation{Of: c.Of, Evidence: c.Evidence}
		if known[of] == nil && c.Of != graphrag.OfMemory {
			s := ""
			if c.Of == "" {
				s = passage(answer.Evidence[c.Evidence].Chunk)
			} else {
				s = answer.Derived[c.Evidence].Text
			}
			known[of] = &claimed{oneLine(s), make(map[string]bool), text.LanguageOf(s)}
			for _, t := range text.Default().Terms(s) {
				known[of].terms[t] = true
			}
		}
		if c.Of == graphrag.OfMemory || known[of].by(answer.Text[c.Start:c.End]) {
			out = append(out, c)
		}
	}
	return out
}

// claimed is a piece that sentences claim to rest on.
type claimed struct {
	text     string
	terms    map[string]bool
	language text.Language
}

// by reports whether a sentence can rest on the piece.
func (c *claimed) by(sentence string) bool {
	for _, m := range quoted.FindAllStringSubmatch(sentence, -1) {
		if !strings.Contains(c.text, strings.TrimRight(oneLine(m[1]), ".,;:!?… ")) {
			return false
		}
	}
	terms := slices.DeleteFunc(text.Default().Terms(sentence), func(t string) bool { return t == "yes" || t == "no" })
	if l := text.LanguageOf(sentence); len(terms) == 0 || l != c.language && l != "" && c.language != "" {
		return true
	}
	return slices.ContainsFunc(terms, func(t string) bool { return c.terms[t] })
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

// parseMark reads a citation mark at s[open] and returns the pieces it names that
// exist, and the offset after it; 0 if it is no mark.
func parseMark(s string, open int, of material) (pieces []graphrag.Citation, end int) {
	i := open + 1
	letter := func() (l byte) {
		if i < len(s) && (s[i]|0x20 == 'f' || s[i]|0x20 == 'r') {
			l = s[i] &^ 0x20
			i++
		}
		return l
	}
	number := func() int {
		start := i
		for i < len(s) && i-start < 4 && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		v, err := strconv.Atoi(s[start:i])
		if err != nil || v > maxMark {
			return -1
		}
		return v
	}
	blanks := func() {
		for i < len(s) && s[i] == ' ' {
			i++
		}
	}
	for {
		blanks()
		if of.memory && len(s) >= i+len(memory) && strings.EqualFold(s[i:i+len(memory)], memory) {
			i += len(memory)
			pieces = append(pieces, graphrag.Citation{Of: graphrag.OfMemory})
		} else {
			l := letter()
			first := number()
			if first < 0 {
				return nil, 0
			}
			last := first
			if blanks(); strings.HasPrefix(s[i:], "-") || strings.HasPrefix(s[i:], "–") {
				i += len("-")
				if s[i-1] != '-' {
					i += len("–") - len("-")
				}
				blanks()
				if again := letter(); again != 0 && again != l {
					return nil, 0
				}
				if last = number(); last < first {
					return nil, 0
				}
			}
			for p := max(first, 1); p <= min(last, of.count(l)) && len(pieces) < maxMark; p++ {
				pieces = append(pieces, of.piece(l, p))
			}
		}
		blanks()
		if i >= len(s) {
			return nil, 0
		}
		switch s[i] {
		case ']':
			return pieces, i + 1
		case ',', ';':
			i++
		default:
			return nil, 0
		}
	}
}

// memory is the mark of what a model knows by itself.
const memory = "memory"

// isSourceSpan tells whether the text of a chunk is its source span, byte for
// byte, and was not cleaned. Cleaning only ever takes bytes away.
func isSourceSpan(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }
