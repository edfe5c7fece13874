//go:build linux

// Command originals measures systems of this library for .ci/peers originals, which compares them with the
// original programs, using a model that answers immediately. See the file run.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/docs/performance/peers/figure"
	"github.com/wildgraph/wildgraph/docs/performance/peers/originals/fake"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/transport"
)

func main() { figure.Main("originals", run) }

const usage = `usage:
	originals sample DIR            writes the passages and questions of a sample to stdout
	originals musique DIR           the same of the sample of MuSiQue
	originals serve ADDRESS DATA    serves the model; -hard writes replies as real models do
	originals ours ADDRESS DATA N SYSTEM SET ROUND
	                                measures a system over the first N passages;
	                                SYSTEM is its name with its settings, "lightrag alwaysGlean=true"`

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("originals", flag.ContinueOnError)
	hard := flags.Bool("hard", false, "replies as real models write them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	args = flags.Args()
	switch {
	case len(args) == 2 && args[0] == "sample":
		return show(fake.Sample(args[1]))
	case len(args) == 2 && args[0] == "musique":
		return show(fake.MuSiQue(args[1]))
	case len(args) == 3 && args[0] == "serve":
		d, err := fake.Read(args[2])
		if err != nil {
			return err
		}
		return http.ListenAndServe(args[1], fake.NewModel(d, *hard).Handler())
	case len(args) == 7 && args[0] == "ours":
		d, err := fake.Read(args[2])
		if err != nil {
			return err
		}
		var n, round int
		if _, err := fmt.Sscan(args[3]+" "+args[6], &n, &round); err != nil {
			return err
		}
		d.Passages = d.Passages[:min(n, len(d.Passages))]
		return measure(ctx, "http://"+args[1], d, args[4], figure.Figure{Set: args[5], Who: figure.Us, Round: round})
	}
	return fmt.Errorf("%s", usage)
}

func show(d fake.Data, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(d)
}

// count returns the numbers of calls, texts and tokens that the server has counted, and resets them to 0.
func count(base string) (c struct{ Calls, Texts, Asked, Answered int64 }, err error) {
	for _, what := range []string{"/count", "/reset"} {
		reply, err := http.Get(base + what)
		if err != nil {
			return c, err
		}
		if what == "/count" {
			err = json.NewDecoder(reply.Body).Decode(&c)
		}
		if err := reply.Body.Close(); err != nil {
			return c, err
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// measure prints the costs of indexing, of a question, of an insert and of a delete.
func measure(ctx context.Context, base string, d fake.Data, name string, f figure.Figure) error {
	config := transport.Config{BaseURL: base + "/v1", Model: "fake", Key: "x"}
	model, err := transport.OpenAI(config)
	if err != nil {
		return err
	}
	config.Model = "fake-embed"
	embedder, err := transport.OpenAIEmbedder(config)
	if err != nil {
		return err
	}
	parts, err := kit.ByModel(kit.ModelOptions{Model: model, Embedder: embedder})
	if err != nil {
		return err
	}
	s, err := system(parts, name)
	if err != nil {
		return err
	}
	if _, err := count(base); err != nil {
		return err
	}
	step := func(what string, do func() error) error {
		begun := figure.CPU()
		if err := do(); err != nil {
			return fmt.Errorf("measure %s: %w", what, err)
		}
		f.Show(what, figure.CPU()-begun, "CPU s")
		c, err := count(base)
		f.Show(what+": calls", float64(c.Calls), "")
		f.Show(what+": thousand tokens", float64(c.Asked)/1000, "")
		return err
	}
	err = step("indexing", func() error {
		_, err := s.Index(ctx, graphrag.Documents(documents(d)...))
		return err
	})
	if err != nil {
		return err
	}
	begun := figure.CPU()
	for _, q := range d.Questions {
		if _, err := s.Retrieve(ctx, graphrag.Question{Text: q, K: 20, Depth: 100}); err != nil {
			return err
		}
	}
	f.Show("a question", 1000*(figure.CPU()-begun)/float64(len(d.Questions)), "CPU ms")
	if _, err := count(base); err != nil {
		return err
	}
	if err := step("an insert", func() error {
		_, err := s.Insert(ctx, graphrag.Documents(graphrag.Document{ID: "new", Text: fake.Note.Document()}))
		return err
	}); err != nil {
		return err
	}
	if err := step("a delete", func() error { _, err := s.Delete(ctx, "new"); return err }); err != nil {
		return err
	}
	f.Show("memory, peak", figure.Peak(), "MB")
	return nil
}

func documents(d fake.Data) (docs []graphrag.Document) {
	for i, p := range d.Passages {
		docs = append(docs, graphrag.Document{ID: fmt.Sprintf("d%05d", i), Text: p.Document()})
	}
	return docs
}

// system makes a system by its name and its settings: "lightrag-mix alwaysGlean=true".
func system(parts kit.Kit, name string) (*kit.System, error) {
	name, settings, _ := strings.Cut(name, " ")
	s, ok := all.Find(name)
	if !ok {
		return nil, fmt.Errorf("no system is called %q: wildgraphbench -list-systems names them", name)
	}
	for setting := range strings.FieldsSeq(settings) {
		option, value, _ := strings.Cut(setting, "=")
		var err error
		if s, err = s.With(option, value); err != nil {
			return nil, err
		}
	}
	return s.New(parts, kit.Common{})
}
