// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// parts reads a command line and makes the parts that its settings name.
func parts(args ...string) (*Parts, error) { return partsSaid(io.Discard, "", args...) }

// partsSaid is parts with a model of the environment; messages are written to a buffer.
func partsSaid(w io.Writer, env string, args ...string) (*Parts, error) {
	var s Settings
	fs := cli.NewFlags("test")
	s.Mode = "open"
	s.Declare(fs, io.Discard, "", s.Flags(func(string) string { return env }, "out"))
	if err := cli.Parse(fs, args, io.Discard); err != nil {
		return nil, err
	}
	if err := errors.Join(s.Complete(fs, nil)...); err != nil {
		return nil, err
	}
	return NewParts(context.Background(), s, cli.NewLogger(w))
}

func model(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check.OK(t, graphragtest.WriteBERT(dir))
	return dir
}

// A model in a folder embeds for the offline kit, is part of what decides answers, and embeds no passage twice.
func TestEncoderOfAFolder(t *testing.T) {
	dir, cache := model(t), filepath.Join(t.TempDir(), "new", "replies.journal")
	texts := []string{"The barn owl hears a mouse.", "A quick brown fox!", "The barn owl hears a mouse."}
	var first [][]float32
	var size int64
	for range 2 {
		p := check.Of(parts("-embed-model", "file:"+dir, "-cache", cache)).OK(t)
		name := p.Embedder.Name()
		if p.Kit.Name() != "offline" || p.Kit.Lookup != "cosine of "+name || p.Kit.Dim != 64 || p.Decisive()["embed_model"] != name {
			t.Errorf("kit %s, lookup %s, %d dimensions, decisive %v", p.Kit.Name(), p.Kit.Lookup, p.Kit.Dim, p.Decisive())
		}
		e := check.Of(p.Kit.Embed(t.Context(), nil)).OK(t)
		got := check.Of(e.EmbedDocuments(t.Context(), texts)).OK(t)
		query, err := e.EmbedQuery(t.Context(), texts[1])
		err = errors.Join(err, p.Close())
		check.True(t, err == nil && slices.Equal(query, got[1]), "another vector as a question; error %v", err)
		info := check.Of(os.Stat(filepath.Join(filepath.Dir(cache), name+".vectors"))).OK(t)
		if first == nil {
			first, size = got, info.Size()
		}
		if !slices.EqualFunc(got, first, slices.Equal) || info.Size() != size {
			t.Errorf("the second time %d bytes are kept instead of %d, or the vectors differ", info.Size(), size)
		}
	}
}

// -embed-int8 names another model, with other vectors, and needs a model that can be quantized.
func TestInt8(t *testing.T) {
	dir := model(t)
	name := func(more ...string) string {
		p := check.Of(parts(append(more, "-embed-model", "file:"+dir, "-cache", filepath.Join(t.TempDir(), "replies.journal"))...)).OK(t)
		defer p.Close()
		return p.Embedder.Name()
	}
	a, b := name(), name("-embed-int8")
	check.True(t, a != b, "both are %s", a)
	check.Fails(t, check.Err(parts("-embed-int8")), "-embed-int8 needs an -embed-model")
}

// Vectors of another model are refused under this model's name, and kept.
func TestVectorsOfAnotherModel(t *testing.T) {
	dir, cache := model(t), t.TempDir()
	open := func() error {
		p, err := parts("-embed-model", "file:"+dir, "-cache", filepath.Join(cache, "replies.journal"))
		if err != nil {
			return err
		}
		return p.Close()
	}
	check.OK(t, open())
	before, err := filepath.Glob(filepath.Join(cache, "*.vectors"))
	check.Must(t, err == nil && len(before) == 1, "%v %v", before, err)
	// Another splitter gives other texts: their vectors are in another file.
	check.OK(t, os.WriteFile(filepath.Join(dir, "sentence_bert_config.json"), []byte(`{"max_seq_length": 50}`), 0o644))
	check.OK(t, open())
	after, err := filepath.Glob(filepath.Join(cache, "*.vectors"))
	check.Must(t, err == nil && len(after) == 2, "%v %v", after, err)
	for _, name := range after {
		if name != before[0] {
			check.OK(t, os.Rename(before[0], name))
		}
	}
	err = open()
	check.True(t, errors.Is(err, journal.ErrMismatch) && strings.Contains(err.Error(), "use the same configuration or another file"), "error %v", err)
}

func TestEncoderThatIsNone(t *testing.T) {
	dir := model(t)
	check.OK(t, os.Truncate(filepath.Join(dir, "model.safetensors"), 1000))
	for _, tt := range []struct{ folder, want string }{
		{filepath.Join(dir, "none"), "-embed-model: local: " + filepath.Join(dir, "none", "config.json") + ": the file is missing: name the folder"},
		{dir, "model.safetensors: the header has"},
		{"", "config.json: the file is missing"},
	} {
		_, err := parts("-embed-model", "file:"+tt.folder, "-cache", filepath.Join(t.TempDir(), "r"))
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), tt.want), "%v, want %s", err, tt.want)
	}
	check.Fails(t, check.Err(parts("-embed-model", "some-server's")), "-embed-model needs -kit model")
}

// A dry run writes nothing; a second program is told to wait.
func TestVectorsAreKeptByOneProgram(t *testing.T) {
	dir, cache := model(t), t.TempDir()
	args := []string{"-embed-model", "file:" + dir, "-cache", filepath.Join(cache, "r")}
	p := check.Of(parts(append(args, "-dry-run")...)).OK(t)
	check.OK(t, check.Err(p.Embedder.EmbedDocuments(context.Background(), []string{"owl"})))
	left, err := os.ReadDir(cache)
	check.True(t, err == nil && len(left) == 0, "a dry run left %v, error %v", left, err)
	first := check.Of(parts(args...)).OK(t)
	defer first.Close()
	_, err = parts(args...)
	check.True(t, errors.Is(err, journal.ErrLocked) && strings.Contains(err.Error(), "wait until it ends"), "error %v", err)
}

// A dry run downloads no model: it makes no calls that could be counted.
func TestDryRunFetchesNothing(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // nobody listens there
	for _, name := range []string{"minilm", "hf:org/name@0123456789012345678901234567890123456789"} {
		p, err := parts("-dry-run", "-embed-model", name, "-cache", filepath.Join(home, "r"))
		check.OK(t, err, "%v", name)
		rows, err := p.Embedder.EmbedDocuments(t.Context(), []string{"owl"})
		check.True(t, err == nil && len(rows) == 1, "%v %v %v", name, rows, err)
		left, err := os.ReadDir(home)
		check.True(t, err == nil && len(left) == 0, "%s left %v, error %v", name, left, err)
	}
}

// auto reports which model it takes, none takes none, a folder needs no prefix, and a damaged model in the
// cache is reported.
func TestEncoderByName(t *testing.T) {
	home, dir := t.TempDir(), model(t)
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	t.Setenv("LocalAppData", home)
	for _, tt := range []struct{ env, flag, said, embedder string }{
		{"", "auto", "-embed-model auto: no encoder is in the cache\n", ""},
		{"auto", "", "-embed-model auto: no encoder is in the cache\n", ""},
		{"", "none", "", ""},
		{dir, "none", "", ""},
		{dir, "", "", "bert-2x64-"},
		{"", dir, "", "bert-2x64-"},
	} {
		var args []string
		if tt.flag != "" {
			args = []string{"-embed-model", tt.flag}
		}
		var said strings.Builder
		p, err := partsSaid(&said, tt.env, args...)
		check.OK(t, err)
		name := ""
		if p.Embedder != nil {
			name = p.Embedder.Name()
		}
		check.True(t, said.String() == tt.said && (name == "") == (tt.embedder == "") &&
			strings.HasPrefix(name, tt.embedder), "%+v: takes %q, says %q", tt, name, said.String())
		err = p.Close()
		check.OK(t, err)
	}
	cache, err := os.UserCacheDir()
	check.OK(t, errors.Join(err, os.MkdirAll(filepath.Join(cache, "wildgraph", "models", "e5-small"), 0o755)))
	var said strings.Builder
	if _, err := partsSaid(&said, "", "-embed-model", "auto"); err == nil || errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "remove the folder") || said.String() != "-embed-model auto: e5-small\n" {
		t.Errorf("says %q, error %v", said.String(), err)
	}
}

// Downloading a large file prints a line for each tenth; for small files it prints nothing.
func TestFetchingIsSaid(t *testing.T) {
	var said strings.Builder
	p := &Parts{Log: cli.NewLogger(&said)}
	tell := p.fetching("embed-model", "minilm")
	tell("config.json", 500, 1000)
	for done := int64(1e6); done <= 100e6; done += 1e6 {
		tell("model.safetensors", done, 100e6)
	}
	if n := strings.Count(said.String(), "\n"); n != 10 || !strings.HasPrefix(said.String(), "-embed-model minilm is fetched: 10 of 100 MB of model.safetensors\n") {
		t.Errorf("%d lines: %s", n, said.String())
	}
}

// Models for single steps replace parts of the kit and decide figures by their content; a folder of another
// kind of model is a usage error.
func TestHeads(t *testing.T) {
	folder := func(architecture string, labels ...string) string {
		dir := t.TempDir()
		check.OK(t, graphragtest.WriteHead(dir, architecture, labels...))
		return "file:" + dir
	}
	rank := folder("BertForSequenceClassification", "relevant")
	entail := folder("BertForSequenceClassification", "entailment", "neutral", "contradiction")
	names := folder("BertForTokenClassification", "O", "B-PER", "I-PER")
	spans := folder("BertForQuestionAnswering", "start", "end")
	p := check.Of(parts("-rerank-model", rank, "-name-model", names, "-span-model", spans)).OK(t)
	if p.Kit.Rerank == nil || !strings.HasPrefix(p.Kit.Read.Name(), "spans/BertForQuestionAnswering-2x64-") || !strings.HasSuffix(p.Kit.Read.Name(), "+extractive/open") {
		t.Errorf("reranker %v, reader %s", p.Kit.Rerank, p.Kit.Read.Name())
	}
	for _, setting := range []string{"rerank_model", "name_model", "span_model"} {
		name, _ := p.Decisive()[setting].(string)
		check.True(t, strings.HasPrefix(name, "BertFor"), "%s is %q in what decides", setting, name)
	}
	x := check.Of(p.Kit.Entities()).OK(t)
	chunk := graphrag.Chunk{ID: "a#0", Doc: "a", Text: "The barn owl hears a mouse."}
	found, err := x.Extract(t.Context(), []graphrag.Chunk{chunk})
	if err != nil || len(found) != 1 || len(found[0].Mentions) == 0 || found[0].Mentions[0].Type != "PER" || !strings.Contains(chunk.Text, found[0].Mentions[0].Name) {
		t.Errorf("names %+v, error %v", found, err)
	}
	ask := check.Of(p.Kit.QuestionNames(nil)).OK(t)
	for _, question := range []string{chunk.Text, "\u200b"} { // it finds nothing in the second question
		check.OK(t, check.Err(ask(t.Context(), question)))
	}
	e, err := p.OpenEntailment(t.Context(), entail)
	check.True(t, err == nil && e != nil && p.Decisive()["entail_model"] == e.Name(), "entailment %v, error %v", e, err)
	for flag, wrong := range map[string]string{"-rerank-model": entail, "-name-model": spans, "-span-model": rank} {
		_, err := parts(flag, wrong)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), flag+": local: "), "%s: error %v", flag, err)
	}
	p, err = parts("-dry-run", "-rerank-model", "hf:org/name@0123456789012345678901234567890123456789")
	check.True(t, err == nil && p.Kit.Rerank == nil, "a dry run fetches a model: error %v", err)
}

// Two cells of 50 questions, each with 60 s of indexing and 1 s a question: after a tenth of the questions 150
// s are left, and not as much as a mean over all time would give.
func TestTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	now := time.Unix(0, 0)
	p.now = func() time.Time { return now }
	step := func(stage string, cell, done, resumed int) {
		p.Event(benchmark.Event{System: "owl\x1b[2J", Domain: "a\u202eb", Stage: stage, Cell: cell, Cells: 2, Done: done, Total: 100, Resumed: resumed})
	}
	step("index", 1, 0, 0)
	now = now.Add(60 * time.Second)
	step("answer", 1, 0, 0)
	for done := range 50 {
		now = now.Add(time.Second)
		step("answer", 1, done+1, 0)
	}
	want := "owl [2J on ab: indexing\n10 of 100 answers (2m30s left)\n20 of 100 answers (2m20s left)\n" +
		"30 of 100 answers (2m10s left)\n40 of 100 answers (2m0s left)\n50 of 100 answers (1m50s left)\n"
	check.True(t, out.String() == want && p.Answered() == 50, "%d answered\n%s\nwant\n%s", p.Answered(), out.String(), want)
	step("answer", 2, 100, 50)
	check.True(t, strings.HasSuffix(out.String(), "owl [2J on ab: 50 answers were there\n") && p.Answered() == 50,
		"%d answered\n%s", p.Answered(), out.String())
}

// Cells that take no time are not printed one by one.
func TestShortCells(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out)
	p.now = func() time.Time { return time.Unix(9, 0) }
	for cell := range 20 {
		p.Event(benchmark.Event{System: "owl", Domain: "d", Stage: "index", Cell: cell + 1, Cells: 20, Total: 100})
	}
	check.Equal(t, out.String(), "owl on d: indexing\n")
}
