// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command stores measures systems whose corpus lies in memory, a folder, PostgreSQL or OpenSearch, and prints the
// table of docs/stores.md. Each row is a process of its own:
//
//	WILDGRAPHBENCH_DIR=DIR go run . bm25:100000:memory bm25:100000:/tmp/corpus bm25:1000000:/tmp/corpus naiverag:100000:postgres://…
//
// A passage is 400 bytes of the benchmark's pages, with a title and three fields; if there are too few, they
// are repeated with another first word. For gear the passages, the questions, and a graph of four triples a
// passage in a mapped folder are made up, see [world]. Memory is the heap after two collections, and the peak
// of the resident memory without mapped files.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func main() { figure.Main("stores", run) }

func run(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == "row" {
		return row(ctx, args[1])
	}
	if len(args) == 0 {
		return errors.New("name rows as SYSTEM:PASSAGES:WHERE; WHERE is memory, a folder, or the address of a server")
	}
	fmt.Println("| system | passages | where | heap, MB | a process that only answers | peak, indexing | indexed, s | a question, ms p50 | p99 | first of a tenth, ms | of a thousandth | p50 of a tenth | an insert, ms | opened, s | on disk, MB |")
	fmt.Println("|---|---:|---|" + strings.Repeat("---:|", 12))
	for _, arg := range args {
		cmd := exec.CommandContext(ctx, os.Args[0], "row", arg)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("measure %s: %w", arg, err)
		}
	}
	return nil
}

// row measures one system and prints its row.
func row(ctx context.Context, arg string) error {
	parts := strings.SplitN(arg, ":", 3)
	if len(parts) != 3 {
		return fmt.Errorf("%q is not SYSTEM:PASSAGES:WHERE", arg)
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	m := &measured{system: parts[0], n: n, where: parts[2]}
	if m.system != gear.Name {
		if m.corpus, err = read(os.Getenv("WILDGRAPHBENCH_DIR")); err != nil {
			return err
		}
		return m.row(ctx)
	}
	w := &world{passages: n, triples: edgesEach * n, questions: asked}
	dir, err := os.MkdirTemp("", "graph")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begun := time.Now()
	if m.graph, err = w.graph(ctx, dir); err != nil {
		return err
	}
	defer m.graph.Close()
	fmt.Fprintf(os.Stderr, "%d triples are indexed in %.1f s, %s MB\n", w.triples, time.Since(begun).Seconds(), size(dir))
	m.corpus = w.corpus()
	return m.row(ctx)
}

// measured is a system whose corpus is at a place.
type measured struct {
	*corpus
	system string
	n      int
	where  string
	graph  *triples.Index // graph for gear, nil for other systems
}

// open opens the system; the returned function closes the system and its store.
func (m *measured) open(ctx context.Context, reading bool) (*kit.System, func() error, error) {
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		return nil, nil, err
	}
	if m.system == "naiverag" || strings.HasPrefix(m.system, "gear") {
		parts.Trained, parts.Embed = true, func(context.Context, []string) (embed.Embedder, error) {
			if m.graph != nil {
				return hashed(384), nil
			}
			return hashed(64), nil
		}
	}
	found, ok := all.Find(m.system)
	if !ok {
		return nil, nil, fmt.Errorf("no system is called %q", m.system)
	}
	system, err := found.WithGraph(m.graph).New(parts, kit.Common{})
	if err != nil || m.where == "memory" {
		return system, func() error { return system.Close() }, err
	}
	var st store.Store
	switch {
	case strings.HasPrefix(m.where, "postgres"):
		st, err = postgres.Open(ctx, m.where, postgres.Options{})
	case strings.HasPrefix(m.where, "http"):
		st, err = opensearch.Open(ctx, []string{m.where}, opensearch.Options{})
	default:
		st, err = disk.Open(m.where, disk.Options{ReadOnly: reading})
	}
	if err != nil {
		return nil, nil, err
	}
	stored, err := kit.Open(ctx, system.Frame(), st, m.system)
	if err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return stored, func() error { return errors.Join(stored.Close(), st.Close()) }, nil
}

func (m *measured) row(ctx context.Context) error {
	base := heap()
	if strings.HasPrefix(m.where, "/") {
		if err := os.RemoveAll(m.where); err != nil {
			return err
		}
		defer os.RemoveAll(m.where)
	}
	s, closed, err := m.open(ctx, false)
	if err != nil {
		return err
	}
	begun, stop := time.Now(), sample()
	if _, err := s.Index(ctx, m.documents()); err != nil {
		return err
	}
	indexed, peak := time.Since(begun), stop()
	times, err := m.ask(ctx, s, graphrag.Condition{})
	if err != nil {
		return err
	}
	cells := []string{m.system, strconv.Itoa(m.n), place(m.where), mb(heap() - base), "–", mb(peak), fmt.Sprintf("%.1f", indexed.Seconds()), ms(at(times, .5)), ms(at(times, .99))}
	tenth, err := m.ask(ctx, s, graphrag.Equal("tenth", 3))
	if err != nil {
		return err
	}
	thousandth, err := m.ask(ctx, s, graphrag.Equal("thousandth", 7))
	if err != nil {
		return err
	}
	cells = append(cells, ms(tenth[0]), ms(thousandth[0]), ms(at(tenth[1:], .5)))
	var inserts []time.Duration
	for i, first := 0, time.Now(); i < 9 && time.Since(first) < enough; i++ {
		begun := time.Now()
		if _, err := s.Insert(ctx, graphrag.Documents(m.document(m.n+i))); err != nil {
			return err
		}
		inserts = append(inserts, time.Since(begun))
	}
	cells = append(cells, ms(at(inserts, .5)))
	if err := closed(); err != nil {
		return err
	}
	opened := "–"
	if m.where != "memory" {
		s = nil
		_ = os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0) // empties the page cache, if the process may
		before, begun := heap(), time.Now()
		reader, closed, err := m.open(ctx, true)
		if err != nil {
			return err
		}
		if _, err := m.ask(ctx, reader, graphrag.Condition{}); err != nil {
			return err
		}
		opened = fmt.Sprintf("%.2f", (time.Since(begun) - m.asking).Seconds())
		cells[4] = mb(heap() - before)
		if err := closed(); err != nil {
			return err
		}
	}
	cells = append(cells, opened, size(m.where))
	fmt.Println("| " + strings.Join(cells, " | ") + " |")
	return nil
}

// ask asks all questions under a condition and returns the time of each.
func (m *measured) ask(ctx context.Context, s *kit.System, where graphrag.Condition) (times []time.Duration, err error) {
	m.asking = 0
	for _, q := range m.questions {
		begun := time.Now()
		if _, err := s.Retrieve(ctx, graphrag.Question{Text: q, K: 10, Where: &where}); err != nil {
			return nil, err
		}
		times = append(times, time.Since(begun))
		m.asking += times[len(times)-1]
	}
	return times, nil
}

// at returns a quantile of times.
func at(times []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d.Microseconds())/1000) }
func mb(bytes int64) string     { return fmt.Sprintf("%.0f", float64(bytes)/(1<<20)) }

// place returns the kind of place where a corpus is, without the address, which may hold a password.
func place(where string) string {
	for prefix, name := range map[string]string{"/": "folder", "postgres": "PostgreSQL", "http": "OpenSearch"} {
		if strings.HasPrefix(where, prefix) {
			return name
		}
	}
	return where
}

func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// sample observes the process's resident memory without mapped files, and returns a function that stops it and
// returns the peak.
func sample() func() int64 {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			most = max(most, anonymous())
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(stop); return <-peak }
}

// anonymous returns the bytes of resident memory without mapped files.
func anonymous() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	var kB int64
	fmt.Sscan(string(rest), &kB)
	return kB << 10
}

func size(where string) string {
	if !strings.HasPrefix(where, "/") {
		return "–"
	}
	var total int64
	_ = filepath.WalkDir(where, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return mb(total)
}

// corpus has passages and questions.
type corpus struct {
	titles, passages []string
	at               func(i int) (title, text string) // returns passage i, for any i
	questions        []string
	asking           time.Duration // total time of the last call of ask
}

const (
	passage = 400
	asked   = 200
	enough  = 5 * time.Second // limit of the time spent on inserts
)

func read(dir string) (*corpus, error) {
	set, err := wildgraph.Load(os.DirFS(dir), benchmark.LoadOptions{})
	if err != nil {
		return nil, fmt.Errorf("WILDGRAPHBENCH_DIR: %w", err)
	}
	c := &corpus{}
	for _, d := range set.Domains {
		for page, err := range d.Documents() {
			if err != nil {
				return nil, err
			}
			c.cut(page)
		}
		for _, q := range d.Items {
			if len(c.questions) < asked {
				c.questions = append(c.questions, q.Question.Text)
			}
		}
	}
	c.at = c.repeated
	return c, nil
}

// cut splits a page between words into passages.
func (c *corpus) cut(page graphrag.Document) {
	text := strings.Join(strings.Fields(page.Text), " ")
	for len(text) > passage {
		cut := strings.LastIndexByte(text[:passage], ' ')
		if cut <= 0 {
			cut = passage
		}
		c.titles, c.passages = append(c.titles, page.Title), append(c.passages, strings.ToValidUTF8(text[:cut], ""))
		text = text[cut:]
	}
}

func (m *measured) documents() iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for i := range m.n {
			if !yield(m.document(i), nil) {
				return
			}
		}
	}
}

func (m *measured) document(i int) graphrag.Document {
	title, text := m.at(i)
	return graphrag.Document{ID: fmt.Sprintf("p%08d", i), Title: title, Text: text,
		Fields: graphrag.Fields{"tenth": i % 10, "thousandth": i % 1000, "page": title}}
}

// repeated returns passage i. After the last one the passages are repeated with another first word.
func (c *corpus) repeated(i int) (title, text string) {
	page := i % len(c.passages)
	text = c.passages[page]
	if again := i / len(c.passages); again > 0 {
		if _, rest, ok := strings.Cut(text, " "); ok {
			text = fmt.Sprintf("copy%d %s", again, rest)
		}
	}
	return c.titles[page], text
}

// hashed returns an embedder by feature hashing of a text's terms (Weinberger and others, ICML 2009).
func hashed(dim int) embed.Embedder {
	return embed.Func(func(ctx context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, s := range texts {
			out[i] = llmtest.HashVector(strings.Join(text.Default().Terms(s), " "), dim)
		}
		return out, ctx.Err()
	})
}
