// SPDX-License-Identifier: Apache-2.0

// Package local encodes texts with a sentence encoder read from a folder: a BERT of the size of all-MiniLM-L6-v2,
// or an XLM-R as multilingual-e5 is, as sentence-transformers keeps it. It needs no server, no C and no network.
//
// [Open] reads config.json, model.safetensors (F32, F16 or BF16) and tokenizer.json (WordPiece, or Unigram, as
// SentencePiece's are in the files of the library tokenizers) or vocab.txt, and, where they are there,
// modules.json, the pooling's config.json, sentence_bert_config.json, tokenizer_config.json and
// config_sentence_transformers.json. The last five give the length of a text (max_seq_length; the rest is cut
// off), the pooling (the mean of the tokens' vectors or the first one), whether a vector has the length 1, and
// the prompts before questions and passages (as BGE and E5 were trained with). A folder that asks for anything
// else is refused, with the file, the reason and a remedy. Package hub finds such folders by a model's name.
//
// The same BERT with a layer for a task is read by [OpenReranker], [OpenEntailment], [OpenSpans] and [OpenNames]:
// scores of passages, whether a text follows from another, the words that answer, and names with their kinds.
// They read folders of the library transformers; config.json must have the architecture and labels of the task.
//
// Vectors are computed in float32. They depend neither on the number of workers nor on the batch, to the
// bit; between kinds of processor the last bits differ. Processors with AVX2 or AVX-512 are about as fast
// as their units for floats allow; others run plain Go, some thirty-five times slower.
//
// Architecture: Devlin and others 2019 (BERT), section 3; Reimers and Gurevych 2019 (Sentence-BERT),
// section 3; Wang and others 2020 (MiniLM); Conneau and others 2020 (XLM-R).
package local
