// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// A saved system is one file with lines of JSON: a header, then its chunks, the extractions (unless the
// extractor is [Extraction].Whole), and the replies of models. The last line is the SHA-256 of the lines before
// it, in hexadecimal. Changes are appended as further parts of this kind; the SHA-256 of a part also covers the
// SHA-256 of the part before. A part without its last line was not written completely and is ignored. The index
// is built again from these lines.

// fileName is the file that [System.Save] writes. sizeName is a file with the size of the saved data: without
// it, a file that was cut off at the end of a part would look like an older one.
const (
	fileName = "system.wildgraph"
	sizeName = "system.size"
)

const fileVersion = 2

// The errors that a caller may branch on.
var (
	// ErrOptions is wrapped by errors of [Open] and [System.Open]: the system was saved with other options.
	ErrOptions = errors.New("the system was saved with other options")
	// ErrField is wrapped by errors about a condition on a field that no document has.
	ErrField = errors.New("unknown field")
)

// settings must be equal in a saved system and in the system that opens it.
type settings struct {
	Name string `json:"name"`
	Cut  Cut    `json:"cut"`
	// Index is the kind of the kit's parts that build an index, Lookup the name of the index of texts.
	Index  string `json:"index_kit"`
	Lookup string `json:"lookup"`
}

// header is the first line of the file.
type header struct {
	Version  int      `json:"version"`
	Settings settings `json:"settings"`
	Dim      int      `json:"dim"` // length of the vectors, 0 without any
}

// record is one of the other lines: a document, which replaces an earlier one of the same ID, an extraction, or
// a reply or a vector with its key.
type record struct {
	Doc        string           `json:"doc,omitempty"`
	Gone       bool             `json:"gone,omitempty"`
	Chunks     []graphrag.Chunk `json:"chunks,omitempty"`
	Extraction *kg.Extraction   `json:"extraction,omitempty"`
	Key        []byte           `json:"key,omitempty"`
	Reply      *llm.Reply       `json:"reply,omitempty"`
	Vector     []byte           `json:"vector,omitempty"` // little-endian float32
	Dim        int              `json:"dim,omitempty"`    // length of the vector
}

func (s *System) settings() settings {
	return settings{s.frame.Name, s.frame.Cut.named(), s.frame.Kit.Index, s.frame.Kit.Lookup}
}

// savepoint describes the saved state of a system.
type savepoint struct {
	name        string // path of the file
	size, whole int64  // sizes in bytes of the file and of its first part
	sum         string // SHA-256 of the last part
	history     history
}

// history lists the IDs of the documents that changed since a system was indexed or opened.
type history struct {
	of  *int // identity of that indexing or opening
	ids []string
}

func newHistory() history { return history{of: new(int)} }

// Save writes the system into a folder, which it creates if necessary. It appends only the changes since the
// last Save, until the file has twice the size that it had when it was written whole. So a deleted document is
// not found, but its text may stay in the file for a while. Only one process at a time may use a folder.
func (s *System) Save(ctx context.Context, dir string) error {
	now := s.now.Load()
	if now == nil {
		return fmt.Errorf("%s: save: nothing is indexed yet: call Index first", s.frame.Name)
	}
	if s.tables != nil {
		return fmt.Errorf("%s: save: the system is in a store, and each change saves it", s.frame.Name)
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	s.paid.mu.Lock()
	defer s.paid.mu.Unlock()
	at, name := s.saved, filepath.Join(dir, fileName)
	s.saved = savepoint{} // until the save has succeeded
	err := os.MkdirAll(dir, 0o755)
	switch {
	case err != nil:
	case at.holds(name, now.history):
		at, err = s.appended(ctx, at, now)
	default:
		at = savepoint{name: name}
		_ = os.Remove(filepath.Join(dir, sizeName)) // the new file may be smaller
		err = journal.WriteFile(name, func(w io.Writer) (err error) {
			at.sum, at.size, err = s.write(ctx, w, now, nil, "")
			at.whole = at.size
			return err
		})
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, sizeName), fmt.Appendln(nil, at.size), 0o644) // not synced: an older size does no harm
	}
	if err != nil {
		return fmt.Errorf("%s: save: %w", s.frame.Name, err)
	}
	at.history = now.history
	s.saved, s.paid.fresh = at, nil
	return nil
}

// holds reports whether the file has not changed since the savepoint, and is small enough to append to.
func (at savepoint) holds(name string, now history) bool {
	if at.name != name || at.history.of != now.of || at.size > 2*at.whole+1<<16 {
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	last := make([]byte, len(at.sum)+1)
	info, err := file.Stat()
	if err == nil && info.Size() == at.size {
		_, err = file.ReadAt(last, at.size-int64(len(last)))
	}
	return err == nil && string(last) == at.sum+"\n"
}

// appended appends the changes since the savepoint to its file, and the checksum when the rest is on disk.
func (s *System) appended(ctx context.Context, at savepoint, now *state) (_ savepoint, err error) {
	ids := distinct(slices.Clone(now.history.ids[len(at.history.ids):]))
	if len(ids) == 0 && len(s.paid.fresh) == 0 {
		return at, nil
	}
	file, err := os.OpenFile(at.name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum, size, err := s.write(ctx, file, now, ids, at.sum)
	at.sum, at.size = sum, at.size+size
	return at, errors.Join(err, file.Sync())
}

// write writes one part, and returns its SHA-256 and size. With an empty after it writes everything, otherwise
// the documents with the IDs and the fresh replies; after is the SHA-256 of the part before.
func (s *System) write(ctx context.Context, to io.Writer, now *state, ids []string, after string) (string, int64, error) {
	sum, size := sha256.New(), new(counter)
	_, _ = io.WriteString(sum, after) // never fails
	buffered := bufio.NewWriter(io.MultiWriter(to, sum, size))
	lines := json.NewEncoder(buffered)
	var problems []error
	put := func(line any) { problems = append(problems, lines.Encode(line), ctx.Err()) }
	keys := slices.Clone(s.paid.fresh)
	if after == "" {
		put(header{fileVersion, s.settings(), s.paid.dim})
		ids, keys = now.docs.docs.Keys(), slices.Collect(maps.Keys(s.paid.all))
	}
	for _, id := range ids {
		chunks, ok := now.docs.docs.Get(id)
		put(record{Doc: id, Chunks: chunks, Gone: !ok})
	}
	if now.base != nil && !s.frame.Extract.Whole {
		for x := range now.base.Extractions() {
			if _, ok := slices.BinarySearch(ids, x.Doc); ok {
				put(record{Extraction: &x})
			}
		}
	}
	slices.SortFunc(keys, func(a, b replyKey) int { return bytes.Compare(a[:], b[:]) })
	for _, key := range keys {
		if r, ok := s.paid.record(key); ok {
			put(r)
		}
	}
	problems = append(problems, buffered.Flush())
	if disk, ok := to.(*os.File); ok {
		problems = append(problems, disk.Sync())
	}
	if err := errors.Join(problems...); err != nil {
		return "", 0, err // without its SHA-256 the part is ignored
	}
	says := fmt.Sprintf("%x", sum.Sum(nil))
	n, err := io.WriteString(to, says+"\n")
	return says, int64(*size) + int64(n), err
}

// record returns the reply or the vector of a key, and whether there is one.
func (r *replies) record(key replyKey) (record, bool) {
	e, ok := r.all[key]
	if e.reply != nil {
		return record{Key: key[:], Reply: e.reply}, true
	}
	data, _ := binary.Append(nil, binary.LittleEndian, e.vector) // numbers always encode
	return record{Key: key[:], Vector: data, Dim: r.dim}, ok
}

// counter is a writer that counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Open replaces the system by the one that Save wrote into a folder.
func (s *System) Open(ctx context.Context, dir string) (graphrag.IndexStats, error) {
	return s.OpenUpdated(ctx, dir, nil)
}

// OpenUpdated does the same as Open and then [System.Update], with one build.
func (s *System) OpenUpdated(ctx context.Context, dir string, docs iter.Seq2[graphrag.Document, error], deleted ...string) (stats graphrag.IndexStats, err error) {
	ctx, span := trace.Start(s.frame.Kit.Prompts.With(ctx), "open", s.named())
	defer func() { span.End(err) }()
	if s.tables != nil {
		return s.failed("open", errors.New("the system is in a store: open it with kit.Open"))
	}
	name := filepath.Join(dir, fileName)
	file, err := os.Open(name)
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: open the saved system: %w", s.frame.Name, err)
	}
	defer file.Close()
	saved, err := s.read(ctx, file)
	if err == nil {
		err = uncut(filepath.Join(dir, sizeName), saved.at.size)
	}
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: read %s: %w", s.frame.Name, name, err)
	}
	at := saved.at
	at.name, at.history = name, newHistory()
	d, err := saved.draft(s.frame, at.history)
	if err != nil {
		return s.failed("open", err)
	}
	u, err := s.frame.update(ctx, docs, deleted)
	if err != nil {
		return s.failed("open", err)
	}
	d.take(u)
	if stats, err = s.replace(ctx, "open", d, saved.replies); err == nil {
		s.saving.Lock()
		defer s.saving.Unlock()
		s.saved = at
	}
	return stats, err
}

// uncut returns an error if complete parts of a file have fewer bytes than were saved. name is the file with
// the saved size.
func uncut(name string, size int64) error {
	data, _ := os.ReadFile(name) // it may be missing, if a process was killed
	if was, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && was > size {
		return fmt.Errorf("%w: %d bytes are complete and %d were saved, so the file was cut off", errFile, size, was)
	}
	return nil
}

// draft returns the saved state as a draft, to which changes can be added.
func (c *content) draft(f Frame, h history) (*draft, error) {
	d, err := newDraft(f)
	if err != nil {
		return nil, err
	}
	d.docs, d.history = c.docs, h
	if d.base != nil {
		for id := range c.docs.all() {
			err = errors.Join(err, d.base.Insert(c.extracted[id]...))
		}
		c.extracted = nil
	}
	return d, err
}

// content is the content of a saved system.
type content struct {
	docs      *library
	extracted map[string][]kg.Extraction // extractions by ID of the document; nil when a draft has them
	unread    map[string]bool            // IDs of the chunks of a store without an extraction
	replies   *replies
	at        savepoint
}

// read reads all complete parts of a file.
func (s *System) read(ctx context.Context, from io.Reader) (*content, error) {
	c := &content{docs: newLibrary(), extracted: make(map[string][]kg.Extraction), replies: newReplies()}
	lines, sum, size := bufio.NewReaderSize(from, 1<<16), sha256.New(), int64(0)
	var part []record
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		size += int64(len(line))
		says := func() string { return fmt.Sprintf("%x", sum.Sum(nil)) }
		switch {
		case errors.Is(err, io.EOF) && c.at.size > 0:
			return c, ctx.Err() // lines after the last SHA-256 are an incomplete part
		case err != nil:
		case first:
			err = s.begin(c, line)
		case line[0] == '{':
			part = append(part, record{})
			err = json.Unmarshal(line, &part[len(part)-1])
		case string(line) != says()+"\n":
			err = errors.New("the SHA-256 of a part does not match its lines")
		default:
			err = c.take(part, size, says())
			part = part[:0]
			sum.Reset()
			line = []byte(c.at.sum)
		}
		_, _ = sum.Write(line) // never fails
		if errors.Is(err, ErrOptions) {
			return nil, err
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("%w: a line cannot be read: %w", errFile, err)
		}
	}
}

// begin reads the header and compares it with the settings of the system.
func (s *System) begin(c *content, line []byte) error {
	var h header
	if err := json.Unmarshal(line, &h); err != nil || h.Version != fileVersion {
		return errors.Join(fmt.Errorf("the file has version %d, this release needs %d", h.Version, fileVersion), err)
	}
	if h.Settings != s.settings() {
		return fmt.Errorf("%w: with %+v, this system has %+v: open it with the saved options, or index again", ErrOptions, h.Settings, s.settings())
	}
	if dim := s.frame.Kit.Dim; dim != 0 && h.Dim != 0 && dim != h.Dim {
		return fmt.Errorf("%w: its vectors have %d numbers, those of the embedder %d: use the embedder it was made with, or index again", ErrOptions, h.Dim, dim)
	}
	c.replies.dim = h.Dim
	return nil
}

// take adds the records of a complete part, which ends at the offset size of the file.
func (c *content) take(part []record, size int64, sum string) error {
	for _, r := range part {
		if err := c.add(r); err != nil {
			return err
		}
	}
	c.at.whole = cmp.Or(c.at.whole, size)
	c.at.size, c.at.sum = size, sum
	return nil
}

// add adds the content of a record.
func (c *content) add(r record) error {
	switch {
	case r.Extraction != nil:
		c.extracted[r.Extraction.Doc] = append(c.extracted[r.Extraction.Doc], *r.Extraction)
	case len(r.Key) == 0:
		delete(c.extracted, r.Doc) // its new extractions follow
		if c.docs.delete(r.Doc); !r.Gone {
			c.docs.put(r.Doc, r.Chunks)
		}
	case r.Reply != nil && len(r.Key) == len(replyKey{}):
		c.replies.all[replyKey(r.Key)] = entry{reply: r.Reply}
	default:
		c.replies.dim = cmp.Or(c.replies.dim, r.Dim) // the header was written before the first vector
		if len(r.Key) != len(replyKey{}) || len(r.Vector) == 0 || len(r.Vector) != 4*c.replies.dim {
			return errors.New("a key or a vector has a wrong length")
		}
		v := make([]float32, c.replies.dim)
		c.replies.all[replyKey(r.Key)] = entry{vector: v}
		_, err := binary.Decode(r.Vector, binary.LittleEndian, v)
		return err
	}
	return nil
}

var errFile = errors.New("the file is damaged, or of another version: index again")
