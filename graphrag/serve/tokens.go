// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Token contains the rights of the bearer of a token.
type Token struct {
	// Scope limits what is seen, and what is written; nil is everything.
	Scope *graphrag.Condition `json:"scope,omitempty"`
	// Write allows documents to be put and deleted.
	Write bool `json:"write,omitempty"`
}

const minToken, maxToken = 16, 1 << 12

// ReadTokens reads the tokens of a JSON object, such as
//
//	{"TOKEN": {"scope": "team = \"ops\"", "write": true}}
//
// Tokens have 16 to 4096 visible ASCII characters. A key that is unknown, repeated, in other
// case or null is an error: a slip must not open what a scope was to hide.
func ReadTokens(r io.Reader) (map[string]Token, error) {
	tokens := map[string]Token{}
	in := json.NewDecoder(io.LimitReader(r, 16<<20))
	err := object(in, func(name string) error {
		var may Token
		if _, twice := tokens[name]; twice {
			return fmt.Errorf("the token number %d stands there twice", len(tokens)+1)
		}
		seen := map[string]bool{}
		err := object(in, func(key string) error {
			if seen[key] {
				return fmt.Errorf("the key %q stands there twice", key)
			}
			seen[key] = true
			var value json.RawMessage
			if err := in.Decode(&value); err != nil {
				return err
			}
			switch {
			case string(value) == "null":
				return fmt.Errorf("%q is null: leave it out", key)
			case key == "scope":
				may.Scope = new(graphrag.Condition)
				return json.Unmarshal(value, may.Scope)
			case key == "write":
				return json.Unmarshal(value, &may.Write)
			}
			return fmt.Errorf("there is no key %.40q", key)
		})
		tokens[name] = may
		return err
	})
	if err == nil {
		if _, more := in.Token(); more != io.EOF {
			err = errors.New("there is more behind the object")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("serve: tokens: %w: want {\"TOKEN\": {\"scope\": \"CONDITION\", \"write\": false}}", err)
	}
	if len(tokens) == 0 {
		return nil, errors.New("serve: there is no token: give one, or leave the file out to serve this machine alone")
	}
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	return tokens, nil
}

// object reads a JSON object; read reads the value of a key.
func object(in *json.Decoder, read func(key string) error) error {
	begun, err := in.Token()
	if err == nil && begun != json.Delim('{') {
		return errors.New("it is no object")
	}
	for err == nil && in.More() {
		var key json.Token
		if key, err = in.Token(); err == nil {
			name, _ := key.(string)
			err = read(name)
		}
	}
	if err == nil {
		_, err = in.Token()
	}
	return err
}

// checkTokens reports a token that anybody could guess, or send by leaving it out. The error
// does not contain it.
func checkTokens(tokens map[string]Token) error {
	for t := range tokens {
		if len(t) < minToken || len(t) > maxToken || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("serve: a token has %d characters, or others than visible ASCII: want %d to %d", len(t), minToken, maxToken)
		}
	}
	return nil
}
