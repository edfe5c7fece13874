// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
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
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Options say where models come from and where they are kept. The zero value is the
// Hugging Face Hub and the user's cache.
type Options struct {
	// Dir is the folder of all models; "" means wildgraph/models in [os.UserCacheDir].
	Dir string
	// Endpoint is the address of a mirror, https://HOST; "" means https://huggingface.co.
	Endpoint string
	// Progress, if set, is called while a file is fetched: with its name, the number of bytes received, and the
	// number expected, 0 if unknown.
	Progress func(file string, done, total int64)
	// Int8 is passed by Open to [local.Options].
	Int8 bool

	client http.Client
	stall  time.Duration // longest time without data before a request is cancelled
	pause  time.Duration // time between two attempts
}

const (
	auto       = "auto"
	none       = "none"
	filePrefix = "file:"
	hubPrefix  = "hf:"
	configFile = "config.json"
)

// preferred lists the models that have a short name, the fastest first; they retrieve about equally well
// (docs/systems.md, wild).
var preferred = []string{"minilm", "bge-small", "e5-small"}

// Find resolves a name without fetching anything. "auto" becomes the first short name whose model is cached, or
// ""; "none" becomes ""; a folder becomes file:DIR; other names do not change. ok is false for a name that
// [Open] rejects, such as the name of a server's model.
func Find(name string, o Options) (found string, ok bool) {
	switch _, known := models[name]; {
	case known, strings.HasPrefix(name, filePrefix), strings.HasPrefix(name, hubPrefix):
		return name, true
	case name == none:
		return "", true
	case name == auto:
		for _, name := range preferred {
			if dir, err := o.folder(models[name]); err == nil && exists(dir) {
				return name, true
			}
		}
		return "", true
	case name != "" && exists(filepath.Join(name, configFile)):
		return filePrefix + name, true
	}
	return name, false
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Open returns the encoder of a name, and fetches it if it is not cached. It returns nil for a name that [Find]
// resolves to "".
func Open(ctx context.Context, name string, o Options) (*local.Encoder, error) {
	name, ok := Find(name, o)
	if !ok {
		return nil, badName(name)
	}
	if name == "" {
		return nil, ctx.Err()
	}
	dir, err := Folder(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return local.Open(dir, local.Options{Int8: o.Int8})
}

// Folder returns the folder of a model that package local can open: DIR for file:DIR, else the cache folder of
// a model of the Hub. It fetches the model if it is not cached, and checks its files against their SHA-256
// sums.
func Folder(ctx context.Context, name string, o Options) (string, error) {
	if dir, ok := strings.CutPrefix(name, filePrefix); ok {
		return dir, nil
	}
	m, ok := models[name]
	if !ok {
		var err error
		if m, err = parse(name); err != nil {
			return "", err
		}
	}
	dir, err := o.folder(m)
	if err != nil {
		return "", fmt.Errorf("hub: %w: name the folder of a model, file:DIR", err)
	}
	if err = m.check(dir); errors.Is(err, fs.ErrNotExist) {
		err = m.fetch(ctx, dir, o)
	}
	return dir, err
}

// folder returns the cache folder of a model.
func (o Options) folder(m model) (string, error) {
	if o.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		o.Dir = filepath.Join(cache, "wildgraph", "models")
	}
	return filepath.Join(o.Dir, filepath.FromSlash(m.Folder)), nil
}

// hubName matches hf:ORG/NAME@REVISION. REVISION is a commit, since a branch can change, and the names, as the
// Hub allows them, cannot lead out of the cache folder.
var hubName = regexp.MustCompile(`^hf:([A-Za-z0-9][A-Za-z0-9._-]{0,95})/([A-Za-z0-9][A-Za-z0-9._-]{0,95})@([0-9a-f]{40})$`)

// parse returns the model that hf:ORG/NAME@REVISION names.
func parse(name string) (model, error) {
	part := hubName.FindStringSubmatch(name)
	if part == nil {
		return model{}, badName(name)
	}
	repo := part[1] + "/" + part[2]
	return model{Repo: repo, Revision: part[3], Folder: repo + "/" + part[3]}, nil
}

func badName(name string) error {
	return fmt.Errorf("hub: %.200q names no encoder: want %s, hf:ORG/NAME@REVISION (a commit, 40 hexadecimal digits, which the model's page shows under Files), file:DIR, auto or none",
		name, strings.Join(preferred, ", "))
}

// model is a commit of a repository of the Hub.
type model struct {
	Repo, Revision string
	Folder         string // slash-separated path in the cache folder
	// Files are the files to fetch, with their required sums. If nil, all files that a sentence encoder can
	// have are tried, and their sums are recorded.
	Files   []file
	Written map[string]json.RawMessage // file name → content that this package writes
}

// file describes a file to fetch, or one entry of sums.json.
type file struct {
	Name string `json:"name"`
	Size int64  `json:"size"`   // size in bytes if Sum is set, else the size limit
	Sum  string `json:"sha256"` // "" is not known yet
	may  bool   // the model may lack the file
}

// Names of files in a model's folder. sentence-transformers uses the first two.
const (
	weights   = "model.safetensors"
	tokenizer = "tokenizer.json"
	sumsFile  = "sums.json" // recorded sums of a model without pinned sums
)

//go:embed models.json
var modelTable []byte

// models are the models that have a short name. Other public programs pin the same commits and sums. The files
// that this package writes follow the models' cards: modules, most tokens of a text, pooling by the first token
// or the mean, and prompts.
var models = func() (out map[string]model) {
	if err := json.Unmarshal(modelTable, &out); err != nil {
		panic(err) // the table is embedded in the program
	}
	return out
}()

// Size limits, in bytes, of files without a pinned sum.
const (
	maxText    = 1 << 20
	maxWords   = 64 << 20
	maxWeights = 4 << 30
)

// parts are the files that a sentence encoder can have, the largest one last.
var parts = []file{
	{Name: configFile, Size: maxText}, {Name: "modules.json", Size: maxText, may: true},
	{Name: "1_Pooling/config.json", Size: maxText, may: true}, {Name: "sentence_bert_config.json", Size: maxText, may: true},
	{Name: "config_sentence_transformers.json", Size: maxText, may: true}, {Name: "tokenizer_config.json", Size: maxText, may: true},
	{Name: tokenizer, Size: maxWords, may: true}, {Name: "vocab.txt", Size: maxWords, may: true}, {Name: weights, Size: maxWeights},
}

// check compares the files of a folder with their sums, and writes this package's own files if they are
// missing, as after a manual download. Its error is fs.ErrNotExist if there is no folder.
func (m model) check(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	files, err := m.Files, error(nil)
	if files == nil {
		files, err = recorded(dir)
	}
	for _, f := range files {
		if err == nil {
			err = f.check(f.in(dir))
		}
	}
	if err == nil {
		err = m.write(dir)
	}
	if err != nil {
		return fmt.Errorf("hub: %s: %v: remove the folder, and the next start fetches it", dir, err) // %v, so that the error is not fs.ErrNotExist
	}
	return nil
}

func (f file) in(dir string) string { return filepath.Join(dir, filepath.FromSlash(f.Name)) }

// check compares a file with its size and sum.
func (f file) check(full string) error {
	size, sum, err := sumOf(full)
	if err == nil && (size != f.Size || sum != f.Sum) {
		err = fmt.Errorf("%s has %d bytes and the SHA-256 %s, want %d and %s", f.Name, size, sum, f.Size, f.Sum)
	}
	return err
}

// sumOf returns the size and the SHA-256 of a file.
func sumOf(full string) (size int64, sum string, err error) {
	in, err := os.Open(full)
	if err != nil {
		return 0, "", err
	}
	defer in.Close() // closing a file that was only read loses nothing
	h := sha256.New()
	size, err = io.Copy(h, in)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// write writes this package's own files into a folder, unless they are there with the same content.
func (m model) write(dir string) error {
	for name, content := range m.Written {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if b, err := os.ReadFile(full); err == nil && bytes.Equal(b, content) {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// recorded reads the sums that were recorded when a model was fetched, of the files named in parts only.
func recorded(dir string) (files []file, err error) {
	b, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, err
	}
	var all []file
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s is not a JSON list of sums: %w", sumsFile, err)
	}
	for _, f := range parts {
		if i := slices.IndexFunc(all, func(r file) bool { return r.Name == f.Name }); i >= 0 {
			files = append(files, all[i])
		} else if !f.may {
			return nil, fmt.Errorf("%s lacks %s", sumsFile, f.Name)
		}
	}
	return files, nil
}

const (
	defaultEndpoint = "https://huggingface.co"
	defaultStall    = 30 * time.Second
	attempts        = 4 // attempts in succession that bring no new byte
	maxRedirects    = 5
	partly          = ".part" // suffix of a folder or file that is not complete
)

// fetcher fetches the files of one model.
type fetcher struct {
	model
	Options
	part string // the folder that receives the files
}

// permanent is an error that will recur, so that the request is not repeated.
type permanent struct{ error }

func (f permanent) Unwrap() error { return f.error }

var errMissing = permanent{errors.New("the server has no such file")}

// fetch fills a temporary folder next to dir and renames it to dir when it is complete. One process fetches
// while others wait.
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
		return fmt.Errorf("hub: lock of %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := m.check(dir); !errors.Is(err, fs.ErrNotExist) {
		return err // another process has fetched the model
	}
	if err = f.all(ctx); err == nil {
		err = os.Rename(f.part, dir)
	}
	if err != nil {
		_ = os.Remove(f.part) // succeeds only if the folder is empty
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
		return permanent{fmt.Errorf("a redirect to %q, which is not https to a host of the Hub", to.Scheme+"://"+to.Host)}
	}
	return nil
}

// byHand returns instructions for fetching the model without this package.
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

// redacted returns an address without its password and its query.
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

// all fetches the missing files. Without pinned sums it records their sums, and removes a model that package
// local cannot read, if possible before its weights are fetched.
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

// readable checks that package local can read the fetched files. Its error is fs.ErrNotExist while the weights
// are missing; after any other error it removes the files.
func (f *fetcher) readable() error {
	_, err := local.Open(f.part, local.Options{})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(err, os.RemoveAll(f.part))
	}
	return err
}

// one fetches a file, and resumes the download as long as attempts bring new bytes. It removes a complete file
// whose sum is wrong.
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
		if end > most { // more than any earlier attempt received
			failed, most = 0, end
		}
		if errors.As(err, new(permanent)) || failed >= attempts {
			return file{}, fmt.Errorf("file %s: %w", x.Name, err)
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
	if info, err := os.Stat(half); err == nil && x.Sum != "" && info.Size() < x.Size { // without a sum to check, a resumed file could mix two versions
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
		err = u.Err // drops the redirect's address, which may contain a signature
	}
	return end, err
}

// begin checks the header of a response and returns the offset in the file of its first byte.
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

// copy writes a response to the partial file from the offset end on and returns the new end. It fails if no
// byte arrives for the stall time or the file exceeds its size.
func (f *fetcher) copy(half string, resp *http.Response, x file, end int64, quiet *time.Timer) (int64, error) {
	out, err := os.OpenFile(half, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, permanent{err}
	}
	defer out.Close() // Sync has reported write errors
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
			return end, fmt.Errorf("the response ends after %d of %d bytes", end, x.Size)
		case err == io.EOF:
			return end, out.Sync()
		case err != nil:
			return end, fmt.Errorf("the response ends after %d bytes: %w", end, err)
		}
	}
}
