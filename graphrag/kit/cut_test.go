// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// What is cut away, and that offsets lead back to the page.
func TestCut(t *testing.T) {
	const page = "* [Home](https://a.example/) [News](https://a.example/n) [Sport](https://a.example/s)\n\nThe [barn owl](https://a.example/owl) hunts by ear.\n"
	const whole, plain = "The [barn owl](https://a.example/owl) hunts by ear.", "The barn owl hunts by ear."
	for _, tt := range []struct {
		name string
		cut  kit.Cut
		want string
		menu bool
	}{
		{"as published", kit.Cut{}, plain, true},
		{"links", kit.Cut{KeepLinks: true}, whole, true},
		{"no furniture", kit.Cut{DropFurniture: true}, plain, false},
		{"no furniture, links", kit.Cut{DropFurniture: true, KeepLinks: true}, whole, false},
	} {
		c, err := tt.cut.Chunker()
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Document(t.Context(), graphrag.Document{ID: "d", Text: page})
		if err != nil || len(chunks) != 1 {
			t.Fatalf("%s: %d chunks, %v", tt.name, len(chunks), err)
		}
		text := chunks[0].Text
		if hasMenu := strings.Contains(text, "Home"); !strings.Contains(text, tt.want) || hasMenu != tt.menu {
			t.Errorf("%s: %q", tt.name, text)
		}
		if source := page[chunks[0].Start:chunks[0].End]; !strings.Contains(source, whole) || strings.Contains(source, "Home") != tt.menu {
			t.Errorf("%s: comes from %q", tt.name, source)
		}
	}
}
