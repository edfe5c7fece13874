// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Defaults is m asked with the settings of r where a request has none of its own:
// MaxTokens, Temperature, TopP, Seed and Stop. Everything else of r is passed over.
// Put it on top of a cache, whose keys hold the settings.
func Defaults(m Model, r Request) (Model, error) {
	var errs []error
	if m == nil {
		errs = append(errs, errors.New("llm: defaults: the model is nil"))
	}
	if r.MaxTokens < 0 {
		errs = append(errs, fmt.Errorf("llm: defaults: MaxTokens %d is negative: 0 leaves it to the server", r.MaxTokens))
	}
	for name, v := range map[string]*float64{"Temperature": r.Temperature, "TopP": r.TopP} {
		if v != nil && !(*v >= 0 && *v <= math.MaxFloat64) {
			errs = append(errs, fmt.Errorf("llm: defaults: %s is %v, want a number that is not negative", name, *v))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return defaults{m, r}, nil
}

type defaults struct {
	Model
	r Request
}

func (d defaults) Generate(ctx context.Context, req Request) (Reply, error) {
	return d.Stream(ctx, req, nil)
}

// Stream implements [Streamer].
func (d defaults) Stream(ctx context.Context, req Request, piece func(string) error) (Reply, error) {
	if req.MaxTokens == 0 {
		req.MaxTokens = d.r.MaxTokens
	}
	if req.Temperature == nil {
		req.Temperature = d.r.Temperature
	}
	if req.TopP == nil {
		req.TopP = d.r.TopP
	}
	if req.Seed == nil {
		req.Seed = d.r.Seed
	}
	if req.Stop == nil {
		req.Stop = slices.Clone(d.r.Stop)
	}
	return Stream(ctx, d.Model, req, piece)
}
