// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// StageInduce names the call in accounts.
const StageInduce = "induce schema"

// What a model is shown to make a schema, and how large it may get. The seeds of
// TencentCloudADP/youtu-graphrag have 8 to 24 types, 12 to 31 relations and 9 to 31
// attributes.
const (
	induceSample = 8
	induceBytes  = 2000 // of each chunk
	maxTypes     = 24
	maxRelations = 40
	maxKeys      = 32
	maxItem      = 60 // bytes of a name
)

// Induce has a model make a schema for a corpus, by one call that shows the
// beginnings of some of its documents. Which these are depends on the documents'
// IDs alone and hardly on each other, so a document more or less mostly changes
// nothing. A reply that cannot be used, and a refusal, is an error for which
// llm.OfOneReply holds, and no chunks are a schema of nothing.
func Induce(ctx context.Context, m llm.Model, chunks []graphrag.Chunk) (Schema, error) {
	shown := sample(chunks)
	if m == nil {
		return Schema{}, errors.New("extract: the model that makes a schema is missing")
	}
	if len(shown) == 0 {
		return Schema{}, nil
	}
	texts := make([]string, len(shown))
	for i, c := range shown {
		texts[i] = passage(c).Text
		if len(texts[i]) > induceBytes {
			texts[i] = strings.ToValidUTF8(texts[i][:induceBytes], "")
		}
	}
	req, err := prompts.Request(StageInduce, "induce", map[string]any{"Types": maxTypes, "Relations": maxRelations, "Attributes": maxKeys},
		llm.Data{Label: "passages", Text: strings.Join(texts, "\n\n---\n\n")})
	if err != nil {
		return Schema{}, err
	}
	req.JSON = true
	reply, _, err := llm.Decode[induced](ctx, m, req)
	if err != nil {
		return Schema{}, fmt.Errorf("extract: making a schema: %w", err)
	}
	return Schema{names(reply.Nodes, maxTypes), names(reply.Relations, maxRelations), names(reply.Attributes, maxKeys)}, nil
}

// induced is what a model writes.
type induced struct{ Nodes, Relations, Attributes []json.RawMessage }

// Check implements what llm.Decode asks of replies.
func (s induced) Check() error {
	if len(names(s.Nodes, 1)) == 0 {
		return errors.New(`the list "Nodes" has no name`)
	}
	return nil
}

// names are the usable ones of a list, each once.
func names(found []json.RawMessage, most int) []SchemaItem {
	var out []SchemaItem
	for _, raw := range found {
		name := strings.Join(strings.Fields(llm.Printable(word(raw))), " ")
		if _, again := find(out, name); len(name) <= maxItem && !again && strings.ContainsFunc(name, unicode.IsLetter) && len(out) < most {
			out = append(out, SchemaItem{Name: name})
		}
	}
	return out
}

// sample is the first chunk of each of those documents whose IDs have the smallest
// hashes.
func sample(chunks []graphrag.Chunk) []graphrag.Chunk {
	type candidate struct {
		hash  [sha256.Size]byte
		chunk graphrag.Chunk
	}
	first := make(map[string]graphrag.Chunk)
	for _, c := range chunks {
		if old, ok := first[c.Doc]; strings.TrimSpace(c.Text) != "" && (!ok || c.ID < old.ID) {
			first[c.Doc] = c
		}
	}
	var all []candidate
	for doc, c := range first {
		all = append(all, candidate{sha256.Sum256([]byte(doc)), c})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.chunk.Doc, b.chunk.Doc))
	})
	var out []graphrag.Chunk
	for _, c := range all[:min(induceSample, len(all))] {
		out = append(out, c.chunk)
	}
	return out
}
