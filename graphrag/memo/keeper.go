// SPDX-License-Identifier: Apache-2.0

package memo

import (
	"context"
	"reflect"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Keeper keeps what is made over and over of things of which most stay, such as an index of
// documents that come and go, from one time to the next. The zero value is an empty one.
type Keeper struct {
	mu   sync.Mutex
	kept map[any]any
}

type keeperKey struct{}

// With returns a context under which things are kept.
func (k *Keeper) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, keeperKey{}, k)
}

// Kept returns the T of the keeper in the context, zero at first; without a keeper a new one.
func Kept[T any](ctx context.Context) *T { return kept[T](ctx, reflect.TypeFor[T]()) }

func kept[T any](ctx context.Context, key any) *T {
	k, _ := ctx.Value(keeperKey{}).(*Keeper)
	if k == nil {
		return new(T)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = make(map[any]any)
	}
	v, ok := k.kept[key].(*T)
	if !ok {
		v = new(T)
		k.kept[key] = v
	}
	return v
}

// Each makes n values, each under a key of what it is made of. Under a keeper, those that were made
// the last time under the same name are taken from there. Values are shared: nobody may change them.
func Each[K comparable, V any](ctx context.Context, name string, n int, key func(int) K, make_ func(int) (V, error)) ([]V, error) {
	type last struct {
		sync.Mutex
		made map[K]V
	}
	before := kept[last](ctx, [2]any{name, reflect.TypeFor[last]()})
	before.Lock()
	defer before.Unlock()
	keys, out := make([]K, n), make([]V, n)
	err := par.Each(ctx, n, 0, func(i int) (err error) {
		var ok bool
		keys[i] = key(i)
		if out[i], ok = before.made[keys[i]]; !ok {
			out[i], err = make_(i)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	before.made = make(map[K]V, n)
	for i, k := range keys {
		before.made[k] = out[i]
	}
	return out, nil
}
