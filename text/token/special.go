package token

import (
	"fmt"
	"slices"
	"strings"
)

// IsEOG reports whether id ends generation: the end token, the end-of-turn and
// end-of-message tokens, and those that llama.cpp knows by their spelling.
func (t *Tokenizer) IsEOG(id int32) bool {
	_, found := slices.BinarySearch(t.eog, id)
	return found
}

// eogNames are the spellings of tokens that end generation whatever the
// metadata says.
var eogNames = []string{
	"</s>", "<eos>", "[EOS]", "<EOT>", "_<EOT>", "[EOT]", "[e~[",
	"<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|calls|>", "<|flush|>",
	"<end_of_turn>", "<turn|>", "<|tool_response>", "<|endoftext|>", "<|end_of_text|>",
	"<end_of_utterance>", "<｜end▁of▁sentence｜>",
}

// shownNames are control tokens whose text a reader should see: gpt-oss's
// channel marks.
var shownNames = []string{"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}

// fimTokens are the fill-in-the-middle tokens: where the metadata names one
// and how it is spelled otherwise. Padding, repository and file marks also end
// generation.
var fimTokens = []struct {
	keys  []string
	names []string
	ends  bool
}{
	{keys: []string{"fim_pre_token_id", "prefix_token_id"}, names: []string{"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<|prefix|>"}},
	{keys: []string{"fim_suf_token_id", "suffix_token_id"}, names: []string{"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<|suffix|>"}},
	{keys: []string{"fim_mid_token_id", "middle_token_id"}, names: []string{"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>", "<|middle|>"}},
	{keys: []string{"fim_pad_token_id"}, names: []string{"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}, ends: true},
	{keys: []string{"fim_rep_token_id"}, names: []string{"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}, ends: true},
	{keys: []string{"fim_sep_token_id"}, names: []string{"<|file_sep|>"}, ends: true},
}

// loadSpecials finds the tokens with a role, by the metadata and by their
// spelling as llama.cpp does, and prepares the search for special tokens.
func (t *Tokenizer) loadSpecials(md Metadata) error {
	if t.pre.noBOS {
		t.bos = noToken
	}
	eot, eom := noToken, noToken
	for _, role := range []struct {
		id  *int32
		key string
	}{
		{&t.bos, "bos_token_id"},
		{&t.eos, "eos_token_id"},
		{&eot, "eot_token_id"},
		{&eom, "eom_token_id"},
		{&t.unknown, "unknown_token_id"},
	} {
		if err := t.readID(md, role.key, role.id); err != nil {
			return err
		}
	}
	if t.unknown != noToken && t.kinds[t.unknown] != unknown {
		t.unknown = noToken
	}

	t.eog = slices.DeleteFunc([]int32{t.eos, eot, eom}, func(id int32) bool { return id == noToken })
	for _, name := range eogNames {
		if id := t.named(name); id != noToken {
			t.eog = append(t.eog, id)
			t.kinds[id] = control
		}
	}
	for _, fim := range fimTokens {
		id := noToken
		for _, key := range fim.keys {
			if err := t.readID(md, key, &id); err != nil {
				return err
			}
		}
		for i := 0; id == noToken && i < len(fim.names); i++ {
			if id = t.named(fim.names[i]); id != noToken {
				t.kinds[id] = control
			}
		}
		if fim.ends && id != noToken {
			t.eog = append(t.eog, id)
		}
	}
	for _, name := range shownNames {
		if id := t.named(name); id != noToken {
			t.kinds[id] = userDefined
		}
	}
	t.correctEOG()
	slices.Sort(t.eog)
	t.eog = slices.Compact(t.eog)

	t.addBOS = t.pre.addBOS
	if v, ok := md.Bool("tokenizer.ggml.add_bos_token"); ok && t.model != bpeRunes { // llama.cpp insists on gemma4's
		t.addBOS = v
	}
	t.addEOS, _ = md.Bool("tokenizer.ggml.add_eos_token")
	if t.addBOS && t.bos == noToken {
		return fmt.Errorf("token: texts should begin with a BOS token, but the vocabulary has none")
	}
	if t.addEOS && t.eos == noToken {
		return fmt.Errorf("token: texts should end with an EOS token, but the vocabulary has none")
	}
	t.specials = t.newSpecialSet(md)
	return nil
}

// readID sets *id to the token that key names. A default outside the
// vocabulary becomes noToken; an id outside it is an error.
func (t *Tokenizer) readID(md Metadata, key string, id *int32) error {
	if int(*id) >= t.Size() {
		*id = noToken
	}
	v, ok := md.Uint("tokenizer.ggml." + key)
	if !ok {
		return nil
	}
	if v >= uint64(t.Size()) {
		return fmt.Errorf("token: tokenizer.ggml.%s is %d, past the last token %d", key, v, t.Size()-1)
	}
	*id = int32(v)
	return nil
}

// named is the token that is spelled name, or noToken.
func (t *Tokenizer) named(name string) int32 {
	if id := t.vocab.find([]byte(name)); int(id) < t.Size() {
		return id
	}
	return noToken
}

// correctEOG takes back two names that do not end generation in some models:
// "<|end|>" where other tokens end a turn (gpt-oss, Solar), and "</s>" beside
// Gemma 4's tool tokens.
func (t *Tokenizer) correctEOG() {
	ends := func(name string) bool {
		id := t.named(name)
		return id != noToken && slices.Contains(t.eog, id)
	}
	take := func(name string, k kind) {
		id := t.named(name)
		t.eog = slices.DeleteFunc(t.eog, func(e int32) bool { return e == id })
		t.kinds[id] = k
	}
	if ends("<|end|>") && (ends("<|call|>") || ends("<|calls|>")) && (ends("<|return|>") || ends("<|flush|>")) {
		take("<|end|>", userDefined)
	}
	if ends("</s>") && ends("<|tool_response>") {
		take("</s>", normal)
	}
}

// phi3 reports whether md describes a Phi-3, whose special tokens swallow the
// spaces after them. The file does not say so but in its name.
func phi3(md Metadata) bool {
	name, _ := md.String("general.name")
	name = strings.ToLower(name)
	return strings.Contains(name, "phi-3") || strings.Contains(name, "phi3")
}
