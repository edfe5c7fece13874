// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Bounds of suggestions: questions shown, questions tried, files, and bytes of each file.
const suggested, maxAsked, maxRead, readBytes = 4, 24, 200, 64 << 10

// Suggestions returns at most four questions that the files answer, made from their text without a model:
// headings that are questions, in every language, and in English questions for definitions and for the person
// who did something. Each question was answered from its place. They are made once for each state of the
// index; if ctx ends, the next call makes them.
func (d *Session) Suggestions(ctx context.Context) ([]string, error) {
	return once(ctx, d, d.suggest)
}

func (d *Session) suggest(ctx context.Context) ([]string, error) {
	var all []candidate
	ids := d.list(d.o.Where)
	for i := range min(maxRead, len(ids)) { // evenly spaced files
		file, err := d.folder.File(ids[i*len(ids)/min(maxRead, len(ids))])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil { // otherwise it was deleted
			all = append(all, candidates(file.Document.ID, display.Head(file.Document.Text, readBytes))...)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.nth-b.nth, b.named-a.named) }) // the first of each file first
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

// candidate is a question with the part of a file that answers it. named counts its subject in the file; it
// is the nth of its kind there.
type candidate struct {
	doc, question    string
	at               text.Span
	named, kind, nth int
}

// candidates returns the questions of a text: of headings, of definitions, and of sentences on who did
// something.
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

// Patterns of headings that are questions, and of English sentences that define something or name the person
// who did something. A name that depends on its context makes no question.
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
		return 0, "", "" // perhaps a person, or a thing mentioned before
	case article == "" && !proper && strings.ToLower(name[1:]) == name[1:], len(words) == 1 && strings.HasSuffix(verb, "re"):
		name = strings.ToLower(name)
	}
	return 1, "What " + verb + " " + strings.TrimPrefix(article, "the ") + name + "?", name
}

// answers reports whether a question is answered from its place. If answering would call a model, the passages
// of the place are read without one.
func (d *Session) answers(ctx context.Context, c candidate) (ok bool, err error) {
	q, a := graphrag.Question{Text: c.question, K: d.o.K, Where: d.o.Where}, graphrag.Answer{}
	if d.Paid() {
		var hits []graphrag.Hit
		chunks, _, _ := d.folder.System.Get(ctx, c.doc) // in memory
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
