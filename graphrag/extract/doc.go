// SPDX-License-Identifier: Apache-2.0

// Package extract finds entities and triples in chunks: an [Extractor] makes a kg.Extraction of each. The
// extractors here ask a model, for open triples ([OpenIE]), for typed and described records ([Records]) or
// for what a schema allows ([BySchema]), or return earlier extractions ([Recorded]); package rules
// has one that needs no model. extracttest checks them all.
package extract
