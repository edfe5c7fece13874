// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

const page = `# Owls

[Skip](https://a.example/#main)
Accept all Reject all Settings

*   [Home](https://a.example/)
*   [About us](https://a.example/about)
*   Press

Owls
====

We use cookies to count visits. Choose which of them you allow.

Barn owls hunt by ear, as [Payne](https://b.example/1971) found
in the dark
of a locked room.

## Read next

*   [The eagle](https://a.example/eagle)

## Facts

- Length: 34 cm
フクロウは夜に狩りをします。

当サイトではクッキーを使用しています。

© 2024 a.example
`

// What stays of a page, and that offsets lead to the same bytes of the source.
func TestStripFurniture(t *testing.T) {
	want := "# Owls\n\nOwls\n====\n\nBarn owls hunt by ear, as [Payne](https://b.example/1971) found\nin the dark\nof a locked room.\n\n" +
		"## Facts\n\n- Length: 34 cm\nフクロウは夜に狩りをします。\n\n"
	got, m := text.StripFurniture(page)
	if got != want {
		t.Errorf("got\n%s", got)
	}
	for i := range got {
		if page[m.Source(i)] != got[i] {
			t.Fatalf("byte %d leads to %d", i, m.Source(i))
		}
	}
	plain, links := text.StripLinks(got)
	both := m.Compose(links, len(plain))
	for i := range plain {
		if page[both.Source(i)] != plain[i] {
			t.Fatalf("byte %d leads to %d", i, both.Source(i))
		}
	}
	if got, _ := text.StripFurniture(want); got != want {
		t.Errorf("a second time:\n%s", got)
	}
}

func FuzzStripFurniture(f *testing.F) {
	f.Add(page)
	f.Add("a\n\n\n\xff\n#\n# x")
	f.Fuzz(func(t *testing.T, s string) {
		got, m := text.StripFurniture(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) || len(got) > len(s) {
			t.Fatalf("%q", got)
		}
		for i := range len(got) {
			if s[m.Source(i)] != got[i] {
				t.Fatalf("byte %d of %q leads to %d of %q", i, got, m.Source(i), s)
			}
		}
		if strings.TrimSpace(s) == "" && strings.TrimSpace(got) != "" {
			t.Fatal("something of nothing")
		}
	})
}
