// SPDX-License-Identifier: Apache-2.0

// Package usage counts what is asked of models under a context.
//
// A [Meter] counts at the top, what replies say they took, for whoever wants to
// know what a question costs. A [Bill] is written at the bottom, attempt by attempt,
// for a ledger that wants to know what was really paid. Stage and question say what
// calls are for that carry no request, such as embeddings.
package usage
