// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile(`\b([a-z0-9]+)\.(Test[A-Za-z0-9]+)`)
	testFunc  = regexp.MustCompile(`(?m)^([^:]+):func (Test[A-Za-z0-9]+)\(`)
)

// The table of the papers' items has 72 rows, each of which names a test that is there, or a
// command.
func TestFidelity(t *testing.T) {
	table, err := os.ReadFile("fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-h", "--no-color", "-E", "--full-name", "-H", "^func Test", "--", "../*_test.go").Output()
	if err != nil {
		t.Skip("no checkout: ", err)
	}
	there := make(map[string]bool)
	for _, m := range testFunc.FindAllStringSubmatch(string(out), -1) {
		there[path.Base(path.Dir(m[1]))+"."+m[2]] = true
	}
	rows := 0
	for line := range strings.Lines(string(table)) {
		if !strings.Contains(line, "| ● |") && !strings.Contains(line, "| ◐ |") && !strings.Contains(line, "| ○ |") {
			continue
		}
		rows++
		named := namedTest.FindAllStringSubmatch(line, -1)
		for _, m := range named {
			if !there[m[0]] {
				t.Errorf("there is no test %s", m[0])
			}
		}
		if len(named) == 0 && !strings.Contains(line, "`") && !strings.Contains(line, "| ○ |") {
			t.Errorf("nothing shows %s", line)
		}
	}
	if rows != 72 {
		t.Errorf("%d rows, want 72", rows)
	}
}
