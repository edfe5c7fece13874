// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var owls = []graphrag.Document{
	{ID: "a.md", Title: "Barn owl", Text: "The barn owl finds a mouse under the snow by ear alone."},
	{ID: "b.md", Title: "Eagle owl", Text: "The eagle owl is one of the largest owls and takes prey as large as a hare."},
	{ID: "c.md", Title: "Tides", Text: "The moon and the sun raise the tides of the sea twice a day."},
}

// finding is a flat system over the kit's table of texts.
func finding(c *kit.Corpus, ctx context.Context) (graphrag.Retriever, error) {
	texts, err := c.Find(ctx, retrieve.TitledTexts(c.Chunks))
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		scores, err := texts.Scores(ctx, q.Text, nil)
		hits, failed := c.ByScore(ctx, scores, q.Want(), "found")
		return graphrag.Found{Ranked: hits}, errors.Join(err, failed)
	}), err
}

func flat(t testing.TB, k kit.Kit, common kit.Common) *kit.System {
	t.Helper()
	s, err := kit.New(kit.Frame{Name: "flat", Kit: k, Common: common,
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }})
	check.OK(t, err)
	return s
}

func index(t testing.TB, s *kit.System, docs ...graphrag.Document) graphrag.IndexStats {
	t.Helper()
	return check.Of(s.Index(t.Context(), graphrag.Documents(docs...))).OK(t)
}

// letters is an embedder whose calls are counted.
type letters struct {
	texts, queries atomic.Int64
	dim            int
}

func (l *letters) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	l.texts.Add(int64(len(texts)))
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = llmtest.HashVector(t, l.dim)
	}
	return out, ctx.Err()
}

func (l *letters) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	l.queries.Add(1)
	return llmtest.HashVector("query: "+text, l.dim), ctx.Err()
}

func (l *letters) Name() string { return "letters" }
func (l *letters) Dim() int     { return l.dim }

var _ embed.Model = (*letters)(nil)

// recording returns a kit whose model and embedder are counted, and a system that asks the model for triples of
// every chunk and embeds it.
func recording(t testing.TB) (*llmtest.Script, *letters, func() *kit.System) {
	t.Helper()
	m := llmtest.NewScript("m").
		Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": ["Owl", "Hare"]}`).
		Reply(llmtest.Stage(extract.StageTriples), `{"triples": [["Owl", "takes", "Hare"]]}`).
		Reply(llmtest.Any, "An owl.")
	e := &letters{dim: 32}
	return m, e, func() *kit.System {
		k := check.Of(kit.ByModel(kit.ModelOptions{Model: m, Embedder: e})).OK(t)
		triples := check.Of(k.Triples()).OK(t)
		s, err := kit.New(kit.Frame{Name: "paid", Kit: k, Extract: triples,
			Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }})
		check.OK(t, err)
		return s
	}
}

// A change pays only for what is new, and opening a saved system pays nothing.
func TestNothingIsPaidTwice(t *testing.T) {
	m, e, open := recording(t)
	s := open()
	first := index(t, s, owls[:2]...)
	calls, texts := m.Calls(), e.texts.Load()
	check.Must(t, calls == 4 && texts == 2 && first.Usage.Calls == 4 && first.EmbeddedTokens != 0, "%d calls, %d texts, %+v", calls, texts, first)
	stats, err := s.Insert(t.Context(), graphrag.Documents(owls[2]))
	check.True(t, err == nil && m.Calls() == calls+2 && e.texts.Load() == texts+1 && stats.Calls == 2,
		"after one more: %d calls, %d texts, %+v, %v", m.Calls(), e.texts.Load(), stats, err)
	_, err = s.Delete(t.Context(), "b.md")
	check.True(t, err == nil && m.Calls() == calls+2, "after one less: %d calls, %v", m.Calls(), err)
	q := graphrag.Question{Text: "Which owl takes a hare?", K: 2}
	want := check.Of(s.Answer(t.Context(), q)).OK(t)
	dir := t.TempDir()
	check.OK(t, s.Save(t.Context(), dir))
	calls, texts = m.Calls(), e.texts.Load()
	opened := open()
	stats, err = opened.Open(t.Context(), dir)
	check.Must(t, err == nil && m.Calls() == calls && e.texts.Load() == texts, "opened with %d calls, %d texts: %v", m.Calls()-calls, e.texts.Load()-texts, err)
	check.True(t, stats.Documents == 2 && stats.Calls == 0 && stats.EmbeddedTokens == 0, "%+v", stats)
	got, err := opened.Answer(t.Context(), q)
	diff := cmp.Diff(want, got)
	check.True(t, diff == "" && err == nil, "(-saved +opened) %s, %v", diff, err)
	// The query is embedded once, although several texts are compared with it.
	before := e.queries.Load()
	_, err = opened.Retrieve(t.Context(), q)
	check.True(t, err == nil && e.queries.Load() == before+1, "%d queries, %v", e.queries.Load()-before, err)
}

func TestSaveAndOpen(t *testing.T) {
	s := flat(t, offline(t), kit.Common{})
	check.True(t, s.Save(t.Context(), t.TempDir()) != nil, "saved before Index")
	index(t, s, owls...)
	dir := filepath.Join(t.TempDir(), "new", "folder")
	check.OK(t, s.Save(t.Context(), dir))
	again := flat(t, offline(t), kit.Common{})
	if stats, err := again.Open(t.Context(), dir); err != nil || stats.Documents != 3 {
		t.Fatalf("%+v, %v", stats, err)
	}
	check.OK(t, check.Err(again.Insert(t.Context(), graphrag.Documents(owls[0]))))
	other := flat(t, offline(t), kit.Common{Cut: kit.Cut{Size: 50}})
	if _, err := other.Open(t.Context(), dir); !errors.Is(err, kit.ErrOptions) || !strings.Contains(err.Error(), "Size:50") {
		t.Errorf("another cut: %v", err)
	}
	check.Is(t, check.Err(again.Open(t.Context(), t.TempDir())), os.ErrNotExist, "an empty folder")
	name := filepath.Join(dir, "system.wildgraph")
	data := check.Of(os.ReadFile(name)).OK(t)
	for cut := range len(data) { // no beginning of a file is accepted, and the system keeps its state
		if cut%97 != 0 {
			continue
		}
		check.OK(t, os.WriteFile(name, data[:cut], 0o600))
		check.Must(t, check.Err(again.Open(t.Context(), dir)) != nil, "%d of %d bytes are a system", cut, len(data))
	}
	for at := range len(data) { // nor is a file with a changed bit
		if at%89 != 0 {
			continue
		}
		data[at] ^= 4
		err := os.WriteFile(name, data, 0o600)
		data[at] ^= 4
		check.OK(t, err)
		_, err = again.Open(t.Context(), dir)
		check.Must(t, err != nil && strings.Contains(err.Error(), "index again"), "byte %d was changed: %v", at, err)
	}
	a, err := again.Answer(t.Context(), graphrag.Question{Text: "owl", K: 1})
	check.True(t, err == nil && len(a.Evidence) == 1, "after files that could not be read: %+v, %v", a, err)
}

// An embedder with another dimension is refused before it is asked.
func TestOpenWithAnotherEmbedder(t *testing.T) {
	_, e, open := recording(t)
	s := open()
	index(t, s, owls...)
	dir := t.TempDir()
	check.OK(t, s.Save(t.Context(), dir))
	e.dim = 16
	texts := e.texts.Load()
	if _, err := open().Open(t.Context(), dir); !errors.Is(err, kit.ErrOptions) || !strings.Contains(err.Error(), "its vectors have 32 numbers, those of the embedder 16") || e.texts.Load() != texts {
		t.Errorf("%v, %d texts embedded", err, e.texts.Load()-texts)
	}
}

// A query and a document of the same text have two vectors if the embedder has two prompts.
func TestQueryAndDocument(t *testing.T) {
	k := check.Of(kit.ByModel(kit.ModelOptions{Model: llmtest.NewScript("m"), Embedder: &letters{dim: 8}})).OK(t)
	index(t, check.Of(kit.New(kit.Frame{Name: "x", Kit: k, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		e := check.Of(c.Embedder(ctx)).OK(t)
		query, documents := check.Of(e.EmbedQuery(ctx, "owl")).OK(t), check.Of(e.EmbedDocuments(ctx, []string{"owl"})).OK(t)
		check.True(t, !slices.Equal(query, documents[0]), "both are %v", query)
		return graphrag.RetrieverFunc(nil), nil
	}})).OK(t), owls...)
}

func TestFrameReportsEverything(t *testing.T) {
	_, err := kit.New(kit.Frame{Name: "x", Common: kit.Common{MaxPerDoc: -1, Cut: kit.Cut{Size: 10, Overlap: 10}}, Needs: []string{"Find", "Link"}})
	for _, want := range []string{"x: ", "Read", "Count", "Find", "Link", "Build", "MaxPerDoc", "overlap"} {
		check.True(t, err != nil && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)), "error lacks %q: %v", want, err)
	}
	check.Fails(t, check.Err(kit.New(kit.Frame{Name: "x", Kit: offline(t), Words: &bm25.Options{}, Vectors: true})), "set Combine")
	build := func(context.Context, *kit.Corpus) (graphrag.Retriever, error) { return nil, nil }
	s := check.Of(kit.New(kit.Frame{Name: "x", Kit: offline(t), Build: build})).OK(t)
	_, err = s.Index(t.Context(), graphrag.Documents(owls...))
	check.Fails(t, err, "no retriever", "a Build without a retriever")
}

// A document that occurs twice is an error, and the old state is kept.
func TestDocumentTwice(t *testing.T) {
	m, _, open := recording(t)
	s := open()
	index(t, s, owls[0])
	calls := m.Calls()
	_, err := s.Insert(t.Context(), graphrag.Documents(owls[1], owls[2], owls[1]))
	check.True(t, err != nil && strings.Contains(err.Error(), `"b.md" comes twice`) && m.Calls() == calls, "%v after %d calls", err, m.Calls()-calls)
	check.Equal(t, len(s.Graph().Passages), 1, "passages")
}

// A budget of tokens replaces K, counts everything, and is used as far as whole chunks allow.
func TestTokens(t *testing.T) {
	var docs []graphrag.Document
	for i := range 40 {
		docs = append(docs, graphrag.Document{ID: string(rune('A'+i%26)) + string(rune('a'+i/26)), Text: strings.Repeat("owl ", 3+i)})
	}
	k := offline(t)
	s := flat(t, k, kit.Common{})
	index(t, s, docs...)
	for _, budget := range []int{1, 10, 50, 200, 1_000_000} {
		found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "owl", Tokens: budget})).OK(t)
		sum := 0
		for _, h := range found.Evidence {
			sum += k.Count(h.Chunk.Text)
		}
		next := 0 // index of the first chunk that is left out
		if len(found.Ranked) > len(found.Evidence) {
			next = k.Count(found.Ranked[len(found.Evidence)].Chunk.Text)
		}
		if sum > budget || budget == 1_000_000 && len(found.Evidence) != len(docs) || next > 0 && sum+next <= budget {
			t.Errorf("budget %d: %d chunks of %d tokens, the next has %d", budget, len(found.Evidence), sum, next)
		}
	}
}

// growing is a reader that returns an answer word by word.
type growing struct{ reader.Reader }

func (g growing) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		a, err := g.Read(ctx, q, evidence, derived)
		for i, r := range a.Text {
			if r == ' ' && !yield(graphrag.Answer{Text: a.Text[:i]}, nil) {
				return
			}
		}
		yield(a, err)
	}
}

// A stream grows to the answer that Answer returns, whether or not the reader can stream.
func TestStream(t *testing.T) {
	for _, streams := range []bool{false, true} {
		k := offline(t)
		if streams {
			k.Read = growing{k.Read}
		}
		s := flat(t, k, kit.Common{})
		q := graphrag.Question{Text: "Which owl takes a hare?", K: 1}
		for _, err := range s.Stream(t.Context(), q) {
			check.True(t, err != nil, "streams before Index")
		}
		index(t, s, owls...)
		want := check.Of(s.Answer(t.Context(), q)).OK(t)
		var last graphrag.Answer
		pieces := 0
		for a, err := range s.Stream(t.Context(), q) {
			check.Must(t, err == nil && strings.HasPrefix(a.Text, last.Text),
				"%q after %q, %v", a.Text, last.Text, err)
			last, pieces = a, pieces+1
		}
		diff := cmp.Diff(want, last)
		check.True(t, diff == "" && streams == (pieces > 1), "%d pieces: %s", pieces, diff)
		for range s.Stream(t.Context(), q) {
			break // the caller may stop the stream
		}
	}
}

// A system is indexed offline and answers with a model, and the other way round.
func TestMixed(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Stage("read"), "By ear [1].").
		Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": ["Barn owl"]}`).
		Reply(llmtest.Any, `{"triples": [["Barn owl", "finds", "Mouse"]]}`)
	system := func(k kit.Kit) *kit.System {
		x := check.Of(k.Triples()).OK(t)
		s, err := kit.New(kit.Frame{Name: "mixed", Kit: k, Extract: x,
			Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return finding(c, ctx) }})
		check.OK(t, err)
		return s
	}
	q := graphrag.Question{Text: "How does the barn owl find a mouse?", K: 1}
	s := system(offline(t).AnsweredBy(modelKit(t, m)))
	index(t, s, owls[0])
	check.Equal(t, m.Calls(), 0, "indexing offline took %d calls", m.Calls())
	a, err := s.Answer(t.Context(), q)
	check.True(t, err == nil && a.Text == "By ear." && m.Calls() == 1, "%q after %d calls, %v", a.Text, m.Calls(), err)
	k := modelKit(t, m).AnsweredBy(offline(t))
	s = system(k)
	index(t, s, owls[0])
	calls := m.Calls()
	if a, err := s.Answer(t.Context(), q); err != nil || calls != 3 || m.Calls() != 3 || !strings.Contains(a.Text, "by ear alone") || k.Name() != "model+offline" {
		t.Errorf("%s: %q after %d and %d calls, %v", k.Name(), a.Text, calls, m.Calls(), err)
	}
}

// Delete and Close during questions, and questions to a closed system.
func TestClose(t *testing.T) {
	s := flat(t, offline(t), kit.Common{})
	index(t, s, owls...)
	_, err := s.Delete(t.Context(), "a.md", "nowhere.md")
	check.OK(t, err)
	err = s.Close()
	check.OK(t, err)
	_, err = s.Answer(t.Context(), graphrag.Question{Text: "owl", K: 1})
	check.Fails(t, err, "flat", "asked when closed")
	check.True(t, check.Err(s.Insert(t.Context(), graphrag.Documents(owls[0]))) != nil, "inserted when closed")
}

// Update does what Delete and Insert do, also in a saved system; [TestChangesEqualAnew] compares the answers.
func TestUpdate(t *testing.T) {
	k := offline(t)
	updated, opened, dir := flat(t, k, kit.Common{}), flat(t, k, kit.Common{}), t.TempDir()
	index(t, updated, owls[0], owls[2])
	check.OK(t, updated.Save(t.Context(), dir))
	stats, err1 := updated.Update(t.Context(), graphrag.Documents(owls[1]), "a.md")
	again, err2 := opened.OpenUpdated(t.Context(), dir, graphrag.Documents(owls[1]), "a.md")
	check.True(t, err1 == nil && err2 == nil && stats.Documents == 2 && again.Documents == 2, "%+v %v, %+v %v", stats, err1, again, err2)
	ids, err := opened.List(t.Context())
	check.True(t, err == nil && len(ids) == 2 && ids[0] == owls[1].ID && ids[1] == owls[2].ID, "%q are indexed", ids)
	chunks, ok, err := opened.Get(t.Context(), owls[1].ID)
	check.True(t, ok && err == nil && len(chunks) == 1 && chunks[0].Doc == owls[1].ID, "%+v, %v", chunks, ok)
	chunks, ok, err = opened.Get(t.Context(), "a.md")
	check.True(t, !ok && err == nil && chunks == nil, "deleted, and there is %+v", chunks)
	check.True(t, check.Err(flat(t, k, kit.Common{}).Update(t.Context(), nil, "a.md")) != nil, "updated before Index")
}

// A splitter of the caller is used by a system, and its name is saved with the system.
func TestOwnSplitter(t *testing.T) {
	lines := chunk.SplitterFunc(func(_ context.Context, text string) (spans []chunk.Span, err error) {
		for start := 0; start < len(text); {
			end := start + strings.IndexByte(text[start:]+"\n", '\n') + 1
			spans = append(spans, chunk.Span{Start: start, End: min(end, len(text))})
			start = end
		}
		return spans, nil
	})
	k, dir := offline(t), t.TempDir()
	s := flat(t, k, kit.Common{Cut: kit.Cut{Splitter: lines, Name: "lines"}})
	stats := index(t, s, graphrag.Document{ID: "a.md", Text: "Owls hunt.\nOwls fly.\n"})
	check.Equal(t, stats.Chunks, 2, "chunks of two lines")
	check.OK(t, s.Save(t.Context(), dir))
	again := flat(t, k, kit.Common{Cut: kit.Cut{Splitter: lines, Name: "lines"}})
	stats, err := again.Open(t.Context(), dir)
	check.True(t, err == nil && stats.Chunks == 2, "%+v, %v", stats, err)
	for _, cut := range []kit.Cut{{}, {Splitter: lines, Name: "other"}} {
		check.Is(t, check.Err(flat(t, k, kit.Common{Cut: cut}).Open(t.Context(), dir)), kit.ErrOptions, "%+v", cut)
	}
	bad := chunk.SplitterFunc(func(_ context.Context, text string) ([]chunk.Span, error) {
		return []chunk.Span{{Start: 3, End: len(text) + 1}}, nil
	})
	s = flat(t, k, kit.Common{Cut: kit.Cut{Splitter: bad, Name: "bad"}})
	_, err = s.Index(t.Context(), graphrag.Documents(graphrag.Document{ID: "a.md", Text: "Owls."}))
	check.Fails(t, err, "a.md", "a span beyond the text")
	check.True(t, check.Err((kit.Cut{Splitter: lines}).Chunker()) != nil, "a splitter without a name is taken")
}

// Large documents are stored in several batches.
func TestBatches(t *testing.T) {
	var stored []int
	f := kit.Frame{Name: "words", Kit: offline(t), Words: &bm25.Options{}, Common: kit.Common{Progress: func(s graphrag.IndexStats) { stored = append(stored, s.Documents) }}}
	s := check.Of(kit.Open(t.Context(), f, check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t), "words")).OK(t)
	large := strings.Repeat("owl ", 3<<20)
	index(t, s, graphrag.Document{ID: "a.md", Text: large}, graphrag.Document{ID: "b.md", Text: large}, graphrag.Document{ID: "c.md", Text: "An owl."})
	check.Equal(t, stored, []int{2, 3}, "documents after each batch")
}

// A change reports progress for the chunks first, then for each reply and for the stages; reading reports none.
func TestProgress(t *testing.T) {
	m := llmtest.NewScript("m").
		Reply(llmtest.Stage(extract.StageEntities), `{"named_entities": ["Owl", "Hare"]}`).
		Reply(llmtest.Stage(extract.StageTriples), `{"triples": [["Owl", "takes", "Hare"]]}`)
	var told []graphrag.IndexStats
	f := kit.Frame{Name: "owls", Kit: modelKit(t, m), Common: kit.Common{Progress: func(s graphrag.IndexStats) { told = append(told, s) }},
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			kit.Done(ctx, "report", nil)
			return finding(c, ctx)
		}}
	f.ExtractBy(nil, f.Kit.Triples)
	s := check.Of(kit.Open(t.Context(), f, check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t), "owls")).OK(t)
	stats := index(t, s, owls...)
	check.True(t, s.Graph() != nil, "no graph")
	if first, last := told[0], told[len(told)-1]; first.Chunks != stats.Chunks || first.Calls != 0 ||
		last.Calls != stats.Calls || stats.Calls != 6 || len(last.Stages) != 1 || last.Stages[0].Asked != 1 {
		t.Errorf("first %+v, last %+v, of %+v", first, last, stats)
	}
}
