// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
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

// What a name stands for: auto is what the cache holds, a folder is one that holds a model.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, embedtest.WriteBERT(dir))
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
	for _, name := range []string{"e5-small", "bge-small", "minilm"} { // each faster than the one before, or as fast
		check.OK(t, os.MkdirAll(filepath.Join(o.Dir, name), 0o755))
		resolves("auto", name, true)
	}
	_, err = Open(t.Context(), "auto", o)
	check.True(t, err != nil && strings.Contains(err.Error(), "minilm"), "error %v: damage must be told", err)
}

// The files that this package writes beside the known models are JSON.
func TestWritten(t *testing.T) {
	for name, m := range models {
		for file, content := range m.written {
			check.True(t, json.Valid([]byte(content)), "%s: %s is no JSON", name, file)
		}
		check.True(t, len(m.files) == 2 && m.folder == name, "%s: %d files in %s", name, len(m.files), m.folder)
	}
}

// Files that were put there by hand are completed, and those of others refused.
func TestByHand(t *testing.T) {
	h := newHub(t)
	o := h.options(t)
	h.set(status(500))
	dir := filepath.Join(o.Dir, "small")
	check.OK(t, os.Mkdir(dir, 0o755))
	for _, f := range h.pinned().files {
		if _, err := h.open(t.Context(), o); err == nil || !strings.Contains(err.Error(), f.Name) && !strings.Contains(err.Error(), "no such file") {
			t.Errorf("without %s: error %v", f.Name, err)
		}
		check.OK(t, os.WriteFile(f.in(dir), []byte(h.files[f.Name]), 0o644))
	}
	check.OK(t, check.Err(h.open(t.Context(), o)))
	got := h.requests()
	check.True(t, len(got) == 0, "asked for %v", got)
}

// With the files that this package writes, real weights make the model that .ci/models makes,
// whose vectors are compared with onnxruntime's in package local.
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

// childDir, childURL and childCert make the test's binary a process that fetches the model.
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

// child is a process that fetches the model into a folder.
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

// A process is killed in the middle of the weights. Of the next two, which start at once,
// one goes on from where it was, and the other finds the model.
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
	for size := int64(0); size < int64(half); { // what it has read must be in the file
		if info, err := os.Stat(name); err == nil {
			size = info.Size()
		}
		time.Sleep(time.Millisecond)
	}
	check.OK(t, first.Process.Kill())
	_ = first.Wait() // it was killed
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

// Half of another file, which a damaged disk or a liar left, is found by the sum and
// fetched anew.
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
