// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"

	"encoding/binary"
	"hash/maphash"
	"iter"
	"sync"
)

// memo is what was made, by key.
type memo struct {
	mu   sync.Mutex
	made map[any]*entry
}

// entry is one thing. Its token is held by who makes it or looks whether it is made.
type entry struct {
	token chan struct{}
	done  bool
	value any
}

type contextKey struct{}

// With returns a context with an empty memo. What is made under it is kept as long as
// the context is, so one that is used for documents that come and go grows.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &memo{made: make(map[any]*entry)})
}

// Under tells whether the context has a memo, so that what [Of] returns is shared.
func Under(ctx context.Context) bool {
	m, _ := ctx.Value(contextKey{}).(*memo)
	return m != nil
}

// Of returns what was made under the key, or makes it; who comes meanwhile waits for it
// until the own context ends. What could not be made is not kept. Callers share the value,
// so nobody may change it. Safe for concurrent use.
func Of[K comparable, V any](ctx context.Context, key K, make func() (V, error)) (V, error) {
	m, _ := ctx.Value(contextKey{}).(*memo)
	if m == nil {
		return make()
	}
	e := m.entry(key)
	select {
	case e.token <- struct{}{}:
		defer func() { <-e.token }()
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
	if !e.done {
		value, err := make()
		if err != nil {
			return value, err
		}
		e.value, e.done = value, true
	}
	return e.value.(V), nil
}

func (m *memo) entry(key any) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.made[key]
	if !ok {
		e = &entry{token: make(chan struct{}, 1)}
		m.made[key] = e
	}
	return e
}

// Digest of a list of texts, for keys: 128 bits that nobody can foresee, other ones in
// every process.
type Digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// DigestOf returns the digest of texts and their lengths.
func DigestOf(texts iter.Seq[string]) (d Digest) {
	var h [2]maphash.Hash
	for i := range h {
		h[i].SetSeed(seeds[i])
	}
	var length [8]byte
	for t := range texts {
		binary.LittleEndian.PutUint64(length[:], uint64(len(t)))
		for i := range h {
			h[i].Write(length[:])
			h[i].WriteString(t)
		}
	}
	for i := range h {
		d[i] = h[i].Sum64()
	}
	return d
}
