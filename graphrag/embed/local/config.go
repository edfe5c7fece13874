// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// The files of a model folder. The first two and one of vocab.txt and tokenizer.json are required.
const (
	configFile    = "config.json"
	weightsFile   = "model.safetensors"
	vocabFile     = "vocab.txt"
	tokenizerFile = "tokenizer.json"
	modulesFile   = "modules.json"
	sentenceFile  = "sentence_bert_config.json"
	casingFile    = "tokenizer_config.json"
	promptsFile   = "config_sentence_transformers.json"
)

// Limits of a model's sizes: far above any sentence encoder, and low enough that no file fills the memory.
const (
	maxJSON   = 64 << 20 // longest text file, in bytes
	maxLayers = 256
	maxHidden = 1 << 14
	maxTokens = 1 << 13
	maxVocab  = 1 << 23
	maxPrompt = 1 << 10 // longest prompt, in bytes
)

// config holds the settings of a model's files that affect its vectors.
type config struct {
	Model    string  `json:"model_type"`
	Hidden   int     `json:"hidden_size"`
	Layers   int     `json:"num_hidden_layers"`
	Heads    int     `json:"num_attention_heads"`
	Inner    int     `json:"intermediate_size"`
	Vocab    int     `json:"vocab_size"`
	Places   int     `json:"max_position_embeddings"`
	Kinds    int     `json:"type_vocab_size"`
	Act      string  `json:"hidden_act"`
	Position string  `json:"position_embedding_type"`
	Eps      float64 `json:"layer_norm_eps"`

	tokens int  // most tokens of a text, including the begin and end tokens
	first  bool // pooling by the first token's vector, not by the mean
	unit   bool // vectors are scaled to length 1
	lower  bool // texts are made lower case before the tokenizer
}

// prompts are the texts to put before each question and passage, as the model was trained with them.
type prompts struct{ query, passage string }

// badFile returns an error about a file of the folder, with a remedy.
func badFile(dir, name, remedy string, err error) error {
	return fmt.Errorf("local: %s: %w: %s", filepath.Join(dir, filepath.FromSlash(name)), err, remedy)
}

const (
	remedyFolder = "name the folder of a BERT sentence encoder, as all-MiniLM-L6-v2 comes"
	remedyCopy   = "copy the file again"
	remedyModel  = "use a BERT sentence encoder, as all-MiniLM-L6-v2 is"
)

// readText reads a file of at most maxJSON bytes. A missing file is nil, or an error if must is set.
func readText(dir, name string, must bool) ([]byte, error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, badFile(dir, name, remedyFolder, errors.New("the file is missing"))
	case err != nil:
		return nil, badFile(dir, name, remedyFolder, err)
	case !info.Mode().IsRegular() || info.Size() > maxJSON:
		return nil, badFile(dir, name, remedyFolder, fmt.Errorf("not a file of at most %d MB", maxJSON>>20))
	}
	b, err := os.ReadFile(full)
	if err != nil {
		return nil, badFile(dir, name, remedyCopy, err)
	}
	return b, nil
}

// readJSON reads a JSON file into to. found is false if the file is missing and must is not set.
func readJSON(dir, name string, must bool, to any) (found bool, err error) {
	b, err := readText(dir, name, must)
	if err != nil || b == nil {
		return false, err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return false, badFile(dir, name, remedyCopy, err)
	}
	return true, nil
}

// readConfig reads all settings of the folder except the tokenizer's.
func readConfig(dir string) (config, error) {
	c, err := readBERT(dir)
	if err != nil {
		return c, err
	}
	pooling, err := c.readModules(dir)
	if err == nil {
		err = c.readSentence(dir)
	}
	if err == nil && pooling != "" {
		err = c.readPooling(dir, pooling)
	}
	return c, err
}

// readBERT reads the settings of the encoder in config.json.
func readBERT(dir string) (config, error) {
	c := config{Kinds: 2, Act: "gelu", Position: "absolute", Eps: 1e-12}
	if _, err := readJSON(dir, configFile, true, &c); err != nil {
		return c, err
	}
	c.tokens = c.Places - c.unplaced()
	err := c.check()
	if pad := (struct {
		ID int `json:"pad_token_id"`
	}{1}); err == nil && c.Model == modelXLMR {
		if _, err = readJSON(dir, configFile, true, &pad); err == nil && pad.ID != 1 {
			err = fmt.Errorf("pad_token_id is %d, want 1, after which the positions begin", pad.ID)
		}
	}
	if err != nil {
		return c, badFile(dir, configFile, remedyModel, err)
	}
	return c, nil
}

// unplaced returns the number of unused position embeddings: XLM-R's first one follows the padding token's, 1.
func (c *config) unplaced() int {
	if c.Model == modelXLMR {
		return 2
	}
	return 0
}

const (
	modelBERT = "bert"
	modelXLMR = "xlm-roberta" // BERT's architecture (Conneau and others 2020, arXiv 1911.02116)
)

// check reports settings that the forward pass does not support.
func (c *config) check() error {
	var bad opt.Checks
	bad.Want(c.Model == modelBERT || c.Model == modelXLMR, "model_type", fmt.Sprintf("%q", c.Model), `"bert" or "xlm-roberta"`)
	bad.Want(c.Act == "gelu", "hidden_act", fmt.Sprintf("%q", c.Act), `"gelu"`)
	bad.Want(c.Position == "absolute", "position_embedding_type", fmt.Sprintf("%q", c.Position), `"absolute"`)
	opt.Range(&bad, "hidden_size", c.Hidden, matrix.Panel, maxHidden)
	opt.Range(&bad, "num_hidden_layers", c.Layers, 1, maxLayers)
	opt.Range(&bad, "num_attention_heads", c.Heads, 1, maxHidden)
	opt.Range(&bad, "intermediate_size", c.Inner, matrix.Panel, 4*maxHidden)
	opt.Range(&bad, "vocab_size", c.Vocab, 1, maxVocab)
	opt.Range(&bad, "max_position_embeddings", c.Places, 3+c.unplaced(), maxTokens)
	opt.Range(&bad, "type_vocab_size", c.Kinds, 1, maxTokens)
	opt.Range(&bad, "layer_norm_eps", c.Eps, 0, 1.)
	if c.Heads > 0 {
		bad.Want(c.Hidden%(c.Heads*matrix.Panel) == 0, "hidden_size / num_attention_heads", float64(c.Hidden)/float64(c.Heads), fmt.Sprintf("a multiple of %d", matrix.Panel))
	}
	bad.Want(c.Inner%matrix.Panel == 0, "intermediate_size", c.Inner, fmt.Sprintf("a multiple of %d", matrix.Panel))
	return bad.Err()
}

// readModules reads the modules of the model, and returns the folder of the pooling module. Without
// modules.json the pooling is the mean, as in sentence-transformers.
func (c *config) readModules(dir string) (pooling string, err error) {
	var modules []struct{ Path, Type string }
	found, err := readJSON(dir, modulesFile, false, &modules)
	if err != nil || !found {
		return "", err
	}
	want := []string{"Transformer", "Pooling", "Normalize"}
	if len(modules) < 2 || len(modules) > len(want) {
		return "", badFile(dir, modulesFile, remedyModel, fmt.Errorf("%d modules, want Transformer, Pooling and perhaps Normalize", len(modules)))
	}
	for i, m := range modules {
		if kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; kind != want[i] {
			return "", badFile(dir, modulesFile, remedyModel, fmt.Errorf("module %d is %q, want %s", i, m.Type, want[i]))
		}
	}
	if modules[0].Path != "" {
		return "", badFile(dir, modulesFile, remedyModel, fmt.Errorf("the transformer is in %q, want it in the folder of this file", modules[0].Path))
	}
	if pooling = modules[1].Path; !filepath.IsLocal(filepath.FromSlash(pooling)) {
		return "", badFile(dir, modulesFile, remedyModel, fmt.Errorf("%q is outside the folder", pooling))
	}
	c.unit = len(modules) > 2
	return pooling, nil
}

// readSentence reads the most tokens of a text, and whether texts are made lower case.
func (c *config) readSentence(dir string) error {
	var s struct {
		Tokens *int `json:"max_seq_length"`
		Lower  bool `json:"do_lower_case"`
	}
	if _, err := readJSON(dir, sentenceFile, false, &s); err != nil {
		return err
	}
	c.lower = s.Lower
	if s.Tokens == nil {
		return nil
	}
	if *s.Tokens < 3 || *s.Tokens > c.tokens {
		return badFile(dir, sentenceFile, remedyCopy, fmt.Errorf("max_seq_length is %d, want 3 to %d, the number of the model's positions", *s.Tokens, c.tokens))
	}
	c.tokens = *s.Tokens
	return nil
}

// readPooling reads how the tokens' vectors become one vector.
func (c *config) readPooling(dir, folder string) error {
	name := path.Join(folder, configFile)
	var p struct {
		Dim      int  `json:"word_embedding_dimension"`
		First    bool `json:"pooling_mode_cls_token"`
		Mean     bool `json:"pooling_mode_mean_tokens"`
		Max      bool `json:"pooling_mode_max_tokens"`
		Sqrt     bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Weighted bool `json:"pooling_mode_weightedmean_tokens"`
		Last     bool `json:"pooling_mode_lasttoken"`
		Prompt   bool `json:"include_prompt"`
	}
	p.Prompt = true
	if _, err := readJSON(dir, name, true, &p); err != nil {
		return err
	}
	if p.First == p.Mean || p.Max || p.Sqrt || p.Weighted || p.Last || !p.Prompt {
		return badFile(dir, name, remedyModel, errors.New("want pooling by the mean of all tokens, including the prompt's, or by the first token, and nothing else"))
	}
	if p.Dim != c.Hidden {
		return badFile(dir, name, remedyCopy, fmt.Errorf("word_embedding_dimension is %d, hidden_size in %s %d", p.Dim, configFile, c.Hidden))
	}
	c.first = p.First
	return nil
}

// readPrompts reads the prompts for questions and passages. Like encode_query and encode_document of
// sentence-transformers it takes the prompt "query", and the first of "document", "passage" and "corpus", else
// the default prompt.
func readPrompts(dir string) (p prompts, err error) {
	var s struct {
		Prompts map[string]string
		Default *string `json:"default_prompt_name"`
	}
	if _, err := readJSON(dir, promptsFile, false, &s); err != nil {
		return p, err
	}
	if s.Default != nil {
		text, ok := s.Prompts[*s.Default]
		if !ok {
			return p, badFile(dir, promptsFile, remedyCopy, fmt.Errorf("no prompt has the name %q of the default", *s.Default))
		}
		p = prompts{text, text}
	}
	if text, ok := s.Prompts["query"]; ok {
		p.query = text
	}
	for _, name := range []string{"document", "passage", "corpus"} {
		if text, ok := s.Prompts[name]; ok {
			p.passage = text
			break
		}
	}
	if most := max(len(p.query), len(p.passage)); most > maxPrompt {
		return p, badFile(dir, promptsFile, remedyModel, fmt.Errorf("a prompt has %d bytes, want at most %d", most, maxPrompt))
	}
	return p, nil
}
