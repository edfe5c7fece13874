// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"
	"reflect"
	"sync"
)

// Keeper keeps what is made over and over of things of which most stay, such as an index of
// documents that come and go, from one time to the next. The zero value is an empty one. It is
// safe for concurrent use.
type Keeper struct {
	mu        sync.Mutex
	kept      map[any]any // by Kept
	last, now map[any]any // by Still, before Turn and since
}

type keeperKey struct{}

// With returns a context under which things are kept.
func (k *Keeper) With(ctx context.Context) context.Context {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == nil {
		k.kept, k.now = make(map[any]any), make(map[any]any)
	}
	return context.WithValue(ctx, keeperKey{}, k)
}

// Turn ends a time: what [Still] was not asked for since the last one is dropped.
func (k *Keeper) Turn() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last, k.now = k.now, make(map[any]any)
}

// Kept returns the T of the keeper in the context, zero at first; without a keeper a new one.
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

// Still returns the value cached under key, of a type of its own, in this or the previous
// generation, or computes it; without a keeper it always computes. Callers share the value and
// must not change it.
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
