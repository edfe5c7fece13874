// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Recorded is an [Extractor] of triples that were extracted before, elsewhere
// perhaps, so that they need not be paid for again.
type Recorded struct {
	byText map[string]kg.Extraction
}

// ErrNotRecorded is wrapped by the errors for chunks of which there is no record.
var ErrNotRecorded = errors.New("no extraction is recorded of this text")

// maxRecorded is the largest file of records that is read.
const maxRecorded = 1 << 30

// ReadOpenIE reads a result file of HippoRAG, of either version: an object with
// the list docs, each with its passage, extracted_entities and
// extracted_triples. The bare NaN that Python writes is read over. A triple that
// is not of three parts is a problem of its passage; one that is recorded twice
// counts twice, as it does in HippoRAG.
func ReadOpenIE(r io.Reader) (*Recorded, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRecorded+1))
	if err == nil && len(data) > maxRecorded {
		err = fmt.Errorf("more than %d bytes", maxRecorded)
	}
	if err != nil {
		return nil, fmt.Errorf("extract: reading recorded triples: %w", err)
	}
	quoteNaN(data)
	var file struct {
		Docs *[]struct {
			Passage  string            `json:"passage"`
			Entities []json.RawMessage `json:"extracted_entities"`
			Triples  []json.RawMessage `json:"extracted_triples"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("extract: recorded triples: %w", err)
	}
	if file.Docs == nil {
		return nil, errors.New(`extract: recorded triples: the key "docs" is missing: is this a HippoRAG OpenIE result file?`)
	}
	out := &Recorded{make(map[string]kg.Extraction, len(*file.Docs))}
	for i, d := range *file.Docs {
		if strings.TrimSpace(d.Passage) == "" {
			return nil, fmt.Errorf("extract: recorded triples: docs[%d] has no passage", i)
		}
		var x kg.Extraction
		for _, raw := range d.Entities {
			if name := word(raw); name != "" {
				x.Mentions = append(x.Mentions, kg.Mention{Name: name})
			}
		}
		readTriples(d.Triples, &x)
		out.byText[textKey(d.Passage)] = x
	}
	return out, nil
}

// EntitiesOnly returns the records without their triples.
func (r *Recorded) EntitiesOnly() *Recorded {
	out := &Recorded{make(map[string]kg.Extraction, len(r.byText))}
	for text, x := range r.byText {
		out.byText[text] = kg.Extraction{Mentions: x.Mentions}
	}
	return out
}

// Len returns the number of texts of which there are records.
func (r *Recorded) Len() int { return len(r.byText) }

// Extract implements [Extractor]. A chunk is known by its text, with or without
// its title in front; blanks do not count.
func (r *Recorded) Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("extract: %w", ctx.Err())
		}
		x, ok := r.byText[textKey(c.Text)]
		if !ok {
			x, ok = r.byText[textKey(c.Title+"\n"+c.Text)]
		}
		if !ok {
			return nil, fmt.Errorf("extract: chunk %s: %w", c.ID, ErrNotRecorded)
		}
		x.Chunk, x.Doc = c.ID, c.Doc
		x.Mentions = slices.Clone(x.Mentions)
		nameEnds(&x)
		out[i] = x
	}
	return out, nil
}

func textKey(s string) string { return strings.Join(strings.Fields(s), " ") }

// quoteNaN makes strings of the bare NaN and Infinity, which JSON does not know,
// in place and of the same length.
func quoteNaN(data []byte) {
	text, escaped := false, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case text:
		case c == 'N' && bytes.HasPrefix(data[i:], []byte("NaN")):
			copy(data[i:], `"N"`)
			i += 2
		case c == 'I' && bytes.HasPrefix(data[i:], []byte("Infinity")):
			copy(data[i:], `"INFINI"`)
			if i > 0 && data[i-1] == '-' {
				data[i-1] = ' '
			}
			i += 7
		}
	}
}
