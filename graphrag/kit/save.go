// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bufio"
	"bytes"
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

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// A saved system is one file of lines of JSON: a header, then its chunks, the extractions unless
// the extractor is [Extraction].Whole, and the replies of models. The last line is the SHA-256 of
// those before in hexadecimal. The index is a function of these and is built again.

// fileName is the file that [System.Save] writes into its folder.
const fileName = "system.wildgraph"

const fileVersion = 2

// ErrOptions is wrapped by the errors of [System.Open] for a system that was saved
// with other options.
var ErrOptions = errors.New("the system was saved with other options")

// settings must be equal in a saved system and the one that opens it.
type settings struct {
	Name string `json:"name"`
	Cut  Cut    `json:"cut"`
	// Index is the kind of the parts that build, Lookup the name of the text index.
	Index  string `json:"index_kit"`
	Lookup string `json:"lookup"`
}

// header is the first line.
type header struct {
	Version  int      `json:"version"`
	Settings settings `json:"settings"`
	Dim      int      `json:"dim"` // of the vectors, 0 without any
}

// record is one of the other lines: a document, an extraction, or a reply or a vector by its key.
type record struct {
	Doc        string           `json:"doc,omitempty"`
	Chunks     []graphrag.Chunk `json:"chunks,omitempty"`
	Extraction *kg.Extraction   `json:"extraction,omitempty"`
	Key        []byte           `json:"key,omitempty"`
	Reply      *llm.Reply       `json:"reply,omitempty"`
	Vector     []byte           `json:"vector,omitempty"` // little-endian
}

func (s *System) settings() settings {
	return settings{s.frame.Name, s.frame.Cut.named(), s.frame.Kit.Index, s.frame.Kit.Lookup}
}

// Save writes the system into a folder, which is made if it is not there.
func (s *System) Save(ctx context.Context, dir string) error {
	now := s.now.Load()
	if now == nil {
		return fmt.Errorf("%s: saved before Index", s.frame.Name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	err := journal.WriteFile(filepath.Join(dir, fileName), func(w io.Writer) error {
		return s.write(ctx, w, now)
	})
	if err != nil {
		return fmt.Errorf("%s: saving: %w", s.frame.Name, err)
	}
	return nil
}

func (s *System) write(ctx context.Context, to io.Writer, now *state) error {
	sum := sha256.New()
	buffered := bufio.NewWriter(io.MultiWriter(to, sum))
	lines := json.NewEncoder(buffered)
	var problems []error
	put := func(line any) { problems = append(problems, lines.Encode(line), ctx.Err()) }
	s.paid.mu.Lock()
	defer s.paid.mu.Unlock()
	put(header{fileVersion, s.settings(), s.paid.dim})
	for id, chunks := range now.docs.all() {
		put(record{Doc: id, Chunks: chunks})
	}
	if now.base != nil && !s.frame.Extract.Whole {
		for x := range now.base.Extractions() {
			put(record{Extraction: &x})
		}
	}
	for _, key := range sortedKeys(s.paid.texts) {
		reply := s.paid.texts[key]
		put(record{Key: key[:], Reply: &reply})
	}
	for _, key := range sortedKeys(s.paid.vectors) {
		vector, err := binary.Append(nil, binary.LittleEndian, s.paid.vectors[key])
		problems = append(problems, err)
		put(record{Key: key[:], Vector: vector})
	}
	problems = append(problems, buffered.Flush())
	_, err := fmt.Fprintf(to, "%x\n", sum.Sum(nil))
	return errors.Join(append(problems, err)...)
}

func sortedKeys[V any](m map[replyKey]V) []replyKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b replyKey) int { return bytes.Compare(a[:], b[:]) })
}

// Open replaces the system by the one that Save wrote into a folder.
func (s *System) Open(ctx context.Context, dir string) (graphrag.IndexStats, error) {
	return s.open(ctx, dir, nil, nil)
}

// OpenUpdated is Open and [System.Update] with one build.
func (s *System) OpenUpdated(ctx context.Context, dir string, docs iter.Seq2[graphrag.Document, error], deleted ...string) (graphrag.IndexStats, error) {
	return s.open(ctx, dir, docs, deleted)
}

func (s *System) open(ctx context.Context, dir string, docs iter.Seq2[graphrag.Document, error], deleted []string) (graphrag.IndexStats, error) {
	file, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: opening: %w", s.frame.Name, err)
	}
	defer file.Close()
	var saved *content
	body, err := checked(file)
	if err == nil {
		saved, err = s.read(ctx, body)
	}
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: opening %s: %w", s.frame.Name, file.Name(), err)
	}
	return s.change(ctx, "open", func(*state) (*draft, error) {
		d, err := newDraft(s.frame)
		if err != nil {
			return nil, err
		}
		s.paid.add(saved.replies)
		d.docs = saved.docs
		if d.base != nil {
			err = d.base.Insert(saved.extracted...)
		}
		if err == nil {
			err = d.update(ctx, docs, deleted)
		}
		return d, err
	})
}

// content is the content of a file.
type content struct {
	docs      *library
	extracted []kg.Extraction
	replies   *replies
}

func (s *System) read(ctx context.Context, body io.Reader) (*content, error) {
	lines := json.NewDecoder(body)
	var h header
	if err := lines.Decode(&h); err != nil || h.Version != fileVersion {
		return nil, errors.Join(fmt.Errorf("%w: it is of version %d, and %d is known", errFile, h.Version, fileVersion), err)
	}
	if h.Settings != s.settings() {
		return nil, fmt.Errorf("%w: %+v there, %+v here; open it with those, or index anew", ErrOptions, h.Settings, s.settings())
	}
	if dim := s.frame.Kit.Dim; dim != 0 && h.Dim != 0 && dim != h.Dim {
		return nil, fmt.Errorf("%w: vectors of %d numbers there, an embedder of %d here; take that embedder, or index anew", ErrOptions, h.Dim, dim)
	}
	c := &content{docs: newLibrary(), replies: newReplies()}
	c.replies.dim = h.Dim
	for {
		var r record
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			return c, ctx.Err()
		}
		if err == nil {
			err = c.add(r)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("%w: a line cannot be read: %w", errFile, err)
		}
	}
}

// add takes a record.
func (c *content) add(r record) error {
	switch {
	case r.Extraction != nil:
		c.extracted = append(c.extracted, *r.Extraction)
	case len(r.Key) == 0:
		c.docs.put(r.Doc, r.Chunks)
	case len(r.Key) != len(replyKey{}) || r.Reply == nil && len(r.Vector) != 4*c.replies.dim:
		return errors.New("a reply of another length")
	case r.Reply != nil:
		c.replies.texts[replyKey(r.Key)] = *r.Reply
	default:
		v := make([]float32, c.replies.dim)
		c.replies.vectors[replyKey(r.Key)] = v
		_, err := binary.Decode(r.Vector, binary.LittleEndian, v)
		return err
	}
	return nil
}

var errFile = errors.New("it is damaged, or of another version: index anew")

// checked returns the lines of a file before the last, which is their checksum.
func checked(file *os.File) (io.Reader, error) {
	const last = 2*sha256.Size + 1
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size() - last
	if size < 0 {
		return nil, errFile
	}
	sum, says := sha256.New(), make([]byte, last)
	if _, err := io.CopyN(sum, file, size); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(file, says); err != nil {
		return nil, err
	}
	if string(says) != fmt.Sprintf("%x\n", sum.Sum(nil)) {
		return nil, errFile
	}
	_, err = file.Seek(0, io.SeekStart)
	return io.LimitReader(file, size), err
}
