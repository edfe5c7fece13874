// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
)

// place holds the fields of a chunk that a record has no field for.
type place struct {
	Index  int    `json:"index,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Lead   string `json:"lead,omitempty"`
}

// RecordOf returns a chunk as it is stored: its scope is the document, its data the place
// in the document as JSON, nil if that is zero. The caller sets the vector.
func RecordOf(c graphrag.Chunk) Record {
	r := Record{ID: c.ID, Scope: c.Doc, Title: c.Title, Text: c.Text, Fields: c.Fields}
	if data, _ := json.Marshal(place{c.Index, c.Start, c.End, c.Tokens, c.Lead}); len(data) > len("{}") { // nothing in it can fail
		r.Data = data
	}
	return r
}

// Chunk is the inverse of [RecordOf]. Data of anything but a chunk is an error.
func (r Record) Chunk() (graphrag.Chunk, error) {
	var p place
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, &p); err != nil {
			return graphrag.Chunk{}, fmt.Errorf("store: the data of record %.80q is not that of a chunk, put chunks as RecordOf makes them: %w", r.ID, err)
		}
	}
	return graphrag.Chunk{ID: r.ID, Doc: r.Scope, Title: r.Title, Text: r.Text, Index: p.Index, Start: p.Start, End: p.End, Tokens: p.Tokens, Lead: p.Lead, Fields: r.Fields}, nil
}
