// SPDX-License-Identifier: Apache-2.0

// Package foreign reads finished indexes of other programs, so that an index built there can answer questions
// here: the output folder of Microsoft's GraphRAG (Parquet), and the working folder of LightRAG with its
// default stores (GraphML and JSON).
//
// An [Index] has documents and their extractions. It is an extractor, so every recipe that takes one
// ([github.com/wildgraph/wildgraph/graphrag/kit.Frame] calls it Extract) builds its graph from it without
// calling a model; and its extractions can be inserted into a kg.Base.
//
//	x, err := foreign.ReadGraphRAG(os.DirFS("output"))
//	system, err := lightrag.New(k, lightrag.Options{Mode: lightrag.Mix, Extract: x})
//	_, err = system.Index(ctx, x.Documents())
//
// The program examples/graphview draws such an index.
//
// Information that was lost when the index was built stays lost: both programs keep one description of an
// entity, or its parts in LightRAG, without the text units that stated them.
package foreign
