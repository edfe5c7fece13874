// SPDX-License-Identifier: Apache-2.0

// Package answer scores short answers by exact match (EM) and token F1, the
// way the evaluation scripts of the question-answering data sets do.
//
// The scripts share one normalizer, [Normalize], and differ in what they do
// with empty answers, with yes and no, and with several gold answers. Such a set of
// rules is a [Profile]; its name is part of the name of every figure ("f1/hotpot"),
// because figures of different profiles do not compare.
//
//	                        SQuAD1   SQuAD2   HotpotQA  TwoWiki    MuSiQue   MRQA
//	one side empty          F1 0     F1 0     F1 0      F1 0       F1 0      F1 0
//	both sides empty        F1 0     F1 1     F1 0      F1 0       F1 1      F1 0
//	differing yes/no rule   no       no       F1 0      F1 0       no        no
//	several gold answers    best     best     one only  best each  best      best
//	no gold answer          error    means "" error     error      error     error
//
// Empty means empty after normalization ("the" is). Two empty sides are always
// an exact match. "Best each" means that F1, precision and recall are each the
// best over the gold answers, taken apart. SQuAD2 also leaves out gold answers
// that are empty, unless all are. MRQA is the profile of HippoRAG as well.
//
// All functions are pure and safe for concurrent use.
package answer
