// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
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

// Digest of a list of texts, for keys: SHA-256 over their lengths and bytes.
type Digest [sha256.Size]byte

// DigestOf returns the digest of texts.
func DigestOf(texts iter.Seq[string]) Digest {
	h := sha256.New()
	var b []byte
	for t := range texts {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(len(t))), t...)
		if len(b) >= 1<<16 {
			h.Write(b)
			b = b[:0]
		}
	}
	h.Write(b)
	return Digest(h.Sum(nil))
}
