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
	"github.com/wildgraph/wildgraph/internal/check"
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
	d := check.Of(Open(t.Context(), o)).OK(t)
	t.Cleanup(func() { check.OK(t, d.Close()) })
	d.checked = time.Time{}
	return d
}

func add(t *testing.T, dir, name, text string) {
	t.Helper()
	check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// A slow new file delays no question, not even the one that notices it: they are answered from the present
// index, and the new one replaces it when it is ready.
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
		c, note := d.Refresh(t.Context())
		check.Must(t, note == notePending && !c.Any(), "%q, %+v", note, c)
		r, err := d.Ask(t.Context(), Query{Question: "What is the light?"})
		check.True(t, err == nil && !r.Refused, "%+v, %v", r, err)
	}
	<-begun
	time.AfterFunc(2*grace, func() { close(finish) }) // Watch waits for the end, however long it takes
	c, note := d.refreshed(t.Context(), nil)
	check.True(t, note == "" && c.Added == 1, "%q, %+v", note, c)
	r, err := d.Ask(t.Context(), Query{Question: "What does the owl hear?"})
	check.True(t, err == nil && !r.Refused, "%+v, %v", r, err)
	n, _ := d.Files()
	check.Equal(t, n, 2, "files")
}

// The description of the files, and the suggestions, are computed again when the index changes, and only once
// in between.
func TestMadeOnce(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	made := 0
	count := func(context.Context) (int, error) { made++; return made, nil }
	for range 2 {
		n, err := once(t.Context(), d, count)
		check.True(t, n == 1 && err == nil, "%d, %v", n, err)
	}
	add(t, d.o.Docs, "b.md", "A quoin is a stone at the corner of a wall.\n")
	_, note := d.Refresh(t.Context())
	check.Must(t, note == "", "%v", note)
	n, err := once(t.Context(), d, count)
	check.True(t, n == 2 && err == nil, "after a change %d, %v", n, err)
	about, err := d.About(t.Context(), nil)
	check.True(t, err == nil && about["files"] == 2, "%v, %v", about, err)
	got, err := d.Suggestions(t.Context())
	check.True(t, err == nil && slices.Contains(got, "What is a quoin?"), "%q, %v", got, err)
}

// Missing files are reported to callers and in the log; questions are still answered.
func TestRefreshGone(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	check.OK(t, os.RemoveAll(d.o.Docs))
	_, note := d.Refresh(t.Context())
	check.True(t, strings.HasPrefix(note, noteFailed) && strings.Contains(log.String(), "was not updated"), "%q, %s", note, log.String())
	r, err := d.Ask(t.Context(), Query{Question: "What is the light?"})
	check.True(t, err == nil && !r.Refused, "%+v, %v", r, err)
}

// Skipped files are reported once, by their kinds, in one line, and again when other files are skipped.
func TestReport(t *testing.T) {
	var log strings.Builder
	d := open(t, &log)
	for i, want := range []int{0, 1, 0, 1, 0} {
		if i == 1 || i == 3 {
			d.change.Skipped = append(d.change.Skipped, errors.New("load: b.png: unsupported kind of file"))
		}
		lines := d.Report(false)
		check.True(t, i != 3 || lines[0] == "skipped: b.png: unsupported kind of file (and 1 .png); -v lists all", "%q", lines)
		check.True(t, len(lines) == want+1 && strings.Contains(lines[len(lines)-1], "some are skipped") == (i == 2 || i == 4), "%d: %q", i, lines)
	}
	device := filepath.Join(d.Index, listedName) // a link to a device without end is neither read nor written to
	check.OK(t, errors.Join(os.Remove(device), os.Symlink("/dev/zero", device)))
	d.Report(false)
	info, err := os.Lstat(device)
	check.True(t, err == nil && info.Mode().IsRegular(), "the link is there still: %v, %v", info, err)
	lines := d.Report(true)
	check.Equal(t, len(lines), 3, "all: %q", lines)
}

// With Watch the new index is ready before the next question, which does not look for changes.
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
	c := <-told
	check.Equal(t, c.Added, 1, "%+v", c)
	files, _ := d.Files()
	check.Equal(t, files, 2, "files")
	end()
	<-ended
}
