// SPDX-License-Identifier: Apache-2.0

// Package session answers questions over a folder for the command line, the page and the MCP server of
// ask. The answer to a question is a [Reply], which can be shown or written as JSON.
//
// [Serve] shows a page in the browser, for this machine alone, [ServeMCP] has the tools of the Model Context Protocol.
// The page loads nothing from other servers and shows all text as text. Requests for another host name are refused
// (DNS rebinding), and so are cross-origin requests, GET included, for anything but the static files. No GET calls a
// model: a link with ?q= is asked at once only if that is free, suggestions need no model, and GET /api/source reads
// only the index. With a system that has a graph, GET /api/graph?q=QUESTION returns the facts around the names in the
// question, and POST /graph, a form with the field q, answers the question and draws the graph that led to the answer.
package session

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
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Options of a session.
type Options struct {
	// Docs is the folder or file of the documents, Index the folder of the index, "" for one in the user's
	// cache.
	Docs, Index string
	// System is the system of the registry that answers.
	System all.System
	// Settings select the models and the mode of the reader.
	Settings setup.Settings
	// K is the number of passages read for an answer; 0 means the default of the system.
	K int
	// Where, if set, limits every search to the files that meet it. A [Query] can narrow it.
	Where *graphrag.Condition
	// Incomplete permits an index of which a model failed to process more than half of the passages.
	Incomplete bool
	// Encode computes vectors that questions would need in advance, while no question is answered.
	Encode bool
	// Log receives waits and warnings. Progress is called with the number of files read so far.
	Log      *slog.Logger
	Progress func(files int)
}

// Session answers questions. It is safe for concurrent use.
type Session struct {
	Index string // folder of the index

	o       Options
	folder  *folder.Folder
	parts   *setup.Parts
	files   *cli.Files
	closest reader.Reader // finds the nearest sentences if a question is refused
	shown   string        // prefix of paths in replies
	idle    idle
	refresher
}

// Open opens the index of a folder and brings it up to date.
func Open(ctx context.Context, o Options) (d *Session, err error) {
	if indexing(o) == "" {
		o.Settings.IndexKit = kit.NameOffline // the index does not depend on the model
	}
	d = &Session{o: o, Index: o.Index, shown: shownFolder(o.Docs)}
	d.made = memo.With(context.Background())
	if d.Index == "" {
		if d.Index, err = folder.UserIndex(o.Docs, indexName(o)); err != nil {
			return nil, err
		}
	}
	o.Settings.Out = d.Index
	if d.closest, err = reader.Extractive(reader.ExtractiveOptions{Mode: reader.Open}); err != nil {
		return nil, err
	}
	d.files = cli.NewFiles()
	if d.parts, err = setup.NewParts(ctx, o.Settings, o.Log); err == nil {
		err = d.parts.Absent
	}
	if err == nil {
		err = d.open(ctx)
	}
	if err == nil && !o.Incomplete {
		if most := d.lost(refusedAbove); len(most) > 0 {
			err = fmt.Errorf("the replies of the model could not be used: %s, so most of the index in %s is missing: use a larger -model, or -incomplete to answer from the rest", strings.Join(most, ", "), d.Index)
		}
	}
	if err == nil {
		_, err = d.folder.System.GraphFor(ctx, o.Where) // fails if the condition has an unknown field
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Session) open(ctx context.Context) (err error) {
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

// indexName returns the name of the index in the user's cache. It depends on system and model.
func indexName(o Options) string {
	name := record.FileName(o.System.Name)
	for _, model := range []string{indexing(o), o.Settings.EmbedModel, o.Settings.NameModel} {
		if model != "" {
			name += "-" + notInName.ReplaceAllString(filepath.Base(model), "-")
		}
	}
	if c := o.System.Changes(); len(c) > 0 {
		name += "-" + record.Digest(fmt.Sprint(c))[:8]
	}
	return name
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// indexing returns the model on which the index depends, "" if it depends on none.
func indexing(o Options) string {
	if c := o.System.Calls; o.Settings.IndexKit != kit.NameModel || c.Chunk+c.Once == 0 {
		return ""
	}
	return o.Settings.Model
}

// settings describes all that the index depends on, except for the system.
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
		out += fmt.Sprintf(", %v", c) // sorted by the options' names
	}
	return out
}

// shownFolder returns the beginning of paths for a terminal: relative to the current folder if that is shorter.
func shownFolder(docs string) string {
	if info, err := os.Stat(docs); err == nil && !info.IsDir() {
		docs = filepath.Dir(docs)
	}
	wd, err := os.Getwd()
	path, err2 := filepath.Abs(docs)
	if errors.Join(err, err2) != nil {
		return docs
	}
	if relative, err := filepath.Rel(wd, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}

// Name returns the name of the system.
func (d *Session) Name() string { return d.o.System.Name }

// Docs returns the folder as given, as one printable line.
func (d *Session) Docs() string { return display.OneLine(d.o.Docs) }

// Title returns the name of the folder, as one printable line.
func (d *Session) Title() string {
	path, err := filepath.Abs(d.o.Docs)
	if err != nil {
		return d.Docs()
	}
	return display.OneLine(filepath.Base(path))
}

// Query is a question with the questions and answers before it.
type Query struct {
	Question string   `json:"question"`
	Before   []string `json:"before,omitempty"` // earlier questions, the oldest first
	// Answers are the answers to Before, "" for a refusal. There may be fewer.
	Answers []string `json:"answers,omitempty"`
	// Where limits the search to the files that meet it, such as folder = "notes".
	Where *graphrag.Condition `json:"where,omitempty"`
}

// where returns a condition joined with the condition of the session.
func (d *Session) where(c *graphrag.Condition) *graphrag.Condition {
	if c == nil || d.o.Where == nil {
		return cmp.Or(c, d.o.Where)
	}
	both := graphrag.And(*d.o.Where, *c)
	return &both
}

// Ask answers a question.
func (d *Session) Ask(ctx context.Context, q Query) (r Reply, err error) {
	for r, err = range d.Stream(ctx, q) {
	}
	return r, err
}

// Stream answers a question. Each reply has a longer beginning of the answer; the last reply is complete.
func (d *Session) Stream(ctx context.Context, q Query) iter.Seq2[Reply, error] {
	return func(yield func(Reply, error) bool) {
		defer d.busy()()
		readAs := serve.InContext(q.Question, q.Before, q.Answers)
		question := graphrag.Question{Text: readAs, K: d.o.K, Where: d.where(q.Where)}
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
		if readAs != q.Question {
			r.ReadAs = readAs
		}
		yield(r, err)
	}
}

// Refusal is the answer to a question that the files do not answer.
const Refusal = "The files do not say."

// reply makes the complete reply from an answer.
func (d *Session) reply(ctx context.Context, q graphrag.Question, a graphrag.Answer) (Reply, error) {
	const closestPassages = 3 // number of passages shown with a refusal
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
	for i := 0; i < len(a.Evidence) && len(r.Closest) < closestPassages; i++ {
		if near, err = d.closest.Read(ctx, q, a.Evidence[i:i+1], nil); err != nil {
			return r, err
		}
		r.Closest = d.nearest(r.Closest, near, q)
	}
	return r, nil
}

// nearest appends the first source of an answer, unless the list has it or it shares no word with the question.
func (d *Session) nearest(to []Source, near graphrag.Answer, q graphrag.Question) []Source {
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

// pin narrows citations of whole passages to the sentences nearest to the text that they support.
func (d *Session) pin(ctx context.Context, a graphrag.Answer) error {
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

// Search returns the passages most similar to a query, best first, from the files that meet where.
func (d *Session) Search(ctx context.Context, query string, k int, where *graphrag.Condition) ([]Passage, error) {
	defer d.busy()()
	found, err := d.folder.System.Retrieve(ctx, graphrag.Question{Text: query, Depth: k, Where: d.where(where)})
	if err != nil {
		return nil, err
	}
	return d.passages(found.Ranked[:min(k, len(found.Ranked))]), nil
}

// Close releases the session. The index stays on disk.
func (d *Session) Close() (err error) {
	d.endIdle()
	d.endRefresh()
	if d.folder != nil {
		err = d.folder.Close()
	}
	if d.parts != nil {
		err = errors.Join(err, d.parts.Close())
	}
	return errors.Join(err, d.files.Close())
}

// System returns the folder as a system for package serve. It refreshes the index before each question and
// applies the condition of the session. Its documents are the files.
func (d *Session) System() graphrag.System { return deskSystem{d.folder.System, d} }

// K returns the number of passages read for an answer, 0 for the default of the system.
func (d *Session) K() int { return d.o.K }

// At returns the place of a citation in a form that a terminal can open.
func (d *Session) At(a graphrag.Answer, c graphrag.Citation) string {
	a.Citations = []graphrag.Citation{c}
	if sources := d.sources(a); len(sources) > 0 {
		return sources[0].At()
	}
	chunk, _ := a.Passage(c)
	return chunk.Doc
}

type deskSystem struct {
	*kit.System
	d *Session
}

// Retrieve implements [graphrag.Retriever].
func (a deskSystem) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	a.d.Refresh(ctx)
	defer a.d.busy()()
	q.Where = a.d.where(q.Where)
	return a.System.Retrieve(ctx, q)
}

// Answer implements [graphrag.System].
func (a deskSystem) Answer(ctx context.Context, q graphrag.Question) (last graphrag.Answer, err error) {
	for last, err = range a.Stream(ctx, q) {
	}
	return last, err
}

// Stream implements [graphrag.Streamer].
func (a deskSystem) Stream(ctx context.Context, q graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	return func(yield func(graphrag.Answer, error) bool) {
		a.d.Refresh(ctx)
		defer a.d.busy()()
		q.Where = a.d.where(q.Where)
		a.System.Stream(ctx, q)(yield)
	}
}

// List returns the names of the files that meet the condition of the session.
func (a deskSystem) List(context.Context) ([]string, error) { return a.d.list(a.d.o.Where), nil }
