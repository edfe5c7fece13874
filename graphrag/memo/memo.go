// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"
	"hash/maphash"
	"iter"
	"reflect"
	"sync"
)

// memo contains the cached values by key. It may have a hundred thousand, so an entry is only the value.
type memo struct {
	mu     sync.Mutex
	made   map[any]any
	making map[any]chan struct{} // closed when the computation has ended
}

type contextKey struct{}

// With returns a context with an empty memo. Values are cached as long as the context is in use, so do not use
// one context for documents that come and go.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, &memo{made: make(map[any]any), making: make(map[any]chan struct{})})
}

// Under reports whether the context has a memo, so that results of [Of] are shared.
func Under(ctx context.Context) bool {
	m, _ := ctx.Value(contextKey{}).(*memo)
	return m != nil
}

// Of returns the value cached under key, or computes it. Concurrent callers wait for it, until their own
// context ends. Errors are not cached. Callers share the value and must not change it. It is safe for
// concurrent use.
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

// keep computes a value that no other call is computing, caches it, and releases the callers that wait for it.
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

// Digest is the digest of a list of texts, for keys: 128 unpredictable bits, different in every process.
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

// Keeper caches values that are computed again and again from inputs that mostly stay the same, such as an
// index of documents that come and go. The zero value is empty. It is safe for concurrent use.
type Keeper struct {
	mu        sync.Mutex
	kept      map[any]any // values of Kept, by type
	last, now map[any]any // values of Still: before the last Turn, and since
}

type keeperKey struct{}

// With returns a context under which values are cached by the keeper.
func (k *Keeper) With(ctx context.Context) context.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == nil {
		k.kept, k.now = make(map[any]any), make(map[any]any)
	}
	return context.WithValue(ctx, keeperKey{}, k)
}

// Turn ends a generation: it drops the values that [Still] was not asked for since the last Turn.
func (k *Keeper) Turn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last, k.now = k.now, make(map[any]any)
}

// Kept returns the value of type T of the keeper in the context, at first a zero value; without a keeper it
// returns a new one.
func Kept[T any](ctx context.Context) *T {
	k, _ := ctx.Value(keeperKey{}).(*Keeper)
	if k == nil {
		return new(T)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.kept[reflect.TypeFor[T]()].(*T)
	if !ok {
		v = new(T)
		k.kept[reflect.TypeFor[T]()] = v
	}
	return v
}

// Still returns the value cached under key in this or the previous generation, or computes it; without a keeper
// it always computes it. Each use has a key type of its own. Callers share the value and must not change it.
func Still[K comparable, V any](ctx context.Context, key K, make func() (V, error)) (V, error) {
	k, _ := ctx.Value(keeperKey{}).(*Keeper)
	if k == nil {
		return make()
	}
	k.mu.Lock()
	v, ok := k.now[key]
	if !ok {
		v, ok = k.last[key]
	}
	k.mu.Unlock()
	made, _ := v.(V)
	if !ok {
		var err error
		if made, err = make(); err != nil {
			return made, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now[key] = made
	return made, nil
}
