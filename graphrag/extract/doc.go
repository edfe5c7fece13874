// SPDX-License-Identifier: Apache-2.0

// Package extract finds entities and triples in chunks: an [Extractor] makes a [kg.Extraction] of each.
//
//	x, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: model}})
//	extractions, err := x.Extract(ctx, chunks)
//	err = base.Insert(extractions...) // a *kg.Base
//
// The extractors here ask a model, for open triples ([OpenIE]), for typed and described records
// ([NewRecords]) or for what a schema allows ([BySchema]). Package rules has one that needs no model.
// Package graphragtest checks them all.
package extract
