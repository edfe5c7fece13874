// SPDX-License-Identifier: Apache-2.0

// Package prompts builds requests from templates, and separates the data in a prompt from its instructions.
//
//	//go:embed prompts/*.txt
//	var files embed.FS
//	var set = prompts.Must("reader", files)
//
// Each text of a [Set] is a template of package text/template under a name; a program replaces it by [Replace]. [Fenced]
// puts data between marks with a nonce made from the data themselves, so that no text can close its own marks.
package prompts
