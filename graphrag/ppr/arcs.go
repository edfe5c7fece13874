// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// arcs are rows with weights of one kind; nil weights are all 1.
type arcs[W float32 | float64] struct {
	offsets []int64
	targets []int32
	weights []W
}

// stride is the number of rows between two looks at the context.
const stride = 1 << 14

// pull sets q = (D - d·A)·p and returns the dot product of p and q.
func (a arcs[W]) pull(ctx context.Context, s *system, p []float32, q []float64) (float64, error) {
	dot, d := 0.0, s.damping*s.scale
	offsets, diagonal := a.offsets[:len(q)+1], s.diagonal[:len(q)]
	p = p[:len(q)]
	lo := int64(0)
	for u := range q {
		if u%stride == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		hi := offsets[u+1]
		sum := 0.0
		if a.weights == nil {
			sum = gather(a.targets[lo:hi], p)
		} else {
			sum = gatherWeighted(a.targets[lo:hi], a.weights[lo:hi], p)
		}
		lo = hi
		pu := float64(p[u])
		qu := diagonal[u]*pu - d*sum
		q[u] = qu
		dot += pu * qu
	}
	return dot, nil
}

// gather adds up p at the targets, in two sums that do not wait for each other.
func gather(targets []int32, p []float32) float64 {
	even, odd := 0.0, 0.0
	for ; len(targets) >= 2; targets = targets[2:] {
		even += float64(p[targets[0]])
		odd += float64(p[targets[1]])
	}
	if len(targets) > 0 {
		even += float64(p[targets[0]])
	}
	return even + odd
}

func gatherWeighted[W float32 | float64](targets []int32, weights []W, p []float32) float64 {
	even, odd := 0.0, 0.0
	weights = weights[:len(targets)]
	i := 0
	for ; i+1 < len(targets); i += 2 {
		even += float64(weights[i]) * float64(p[targets[i]])
		odd += float64(weights[i+1]) * float64(p[targets[i+1]])
	}
	if i < len(targets) {
		even += float64(weights[i]) * float64(p[targets[i]])
	}
	return even + odd
}

// scatter adds x times u's weights to q.
func (a arcs[W]) scatter(u int32, x float64, q []float64) {
	lo, hi := a.offsets[u], a.offsets[u+1]
	targets := a.targets[lo:hi]
	if a.weights == nil {
		for _, t := range targets {
			q[t] += x
		}
		return
	}
	weights := a.weights[lo:hi][:len(targets)]
	for i, t := range targets {
		q[t] += x * float64(weights[i])
	}
}

// inflow returns what a step of the walk from x brings to u.
func (a arcs[W]) inflow(s *system, u int32, x []float64) float64 {
	lo, hi := a.offsets[u], a.offsets[u+1]
	sum := 0.0
	for i, t := range a.targets[lo:hi] {
		if x[t] == 0 {
			continue
		}
		w := s.inverse[t]
		if a.weights != nil {
			w *= float64(a.weights[lo+int64(i)])
		}
		sum += x[t] * w
	}
	return sum*s.scale + s.inverse[u]*x[u]*s.loop(u)
}

// rows is arcs of any kind.
type rows interface {
	pull(ctx context.Context, s *system, p []float32, q []float64) (float64, error)
	scatter(u int32, x float64, q []float64)
	inflow(s *system, u int32, x []float64) float64
}

func rowsOf(g *graph.Graph) rows {
	if w := g.Weights64(); w != nil {
		return arcs[float64]{g.Offsets(), g.Targets(), w}
	}
	return arcs[float32]{g.Offsets(), g.Targets(), g.Weights32()}
}
