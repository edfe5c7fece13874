// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
)

// A question that comes while another one reads new files does not wait for them.
func TestRefreshBusy(t *testing.T) {
	var d Desk
	d.mu.Lock()
	if c, err := d.Refresh(t.Context()); err != nil || c.Added != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Files that have gone are told to whoever reads the log; questions go on.
func TestRefreshGone(t *testing.T) {
	o := Options{Docs: t.TempDir(), Index: filepath.Join(t.TempDir(), "index"), K: 5, Settings: lab.Settings{Mode: "reject"}}
	var log strings.Builder
	o.Log = cli.NewLogger(&log)
	o.System, _ = all.Find("bm25")
	o.Settings.Flags(flag.NewFlagSet("", flag.ContinueOnError), func(string) string { return "" }, "")
	name := filepath.Join(o.Docs, "a.md")
	if err := os.WriteFile(name, []byte("The light is red."), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), o)
	if err = errors.Join(err, os.RemoveAll(o.Docs)); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.checked = time.Time{}
	if _, err := d.Refresh(t.Context()); err == nil || !strings.Contains(log.String(), "stays as it was") {
		t.Errorf("%v, %s", err, log.String())
	}
	if r, err := d.Ask(t.Context(), Query{Question: "What is the light?"}); err != nil || r.Refused {
		t.Errorf("%+v, %v", r, err)
	}
}
