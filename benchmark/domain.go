// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
)

// NewDomain is a domain over documents in memory, with their digest.
func NewDomain(name string, docs []graphrag.Document, items []Item) Domain {
	sum := sha256.New()
	for _, d := range docs {
		fmt.Fprintf(sum, "%q %q %d\n%s\n", d.ID, d.Title, len(d.Text), d.Text)
	}
	stream := func() iter.Seq2[graphrag.Document, error] {
		return func(yield func(graphrag.Document, error) bool) {
			for _, d := range docs {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
	return Domain{Name: name, Documents: stream, Items: items, Fingerprint: hex.EncodeToString(sum.Sum(nil)[:16])}
}
