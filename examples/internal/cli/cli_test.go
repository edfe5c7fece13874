// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The output and the exit status after a wrong command line.
func TestParseAndFail(t *testing.T) {
	const hint = "\nRun with -help for the flags.\n"
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-systems", "bm25"}, 0, ""},
		{[]string{"-system", "bm25"}, cli.WrongUsage, "owl: there is no flag -system; did you mean -systems?" + hint},
		{[]string{"-limti", "2"}, cli.WrongUsage, "owl: there is no flag -limti; did you mean -limit?" + hint},
		{[]string{"-zebra"}, cli.WrongUsage, "owl: there is no flag -zebra" + hint},
		{[]string{"-limit", "many"}, cli.WrongUsage, `owl: -limit "many": want a whole number` + hint},
		{[]string{"-limit", "99999999999999999999"}, cli.WrongUsage, `owl: -limit "99999999999999999999": want a whole number` + hint},
		{[]string{"-limit", "\x1b\"\n:1"}, cli.WrongUsage, `owl: -limit "\x1b\"\n:1": want a whole number` + hint},
		{[]string{"-limit"}, cli.WrongUsage, "owl: -limit has no value: want a whole number" + hint},
		{[]string{"-systems"}, cli.WrongUsage, "owl: -systems has no value: want STRING, which" + hint},
		{[]string{"-h"}, 0, "Usage: owl [flags]\n\nFlags\n  -limit int             how many\n  -systems string        which\n"},
	} {
		fs := cli.NewFlags("owl")
		fs.String("systems", "", "which")
		fs.Int("limit", 0, "how many")
		var out strings.Builder
		status := cli.Fail(&out, "owl", cli.Parse(fs, tt.args, &out))
		check.True(t, status == tt.status && out.String() == tt.want, "%q: status %d, %q, want %d, %q", tt.args, status, out.String(), tt.status, tt.want)
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
		{fmt.Errorf("reading: %w", cli.Usage(gone)), cli.WrongUsage, "owl: reading: gone:  [2Jtxt.exe\nsecond line\nRun with -help for the flags.\n"},
	} {
		var out strings.Builder
		status := cli.Fail(&out, "owl", tt.err)
		check.True(t, status == tt.status && out.String() == tt.want, "%v: status %d, %q", tt.err, status, out.String())
	}
	err := cli.Usage(nil)
	check.True(t, err == nil, "no problem is the problem %v", err)
	err = cli.Usage(gone)
	check.True(t, errors.Is(err, gone) && errors.Is(err, cli.ErrUsage), "%v hides its cause", err)
}

// Flags are printed in their groups, and flags without a known group at the end.
func TestHelp(t *testing.T) {
	fs := cli.NewFlags("owl")
	fs.Int("limit", 7, "at most `N` of them")
	fs.Bool("a-flag-with-a-long-name", false, strings.Repeat("word ", 16))
	fs.String("systems", "bm25", "a `LIST` (default: all)")
	var out strings.Builder
	cli.Help(&out, fs, "Hunts mice.\n", cli.Group{Title: "What", Flags: []string{"systems", "limit", "no-such"}}, cli.Group{Title: "None"})
	want := "Usage: owl [flags]\n\nHunts mice.\n\nWhat\n" +
		"  -systems LIST          a LIST (default: all)\n" +
		"  -limit N               at most N of them (default 7)\n" +
		"\nOther\n  -a-flag-with-a-long-name\n" +
		strings.Repeat(" ", 25) + strings.Repeat("word ", 13) + "word\n" +
		strings.Repeat(" ", 25) + "word word\n"
	check.Equal(t, out.String(), want, "%s\nwant\n%s", out.String(), want)
}

// A wait is reported at once, and then at intervals, in one line each.
func TestLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := cli.NewLogger(&out)
		for range 25 {
			log.Warn("transport: trying again", "wait", 1234567*time.Microsecond, "error", errors.New("no\n\x1b[2Jway"))
			log.Info("transport: nobody need know")
			time.Sleep(time.Second)
		}
		log.Warn("transport: no reply yet", "probe_in", time.Minute, "stack", strings.Repeat("x", 1000))
		want := "transport: trying again, wait: 1.2s, error: no [2Jway\n" +
			strings.Repeat("transport: trying again, wait: 1.2s, error: no [2Jway (and 9 times before)\n", 2) +
			"transport: no reply yet, probe in: 1m0s, stack: " + strings.Repeat("x", 500) + "…\n"
		check.Equal(t, out.String(), want, "%s, want\n%s", &out, want)
	})
}
