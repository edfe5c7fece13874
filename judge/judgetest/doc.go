// SPDX-License-Identifier: Apache-2.0

// Package judgetest puts a judge into go test: a [Suite] asks the system under test, and each [Case] lists
// checks of the answer. Cases are subtests: -run selects one, and tools that read the output of go test report
// each case.
//
//	func TestAnswers(t *testing.T) {
//		judgetest.Run(t, judgetest.Suite{
//			Ask: func(ctx context.Context, question string) (graphrag.Answer, error) {
//				return system.Answer(ctx, graphrag.Question{Text: question, K: 5})
//			},
//			Cases: []judgetest.Case{{
//				Question: "When was the bridge opened?",
//				Checks:   []judgetest.Check{judgetest.States("The bridge was opened in 1890."), judgetest.Cites("bridges.md")},
//			}},
//		})
//	}
//
// [ReadCases] reads cases from a file, and [Suite.Pass] is the required share of them. The default judge is the
// lexical one, which needs no model. A judge with a model of a paid.Client uses the replies stored in the
// client's file, so that a repeated test costs nothing and gives the same results. A verdict that could not be
// obtained fails the test as unscored, not as a wrong answer.
//
// [Grader] is for tests of programs that judge by model.
package judgetest
