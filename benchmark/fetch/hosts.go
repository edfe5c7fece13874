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
// none of the slots for hosts, so slow hosts do not delay others.
type hosts struct {
	slots chan struct{}
	mu    sync.Mutex
	all   map[string]*hostState
}

type hostState struct {
	turn chan struct{} // holds a value while a request to the host is running
	next time.Time     // earliest time of the next request; guarded by turn

	asking sync.Once     // starts reading robots.txt
	read   chan struct{} // closed when robots.txt was read or failed
	robots *robotstxt.Group
	err    error
}

// delay returns the pause that robots.txt demands; 0 until it has been read.
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

// enter waits for the turn of the host, for its pause, and for a slot.
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

var errRobots = errors.New("robots.txt of the host forbids the page")

// allowed reports whether the host's robots.txt permits a URL. The file is read once, within Options.Timeout
// for all tries; a caller that waits for it stops when its own context ends. A host that fails to deliver the
// file permits nothing (RFC 9309, section 2.3.1.4); a host without the file permits everything.
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
			return nil, nil // the host has no readable robots.txt
		case err != nil:
			return nil, err
		case a.location != nil && checkURL(a.location) == nil:
			at = a.location
			continue
		}
		data, err := robotstxt.FromString(normal(string(a.body[:min(len(a.body), maxRobots)])))
		if err != nil {
			return nil, nil // a robots.txt that cannot be parsed forbids nothing
		}
		return data.FindGroup(f.o.Agent), nil
	}
	return nil, nil
}

var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// normal unifies the percent-encoding of paths and rules (RFC 9309, section 2.2.2): unreserved characters are
// not encoded, other encodings use capitals.
func normal(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		c, _ := strconv.ParseUint(e[1:], 16, 8) // two hexadecimal digits always parse
		if r := rune(c); r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._~", r)) {
			return string(r)
		}
		return strings.ToUpper(e)
	})
}

// maxRobots is the number of bytes that are read of a robots.txt (RFC 9309, section 2.5).
const maxRobots = 500 << 10

// Resolver resolves host names to addresses. A net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// guard allows public addresses and the ports of the web; it refuses IANA's special addresses and Azure's
// host service, which has a public address.
var guard = ssrf.New(ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))

// Public is the default of Options.Allow. It permits public addresses at the ports 80 and 443.
func Public(to netip.AddrPort) error {
	return guard.SafeAddrPort(netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
}

// dialer connects to allowed addresses only. It checks the resolved addresses, and again the address to which
// the operating system connects.
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

// lookUp returns all addresses of a host. If any of them is not allowed, the host is refused.
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

// refusal is the error of a request that must not be sent, and is not repeated.
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

// checkURL refuses URLs that cannot be URLs of web pages.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return refused(fmt.Errorf("scheme %q: want http or https", u.Scheme))
	case u.User != nil:
		return refused(errors.New("the URL has a user name or a password"))
	case u.Hostname() == "":
		return refused(errors.New("the URL has no host"))
	}
	return nil
}
