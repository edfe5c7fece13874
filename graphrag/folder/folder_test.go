// SPDX-License-Identifier: Apache-2.0

package folder_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
)

// sparse is BM25 over chunks, read from files.
func sparse(files *folder.Files) (*kit.System, error) {
	k, err := kit.Offline(kit.OfflineOptions{Mode: reader.Reject})
	if err != nil {
		return nil, err
	}
	k.Read = files.Reader(k.Read, true)
	return kit.New(kit.Frame{Name: "sparse", Kit: k, Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
	}})
}

// home is a folder, with the options to open it.
type home struct {
	testing.TB
	folder.Options
}

func newHome(t testing.TB, files ...string) home {
	t.Helper()
	h := home{t, folder.Options{Docs: t.TempDir(), Index: filepath.Join(t.TempDir(), "index")}}
	for i := 0; i < len(files); i += 2 {
		h.write(files[i], files[i+1])
	}
	return h
}

func (h home) write(name, data string) {
	h.Helper()
	check.OK(h, os.MkdirAll(filepath.Dir(filepath.Join(h.Docs, name)), 0o755))
	check.OK(h, os.WriteFile(filepath.Join(h.Docs, name), []byte(data), 0o644))
}

func (h home) open() (*folder.Folder, folder.Change) {
	h.Helper()
	f, c, err := h.try()
	check.OK(h, err)
	h.Cleanup(func() { _ = f.Close() })
	return f, c
}

// try opens the folder with a system of the caller.
func (h home) try() (_ *folder.Folder, _ folder.Change, err error) {
	h.Files = new(folder.Files)
	if h.System, err = sparse(h.Files); err != nil {
		return nil, folder.Change{}, err
	}
	return folder.Open(context.Background(), h.Options)
}

func (h home) ask(f *folder.Folder, question string) (string, []folder.Source) {
	h.Helper()
	a := check.Of(f.System.Answer(context.Background(), graphrag.Question{Text: question, K: 5})).OK(h)
	return a.Text, f.Sources(a)
}

// short returns a change without the skipped files and the statistics.
func short(c folder.Change) string {
	return fmt.Sprintf("%d files +%d ~%d -%d", c.Files, c.Added, c.Changed, c.Deleted)
}

func TestRefresh(t *testing.T) {
	h := newHome(t, "owl.md", "# Owls\n\nThe barn owl hunts\nby ear.\n", "sub/lights.csv", "light,meaning\nred,no internet\n", "bad.txt", "\x81\xef\x81")
	f, c := h.open()
	if short(c) != "3 files +2 ~0 -0" || len(c.Skipped) != 1 || !strings.Contains(c.Skipped[0].Error(), "bad.txt") || c.Rebuilt != "" {
		t.Errorf("first: %s %v %q", short(c), c.Skipped, c.Rebuilt)
	}
	answer, sources := h.ask(f, "How does the barn owl hunt?")
	check.True(t, answer == "The barn owl hunts by ear." && len(sources) == 1 && sources[0].Doc == "owl.md" &&
		sources[0].Place == "3" && sources[0].Quote == answer, "%q %+v", answer, sources)
	_, sources = h.ask(f, "What does the red light mean?")
	check.True(t, len(sources) == 1 && sources[0].Doc == "sub/lights.csv" && sources[0].Place == "2", "the row: %+v", sources)
	if c, err := f.Refresh(t.Context()); err != nil || c.Any() {
		t.Errorf("nothing changed: %+v, %v", c, err)
	}
	// Changed, renamed and touched files, and no change at all.
	h.write("owl.md", "# Owls\n\nText.\n\nThe barn owl hunts by sight.\n")
	check.OK(t, os.Rename(filepath.Join(h.Docs, "sub/lights.csv"), filepath.Join(h.Docs, "lamps.csv")))
	for _, again := range []bool{false, true} {
		if again { // opens the index as a new process does
			f.Close()
			f, c = h.open()
			check.True(t, !c.Any() && len(c.Skipped) == 1, "second start: %+v", c)
		} else if c, err := f.Refresh(t.Context()); err != nil || short(c) != "3 files +1 ~1 -1" {
			t.Errorf("after changes: %s, %v", short(c), err)
		}
		answer, sources := h.ask(f, "How does the barn owl hunt?")
		check.True(t, answer == "The barn owl hunts by sight." && len(sources) == 1 && sources[0].Place == "5", "%q %+v", answer, sources)
		_, sources = h.ask(f, "What does the red light mean?")
		check.True(t, len(sources) == 1 && sources[0].Doc == "lamps.csv", "the row: %+v", sources)
	}
	// Changes made between two processes are indexed in one build.
	f.Close()
	h.write("new.txt", "The harbour closes at noon.\n")
	check.OK(t, os.Remove(filepath.Join(h.Docs, "lamps.csv")))
	f, c = h.open()
	answer, _ = h.ask(f, "When does the harbour close?")
	check.True(t, short(c) == "3 files +1 ~0 -1" && answer == "The harbour closes at noon.", "%s, %q", short(c), answer)
	left, err := os.ReadDir(h.Index)
	check.True(t, err == nil && len(left) == 2, "the index holds %v, %v", left, err)
}

// Files have their modification time as a field, whatever their front matter says; a changed time alone does
// not change the index.
func TestTimes(t *testing.T) {
	h := newHome(t, "a.md", "The owl hunts by ear.\n", "b.md", "---\nmodified: 2001-02-03\n---\n\nThe owl hunts by night.\n")
	date := func(name string, year int) {
		at := time.Date(year, 5, 1, 12, 0, 0, 0, time.UTC)
		check.OK(t, os.Chtimes(filepath.Join(h.Docs, name), at, at))
	}
	date("a.md", 2020)
	date("b.md", 2020)
	f, _ := h.open()
	found := func(where string) (ids []string) {
		c := check.Of(graphrag.ParseCondition(where)).OK(t)
		of := check.Of(f.System.Retrieve(t.Context(), graphrag.Question{Text: "owl", K: 5, Where: &c})).OK(t)
		for _, h := range of.Ranked {
			ids = append(ids, h.Chunk.Doc)
		}
		return ids
	}
	a, b := found("modified >= 2020-01-01 and modified < 2020-06-01"), found("modified < 2020-01-01")
	check.Equal(t, fmt.Sprint(a, b), "[a.md b.md] []", "found %v and %v", a, b)
	date("a.md", 2024)
	c, err := f.Refresh(t.Context())
	check.True(t, err == nil && !c.Any() && len(found("modified < 2021-01-01")) == 2, "another time: %+v, %v", c, err)
	h.write("a.md", "The owl hunts by sight.\n")
	date("a.md", 2024)
	c, err = f.Refresh(t.Context())
	check.True(t, err == nil && c.Changed == 1 && len(found("modified > 2024-01-01")) == 1, "another content: %+v, %v", c, err)
}

// An index that cannot be used is built again, and the reason is given.
func TestRebuilt(t *testing.T) {
	damage := func(pattern string, change func(data []byte) []byte) func(h home) {
		return func(h home) {
			names, err := filepath.Glob(filepath.Join(h.Index, pattern))
			if err != nil || len(names) != 1 {
				h.Fatal(names, err)
			}
			data, err := os.ReadFile(names[0])
			if err == nil {
				err = os.WriteFile(names[0], change(data), 0o600)
			}
			check.OK(h, err)
		}
	}
	half := func(data []byte) []byte { return data[:len(data)/2] }
	for name, tt := range map[string]struct {
		do   func(h home)
		want string
	}{
		"a folder": {func(h home) {
			name := filepath.Join(h.Index, "current")
			check.OK(h, errors.Join(os.Remove(name), os.Mkdir(name, 0o700)))
		}, "current"},
		"half a manifest":   {damage("g*/manifest.json", half), "manifest.json"},
		"zeros in the rest": {damage("g*/parsed", func(data []byte) []byte { return append(data[:len(data)-8:len(data)-8], make([]byte, 8)...) }), "owl.md: the index is damaged"},
		"half of the rest":  {damage("g*/parsed", half), "parsed"},
		"a broken system":   {damage("g*/system.wildgraph", half), "a line cannot be read"},
		"another version": {damage("g*/manifest.json", func(data []byte) []byte {
			return []byte(strings.Replace(string(data), `"version":7`, `"version":8`, 1))
		}), "version 8"},
		"no generation": {damage("current", func([]byte) []byte { return []byte("generation-gone\n") }), "generation-gone"},
		"a path":        {damage("current", func([]byte) []byte { return []byte("../../etc\n") }), "etc"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "owl.md", "The barn owl hunts by ear.\n")
			f, _ := h.open()
			f.Close()
			tt.do(h)
			f, c := h.open()
			answer, _ := h.ask(f, "How does the barn owl hunt?")
			check.True(t, strings.Contains(c.Rebuilt, tt.want) && answer == "The barn owl hunts by ear.", "rebuilt %q, answer %q", c.Rebuilt, answer)
			f.Close()
			_, c = h.open()
			check.True(t, !c.Any(), "and again: %+v", c)
		})
	}
	h := newHome(t, "owl.md", "The barn owl hunts by ear.\n")
	f, _ := h.open()
	f.Close()
	h.Settings = "another embedder"
	_, c := h.open()
	check.Contains(t, c.Rebuilt, "another embedder", "other settings")
}

// Questions are answered while the files change.
func TestAskedWhileChanging(t *testing.T) {
	h := newHome(t, "fixed.md", "The barn owl hunts by ear.\n", "moving.md", "x\n")
	f, _ := h.open()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 60 {
				a, err := f.System.Answer(t.Context(), graphrag.Question{Text: "How does the barn owl hunt?", K: 5})
				if sources := f.Sources(a); err != nil || len(sources) != 1 || sources[0].Quote != "The barn owl hunts by ear." {
					t.Errorf("%+v, %v", sources, err)
				}
			}
		})
	}
	for i := range 10 {
		h.write("moving.md", fmt.Sprintf("Line.\n\nThe harbour has %d berths.\n", i))
		c, err := f.Refresh(t.Context())
		check.True(t, err == nil && c.Changed == 1, "%+v, %v", c, err)
	}
	wg.Wait()
}

// Processes may share an index: each keeps its own list of files, whichever process wrote the index last.
func TestShared(t *testing.T) {
	h := newHome(t, "fixed.md", "The barn owl hunts by ear.\n", "moving.md", "x\n")
	h.open()
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			for i := range 8 {
				h.write(fmt.Sprintf("own%d.md", n), fmt.Sprintf("The harbour of town %d has %d berths.\n", n, i))
				f, c, err := h.try()
				if err != nil || c.Rebuilt != "" {
					t.Errorf("%+v, %v", c, err)
					return
				}
				if answer, sources := h.ask(f, "How does the barn owl hunt?"); answer != "The barn owl hunts by ear." || len(sources) != 1 || sources[0].Quote != answer {
					t.Errorf("%q %+v", answer, sources)
				}
				f.Close()
			}
		})
	}
	wg.Wait()
}

func TestErrors(t *testing.T) {
	h := newHome(t)
	_, _, err := h.try()
	check.Fails(t, err, "no file that can be read", "an empty folder")
	inside := h
	link := filepath.Join(t.TempDir(), "link")
	check.OK(t, os.Symlink(h.Docs, link))
	for _, index := range []string{h.Docs, filepath.Join(h.Docs, "index"), link, filepath.Join(link, "not", "yet")} {
		inside.Index = index
		_, _, err := inside.try()
		check.Fails(t, err, "is among the files", "an index in %s", index)
	}
	h.Docs = filepath.Join(h.Docs, "none")
	_, _, err = h.try()
	check.Fails(t, err, "none", "no folder")
	a, err1 := folder.UserIndex(".", "wild")
	b, err2 := folder.UserIndex("..", "wild")
	check.True(t, err1 == nil && err2 == nil && a != b && strings.Contains(filepath.Base(a), "folder-"), "%s %s %v %v", a, b, err1, err2)
}

// A folder is read once, and changed files again. sparse makes a system whose kit reads the files through
// [Files.Reader].
func Example() {
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	notes := filepath.Join(dir, "lights.md")
	if err := os.WriteFile(notes, []byte("# Lights\n\n| Light | Meaning |\n|---|---|\n| red | no internet |\n"), 0o600); err != nil {
		panic(err)
	}
	ctx := context.Background()
	files := new(folder.Files)
	system, err := sparse(files)
	if err != nil {
		panic(err)
	}
	f, change, err := folder.Open(ctx, folder.Options{Docs: dir, Index: filepath.Join(dir, ".index"), System: system, Files: files})
	if err != nil {
		panic(err)
	}
	defer f.Close()
	a, err := system.Answer(ctx, graphrag.Question{Text: "What does the red light mean?", K: 5})
	if err != nil {
		panic(err)
	}
	for _, s := range files.Sources(a) {
		fmt.Println(change.Added, s.Doc+":"+s.Place, s.Quote)
	}
	// Output: 1 lights.md:5 red | no internet
}
