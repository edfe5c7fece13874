// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

// page is a short text like those of the web.
const page = `# Typhoon Marla hits northern Luzon

* Home
* News
* Weather

Share on Facebook

By Ana Santos – July 24, 2012

Typhoon Marla hit northern Luzon on Tuesday, the National Weather Bureau (NWB) said. The storm, which formed near
Guam on July 19, moved west at 20 km/h and destroyed 4,500 houses in Cagayan. "We were not ready," said Mayor Jose Reyes
of Aparri. President Benigno Aquino visited Tuguegarao, the capital of Cagayan, on Thursday and promised $12 million.

The Red Cross was founded by Henry Dunant in Geneva in 1863. Its Philippine branch has sent three ships from Manila.
`

func pages(n int) []graphrag.Chunk {
	var chunks []graphrag.Chunk
	for i := range n {
		id := fmt.Sprintf("d%03d", i)
		// Lines that many pages share would be taken for a menu.
		vary := strings.NewReplacer("Marla", fmt.Sprintf("Marla%c", 'a'+i%26), "July 19", fmt.Sprintf("July %d", i%28+1),
			"$12", fmt.Sprintf("$%d", 12+i), "1863", fmt.Sprint(1863+i))
		chunks = append(chunks, graphrag.Chunk{ID: id + "#000000", Doc: id, Text: vary.Replace(page)})
	}
	return chunks
}

// realPages returns the chunks of a domain, and how many bytes of text they
// were cut from, links already stripped.
func realPages(tb testing.TB, domain string) ([]graphrag.Chunk, int) {
	tb.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		tb.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "corpus", domain, "*", "reference_pages", "*.txt"))
	check.Must(tb, err == nil && len(files) != 0, "no pages of %s in %s: %v", domain, dir, err)
	chunker := check.Of(chunk.New(chunk.Options{})).OK(tb)
	size := 0
	chunks := check.Of(chunker.All(context.Background(), func(yield func(graphrag.Document, error) bool) {
		for _, file := range files {
			data, err := os.ReadFile(file)
			clean, _ := text.StripLinks(string(data))
			size += len(clean)
			if !yield(graphrag.Document{ID: filepath.Base(file), Text: clean}, err) {
				return
			}
		}
	})).OK(tb)
	return chunks, size
}
