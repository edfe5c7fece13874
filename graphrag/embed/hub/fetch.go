// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/llm/journal"
)

const (
	defaultEndpoint = "https://huggingface.co"
	defaultStall    = 30 * time.Second
	attempts        = 4 // without a new byte between them
	maxRedirects    = 5
	partly          = ".part" // ends the name of a folder or file that is not whole
)

// fetcher fetches the files of one model.
type fetcher struct {
	model
	Options
	part string // the folder that is filled
}

// permanent is an error that another attempt does not mend.
type permanent struct{ error }

func (f permanent) Unwrap() error { return f.error }

var errMissing = permanent{errors.New("the server has no such file")}

// fetch fills a folder beside dir and gives it the name when it is whole. Of several
// processes one does it, the others wait.
func (m model) fetch(ctx context.Context, dir string, o Options) (err error) {
	o.Endpoint, o.stall = cmp.Or(o.Endpoint, defaultEndpoint), cmp.Or(o.stall, defaultStall)
	o.pause = cmp.Or(o.pause, time.Second)
	at, err := url.Parse(o.Endpoint)
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("hub: the endpoint %.200q does not have the form https://HOST", redacted(o.Endpoint))
	}
	f := fetcher{m, o, dir + partly}
	f.client.CheckRedirect = func(to *http.Request, via []*http.Request) error { return allowed(to.URL, at.Host, len(via)) }
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("hub: %w: %s", err, f.byHand(dir))
	}
	unlock, err := journal.Lock(ctx, dir+".lock")
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := m.check(dir); !errors.Is(err, fs.ErrNotExist) {
		return err // another process was faster
	}
	if err = f.all(ctx); err == nil {
		err = os.Rename(f.part, dir)
	}
	if err != nil {
		_ = os.Remove(f.part) // if it is empty
		return fmt.Errorf("hub: %s: %w: %s", m.Repo, err, f.byHand(dir))
	}
	return nil
}

// allowed reports whether a redirect may be followed.
func allowed(to *url.URL, endpoint string, hops int) error {
	ours := to.Host == endpoint
	for _, host := range []string{"huggingface.co", "hf.co"} {
		ours = ours || to.Host == host || strings.HasSuffix(to.Host, "."+host)
	}
	switch {
	case hops > maxRedirects:
		return permanent{fmt.Errorf("more than %d redirects", maxRedirects)}
	case to.Scheme != "https" || !ours:
		return permanent{fmt.Errorf("a redirect to %q, which is no host of the Hub by https", to.Scheme+"://"+to.Host)}
	}
	return nil
}

// byHand says what to put where without this package.
func (f *fetcher) byHand(dir string) string {
	const proxy = "behind a proxy set HTTPS_PROXY; or fetch by hand"
	if f.Files == nil {
		return fmt.Sprintf("%s what %s/%s/tree/%s shows into a folder, and name it as file:DIR", proxy, redacted(f.Endpoint), f.Repo, f.Revision)
	}
	list := ""
	for _, x := range f.Files {
		list += fmt.Sprintf(" %s (%d bytes, SHA-256 %s)", redacted(f.address(x)), x.Size, x.Sum)
	}
	return proxy + list + " into " + dir
}

// redacted is an address without its password and its query.
func redacted(address string) string {
	at, err := url.Parse(address)
	if err != nil || at.User == nil && strings.Contains(address, "@") {
		return "https://…"
	}
	at.RawQuery = ""
	return at.Redacted()
}

func (f *fetcher) address(x file) string {
	return strings.TrimSuffix(f.Endpoint, "/") + "/" + f.Repo + "/resolve/" + f.Revision + "/" + x.Name
}

// all fetches the missing files. Of a model without pinned sums it records them, and
// removes one that package local cannot read, if possible before its weights are fetched.
func (f *fetcher) all(ctx context.Context) error {
	wanted := f.Files
	if f.Files == nil {
		wanted = parts
	}
	var sums []file
	for _, x := range wanted {
		if f.Files == nil && x.Name == weights {
			if err := f.readable(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if f.Files != nil && x.check(x.in(f.part)) == nil {
			continue
		}
		got, err := f.one(ctx, x)
		if errors.Is(err, errMissing) && x.may {
			continue
		}
		if err != nil {
			return err
		}
		sums = append(sums, got)
	}
	if f.Files != nil {
		return f.write(f.part)
	}
	b, err := json.MarshalIndent(sums, "", "\t")
	if err = errors.Join(f.readable(), err); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.part, sumsFile), b, 0o644)
}

// readable checks that package local reads the fetched files. Missing weights are
// fs.ErrNotExist; files that it refuses otherwise are removed.
func (f *fetcher) readable() error {
	_, err := local.Open(f.part, local.Options{})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, os.RemoveAll(f.part))
	}
	return err
}

// one fetches a file, and resumes it as long as attempts bring new bytes. A complete file with
// another sum is removed.
func (f *fetcher) one(ctx context.Context, x file) (file, error) {
	full := x.in(f.part)
	half := full + partly
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return file{}, err
	}
	for failed, most := 1, int64(0); ; failed++ {
		end, err := f.try(ctx, x, half)
		if err == nil {
			size, sum, err := sumOf(half)
			if err == nil && x.Sum != "" {
				err = x.check(half)
			}
			if err != nil {
				return file{}, errors.Join(err, os.Remove(half))
			}
			return file{Name: x.Name, Size: size, Sum: sum}, os.Rename(half, full)
		}
		if end > most { // not only what a server without ranges sends again
			failed, most = 0, end
		}
		if errors.As(err, new(permanent)) || failed >= attempts {
			return file{}, fmt.Errorf("%s: %w", x.Name, err)
		}
		select {
		case <-ctx.Done():
			return file{}, ctx.Err()
		case <-time.After(f.pause):
		}
	}
}

// try sends one request, appends the response to the partial file, and returns its new length.
func (f *fetcher) try(ctx context.Context, x file, half string) (end int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("the server sent no data for %s", f.stall)) })
	defer quiet.Stop()
	var have int64
	if info, err := os.Stat(half); err == nil && x.Sum != "" && info.Size() < x.Size { // without a sum nothing would notice what does not belong together
		have = info.Size()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.address(x), nil)
	if err != nil {
		return 0, permanent{err}
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := f.client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		if have, err = begin(resp, have, x); err == nil {
			end, err = f.copy(half, resp, x, have, quiet)
		}
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // the address behind a redirect may hold a signature
	}
	return end, err
}

// begin looks at what a server answers before it is read, and returns from which byte on it is.
func begin(resp *http.Response, have int64, x file) (int64, error) {
	total := resp.ContentLength
	switch {
	case resp.StatusCode == http.StatusPartialContent && have > 0:
		total += have
	case resp.StatusCode == http.StatusOK:
		have = 0
	case resp.StatusCode == http.StatusNotFound:
		return 0, errMissing
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return 0, fmt.Errorf("the server answers %s", resp.Status)
	default:
		return 0, permanent{fmt.Errorf("the server answers %s", resp.Status)}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return 0, permanent{errors.New("the server answers with a web page, perhaps the login of a network")}
	}
	if total > x.Size {
		return 0, permanent{fmt.Errorf("the server sends %d bytes, want %d", total, x.Size)}
	}
	return have, nil
}

// copy appends a response at offset end and returns the new end. It fails if no byte arrives
// for the stall time or the file grows beyond its size.
func (f *fetcher) copy(half string, resp *http.Response, x file, end int64, quiet *time.Timer) (int64, error) {
	out, err := os.OpenFile(half, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, permanent{err}
	}
	defer out.Close() // Sync reports whether all is written
	if err := out.Truncate(end); err != nil {
		return 0, permanent{err}
	}
	total := max(resp.ContentLength+end, 0)
	for buf := make([]byte, 1<<16); ; {
		n, err := resp.Body.Read(buf)
		quiet.Reset(f.stall)
		if end+int64(n) > x.Size {
			return end, permanent{fmt.Errorf("the server sends more than %d bytes", x.Size)}
		}
		if _, err := out.WriteAt(buf[:n], end); err != nil {
			return end, permanent{err}
		}
		if end += int64(n); f.Progress != nil && n > 0 {
			f.Progress(x.Name, end, total)
		}
		switch {
		case err == io.EOF && x.Sum != "" && end < x.Size:
			return end, fmt.Errorf("the server ends after %d of %d bytes", end, x.Size)
		case err == io.EOF:
			return end, out.Sync()
		case err != nil:
			return end, fmt.Errorf("it breaks off after %d bytes: %w", end, err)
		}
	}
}
