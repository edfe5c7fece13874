// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
)

// What a wrong command line prints, and its status.
func TestParseAndFail(t *testing.T) {
	const hint = "\nRun with -help for the flags.\n"
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-systems", "bm25"}, 0, ""},
		{[]string{"-system", "bm25"}, 2, "owl: there is no flag -system; did you mean -systems?" + hint},
		{[]string{"-limti", "2"}, 2, "owl: there is no flag -limti; did you mean -limit?" + hint},
		{[]string{"-zebra"}, 2, "owl: there is no flag -zebra" + hint},
		{[]string{"-limit", "many"}, 2, `owl: invalid value "many" for flag -limit: parse error` + hint},
		{[]string{"-h"}, 0, "Usage of owl:\n  -limit int\n    \thow many\n  -systems string\n    \twhich\n"},
	} {
		fs := flag.NewFlagSet("owl", flag.ContinueOnError)
		fs.String("systems", "", "which")
		fs.Int("limit", 0, "how many")
		var out strings.Builder
		if status := cli.Fail(&out, "owl", cli.Parse(fs, tt.args, &out)); status != tt.status || out.String() != tt.want {
			t.Errorf("%q: status %d, %q, want %d, %q", tt.args, status, out.String(), tt.status, tt.want)
		}
	}
}

func TestFail(t *testing.T) {
	gone := errors.New("gone: \x1b[2J\u202etxt.exe\nsecond line")
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{gone, 1, "owl: gone:  [2Jtxt.exe\nsecond line\n"},
		{fmt.Errorf("reading: %w", cli.Usage(gone)), 2, "owl: reading: gone:  [2Jtxt.exe\nsecond line\nRun with -help for the flags.\n"},
	} {
		var out strings.Builder
		if status := cli.Fail(&out, "owl", tt.err); status != tt.status || out.String() != tt.want {
			t.Errorf("%v: status %d, %q", tt.err, status, out.String())
		}
	}
	if err := cli.Usage(nil); err != nil {
		t.Errorf("no problem is the problem %v", err)
	}
	if err := cli.Usage(gone); !errors.Is(err, gone) || !errors.Is(err, cli.ErrUsage) {
		t.Errorf("%v hides its cause", err)
	}
}
