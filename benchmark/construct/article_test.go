// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/construct"
)

const owls = `# Barn owl

The barn owl is the most widespread owl.[^a] It hunts by ear.[^b]

## Hunting

In 1958, Roger Payne showed that barn owls catch mice in total darkness.[^b][^c] Nobody knows why.

## Notes

No prose here.[^a]

[^a]: Owls of the World, https://owls.example/world
[^b]: [The ear of the owl](https://ear.example/owl#page)
[^c]: "[Payne, R.](https://en.wikipedia.org/wiki/Roger_Payne) ["Acoustic location of prey"](https://prey.example/p(1)). [Archived](https://web.archive.org/web/1/https://prey.example/p)
`

func TestFootnotes(t *testing.T) {
	a := construct.Parse(owls, "owls.md", construct.Options{})
	if a.Title != "Barn owl" {
		t.Errorf("title %q", a.Title)
	}
	want := []construct.Reference{
		{Title: "Owls of the World,", URL: "https://owls.example/world"},
		{Title: "The ear of the owl", URL: "https://ear.example/owl#page"},
		{Title: "Acoustic location of prey", URL: "https://prey.example/p(1)", Archive: "https://web.archive.org/web/1/https://prey.example/p"},
	}
	if diff := cmp.Diff(want, a.References()); diff != "" {
		t.Error(diff)
	}
	var paths []string
	for _, s := range a.Sections() {
		paths = append(paths, strings.Join(s.Path, " > "))
	}
	if diff := cmp.Diff([]string{"Barn owl", "Barn owl > Hunting"}, paths); diff != "" {
		t.Error(diff)
	}
}
