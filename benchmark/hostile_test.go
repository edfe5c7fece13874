// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Records that are none are told by their file, and stay as they are.
func TestHostileRecords(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"noise": func(file string) error {
			return os.WriteFile(file, []byte(strings.Repeat("\x00\xff{\"a\"", 999)), 0o600)
		},
		"a folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"JSON":     func(file string) error { return os.WriteFile(file, []byte(`{"schema": "wildgraph-run/3"}`), 0o600) },
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, record.JournalName)
		check.OK(t, put(file))
		before, _ := os.ReadFile(file)
		log, err := record.Open(dir)
		check.Fails(t, err, record.JournalName, "%s: %v", name, log)
		after, _ := os.ReadFile(file)
		check.Equal(t, string(after), string(before), "%s: the file was changed", name)
	}
}

// lookUp leads every name to the same addresses.
type lookUp []netip.Addr

func (l lookUp) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return l, nil }

// A name that leads inside, also beside an address outside, is never asked.
func TestHostileNames(t *testing.T) {
	outside, inside := netip.MustParseAddr("203.0.114.9"), netip.MustParseAddr("127.0.0.2")
	for _, names := range []lookUp{{inside}, {outside, inside}, {netip.MustParseAddr("::ffff:127.0.0.2")}, {netip.MustParseAddr("fd00::1")}, nil} {
		f := check.Of(fetch.New(fetch.Options{Agent: "test", NoRobots: true, Resolver: names, Tries: 1})).OK(t)
		for _, address := range []string{"http://owl.example/", "https://owl.example:65536/", "http://owl.example:22/", "http://0x7f.1/", "http://%zz/", "//owl.example/"} {
			var e *fetch.Error
			if page, err := f.Page(t.Context(), address); !errors.As(err, &e) || e.Kind != fetch.Refused && len(names) > 0 && !strings.Contains(address, "65536") {
				t.Errorf("%s at %v: %+v, %v", address, names, page, err)
			}
		}
	}
}
