// SPDX-License-Identifier: Apache-2.0

package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
)

func TestPublic(t *testing.T) {
	for _, a := range []string{
		"127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "100.100.100.200", "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "203.0.113.9", "168.63.129.16",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "2001:db8::1", "::127.0.0.1", "3fff::1", "5f00::1",
		"192.0.0.192", "169.254.170.2", "fd20:ce::254", "2606:4700::1%eth0", "192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1",
	} {
		check.True(t, Public(netip.AddrPortFrom(netip.MustParseAddr(a), 443)) != nil, "%s is let through", a)
	}
	for _, a := range []string{"93.184.215.14", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::6810:84e5", "2a00:1450:4001::1"} {
		check.OK(t, Public(netip.AddrPortFrom(netip.MustParseAddr(a), 80)), "%s", a)
		for _, port := range []uint16{0, 22, 25, 8080, 6379} {
			check.True(t, Public(netip.AddrPortFrom(netip.MustParseAddr(a), port)) != nil,
				"port %d is let through", port)
		}
	}
}

// web is a server with many host names, on the loopback interface.
type web struct {
	*httptest.Server
	at    netip.AddrPort
	names map[string][]netip.Addr // addresses of other names; each look-up takes the next one
	mu    sync.Mutex
	agent atomic.Value
}

func newWeb(t *testing.T, pages map[string]http.HandlerFunc) *web {
	w := &web{names: make(map[string][]netip.Addr)}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.agent.Store(r.UserAgent())
		if page := pages[r.URL.Path]; page != nil {
			page(rw, r)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(w.Close)
	w.at = netip.MustParseAddrPort(strings.TrimPrefix(w.URL, "http://"))
	return w
}

// LookupNetIP returns the server's address for every name, except listed names and literal addresses.
func (w *web) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if all := w.names[host]; len(all) > 0 {
		w.names[host] = append(all[1:], all[0])
		return all[:1], nil
	}
	return []netip.Addr{w.at.Addr()}, nil
}

// allow permits connections to the server, and others that Public permits.
func (w *web) allow(to netip.AddrPort) error {
	if to == w.at {
		return nil
	}
	return Public(netip.AddrPortFrom(to.Addr(), 80))
}

func (w *web) page(path string) string {
	return fmt.Sprintf("http://page.example:%d%s", w.at.Port(), path)
}

func (w *web) options() Options {
	return Options{Agent: "test/1.0", Pause: time.Millisecond, MaxPause: 20 * time.Millisecond, Timeout: 300 * time.Millisecond, MaxBytes: 1 << 16, Tries: 2, Resolver: w, Allow: w.allow}
}

func send(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

//go:embed testdata/pages.tsv
var pagesTable string

func TestPage(t *testing.T) {
	const html = "<title>Owls</title><h1>Owls</h1><p>Barn owls hunt by ear."
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 64<<20))
	z.Close()
	var once atomic.Bool
	w := newWeb(t, map[string]http.HandlerFunc{
		"/good":    send("text/html", html),
		"/moved":   redirect("/good#part"),
		"/loop":    redirect("/loop"),
		"/inside":  redirect("http://127.0.0.2/latest/meta-data/"),
		"/octal":   redirect("http://hidden.example/"),
		"/file":    redirect("file:///etc/passwd"),
		"/latin":   send("text/plain; charset=iso-8859-1", "caf\xe9 au lait"),
		"/meta":    send("text/html", "<meta charset=koi8-r><p>\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2"),
		"/escape":  send("text/plain", "owls\x1b[31m hunt\x00\r\nby ear \x9b2J"),
		"/picture": send("image/png", "\x89PNG\r\n\x1a\n\x00\x00"),
		"/empty":   send("text/html", "<script>x()</script>"),
		"/packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write([]byte("words that are none"))
		},
		"/huge": send("text/plain", strings.Repeat("owl ", 1<<16)),
		"/bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		},
		"/slow":     func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
		"/gone":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) },
		"/down":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"/private/": send("text/html", html),
		"/busy": func(w http.ResponseWriter, _ *http.Request) {
			if !once.Swap(true) {
				w.Header().Set("Retry-After", "60")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			io.WriteString(w, "at last, an owl")
		},
		"/robots.txt": send("text/plain", "User-agent: *\nDisallow: /private/\nDisallow: /*?secret\nDisallow: /%63losed\n"),
	})
	w.names["hidden.example"] = []netip.Addr{netip.MustParseAddr("127.0.0.2")}
	w.names["rebind.example"] = []netip.Addr{w.at.Addr(), w.at.Addr(), netip.MustParseAddr("127.0.0.3")}
	f := check.Of(New(w.options())).OK(t)
	for _, row := range strings.Split(strings.TrimRight(pagesTable, "\n"), "\n")[1:] {
		cells := strings.Split(row, "\t")
		url, text, kind := cells[0], strings.ReplaceAll(cells[1], `\n`, "\n"), Kind(cells[2])
		if strings.HasPrefix(url, "/") {
			url = w.page(url)
		}
		page, err := f.Page(t.Context(), url)
		var e *Error
		switch {
		case kind == "" && err != nil:
			t.Errorf("%s: %v", url, err)
		case kind == "" && !strings.Contains(page.Text, text):
			t.Errorf("%s: %q lacks %q", url, page.Text, text)
		case kind != "" && (!errors.As(err, &e) || e.Kind != kind):
			t.Errorf("%s: %v, want %s", url, err, kind)
		}
	}
	got := w.agent.Load()
	check.True(t, got == "test/1.0", "agent %q", got)

	// A name that first resolves to a public address and then to a private one.
	rebound := fmt.Sprintf("http://rebind.example:%d/good", w.at.Port())
	check.OK(t, check.Err(f.Page(t.Context(), rebound)))
	f.client.CloseIdleConnections()
	kinds := make(map[Kind]int)
	for range 3 {
		var e *Error
		if _, err := f.Page(t.Context(), rebound); errors.As(err, &e) {
			kinds[e.Kind]++
		}
		f.client.CloseIdleConnections()
	}
	check.True(t, kinds[Refused] != 0, "a name that was bound anew was never refused: %v", kinds)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(f.Page(ctx, w.page("/good"))), context.Canceled, "cancelled")
}

func TestReader(t *testing.T) {
	const key = "secret-key"
	w := newWeb(t, map[string]http.HandlerFunc{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	})
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key:
			rw.WriteHeader(http.StatusUnauthorized)
		case strings.Contains(r.URL.Path, "junk"):
			io.WriteString(rw, "no JSON")
		default:
			fmt.Fprintf(rw, `{"code":200,"data":{"title":"Owls\u001b[2J","url":"https://final.example/","content":"asked for %s"}}`, r.URL.Path)
		}
	}))
	defer service.Close()
	o := w.options()
	var err error
	o.Reader = check.Of(NewReader(service.URL, key)).OK(t)
	f := check.Of(New(o)).OK(t)
	page, err := f.Page(t.Context(), w.page("/owls"))
	check.True(t, err == nil && strings.HasSuffix(page.Text, "/owls") && strings.Contains(page.Text, "http:") &&
		!strings.Contains(page.Title, "\x1b"), "%+v, %v", page, err)
	for address, kind := range map[string]Kind{w.page("/junk"): NoText, "http://127.0.0.2/": Refused, "file:///etc/passwd": Refused} {
		var e *Error
		_, err := f.Page(t.Context(), address)
		check.True(t, errors.As(err, &e) && e.Kind == kind && !strings.Contains(err.Error(), key), "%s: %v, want %s", address, err, kind)
	}
	_, err = NewReader("http://reader.example", key)
	check.True(t, err != nil && !strings.Contains(err.Error(), key), "a key in the clear: %v", err)
	s := fmt.Sprintf("%v %+v %#v %s", o.Reader, o.Reader, o.Reader, o.Reader)
	check.True(t, !strings.Contains(s, key), "the key shows in %s", s)
}

// roundTrips answers requests without a network.
type roundTrips func(*http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A robots.txt that hangs is requested within the time of one request, whatever the contexts of the pages. A
// waiting caller whose own context ends returns, and the host is not asked again.
func TestRobotsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := check.Of(New(Options{Agent: "test/1.0", Timeout: time.Minute})).OK(t)
		var asked atomic.Int32
		f.client.Transport = roundTrips(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		page := func(limit, want time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, err := f.Page(ctx, "https://slow.example/a")
			check.True(t, err != nil && time.Since(start) == want, "%v after %v, want an error after %v", err, time.Since(start), want)
		}
		var all sync.WaitGroup
		all.Go(func() { page(time.Second, time.Second) })
		all.Go(func() { page(2*time.Second, 2*time.Second) })
		all.Go(func() { page(time.Hour, time.Minute) })
		all.Wait()
		page(time.Hour, time.Minute)
		n := asked.Load()
		check.Equal(t, n, 1, "the host was asked %d times", n)
	})
}

// The pause that robots.txt demands is kept, up to MaxPause.
func TestCrawlDelay(t *testing.T) {
	for ask, want := range map[string]time.Duration{"7": 7 * time.Second, "900": 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := check.Of(New(Options{Agent: "test/1.0"})).OK(t)
			f.client.Transport = roundTrips(func(*http.Request) (*http.Response, error) {
				body := "User-agent: *\nCrawl-delay: " + ask + "\n"
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
			})
			var at [2]time.Time
			for i := range at {
				check.OK(t, check.Err(f.Page(t.Context(), fmt.Sprintf("https://owls.example/%d", i))))
				at[i] = time.Now()
			}
			check.Equal(t, at[1].Sub(at[0]), want, "Crawl-delay %s: a pause of", ask)
		})
	}
}

// Sixty hosts that take a second each are requested at the same time, each with its own pause. The clock is
// virtual.
func TestHostsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 60, 5
		f := check.Of(New(Options{Agent: "test/1.0", NoRobots: true})).OK(t)
		var mu sync.Mutex
		inFlight, most := 0, 0
		last := make(map[string]time.Time)
		f.client.Transport = roundTrips(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			inFlight++
			most = max(most, inFlight)
			ended, seen := last[r.Host]
			check.True(t, !seen || time.Since(ended) >= time.Second, "%s is asked %v after the last time", r.Host, time.Since(ended))
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			inFlight--
			last[r.Host] = time.Now()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("owls"))}, nil
		})
		start := time.Now()
		var all sync.WaitGroup
		for i := range hosts * pages {
			all.Go(func() {
				_, err := f.Page(t.Context(), fmt.Sprintf("https://host%d.example/%d", i%hosts, i))
				check.OK(t, err)
			})
		}
		all.Wait()
		took := time.Since(start)
		check.True(t, most >= 50 && took <= 2*pages*time.Second, "%d hosts at a time, all in %v", most, took)
	})
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Agent: " "}, {Agent: "a", Pause: -1}, {Agent: "a", Tries: -1}} {
		check.True(t, check.Err(New(o)) != nil, "%+v is taken", o)
	}
	for _, base := range []string{"", "r.jina.ai", "ftp://x/", "http://u:p@x/"} {
		check.True(t, check.Err(NewReader(base, "")) != nil, "%q is taken", base)
	}
}
