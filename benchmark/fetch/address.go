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
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

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
	err = fmt.Errorf("%s has no address", host)
	for _, to := range all {
		var c net.Conn
		if c, err = d.net.DialContext(ctx, network, to.String()); err == nil {
			return c, nil
		}
	}
	return nil, err
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
