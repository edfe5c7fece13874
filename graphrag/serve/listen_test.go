// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{":80": "127.0.0.1:80", "8080": "127.0.0.1:8080", "localhost:1": "127.0.0.1:1", "[::1]:0": "[::1]:0", "127.0.0.2:5": "127.0.0.2:5"} {
		got, err := serve.Address(in)
		check.True(t, got == want && err == nil, "%s: %s %v", in, got, err)
	}
	for _, in := range []string{"0.0.0.0:80", "example.org:80", "192.168.0.1:80", "[::]:80", "a:b:c"} {
		got, err := serve.Address(in)
		check.True(t, err != nil, "%s: %s", in, got)
		for _, tokens := range []map[string]serve.Token{{}, {"": {}}} {
			if l, err := serve.Listen(in, tokens); err == nil {
				l.Close()
				t.Errorf("%s is listened at with %d tokens", in, len(tokens))
			}
		}
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check.OK(t, err)
	defer busy.Close()
	_, err = serve.Listen(busy.Addr().String(), nil)
	check.Fails(t, err, "in use by another program", "a port in use")
	open := check.Of(serve.Listen("0.0.0.0:0", tokens(t))).OK(t)
	open.Close()
}

// Without tokens a request must name this machine as its host, and must not come from a page of another site.
func TestFromHere(t *testing.T) {
	h := check.Of(serve.New(flat(t), serve.Options{Hosts: []string{"wiki.intern"}})).OK(t)
	for _, tt := range []struct {
		method, host, header string
		want                 int
	}{
		{"GET", "127.0.0.1:8080", "", 200}, {"GET", "localhost", "", 200}, {"GET", "[::1]:80", "", 200}, {"GET", "wiki.intern", "", 200},
		{"GET", "localhost:1", "Sec-Fetch-Site: same-origin", 200}, {"GET", "localhost:1", "Origin: http://localhost:1", 200}, {"GET", "localhost:1", "Referer: http://localhost:1/a", 200},
		{"GET", "evil.example", "", 403}, {"GET", "127.0.0.1.evil.example", "", 403}, {"GET", "192.168.0.7", "", 403}, {"DELETE", "evil.example:8080", "", 403},
		{"PUT", "localhost", "Origin: null", 403}, {"PUT", "localhost", "Origin: http://evil.example", 403}, {"GET", "localhost", "Sec-Fetch-Site: cross-site", 403},
		{"GET", "localhost:1", "Referer: http://evil.example/", 403}, {"GET", "localhost:1", "Sec-Fetch-Site: same-site", 403},
	} {
		r := httptest.NewRequest(tt.method, "/v1/documents", nil)
		if r.Host = tt.host; tt.method == "DELETE" {
			r.URL.Path += "/tides"
		}
		if key, value, ok := strings.Cut(tt.header, ": "); ok {
			r.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		check.Equal(t, w.Code, tt.want, "%+v: %d %s", tt, w.Code, w.Body)
	}
}

// listening serves a system on this machine until end is called, and returns its address.
func listening(t testing.TB, s graphrag.System, o serve.Options) (address string, end func() error) {
	t.Helper()
	h := check.Of(serve.New(s, o)).OK(t)
	l := check.Of(serve.Listen("127.0.0.1:0", o.Tokens)).OK(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve.Serve(ctx, l, h) }()
	return l.Addr().String(), func() error { stop(); return <-ended }
}

func search(t testing.TB, address string) time.Duration {
	t.Helper()
	begun := time.Now()
	r, err := http.Post("http://"+address+"/v1/search", "application/json", strings.NewReader(`{"query": "tides"}`))
	check.OK(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	check.Must(t, err == nil && r.StatusCode == 200 && strings.Contains(string(body), "moon"), "%d %s %v", r.StatusCode, body, err)
	return time.Since(begun)
}

// silent opens two thousand connections that send nothing, or half a header.
func silent(tb testing.TB, address string) (all []net.Conn) {
	for i := range 2000 {
		c := check.Of(net.Dial("tcp", address)).OK(tb)
		tb.Cleanup(func() { c.Close() })
		if i%2 == 1 {
			fmt.Fprint(c, "POST /v1/search HTTP/1.1\r\nHost: x\r\nX-")
		}
		all = append(all, c)
	}
	return all
}

// Questions are answered in spite of silent connections, and these are closed.
func TestSilentConnections(t *testing.T) {
	check.Long(t)
	address, end := listening(t, flat(t), serve.Options{})
	all := silent(t, address)
	search(t, address)
	for _, i := range []int{0, 1, 1999} {
		all[i].SetReadDeadline(time.Now().Add(20 * time.Second))
		check.OK(t, check.Err(io.Copy(io.Discard, all[i])), "a silent connection stays open")
	}
	check.OK(t, end())
}

// counted counts the bytes that are read of it. A client that has its reply may still be reading.
type counted struct {
	read atomic.Int64
	size int64
}

func (c *counted) Read(b []byte) (int, error) {
	n := min(int64(len(b)), c.size-c.read.Load())
	if n <= 0 {
		return 0, io.EOF
	}
	c.read.Add(n)
	return int(n), nil
}

// A body of 100 MB is refused before it is sent if its size is stated, and otherwise as soon as it is too
// large.
func TestLargeBody(t *testing.T) {
	address, end := listening(t, flat(t), serve.Options{})
	for _, length := range []int64{100 << 20, -1} {
		body := &counted{size: 100 << 20}
		r := check.Of(http.NewRequest("POST", "http://"+address+"/v1/answer", body)).OK(t)
		r.ContentLength = length
		r.Header.Set("Content-Type", "application/json")
		got, err := http.DefaultClient.Do(r)
		if err != nil { // the connection is closed during the upload, so the client may get that error before the reply
			t.Logf("length %d: %v", length, err)
		} else {
			said, _ := io.ReadAll(got.Body)
			got.Body.Close()
			check.True(t, got.StatusCode == 413 && strings.Contains(string(said), `"code":"request_too_large"`),
				"length %d: %d %s", length, got.StatusCode, said)
		}
		most := map[bool]int64{true: 8 << 20, false: 40 << 20}[length > 0]
		check.True(t, body.read.Load() <= most, "length %d: %d bytes were taken", length, body.read.Load())
	}
	search(t, address)
	check.OK(t, end())
}

// probed counts questions.
type probed struct {
	graphrag.System
	n *int
}

func (p probed) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	*p.n++
	return p.System.Retrieve(ctx, q)
}

// Readiness checks ask no question; when the server is stopped, a running answer is completed first.
func TestReadyAndEnd(t *testing.T) {
	n := 0
	httpServer := start(t, probed{flat(t), &n}, serve.Options{})
	for range 20 {
		status, body := send(t, httpServer, "", "GET", "/readyz", "")
		check.Must(t, status == 200, "%v %v", status, body)
	}
	check.Equal(t, n, 0, "questions")
	s := newSlow(t)
	address, end := listening(t, s, serve.Options{})
	answered := make(chan string, 1)
	go func() {
		r, err := http.Post("http://"+address+"/v1/answer", "application/json", strings.NewReader(`{"question": "What?"}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		answered <- string(body)
	}()
	<-s.entered
	ended := make(chan error, 1)
	go func() { ended <- end() }()
	for { // waits until the server takes no more questions
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	s.next <- nil
	check.Contains(t, <-answered, "The moon raises it.", "an answer under way")
	err := <-ended
	check.OK(t, err)
}

type level string

// kinds are values of fields, each in several Go types; an index keeps most of them.
func kinds(r *rand.Rand) any {
	n := r.IntN(5)
	day := time.Date(2024, 5, 1+n, 12, 0, 0, n, time.FixedZone("x", 3600*n))
	all := []any{
		n, int8(n), int16(n), int32(n), int64(n), uint(n), uint8(n), uint16(n), uint32(n), uint64(n), float32(n), float64(n) / 2, float32(.1), -n, math.Copysign(0, -1), int64(1) << 52,
		"", "a", "ä", "A", fmt.Sprint(n), "2024-05-01", "a\x00b", "\u2028", strings.Repeat("x", 300), level("a"), json.Number("1"), time.Duration(n), time.May,
		n > 2, day, day.UTC(), day.Local(), time.Now().Truncate(time.Hour), time.Time{}, time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		[]string{"a", "b"}, []string{}, []string(nil), []any{"a", fmt.Sprint(n)}, []any{},
		// None of these can be stored unchanged.
		nil, math.NaN(), math.Inf(1), []int{n}, map[string]any{"a": n}, struct{ A int }{n}, []any{"a", n}, &n, "\xff", []string{"\xff"}, int64(1)<<53 + 1, uint64(math.MaxUint64),
		time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-12000, 1, 1, 0, 0, 0, 0, time.UTC), complex(1, 1), [2]string{"a", "b"},
	}
	return all[r.IntN(len(all))]
}

// conditions compare fields with these and other values, in Go's types.
func conditions(r *rand.Rand) graphrag.Condition {
	field := []string{"f", "g", "h"}[r.IntN(3)]
	switch value := kinds(r); r.IntN(7) {
	case 0:
		return graphrag.Not(conditions(r))
	case 1:
		return graphrag.And(conditions(r), conditions(r))
	case 2:
		return graphrag.Or(conditions(r), conditions(r))
	case 3:
		return graphrag.Between(field, value, kinds(r))
	case 4:
		return graphrag.Has(field, []string{"a", "b", "3", "\xff"}[r.IntN(4)])
	case 5:
		return graphrag.In(field, value, kinds(r))
	default:
		return graphrag.Equal(field, value)
	}
}

// Fields of any type are stored unchanged or refused: in memory, in a store, after Save and Open, and through
// the service's JSON, conditions and their negations find the same documents.
func TestFieldsAreTheSameEverywhere(t *testing.T) {
	make := func() *kit.System {
		k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
		return check.Of(kit.New(kit.Frame{Name: "flat", Kit: k, Words: &bm25.Options{}})).OK(t)
	}
	store := check.Of(disk.Open(t.TempDir(), disk.Options{})).OK(t)
	memory, served, opened := make(), make(), make()
	stored := check.Of(kit.Open(t.Context(), memory.Frame(), store, "p")).OK(t)
	r := rand.New(rand.NewPCG(1, 2))
	var docs []graphrag.Document
	refused := 0
	for len(docs) < 200 {
		d := graphrag.Document{ID: fmt.Sprint("d", len(docs)), Text: "The owl hears \xff a mouse.", Title: "a\xffb", Fields: graphrag.Fields{"f": kinds(r), "g": kinds(r)}}
		if r.IntN(2) == 0 {
			d.Fields["h"] = kinds(r)
		}
		normal, err := d.Normal()
		_, indexed := make().Index(t.Context(), graphrag.Documents(d))
		check.Must(t, (indexed == nil) == (err == nil), "%#v: %v, and %v at Index", d.Fields, err, indexed)
		if err != nil {
			refused++
			continue
		}
		again, err := normal.Normal()
		check.Must(t, err == nil && fmt.Sprintf("%#v", again) == fmt.Sprintf("%#v", normal), "%#v is made normal twice: %v", normal.Fields, err)
		docs = append(docs, d)
	}
	for _, s := range []*kit.System{memory, stored} {
		check.OK(t, check.Err(s.Index(t.Context(), graphrag.Documents(docs...))))
	}
	dir := t.TempDir() + "/saved"
	check.OK(t, memory.Save(t.Context(), dir))
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	check.OK(t, check.Err(served.Index(t.Context(), graphrag.Documents(graphrag.Document{ID: "first", Text: "A moon."}))))
	httpServer := start(t, served, serve.Options{})
	for _, d := range docs {
		normal, err := d.Normal() // JSON has one kind of numbers
		check.OK(t, err)
		body := check.Of(json.Marshal(map[string]any{"documents": []any{map[string]any{"id": d.ID, "text": normal.Text, "fields": normal.Fields}}})).OK(t)
		status, said := send(t, httpServer, "", "PUT", "/v1/documents", string(body))
		check.Must(t, status == 200, "%s: %d %s", body, status, said)
	}
	found, asked := 0, 0
	for asked < 500 {
		where := conditions(r)
		if where.Check() != nil {
			continue
		}
		asked++
		want := map[bool][]string{} // a scope hides documents without such a field
		for i, s := range []*kit.System{memory, stored, opened, served} {
			for _, scoped := range []bool{false, true} {
				ctx, q := t.Context(), graphrag.Question{Text: "owl mouse", K: 300, Where: &where}
				if scoped {
					ctx, q.Where = graphrag.WithScope(ctx, where), nil
				}
				got, err := s.Retrieve(ctx, q)
				ids := []string{fmt.Sprint(err != nil)}
				for _, h := range got.Ranked {
					if h.Chunk.Doc != "first" {
						ids = append(ids, h.Chunk.Doc)
					}
				}
				slices.Sort(ids)
				if i == 0 {
					want[scoped], found = ids, found+len(ids)-1
				} else if !slices.Equal(ids, want[scoped]) {
					t.Fatalf("system %d, scoped %v: %s finds %v, want %v", i, scoped, where, ids, want[scoped])
				}
			}
		}
	}
	check.True(t, refused >= 100 && found >= 1000, "%d documents were refused, %d found", refused, found)
}
