// SPDX-License-Identifier: Apache-2.0

package jsonl

import "encoding/json"

// Texts are a text or a list of texts: "a" is read as ["a"].
type Texts []string

// UnmarshalJSON reads either.
func (t *Texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = Texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}
