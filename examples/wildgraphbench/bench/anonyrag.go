// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
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

	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm/journal"
)

//go:embed books/*.json
var shippedBooks embed.FS

// anonySettings are the flags of the subcommand.
type anonySettings struct {
	setup.Settings
	book, language, seedFile string
	generate                 int
	seeds                    []string
}

// runAnonyRAG makes a data set of books with hidden names, in files for -data, and one with the original names
// in the folder raw. The difference in answers without retrieval measures what a model remembers of the books.
func runAnonyRAG(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	var s anonySettings
	fs := cli.NewFlags("wildgraphbench anonyrag")
	table := []cli.Flag{
		{Name: "book", Group: setup.GroupRun, Value: &s.book, Key: cli.NoKey, Usage: "`FILE` of a book whose names are hidden: JSON as in examples/wildgraphbench/bench/books, or a plain text, in which rules or the model find the names"},
		{Name: "language", Group: setup.GroupRun, Value: &s.language, Default: "eng", Key: cli.NoKey, Check: cli.OneOf(&s.language, "eng", "chs"), Usage: "eng or chs: the language of a plain text in -book"},
		{Name: "generate", Group: setup.GroupRun, Value: &s.generate, Key: cli.NoKey, Check: cli.AtLeast(&s.generate, 0), Usage: "let the model add up to `N` questions to each book"},
		{Name: "seeds", Group: setup.GroupRun, Value: &s.seedFile, Key: cli.NoKey, Usage: "`FILE` of example questions for the model: the file of 2Wiki or MuSiQue, or any JSON with the key question (default: three of our own)"},
	}
	for _, f := range s.Flags(getenv, "anonyrag") {
		switch f.Name {
		case "mode":
			continue
		case "model":
			f.Usage = "`NAME` of the model that finds names and writes questions (default: $WILDGRAPH_MODEL)"
		}
		table = append(table, f)
	}
	s.Declare(fs, stderr, "Makes a data set of books whose names are hidden (default: two that are shipped with the program).", table)
	s.Mode = string(reader.Open)
	if err := cli.Parse(fs, args, stderr); err != nil {
		return err
	}
	var err error
	problems := s.Complete(fs, all.Names())
	if s.generate > 0 && s.Model == "" {
		problems = append(problems, errors.New("-generate needs -model: a model writes the questions"))
	}
	if s.Out == "" {
		problems = append(problems, errors.New("-out is missing: name the folder of the data set"))
	}
	if s.seeds, err = readSeeds(s.seedFile); err != nil {
		problems = append(problems, fmt.Errorf("-seeds: %w", err))
	}
	if err := cli.Usage(errors.Join(problems...)); err != nil {
		return err
	}
	parts, err := setup.NewParts(ctx, s.Settings, cli.NewLogger(stderr))
	if err != nil {
		return err
	}
	return errors.Join(s.build(ctx, parts, stdout), parts.Close())
}

// Sizes of passages and of prompts.
const (
	passageTokens  = 300 // tokens of the passages into which a plain text is cut
	mostSeeds      = 12  // largest number of example questions in a prompt, at equal distances in their file
	shownPassages  = 20  // passages in a prompt
	askedQuestions = 5   // questions for which a prompt asks
)

// ownSeeds are the default examples of questions for a model.
var ownSeeds = []string{
	"In which town was the builder of the ship born that carried the first crew to the island?",
	"Which of the two brothers of the man who sold the farm outlived their mother?",
	"What did the person do for a living who found the letter that the innkeeper had hidden?",
}

// readSeeds reads the example questions of a file.
func readSeeds(name string) ([]string, error) {
	if name == "" {
		return ownSeeds, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // closing a file that was only read cannot lose data
	var all []string
	for l, err := range journal.ReadLines[struct{ Question string }](f, journal.LineOptions{Name: name, MaxLine: anonyrag.MaxRecord}) {
		if err != nil {
			return nil, err
		}
		if q := display.OneLine(l.Value.Question); q != "" {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf(`%s has no question: want objects with the key "question"`, name)
	}
	return slices.Concat(batches(all, 1, mostSeeds)...), nil
}

// build writes each book with original names and with hidden names, and prints the sizes.
func (s anonySettings) build(ctx context.Context, parts *setup.Parts, stdout io.Writer) error {
	books, err := s.books(ctx, parts)
	if err != nil {
		return err
	}
	for _, b := range books {
		made, err := s.written(ctx, parts, &b)
		if err != nil {
			return err
		}
		raw, err1 := b.Raw()
		hidden, err2 := b.Anonymized()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		before := len(hidden.QA)
		if s.generate > 0 {
			if hidden, err = s.filtered(ctx, parts, hidden); err != nil {
				return err
			}
			made += fmt.Sprintf(", %d that the model answers without the book left out", before-len(hidden.QA))
		}
		fmt.Fprintf(stdout, "%s: %s, %d passages, %d questions%s; %d names hidden, none can be read.\n",
			b.Language, display.OneLine(b.Title), len(b.Passages), len(hidden.QA), made, len(b.Entities))
		if err := errors.Join(writeLanguage(s.Out, hidden), writeLanguage(filepath.Join(s.Out, "raw"), raw)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "To run it: wildgraphbench -data %s, and with the names as they are -data %s\n", display.OneLine(s.Out), display.OneLine(filepath.Join(s.Out, "raw")))
	return err
}

// books returns the user's book, or the books that are shipped with the program.
func (s anonySettings) books(ctx context.Context, parts *setup.Parts) ([]anonyrag.Book, error) {
	if s.book == "" {
		var out []anonyrag.Book
		for _, name := range []string{"eng", "chs"} {
			data, _ := shippedBooks.ReadFile("books/" + name + ".json") // the file is embedded
			b, err := readBook(bytes.NewReader(data))
			if err != nil {
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
	defer f.Close() // closing a file that was only read cannot lose data
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
		return b, errors.New(`want "language", "passages" and "entities", as in the files of examples/wildgraphbench/bench/books`)
	}
	return b, nil
}

// readText cuts a plain text into passages, and finds the names in it and which of them are of the same entity.
func (s anonySettings) readText(ctx context.Context, parts *setup.Parts, r io.Reader) (anonyrag.Book, error) {
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
	if err != nil {
		return b, err
	}
	b.Entities = anonyrag.Linked(anonyrag.EntitiesOf(found))
	if len(b.Entities) == 0 {
		return b, errors.New("no name of a person or place was found: there is nothing to hide. Use another text, a model (-model), or a book in JSON with its names")
	}
	if m := parts.Kit.IndexModel; m != nil {
		b.Entities, err = anonyrag.LinkedByModel(ctx, m, b.Entities)
	}
	return b, err
}

// written lets the model add questions about parts of the book, and returns a note on their number.
func (s anonySettings) written(ctx context.Context, parts *setup.Parts, b *anonyrag.Book) (string, error) {
	if s.generate == 0 {
		return "", nil
	}
	shown := batches(b.Passages, shownPassages, (s.generate+askedQuestions-1)/askedQuestions)
	drafts, faults := make([][]anonyrag.Draft, len(shown)), make([][]string, len(shown))
	err := kit.Each(ctx, len(shown), func(ctx context.Context, i int) (err error) {
		n := (i+1)*s.generate/len(shown) - i*s.generate/len(shown)
		drafts[i], faults[i], err = anonyrag.ByModel(ctx, parts.Kit.AnswerModel, shown[i], s.seeds, n)
		return err
	})
	all := slices.Concat(drafts...)
	b.Questions = append(b.Questions, all...)
	return fmt.Sprintf(", %d of them written by the model (%d more were not usable)", len(all), len(slices.Concat(faults...))), err
}

// batches returns up to n parts of a list at equal distances, each of up to size elements.
func batches[T any](list []T, size, n int) [][]T {
	all := slices.Collect(slices.Chunk(list, size))
	n = min(n, len(all))
	var out [][]T
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// filtered drops the questions that the model answers without the book.
func (s anonySettings) filtered(ctx context.Context, parts *setup.Parts, l anonyrag.Language) (anonyrag.Language, error) {
	blind, err := flat.NewZeroShot(parts.Kit)
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

// writeLanguage writes the files of a language in the layout that anonyrag.Load reads.
func writeLanguage(dir string, l anonyrag.Language) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]any{"corpus": l.Corpus, "qa": l.QA} {
		file := filepath.Join(dir, l.Name+"_"+name+".json")
		err := journal.WriteFile(file, func(w io.Writer) error {
			enc := display.JSON(w)
			enc.SetIndent("", " ")
			return enc.Encode(value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
