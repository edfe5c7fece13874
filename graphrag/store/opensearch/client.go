// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// client sends requests over HTTP to the nodes of a cluster: to the next node if one does
// not answer, again after the time that a throttling node asks for.
type client struct {
	// nodes are base URLs, used in turn. A node that did not answer is skipped for awayFor.
	nodes []string
	o     Options // HTTP, Header and Wait

	mu   sync.Mutex
	next int
	away map[string]time.Time
}

// check reports unusable node URLs.
func (c *client) check() error {
	var errs []error
	if len(c.nodes) == 0 {
		errs = append(errs, errors.New("there are no Nodes: name the base URL of one or more"))
	}
	for i, node := range c.nodes {
		u, err := url.Parse(node)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			errs = append(errs, fmt.Errorf("node %d is no base URL such as https://host:9200, or holds a password: those belong into Header", i))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", store.ErrInvalid, err)
	}
	return nil
}

// request is one request.
type request struct {
	method, path string
	body         any    // JSON, or []byte as it is
	contentType  string // application/json if empty
	// once forbids sending it again when it is unknown whether it arrived.
	once bool
}

// answeredWithin is the longest time of one request, unless Options.HTTP is set; a merge of vectors takes minutes.
var answeredWithin = 10 * time.Minute

const (
	defaultWait = 10 * time.Second
	awayFor     = 3 * time.Second        // how long a node that did not answer is skipped
	firstPause  = 50 * time.Millisecond  // doubled with each try
	longPause   = 2 * time.Second        // the longest pause that no server asked for
	busyPause   = 500 * time.Millisecond // for a throttling node, or part of a request, that names no time
	maxAnswer   = 1 << 30
)

// do sends a request, with retries, and decodes the JSON of the answer.
func (c *client) do(ctx context.Context, r request, into any) error {
	return c.again(ctx, r.once, func() error { return c.once(ctx, r, into) })
}

var errNotSent = errors.New("no connection")

// again repeats a call that fails with store.ErrUnavailable or a *store.ThrottledError until
// it succeeds or Wait is used up. With once, only calls that were throttled or did not
// reach the node are repeated.
func (c *client) again(ctx context.Context, once bool, call func() error) error {
	left := cmp.Or(c.o.Wait, defaultWait)
	for n := 0; ; n++ {
		err := call()
		var throttled *store.ThrottledError
		var late net.Error
		pause := min(firstPause<<min(n, 10), longPause)
		switch {
		case errors.As(err, &throttled):
			pause = throttled.After
		case !errors.Is(err, store.ErrUnavailable) || once && !errors.Is(err, errNotSent):
			return err
		case n < len(c.nodes)-1:
			pause = 0 // another node may answer
		case errors.As(err, &late) && late.Timeout():
			return err // none does
		default:
			pause = pause/2 + rand.N(pause/2+1)
		}
		if left -= pause; left < 0 {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// once sends a request to one node.
func (c *client) once(ctx context.Context, r request, into any) error {
	data, isBytes := r.body.([]byte)
	if r.body != nil && !isBytes {
		var err error
		if data, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	node := c.node()
	q, err := http.NewRequestWithContext(ctx, r.method, strings.TrimRight(node, "/")+r.path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	if c.o.Header != nil {
		q.Header = c.o.Header.Clone()
	}
	if data != nil {
		q.Header.Set("Content-Type", cmp.Or(r.contentType, "application/json"))
	}
	answer, err := c.send(q)
	if errors.Is(err, store.ErrUnavailable) {
		c.leave(node)
	}
	if err == nil && into != nil {
		if err = json.Unmarshal(answer, into); err != nil {
			err = fmt.Errorf("%w: %s %s answered what is no JSON of OpenSearch: is it one? %w", store.ErrMismatch, r.method, r.path, err)
		}
	}
	return err
}

func (c *client) send(q *http.Request) ([]byte, error) {
	sender := c.o.HTTP
	if sender == nil {
		sender = &http.Client{Timeout: answeredWithin}
	}
	answer, err := sender.Do(q)
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
		_ = answer.Body.Close() // it was read
	}
	if err != nil {
		if ctx := q.Context().Err(); ctx != nil {
			return nil, ctx
		}
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			err = fmt.Errorf("%w: %w", errNotSent, err)
		}
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if answer.StatusCode < 300 {
		return data, nil
	}
	if err := namedError(answer.StatusCode, data); err != nil {
		return nil, err
	}
	return nil, statusError(answer.StatusCode, retryAfter(answer.Header), fmt.Sprintf("%s %s: %s: %.300s", q.Method, q.URL.Path, answer.Status, data))
}

// statusError names an error by a status; after is the pause that a throttling node asks for.
func statusError(status int, after time.Duration, text string) error {
	var kind error = store.ErrInvalid
	switch {
	case status == http.StatusTooManyRequests:
		kind = &store.ThrottledError{After: after}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		kind = store.ErrDenied
	case status == http.StatusNotFound:
		kind = store.ErrNotFound
	case status == http.StatusConflict:
		kind = store.ErrConflict
	case status >= 500 || status == http.StatusRequestTimeout:
		kind = store.ErrUnavailable
	}
	return fmt.Errorf("%w: %s", kind, text)
}

// retryAfter reads Retry-After in seconds, fractions included. A date is ignored: it would
// have to be compared with a clock, which may jump.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64)
	if err != nil || !(s > 0) {
		return busyPause
	}
	return time.Duration(min(s, 3600) * float64(time.Second))
}

// node returns the next node that is not known to be away, or just the next.
func (c *client) node() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.next
	for i := range c.nodes {
		c.next = (first + i + 1) % len(c.nodes)
		node := c.nodes[(first+i)%len(c.nodes)]
		if since, was := c.away[node]; !was || time.Since(since) > awayFor {
			return node
		}
	}
	return c.nodes[first]
}

func (c *client) leave(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away == nil {
		c.away = make(map[string]time.Time)
	}
	c.away[node] = time.Now()
}

var (
	errExists     = errors.New("it exists")
	errNoDocument = errors.New("no document")
)

// cause is OpenSearch's description of an error.
type cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// namedError maps OpenSearch's error types; nil leaves it to the status.
func namedError(status int, answer []byte) error {
	var e struct {
		Error json.RawMessage `json:"error"`
		Found *bool           `json:"found"`
	}
	if json.Unmarshal(answer, &e) != nil {
		return nil
	}
	if status == http.StatusNotFound && e.Found != nil {
		return errNoDocument
	}
	var c cause
	if json.Unmarshal(e.Error, &c) != nil {
		return nil
	}
	return c.name(status)
}

func (c cause) name(status int) error {
	kind := map[string]error{
		"index_not_found_exception":         store.ErrNotFound,
		"aliases_not_found_exception":       store.ErrNotFound,
		"resource_already_exists_exception": errExists,
		"invalid_alias_name_exception":      errExists,
		"cluster_block_exception":           store.ErrUnavailable, // the disk is full, or there is no manager
		"search_context_missing_exception":  store.ErrUnavailable, // of an iteration; its node is gone
		"shard_not_found_exception":         store.ErrUnavailable, // it failed, as on a full disk, and is not back yet
	}[c.Type]
	if kind == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %s", kind, c.Type, c.Reason)
}

// error returns the typed error of one part of a request.
func (c *cause) error(status int) error {
	if c == nil {
		return nil
	}
	if err := c.name(status); err != nil {
		return err
	}
	return statusError(status, busyPause, c.Type+": "+c.Reason)
}
