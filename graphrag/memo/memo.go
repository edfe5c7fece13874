// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"
	"hash/maphash"
	"iter"
	"sync"
)

// memo is what was made, by key. It may be a hundred thousand sentences, so each is no more
// than its value there.
type memo struct {
	mu     sync.Mutex
	made   map[any]any
	making map[any]chan struct{} // closed when that is over
}

type contextKey struct{}

// With returns a context with an empty memo. What is made under it is kept as long as
// the context is, so one that is used for documents that come and go grows.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &memo{made: make(map[any]any), making: make(map[any]chan struct{})})
}

// Under tells whether the context has a memo, so that what [Of] returns is shared.
func Under(ctx context.Context) bool {
	m, _ := ctx.Value(contextKey{}).(*memo)
	return m != nil
}

// Of returns what was made under the key, or makes it; concurrent callers wait for it
// until the own context ends. What could not be made is not kept. Callers share the value,
// so nobody may change it. Safe for concurrent use.
func Of[K comparable, V any](ctx context.Context, key K, make func() (V, error)) (V, error) {
	m, _ := ctx.Value(contextKey{}).(*memo)
	if m == nil {
		return make()
	}
	value, err := m.of(ctx, key, func() (any, error) { return make() })
	made, _ := value.(V)
	return made, err
}

func (m *memo) of(ctx context.Context, key any, do func() (any, error)) (any, error) {
	for {
		m.mu.Lock()
		value, done := m.made[key]
		var over chan struct{}
		if !done {
			if over = m.making[key]; over == nil {
				m.making[key] = make(chan struct{})
			}
		}
		m.mu.Unlock()
		switch {
		case done:
			return value, nil
		case over == nil:
			return m.keep(key, do)
		}
		select {
		case <-over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// keep makes a value that nobody else is making, and releases those that wait.
func (m *memo) keep(key any, do func() (any, error)) (value any, err error) {
	returned := false
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if returned && err == nil {
			m.made[key] = value
		}
		close(m.making[key])
		delete(m.making, key)
	}()
	value, err = do()
	returned = true
	return value, err
}

// Digest of a list of texts, for keys: 128 bits that nobody can foresee, other ones in
// every process.
type Digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// DigestOf returns the digest of texts and their lengths.
func DigestOf(texts iter.Seq[string]) (d Digest) {
	for t := range texts {
		for i := range d {
			d[i] = maphash.Comparable(seeds[i], [3]uint64{d[i], maphash.String(seeds[i], t), uint64(len(t))})
		}
	}
	return d
}
