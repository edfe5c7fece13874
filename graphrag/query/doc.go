// SPDX-License-Identifier: Apache-2.0

// Package query reads the wording of a question: which of its words say what it is
// about, which are names, and whether it asks for an overview.
//
// The rules know English. In other languages the words are kept, names are found by
// their capitals and digits, and no question asks for an overview.
package query
