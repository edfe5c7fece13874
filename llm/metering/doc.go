// SPDX-License-Identifier: Apache-2.0

// Package metering counts what model calls cost, and carries in their contexts what they are for.
//
//	ctx, meter := metering.WithMeter(ctx)
//	_, err := system.Answer(ctx, question)
//	fmt.Println(meter.Usage().PromptTokens)
//
// Callers name the stage, the question and the sample of a call ([WithStage], [WithQuestion], [WithSample]), which
// ledgers and caches read. [Metered] and [MeteredEmbedder] count the calls of a model and an embedder that do not
// count themselves; clients of services report their attempts to a [Bill]. All is safe for concurrent use.
package metering
