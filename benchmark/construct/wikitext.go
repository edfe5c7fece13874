// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Wikitext converts wiki markup to the Markdown that [Parse] reads: headings, prose, and references as
// footnotes, with the address, title and archive of citation templates. Tables, pictures and other templates
// are dropped. The time is linear in the length of the page, even with unclosed markup.
func Wikitext(page, title string) string {
	w := &wikiParser{named: make(map[string]int)}
	page = tables.ReplaceAllString(w.lift(comments.ReplaceAllString(page, "")), "\n")
	var out strings.Builder
	out.WriteString("# " + title + "\n\n")
	w.plain(&out, page)
	text := wikiHeading.ReplaceAllStringFunc(out.String(), func(line string) string {
		m := wikiHeading.FindStringSubmatch(line)
		if isReferences(strings.TrimSpace(m[2])) {
			return "" // the footnotes take the place of the reference list
		}
		return strings.Repeat("#", min(len(m[1]), len(m[3]))) + " " + strings.TrimSpace(m[2])
	})
	text = strings.NewReplacer("'''''", "", "'''", "", "''", "", "&nbsp;", " ").Replace(text)
	out.Reset()
	out.WriteString(text)
	for i, note := range w.notes {
		fmt.Fprintf(&out, "\n\n[^w%d]: %s", i+1, note)
	}
	return out.String() + "\n"
}

var (
	comments    = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	tables      = regexp.MustCompile(`(?ms)^\{\|.*?^\|\}`)
	wikiHeading = regexp.MustCompile(`(?m)^(={1,6})([^=\n].*?)(={1,6})[ \t]*$`)
	refOpen     = regexp.MustCompile(`(?i)^<ref\b([^>]{0,300})>`)
	refName     = regexp.MustCompile(`(?i)name\s*=\s*["']?([^"'/>]+)`)
	wikiTag     = regexp.MustCompile(`^</?[a-zA-Z][^<>\n]{0,300}>`)
	external    = regexp.MustCompile(`^\[(https?://[^\s\]]+)(?:[ \t]+([^\]\n]*))?\]`)
	bareURL     = regexp.MustCompile(`https?://[^\s|}\]<>]+`)
	citeField   = regexp.MustCompile(`(?i)\|\s*(url|title|archive-?url)\s*=\s*([^|{}]*)`)
)

// longestRef is the largest length of a reference, in bytes.
const longestRef = 8000

// wikiParser holds the footnotes of a page.
type wikiParser struct {
	notes []string       // texts of the footnotes
	named map[string]int // name of a reference → number of its footnote, from 1
}

// lift replaces references by footnote marks.
func (w *wikiParser) lift(page string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 {
			return out.String() + page
		}
		out.WriteString(page[:at])
		page = page[at:]
		m := refOpen.FindStringSubmatch(page)
		if m == nil {
			out.WriteByte('<')
			page = page[1:]
			continue
		}
		page = page[len(m[0]):]
		body, name := "", ""
		if n := refName.FindStringSubmatch(m[1]); n != nil {
			name = strings.TrimSpace(n[1])
		}
		if !strings.HasSuffix(strings.TrimSpace(m[1]), "/") {
			// A reference without an end tag nearby is taken as empty: the prose follows at once.
			if end := strings.Index(page[:min(len(page), longestRef)], "</ref>"); end >= 0 {
				body, page = page[:end], page[end+len("</ref>"):]
			}
		}
		if n := w.note(name, body); n > 0 {
			fmt.Fprintf(&out, "[^w%d]", n)
		}
	}
}

// note returns the number of the footnote of a reference, 0 for an empty one. A reference may be used by its
// name before its text is given.
func (w *wikiParser) note(name, body string) int {
	n := w.named[name]
	if name == "" || n == 0 {
		if name == "" && strings.TrimSpace(body) == "" {
			return 0
		}
		w.notes = append(w.notes, "")
		if n = len(w.notes); name != "" {
			w.named[name] = n
		}
	}
	if w.notes[n-1] == "" {
		w.notes[n-1] = noteOf(body)
	}
	return n
}

// noteOf writes the text of a reference as Markdown.
func noteOf(body string) string {
	fields := make(map[string]string)
	for _, m := range citeField.FindAllStringSubmatch(body, -1) {
		key := strings.ReplaceAll(strings.ToLower(m[1]), "-", "")
		if value := strings.TrimSpace(m[2]); fields[key] == "" {
			fields[key] = value
		}
	}
	url, title := fields["url"], fields["title"]
	if url == "" {
		if at := strings.IndexByte(body, '['); at >= 0 {
			if m := external.FindStringSubmatch(body[at:]); m != nil {
				url, title = m[1], m[2]
			}
		}
	}
	if url == "" {
		url = bareURL.FindString(body)
	}
	if url == "" {
		return strings.Join(strings.Fields(strings.NewReplacer("{", "", "}", "", "|", ", ").Replace(body)), " ")
	}
	title = strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(title)
	out := fmt.Sprintf("[%s](%s)", strings.TrimSpace(title), url)
	if archive := fields["archiveurl"]; archive != "" {
		out += fmt.Sprintf(". [Archived](%s)", archive)
	}
	return out
}

// plain reduces a page to its prose: the visible text of links, without templates, pictures and tags.
func (w *wikiParser) plain(out *strings.Builder, page string) {
	ends := pairs(page)
	for i := 0; i < len(page); {
		rest := page[i:]
		switch {
		case strings.HasPrefix(rest, "{{"):
			i += 2
			if end := ends[i-2]; end > 0 {
				i = end
			}
		case strings.HasPrefix(rest, "[["):
			end := ends[i]
			if i += 2; end == 0 {
				continue
			}
			if inner := page[i : end-2]; !strings.Contains(inner, "[[") && !strings.HasPrefix(inner, "File:") && !strings.HasPrefix(inner, "Image:") && !strings.HasPrefix(inner, "Category:") {
				out.WriteString(inner[strings.LastIndexByte(inner, '|')+1:])
			}
			i = end
		case rest[0] == '[' && labelled(rest) != nil:
			m := labelled(rest)
			out.WriteString(m[2])
			i += len(m[0])
		case rest[0] == '<' && wikiTag.MatchString(rest[:min(len(rest), 310)]):
			i += len(wikiTag.FindString(rest[:min(len(rest), 310)]))
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
}

// labelled matches a link with a label at the beginning of a text, if it is closed within 2,000 bytes.
func labelled(s string) []string {
	end := strings.IndexByte(s[:min(len(s), 2000)], ']')
	if end < 0 {
		return nil
	}
	return external.FindStringSubmatch(s[:end+1])
}

// pairs maps the offsets at which templates and links begin to the offsets of their ends, in one pass.
func pairs(page string) map[int]int {
	ends := make(map[int]int)
	var open []int
	for i := 0; i+1 < len(page); i++ {
		switch two := page[i : i+2]; {
		case two == "{{" || two == "[[":
			open = append(open, i)
			i++
		case (two == "}}" || two == "]]") && len(open) > 0:
			if last := open[len(open)-1]; (page[last] == '{') == (two == "}}") {
				ends[last] = i + 2
				open = open[:len(open)-1]
			}
			i++
		}
	}
	return ends
}

// questionFault returns the fault of a question that cannot be used, in a sentence for the model that wrote it,
// and the words concerned; "" without a fault. Faults are a run of words copied from a statement or its
// sentence, a number of a summary's statements, and a pronoun without a name. Lengths are checked elsewhere.
func questionFault(question string, d Draft) (reason, words string) {
	if len(question) > maxQuestion*utf8.UTFMax {
		return "", ""
	}
	var said []string
	if d.Type != wildgraph.Summary {
		said = append(said, plainText(d.Triples[0].Sentence))
	}
	for _, t := range d.Triples {
		said = append(said, t.Statement)
	}
	grams, numbers := make(map[string]bool), make(map[string]bool)
	for _, s := range said {
		all, _ := wordsOf(s)
		for i := range all {
			grams[strings.Join(all[i:min(i+gram, len(all))], " ")] = true
			numbers[all[i]] = d.Type == wildgraph.Summary && unicode.IsDigit(rune(all[i][0]))
		}
	}
	asked, at := wordsOf(question)
	kinds := kindsOf(question, d, languages.In(text.LanguageOf(strings.Join(said, " "))))
	for i, w := range asked {
		if numbers[w] && kinds[i] != ofTitle {
			return "It gives away a number of the statements.", w
		}
	}
	for from := 0; from+gram <= len(asked); from++ {
		to := from
		for to+gram <= len(asked) && grams[strings.Join(asked[to:to+gram], " ")] {
			to++
		}
		if to > from && copies(asked[from:to+gram-1], kinds[from:]) {
			return "Words of it stand in a row in the statement or its sentence.", question[at[from][0]:at[to+gram-2][1]]
		}
		from = max(from, to-1)
	}
	return unnamed(question, kinds, at)
}

// pronoun matches a pronoun as the subject of a question.
var pronoun = regexp.MustCompile(`(?i)\b(?:(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would) (?:she|he|they|her|his|their)|(?:does|did|has|had) (?:it|its))\b`)

// unnamed returns the fault of a question that has no name and at most one noun before its pronoun. After two
// nouns the pronoun may refer to the first.
func unnamed(question string, kinds []int, at [][]int) (reason, words string) {
	p := pronoun.FindStringIndex(question)
	if p == nil {
		return "", ""
	}
	before := 0
	for i, k := range kinds {
		if k >= ofName {
			return "", ""
		} else if k == ofText && at[i][1] < p[0] {
			before++
		}
	}
	if before > 1 {
		return "", ""
	}
	return "Whoever reads it alone does not know whom or what its pronoun means.", question[p[0]:p[1]]
}

// Lengths of a run of words that a question shares with a statement. A word counts as 2, a character of a
// script without blanks as 1.
const (
	gram      = 4 // least number of shared words in a row
	leastRun  = 8 // least length of a copied run
	leastSaid = 6 // least length outside of names, if the run contains a stop word
)

// copies reports whether a run of shared words is more than a noun phrase with a name: without names, titles
// and articles it has three words with a stop word among them, or four. Stop words at the end do not count.
func copies(run []string, kinds []int) bool {
	all, content, stops, last := 0, 0, 0, 0
	for i, w := range run {
		half := 2
		if r, _ := utf8.DecodeRuneInString(w); text.Unspaced(r) {
			half = 1
		}
		switch all += half; kinds[i] {
		case ofText:
			content, stops, last = content+half, stops+last, 0
		case ofStop:
			last += half
		case ofName, ofTitle:
			stops, last = stops+last, 0
		}
	}
	return all >= leastRun && content > 0 && (content >= leastRun || stops > 0 && content+stops >= leastSaid)
}

// The kinds of words in a question.
const (
	ofText  = iota
	ofStop  // a stop word
	ofJoint // an article, a conjunction or a preposition, as inside of names
	ofName  // a name or a number
	ofTitle // a word of the title of the article or of a section
)

// wordPattern matches words; in scripts without blanks, single characters.
var wordPattern = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|(?:[^\P{L}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|\p{N}|\p{M})+`)

// wordsOf splits a text into words in lower case, with their byte offsets.
func wordsOf(s string) (folded []string, at [][]int) {
	at = wordPattern.FindAllStringIndex(s, -1)
	for _, span := range at {
		folded = append(folded, strings.ToLower(s[span[0]:span[1]]))
	}
	return folded, at
}

// joining lists articles, conjunctions and prepositions that occur inside of names.
const joining = ` and or und oder et ou y e ed och og en и the a an of s l d le la les un une de du des el los las una del di il lo gli della dei der die das den dem ein eine einer eines het een van ett av `

// languages has the stop words of each language.
var languages, _ = text.New(text.Options{Language: text.Each})

// kindsOf classifies the words of a question.
func kindsOf(question string, d Draft, in *text.Standard) []int {
	title := make(map[string]bool)
	words, _ := wordsOf(d.Title + " " + strings.Join(d.Path, " "))
	for _, w := range words {
		if t, content := in.Term(w); content {
			title[t] = true
		}
	}
	words, at := wordsOf(question)
	out := make([]int, len(words))
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(question[at[i][0]:])
		term, content := in.Term(w)
		switch {
		case title[term] && content:
			out[i] = ofTitle
		case unicode.IsUpper(r) && i > 0, unicode.IsNumber(r), unicode.Is(unicode.Katakana, r):
			out[i] = ofName
		case strings.Contains(joining, " "+w+" "):
			out[i] = ofJoint
		case !content && !text.Unspaced(r):
			out[i] = ofStop
		}
	}
	return out
}
