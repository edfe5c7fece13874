// SPDX-License-Identifier: Apache-2.0

// Package tokens counts the tokens of models, and says where they begin.
//
// [Cl100k] is the library's one counter: chunks, budgets of evidence and contexts of models are measured in
// its tokens. Where a model counts otherwise, the options that take a counter take any function.
//
// Token boundaries are the same as in tiktoken, without its regular expression: a
// scanner for the split pattern, and a table of the words met before. The vocabulary
// is OpenAI's (MIT), embedded in the binary, so nothing is fetched.
package tokens
