// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Pages is a small corpus whose pages share names.
var Pages = []graphrag.Document{
	{ID: "amundsen.md", Title: "Roald Amundsen", Text: "# Roald Amundsen\n\nRoald Amundsen was a Norwegian explorer. Amundsen sailed on the Fram to Antarctica. Roald Amundsen reached the South Pole in 1911."},
	{ID: "fram.md", Title: "Fram", Text: "# Fram\n\nThe Fram was built by Colin Archer. Colin Archer built the ship in Larvik for Fridtjof Nansen. Fridtjof Nansen sailed on the Fram in 1893."},
	{ID: "larvik.md", Title: "Larvik", Text: "# Larvik\n\nLarvik is a town in Norway. Colin Archer was born in Larvik. The shipyard of Colin Archer stood in Larvik."},
	{ID: "scott.md", Title: "Robert Scott", Text: "# Robert Scott\n\nRobert Scott reached the South Pole in 1912. Robert Scott sailed on the Terra Nova to Antarctica."},
	{ID: "tides.md", Title: "Tides", Text: "# Tides\n\nThe moon raises the tides of the sea. The tides rise and fall twice a day."},
}

// Chinese is a corpus without a Latin letter.
var Chinese = []graphrag.Document{
	{ID: "a.md", Title: "北京", Text: "北京是中华人民共和国的首都。故宫位于北京市中心。"},
	{ID: "b.md", Title: "上海", Text: "上海是中国最大的城市。外滩位于上海。"},
}

// Questions has questions about Pages, and odd ones.
var Questions = []graphrag.Question{
	{Text: "Where was the builder of the Fram born?", K: 2, Depth: 5, Form: graphrag.Sentence},
	{Text: "Who reached the South Pole in 1911?", K: 1, Depth: 5, Form: graphrag.Sentence},
	{Text: "What do the pages say about Antarctica?", K: 3, Depth: 5, Form: graphrag.Overview},
	{Text: "why is it so", K: 2, Depth: 3},
	{Text: "", K: 2},
	{Text: "Fram", K: -1},
	{Text: "Fram", K: 1000, Depth: 1000},
	{Text: "故宫在哪里？", K: 2},
}

// OfflineKit returns the offline kit.
func OfflineKit(t testing.TB) kit.Kit {
	t.Helper()
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	OK(t, err)
	return k
}

// Maker makes a system of a kit.
type Maker func(kit.Kit) (*kit.System, error)
