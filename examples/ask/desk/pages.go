// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/find"
)

// mostLines bounds the lines of a result.
const mostLines = 50

// pages returns the texts of the indexed files that meet a condition, and their names by path. No other file
// can be read.
func (d *Desk) pages(ctx context.Context, where *graphrag.Condition) (*find.Pages, map[string]string, error) {
	where = d.where(where)
	meets := func(graphrag.Fields) bool { return true }
	if where != nil {
		if _, err := d.folder.System.GraphFor(ctx, where); err != nil { // an unknown field
			return nil, nil, err
		}
		meets = where.Compile()
	}
	var chunks []graphrag.Chunk
	names := make(map[string]string)
	ids, err := d.folder.System.List(ctx)
	for _, id := range ids {
		of, _, failed := d.folder.System.Get(ctx, id)
		if err = errors.Join(err, failed); len(of) > 0 && meets(of[0].Fields) {
			chunks = append(chunks, of...)
			names[id], names[d.path(id)] = id, id
		}
	}
	return find.New(chunks), names, err
}

// Find returns lines that match a pattern (RE2, case ignored), and the numbers of all matching lines and of
// their files.
func (d *Desk) Find(ctx context.Context, pattern string, where *graphrag.Condition) (lines []Passage, matching, files int, err error) {
	pages, _, err := d.pages(ctx, where)
	if err != nil {
		return nil, 0, 0, err
	}
	r, err := pages.Find(ctx, pattern, mostLines)
	var hits []graphrag.Hit
	for _, l := range r.Lines {
		hits = append(hits, graphrag.Hit{Chunk: l.Chunk})
	}
	return d.passages(hits), r.Matching, r.Pages, err
}

// Read returns the passage at a place of a file, in bytes, then the passage after and the passage before it.
func (d *Desk) Read(ctx context.Context, path string, from int, where *graphrag.Condition) ([]Passage, error) {
	pages, names, err := d.pages(ctx, where)
	if err != nil {
		return nil, err
	}
	name, ok := names[path]
	if !ok {
		return nil, fmt.Errorf("%.200q is not a file of the folder", path)
	}
	var hits []graphrag.Hit
	read, _, err := pages.Read(name, pages.At(name, from))
	for _, c := range read {
		hits = append(hits, graphrag.Hit{Chunk: c})
	}
	return d.passages(hits), err
}
