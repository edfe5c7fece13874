// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/postgres"
	"github.com/wildgraph/wildgraph/internal/check"
)

// refusing is a server that speaks the protocol and answers with an error: to whoever
// connects, or to the first statement.
func refusing(t *testing.T, code string, connecting bool) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				refuse(pgproto3.NewBackend(c, c), code, connecting)
			}()
		}
	}()
	return fmt.Sprintf("postgres://me@%s/db?sslmode=disable", l.Addr())
}

func refuse(b *pgproto3.Backend, code string, connecting bool) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	no := &pgproto3.ErrorResponse{Severity: "ERROR", Code: code, Message: "a test refuses"}
	if connecting {
		b.Send(no)
		_ = b.Flush()
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m := m.(type) {
		case *pgproto3.Query:
			if strings.HasPrefix(strings.ToLower(m.String), "begin") {
				b.Send(&pgproto3.CommandComplete{CommandTag: []byte("BEGIN")})
				b.Send(&pgproto3.ReadyForQuery{TxStatus: 'T'})
				continue
			}
			b.Send(no)
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Parse:
			b.Send(no)
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

// What a server says is told by the names of package store.
func TestRefused(t *testing.T) {
	for _, x := range []struct {
		what, code string
		connecting bool
		want       error
	}{
		{"the disk is full", "53100", false, store.ErrUnavailable},
		{"it starts", "57P03", true, store.ErrUnavailable},
		{"it stops", "57P01", false, store.ErrUnavailable},
		{"a password is wrong", "28P01", true, store.ErrDenied},
		{"a right is missing", "42501", false, store.ErrDenied},
		{"too many connections", "53300", true, nil},
		{"no memory is left", "53200", false, nil},
	} {
		_, err := postgres.Open(t.Context(), refusing(t, x.code, x.connecting), postgres.Options{})
		var throttled *store.ThrottledError
		if x.want != nil && !errors.Is(err, x.want) || x.want == nil && (!errors.As(err, &throttled) || throttled.After <= 0) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}

// A role that may not make schemas is told so, and nothing is there afterwards.
func TestRoleWithoutRights(t *testing.T) {
	role := fmt.Sprintf("wgtest_role_%d", os.Getpid())
	admin(t, `CREATE EXTENSION IF NOT EXISTS vector`)
	admin(t, `CREATE ROLE `+role+` LOGIN`)
	defer admin(t, `DROP ROLE `+role)
	url := strings.Replace(server(t), "://postgres@", "://"+role+"@", 1)
	if url == server(t) {
		t.Skip("the connection string names no role to replace")
	}
	schema := role + "_schema"
	check.Is(t, check.Err(postgres.Open(t.Context(), url, postgres.Options{Schema: schema})), store.ErrDenied, "a role without rights")
	db := connect(t)
	defer db.Close(context.Background())
	var n int
	err := db.QueryRow(t.Context(), `SELECT count(*) FROM pg_namespace WHERE nspname = $1`, schema).Scan(&n)
	check.True(t, err == nil && n == 0, "%d schemas are left, %v", n, err)
}
