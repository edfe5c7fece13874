// SPDX-License-Identifier: Apache-2.0

// Package foreign reads finished indexes of other programs, so that an index that was paid for
// there can be asked here: the output folder of Microsoft's GraphRAG (Parquet), and the
// working folder of LightRAG with its default stores (GraphML and JSON).
//
// An [Index] has documents and their extractions. It is an extractor of records, so every recipe
// that takes one ([github.com/wildgraph/wildgraph/graphrag/kit.Frame] calls it Extract) builds its graph of
// it without asking a model; and its extractions go into a kg.Base as they are.
//
//	x, err := foreign.ReadGraphRAG(os.DirFS("output"))
//	system, err := lightrag.New(k, lightrag.Options{Mode: lightrag.Mix, Extract: x})
//	_, err = system.Index(ctx, x.Documents())
//
// The program examples/graphview draws one.
//
// What was lost when the index was made stays lost: both programs keep one description
// of an entity, or its parts in LightRAG, without the text units that stated them.
package foreign
