// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// named puts the schema of the catalog, and the version, into a statement.
func (s *Store) named(sql string) string {
	return strings.NewReplacer("{s}", pgx.Identifier{s.o.Schema}.Sanitize(), "{v}", strconv.Itoa(version)).Replace(sql)
}

// generationSchema is the schema of a generation.
func (s *Store) generationSchema(id int64) string {
	return pgx.Identifier{fmt.Sprintf("%s_g%d", s.o.Schema, id)}.Sanitize()
}

// tries is how often a transaction is tried that lost to another.
const tries = 5

// write runs a transaction, again if it lost to another.
func (s *Store) write(ctx context.Context, do func(pgx.Tx) error) error {
	var err error
	for n := range tries {
		if err = pgx.BeginFunc(ctx, s.pool, do); !lost(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(n+1) * 10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// errLost ends a transaction that has to be tried again.
var errLost = errors.New("another writer was faster")

// lost tells serialization failures and deadlocks.
func lost(err error) bool {
	var e *pgconn.PgError
	return errors.Is(err, errLost) || errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

var errClosed = errors.New("the store is closed")

// busyAfter is when a server is asked again that has too much to do; it does not say.
const busyAfter = time.Second

// wrap names the doing, and the errors of the server by those of package store.
func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	var e *pgconn.PgError
	var network net.Error
	switch {
	case errors.Is(err, errLost):
		err = fmt.Errorf("%w: %w", &store.ThrottledError{After: busyAfter}, err)
	case errors.As(err, &e):
		switch {
		case e.Code == "3F000" || e.Code == "42P01" || e.Code == "42883": // schema, table or search is gone
			err = fmt.Errorf("%w: the generation was discarded: %s", store.ErrNotFound, e.Message)
		case e.Code == "53100" || e.Code == "57P03" || strings.HasPrefix(e.Code, "57P0"):
			err = fmt.Errorf("%w: %s", store.ErrUnavailable, e.Message)
		case strings.HasPrefix(e.Code, "53") || lost(err):
			err = fmt.Errorf("%w: %s", &store.ThrottledError{After: busyAfter}, e.Message)
		case e.Code == "42501" || strings.HasPrefix(e.Code, "28"): // no right; no such role or password
			err = fmt.Errorf("%w: grant the right, or name another role: %s", store.ErrDenied, e.Message)
		case e.Code == "57014":
			err = fmt.Errorf("%w: %s", context.Canceled, e.Message)
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
	case errors.As(err, &network) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "unexpected EOF"):
		err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %s: %w", doing, err)
}
