// SPDX-License-Identifier: Apache-2.0

// Package judgetest puts a judge into go test: a [Suite] of questions is asked
// of the system under test, and each [Case] says what must be true of the
// answer. Cases are subtests, so -run picks one and tools that read the output
// of go test report each.
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
// [ReadCases] takes cases from a file, and [Suite.Pass] says how many of them have to hold.
// Without more the judge is the lexical one, which needs no model. A judge by the
// model of a paid.Client takes the replies that its file holds, so that a test asks
// once, and then costs nothing and says the same every time. A verdict that could not
// be obtained fails the test as unscored: it is neither a pass nor a wrong answer.
//
// [Grader] is for the tests of programs that judge by model themselves.
package judgetest
