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
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Options of [Open]: the files, the index, and the system.
type Options struct {
	// Docs is the folder of the files, or one file. Index is the folder of their index, which is created if it
	// is missing; see [UserIndex]. An index belongs to one Docs and one system.
	Docs, Index string
	// System is the system that is indexed and updated; Close closes it. Files, if set, gets the parsed files,
	// which the system's kit reads through [Files.Reader].
	System *kit.System
	Files  *Files
	// Settings describe everything else that the index depends on, such as the embedding model. If they change,
	// the index is rebuilt.
	Settings string
	// Load selects the files to read.
	Load load.Options
	// Progress, if set, is called with the number of files read so far, and with 0 at the end of reading.
	Progress func(files int)
}

// Folder is an indexed folder of files, whose System answers questions. It is safe for concurrent use.
type Folder struct {
	*Files
	System *kit.System

	o       Options
	docs    fs.FS
	writing sync.Mutex // held while the index changes
}

// Change is the result of [Open] or [Folder.Refresh].
type Change struct {
	// Files is the number of files; Added, Changed and Deleted are the differences to the
	// previous index. A renamed file counts as deleted and added.
	Files, Added, Changed, Deleted int
	// Skipped contains the errors of files that could not be read, or only in part.
	Skipped []error
	// Rebuilt is the reason why the whole index was rebuilt, "" if it was not, or is new.
	Rebuilt string
	Stats   graphrag.IndexStats
}

// Any reports whether the index changed.
func (c Change) Any() bool { return c.Added+c.Changed+c.Deleted > 0 || c.Rebuilt != "" }

// UserIndex returns the usual folder of an index: in the user's cache folder, with a name derived
// from the absolute path of docs and the kind of the index.
func UserIndex(docs, kind string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("folder: finding the cache folder: %w", err)
	}
	path, err := filepath.Abs(docs)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("folder: resolving the path %s: %w", docs, err)
	}
	digest := sha256.Sum256([]byte(path))
	return filepath.Join(cache, "wildgraph", "folders", filepath.Base(path)+"-"+hex.EncodeToString(digest[:6])+"-"+kind), nil
}

// Open opens the index of a folder and updates it. Its error is about the folder or the index; errors of files
// are in [Change.Skipped].
func Open(ctx context.Context, o Options) (*Folder, Change, error) {
	fail := func(err error) (*Folder, Change, error) {
		return nil, Change{}, fmt.Errorf("folder: %w", err)
	}
	docs, err := load.Root(o.Docs)
	if err != nil {
		return fail(err)
	}
	if err := apart(o.Docs, o.Index); err != nil {
		return fail(err)
	}
	f := &Folder{Files: cmp.Or(o.Files, new(Files)), System: o.System, o: o, docs: docs}
	if err := os.MkdirAll(o.Index, 0o700); err != nil {
		return fail(err)
	}
	c, err := f.open(ctx)
	if err != nil {
		return nil, c, errors.Join(err, f.System.Close())
	}
	return f, c, nil
}

// maxMoved is the most retries of opening an index that another process replaces meanwhile.
const maxMoved = 5

func (f *Folder) open(ctx context.Context) (Change, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	for moved := 0; ; moved++ {
		old, reason := current(f.o.Index, f.o.Settings)
		next := newDraft(old, f.o.Index)
		c, err := f.read(ctx, next)
		c.Rebuilt = reason
		if err != nil {
			return c, err
		}
		if old != nil {
			c.Stats, err = f.System.OpenUpdated(ctx, old.dir, next.documents(false), next.deleted()...)
			if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil && moved < maxMoved {
				_ = old.close()
				continue
			}
			if err != nil && ctx.Err() == nil {
				c.Rebuilt = err.Error()
			}
		}
		if old == nil || err != nil && ctx.Err() == nil {
			c.Stats, err = f.System.Index(ctx, next.documents(true))
		}
		if err != nil {
			return c, err
		}
		return c, f.publish(ctx, next, c)
	}
}

// apart returns an error if the folder of the index is among the files to read.
func apart(docs, index string) error {
	docs, err1 := filepath.Abs(docs)
	index, err2 := filepath.Abs(index)
	below, err3 := filepath.Rel(docs, index)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if real := resolved(index); real != index || resolved(docs) != docs {
		if err := apart(resolved(docs), real); err != nil {
			return err
		}
	}
	parts := strings.Split(filepath.ToSlash(below), "/")
	hidden := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") }) // ".." as well
	if err3 == nil && !hidden || index == docs {
		return fmt.Errorf("the index %s is among the files: choose a folder elsewhere, or a name that begins with a dot", index)
	}
	return nil
}

// resolved resolves the symbolic links in the existing part of a path.
func resolved(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if above := filepath.Dir(path); err != nil && above != path {
		return filepath.Join(resolved(above), filepath.Base(path))
	} else if err != nil {
		return path
	}
	return real
}

// Refresh updates the index. Questions are answered from the previous index until the update is complete, and
// also if it fails.
func (f *Folder) Refresh(ctx context.Context) (Change, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	next := newDraft(f.now.Load(), f.o.Index)
	c, err := f.read(ctx, next)
	if err != nil || !c.Any() {
		return c, err
	}
	if c.Stats, err = f.System.Update(ctx, next.documents(false), next.deleted()...); err != nil {
		return c, err
	}
	return c, f.publish(ctx, next, c)
}

// publish writes the next generation, if it differs from the previous one, and replaces that.
func (f *Folder) publish(ctx context.Context, next *draft, c Change) (err error) {
	now := next.old
	if now == nil || c.Any() || next.failures {
		if now, err = next.publish(ctx, f.System, f.o.Settings); err != nil {
			return fmt.Errorf("folder: writing the index: %w", err)
		}
	}
	f.now.Store(now)
	if next.old != nil && next.old != now {
		_ = next.old.close() // if a question still has it open, a later sweep removes it
		_ = os.RemoveAll(next.old.dir)
	}
	return nil
}

// read finds and parses changed files.
func (f *Folder) read(ctx context.Context, next *draft) (c Change, err error) {
	if _, err := os.Stat(f.o.Docs); err != nil { // a missing folder is an error, not the deletion of all files
		return c, fmt.Errorf("folder: reading the files: %w", err)
	}
	tell := f.o.Progress
	if tell == nil {
		tell = func(int) {}
	}
	for raw, err := range f.o.Load.Files(ctx, f.docs) {
		if err == nil {
			err = f.file(next, raw)
			tell(len(next.entries))
		}
		if err != nil {
			c.Skipped = append(c.Skipped, err)
		}
	}
	tell(0)
	if ctx.Err() != nil {
		return c, fmt.Errorf("folder: reading the files: %w", ctx.Err())
	}
	c.Files, c.Added, c.Changed, c.Deleted = len(next.entries), next.added, next.changed, len(next.deleted())
	if len(next.seen) == 0 && next.old == nil {
		err = f.o.Load.Nothing(c.Skipped)
	}
	return c, err
}

// file adds a file to the next generation, and parses it if it is new or changed. Its error is the reason why
// the file is skipped or read only in part.
func (f *Folder) file(next *draft, raw load.Raw) error {
	hash := sha256.Sum256(raw.Data)
	e := entry{Name: raw.Name, Hash: hex.EncodeToString(hash[:])}
	if before := next.before(raw.Name); before.Hash == e.Hash {
		return next.keep(before)
	}
	parsed, err := f.o.Load.Read(raw.Name, raw.Data)
	if err != nil {
		e.Failed = err.Error()
		next.failures = true
		return next.keep(e)
	}
	f.date(raw.Name, &parsed.Document)
	if parsed.Problem != nil {
		e.Problem = parsed.Problem.Error()
	}
	next.add(e, parsed)
	return parsed.Problem
}

// date sets the field FieldModified to the file's modification time. A new time without new content is ignored.
func (f *Folder) date(name string, d *graphrag.Document) {
	info, err := fs.Stat(f.docs, name)
	if err != nil || len(d.Fields) >= graphrag.MaxFields {
		return
	}
	if d.Fields == nil {
		d.Fields = graphrag.Fields{}
	}
	d.Fields[FieldModified] = info.ModTime().UTC().Truncate(time.Second)
}

// FieldModified is the name of the field with the modification time of a file.
const FieldModified = "modified"

// Close releases the system. The index stays on disk.
func (f *Folder) Close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return cmp.Or(f.System.Close(), f.now.Swap(nil).close())
}

// Files contains the parsed files of a folder: none before [Open], then the files of the current index. It is
// safe for concurrent use.
type Files struct{ now atomic.Pointer[generation] }

// File returns the parsed file of a document.
func (f *Files) File(id string) (*load.File, error) {
	for {
		now := f.now.Load()
		if now == nil {
			return nil, fmt.Errorf("folder: file %s was requested before the folder was read", id)
		}
		file, err := now.file(id)
		if errors.Is(err, os.ErrClosed) && f.now.Load() != now {
			continue // the generation was replaced meanwhile
		}
		return file, err
	}
}

// Reader returns a reader that reads evidence in its original form: whole lines of the files, with their
// headings. With spread it also reads the gaps inside chunks, which is meant for readers that cost nothing.
func (f *Files) Reader(r reader.Reader, spread bool) reader.Reader {
	longest := 2
	if spread {
		longest = maxSpread
	}
	return restored{r, f, longest}
}

type restored struct {
	reader.Reader
	files   *Files
	longest int // most bytes to read per byte of the chunk
}

func (r restored) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (graphrag.Answer, error) {
	return r.Reader.Read(ctx, q, r.files.restore(evidence, r.longest), derived)
}

func (r restored) Stream(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) iter.Seq2[graphrag.Answer, error] {
	return reader.Stream(ctx, r.Reader, q, r.files.restore(evidence, r.longest), derived)
}

// Limits of restoring: maxSpread and freeSpan limit the length of the text read (maxSpread times the chunk,
// plus freeSpan bytes), maxLine the bytes added before and after to complete lines.
const (
	maxSpread = 64
	freeSpan  = 512
	maxLine   = 400
)

// restore replaces the text of chunks by the original text of the files, if that is not much longer.
func (f *Files) restore(evidence []graphrag.Hit, longest int) []graphrag.Hit {
	out := make([]graphrag.Hit, len(evidence))
	for i, h := range evidence {
		out[i] = h
		c := &out[i].Chunk
		file, err := f.File(c.Doc)
		if err != nil || c.End-c.Start > longest*len(c.Text)+freeSpan || !holds(file.Document.Text, *c) {
			continue
		}
		s := file.Document.Text
		if at := strings.LastIndexByte(s[max(0, c.Start-maxLine):c.Start], '\n'); at >= 0 || c.Start <= maxLine {
			c.Start = max(0, c.Start-maxLine) + at + 1
		}
		if at := strings.IndexByte(s[c.End:min(len(s), c.End+maxLine)], '\n'); at >= 0 {
			c.End += at + 1
		}
		c.Text, c.Lead = s[c.Start:c.End], load.Lead(s, c.Start)
	}
	return out
}

// holds reports whether a chunk can be a part of a text; it may not be, because the file has changed.
func holds(s string, c graphrag.Chunk) bool {
	if c.Start < 0 || c.Start > c.End || c.End > len(s) {
		return false
	}
	words := strings.Fields(display.Head(c.Text, 200))
	return len(words) == 0 || strings.Contains(s[c.Start:c.End], words[0])
}

// Source is a quote from a file that supports an answer.
type Source struct {
	// Doc is the path of the file in the folder, and Title its title. Place is the place of the quote in the
	// file, see [load.File.Place].
	Doc   string `json:"path"`
	Title string `json:"title,omitempty"`
	Place string `json:"place"`
	Quote string `json:"quote"`
	// Start and End are the offsets of the supported text in the answer, From and To of the quote in the
	// document's text.
	Start int `json:"start"`
	End   int `json:"end"`
	From  int `json:"from"`
	To    int `json:"to"`
}

// maxQuote is the longest quote, in runes.
const maxQuote = 300

// Sources returns the sources of the quotes of an answer; of equal ones in a row it returns the first.
func (f *Files) Sources(a graphrag.Answer) []Source {
	var out []Source
	for _, c := range a.Citations {
		chunk, ok := a.Passage(c)
		if !ok {
			continue
		}
		start, end := c.SourceStart, c.SourceEnd
		if end == 0 {
			start, end = chunk.Start, chunk.End
		}
		s := f.Source(chunk, start, end)
		s.Start, s.End = c.Start, c.End
		if n := len(out); n == 0 || out[n-1].Doc != s.Doc || out[n-1].Quote != s.Quote {
			out = append(out, s)
		}
	}
	return out
}

// Source returns the part of a chunk's document from start to end as a source.
func (f *Files) Source(c graphrag.Chunk, start, end int) Source {
	s := Source{Doc: c.Doc, Title: c.Title, Place: "1", Quote: c.Text}
	if file, err := f.File(c.Doc); err == nil && 0 <= start && start <= end && end <= len(file.Document.Text) {
		start += len(file.Document.Text[start:end]) - len(strings.TrimLeft(file.Document.Text[start:end], " \t\r\n"))
		s.Place, s.Quote, s.From, s.To = file.Place(start), file.Document.Text[start:end], start, end
	}
	s.Quote = quote(s.Quote)
	return s
}

// quote returns a text on one line of at most maxQuote runes, without the outer bars of table rows.
func quote(s string) string {
	r := []rune(strings.Trim(strings.Join(strings.Fields(display.OneLine(s)), " "), "| "))
	if len(r) > maxQuote {
		return string(r[:maxQuote-1]) + "…"
	}
	return string(r)
}
