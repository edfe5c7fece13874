// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/internal/check"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	other  = "hf:org/name@" + commit
)

// answer is what a server does in place of serving a file; it returns false to have it served.
type answer func(w http.ResponseWriter, r *http.Request, name, content string) bool

// hubOf serves the files of embedtest's model.
type hubOf struct {
	*httptest.Server
	files map[string]string // by name in the model

	mu     sync.Mutex
	behave answer
	asked  []string // names, with the range
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
	err = embedtest.WriteBERT(dir)
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

// requests are those since the last set.
func (h *hubOf) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// from is the byte that a request begins with.
func from(r *http.Request) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"))
	return n
}

// serve answers with a file, or from a byte on.
func serve(w http.ResponseWriter, r *http.Request, content string) {
	head(w, r, len(content))
	fmt.Fprint(w, content[from(r):])
}

// head says how much will come.
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

// options are those of the server; the folder is the test's own.
func (h *hubOf) options(t *testing.T) Options {
	return Options{Dir: t.TempDir(), Endpoint: h.URL, client: *h.Client(), pause: time.Millisecond}
}

// pinned is the model with the sums that its weights and vocabulary have.
func (h *hubOf) pinned() model {
	m := model{repo: "org/name", revision: commit, folder: "small", written: map[string]string{}}
	for name, content := range h.files {
		if name == weights || name == tokenizer {
			m.files = append(m.files, file{Name: name, Size: int64(len(content)), Sum: sum(content)})
		} else {
			m.written[name] = content
		}
	}
	return m
}

// open is Open of the model with known sums.
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

// leftovers fails if a folder or file that is not whole is there.
func leftovers(t *testing.T, dir string) {
	t.Helper()
	check.OK(t, filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		check.True(t, !strings.HasSuffix(name, partly), "%s is left", name)
		return err
	}))
}
