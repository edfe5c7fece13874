// SPDX-License-Identifier: Apache-2.0

// Package metering counts the calls and tokens of models, and carries the purpose of a call in its context.
//
//	ctx, meter := metering.WithMeter(ctx)
//	_, err := system.Answer(ctx, question)
//	fmt.Println(meter.Usage().PromptTokens)
//
// Callers name the stage, the question and the sample of a call ([WithStage], [WithQuestion], [WithSample]), which
// ledgers and caches read. [Metered] and [MeteredEmbedder] count the calls of a model and an embedder that do not
// count themselves; clients of services report their attempts to a [Bill]. Everything is safe for concurrent use.
package metering
