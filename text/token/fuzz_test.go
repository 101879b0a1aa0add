package token

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzNew builds tokenizers from arbitrary metadata. New must refuse or give a
// tokenizer that works; what it holds is bounded by what it was given.
func FuzzNew(f *testing.F) {
	f.Add("gpt2", "qwen2", "a\nb\nab\n<|im_end|>", "a b", "\x01\x01\x01\x03", uint64(3), true, "ab<|im_end|>")
	f.Add("llama", "", "<unk>\n<s>\n</s>\n<0x41>\n▁\na\n▁a", "", "\x02\x03\x03\x06\x01\x01\x01", uint64(1), true, "A a")
	f.Add("gemma4", "", "<bos>\na\n\n\n▁\na▁", "a ▁", "", uint64(0), false, "a a\n\n")
	f.Add("gpt2", "gpt-2", "Ġ\nx\nĠx", "Ġ x\nx x\nxx xx", "", uint64(9), false, " x xxxx")
	f.Fuzz(func(t *testing.T, model, pre, tokens, merges, types string, id uint64, flag bool, text string) {
		md := metadata{
			"model": model, "pre": pre, "tokens": strings.Split(tokens, "\n"), "merges": strings.Split(merges, "\n"),
			"bos_token_id": id, "eot_token_id": id / 2, "add_bos_token": flag, "add_space_prefix": !flag, "general.name": pre,
		}
		if types != "" {
			var kinds []int64
			for _, b := range []byte(types) {
				kinds = append(kinds, int64(b)-1)
			}
			md["token_type"] = kinds
		}
		scores := make([]float64, len(tokens)+1)
		for i := range scores {
			scores[i] = float64(int64(id)>>(i%64)) / float64(i) // the first is an infinity or NaN
		}
		md["scores"] = scores
		tok, err := New(md)
		if err != nil {
			return
		}
		if held := len(tok.vocab.arena); held > 24*len(md["tokens"].([]string))+len(tokens)+len(merges) {
			t.Errorf("%d bytes of text held for %d bytes given", held, len(tokens)+len(merges))
		}
		for _, ids := range [][]int32{tok.Encode(text, false, false), tok.Encode(text, true, true)} {
			for _, id := range ids {
				if id < 0 || int(id) >= tok.Size() {
					t.Fatalf("id %d of %d tokens", id, tok.Size())
				}
				tok.IsEOG(id)
			}
			decode(tok, ids)
			streamed(tok, ids)
		}
	})
}

// FuzzRoundTrip encodes and decodes: byte-level BPE gives back every text.
func FuzzRoundTrip(f *testing.F) {
	var tokenizers []*Tokenizer
	for _, p := range preTokenizers {
		md := byteLevel(p.names[0], []string{"Ġ Ġ", "a b", "Ġ ab", "Ã ©", "ä ¸", "ä¸ Ń", "1 2", "ĠĠ ĠĠ"}, []string{"<|x|>"})
		tokenizers = append(tokenizers, mustNew(f, md.with(metadata{"eos_token_id": uint64(1)})))
	}
	spm := mustNew(f, scored("▁ 0", "a 0", "b 0", "ab -1", "▁ab -2", "é 0").with(metadata{"add_space_prefix": false}))
	for _, s := range []string{"", "ab ab", "  \r\n\t 1234", "é中\xff\xe4\xb8 <|x|>", "I'll ÀB'sx\u0301 ‘’。"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i, tok := range tokenizers {
			for _, special := range []bool{false, true} {
				ids := tok.Encode(text, false, special)
				if got := decode(tok, ids); got != text {
					t.Errorf("%s: %q came back as %q", preTokenizers[i].names[0], text, got)
				}
			}
		}
		// In spm vocabularies a mark is a space, and llama.cpp's cutting of broken
		// characters may cut a mark.
		if strings.Contains(text, spaceMark) || !utf8.ValidString(text) {
			return
		}
		if got := decode(spm, spm.Encode(text, false, false)); got != text {
			t.Errorf("spm: %q came back as %q", text, got)
		}
	})
}

// FuzzStream compares a Stream with decoding everything at once.
func FuzzStream(f *testing.F) {
	tok := mustNew(f, byteLevel("gpt-2", []string{"ä ¸", "ä¸ Ń", "ð Ł", "Ń ð", "a b"}, []string{"<s>"}))
	for _, s := range []string{"abc", "中😀", "\xe4\xb8", "a\xf0\x9f\x98b", "\xff\x80\xc3"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, ids := range [][]int32{tok.Encode(string(b), false, false), wide(b)} {
			var all []byte
			for _, id := range ids {
				all = tok.Append(all, id, false)
			}
			if got, want := streamed(tok, ids), string([]rune(string(all))); got != want {
				t.Errorf("%v streamed as %q, want %q", ids, got, want)
			}
			s := tok.NewStream()
			for _, id := range ids {
				if text := s.Push(id); !utf8.ValidString(text) {
					t.Errorf("%v: %q is not whole characters", ids, text)
				}
			}
		}
	})
}

// wide takes bytes for ids, some of them of merged and control tokens.
func wide(b []byte) []int32 {
	var ids []int32
	for i, c := range b {
		ids = append(ids, int32(c)+int32(i%3)*7)
	}
	return ids
}
