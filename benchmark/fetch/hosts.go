// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"code.dny.dev/ssrf"
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
	select {
	case <-time.After(time.Until(h.next)):
		select {
		case s.slots <- struct{}{}:
			return h, nil
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	<-h.turn
	return nil, ctx.Err()
}

func (s *hosts) leave(h *hostState, pause time.Duration) {
	<-s.slots
	h.next = time.Now().Add(pause)
	<-h.turn
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

// Resolver resolves names to addresses, as net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// guard allows public addresses and the ports of the web; it refuses IANA's special addresses and Azure's
// host service, which has a public address.
var guard = ssrf.New(ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))

// Public is the default of Options.Allow: public addresses, at the ports 80 and 443.
func Public(to netip.AddrPort) error {
	return guard.SafeAddrPort(netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
}

// dialer connects to allowed addresses. The last check is of the address that the system connects to.
type dialer struct {
	resolver Resolver
	allow    func(netip.AddrPort) error
	net      net.Dialer
}

func newDialer(r Resolver, allow func(netip.AddrPort) error) *dialer {
	d := &dialer{resolver: r, allow: allow, net: net.Dialer{Timeout: 20 * time.Second}}
	d.net.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return refused(err)
		}
		return refused(d.allow(to))
	}
	return d
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	all, err := d.lookUp(ctx, host, port)
	if err != nil {
		return nil, err
	}
	var c net.Conn
	err = fmt.Errorf("%s has no address", host)
	for i := 0; i < len(all) && err != nil; i++ {
		c, err = d.net.DialContext(ctx, network, all[i].String())
	}
	return c, err
}

// lookUp returns the addresses of a host, all or none: a name that also leads inside is refused.
func (d *dialer) lookUp(ctx context.Context, host, port string) ([]netip.AddrPort, error) {
	number, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return nil, refused(err)
	}
	addresses, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var out []netip.AddrPort
	for _, a := range addresses {
		to := netip.AddrPortFrom(a.Unmap(), uint16(number))
		if err := d.allow(to); err != nil {
			return nil, refused(err)
		}
		out = append(out, to)
	}
	return out, nil
}

// refusal is a permanent error.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

func refused(err error) error {
	if err == nil {
		return nil
	}
	return refusal{err}
}

func (d *dialer) transport() *http.Transport {
	return &http.Transport{
		DialContext:            d.dial,
		TLSHandshakeTimeout:    20 * time.Second,
		ResponseHeaderTimeout:  60 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConns:           128,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
}

// checkURL refuses URLs that are not of web pages.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refused(fmt.Errorf("scheme %q: only http and https are asked", u.Scheme))
	case u.User != nil:
		return refused(errors.New("a name or password in the URL"))
	case u.Hostname() == "":
		return refused(errors.New("no host"))
	}
	return nil
}
