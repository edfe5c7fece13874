// SPDX-License-Identifier: Apache-2.0

// Command indexer is the program ask over a store that several processes share: PostgreSQL, OpenSearch,
// or a folder. An index that takes long is made by any number of workers behind a Temporal server. Every
// process may be killed at any time; started again it continues, and pays for no reply twice.
//
//	go run . -docs rows.jsonl -store postgres://… -system bm25
//	go run . -store postgres://… -system bm25 "question"
//
//	go run . -temporal HOST:7233 -store postgres://… -system hipporag2 -model NAME             # a worker: as many as you like
//	go run . -temporal HOST:7233 -store postgres://… -system hipporag2 -model NAME -docs DIR   # the job
//	go run . -store postgres://… -system hipporag2 -model NAME "question"
//
// All processes of a job have the same -system, -set, -model and -embed-model. The model's server is
// named by OPENAI_BASE_URL and OPENAI_API_KEY, or OLLAMA_HOST.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/wildgraph/wildgraph/examples/ask/program"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/index"
	"github.com/wildgraph/wildgraph/graphrag/index/temporal"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/display"
)

func main() {
	var j job
	program.Main(program.Stores{Open: open, Flags: j.flags, Share: j.share})
}

// open opens the store that -store names, read-only if reading is set.
func open(ctx context.Context, place string, reading bool) (store.Store, error) {
	switch {
	case strings.HasPrefix(place, "postgres://"), strings.HasPrefix(place, "postgresql://"):
		return postgres.Open(ctx, place, postgres.Options{})
	case strings.HasPrefix(place, "http://"), strings.HasPrefix(place, "https://"):
		return opensearch.Open(ctx, strings.Split(place, ","), opensearch.Options{})
	}
	return disk.Open(place, disk.Options{ReadOnly: reading})
}

// job says which part of a Temporal job this process takes.
type job struct {
	server, name string
	o            temporal.Options
}

func (j *job) flags(fs *flag.FlagSet) {
	fs.StringVar(&j.server, "temporal", "", "`HOST:PORT` of a Temporal server, which assigns the shares of an index to workers")
	fs.StringVar(&j.name, "job", "index", "`NAME` of the job")
	fs.IntVar(&j.o.Shares, "shares", 0, "`NUMBER` of shares of the job (default 8)")
	fs.IntVar(&j.o.Slots, "slots", 0, "`NUMBER` of shares on which this process works at a time (default 1)")
	fs.DurationVar(&j.o.Heartbeat, "heartbeat", 30*time.Second, "`TIME` after which a silent worker counts as dead")
	fs.StringVar(&j.o.Queue, "queue", "", "`NAME` of the task queue (default wildgraph)")
}

// share works on the shares of jobs until the context ends, or, with documents, on its own job until that ends.
func (j *job) share(ctx context.Context, x *index.Index, worker bool, logs io.Writer) (ended bool, err error) {
	if j.server == "" {
		return false, nil
	}
	c, err := j.dial(ctx, logs)
	if err != nil {
		return false, fmt.Errorf("-temporal: %w", err)
	}
	defer c.Close()
	w, err := temporal.NewWorker(c, x, j.o)
	if err != nil {
		return false, cli.Usage(err)
	}
	if worker {
		return true, w.Run(ctx)
	}
	working, end := context.WithCancel(ctx)
	stopped := make(chan error, 1)
	go func() { stopped <- w.Run(working) }()
	p, err := temporal.Run(ctx, c, j.name, j.o, func(p index.Progress) { fmt.Fprintln(logs, line(p)) })
	end()
	fmt.Fprintln(logs, line(p))
	return false, errors.Join(err, <-stopped)
}

// patience is the longest time to wait for a server.
const patience = time.Minute

func (j *job) dial(ctx context.Context, logs io.Writer) (c client.Client, err error) {
	o := client.Options{HostPort: j.server, Logger: log.NewStructuredLogger(cli.NewLogger(logs))}
	for begun := time.Now(); ctx.Err() == nil; time.Sleep(time.Second) {
		if c, err = client.DialContext(ctx, o); err == nil || time.Since(begun) > patience {
			return c, err
		}
	}
	return nil, ctx.Err()
}

// line returns the progress of a job as one line.
func line(p index.Progress) string {
	return fmt.Sprintf("round %d: %d of %d shares, %s replies missing before; %s calls, %s texts embedded",
		p.Round, p.Done, p.Shares, display.Digits(p.Missing), display.Digits(p.Usage.Calls), display.Digits(p.Texts))
}
