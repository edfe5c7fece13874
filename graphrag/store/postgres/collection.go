// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// collection implements [store.Collection].
type collection struct {
	store  *Store
	name   string
	id     int64
	schema store.Schema
}

// Schema implements [store.Collection].
func (c *collection) Schema() store.Schema { return c.schema }

// Write implements [store.Collection].
func (c *collection) Write(ctx context.Context, name string) (store.Generation, error) {
	if err := store.CheckName("generation", name); err != nil {
		return nil, wrap("write", err)
	}
	var id int64
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, c.store.named(`SELECT id FROM {s}.generations WHERE collection = $1 AND name = $2 AND NOT gone`), c.id, name).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		err = tx.QueryRow(ctx, c.store.named(`INSERT INTO {s}.generations (collection, name) VALUES ($1, $2) RETURNING id`), c.id, name).Scan(&id)
		if err == nil {
			_, err = tx.Exec(ctx, c.tables(id))
		}
		return err
	})
	if err != nil {
		return nil, wrap("write generation "+name, err)
	}
	return c.handle(ctx, id, name, false)
}

// lock makes changes of a collection wait for each other. It was dropped: ErrNotFound.
func (c *collection) lock(ctx context.Context, tx pgx.Tx) error {
	var one int
	err := tx.QueryRow(ctx, c.store.named(`SELECT 1 FROM {s}.collections WHERE id = $1 FOR UPDATE`), c.id).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("collection %q: %w: it was dropped", c.name, store.ErrNotFound)
	}
	return err
}

// Pin implements [store.Collection].
func (c *collection) Pin(ctx context.Context) (store.Generation, error) {
	for {
		id, name, err := c.published(ctx)
		if err != nil {
			return nil, wrap("pin", err)
		}
		g, err := c.handle(ctx, id, name, true)
		if err != nil {
			return nil, err
		}
		// It may have been discarded between the two.
		var gone bool
		err = c.store.pool.QueryRow(ctx, c.store.named(`SELECT coalesce((SELECT gone FROM {s}.generations WHERE id = $1), true)`), id).Scan(&gone)
		if err == nil && !gone {
			return g, nil
		}
		if err = errors.Join(err, g.Close()); err != nil {
			return nil, wrap("pin", err)
		}
	}
}

func (c *collection) published(ctx context.Context) (id int64, name string, err error) {
	err = c.store.pool.QueryRow(ctx, c.store.named(`
		SELECT g.id, g.name FROM {s}.collections c JOIN {s}.generations g ON g.id = c.published WHERE c.id = $1`), c.id).Scan(&id, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("collection %q: %w: nothing is published", c.name, store.ErrNotFound)
	}
	return id, name, err
}

// Publish implements [store.Collection].
func (c *collection) Publish(ctx context.Context, name, was string) error {
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		var id int64
		err := tx.QueryRow(ctx, c.store.named(`SELECT id FROM {s}.generations WHERE collection = $1 AND name = $2 AND NOT gone`), c.id, name).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
		}
		if err != nil {
			return err
		}
		var now string
		err = tx.QueryRow(ctx, c.store.named(`
			SELECT coalesce(g.name, '') FROM {s}.collections c LEFT JOIN {s}.generations g ON g.id = c.published WHERE c.id = $1`), c.id).Scan(&now)
		if err == nil && now != was {
			err = fmt.Errorf("%w: %q is published, not %q", store.ErrConflict, now, was)
		}
		if err == nil {
			_, err = tx.Exec(ctx, c.store.named(`UPDATE {s}.collections SET published = $2 WHERE id = $1`), c.id, id)
		}
		return err
	})
	return wrap("publish", err)
}

// Generations implements [store.Collection].
func (c *collection) Generations(ctx context.Context) (names []string, published string, err error) {
	rows, err := c.store.pool.Query(ctx, c.store.named(`SELECT name FROM {s}.generations WHERE collection = $1 AND NOT gone ORDER BY name`), c.id)
	if err == nil {
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err == nil {
		if _, published, err = c.published(ctx); errors.Is(err, store.ErrNotFound) {
			err = nil
		}
	}
	return names, published, wrap("generations", err)
}

// Discard implements [store.Collection].
func (c *collection) Discard(ctx context.Context, name string) error {
	err := c.store.write(ctx, func(tx pgx.Tx) error {
		if err := c.lock(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, c.store.named(`
			UPDATE {s}.generations g SET gone = true FROM {s}.collections c
			WHERE c.id = $1 AND g.collection = c.id AND g.name = $2 AND NOT g.gone AND g.id IS DISTINCT FROM c.published`), c.id, name)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		if _, now, err := c.published(ctx); err == nil && now == name {
			return fmt.Errorf("%w: generation %q is published: publish another first", store.ErrConflict, name)
		}
		return fmt.Errorf("generation %q: %w", name, store.ErrNotFound)
	})
	if err == nil {
		err = c.store.sweep(ctx)
	}
	return wrap("discard", err)
}
