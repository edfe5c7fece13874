// SPDX-License-Identifier: Apache-2.0

// Package prompts builds requests from templates, and separates the data in a prompt from its instructions.
//
//	//go:embed prompts/*.txt
//	var files embed.FS
//	var set = prompts.Must("reader", files)
//
// Each text of a [Set] is a template of package text/template with a name; a program can replace it
// ([Replace]). [Fenced] puts data between marks with a nonce computed from the data, so that no text contains a
// mark.
package prompts
