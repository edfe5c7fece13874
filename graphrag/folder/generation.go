// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Names of files and folders in an index. The file currentName names the current generation.
const (
	currentName  = "current"
	manifestName = "manifest.json"
	parsedName   = "parsed"
	prefix       = "generation-"
	version      = 7
	// abandoned is the age after which an unpublished generation is removed.
	abandoned = time.Hour
)

// entry describes a file of the folder.
type entry struct {
	Name string `json:"name"`
	Hash string `json:"hash"` // SHA-256 of the file's content
	// Offset, Size and Sum are the position, length and checksum of the parsed form in the file parsedName.
	Offset int64  `json:"offset,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Sum    uint32 `json:"sum,omitempty"`
	// Failed is the reason why the file could not be read, "" if it could.
	Failed string `json:"failed,omitempty"`
	// Problem is the text of [load.File.Problem].
	Problem string `json:"problem,omitempty"`
}

// manifest lists the files of a generation.
type manifest struct {
	Version  int     `json:"version"`
	Settings string  `json:"settings"`
	Parsed   int64   `json:"parsed"` // length of the file parsedName in bytes
	Files    []entry `json:"files"`
}

// generation is an open version of the index.
type generation struct {
	manifest
	dir    string
	parsed *os.File
	byName map[string]int
}

// current opens the current generation. It returns nil and the reason if that is unusable, and nil without a
// reason if there is none.
func current(index, settings string) (*generation, string) {
	for try := 0; ; try++ {
		name, err := os.ReadFile(filepath.Join(index, currentName))
		if errors.Is(err, os.ErrNotExist) {
			return nil, ""
		}
		var g *generation
		if err == nil {
			g, err = openGeneration(filepath.Join(index, filepath.Base(strings.TrimSpace(string(name)))))
		}
		switch {
		case errors.Is(err, os.ErrNotExist) && try < 5: // another process has replaced the generation meanwhile
			continue
		case err != nil:
			return nil, err.Error()
		case g.Version != version:
			return nil, errors.Join(fmt.Errorf("the index has version %d, this program needs %d", g.Version, version), g.close()).Error()
		case g.Settings != settings:
			return nil, errors.Join(fmt.Errorf("the index was made with other settings: %s, not %s", g.Settings, settings), g.close()).Error()
		}
		return g, ""
	}
}

func openGeneration(dir string) (*generation, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return nil, err
	}
	g := &generation{dir: dir, byName: make(map[string]int)}
	if err := json.Unmarshal(data, &g.manifest); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON: %w", manifestName, err)
	}
	for i, e := range g.Files {
		g.byName[e.Name] = i
	}
	if g.parsed, err = os.Open(filepath.Join(dir, parsedName)); err != nil {
		return nil, err
	}
	if info, err := g.parsed.Stat(); err != nil || info.Size() != g.Parsed {
		return nil, errors.Join(fmt.Errorf("%s was cut off or extended", parsedName), err, g.close())
	}
	for _, e := range g.Files { // check all now, so that no question fails later because of damage
		if _, err := g.raw(e); err != nil && e.Failed == "" {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

func (g *generation) close() error {
	if g == nil {
		return nil
	}
	return g.parsed.Close()
}

// raw returns the stored bytes of a parsed file.
func (g *generation) raw(e entry) ([]byte, error) {
	data := make([]byte, e.Size)
	if _, err := g.parsed.ReadAt(data, e.Offset); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(data) != e.Sum {
		return nil, fmt.Errorf("folder: %s: the index is damaged: remove %s", e.Name, g.dir)
	}
	return data, nil
}

func (g *generation) file(name string) (*load.File, error) {
	i, ok := g.byName[name]
	if !ok || g.Files[i].Failed != "" {
		return nil, fmt.Errorf("folder: the index has no file %s", name)
	}
	data, err := g.raw(g.Files[i])
	if err != nil {
		return nil, err
	}
	f := new(load.File)
	return f, f.UnmarshalBinary(data)
}

// draft is the next generation: the entries of all files, in the order of their names, and the parsed forms of
// new and changed files.
type draft struct {
	old            *generation
	index          string
	entries        []entry
	fresh          map[string]*load.File
	seen           map[string]bool
	added, changed int
	failures       bool // a file failed that did not fail in this form before
}

func newDraft(old *generation, index string) *draft {
	return &draft{old: old, index: index, fresh: make(map[string]*load.File), seen: make(map[string]bool)}
}

// before returns the entry of a file in the previous generation.
func (d *draft) before(name string) entry {
	if d.old != nil {
		if i, ok := d.old.byName[name]; ok {
			return d.old.Files[i]
		}
	}
	return entry{Failed: "there was none"}
}

// keep adds an unchanged file. It returns the error of its earlier reading, if any.
func (d *draft) keep(e entry) error {
	d.entries = append(d.entries, e)
	if e.Failed != "" {
		return errors.New(e.Failed)
	}
	d.seen[e.Name] = true
	if e.Problem != "" {
		return errors.New(e.Problem)
	}
	return nil
}

// add adds a new or changed file.
func (d *draft) add(e entry, f *load.File) {
	if d.before(e.Name).Failed == "" {
		d.changed++
	} else {
		d.added++
	}
	d.entries, d.seen[e.Name], d.fresh[e.Name] = append(d.entries, e), true, f
}

// deleted returns the names of the documents that no longer exist.
func (d *draft) deleted() (names []string) {
	if d.old == nil {
		return nil
	}
	for _, e := range d.old.Files {
		if e.Failed == "" && !d.seen[e.Name] {
			names = append(names, e.Name)
		}
	}
	return names
}

// documents yields the documents of new and changed files, or of all files.
func (d *draft) documents(all bool) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		for _, e := range d.entries {
			f, err := d.fresh[e.Name], error(nil)
			if f == nil && (!all || e.Failed != "") {
				continue
			}
			if f == nil {
				f, err = d.old.file(e.Name)
			}
			if err != nil {
				yield(graphrag.Document{}, err)
				return
			}
			if !yield(f.Document, nil) {
				return
			}
		}
	}
}

// publish writes the generation to a new folder and makes it the current one.
func (d *draft) publish(ctx context.Context, s *kit.System, settings string) (*generation, error) {
	dir, err := os.MkdirTemp(d.index, prefix)
	if err != nil {
		return nil, err
	}
	g, err := d.write(ctx, dir, s, settings)
	name := filepath.Join(d.index, currentName)
	if info, e := os.Lstat(name); err == nil && e == nil && info.IsDir() { // a folder has the name of the file
		if err = os.Remove(name); err != nil {
			err = fmt.Errorf("%w: move the folder away", err)
		}
	}
	if err == nil {
		err = journal.WriteFile(name, func(w io.Writer) error {
			_, err := io.WriteString(w, filepath.Base(dir)+"\n")
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(err, g.close(), os.RemoveAll(dir))
	}
	sweep(d.index, filepath.Base(dir))
	return g, nil
}

func (d *draft) write(ctx context.Context, dir string, s *kit.System, settings string) (*generation, error) {
	m := manifest{Version: version, Settings: settings, Files: slices.Clone(d.entries)}
	err := journal.WriteFile(filepath.Join(dir, parsedName), func(w io.Writer) error {
		for i := range m.Files {
			e := &m.Files[i]
			if e.Failed != "" {
				continue
			}
			data, err := d.parsed(*e)
			if err != nil {
				return err
			}
			e.Offset, e.Size, e.Sum = m.Parsed, int64(len(data)), crc32.ChecksumIEEE(data)
			m.Parsed += e.Size
			if _, err := w.Write(data); err != nil {
				return errors.Join(err, ctx.Err())
			}
		}
		return ctx.Err()
	})
	if err == nil {
		err = s.Save(ctx, dir)
	}
	if err == nil {
		err = journal.WriteFile(filepath.Join(dir, manifestName), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
	}
	if err != nil {
		return nil, err
	}
	return openGeneration(dir)
}

func (d *draft) parsed(e entry) ([]byte, error) {
	if f := d.fresh[e.Name]; f != nil {
		return f.MarshalBinary()
	}
	return d.old.raw(e)
}

// sweep removes what killed processes left in the index.
func sweep(index, keep string) {
	left, err := os.ReadDir(index)
	if err != nil {
		return
	}
	for _, l := range left {
		info, err := l.Info()
		temp, _ := filepath.Match(journal.TempPattern, l.Name())
		if err == nil && l.Name() != keep && (temp || strings.HasPrefix(l.Name(), prefix)) && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(index, l.Name()))
		}
	}
}
