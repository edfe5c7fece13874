// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm/journal"
)

//go:embed sample/*.json
var sample embed.FS

// rawSuffix marks the part of a data set whose names are as they are.
const rawSuffix = " raw"

// passageTokens is the length of the passages that a plain text is cut into.
const passageTokens = 300

// seeds show a model what kind of questions are wanted.
var seeds = []string{
	"In which town was the builder of the ship born that carried the first crew to the island?",
	"Which of the two brothers of the man who sold the farm outlived their mother?",
	"What did the person do for a living who found the letter that the innkeeper had hidden?",
}

// load reads a data set, or makes one of books: each as it is and with hidden names.
// about says what it is.
func (s settings) load(ctx context.Context, parts *lab.Parts) (*benchmark.Dataset, []string, error) {
	if s.data != "" {
		root, err := os.OpenRoot(s.data)
		if err != nil {
			return nil, nil, err
		}
		set, err := anonyrag.Load(root.FS())
		if err != nil {
			return nil, nil, err
		}
		return set, census(set), nil
	}
	books, err := s.books(ctx, parts)
	if err != nil {
		return nil, nil, err
	}
	var languages []anonyrag.Language
	var about []string
	for _, b := range books {
		made, err := s.generated(ctx, parts, &b)
		if err != nil {
			return nil, nil, err
		}
		raw, err1 := b.Raw()
		hidden, err2 := b.Anonymized()
		if err := errors.Join(err1, err2); err != nil {
			return nil, nil, err
		}
		before := len(hidden.QA)
		if s.generate > 0 && parts.Kit.AnswerModel != nil {
			if hidden, err = s.filtered(ctx, parts, hidden); err != nil {
				return nil, nil, err
			}
			made += fmt.Sprintf(", %d that the model answers without the book left out", before-len(hidden.QA))
		}
		raw.Name += rawSuffix
		languages = append(languages, raw, hidden)
		about = append(about, fmt.Sprintf("%s: %s, %d passages, %d questions%s; %d names hidden, none can be read.",
			b.Language, b.Title, len(b.Passages), len(hidden.QA), made, len(b.Entities)))
		if s.build != "" {
			if err := write(s.build, hidden); err != nil {
				return nil, nil, err
			}
		}
	}
	if s.build != "" {
		about = append(about, fmt.Sprintf("Written to %s; to run it: go run ./examples/anonyrag -data %[1]s", s.build))
	}
	name := anonyrag.Name + " made of " + s.book
	if s.book == "" {
		name = anonyrag.Name + " sample"
	}
	return anonyrag.Dataset(name, languages...), about, nil
}

// census compares the questions with those of the paper.
func census(set *benchmark.Dataset) []string {
	var out []string
	for _, d := range set.Domains {
		c := anonyrag.CensusOf(d.Items)
		var paper anonyrag.Census
		for _, b := range anonyrag.Table4() {
			if b.Language == d.Name {
				paper.ChoiceSimple += b.ChoiceSimple
				paper.ChoiceComplex += b.ChoiceComplex
				paper.ReversionSimple += b.ReversionSimple
				paper.ReversionComplex += b.ReversionComplex
			}
		}
		line := fmt.Sprintf("%s: %d questions: choice %d simple, %d complex; reversion %d simple, %d complex", d.Name, c.All(), c.ChoiceSimple, c.ChoiceComplex, c.ReversionSimple, c.ReversionComplex)
		if c.Unknown > 0 {
			line += fmt.Sprintf("; %d of unknown hops", c.Unknown)
		}
		out = append(out, fmt.Sprintf("%s (the paper's Table 4: %d, %d; %d, %d).", line, paper.ChoiceSimple, paper.ChoiceComplex, paper.ReversionSimple, paper.ReversionComplex))
	}
	return out
}

// books are the user's, or those of the program.
func (s settings) books(ctx context.Context, parts *lab.Parts) ([]anonyrag.Book, error) {
	if s.book == "" {
		var out []anonyrag.Book
		for _, name := range []string{"eng", "chs"} {
			f, err := sample.Open("sample/" + name + ".json")
			if err != nil {
				return nil, err
			}
			b, err := readBook(f)
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, err
			}
			out = append(out, b)
		}
		return out, nil
	}
	f, err := os.Open(s.book)
	if err != nil {
		return nil, cli.Usage(err)
	}
	defer f.Close() // only read
	var b anonyrag.Book
	if strings.HasSuffix(s.book, ".json") {
		b, err = readBook(f)
	} else {
		b, err = s.readText(ctx, parts, f)
	}
	if err != nil {
		return nil, fmt.Errorf("-book %s: %w", s.book, err)
	}
	return []anonyrag.Book{b}, nil
}

func readBook(r io.Reader) (anonyrag.Book, error) {
	var b anonyrag.Book
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return b, err
	}
	if b.Language == "" || len(b.Passages) == 0 {
		return b, errors.New(`want "language", "passages" and "entities", as in the files of examples/anonyrag/sample`)
	}
	return b, nil
}

// readText cuts a plain text into passages and has the model find its names.
func (s settings) readText(ctx context.Context, parts *lab.Parts, r io.Reader) (anonyrag.Book, error) {
	b := anonyrag.Book{Title: filepath.Base(s.book), Language: s.language}
	all, err := io.ReadAll(r)
	if err != nil {
		return b, err
	}
	cut, err := kit.Cut{Size: passageTokens, Sentences: true}.Chunker()
	if err != nil {
		return b, err
	}
	chunks, err := cut.Document(ctx, graphrag.Document{ID: "book", Text: string(all)})
	if err != nil {
		return b, err
	}
	for _, c := range chunks {
		b.Passages = append(b.Passages, anonyrag.Passage{ID: c.ID, Text: c.Text})
	}
	x, err := parts.Kit.Records(extract.RecordOptions{Types: []string{"person", "location"}})
	if err != nil {
		return b, err
	}
	found, err := x.Extract(ctx, chunks)
	b.Entities = anonyrag.EntitiesOf(found)
	return b, err
}

// generated adds questions to a book, and says how many and by what.
func (s settings) generated(ctx context.Context, parts *lab.Parts, b *anonyrag.Book) (string, error) {
	if s.generate == 0 {
		return "", nil
	}
	if parts.Kit.AnswerModel != nil {
		return s.written(ctx, parts, b)
	}
	x, err := parts.Kit.Triples()
	if err != nil {
		return "", err
	}
	var found []kg.Extraction
	var chunks []graphrag.Chunk
	for i, p := range b.Passages {
		chunks = append(chunks, graphrag.Chunk{ID: p.ID, Doc: p.ID, Index: i, Text: p.Text, End: len(p.Text)})
	}
	if found, err = x.Extract(ctx, chunks); err != nil {
		return "", err
	}
	drafts := anonyrag.FromTriples(found, b.Entities, b.Language == "chs")
	drafts = drafts[:min(s.generate, len(drafts))]
	b.Questions = append(b.Questions, drafts...)
	return fmt.Sprintf(", %d of them made by template (zero-shot filter n/a without a model)", len(drafts)), nil
}

// A model is shown so many passages at a time, and asked for so many questions.
const (
	shownPassages  = 20
	askedQuestions = 5
)

// written has the model write questions over parts of the book, evenly from its
// beginning to its end.
func (s settings) written(ctx context.Context, parts *lab.Parts, b *anonyrag.Book) (string, error) {
	shown := batches(b.Passages, shownPassages, (s.generate+askedQuestions-1)/askedQuestions)
	drafts, faults := make([][]anonyrag.Draft, len(shown)), make([][]string, len(shown))
	err := kit.Each(ctx, len(shown), func(ctx context.Context, i int) (err error) {
		n := (i+1)*s.generate/len(shown) - i*s.generate/len(shown)
		drafts[i], faults[i], err = anonyrag.ByModel(ctx, parts.Kit.AnswerModel, shown[i], seeds, n)
		return err
	})
	all := slices.Concat(drafts...)
	b.Questions = append(b.Questions, all...)
	return fmt.Sprintf(", %d of them written by the model (%d more were not usable)", len(all), len(slices.Concat(faults...))), err
}

// batches are up to n parts of a list, of up to size elements each, at equal distances.
func batches[T any](list []T, size, n int) [][]T {
	all := slices.Collect(slices.Chunk(list, size))
	n = min(n, len(all))
	var out [][]T
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// filtered leaves out the questions that the model answers without the book.
func (s settings) filtered(ctx context.Context, parts *lab.Parts, l anonyrag.Language) (anonyrag.Language, error) {
	blind, err := zeroshot.New(parts.Kit)
	if err != nil {
		return l, err
	}
	var none iter.Seq2[graphrag.Document, error] = func(func(graphrag.Document, error) bool) {}
	if _, err := blind.Index(ctx, none); err != nil {
		return l, err
	}
	j, err := anonyrag.New(anonyrag.Options{})
	if err != nil {
		return l, err
	}
	return anonyrag.Unsolved(ctx, l, blind.Answer, j)
}

// write puts a part into the files that Load reads.
func write(dir string, l anonyrag.Language) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]any{"corpus": l.Corpus, "qa": l.QA} {
		file := filepath.Join(dir, l.Name+"_"+name+".json")
		err := journal.WriteFile(file, func(w io.Writer) error {
			enc := text.JSON(w)
			enc.SetIndent("", " ")
			return enc.Encode(value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
