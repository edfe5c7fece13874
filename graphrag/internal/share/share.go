// SPDX-License-Identifier: Apache-2.0

// Package share keeps the replies of a build in a store, and lets several processes index the same
// documents, each of which asks a model for a share of the replies. A process goes through all of the
// work, and stops at the end of a step in which replies of other shares are missing.
package share

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// ErrMissing ends a share that needs replies of other shares. ErrItem ends one item of a step; the other
// items continue.
var (
	ErrMissing = errors.New("replies of other shares are missing")
	ErrItem    = errors.New("a reply of another share is missing")
)

// Share is the state of one process.
type Share struct {
	mine    func(key string) bool
	missing atomic.Int64
	texts   atomic.Int64
}

type (
	shareKey struct{}
	itemKey  struct{}
	item     struct{ missing atomic.Bool }
)

// With returns a context under which the keys of replies that are mine are asked for.
func With(ctx context.Context, mine func(key string) bool) (context.Context, *Share) {
	s := &Share{mine: mine}
	return context.WithValue(ctx, shareKey{}, s), s
}

// Missing returns the number of replies that were left to other shares.
func (s *Share) Missing() int { return int(s.missing.Load()) }

// Texts returns the number of texts that were embedded for it.
func (s *Share) Texts() int { return int(s.texts.Load()) }

// Embedded counts texts that were embedded.
func Embedded(ctx context.Context, n int) {
	if s, _ := ctx.Value(shareKey{}).(*Share); s != nil {
		s.texts.Add(int64(n))
	}
}

// Ask returns nil if the reply of a key is to be asked for, else [ErrItem] within an item and [ErrMissing]
// elsewhere. Without a share in the context everything is asked for.
func Ask(ctx context.Context, key string) error {
	s, _ := ctx.Value(shareKey{}).(*Share)
	if s == nil {
		return nil
	}
	i, _ := ctx.Value(itemKey{}).(*item)
	if s.mine(key) && (i == nil || !i.missing.Load()) {
		return nil
	}
	s.missing.Add(1)
	if i == nil {
		return ErrMissing
	}
	i.missing.Store(true)
	return ErrItem
}

// Item returns a context for an item of a step: what one item asks for depends on its replies before.
func Item(ctx context.Context) context.Context {
	if ctx.Value(shareKey{}) == nil || ctx.Value(itemKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, itemKey{}, new(item))
}

// End returns [ErrMissing] at the end of a step in which replies are missing: what the next step asks for
// depends on all of them.
func End(ctx context.Context) error {
	s, _ := ctx.Value(shareKey{}).(*Share)
	if s == nil || ctx.Value(itemKey{}) != nil || s.missing.Load() == 0 {
		return nil
	}
	return ErrMissing
}

// Each is [par.Each] for the items of a step that asks a model.
func Each(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	err := par.Each(ctx, n, workers, func(i int) error { return do(Item(ctx), i) })
	return cmp.Or(err, End(ctx))
}
