// SPDX-License-Identifier: Apache-2.0

package text

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/neurosnap/sentences"
	"github.com/neurosnap/sentences/data"
)

// Span is a part of a text: the bytes from Start to End-1.
type Span struct{ Start, End int }

// In returns the part of s that the span delimits.
func (p Span) In(s string) string { return s[p.Start:p.End] }

// Match is a part of a text, the bytes from Start to End-1, that a model found. Score is the score of an
// answer, or the mean probability of the words of a name; Kind is the kind of a name (PER, ORG).
type Match struct {
	Start, End int
	Score      float64
	Kind       string
}

// Sentences returns the sentences of s in order, as byte offsets without the white space around them. Spans
// do not overlap, do not cut a rune, and cover every byte of s that is not white space.
//
// Sentences end
//   - at a blank line, a heading, a list item, a table row or a rule (markdown
//     structure); a single line break inside a paragraph does not end one,
//   - at !, ?, ؟ and ۔, unless the next word begins in lower case ("Is it so?" he asked),
//   - at a full stop when Punkt says so: Kiss and Strunk, Unsupervised Multilingual Sentence Boundary
//     Detection, Computational Linguistics 32(4), 2006, section 4, with the English tables trained for
//     github.com/neurosnap/sentences, initials ("J. R. R. Tolkien") and a few abbreviations of our own
//     added,
//   - in the other languages of [LanguageOf] at a full stop, unless it ends an
//     initial, an abbreviation ("z. B.", "Mme.", "г.") or, in German, an ordinal ("3.
//     März"); and after these too before a stop word in upper case ("… 1903 n. Chr. Die …"),
//   - at the stops of other scripts (。！？｡।॥), also without white space, unless と follows a quotation.
//
// Closing quotes, brackets and citation marks such as [1] belong to the sentence before them. Invalid UTF-8
// is text like any other. The time is linear in len(s), whatever the length of the lines.
//
// Only the English tables come from the library: its other tables, trained on some megabytes of news, have
// few of the abbreviations of reference works and many words that are none (German "hag", "ne" and "th",
// without "Hr." and "Abb."). Its scanner looks at every word with regular expressions and allocates a token
// for each; this one looks only at the places where a sentence could end, and is 25 times faster on web
// pages. It also cuts better there: both neurosnap and prose/v3/segment, which builds on it, cut after
// "approx.", "Fig." and "pp.", join "in 1945. The war" (neurosnap) or cut `"Is it so?" he asked` (prose),
// and take tables and lists for prose.
func Sentences(s string) []Span {
	sc := sentenceScanner{s: s, tables: cmp.Or(punktTables()[LanguageOf(s)], punktTables()[English]), out: make([]Span, 0, 1+len(s)/bytesOfSentence)}
	for start := 0; start < len(s); {
		end := blockEnd(s, start)
		sc.block(start, end)
		start = end
	}
	return sc.out
}

// bytesOfSentence is about the mean length of a sentence.
const bytesOfSentence = 96

// blockEnd returns where the block beginning at start ends: a paragraph with
// its wrapped lines, one heading, one list item, one table row.
func blockEnd(s string, start int) int {
	end := lineEnd(s, start)
	if k := lineKind(s[start:end]); k == blankLine || k == loneLine {
		return end
	}
	for end < len(s) {
		next := lineEnd(s, end)
		if lineKind(s[end:next]) != plainLine {
			return end
		}
		end = next
	}
	return end
}

// lineEnd returns the offset after the line feed that ends the line at start.
func lineEnd(s string, start int) int {
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(s)
}

const (
	plainLine = iota // may continue the block of the line before
	blankLine        // ends a block
	itemLine         // an item of a list: begins a block, which may continue
	loneLine         // a block of its own: a heading, a row of a table, a rule
)

// lineKind returns the kind of a line of Markdown, by its first bytes.
func lineKind(line string) int {
	line = strings.TrimLeft(line, " \t\r\n\v\f")
	if line == "" {
		return blankLine
	}
	switch c := line[0]; {
	case c == '|' || c == '#':
		return loneLine
	case c == '>':
		if strings.Trim(line, "> \t\r\n") == "" {
			return blankLine
		}
	case c == '-' || c == '*' || c == '+' || c == '=' || c == '_':
		if len(line) == 1 || line[1] == ' ' || line[1] == '\t' || line[1] == '\n' {
			return itemLine
		}
		if len(line) >= 3 && line[1] == c && line[2] == c {
			return loneLine
		}
	case '0' <= c && c <= '9':
		for i := 1; i < len(line)-1 && i < 5; i++ {
			if d := line[i]; d == '.' || d == ')' {
				if line[i+1] == ' ' || line[i+1] == '\t' {
					return itemLine
				}
				break
			} else if d < '0' || d > '9' {
				break
			}
		}
	case strings.HasPrefix(line, "•") || strings.HasPrefix(line, "```"):
		return itemLine
	}
	return plainLine
}

// sentenceScanner collects the sentences of one text.
type sentenceScanner struct {
	s      string
	tables *punkt
	out    []Span
}

// block cuts s[start:end] into sentences.
func (sc *sentenceScanner) block(start, end int) {
	s := sc.s[:end]
	from := start
	for i := afterNumber(s, start); i < end; {
		stop, n := stopAt(s[i:])
		if n == 0 {
			i++
			continue
		}
		run := i + n // after "?!" or "..."
		for run < end {
			other, m := stopAt(s[run:])
			if m == 0 {
				break
			}
			stop = max(stop, other)
			run += m
		}
		after := skipClosers(s, run)
		if sc.ends(s, from, i, run, after, stop) {
			sc.add(from, after)
			from = after
		}
		i = after
	}
	sc.add(from, end)
}

// afterNumber returns the offset after the number of a list item or a heading that begins at start, since its
// full stop ends no sentence; start if there is none.
func afterNumber(s string, start int) int {
	i := start
	for i < len(s) && strings.IndexByte(" \t\r\n\v\f#>-+*", s[i]) >= 0 {
		i++
	}
	first := i
	for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == '.' && i > first) {
		i++
	}
	if i > first && i-first <= maxNumber && i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		return i
	}
	return start
}

// maxNumber is the largest length, in bytes, of the number of an item or a heading, such as 12.10.3.
const maxNumber = 8

// add appends the span without the white space around it.
func (sc *sentenceScanner) add(start, end int) {
	piece := sc.s[start:end]
	left := strings.TrimLeftFunc(piece, unicode.IsSpace)
	start += len(piece) - len(left)
	if right := strings.TrimRightFunc(left, unicode.IsSpace); right != "" {
		sc.out = append(sc.out, Span{start, start + len(right)})
	}
}

// The kinds of stops, weakest first.
const (
	dotStop  = iota // . …: a full stop may be part of an abbreviation
	markStop        // ! ? ؟
	fullStop        // a stop that needs no space after it
)

// stopAt returns the kind and the length of the stop at the beginning of s; length 0 if there is none.
func stopAt(s string) (kind, n int) {
	switch s[0] {
	case '.':
		return dotStop, 1
	case '!', '?':
		return markStop, 1
	}
	if s[0] < utf8.RuneSelf {
		return 0, 0
	}
	switch r, n := utf8.DecodeRuneInString(s); r {
	case '…':
		return dotStop, n
	case '‼', '⁇', '⁈', '⁉', '؟', '۔':
		return markStop, n
	case '。', '！', '？', '｡', '।', '॥':
		return fullStop, n
	}
	return 0, 0
}

// skipClosers returns the offset after the quotes, brackets, emphasis and citation marks that follow a stop.
func skipClosers(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\'' || c == ')' || c == ']' || c == '*' || c == '_':
			i++
		case c == '[':
			n := len(citationMark.FindString(s[i:min(len(s), i+8)]))
			if n == 0 {
				return i
			}
			i += n
		case c < utf8.RuneSelf && c != ' ':
			return i
		default:
			n := closer(s[i:])
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return i
}

// closer returns the length of the closing quote or bracket above ASCII at the beginning of s, with the space
// before it in French; 0 if there is none. A quote that opens in one language may close in another, if no word
// follows.
func closer(s string) int {
	bare := strings.TrimLeft(s[:min(len(s), 8)], " \u00A0\u202F")
	space := min(len(s), 8) - len(bare)
	r, n := utf8.DecodeRuneInString(bare)
	after, _ := utf8.DecodeRuneInString(s[space+n:])
	switch {
	case r == '»' && space > 0, r == '“' && space == 0, r == '‘' && space == 0:
		if unicode.IsLetter(after) || unicode.IsNumber(after) {
			return 0
		}
	case space > 0 || r != '’' && r != '”' && r != '»' && r != '«' && r != '」' && r != '』' && r != '）' && r != '】':
		return 0
	}
	return space + n
}

// citationMark matches a mark such as [1], [12] or [a] at the beginning of a text.
var citationMark = regexp.MustCompile(`^\[(?:\d{1,3}|[a-z])\]`)

// ends reports whether the sentence that begins at from ends with the stop at i. The stop ends at run, the
// quotes and brackets after it at after; s ends with the block.
func (sc *sentenceScanner) ends(s string, from, i, run, after, stop int) bool {
	if after == len(s) {
		return true
	}
	next := s[after:]
	if stop == fullStop {
		return after == run || !strings.HasPrefix(next, "と") // as in 「はい。」と言った
	}
	r, _ := utf8.DecodeRuneInString(next)
	if !unicode.IsSpace(r) {
		return false // as in 3.14, example.org, Yahoo!-owned
	}
	next = strings.TrimLeftFunc(next, unicode.IsSpace)
	if next == "" {
		return true
	}
	word := nextWord(strings.TrimLeft(next, "-–—― \u00A0")) // as in «Да!» — сказал он
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case unicode.IsLower(first):
		return false
	case word == "" && stop == dotStop && next[0] == '.':
		return false // a spaced ellipsis: . . .
	case stop == markStop || run > i+1 || after > run:
		return true // as in ? ! ... .” .[1]
	}
	return sc.tables.ends(lastWord(s[from:i]), word, unicode.IsUpper(first))
}

// maxWord is the largest length, in bytes, to which words are read. Longer words are in no table.
const maxWord = 48

// nextWord returns the word at the beginning of s, without opening quotes and brackets. It ends at white space
// or at punctuation other than . - and '.
func nextWord(s string) string {
	s = strings.TrimLeft(s, "\"'([{*_“‘«「『（¿¡")
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || i >= maxWord:
			return s[:i]
		case c >= utf8.RuneSelf || c == '-' || c == '\'' || c == '.':
		case c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z':
			return s[:i]
		}
	}
	return s
}

// lastWord returns the word at the end of s, without opening quotes and brackets; "" if s ends with white space
// or the word is too long.
func lastWord(s string) string {
	i := len(s)
	for i > 0 && s[i-1] > ' ' {
		if len(s)-i >= maxWord {
			return ""
		}
		i--
	}
	word := s[i:]
	if j := strings.LastIndexAny(word, "\"([{*_“‘«—/"); j >= 0 {
		_, n := utf8.DecodeRuneInString(word[j:])
		word = word[j+n:]
	}
	return word
}

// punkt has the trained tables of the Punkt sentence splitter. Their words are in lower case, a number is
// "##number##".
type punkt struct {
	abbreviations map[string]bool
	beforeNumbers map[string]bool     // abbreviations that numbers follow
	collocations  sentences.SetString // "word,next": never the end of a sentence
	starters      sentences.SetString // words that often begin a sentence
	context       sentences.SetString // bits for each word: positions and cases in which it was seen

	// Languages other than English use these in place of collocations, starters and context.
	stop     map[string]bool // stop words
	titles   map[string]bool // of all languages; used if the language is unknown, too
	ordinals bool            // "3." occurs before words in upper case
}

// Bits of punkt.context.
const (
	seenUpperInside = 1 << 2
	seenLower       = 1<<4 | 1<<5 | 1<<6
)

// punktTables returns the tables by language, loaded at the first call.
var punktTables = sync.OnceValue(func() map[Language]*punkt {
	asset, err := data.Asset("data/english.json")
	if err != nil {
		panic("text: " + err.Error()) // the file is embedded in the binary
	}
	trained, err := sentences.LoadTraining(asset)
	if err != nil {
		panic("text: embedded sentence tables: " + err.Error())
	}
	of := lexicons[0].words // words of English, and words that all languages share
	en := &punkt{abbreviations: set(of["short"]), beforeNumbers: set(of["numbered"]), collocations: trained.Collocations,
		starters: trained.SentStarters, context: trained.OrthoContext}
	for word := range trained.AbbrevTypes {
		en.abbreviations[word] = true
	}
	all := make(map[Language]*punkt)
	dates, titles := set(of["numbered"]+" "+of["months"]), set(of["titles"])
	for _, l := range lexicons {
		if short := l.words["short"]; short != "" {
			_, ordinals := l.words["ordinals"]
			all[l.language] = &punkt{abbreviations: set(short), beforeNumbers: dates, stop: l.stopWords(), titles: titles, ordinals: ordinals}
		}
	}
	untold := *en // for a text too short to recognize its language
	untold.titles = titles
	all[English], all[""] = en, &untold
	return all
})

// ends reports whether the full stop between word and next ends a sentence; upper says that next begins in
// upper case. The caller has ruled out a next word in lower case.
func (p *punkt) ends(word, next string, upper bool) bool {
	if word == "" {
		return upper // ". The" after a space: the end of a spaced ellipsis
	}
	w, n := strings.ToLower(word), strings.ToLower(strings.TrimRight(next, ".'-"))
	switch {
	case p.stop != nil:
		w = w[1+strings.LastIndexByte(w, '\''):] // as in "l'ing."
		return !p.titles[word] && !(p.titles[w] && p.abbreviations[w]) && p.endsBefore(w, next, upper)
	case len(word) > 2 && word[0] < 'a' && p.titles[w]:
		return false // as in Dra. Ruiz
	case isNumber(n) && p.beforeNumbers[w], p.collocations[tableWord(w)+","+tableWord(n)] != 0:
		return false
	}
	context, starter := p.context[tableWord(n)], upper && p.starters[tableWord(n)] != 0
	starts := upper && context&seenLower != 0 && context&seenUpperInside == 0
	switch {
	case len(word) == 1 && isASCIILetter(word[0]):
		// An initial (section 4.3) as in "J. Bach", but not in "plan B. The".
		return starts || starter && context&seenLower != 0
	case p.isAbbreviation(w):
		return starts || starter
	}
	return true
}

// endsBefore is ends for a language without trained tables; word is in lower case.
func (p *punkt) endsBefore(word, next string, upper bool) bool {
	begins := next
	if i := strings.IndexAny(next, "'’"); i > 0 {
		begins = next[:i] // as in J'ai, L’uomo
	}
	first, size := utf8.DecodeRuneInString(word) // none if the word is only an apostrophe
	switch {
	case upper && p.stop[strings.ToLower(begins)] && !strings.HasSuffix(next, "."):
		return true
	case isNumber(word):
		return !upper || !p.ordinals || len(word) > 2
	case size == len(word) && unicode.IsLetter(first), p.isAbbreviation(word):
		return false
	}
	return !p.beforeNumbers[word] || !isNumber(strings.TrimRight(next, ".'-"))
}

// isAbbreviation reports whether a word in lower case, without its last full stop, is an abbreviation. Words
// with full stops inside (u.s, e.g, ph.d) are.
func (p *punkt) isAbbreviation(w string) bool {
	i := strings.LastIndexAny(w, "-.")
	switch {
	case p.abbreviations[w]:
		return true
	case i <= 0:
		return false
	case w[i] == '-':
		return p.abbreviations[w[i+1:]]
	}
	return len(w)-i <= 3 && !isNumber(w[i-1:i])
}

const numerals = "0123456789"

// isNumber reports whether a word consists of digits and the marks between them.
func isNumber(w string) bool {
	return strings.Trim(w, numerals+".,-") == "" && strings.ContainsAny(w, numerals)
}

// tableWord returns a word in the form of the trained tables.
func tableWord(w string) string {
	if isNumber(w) {
		return "##number##"
	}
	return w
}
