// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Largest numbers of shown questions, of tried questions, of files that are read, and of bytes read of each.
const suggested, maxAsked, maxRead, readBytes = 4, 24, 200, 64 << 10

// Suggestions returns at most four questions that the files answer, made from their text without a model:
// headings that are questions, in every language, and in English questions for definitions and for the person
// who did something. Each question was answered from its place. They are made once for each state of the index;
// if ctx ends, the next call makes them.
func (d *Session) Suggestions(ctx context.Context) ([]string, error) {
	return once(ctx, d, d.suggest)
}

func (d *Session) suggest(ctx context.Context) ([]string, error) {
	var all []candidate
	ids := d.list(d.o.Where)
	for i := range min(maxRead, len(ids)) { // files at equal distances in the list
		file, err := d.folder.File(ids[i*len(ids)/min(maxRead, len(ids))])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // a file may have been deleted
			all = append(all, candidates(file.Document.ID, display.Head(file.Document.Text, readBytes))...)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.nth-b.nth, b.named-a.named) }) // first the first question of each file
	out := []string{}
	for _, c := range all[:min(maxAsked, len(all))] {
		if ok, err := d.answers(ctx, c); err != nil {
			return nil, err
		} else if ok && len(out) < suggested && !slices.Contains(out, c.question) {
			out = append(out, c.question)
		}
	}
	return out, nil
}

// candidate is a question with the span of a document that answers it. named is the number of times that the
// document names its subject; it is the document's nth question of its kind.
type candidate struct {
	doc, question    string
	at               text.Span
	named, kind, nth int
}

// candidates returns the questions that headings, definitions, and sentences on who did something answer.
func candidates(doc, s string) (out []candidate) {
	blocks, lower := load.Blocks(s), strings.ToLower(s)
	add := func(kind int, question, name string, at text.Span) {
		if question != "" {
			out = append(out, candidate{doc, question, at, strings.Count(lower, strings.ToLower(name)), kind, 0})
		}
	}
	for i, b := range blocks {
		switch plain := load.Plain(b.Text); {
		case b.Kind == load.Heading && heading.MatchString(plain):
			at := text.Span{Start: b.End, End: len(s)}
			if next := slices.IndexFunc(blocks[i+1:], func(b load.Block) bool { return b.Kind == load.Heading }); next >= 0 {
				at.End = blocks[i+1+next].Start
			}
			add(0, plain, plain, at)
		case b.Kind == load.Paragraph || b.Kind == load.Item:
			for _, p := range text.Sentences(b.Text) {
				kind, question, name := ask(load.Plain(p.In(b.Text)))
				add(kind, question, name, b.Span(p))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return b.named - a.named })
	for i, found := 0, [3]int{}; i < len(out); i++ {
		out[i].nth = found[out[i].kind]
		found[out[i].kind]++
	}
	return out
}

// Patterns of headings that are questions, and of English sentences that define something or say who did
// something. leans and leansBack match names that depend on their context, which make no question.
var (
	heading     = regexp.MustCompile(`^.{6,90}[?？]$`)
	isSomething = regexp.MustCompile(`^(An? |The )?([\p{L}][\p{L}\p{N}'’-]*(?: [\p{L}\p{N}'’-]+){0,3})((?: \([^)]*\))?),? (is|are|was|were) (?:an? |the |one of )(.{12,})`)
	didIt       = regexp.MustCompile(`^(?:\p{Lu}[\p{L}'’.-]+ ){2,4}((?:wrote|built|designed|invented|founded|discovered|created|painted|composed|directed|led|developed|established|published|proved|won|introduced|opened) [^,;:()]{6,60})\.$`)
	leans       = regexp.MustCompile(`(?i)\b(?:the|of|in|on|at|for|to|by|with|from|than|that|which|one|each|all|some|another|other|here|what|who|how|not|and|or|if|when|today|though|although|while|since|because|such|but|so|yet|we|our|you|your|my|\w+ly)\b|['’]s\b`)
	leansBack   = regexp.MustCompile(`(?i)\b(?:it|its|he|she|they|his|her|him|their|them|this|these|those|there)\b`)
	lived       = regexp.MustCompile(`\bborn\b|\d{3,4}\s?[–-]`)
	people      = regexp.MustCompile(`^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+){1,2}$`)
	worker      = regexp.MustCompile(`^(?:[\p{L}-]+ ){0,4}[\p{L}-]{2,}(?:er|or|ist|ian|man|poet|king|queen)s?\b`)
)

// ask returns the question that a sentence answers, or "".
func ask(sentence string) (kind int, question, name string) {
	if m := didIt.FindStringSubmatch(sentence); m != nil && !leansBack.MatchString(m[1]) {
		return 2, "Who " + m[1] + "?", m[1]
	}
	m := isSomething.FindStringSubmatch(sentence)
	if m == nil || leans.MatchString(m[2]) || leansBack.MatchString(m[2]) {
		return 0, "", ""
	}
	article, name, words, verb := strings.ToLower(m[1]), m[2], strings.Fields(m[2]), m[4]
	proper := !slices.ContainsFunc(words, func(w string) bool { return !unicode.IsUpper([]rune(w)[0]) })
	works := lived.MatchString(m[3]) || worker.MatchString(m[5])
	switch {
	case article == "" && proper && works && len(words) > 1:
		return 1, "Who " + verb + " " + name + "?", name
	case article == "" && proper && (works || people.MatchString(name) || len(words) == 1 && verb == "was"), article == "the " && !proper:
		return 0, "", "" // the name may be of a person, or of a thing mentioned before
	case article == "" && !proper && strings.ToLower(name[1:]) == name[1:], len(words) == 1 && strings.HasSuffix(verb, "re"):
		name = strings.ToLower(name)
	}
	return 1, "What " + verb + " " + strings.TrimPrefix(article, "the ") + name + "?", name
}

// answers reports whether a question is answered from its place. If answering would call a model, only the
// passages of that place are read, without a model.
func (d *Session) answers(ctx context.Context, c candidate) (ok bool, err error) {
	q, a := graphrag.Question{Text: c.question, K: d.o.K, Where: d.o.Where}, graphrag.Answer{}
	if d.Paid() {
		var hits []graphrag.Hit
		chunks, _, _ := d.folder.System.Get(ctx, c.doc) // cannot fail: the index is in memory
		for _, chunk := range chunks {
			if chunk.Start < c.at.End && c.at.Start < chunk.End && len(hits) < cmp.Or(d.o.K, graphrag.DefaultK) {
				hits = append(hits, graphrag.Hit{Chunk: chunk})
			}
		}
		a, err = d.folder.Reader(d.closest, true).Read(ctx, q, hits, nil)
	} else {
		a, err = d.folder.System.Answer(ctx, q)
	}
	return err == nil && !a.Refused && !strings.HasPrefix(a.Text, reader.Closest) && slices.ContainsFunc(d.folder.Sources(a), func(s folder.Source) bool {
		return s.Doc == c.doc && s.From < c.at.End && c.at.Start < s.To
	}), err
}

// Reply is the answer to a question.
type Reply struct {
	ID       string `json:"id,omitempty"` // ID in a file of questions
	Question string `json:"question"`
	ReadAs   string `json:"read_as,omitempty"` // the question as it was understood, if it depends on earlier questions
	System   string `json:"system,omitempty"`
	Answer   string `json:"answer"`
	// Refused means that the folder does not contain the answer. Closest then has sentences from the three
	// passages nearest to the question.
	Refused bool     `json:"refused,omitempty"`
	Closest []Source `json:"closest,omitempty"`
	// Uncited means that the answer cites no passage; Closest is set, too.
	Uncited    bool      `json:"uncited,omitempty"`
	Confidence float64   `json:"confidence,omitempty"` // see graphrag.Answer
	Sources    []Source  `json:"sources,omitempty"`
	Facts      []string  `json:"facts,omitempty"` // cited facts of a graph and cited summaries
	Passages   []Passage `json:"passages,omitempty"`
	Calls      int       `json:"llm_calls,omitempty"`
	Unread     int       `json:"unread,omitempty"` // number of replies that could not be read
	Note       string    `json:"note,omitempty"`   // says that the index is outdated, if it is
	// Trace has the times of the steps, for the page.
	Trace *trace.Recorder `json:"trace,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Source is a quote with its place in a file.
type Source struct {
	Path  string `json:"path"`  // path of the file that a terminal can open
	File  string `json:"file"`  // path of the file within the folder
	Place string `json:"place"` // line, page or paragraph
	Title string `json:"title,omitempty"`
	Quote string `json:"quote"`
	// Lit are the words that a quote in Closest shares with the question.
	Lit []string    `json:"lit,omitempty"`
	lit []text.Span // positions of the words in Quote
	// Start and End delimit the text of the answer that the quote supports, in bytes. Before and After are the
	// text around the quote in the file.
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// From and To delimit the quote in the text of the file, in bytes, for [Session.Excerpt]. Raw is this text
	// with markup and line breaks, if it differs from the quote.
	From int    `json:"from"`
	To   int    `json:"to"`
	Raw  string `json:"raw,omitempty"`
}

// At returns the place of the quote: "notes/owls.md:12".
func (s Source) At() string { return s.Path + ":" + s.Place }

// Marked returns the quote with begin and end around the words of Lit.
func (s Source) Marked(begin, end string) string {
	var b strings.Builder
	at := 0
	for _, p := range s.lit {
		if p.Start >= at {
			b.WriteString(s.Quote[at:p.Start] + begin + p.In(s.Quote) + end)
			at = p.End
		}
	}
	return b.String() + s.Quote[at:]
}

// light sets Lit to the words that the quote shares with a question, without stop words.
func (s *Source) light(question string) {
	words, err := text.New(text.Options{Language: text.LanguageOf(question)})
	if err != nil {
		panic(err) // the language is one that package text knows
	}
	terms := words.Terms(question)
	words.Spans(s.Quote, func(w []byte, start, end int) {
		if term, ok := words.Term(string(w)); ok && slices.Contains(terms, term) {
			s.lit = append(s.lit, text.Span{Start: start, End: end})
			if w := s.Quote[start:end]; !slices.Contains(s.Lit, w) {
				s.Lit = append(s.Lit, w)
			}
		}
	})
}

// Passage is a retrieved piece of a file.
type Passage struct {
	Path  string  `json:"path"`
	File  string  `json:"file"`
	Place string  `json:"place"`
	Score float64 `json:"score"`
	Text  string  `json:"text"`
	From  int     `json:"from"` // offset in the text of the file, in bytes
	To    int     `json:"to"`
}

func (d *Session) path(doc string) string { return filepath.Join(d.shown, filepath.FromSlash(doc)) }

func (d *Session) sources(a graphrag.Answer) []Source {
	const around = 200 // bytes of Before and of After
	var out []Source
	for _, s := range d.folder.Sources(a) {
		out = append(out, d.source(s, around, " "))
	}
	return out
}

// source returns a quote with up to the given number of bytes before and after it, cut at separators.
func (d *Session) source(s folder.Source, bytes int, separator string) Source {
	x := Source{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Title: s.Title, Quote: s.Quote, Start: s.Start, End: s.End, From: s.From, To: s.To}
	f, err := d.folder.File(s.Doc)
	if err != nil || s.To > len(f.Document.Text) || s.From > s.To {
		return x
	}
	text, valid := f.Document.Text, func(s string) string { return strings.ToValidUTF8(s, "") } // drops characters cut in two
	start, end := max(0, s.From-bytes), min(len(text), s.To+bytes)
	before, after := text[start:s.From], text[s.To:end]
	if _, rest, ok := strings.Cut(before, separator); ok && start > 0 {
		before = "…" + strings.Trim(separator, " ") + rest
	}
	if at := strings.LastIndex(after, separator); at >= 0 && end < len(text) {
		after = after[:at] + strings.Trim(separator, " ") + "…"
	}
	if x.Raw = valid(text[s.From:min(s.To, s.From+excerpt)]); x.Raw == x.Quote {
		x.Raw = ""
	}
	x.Before, x.After = valid(before), valid(after)
	return x
}

func (d *Session) passages(hits []graphrag.Hit) []Passage {
	var out []Passage
	for _, h := range hits {
		s := d.folder.Source(h.Chunk, h.Chunk.Start, h.Chunk.End)
		out = append(out, Passage{Path: d.path(s.Doc), File: s.Doc, Place: s.Place, Score: h.Score, Text: strings.TrimSpace(h.Chunk.Text), From: s.From, To: s.To})
	}
	return out
}
