// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/temoto/robotstxt"
)

// hosts gives each host one request at a time, with a pause after it. A request that waits for its host takes
// no slot, so slow hosts do not delay others.
type hosts struct {
	slots chan struct{}
	mu    sync.Mutex
	all   map[string]*hostState
}

type hostState struct {
	turn chan struct{} // holds one during a request
	next time.Time     // of the next request; guarded by turn

	asking sync.Once     // robots.txt
	read   chan struct{} // closed when robots.txt was read or failed
	robots *robotstxt.Group
	err    error
}

// delay returns the pause demanded by robots.txt, once that was read.
func (h *hostState) delay() time.Duration {
	select {
	case <-h.read:
		if h.robots != nil {
			return h.robots.CrawlDelay
		}
	default:
	}
	return 0
}

func (s *hosts) of(u *url.URL) *hostState {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.all[u.Host]
	if h == nil {
		if s.all == nil {
			s.all = make(map[string]*hostState)
		}
		h = &hostState{turn: make(chan struct{}, 1), read: make(chan struct{})}
		s.all[u.Host] = h
	}
	return h
}

// enter waits for the host's turn and its pause, and for a slot.
func (s *hosts) enter(ctx context.Context, u *url.URL) (*hostState, error) {
	h := s.of(u)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	err := sleep(ctx, time.Until(h.next))
	if err == nil {
		select {
		case s.slots <- struct{}{}:
			return h, nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	<-h.turn
	return nil, err
}

func (s *hosts) leave(h *hostState, pause time.Duration) {
	<-s.slots
	h.next = time.Now().Add(pause)
	<-h.turn
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errRobots = errors.New("robots.txt of the host does not want it")

// allowed reports whether the host's robots.txt permits a URL. It is read once, within Options.Timeout for
// all tries; each waiting request ends with its own context. A host that fails to deliver it permits nothing
// (RFC 9309, section 2.3.1.4); one without it permits everything.
func (f *Fetcher) allowed(ctx context.Context, u *url.URL) error {
	if f.o.NoRobots {
		return nil
	}
	h := f.hosts.of(u)
	h.asking.Do(func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.o.Timeout)
		go func() {
			defer close(h.read)
			defer cancel()
			h.robots, h.err = f.robots(limited, u)
		}()
	})
	select {
	case <-h.read:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case h.err != nil:
		return fmt.Errorf("robots.txt of the host: %w", h.err)
	case h.robots != nil && !h.robots.Test(normal(u.RequestURI())):
		return refused(errRobots)
	}
	return nil
}

func (f *Fetcher) robots(ctx context.Context, u *url.URL) (*robotstxt.Group, error) {
	at := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	for range MaxRedirects {
		a, err := f.try(ctx, at, func(ctx context.Context) (answer, error) { return f.get(ctx, f.client, at, nil) })
		var known *Error
		switch {
		case errors.As(err, &known):
			return nil, nil // missing or unreadable
		case err != nil:
			return nil, err
		case a.location != nil && checkURL(a.location) == nil:
			at = a.location
			continue
		}
		data, err := robotstxt.FromString(normal(string(a.body[:min(len(a.body), maxRobots)])))
		if err != nil {
			return nil, nil // unreadable rules forbid nothing
		}
		return data.FindGroup(f.o.Agent), nil
	}
	return nil, nil
}

var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// normal unifies the percent-encoding of paths and rules (RFC 9309, section 2.2.2): only where needed, in
// capitals.
func normal(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		c, _ := strconv.ParseUint(e[1:], 16, 8) // two digits
		if r := rune(c); r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._~", r)) {
			return string(r)
		}
		return strings.ToUpper(e)
	})
}

// maxRobots is the part of a robots.txt that is read, in bytes (RFC 9309, section 2.5).
const maxRobots = 500 << 10
