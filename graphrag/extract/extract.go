// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Extractor finds the entities, triples and attributes of chunks, with a model or by rules.
//
// Extract returns one extraction for each chunk, in the order of the chunks,
// with the chunk's ID and document; the extraction of a chunk may be empty. On an error
// it returns no extractions at all. An empty list of chunks is no error.
//
// Spans are bytes of the chunk's Text, within it and on rune boundaries; an unknown place is the zero span. Both
// ends of a fact are mentions of the same extraction. Extract does not panic, whatever the bytes of a chunk.
//
// Extract is safe for concurrent use, and its result does not depend on the concurrency.
// When ctx is cancelled it returns promptly, with an error that wraps ctx.Err().
type Extractor interface {
	Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error)
}

// Stages of the model calls: the usage of calls is counted by stage.
const (
	StageEntities = "extract entities"
	StageTriples  = "extract triples"
	StageRecords  = "extract records"
	StageGlean    = "extract more records"
	StageSchema   = "extract by schema"
	StageInduce   = "induce schema"
)

// ModelOptions are the options that all extractors with a model share.
type ModelOptions struct {
	// Model is the language model that extracts; it is required.
	Model llm.Model
	// Concurrency is the number of chunks processed at a time; 0 means 8. It does not change the result.
	Concurrency int
	// Verify drops names that the chunk does not contain, with their facts and attributes: models also write
	// names from memory and from the prompt's examples. At least half of the stems of a name, without stop
	// words, must occur in the chunk or its title.
	Verify bool
}

// check adds a problem to checks for each invalid option.
func (o ModelOptions) check(checks *opt.Checks) {
	checks.Want(o.Model != nil, "Model", "missing", "a model")
	opt.Min(checks, "Concurrency", o.Concurrency, 0)
}

// each calls one for every chunk and returns the extractions in order. If the reply for a chunk is unusable,
// truncated or refused, the extraction records a problem; any other error ends the call.
func (o ModelOptions) each(ctx context.Context, chunks []graphrag.Chunk, one func(context.Context, graphrag.Chunk, *kg.Extraction) error) ([]kg.Extraction, error) {
	out, err := o.raw(ctx, chunks, one)
	for i := range out {
		o.finish(chunks[i], &out[i])
	}
	return out, err
}

// finish verifies the extraction against its chunk if Verify is set, and adds missing mentions.
func (o ModelOptions) finish(c graphrag.Chunk, x *kg.Extraction) {
	if o.Verify {
		verify(c, x)
	}
	nameEnds(x)
}

// raw calls one for every chunk, as each does, but neither verifies extractions nor adds missing mentions.
func (o ModelOptions) raw(ctx context.Context, chunks []graphrag.Chunk, one func(context.Context, graphrag.Chunk, *kg.Extraction) error) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	err := share.Each(ctx, len(chunks), cmp.Or(o.Concurrency, 8), func(ctx context.Context, i int) error {
		c := chunks[i]
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		if strings.TrimSpace(c.Text) == "" {
			return nil
		}
		err := one(ctx, c, &out[i])
		if llm.OfOneReply(err) {
			problem(&out[i], failure(err), c.Text, err.Error())
			return nil
		}
		if err != nil {
			return fmt.Errorf("chunk %s: %w", c.ID, err)
		}
		return nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	return out, nil
}

// failure returns the kind of problem to record for a chunk without a usable reply.
func failure(err error) string {
	if errors.Is(err, llm.ErrRefused) || errors.Is(err, llm.ErrFiltered) {
		return kg.ProblemRefused
	}
	return kg.ProblemChunk
}

func problem(x *kg.Extraction, kind, text, reason string) {
	x.Problems = append(x.Problems, kg.Problem{Kind: kind, Text: display.Beginning(text), Reason: reason})
}

// nameEnds adds a mention for each head and tail of a fact and each entity of an attribute that has none.
func nameEnds(x *kg.Extraction) {
	have := make(map[string]bool, len(x.Mentions))
	for _, m := range x.Mentions {
		have[m.Name] = true
	}
	add := func(name string) {
		if !have[name] {
			have[name] = true
			x.Mentions = append(x.Mentions, kg.Mention{Name: name})
		}
	}
	for _, f := range x.Facts {
		add(f.Head)
		add(f.Tail)
	}
	for _, a := range x.Attributes {
		add(a.Entity)
	}
}

//go:embed prompts
var promptFiles embed.FS

var templates = prompts.Must("extract", promptFiles)

// passage returns the title and text of a chunk for a prompt.
func passage(c graphrag.Chunk) prompts.Data {
	text := c.Text
	if c.Title != "" && !strings.HasPrefix(text, c.Title) {
		text = c.Title + "\n" + text
	}
	return prompts.Data{Label: "passage", Text: text}
}

// witness decides which names a passage supports. Models write names in words of their own: "Bell Rock
// Lighthouse" where the page has "the Bell Rock". Requiring the exact name loses a third of a careful model's
// entities and half of its facts; requiring half of the name's words loses one in twenty, and still drops names
// that are not from the page.
type witness struct {
	folded string
	words  map[string]bool
}

func newWitness(c graphrag.Chunk) witness {
	w := witness{" " + kg.FoldUnicode.Key(c.Title) + " " + kg.FoldUnicode.Key(c.Text) + " ", make(map[string]bool)}
	for _, of := range []string{c.Title, c.Text} {
		for _, term := range text.Default().Terms(of) {
			w.words[term] = true
		}
	}
	return w
}

// bears reports whether the passage contains the name or at least half of its words.
func (w witness) bears(name string) bool {
	if strings.Contains(w.folded, kg.FoldUnicode.Key(name)) {
		return true
	}
	words, found := text.Default().Terms(name), 0
	for _, word := range words {
		if w.words[word] {
			found++
		}
	}
	return found > 0 && 2*found >= len(words)
}

// verify drops mentions, facts and attributes that the chunk does not support.
func verify(c graphrag.Chunk, x *kg.Extraction) {
	w := newWitness(c)
	dropped := func(kind, text string, names ...string) bool {
		for _, name := range names {
			if !w.bears(name) {
				problem(x, kind, text, "not in the passage: "+display.Beginning(name))
				return true
			}
		}
		return false
	}
	x.Mentions = slices.DeleteFunc(x.Mentions, func(m kg.Mention) bool { return dropped("mention", m.Name, m.Name) })
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool { return dropped("fact", f.Head+" | "+f.Relation+" | "+f.Tail, f.Head, f.Tail) })
	x.Attributes = slices.DeleteFunc(x.Attributes, func(a kg.Attribute) bool { return dropped("attribute", a.Entity+" | "+a.Key, a.Entity) })
}

// Parts are the parts of a question: the names it contains, and the themes it asks about.
type Parts struct{ Names, Themes []string }

// NameFinder finds names and their types in texts, in order. Names of package graphrag/embed/local is one.
type NameFinder interface {
	Name() string
	Find(ctx context.Context, texts []string) ([][]text.Match, error)
}

// ByNames returns an extractor of the names that the NameFinder finds, without facts.
func ByNames(find NameFinder) Extractor { return byNames{find} }

type byNames struct{ find NameFinder }

// Extract implements [Extractor].
func (b byNames) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	texts, out := make([]string, len(chunks)), make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		texts[i] = c.Text
	}
	found, err := b.find.Find(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("extract: finding names: %w", err)
	}
	for i, c := range chunks {
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc}
		for _, n := range found[i] {
			out[i].Mentions = append(out[i].Mentions, kg.Mention{Name: c.Text[n.Start:n.End], Type: n.Kind, Span: kg.Span{Start: n.Start, End: n.End}})
		}
	}
	return out, nil
}

// OpenIE extracts in two steps, as HippoRAG does (arXiv 2405.14831, section 3.3; the same in version 2): one
// call for the named entities of a passage, one for triples about them. Types and relations are open.
//
// If the first call fails, the second is not made; if the second fails, the entities stay. Both failures are
// recorded as problems.
type OpenIE struct{ o ModelOptions }

// NewOpenIE returns an OpenIE extractor. It fails if an option is invalid.
func NewOpenIE(o ModelOptions) (*OpenIE, error) {
	checks := opt.Checks{Of: "extract"}
	o.check(&checks)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &OpenIE{o}, nil
}

// Extract implements [Extractor]. It makes two calls per chunk.
func (e *OpenIE) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	return e.o.each(ctx, chunks, e.chunk)
}

func (e *OpenIE) chunk(ctx context.Context, c graphrag.Chunk, x *kg.Extraction) error {
	names, err := e.entities(ctx, "ner", passage(c), x)
	if err != nil {
		return err
	}
	for _, n := range names {
		x.Mentions = append(x.Mentions, kg.Mention{Name: n})
	}
	return e.triples(ctx, passage(c), names, x)
}

// Question returns the named entities of a question, by one call of the model.
func (e *OpenIE) Question(ctx context.Context, question string) ([]string, error) {
	return e.entities(ctx, "ner_question", prompts.Data{Label: "question", Text: question}, &kg.Extraction{})
}

func (e *OpenIE) entities(ctx context.Context, name string, text prompts.Data, x *kg.Extraction) ([]string, error) {
	req, err := templates.Request(ctx, StageEntities, name, nil, text)
	if err != nil {
		return nil, err
	}
	found, err := decode[struct {
		Names []string `json:"named_entities"`
	}](ctx, e.o.Model, req, x)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range found.Names {
		parts := strings.FieldsFunc(name, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
		if strings.Contains(text.Text, name) || slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text.Text, strings.TrimSpace(p)) }) {
			parts = []string{name} // the commas belong to the name, or the text lacks one of the parts
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				names = append(names, part)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (e *OpenIE) triples(ctx context.Context, text prompts.Data, names []string, x *kg.Extraction) error {
	if names == nil {
		names = []string{}
	}
	list, err := json.Marshal(map[string][]string{"named_entities": names})
	if err != nil {
		return err
	}
	req, err := templates.Request(ctx, StageTriples, "triples", nil, text, prompts.Data{Label: "entities", Text: string(list)})
	if err != nil {
		return err
	}
	found, err := decode[struct{ Triples []replies.Triple }](ctx, e.o.Model, req, x)
	if err != nil {
		return err
	}
	readTriples(found.Triples, names, x)
	dropRepeated(x)
	return nil
}

// readTriples adds the model's triples to an extraction. A list of more than three parts is cut to three. If
// the model wrote a sentence, the names at its ends are the subject and the object. Anything else is a problem.
func readTriples(found []replies.Triple, names []string, x *kg.Extraction) {
	for _, t := range found {
		if t.Fault != "" && t.Tail == "" {
			t.Head, t.Relation, t.Tail = sentence(strings.Trim(t.Raw, `" .`), names)
		}
		if t.Head == "" || t.Tail == "" || t.Fault != "" && t.Relation == "" {
			problem(x, "record", t.Raw, t.Fault)
			continue
		}
		x.Facts = append(x.Facts, kg.Fact{Triple: graphrag.Triple{Head: t.Head, Relation: t.Relation, Tail: t.Tail}})
	}
}

// sentence splits a sentence into the longest name at its start, the words between, and the longest at its end.
func sentence(text string, names []string) (head, relation, tail string) {
	for _, n := range names {
		if strings.HasPrefix(text, n+" ") && len(n) > len(head) {
			head = n
		}
		if strings.HasSuffix(text, " "+n) && len(n) > len(tail) {
			tail = n
		}
	}
	if len(head)+len(tail)+2 >= len(text) || head == "" || tail == "" {
		return "", "", ""
	}
	return head, strings.TrimSpace(text[len(head) : len(text)-len(tail)]), tail
}

// dropRepeated keeps equal facts, and equal mentions without a span, once: repetitions must not raise weights.
func dropRepeated(x *kg.Extraction) {
	seen := make(map[[6]string]int)
	again := func(key ...string) bool {
		var k [6]string
		copy(k[:], key)
		seen[k]++
		return seen[k] > 1
	}
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool {
		return again(f.Head, f.Relation, f.Tail, f.Description, strings.Join(f.Keywords, sep), strconv.FormatFloat(f.Weight, 'g', -1, 64))
	})
	clear(seen)
	x.Mentions = slices.DeleteFunc(x.Mentions, func(m kg.Mention) bool {
		return m.Span == (kg.Span{}) && again(m.Name, m.Type, m.Description)
	})
}
