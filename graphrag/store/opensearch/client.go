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

// client sends requests over HTTP to the nodes of a cluster. If a node does not answer, the next one is asked;
// a node that is overloaded is asked again after the time that it names.
type client struct {
	// nodes are base URLs, used in turn. A node that did not answer is skipped for the time awayFor.
	nodes []string
	o     Options // HTTP, Header and Wait are used

	mu   sync.Mutex
	next int
	away map[string]time.Time
}

// check returns an error for node URLs that cannot be used.
func (c *client) check() error {
	var errs []error
	if len(c.nodes) == 0 {
		errs = append(errs, errors.New("no node is given: pass the base URL of one or more"))
	}
	for i, node := range c.nodes {
		u, err := url.Parse(node)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			errs = append(errs, fmt.Errorf("node %d is not a base URL such as https://host:9200, or contains a password, which belongs in Options.Header", i))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w addresses of nodes: %w", store.ErrInvalid, err)
	}
	return nil
}

type request struct {
	method, path string
	body         any    // a []byte is sent as it is, another value as JSON
	contentType  string // application/json if empty
	// once forbids a retry when it is unknown whether the request arrived.
	once bool
}

// answeredWithin is the timeout of one request, unless Options.HTTP is set; a merge of vectors takes minutes.
var answeredWithin = 10 * time.Minute

const (
	defaultWait = 10 * time.Second
	awayFor     = 3 * time.Second        // time for which a node that did not answer is skipped
	firstPause  = 50 * time.Millisecond  // pause before the first retry, doubled with each
	longPause   = 2 * time.Second        // longest pause that no server asked for
	busyPause   = 500 * time.Millisecond // pause if an overloaded node names none
	maxAnswer   = 1 << 30
)

// do sends a request, with retries, and decodes the JSON of the answer.
func (c *client) do(ctx context.Context, r request, into any) error {
	return c.again(ctx, r.once, func() error { return c.once(ctx, r, into) })
}

var errNotSent = errors.New("there is no connection to the node")

// again repeats a call that fails with store.ErrUnavailable or a *store.ThrottledError until it succeeds or the
// pauses add up to Options.Wait. With once, only calls that were throttled or did not reach the node are
// repeated.
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
			return err // no node answered in time
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
	q.Header.Set("Accept-Encoding", "identity") // in a fast network gzip takes more time than it saves
	if data != nil {
		q.Header.Set("Content-Type", cmp.Or(r.contentType, "application/json"))
	}
	answer, err := c.send(q)
	if errors.Is(err, store.ErrUnavailable) {
		c.leave(node)
	}
	if err == nil && into != nil {
		if err = json.Unmarshal(answer, into); err != nil {
			err = fmt.Errorf("%w: the answer to %s %s is not JSON of OpenSearch: check that the node is an OpenSearch server: %w", store.ErrMismatch, r.method, r.path, err)
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
		_ = answer.Body.Close() // the body was read
	}
	if err != nil {
		if ctx := q.Context().Err(); ctx != nil {
			return nil, ctx
		}
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			err = fmt.Errorf("%w, the request was not sent: %w", errNotSent, err)
		}
		return nil, fmt.Errorf("%w: the node did not answer: %w", store.ErrUnavailable, err)
	}
	if answer.StatusCode < 300 {
		return data, nil
	}
	if err := namedError(answer.StatusCode, data); err != nil {
		return nil, err
	}
	return nil, statusError(answer.StatusCode, retryAfter(answer.Header), fmt.Sprintf("%s %s: %s: %.300s", q.Method, q.URL.Path, answer.Status, data))
}

// statusError maps an HTTP status to an error of package store; after is the pause that the node asks for.
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

// node returns the next node that is not skipped, or the next one if all are.
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
	errExists     = errors.New("the index exists")
	errNoDocument = errors.New("there is no such document")
)

// cause describes an error in an answer of OpenSearch.
type cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// namedError maps the error type in an answer to an error; if it returns nil, the HTTP status decides.
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
		"cluster_block_exception":           store.ErrUnavailable, // the disk is full, or the cluster has no manager node
		"search_context_missing_exception":  store.ErrUnavailable, // the node that kept the point in time is gone
		"shard_not_found_exception":         store.ErrUnavailable, // the shard failed and was not recovered yet
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
