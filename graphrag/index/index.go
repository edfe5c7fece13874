// SPDX-License-Identifier: Apache-2.0

package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// Knowledge is the kind of extraction.
type Knowledge string

// The kinds of knowledge.
const (
	None    Knowledge = ""        // chunks alone, as of naive RAG
	Triples Knowledge = "triples" // names and facts
	Records Knowledge = "records" // with descriptions
)

// Options of [Open]. All processes of a job need the same.
type Options struct {
	// Store holds the index, in collection Name, and its inputs, in Name-work. Required.
	Store store.Store
	Name  string
	// Cut is how documents become chunks.
	Cut kit.Cut
	// Knowledge is extracted by Model, or without one by rules, which process all chunks
	// in one task. With Reports, reports on its communities are written.
	Knowledge Knowledge
	Model     llm.Model
	Reports   bool
	// Embedder makes vectors of Dim components of the chunks; nil for none.
	Embedder llm.NamedEmbedder
	Dim      int
	// Batch is the number of chunks of a task, 1 to 100; 0 means 16. It is also the number
	// of documents, and the largest number of communities.
	Batch int
	// Prices are those of the models; nil if unknown.
	Prices *paid.Prices
}

const (
	defaultBatch = 16
	maxBatch     = 100
	maxPage      = 500     // batches of documents
	maxBytes     = 4 << 20 // of the documents of a batch, or one document
)

func (o *Options) check() error {
	c := opt.Checks{Of: "index"}
	c.Want(o.Store != nil, "Store", "missing", "a store")
	c.Add(store.CheckName("Name", o.Name+workSuffix))
	c.Want(o.Knowledge == None || o.Knowledge == Triples || o.Knowledge == Records, "Knowledge", fmt.Sprintf("%q", o.Knowledge), `"triples", "records" or ""`)
	c.Want(!o.Reports || o.Knowledge != None, "Reports", "set", "Knowledge to report on")
	c.Want((o.Embedder == nil) == (o.Dim == 0) && o.Dim >= 0, "Dim", o.Dim, "that of the Embedder, or neither")
	opt.Range(&c, "Batch", o.Batch, 0, maxBatch)
	if o.Prices != nil {
		c.Add(o.Prices.Check())
	}
	o.Batch = cmp.Or(o.Batch, defaultBatch)
	return c.Err()
}

const workSuffix = "-work"

// Index does the tasks of jobs. It is safe for concurrent use, by any number of
// processes if the store is.
type Index struct {
	o        Options
	process  string
	chunker  *chunk.Chunker
	kit      kit.Kit
	extract  kit.Extraction
	settings map[string]string // by stage: hash of what the results depend on apart from the batch

	work *vault
	home store.Collection // the index

	mu   sync.Mutex
	open map[string]store.Generation // of the index, by name

	knowing sync.Mutex
	known   *knowledge // of the latest root
}

var _ Doer = (*Index)(nil)

// Open opens the collections, or makes them.
func Open(ctx context.Context, o Options) (*Index, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	x := &Index{o: o, process: fmt.Sprintf("%s/%d", host, os.Getpid()), open: make(map[string]store.Generation)}
	c, err := o.Store.Create(ctx, o.Name+workSuffix, workSchema)
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	g, err := c.Write(ctx, "work")
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x.work = &vault{g: g, durable: o.Store.Can().Durable}
	x.home, err = o.Store.Create(ctx, o.Name, o.schema())
	if err == nil {
		err = x.parts()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index: %w", err), g.Close())
	}
	return x, nil
}

func (o Options) schema() store.Schema {
	chunks := store.TableSchema{Text: true, Dim: o.Dim}
	if o.Embedder != nil {
		chunks.Model = o.Embedder.Name()
	}
	return store.Schema{Analyzer: text.Default().Name(), Tables: map[string]store.TableSchema{
		"chunks":    chunks,
		"entities":  {Text: true},
		Communities: {},
		Reports:     {Text: true},
	}}
}

// parts makes the chunker, the kit and the extractor.
func (x *Index) parts() (err error) {
	if x.chunker, err = x.o.Cut.Chunker(); err != nil {
		return err
	}
	model := ""
	if x.o.Model == nil {
		x.kit, err = kit.Offline(kit.OfflineOptions{})
	} else {
		model = x.o.Model.Name()
		// One call at a time: the runner of the tasks decides the concurrency.
		x.kit, err = kit.ByModel(kit.ModelOptions{Model: x.Model(), Concurrency: 1})
	}
	if err != nil {
		return err
	}
	switch x.o.Knowledge {
	case Triples:
		x.extract, err = x.kit.Triples()
	case Records:
		x.extract, err = x.kit.Records(extract.RecordOptions{})
	}
	x.settings = map[string]string{
		Cut:     refOf(Cut, x.o.Cut, x.o.Batch),
		Extract: refOf(Extract, x.o.Knowledge, model),
	}
	if x.o.Embedder != nil {
		x.settings[Embed] = refOf(Embed, x.o.Embedder.Name())
	}
	return err
}

// Model returns the model with the store as the cache of its replies.
func (x *Index) Model() llm.Model {
	return sharedModel{x.o.Model, x.work, x.process, new(singleflight.Group)}
}

// Doubtful lists the calls that may have been charged without a stored reply, in the order of
// their keys: those that are running or were when a process was killed, and failed calls
// that may have been charged.
func (x *Index) Doubtful(ctx context.Context) ([]Call, error) { return x.work.doubtful(ctx) }

// leiden are the options of finding communities, a part of the names of generations.
var leiden community.HierarchyOptions

// generation is the name of the generation that the job of a root publishes.
func (x *Index) generation(root string) string {
	return "g" + refOf(root, x.settings, leiden, x.o.Reports, x.kit.Language)[:32]
}

// Plan returns the stages of the index.
func (x *Index) Plan() Plan {
	p := Plan{{Name: Documents}, {Name: Cut}}
	extracted := Stage{Name: Extract, Barrier: x.extract.Whole}
	if x.o.Model != nil {
		extracted.Endpoint = Chat
	}
	if x.o.Knowledge != None && !extracted.Barrier {
		p = append(p, extracted)
	}
	if x.o.Embedder != nil {
		p = append(p, Stage{Name: Embed, Endpoint: Vectors})
	}
	p = append(p, Stage{Name: Write})
	if x.o.Knowledge != None {
		if extracted.Barrier {
			p = append(p, extracted)
		}
		p = append(p, Stage{Name: Graph, Barrier: true})
	}
	if x.o.Reports {
		p = append(p, Stage{Name: Communities, Barrier: true}, Stage{Name: Reports, Endpoint: extracted.Endpoint})
	}
	return append(p, Stage{Name: Publish, Barrier: true})
}

// Do implements [Doer].
func (x *Index) Do(ctx context.Context, t Task) (Done, error) {
	do := map[string]func(context.Context, Task) (Done, error){
		Documents: x.documents, Cut: x.cut, Extract: x.extractFrom, Embed: x.embed, Write: x.write,
		Graph: x.graph, Communities: x.communities, Reports: x.report, Publish: x.publish,
	}[t.Stage]
	if do == nil {
		return Done{}, fmt.Errorf("index: there is no stage %q", t.Stage)
	}
	// The result of a task that is a function of its batch is stored.
	settings, marked := x.settings[t.Stage]
	mark := refOf("done", settings, t.Batch.Ref)
	if marked {
		if there, err := x.work.get(ctx, things, mark); err != nil {
			return Done{}, err
		} else if there[mark] != nil {
			return thing[Done](ctx, x.work, mark)
		}
	}
	metered, meter := llm.WithMeter(llm.WithStage(x.kit.Prompts.With(ctx), "index"))
	done, err := do(metered, t)
	if err != nil {
		return Done{}, err
	}
	used := meter.Usage()
	used.CachedCalls = 0 // it must not matter which process asked first
	done.Usage = done.Usage.Add(used)
	done.Cost = x.cost(done.Usage)
	if marked {
		r, err := record(mark, done)
		if err == nil {
			err = x.work.put(ctx, things, r)
		}
		return done, err
	}
	return done, nil
}

func (x *Index) cost(u llm.Usage) (c paid.Cost) {
	vectors := llm.Usage{EmbeddedTokens: u.EmbeddedTokens}
	u.EmbeddedTokens = 0
	if x.o.Model != nil {
		c = x.o.Prices.Cost(x.o.Model.Name(), u)
	}
	if x.o.Embedder != nil {
		c = c.Add(x.o.Prices.Cost(x.o.Embedder.Name(), vectors))
	}
	return c
}

// table returns a table of the index of a root.
func (x *Index) table(ctx context.Context, root, name string) (store.Table, error) {
	g, err := x.writing(ctx, root)
	if err != nil {
		return nil, err
	}
	return g.Table(name)
}

// writing returns the generation of the index of a root.
func (x *Index) writing(ctx context.Context, root string) (store.Generation, error) {
	name := x.generation(root)
	x.mu.Lock()
	defer x.mu.Unlock()
	if g := x.open[name]; g != nil {
		return g, nil
	}
	g, err := x.home.Write(ctx, name)
	if err == nil {
		x.open[name] = g
	}
	return g, err
}

// chunks returns the chunks of a batch with their references.
func (x *Index) chunks(ctx context.Context, b Batch) (refs []string, chunks []graphrag.Chunk, err error) {
	if refs, err = thing[[]string](ctx, x.work, b.Ref); err == nil {
		chunks, err = list[graphrag.Chunk](ctx, x.work, refs)
	}
	return refs, chunks, err
}

// Close closes the collections, but not the store.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	errs := []error{x.work.g.Close()}
	for _, g := range x.open {
		errs = append(errs, g.Close())
	}
	return errors.Join(errs...)
}

// The stages.
const (
	Documents   = "documents"
	Cut         = "cut"
	Extract     = "extract"
	Embed       = "embed"
	Write       = "write"
	Graph       = "graph"
	Communities = "communities"
	Reports     = "reports"
	Publish     = "publish"
)

// The endpoints that limit tasks.
const (
	Chat    = "chat"
	Vectors = "vectors"
)

// Stage is one kind of task. Its tasks do not depend on each other.
type Stage struct {
	Name string `json:"name"`
	// Barrier makes it one task over everything, after all tasks of the stages before.
	// Otherwise it has a task for each batch that a task of the previous stage returns, as
	// soon as it does.
	Barrier bool `json:"barrier,omitempty"`
	// Endpoint is the service that its tasks call, [Chat] or [Vectors]; "" is none.
	Endpoint string `json:"endpoint,omitempty"`
}

// Plan is the list of stages of an index.
type Plan []Stage

// Pipe returns the first stage from from on that is a barrier, or the number of stages.
func (p Plan) Pipe(from int) int {
	for from < len(p) && !p[from].Barrier {
		from++
	}
	return from
}

// Batch refers to a list of N items in the store.
type Batch struct {
	Ref string `json:"ref"` // SHA-256, hexadecimal
	N   int    `json:"n"`
}

// Job refers to the corpus to index. It is small for any corpus.
type Job struct {
	Plan Plan `json:"plan"`
	// Root is the list of all pages; its N is the number of documents.
	Root Batch `json:"root"`
	// Pages are lists of batches of documents, the tasks of the first stage.
	Pages []Batch `json:"pages"`
}

// Task is a unit of work.
type Task struct {
	Stage string `json:"stage"`
	Batch Batch  `json:"batch"`
	Root  string `json:"root"` // that of the job
}

// Done is the result of a task.
type Done struct {
	// Next are the batches of the next stage, in rounds that run one after the other.
	Next [][]Batch `json:"next,omitempty"`
	// Items is the number of results, such as chunks; Failed is the number of those without
	// a usable reply of the model.
	Items  int `json:"items"`
	Failed int `json:"failed,omitempty"`
	// Usage and Cost are those of the replies that it used, including cached ones.
	Usage llm.Usage `json:"usage"`
	Cost  paid.Cost `json:"cost"`
}

// Doer runs tasks. [Index] is one.
type Doer interface {
	// Do runs a task. It is idempotent.
	Do(ctx context.Context, t Task) (Done, error)
}

// Progress is the state of a job.
type Progress struct {
	Stages []StageProgress `json:"stages"`
	// Cost is that of all replies so far, each counted once.
	Cost paid.Cost `json:"cost"`
}

// StageProgress is the state of a stage.
type StageProgress struct {
	Name string `json:"name"`
	// Tasks is the number of tasks so far, Done that of finished ones.
	Tasks int `json:"tasks"`
	Done  int `json:"done"`
	// Items and Failed are those of finished tasks.
	Items  int       `json:"items"`
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
}

// NewProgress returns the state of a job before its start.
func NewProgress(p Plan) Progress {
	out := Progress{Stages: make([]StageProgress, len(p))}
	for i, s := range p {
		out.Stages[i].Name = s.Name
	}
	return out
}

// Add counts a finished task of a stage.
func (p *Progress) Add(stage int, d Done) {
	s := &p.Stages[stage]
	s.Done++
	s.Items, s.Failed, s.Usage = s.Items+d.Items, s.Failed+d.Failed, s.Usage.Add(d.Usage)
	p.Cost = p.Cost.Add(d.Cost)
}

// Retry reports whether a failed task should be retried, and after what time if the service
// named one.
func Retry(err error) (again bool, after time.Duration) {
	var failed *llm.Error
	var throttled *store.ThrottledError
	switch {
	case errors.As(err, &failed):
		return failed.Retryable(), failed.RetryAfter
	case errors.As(err, &throttled):
		return true, throttled.After
	}
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrConflict), 0
}
