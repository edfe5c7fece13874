// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

func TestNames(t *testing.T) {
	o := Options{Dir: t.TempDir(), Endpoint: "https://127.0.0.1:1", pause: time.Millisecond}
	for name, want := range map[string]string{
		"hf:org/name@main": "a commit, 40 hexadecimal digits", "hf:../name@" + commit: "names no encoder", "hf:org/..@" + commit: "names no encoder",
		"hf:org/name/x@" + commit: "names no encoder", "hf:org@" + commit: "names no encoder", "mini": "want minilm, bge-small, e5-small",
		"minilm": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db) into " + filepath.Join(o.Dir, "minilm"),
		other:    "https://127.0.0.1:1/org/name/tree/" + commit + " shows into a folder", "": "names no encoder",
	} {
		check.Fails(t, check.Err(Open(t.Context(), name, o)), want, "%s: error", name)
	}
	leftovers(t, o.Dir)
	for _, endpoint := range []string{"https://user:hunter2@127.0.0.1:1", "https://127.0.0.1:1/?token=hunter2", "ftp://user:hunter2@h", "user:hunter2@h", "https://user:hunter2@h:x"} {
		o.Endpoint = endpoint
		for _, name := range []string{"minilm", other} {
			if _, err := Open(t.Context(), name, o); err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: error %v", endpoint, err)
			}
		}
	}
	o.Endpoint = "http://127.0.0.1:1"
	check.Fails(t, check.Err(Open(t.Context(), "minilm", o)), "form https://HOST")
}

// The meaning of each name: auto is the model in the cache, a folder is the model in it.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, graphragtest.WriteBERT(dir))
	o := Options{Dir: t.TempDir()}
	resolves := func(name, want string, ok bool) {
		t.Helper()
		got, is := Find(name, o)
		check.True(t, got == want && is == ok, "%q is %q, %v", name, got, is)
	}
	for _, name := range []string{"minilm", "bge-small", "e5-small", "file:x", "hf:a/b@c"} {
		resolves(name, name, true)
	}
	for _, name := range []string{"text-embedding-3-small", "", o.Dir, "MiniLM"} {
		resolves(name, name, false)
	}
	resolves(dir, "file:"+dir, true)
	resolves("none", "", true)
	resolves("auto", "", true)
	e, err := Open(t.Context(), "auto", o)
	check.True(t, e == nil && err == nil, "%v, error %v", e, err)
	e, err = Open(t.Context(), dir, o)
	check.True(t, err == nil && e.Dim() == 64, "%v, error %v", e, err)
	for _, name := range []string{"e5-small", "bge-small", "minilm"} { // each at least as fast as the one before
		check.OK(t, os.MkdirAll(filepath.Join(o.Dir, name), 0o755))
		resolves("auto", name, true)
	}
	_, err = Open(t.Context(), "auto", o)
	check.True(t, err != nil && strings.Contains(err.Error(), "minilm"), "error %v: damage must be told", err)
}

// The JSON files that this package writes for the known models are valid.
func TestWritten(t *testing.T) {
	for name, m := range models {
		for file, content := range m.Written {
			check.True(t, json.Valid(content), "%s: %s is no JSON", name, file)
		}
		check.True(t, len(m.Files) == 2 && m.Folder == name, "%s: %d files in %s", name, len(m.Files), m.Folder)
	}
}

// Files that a user copied into the folder are completed, and those of other models refused.
func TestByHand(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	h.set(status(500))
	dir := filepath.Join(o.Dir, "small")
	check.OK(t, os.Mkdir(dir, 0o755))
	for _, f := range h.pinned().Files {
		if _, err := h.open(t.Context(), o); err == nil || !strings.Contains(err.Error(), f.Name) && !strings.Contains(err.Error(), "no such file") {
			t.Errorf("without %s: error %v", f.Name, err)
		}
		check.OK(t, os.WriteFile(f.in(dir), []byte(h.files[f.Name]), 0o644))
	}
	check.OK(t, check.Err(h.open(t.Context(), o)))
	got := h.requests()
	check.True(t, len(got) == 0, "asked for %v", got)
}

// With the files that this package writes, real weights give the same model as .ci/models, whose vectors
// package local compares with onnxruntime's.
func TestWrittenMakeTheModel(t *testing.T) {
	for name, env := range map[string]string{"minilm": "MINILM_DIR", "bge-small": "BGE_DIR", "e5-small": "E5_DIR"} {
		t.Run(name, func(t *testing.T) {
			from, dir := os.Getenv(env), t.TempDir()
			if from == "" {
				t.Skip(env + " is not set, .ci/models makes the folder")
			}
			err := models[name].write(dir)
			for _, f := range []string{weights, tokenizer} {
				err = errors.Join(err, os.Symlink(filepath.Join(from, f), filepath.Join(dir, f)))
			}
			check.OK(t, err)
			want, err1 := local.Open(from, local.Options{})
			got, err2 := local.Open(dir, local.Options{})
			check.OK(t, errors.Join(err1, err2))
			check.Equal(t, got.Name(), want.Name())
		})
	}
}

// childDir, childURL and childCert make the test binary a process that downloads the model.
const childDir, childURL, childCert = "HUB_TEST_DIR", "HUB_TEST_URL", "HUB_TEST_CERT"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv(childCert)))
	o := Options{Dir: dir, Endpoint: os.Getenv(childURL), client: http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}}
	var h hubOf
	if err := errors.Join(h.read(), func() error { _, err := h.open(context.Background(), o); return err }()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child starts a process that downloads the model into a folder.
func (h *hubOf) child(t *testing.T, dir string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	self := check.Of(os.Executable()).OK(t)
	cmd, said := exec.CommandContext(t.Context(), self), new(strings.Builder)
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	cmd.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+h.URL, childCert+"="+string(cert))
	cmd.Stderr = said
	check.OK(t, cmd.Start())
	return cmd, said
}

// A process is killed while it downloads the weights. Of two processes started then, one continues from the
// last byte, and the other finds the model.
func TestProcesses(t *testing.T) {
	h := newHub(t)
	dir := t.TempDir()
	half := len(h.files[weights]) / 2
	sent := make(chan bool)
	h.set(only(weights, func(w http.ResponseWriter, r *http.Request, c string) {
		head(w, r, len(c))
		fmt.Fprint(w, c[:half])
		w.(http.Flusher).Flush()
		close(sent)
		<-r.Context().Done()
	}))
	first, _ := h.child(t, dir)
	<-sent
	name := filepath.Join(dir, "small"+partly, weights+partly)
	for size := int64(0); size < int64(half); { // waits until the process has stored what it received
		if info, err := os.Stat(name); err == nil {
			size = info.Size()
		}
		time.Sleep(time.Millisecond)
	}
	check.OK(t, first.Process.Kill())
	_ = first.Wait() // fails: the process was killed
	check.Is(t, check.Err(os.Stat(filepath.Join(dir, "small"))), os.ErrNotExist, "the folder is there, error")

	h.set(nil)
	second, said2 := h.child(t, dir)
	third, said3 := h.child(t, dir)
	for cmd, said := range map[*exec.Cmd]*strings.Builder{second: said2, third: said3} {
		err := cmd.Wait()
		check.True(t, err == nil, "%v: %s", err, said)
	}
	got := slices.DeleteFunc(h.requests(), func(s string) bool { return strings.HasPrefix(s, tokenizer) })
	want := fmt.Sprintf("%s bytes=%d-", weights, half)
	check.Equal(t, got, []string{want}, "asked for %v, want %s", got, want)
	leftovers(t, dir)
}

// Half of another file, left by a damaged disk or a wrong server, is found by its checksum and downloaded
// again.
func TestHalfOfAnother(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	part := filepath.Join(o.Dir, "small"+partly)
	check.OK(t, errors.Join(os.MkdirAll(part, 0o755), os.WriteFile(filepath.Join(part, weights+partly), []byte(strings.Repeat("x", 70_000)), 0o644)))
	_, err := h.open(t.Context(), o)
	check.Must(t, err != nil && strings.Contains(err.Error(), "SHA-256"), "error %v", err)
	check.OK(t, check.Err(h.open(t.Context(), o)))
	leftovers(t, o.Dir)
}

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	other  = "hf:org/name@" + commit
)

// answer handles a request in place of the file server; it returns false to have the file served.
type answer func(w http.ResponseWriter, r *http.Request, name, content string) bool

// hubOf serves the files of graphragtest's model over HTTP.
type hubOf struct {
	*httptest.Server
	files map[string]string // by name of the file in the model

	mu     sync.Mutex
	behave answer
	asked  []string // names of the requested files, with the ranges
}

func newHub(t *testing.T) *hubOf {
	t.Helper()
	h := new(hubOf)
	check.OK(t, h.read())
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/org/name/resolve/"+commit+"/")
		h.mu.Lock()
		behave := h.behave
		h.asked = append(h.asked, name+" "+r.Header.Get("Range"))
		h.mu.Unlock()
		content, ok := h.files[name]
		switch {
		case behave != nil && behave(w, r, name, content):
		case !ok:
			http.NotFound(w, r)
		default:
			serve(w, r, content)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

// read makes the files.
func (h *hubOf) read() error {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		return err
	}
	h.files = map[string]string{}
	err = graphragtest.WriteBERT(dir)
	for _, f := range parts {
		if b, err := os.ReadFile(f.in(dir)); err == nil {
			h.files[f.Name] = string(b)
		}
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func (h *hubOf) set(a answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.behave, h.asked = a, nil
}

// requests returns the requests since the last call of set.
func (h *hubOf) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// from returns the first byte of a request's range.
func from(r *http.Request) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
	return n
}

// serve answers with a file, or with its part from a byte on.
func serve(w http.ResponseWriter, r *http.Request, content string) {
	head(w, r, len(content))
	fmt.Fprint(w, content[from(r):])
}

// head sends the headers for a number of bytes.
func head(w http.ResponseWriter, r *http.Request, size int) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(size-from(r)))
	if from(r) > 0 {
		w.WriteHeader(http.StatusPartialContent)
	}
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// options returns options for the server; the folder belongs to the test.
func (h *hubOf) options(t *testing.T) Options {
	return Options{Dir: t.TempDir(), Endpoint: h.URL, client: *h.Client(), pause: time.Millisecond}
}

// pinned is the model with the checksums of its weights and vocabulary.
func (h *hubOf) pinned() model {
	m := model{Repo: "org/name", Revision: commit, Folder: "small", Written: map[string]json.RawMessage{}}
	for name, content := range h.files {
		if name == weights || name == tokenizer {
			m.Files = append(m.Files, file{Name: name, Size: int64(len(content)), Sum: sum(content)})
		} else {
			m.Written[name] = json.RawMessage(content)
		}
	}
	return m
}

// open calls Open for the model with known checksums.
func (h *hubOf) open(ctx context.Context, o Options) (dir string, err error) {
	m, dir := h.pinned(), filepath.Join(o.Dir, "small")
	if err = m.check(dir); errors.Is(err, os.ErrNotExist) {
		err = m.fetch(ctx, dir, o)
	}
	if err == nil {
		_, err = local.Open(dir, local.Options{})
	}
	return dir, err
}

// leftovers fails the test if an incomplete file or folder is present.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	check.OK(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		check.True(t, !strings.HasSuffix(name, partly), "%s is left", name)
		return err
	}))
}

// A model is downloaded once, with and without known checksums.
func TestFetched(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	var seen, of int64
	o.Progress = func(name string, done, total int64) {
		if name == weights {
			seen, of = done, total
		}
	}
	for range 2 {
		e := check.Of(Open(t.Context(), other, o)).OK(t)
		v, err := e.EmbedQuery(t.Context(), "owl")
		check.True(t, err == nil && len(v) == e.Dim(), "%d numbers, error %v", len(v), err)
	}
	n, size := len(h.requests()), int64(len(h.files[weights]))
	check.True(t, n == len(parts) && seen == size && of == size, "%d requests, progress to byte %d of %d", n, seen, of)
	h.set(nil)
	for range 2 {
		check.OK(t, check.Err(h.open(t.Context(), o)))
	}
	got := h.requests()
	check.Equal(t, len(got), 2, "two files by %v", got)
	leftovers(t, o.Dir)
}

// only limits an answer to requests for one file.
func only(name string, do func(w http.ResponseWriter, r *http.Request, content string)) answer {
	return func(w http.ResponseWriter, r *http.Request, n, content string) bool {
		if n == name {
			do(w, r, content)
		}
		return n == name
	}
}

// to redirects requests for the weights.
func to(where string) answer {
	return only(weights, func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, where, http.StatusFound)
	})
}

// status answers requests for the weights with a status and no body.
func status(code int) answer {
	return only(weights, func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(code) })
}

// A server that sends wrong data, or redirects elsewhere, is refused with an error that names the fault and the
// remedy, and its data are not stored under any model's name.
func TestHostile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		behave answer
		want   string
	}{
		{"another file", only(weights, func(w http.ResponseWriter, r *http.Request, c string) {
			serve(w, r, strings.Repeat("x", len(c)))
		}), "model.safetensors has"},
		{"a page", only(tokenizer, func(w http.ResponseWriter, _ *http.Request, _ string) {
			fmt.Fprint(w, "<!DOCTYPE html><title>Log in</title>")
		}), "a web page"},
		{"shorter", only(weights, func(w http.ResponseWriter, r *http.Request, c string) { serve(w, r, c[:100]) }), "ends after 100 of"},
		{"longer", only(weights, func(w http.ResponseWriter, r *http.Request, c string) { serve(w, r, c+"x") }), "bytes, want"},
		{"longer, of no said length", only(weights, func(w http.ResponseWriter, _ *http.Request, c string) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, c+"and more")
		}), "more than"},
		{"missing", status(404), "no such file"},
		{"forbidden", status(401), "401 Unauthorized"},
		{"always busy", status(503), "503 Service"},
		{"another host", to("https://evil.example/x?signature=1"), `model.safetensors: a redirect to "https://evil.example"`},
		{"a host that ends alike", to("https://evilhf.co/x"), `redirect to "https://evilhf.co"`},
		{"another port", to("https://cdn.hf.co:444/x"), `redirect to "https://cdn.hf.co:444"`},
		{"no https", to("http://huggingface.co/x"), `redirect to "http://huggingface.co"`},
		{"in a circle", to("/org/name/resolve/" + commit + "/model.safetensors"), "more than 5 redirects"},
		{"half a file and silence", only(weights, func(w http.ResponseWriter, r *http.Request, c string) {
			head(w, r, len(c))
			fmt.Fprint(w, c[from(r):len(c)/2])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}), "sent no data for 50ms"},
		{"silence", only(weights, func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() }), "sent no data for 50ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHub(t)
			h.set(tt.behave)
			o := h.options(t)
			if strings.Contains(tt.name, "silence") {
				o.stall = 50 * time.Millisecond
			}
			dir, err := h.open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "behind a proxy") ||
				!strings.Contains(err.Error(), sum(h.files[weights])) || !strings.HasSuffix(err.Error(), " into "+dir) {
				t.Fatalf("error %v, want %q and a remedy", err, tt.want)
			}
			check.Is(t, check.Err(os.Stat(dir)), os.ErrNotExist, "the folder is there, error")
			h.set(nil) // without faults the download succeeds
			o.stall = 0
			check.OK(t, check.Err(h.open(t.Context(), o)))
			leftovers(t, o.Dir)
		})
	}
}

// An interrupted download continues from the byte where it stopped. A server without ranges sends everything
// again, and is given up if it always stops at the same byte.
func TestTakenUpAgain(t *testing.T) {
	const piece = 100_000
	h := newHub(t)
	size := len(h.files[weights])
	h.set(only(weights, func(w http.ResponseWriter, r *http.Request, c string) {
		head(w, r, size)
		fmt.Fprint(w, c[from(r):min(from(r)+piece, size)])
	}))
	check.OK(t, check.Err(h.open(t.Context(), h.options(t))))
	want := []string{weights + " "}
	for at := piece; at < size; at += piece {
		want = append(want, fmt.Sprintf("%s bytes=%d-", weights, at))
	}
	got := slices.DeleteFunc(h.requests(), func(s string) bool { return strings.HasPrefix(s, tokenizer) })
	check.True(t, len(want) >= 3 && slices.Equal(got, want), "asked for %v, want %v", got, want)

	h.set(only(weights, func(w http.ResponseWriter, _ *http.Request, c string) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		fmt.Fprint(w, c[:piece])
	}))
	_, err := h.open(t.Context(), h.options(t))
	n := len(h.requests())
	check.True(t, err != nil && strings.Contains(err.Error(), "the response ends after 100000 bytes") && n <= 1+1+attempts, "%d requests, error %v", n, err)
}

// One of several callers downloads, and the waiting ones can be cancelled.
func TestOneOfSeveral(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	started, goOn := make(chan bool), make(chan bool)
	var once sync.Once
	h.set(func(http.ResponseWriter, *http.Request, string, string) bool {
		once.Do(func() { close(started); <-goOn })
		return false
	})
	errs := make(chan error, 3)
	for range cap(errs) {
		go func() {
			_, err := h.open(t.Context(), o)
			errs <- err
		}()
	}
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	check.Is(t, check.Err(h.open(ctx, o)), context.DeadlineExceeded)
	close(goOn)
	for range cap(errs) {
		err := <-errs
		check.OK(t, err)
	}
	got := h.requests()
	check.Equal(t, len(got), 2, "two files by %v", got)
}

// The Hub redirects to its stores.
func TestRedirected(t *testing.T) {
	h := newHub(t)
	h.set(func(w http.ResponseWriter, r *http.Request, name, _ string) bool {
		if r.URL.Path == "/cdn" {
			serve(w, r, h.files[weights])
		} else if name == weights {
			http.Redirect(w, r, "/cdn", http.StatusFound)
		}
		return name == weights || r.URL.Path == "/cdn"
	})
	check.OK(t, check.Err(Open(t.Context(), other, h.options(t))))
}

// Files that are no encoder are refused before their weights are downloaded, and nothing is left of them.
func TestNoEncoder(t *testing.T) {
	for name, content := range map[string]string{configFile: `{"model_type": "llama"}`, tokenizer: "[]", weights: strings.Repeat("x", 100)} {
		h := newHub(t)
		h.set(only(name, func(w http.ResponseWriter, r *http.Request, _ string) { serve(w, r, content) }))
		o := h.options(t)
		_, err := Open(t.Context(), other, o)
		check.True(t, err != nil && strings.Contains(err.Error(), name) && strings.Contains(err.Error(), "fetch by hand"), "%s: error %v", name, err)
		asked := slices.Contains(h.requests(), weights+" ")
		check.True(t, asked == (name == weights), "%s: the weights are asked for: %v", name, asked)
		leftovers(t, o.Dir)
	}
}

// Later changes in a folder are detected.
func TestChangedAfterwards(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	unpinned := filepath.Join(o.Dir, "org", "name", commit)
	again := map[string]func() error{
		unpinned:                      func() error { _, err := Open(t.Context(), other, o); return err },
		filepath.Join(o.Dir, "small"): func() error { _, err := h.open(t.Context(), o); return err },
	}
	for dir, again := range again {
		check.OK(t, again())
		for _, change := range []func(string) error{
			func(f string) error { return os.WriteFile(f, []byte("{}"), 0o644) },
			os.Remove,
		} {
			full := filepath.Join(dir, tokenizer)
			before, err := os.ReadFile(full)
			check.OK(t, errors.Join(err, change(full)))
			if err := again(); err == nil || !strings.Contains(err.Error(), tokenizer) || !strings.Contains(err.Error(), "remove the folder") {
				t.Errorf("error %v", err)
			}
			check.OK(t, errors.Join(os.WriteFile(full, before, 0o644), again()))
		}
	}
	for _, sums := range []string{"", "[]", `[{"name": "../../etc/passwd", "size": 1, "sha256": ""}]`} {
		check.OK(t, os.WriteFile(filepath.Join(unpinned, sumsFile), []byte(sums), 0o644))
		check.Fails(t, again[unpinned](), sumsFile, "%s: error", sums)
	}
}
