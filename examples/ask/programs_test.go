// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Each of the small programs runs and prints what it is for.
func TestSmallPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"fuse"}, "1. The Fram was built in Larvik by Colin Archer."},
		{[]string{"indexfolder", "testdata/corpus", "Why are there two high tides a day?"}, "The moon draws the water"},
		{[]string{"insertdelete"}, "after an insert: 3 documents\nafter a delete: 2 documents; found: fram"},
		{[]string{"ownchunker"}, "2 chunks; found: Amundsen sailed her south."},
		{[]string{"twosystems"}, "bm25: fram archer\nhipporag2: fram archer"},
		{[]string{"walk"}, "0.577 Colin Archer"},
	} {
		out, err := exec.Command("go", append([]string{"run", "-buildvcs=false", "../" + tt.args[0]}, tt.args[1:]...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%v: %v, want %q in\n%s", tt.args, err, tt.want, out)
		}
	}
}
