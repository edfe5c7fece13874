// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"encoding/json"
	"sync"
)

// batch is objects of a request. Those of near have a vector.
type batch struct {
	index     string
	objects   []json.RawMessage
	ids, near []string
	bytes     int
}

// doubts are the objects of batches that failed. A node that was killed meanwhile may have such
// an object and not its vector, and leaves what it has as it is if it is written again: it
// has to be deleted first.
type doubts struct {
	mu sync.Mutex
	of map[string]bool // index/id
}

// among are the ids of those of a batch.
func (d *doubts) among(b batch) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.of) == 0 {
		return nil
	}
	for _, id := range b.ids {
		if d.of[b.index+"/"+id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// set notes whether a batch failed.
func (d *doubts) set(b batch, failed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case failed && d.of == nil:
		d.of = make(map[string]bool)
	case !failed && len(d.of) == 0:
		return
	}
	for _, id := range b.ids {
		if failed {
			d.of[b.index+"/"+id] = true
		} else {
			delete(d.of, b.index+"/"+id)
		}
	}
}
