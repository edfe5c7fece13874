// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// open opens a session over one file.
func open(t *testing.T, log *strings.Builder) *Session {
	t.Helper()
	o := Options{Docs: t.TempDir(), Index: filepath.Join(t.TempDir(), "index"), K: 5}
	o.Log = cli.NewLogger(log)
	o.System, _ = all.Find("bm25")
	o.Settings.Declare(flag.NewFlagSet("", flag.ContinueOnError), io.Discard, "", o.Settings.Flags(func(string) string { return "" }, ""))
	o.Settings.Mode = "reject"
	add(t, o.Docs, "a.md", "The light is red.")
	d, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	d.checked = time.Time{}
	return d
}

func add(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A slow new file makes no question wait, not even the one that finds it: they are
// answered from the index that stands, and the new one takes its place when it is ready.
func TestRefreshSlow(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	begun, finish := make(chan bool), make(chan bool)
	d.files.Formats[".slow"] = func(_ string, data []byte) (*load.File, error) {
		close(begun)
		<-finish
		return &load.File{Document: graphrag.Document{ID: "b.slow", Text: string(data)}}, nil
	}
	add(t, d.o.Docs, "b.slow", "The owl hears a mouse.")
	for range 2 {
		if c, note := d.Refresh(t.Context()); note != notePending || c.Any() {
			t.Fatalf("%q, %+v", note, c)
		}
		if r, err := d.Ask(t.Context(), Query{Question: "What is the light?"}); err != nil || r.Refused {
			t.Errorf("%+v, %v", r, err)
		}
	}
	<-begun
	d.mu.Lock()
	running := d.running
	d.mu.Unlock()
	close(finish)
	<-running
	if c, note := d.Refresh(t.Context()); note != "" || c.Added != 1 {
		t.Errorf("%q, %+v", note, c)
	}
	if r, err := d.Ask(t.Context(), Query{Question: "What does the owl hear?"}); err != nil || r.Refused {
		t.Errorf("%+v, %v", r, err)
	}
	if n, _ := d.Files(); n != 2 {
		t.Errorf("%d files", n)
	}
}

// What is told of the files, and the suggestions, are made anew when the index changes, and once
// until then.
func TestMadeOnce(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	made := 0
	count := func(context.Context) (int, error) { made++; return made, nil }
	for range 2 {
		if n, err := once(t.Context(), d, count); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	add(t, d.o.Docs, "b.md", "A quoin is a stone at the corner of a wall.\n")
	if _, note := d.Refresh(t.Context()); note != "" {
		t.Fatal(note)
	}
	if n, err := once(t.Context(), d, count); n != 2 || err != nil {
		t.Errorf("after a change %d, %v", n, err)
	}
	if about, err := d.About(t.Context(), nil); err != nil || about["files"] != 2 {
		t.Errorf("%v, %v", about, err)
	}
	if got, err := d.Suggestions(t.Context()); err != nil || !slices.Contains(got, "What is a quoin?") {
		t.Errorf("%q, %v", got, err)
	}
}

// Files that have gone are told to whoever asks or reads the log; questions go on.
func TestRefreshGone(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	if err := os.RemoveAll(d.o.Docs); err != nil {
		t.Fatal(err)
	}
	if _, note := d.Refresh(t.Context()); !strings.HasPrefix(note, noteFailed) || !strings.Contains(log.String(), "was not updated") {
		t.Errorf("%q, %s", note, log.String())
	}
	if r, err := d.Ask(t.Context(), Query{Question: "What is the light?"}); err != nil || r.Refused {
		t.Errorf("%+v, %v", r, err)
	}
}

// Skipped files are told once by their kinds, in a line, and again when others are skipped.
func TestReport(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	for i, want := range []int{0, 1, 0, 1, 0} {
		if i == 1 || i == 3 {
			d.change.Skipped = append(d.change.Skipped, errors.New("load: b.png: another kind of file"))
		}
		lines := d.Report(false)
		if i == 3 && lines[0] != "skipped: b.png: another kind of file (and 1 .png); -v lists all" {
			t.Errorf("%q", lines)
		}
		if len(lines) != want+1 || strings.Contains(lines[len(lines)-1], "some are skipped") != (i == 2 || i == 4) {
			t.Errorf("%d: %q", i, lines)
		}
	}
	device := filepath.Join(d.Index, listedName) // a link to what has no end is not read, and nothing is written to it
	if err := errors.Join(os.Remove(device), os.Symlink("/dev/zero", device)); err != nil {
		t.Fatal(err)
	}
	d.Report(false)
	if info, err := os.Lstat(device); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is there still: %v, %v", info, err)
	}
	if lines := d.Report(true); len(lines) != 3 {
		t.Errorf("all: %q", lines)
	}
}

// Who watches has the new index ready before the next question, which does not look itself.
func TestWatch(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	ctx, end := context.WithCancel(t.Context())
	told, ended := make(chan folder.Change, 9), make(chan bool)
	go func() {
		d.Watch(ctx, func(c folder.Change) { told <- c })
		close(ended)
	}()
	add(t, d.o.Docs, "owl.md", "The barn owl hears a mouse.")
	if c := <-told; c.Added != 1 {
		t.Errorf("%+v", c)
	}
	if files, _ := d.Files(); files != 2 {
		t.Errorf("%d files", files)
	}
	end()
	<-ended
}
