// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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

	"github.com/wildgraph/wildgraph/internal/check"
)

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
