// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Answers are what a server says to batches, one after the other, the last again and again,
// and what it was sent.
type Answers struct {
	List []http.HandlerFunc
	Sent []string
}

// Next answers a batch.
func (a *Answers) Next(w http.ResponseWriter, r *http.Request, body []byte) {
	a.Sent = append(a.Sent, string(body))
	a.List[min(len(a.Sent), len(a.List))-1](w, r)
}

// Cut ends a connection in the middle of the answer.
func Cut(w http.ResponseWriter, _ *http.Request) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\"")
		_ = c.Close()
	}
}

// Says is an answer of a status.
func Says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func busy(after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// Batch is what a server answers to a batch, and what comes of it.
type Batch struct {
	Name    string
	Answers []http.HandlerFunc
	Wait    time.Duration // of the store
	Want    error         // Throttled is any *store.ThrottledError
	Sent    int           // how often the batch is sent; 0 is once
}

// Throttled is a Want.
var Throttled error = &store.ThrottledError{}

// Batches holds a store over HTTP to errors with names, and to send again what may help: done is
// what its server says when all went well, own are the cases of its engine. open begins a
// store of that Wait, with a table "chunks" of words and two components.
func Batches(t *testing.T, done http.HandlerFunc, open func(t *testing.T, wait time.Duration) (store.Collection, *Answers), own ...Batch) {
	for _, x := range append([]Batch{
		{Name: "cut", Answers: []http.HandlerFunc{Cut, done}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "cut, again", Answers: []http.HandlerFunc{Cut, done}, Sent: 2},
		{Name: "throttled", Answers: []http.HandlerFunc{busy("0.02"), done}, Sent: 2},
		{Name: "throttled for long", Answers: []http.HandlerFunc{busy("30"), done}, Want: Throttled},
		{Name: "unknown", Answers: []http.HandlerFunc{Says(http.StatusUnauthorized, "")}, Want: store.ErrDenied},
		{Name: "another server", Answers: []http.HandlerFunc{Says(http.StatusOK, "<html>")}, Want: store.ErrMismatch},
	}, own...) {
		t.Run(x.Name, func(t *testing.T) {
			c, answers := open(t, x.Wait)
			answers.List = x.Answers
			g, err := c.Write(t.Context(), "first")
			must(t, err)
			defer g.Close()
			table, err := g.Table("chunks")
			must(t, err)
			start := time.Now()
			err = table.Put(t.Context(), store.Record{ID: "a", Text: "a zeppelin", Vector: []float32{1, 0}})
			var asked *store.ThrottledError
			if x.Want == Throttled && !errors.As(err, &asked) || x.Want != Throttled && !errors.Is(err, x.Want) {
				t.Errorf("%v, want %v", err, x.Want)
			}
			if sent := answers.Sent; len(sent) != max(x.Sent, 1) || sent[0] != sent[len(sent)-1] {
				t.Errorf("%d batches were sent, want %d that are equal", len(sent), max(x.Sent, 1))
			}
			if x.Name == "throttled" && time.Since(start) < 20*time.Millisecond {
				t.Error("it did not wait for as long as it was asked to")
			}
		})
	}
}
