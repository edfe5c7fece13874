// SPDX-License-Identifier: Apache-2.0

// Package desk answers questions over a folder: what the command line, the page and the
// MCP server of ask share. A question comes in as a line of text and goes out as a
// [Reply] that can be shown or written as JSON.
package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options say what a desk answers from, and how.
type Options struct {
	// Docs is the folder, or one file, Index where its index is; "" is a folder of the user's cache.
	Docs, Index string
	// System is one of the registry.
	System all.System
	// Settings choose models and mode.
	Settings lab.Settings
	// K is the number of passages that are read; 0 leaves it to the system.
	K int
	// Where, if set, is met by the files that are searched; a [Query] can narrow it.
	Where *graphrag.Condition
	// Incomplete answers also from an index at which the model failed for more than
	// half of the passages.
	Incomplete bool
	// Encode uses the time between questions to make the vectors of an index that makes them when
	// they are first asked for.
	Encode bool
	// Log is told what is waited for, Progress how many files have been read.
	Log      *slog.Logger
	Progress func(files int)
}

// Desk answers questions. It is safe for concurrent use.
type Desk struct {
	Index string // the folder of the index

	o       Options
	folder  *folder.Folder
	parts   *lab.Parts
	files   *cli.Files
	closest reader.Reader // says what comes nearest to a refused question
	shown   string        // Docs, as paths of files begin
	idle    idle
	looks
}

// Open opens the index of a folder and brings it up to date.
func Open(ctx context.Context, o Options) (d *Desk, err error) {
	if indexing(o) == "" {
		o.Settings.IndexKit = kit.NameOffline // a model that only answers leaves the index as it is
	}
	d = &Desk{o: o, Index: o.Index, shown: shown(o.Docs)}
	d.made = memo.With(context.Background())
	if d.Index == "" {
		if d.Index, err = folder.UserIndex(o.Docs, kind(o)); err != nil {
			return nil, err
		}
	}
	o.Settings.Out = d.Index
	if d.closest, err = reader.Extractive(reader.ExtractiveOptions{Mode: reader.Open}); err != nil {
		return nil, err
	}
	d.files = cli.NewFiles()
	if d.parts, err = lab.NewParts(ctx, o.Settings, o.Log); err == nil {
		err = d.parts.Absent()
	}
	if err == nil {
		err = d.open(ctx)
	}
	if err == nil && !o.Incomplete {
		err = d.usable()
	}
	if err == nil {
		_, err = d.folder.System.GraphFor(ctx, o.Where) // an unknown field is told before the first question
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Desk) open(ctx context.Context) (err error) {
	k, files, common := d.parts.Kit, new(folder.Files), d.o.Settings.Common()
	k.Read = files.Reader(k.Read, k.Answer == kit.NameOffline)
	common.Cut.KeepLinks = true
	d.parts.TellUnused(d.o.System)
	system, err := d.parts.System(d.o.System, k, common)
	if err != nil {
		return err
	}
	d.folder, d.change, err = folder.Open(ctx, folder.Options{
		Docs: d.o.Docs, Index: d.Index, System: system, Files: files, Settings: settings(k, d.o),
		Load: d.files.Options, Progress: d.o.Progress,
	})
	d.checked = time.Now()
	return err
}

// kind names an index of the user's cache: those of other systems and other models lie
// beside each other.
func kind(o Options) string {
	name := benchmark.FileName(o.System.Name)
	for _, model := range []string{indexing(o), o.Settings.EmbedModel, o.Settings.NameModel} {
		if model != "" {
			name += "-" + unnamed.ReplaceAllString(filepath.Base(model), "-")
		}
	}
	if c := o.System.Changes(); len(c) > 0 {
		name += "-" + record.Digest(fmt.Sprint(c))[:8]
	}
	return name
}

var unnamed = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// indexing is the model that takes part in making the index, "" if none does: an index
// stays good when a model only answers.
func indexing(o Options) string {
	if c := o.System.Calls; o.Settings.IndexKit != kit.NameModel || c.Chunk+c.Once == 0 {
		return ""
	}
	return o.Settings.Model
}

// settings name what decides an index beside its system.
func settings(k kit.Kit, o Options) string {
	out := k.Lookup + ", " + k.Encoder
	for _, m := range []string{indexing(o), o.Settings.NameModel} {
		if m != "" {
			out += ", " + m
		}
	}
	if r := o.Settings.Replaced(); indexing(o) != "" && len(r) > 0 {
		out += fmt.Sprintf(", prompts %v", r)
	}
	if c := o.System.Changes(); len(c) > 0 {
		out += fmt.Sprintf(", %v", c) // in the order of the options' names
	}
	return out
}

// shown is a folder as paths that a terminal can open begin: relative to the current one
// where that is shorter.
func shown(docs string) string {
	if info, err := os.Stat(docs); err == nil && !info.IsDir() {
		docs = filepath.Dir(docs)
	}
	wd, err := os.Getwd()
	if err != nil {
		return docs
	}
	path, err := filepath.Abs(docs)
	if err != nil {
		return docs
	}
	if relative, err := filepath.Rel(wd, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}

// Name is the system that answers.
func (d *Desk) Name() string { return d.o.System.Name }

// Docs is the folder as it was named, on one line that can be shown.
func (d *Desk) Docs() string { return text.OneLine(d.o.Docs) }

// Title is the name of the folder, on one line that can be shown.
func (d *Desk) Title() string {
	path, err := filepath.Abs(d.o.Docs)
	if err != nil {
		return d.Docs()
	}
	return text.OneLine(filepath.Base(path))
}

// Query is a question with those that were asked before it.
type Query struct {
	Question string   `json:"question"`
	Before   []string `json:"before,omitempty"`
	// Answers are those to the questions of Before, "" for a refusal; none need be given.
	Answers []string `json:"answers,omitempty"`
	// Where limits it to the files that meet it, such as folder = "notes".
	Where *graphrag.Condition `json:"where,omitempty"`
}

// where is a condition within that of the desk.
func (d *Desk) where(c *graphrag.Condition) *graphrag.Condition {
	if c == nil || d.o.Where == nil {
		return cmp.Or(c, d.o.Where)
	}
	both := graphrag.And(*d.o.Where, *c)
	return &both
}

// Ask answers a question.
func (d *Desk) Ask(ctx context.Context, q Query) (r Reply, err error) {
	for r, err = range d.Stream(ctx, q) {
	}
	return r, err
}

// Stream answers a question: each reply has a longer beginning of the answer, the last
// one is the whole reply.
func (d *Desk) Stream(ctx context.Context, q Query) iter.Seq2[Reply, error] {
	return func(yield func(Reply, error) bool) {
		defer d.busy()()
		asked := text.InContext(q.Question, q.Before, q.Answers)
		question := graphrag.Question{Text: asked, K: d.o.K, Where: d.where(q.Where)}
		var last graphrag.Answer
		for a, err := range d.folder.System.Stream(ctx, question) {
			if err != nil {
				yield(Reply{}, err)
				return
			}
			if last = a; !a.Refused && !yield(Reply{Question: q.Question, Answer: a.Text}, nil) {
				return
			}
		}
		r, err := d.reply(ctx, question, last)
		r.Question = q.Question
		if asked != q.Question {
			r.ReadAs = asked
		}
		yield(r, err)
	}
}

// Refusal is the answer to a question that the files do not answer.
const Refusal = "The files do not say."

// reply is an answer as it is shown.
func (d *Desk) reply(ctx context.Context, q graphrag.Question, a graphrag.Answer) (Reply, error) {
	if err := d.pin(ctx, a); err != nil {
		return Reply{}, err
	}
	if a.Refused {
		a.Text = Refusal
	}
	r := Reply{
		System: d.Name(), Answer: a.Text, Refused: a.Refused, Uncited: a.Uncited(), Confidence: a.Confidence, Calls: a.Usage.Calls, Unread: a.Usage.Unread,
		Sources: d.sources(a), Passages: d.passages(a.Ranked),
	}
	for _, x := range a.Derived {
		if slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool {
			return c.Of == graphrag.OfDerived && a.Derived[c.Evidence].Text == x.Text
		}) {
			r.Facts = append(r.Facts, x.Text)
		}
	}
	if !(a.Refused || r.Uncited) || len(a.Evidence) == 0 {
		return r, nil
	}
	near, err := d.closest.Read(ctx, q, a.Evidence, nil)
	if err != nil {
		return r, err
	}
	r.Confidence = near.Confidence
	r.Closest = d.nearest(r.Closest, near, q)
	for i := 0; i < len(a.Evidence) && len(r.Closest) < closest; i++ {
		if near, err = d.closest.Read(ctx, q, a.Evidence[i:i+1], nil); err != nil {
			return r, err
		}
		r.Closest = d.nearest(r.Closest, near, q)
	}
	return r, nil
}

// closest is how many passages stand in the place of an answer.
const closest = 3

// nearest adds the first source of what was read of a passage, unless it is there or shares no
// word with the question.
func (d *Desk) nearest(to []Source, near graphrag.Answer, q graphrag.Question) []Source {
	sources := d.sources(near)
	if len(sources) == 0 {
		return to
	}
	s := sources[0]
	if s.light(q.Text); len(s.Lit) == 0 || slices.ContainsFunc(to, func(o Source) bool { return o.At() == s.At() || o.Quote == s.Quote }) {
		return to
	}
	return append(to, s)
}

// pin finds the sentences of passages that a model cited as a whole: those that come
// nearest to what they support.
func (d *Desk) pin(ctx context.Context, a graphrag.Answer) error {
	for i := range a.Citations {
		c := &a.Citations[i]
		chunk, ok := a.Passage(*c)
		if !ok || c.SourceEnd > 0 {
			continue
		}
		near, err := d.closest.Read(ctx, graphrag.Question{Text: a.Text[c.Start:c.End]}, []graphrag.Hit{{Chunk: chunk}}, nil)
		if err != nil {
			return err
		}
		if len(near.Citations) > 0 {
			c.SourceStart, c.SourceEnd = near.Citations[0].SourceStart, near.Citations[0].SourceEnd
		}
	}
	return nil
}

// Search finds the passages that are most like a query, best first, in the files that meet
// where.
func (d *Desk) Search(ctx context.Context, query string, k int, where *graphrag.Condition) ([]Passage, error) {
	defer d.busy()()
	found, err := d.folder.System.Retrieve(ctx, graphrag.Question{Text: query, Depth: k, Where: d.where(where)})
	if err != nil {
		return nil, err
	}
	return d.passages(found.Ranked[:min(k, len(found.Ranked))]), nil
}

// Close ends the desk. The index stays.
func (d *Desk) Close() (err error) {
	d.endIdle()
	d.endLooks()
	if d.folder != nil {
		err = d.folder.Close()
	}
	if d.parts != nil {
		err = errors.Join(err, d.parts.Close())
	}
	return errors.Join(err, d.files.Close())
}
