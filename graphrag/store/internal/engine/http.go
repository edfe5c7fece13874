// SPDX-License-Identifier: Apache-2.0

package engine

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

// Client sends requests to the nodes of an engine.
type Client struct {
	// Nodes are base URLs. Each request goes to the next; one that did not answer is
	// left out for a while.
	Nodes []string
	// HTTP sends; nil is http.DefaultClient.
	HTTP *http.Client
	// Header is that of every request.
	Header http.Header
	// Wait is how long a call may wait, in all, for nodes that are busy or away. 0 is
	// ten seconds, less is not at all.
	Wait time.Duration
	// Name names an error by the engine's own words for it; nil leaves it to the status.
	Name func(status int, answer []byte) error

	mu   sync.Mutex
	next int
	away map[string]time.Time
}

// Check reports what is wrong with the settings.
func (c *Client) Check() error {
	var errs []error
	if len(c.Nodes) == 0 {
		errs = append(errs, errors.New("there are no Nodes: name the base URL of one or more"))
	}
	for i, node := range c.Nodes {
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

// Request is one request.
type Request struct {
	Method, Path string
	Body         any // JSON, or []byte as it is
	Type         string
	// Once says that it must not be sent again if it is not known whether it arrived.
	Once bool
}

const (
	defaultWait = 10 * time.Second
	awayFor     = 3 * time.Second        // a node that did not answer is left out
	firstPause  = 50 * time.Millisecond  // doubled with each try
	longPause   = 2 * time.Second        // the longest that is not asked for
	busyPause   = 500 * time.Millisecond // of a node that throttles and does not say how long
	maxAnswer   = 1 << 30
)

// Do sends a request, again while it may help, and reads the JSON of the answer.
func (c *Client) Do(ctx context.Context, r Request, into any) error {
	return c.Again(ctx, r.Once, func() error { return c.Once(ctx, r, into) })
}

var errNotSent = errors.New("no connection")

// Again does what fails with store.ErrUnavailable or a *store.ThrottledError until it
// does not, or Wait is over. once says that only what was throttled, or did not reach the
// node, is done again.
func (c *Client) Again(ctx context.Context, once bool, do func() error) error {
	left := cmp.Or(c.Wait, defaultWait)
	for n := 0; ; n++ {
		err := do()
		var throttled *store.ThrottledError
		pause := min(firstPause<<min(n, 10), longPause)
		switch {
		case errors.As(err, &throttled):
			pause = throttled.After
		case !errors.Is(err, store.ErrUnavailable) || once && !errors.Is(err, errNotSent):
			return err
		case n < len(c.Nodes)-1:
			pause = 0 // another node may answer
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

// Once sends a request to one node.
func (c *Client) Once(ctx context.Context, r Request, into any) error {
	body, isBytes := r.Body.([]byte)
	if r.Body != nil && !isBytes {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return err
		}
	}
	node := c.node()
	q, err := http.NewRequestWithContext(ctx, r.Method, strings.TrimRight(node, "/")+r.Path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if c.Header != nil {
		q.Header = c.Header.Clone()
	}
	if body != nil {
		q.Header.Set("Content-Type", cmp.Or(r.Type, "application/json"))
	}
	answer, err := c.send(q)
	if errors.Is(err, store.ErrUnavailable) {
		c.leave(node)
	}
	if err == nil && into != nil {
		if err = json.Unmarshal(answer, into); err != nil {
			err = fmt.Errorf("%w: %s %s answered what is no JSON of the engine: is it one? %w", store.ErrMismatch, r.Method, r.Path, err)
		}
	}
	return err
}

func (c *Client) send(q *http.Request) ([]byte, error) {
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(q)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
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
		return body, nil
	}
	if c.Name != nil {
		if err := c.Name(answer.StatusCode, body); err != nil {
			return nil, err
		}
	}
	return nil, statusError(answer, fmt.Sprintf("%s %s: %s: %.300s", q.Method, q.URL.Path, answer.Status, body))
}

// statusError names an error by the status of an answer.
func statusError(answer *http.Response, text string) error {
	switch s := answer.StatusCode; {
	case s == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s", &store.ThrottledError{After: retryAfter(answer.Header)}, text)
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		return fmt.Errorf("%w: %s", store.ErrDenied, text)
	case s == http.StatusNotFound:
		return fmt.Errorf("%w: %s", store.ErrNotFound, text)
	case s == http.StatusConflict:
		return fmt.Errorf("%w: %s", store.ErrConflict, text)
	case s >= 500 || s == http.StatusRequestTimeout:
		return fmt.Errorf("%w: %s", store.ErrUnavailable, text)
	}
	return fmt.Errorf("%w: %s", store.ErrInvalid, text)
}

// retryAfter reads Retry-After in seconds, or parts of them. A date would have to be
// compared with a clock, which may jump, and counts as no word.
func retryAfter(h http.Header) time.Duration {
	s, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After")), 64)
	if err != nil || !(s > 0) {
		return busyPause
	}
	return time.Duration(min(s, 3600) * float64(time.Second))
}

// node is the next that is not known to be away; all are: the next.
func (c *Client) node() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := c.next
	for i := range c.Nodes {
		c.next = (first + i + 1) % len(c.Nodes)
		node := c.Nodes[(first+i)%len(c.Nodes)]
		if since, was := c.away[node]; !was || time.Since(since) > awayFor {
			return node
		}
	}
	return c.Nodes[first]
}

func (c *Client) leave(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away == nil {
		c.away = make(map[string]time.Time)
	}
	c.away[node] = time.Now()
}
