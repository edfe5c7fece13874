// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// dimension is how many components the vectors of a name have: what two replies
// agree on, since a single one may be wrong, and so may be what an earlier program
// kept. Before there are two, one is believed.
type dimension struct {
	mu      sync.Mutex
	votes   map[int]int
	kept    map[int]bool // what is kept has one vote for each dimension
	settled int
	asked   int // replies that were asked for to settle a dispute
}

const (
	agree    = 2
	disputed = 5 // replies at most that are asked for, however many find the dispute
)

// right says why vectors of n components do not belong to the name, if so. Where
// replies differ, further ones decide; err is that they could not.
func (d *dimension) right(ctx context.Context, c *cachedEmbedder, n int, kept bool) (why, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.settled == 0 && !(kept && d.kept[n]) {
		d.vote(n)
		if kept {
			d.kept[n] = true
		}
	}
	for ; d.asked < disputed && d.settled == 0 && len(d.votes) > 1; d.asked++ {
		v, err := c.e.EmbedQuery(ctx, "ready")
		if err != nil {
			return nil, err
		}
		if transport.CheckVectors([]string{"ready"}, [][]float32{v}) == nil {
			d.vote(len(v))
		}
	}
	switch {
	case d.settled == 0 && len(d.votes) > 1:
		return nil, d.unsteady(c.name)
	case d.settled != 0 && d.settled != n:
		return &llm.Error{Kind: transport.ErrBadVector, Billed: llm.BilledYes, Err: fmt.Errorf("%s: a vector has %d dimensions where others have %d: "+
			"not kept; check that the server runs one model under this name, or name another", c.name, n, d.settled)}, nil
	}
	return nil, nil
}

// vote counts a reply. The caller holds the lock.
func (d *dimension) vote(n int) {
	if d.votes == nil {
		d.votes, d.kept = map[int]int{}, map[int]bool{}
	}
	if d.votes[n]++; d.votes[n] >= agree {
		d.settled = n
	}
}

// differs reports whether vectors of n components are known to be wrong.
func (d *dimension) differs(n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.settled != 0 && d.settled != n
}

// unsteady is the error of a server whose replies do not agree.
func (d *dimension) unsteady(name string) error {
	return &llm.Error{Kind: transport.ErrBadVector, Billed: llm.BilledYes,
		Err: fmt.Errorf("%s: the dimension of the vectors changes from reply to reply: not kept; check that the server runs one model under this name, or name another", name)}
}
