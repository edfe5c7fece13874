// SPDX-License-Identifier: Apache-2.0

// Package serve answers HTTP requests from a system: in OpenAI's form, so that chat
// programs ask it as they ask a model, and as JSON.
//
//	POST   /v1/chat/completions  the last message of the user is the question, read by those before
//	                             it ([InContext]); "stream": true sends events; "where" (of
//	                             ours) is a condition; citations stand below the answer and in
//	                             "citations"
//	GET    /v1/models            the system's name
//	POST   /v1/answer            {"question": "…", "k": 5, "where": "…"} → the whole Answer
//	POST   /v1/search            {"query": "…", "k": 5, "where": "…"} → {"hits": […]}
//	GET    /v1/documents         {"documents": [{"id": "…", "title": "…", "fields": {…}}]}
//	PUT    /v1/documents         {"documents": [{"id": "…", "text": "…", "fields": {…}}]}
//	DELETE /v1/documents/{id}
//	GET    /healthz, /readyz, /openapi.json
//
// [Listen] and [Serve] are a server for it: of this machine alone without tokens, with limits of
// time, that ends gracefully.
//
// Each token sees the documents of its scope and writes no others, see [Token]. Errors are
// OpenAI's: {"error": {"message": "…", "type": "…", "code": "…"}}.
package serve
