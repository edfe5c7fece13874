// SPDX-License-Identifier: Apache-2.0

package folder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// Options say what is indexed, where, and by which system.
type Options struct {
	// Docs is the folder of files, Index the folder of their index, which is made; see
	// [UserIndex]. One index is of one Docs and one system.
	Docs, Index string
	// New makes the system, whose kit reads through [Folder.Reader].
	New func(f *Folder) (*kit.System, error)
	// Settings name what decides the index beside the system, such as the model that
	// embeds: with others the index is made anew.
	Settings string
	// Load says what files are read.
	Load load.Options
	// Progress is told of how many files have been read, and at the end of reading 0; nil
	// tells nobody.
	Progress func(files int)
}

// Folder is a folder of files with its index. It is safe for concurrent use.
type Folder struct {
	System *kit.System

	o       Options
	docs    fs.FS
	writing sync.Mutex // held while the index changes
	now     atomic.Pointer[generation]
}

// Change is what a refresh found.
type Change struct {
	// Files are how many there are now; Added, Changed and Deleted since the index was
	// made. A renamed file is one that was deleted and one that was added.
	Files, Added, Changed, Deleted int
	// Skipped says which files are not read, and why.
	Skipped []error
	// Rebuilt is why the whole index was made anew, "" if it was not; a first index is
	// none made anew.
	Rebuilt string
	Stats   graphrag.IndexStats
}

// Any tells whether the index changed.
func (c Change) Any() bool { return c.Added+c.Changed+c.Deleted > 0 || c.Rebuilt != "" }

// UserIndex is where programs keep the index of a folder: in the user's cache folder,
// under a name made of the folder's absolute path and the kind of the index.
func UserIndex(docs, kind string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder: %w", err)
	}
	path, err := filepath.Abs(docs)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("folder: %w", err)
	}
	digest := sha256.Sum256([]byte(path))
	return filepath.Join(cache, "wildgraph", "folders", filepath.Base(path)+"-"+hex.EncodeToString(digest[:6])+"-"+kind), nil
}

// Open opens the index of a folder and brings it up to date. The error is about the
// folder or the index; files that cannot be read are in [Change.Skipped].
func Open(ctx context.Context, o Options) (*Folder, Change, error) {
	fail := func(err error) (*Folder, Change, error) {
		return nil, Change{}, fmt.Errorf("folder: %w", err)
	}
	root, err := os.OpenRoot(o.Docs)
	if err != nil {
		return fail(err)
	}
	if err := apart(o.Docs, o.Index); err != nil {
		return fail(err)
	}
	f := &Folder{o: o, docs: root.FS()}
	if err := os.MkdirAll(o.Index, 0o700); err != nil {
		return fail(err)
	}
	if f.System, err = o.New(f); err != nil {
		return nil, Change{}, err
	}
	c, err := f.open(ctx)
	if err != nil {
		return nil, c, errors.Join(err, f.System.Close())
	}
	return f, c, nil
}

// maxMoved is how often an index is looked for again that another process replaced while
// it was opened.
const maxMoved = 5

func (f *Folder) open(ctx context.Context) (c Change, err error) {
	for moved := 0; ; moved++ {
		old, reason := current(f.o.Index, f.o.Settings)
		gone := false
		c, err = f.refresh(ctx, old, reason, func(next *draft) (graphrag.IndexStats, error) {
			if old == nil {
				return f.System.Index(ctx, next.all())
			}
			stats, err := f.System.Update(ctx, old.dir, next.documents(), next.deleted()...)
			gone = errors.Is(err, fs.ErrNotExist) && moved < maxMoved
			if err == nil || ctx.Err() != nil || gone {
				return stats, err
			}
			next.rebuilt = err.Error()
			return f.System.Index(ctx, next.all())
		})
		if !gone {
			return c, err
		}
		_ = old.close()
	}
}

// apart is an error if an index would be read as files of its own folder.
func apart(docs, index string) error {
	docs, err1 := filepath.Abs(docs)
	index, err2 := filepath.Abs(index)
	below, err3 := filepath.Rel(docs, index)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	parts := strings.Split(filepath.ToSlash(below), "/")
	hidden := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") }) // ".." as well
	if err3 == nil && !hidden || index == docs {
		return fmt.Errorf("the index %s stands among the files: take a folder elsewhere, or a name that begins with a dot", index)
	}
	return nil
}

// Refresh brings the index up to date with the files. Questions are answered meanwhile
// by what was known before; when it fails, that stays.
func (f *Folder) Refresh(ctx context.Context) (Change, error) {
	return f.refresh(ctx, f.now.Load(), "", func(next *draft) (graphrag.IndexStats, error) {
		return f.System.Update(ctx, "", next.documents(), next.deleted()...)
	})
}

// refresh reads the folder, and if anything changed since the old generation, or there
// is none, updates the system and writes a new one.
func (f *Folder) refresh(ctx context.Context, old *generation, rebuilt string, update func(*draft) (graphrag.IndexStats, error)) (Change, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if now := f.now.Load(); now != nil {
		old = now // of a refresh that went before
	}
	next := &draft{old: old, rebuilt: rebuilt, index: f.o.Index}
	skipped, err := f.read(ctx, next)
	c := Change{Files: len(next.entries), Added: next.added, Changed: next.changed, Deleted: len(next.deleted()), Skipped: skipped, Rebuilt: rebuilt}
	if err != nil {
		return c, err
	}
	if !c.Any() && old != nil && f.now.Load() != nil {
		return c, nil // of an index that is open already
	}
	if c.Stats, err = update(next); err != nil {
		return c, err
	}
	c.Rebuilt = next.rebuilt
	if old == nil || c.Any() || next.failures {
		if old, err = next.publish(ctx, f.System, f.o.Settings); err != nil {
			return c, fmt.Errorf("folder: writing the index: %w", err)
		}
	}
	f.now.Store(old)
	if next.old != nil && next.old != old {
		next.old.remove()
	}
	return c, nil
}

// read finds what has changed, and parses it.
func (f *Folder) read(ctx context.Context, next *draft) (skipped []error, err error) {
	tell := f.o.Progress
	if tell == nil {
		tell = func(int) {}
	}
	files := 0
	skipped, err = f.o.Load.Walk(ctx, f.docs, func(name string, data []byte) error {
		files++
		tell(files)
		return next.file(name, sha256.Sum256(data), func() (*load.File, error) { return f.o.Load.Read(name, data) })
	})
	tell(0)
	if err == nil && len(next.entries) == 0 && next.old == nil {
		err = f.o.Load.Nothing(skipped)
	}
	return skipped, err
}

// File is what was read of a file, by the ID of its document.
func (f *Folder) File(id string) (*load.File, error) {
	for {
		now := f.now.Load()
		if now == nil {
			return nil, fmt.Errorf("folder: %s: asked before the folder was read", id)
		}
		file, err := now.file(id)
		if errors.Is(err, os.ErrClosed) && f.now.Load() != now {
			continue // of the generation before
		}
		return file, err
	}
}

// Answer answers from the folder.
func (f *Folder) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return f.System.Answer(ctx, q)
}

// Stream is Answer, piece by piece if the kit's reader can.
func (f *Folder) Stream(ctx context.Context, q graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	return f.System.Stream(ctx, q)
}

// Close releases the system. The index stays on disk.
func (f *Folder) Close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return cmp.Or(f.System.Close(), f.now.Swap(nil).close())
}
