// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
)

// A model is fetched once, with and without sums that are known before.
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

// only answers for one file.
func only(name string, do func(w http.ResponseWriter, r *http.Request, content string)) answer {
	return func(w http.ResponseWriter, r *http.Request, n, content string) bool {
		if n == name {
			do(w, r, content)
		}
		return n == name
	}
}

// to redirects the weights.
func to(where string) answer {
	return only(weights, func(w http.ResponseWriter, r *http.Request, _ string) {
		http.Redirect(w, r, where, http.StatusFound)
	})
}

// status answers for the weights without them.
func status(code int) answer {
	return only(weights, func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(code) })
}

// A server that lies, or leads elsewhere, is refused by an error that says what and how
// to go on, and what it sent is not kept under any name of a model.
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
			h.set(nil) // and then all is well
			o.stall = 0
			check.OK(t, check.Err(h.open(t.Context(), o)))
			leftovers(t, o.Dir)
		})
	}
}

// A transfer that breaks off is taken up again from the byte where it did; a server that
// knows no ranges sends all again, and is given up if it always stops at the same place.
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
	check.True(t, err != nil && strings.Contains(err.Error(), "breaks off after 100000 bytes") && n <= 1+1+attempts, "%d requests, error %v", n, err)
}

// One of several fetches, and who waits can be stopped.
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

// What is no encoder is refused before its weights are fetched, and nothing of it is left.
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

// Whatever is changed in a folder afterwards is found.
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
