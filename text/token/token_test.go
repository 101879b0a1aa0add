package token

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestMergesApplyByRankThenFromTheLeft(t *testing.T) {
	for _, tt := range []struct{ name, merges, text, want string }{
		{"lower rank first", "b c,a b", "abc", "a|bc"},
		{"and the other way round", "a b,b c", "abc", "ab|c"},
		{"equal ranks from the left", "a a", "aaa", "aa|a"},
		{"a merge makes new merges", "a a,aa aa", "aaaa", "aaaa"},
		{"even better ones", "ab c,a b", "abc", "abc"},
		{"a piece can be made in two ways", "b c,a bc,a b,ab c", "abc", "abc"},
		{"only as the merges say", "a b,ab c", "abcbc", "abc|b|c"},
		{"a repeated merge keeps its first rank", "a b,b c,a b", "abc", "ab|c"},
		{"a stale merge is skipped", "a b,b a", "ababa", "ab|ab|a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustNew(t, byteLevel("gpt-2", strings.Split(tt.merges, ","), nil))
			if got := spell(tok, tok.Encode(tt.text, false, false)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// plainBPE merges as the definition says: again and again the pair of the
// lowest rank, the leftmost of equals.
func plainBPE(word []string, ranks map[[2]string]int) []string {
	for {
		best := -1
		for i := range len(word) - 1 {
			rank, ok := ranks[[2]string{word[i], word[i+1]}]
			if ok && (best < 0 || rank < ranks[[2]string{word[best], word[best+1]}]) {
				best = i
			}
		}
		if best < 0 {
			return word
		}
		word = slices.Replace(word, best, best+2, word[best]+word[best+1])
	}
}

func TestMergesAgreeWithTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		pieces := []string{"a", "b", "c", "d"}
		var merges []string
		ranks := map[[2]string]int{}
		for range 1 + rng.IntN(12) {
			pair := [2]string{pieces[rng.IntN(len(pieces))], pieces[rng.IntN(len(pieces))]}
			if _, ok := ranks[pair]; !ok {
				ranks[pair] = len(merges)
			}
			merges = append(merges, pair[0]+" "+pair[1])
			pieces = append(pieces, pair[0]+pair[1])
		}
		tok := mustNew(t, byteLevel("gpt-2", merges, nil))
		for range 20 {
			var word []string
			for range 1 + rng.IntN(30) {
				word = append(word, pieces[rng.IntN(4)])
			}
			text := strings.Join(word, "")
			want := strings.Join(plainBPE(word, ranks), "|")
			for range 2 { // the second time from memory, if it is one token
				if got := spell(tok, tok.Encode(text, false, false)); got != want {
					t.Fatalf("merges %q: %s is %s, want %s", merges, text, got, want)
				}
			}
		}
	}
}

// TestMergeWorkIsBounded counts what mergeAll queues: no text makes it quadratic.
func TestMergeWorkIsBounded(t *testing.T) {
	var doubling []string
	for s := "a"; len(s) <= 512; s += s {
		doubling = append(doubling, s+" "+s)
	}
	for name, md := range map[string]metadata{
		"bpe": byteLevel("gpt-2", doubling, nil),
		"spm": scored("a 0", "aa -1", "aaaa -2", "aaaaaaaa -3"),
	} {
		tok := mustNew(t, md)
		sc := &scratch{}
		text := []byte(strings.Repeat("a", 1<<18))
		tok.encodeWord(nil, sc, text)
		if limit := 3 * len(text); sc.queued > limit {
			t.Errorf("%s: %d letters queued %d merges, want at most %d", name, len(text), sc.queued, limit)
		}
	}
}

func TestBestScoreMergesFirst(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string
		text   string
		want   string
	}{
		{"better score first", []string{"a 0", "b 0", "c 0", "ab -2", "bc -1"}, "abc", "a|bc"},
		{"equal scores from the left", []string{"a 0", "aa -1"}, "aaa", "aa|a"},
		{"positive scores beat negative ones", []string{"a 0", "b 0", "c 0", "ab -1", "bc 1"}, "abc", "a|bc"},
		{"minus zero is zero", []string{"a 0", "b 0", "c 0", "ab -0", "bc 0"}, "abc", "ab|c"},
		{"what has no token falls back to bytes", []string{"a 0"}, "aé", "a|<0xC3>|<0xA9>"},
		{"spaces are marked", []string{"▁ 0", "a 0", "▁a -1"}, " a a", "▁a|▁a"},
		{"any two tokens that spell a third merge", []string{"▁ 0", "a 0", "▁a 0", "a▁a -1"}, "a a", "a▁a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustNew(t, scored(tt.pieces...).with(metadata{"add_space_prefix": false}))
			if got := spell(tok, tok.Encode(tt.text, false, false)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// gemma is a vocabulary like Gemma 4's: merges over characters.
func gemma() metadata {
	return metadata{
		"model": "gemma4", "tokens": []string{"<bos>", "<0x41>", "a", "▁", "é", "\n", "\n\n", "▁a", "a▁a"},
		"token_type": []int64{3, 6, 1, 1, 1, 1, 1, 1, 1}, "merges": []string{"▁ a", "a ▁a"}, "bos_token_id": uint64(0), "add_bos_token": false,
	}
}

func TestMergesOverCharacters(t *testing.T) {
	tok := mustNew(t, gemma())
	for _, tt := range []struct{ name, text, want string }{
		{"spaces are marked and merge into words", "é a a", "<bos>|é|▁a|▁a"},
		{"merges cross words", "a a", "<bos>|a▁a"},
		{"but not lines", "a\na", "<bos>|a|\n|a"},
		{"newlines that are a token are one without merges", "a\n\na", "<bos>|a|\n\n|a"},
		{"others are not", "\n\n\n", "<bos>|\n|\n|\n"},
		{"what has no token falls back to bytes", "A", "<bos>|<0x41>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := spell(tok, tok.Encode(tt.text, true, false)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSpecialTokens(t *testing.T) {
	bpe := byteLevel("gpt-2", []string{"h i"}, []string{"<s>", "<s><s>", "</s>", "<a>b"}).with(metadata{
		"bos_token_id": uint64(257), "eos_token_id": uint64(259), "add_bos_token": true, "add_eos_token": true,
	})
	tokens, _ := bpe.Strings("tokens")
	types, _ := bpe.Ints("token_type")
	bpe["tokens"], bpe["token_type"] = append(tokens, "<user>", "b<c>"), append(types, int64(userDefined), int64(control))

	sentence := scored("▁ 0", "h 0", "i 0", "hi -1", "▁hi -2")
	phi := sentence.with(metadata{"general.name": "Phi-3 mini"})
	bare := sentence.with(metadata{"add_space_prefix": false, "add_bos_token": false})
	for _, tt := range []struct {
		name                string
		md                  metadata
		text                string
		addSpecial, special bool
		want                string
	}{
		{"are text unless parsed", bpe, "<s>hi", false, false, "<|s|>|hi"},
		{"are tokens when parsed", bpe, "<s>hi", false, true, "<s>|hi"},
		{"user-defined ones always", bpe, "hi<user>hi", false, false, "hi|<user>|hi"},
		{"a longer one comes first", bpe, "<s><s><s>", false, true, "<s><s>|<s>"},
		{"even if a shorter one begins before it", bpe, "b<c><a>b<c>", false, true, "b<c>|<a>b|<|c|>"},
		{"begin and end a text", bpe, "hi", true, false, "<s>|hi|</s>"},
		{"begin and end even nothing", bpe, "", true, false, "<s>|</s>"},
		{"unfinished ones are text", bpe, "<s", false, true, "<|s"},
		{"spm puts a space after them", sentence, "hi<s>hi", true, true, "<s>|▁hi|<s>|▁hi"},
		{"but not where it is switched off", bare, "hi<s>hi", true, true, "hi|<s>|hi"},
		{"text keeps its own spaces", sentence, "<s> hi", false, true, "<s>|▁|▁hi"},
		{"phi-3's swallow the spaces after them", phi, "</s> \n hi", false, true, "</s>|▁hi"},
		{"but not all of them", phi, "<s> hi", false, true, "<s>|▁|▁hi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustNew(t, tt.md)
			if got := spell(tok, tok.Encode(tt.text, tt.addSpecial, tt.special)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestBOSAndEOS(t *testing.T) {
	many := byteLevel("gpt-2", []string{}, nil)
	for _, tt := range []struct {
		name     string
		md       metadata
		bos, eos int32
	}{
		{"gpt2 has 11 for both", many, 11, 11},
		{"llama has 1 and 2", scored(), 1, 2},
		{"gemma 4 has none but by key", gemma(), 0, noToken},
		{"nor does GLM have a BOS", many.with(metadata{"pre": "glm4"}), noToken, 11},
		{"keys say otherwise", many.with(metadata{"bos_token_id": uint64(3), "eos_token_id": uint64(4)}), 3, 4},
		{"a small vocabulary has neither", metadata{"model": "gpt2", "tokens": []string{"a"}, "merges": []string{}}, noToken, noToken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustNew(t, tt.md)
			bos, hasBOS := tok.BOS()
			eos, hasEOS := tok.EOS()
			if bos != tt.bos || eos != tt.eos || hasBOS != (bos != noToken) || hasEOS != (eos != noToken) {
				t.Errorf("BOS %d %v, EOS %d %v, want %d and %d", bos, hasBOS, eos, hasEOS, tt.bos, tt.eos)
			}
		})
	}
}

func TestTokensThatEndGeneration(t *testing.T) {
	for _, tt := range []struct {
		name  string
		names []string
		keys  metadata
		want  []string
	}{
		{"the end token and well-known names", []string{"<|im_start|>", "<|im_end|>", "<|endoftext|>", "<end>"}, metadata{"eos_token_id": uint64(259)}, []string{"<|im_end|>", "<|endoftext|>", "<end>"}},
		{"end of turn and of message by key", []string{"<x>", "<y>", "<z>"}, metadata{"eos_token_id": uint64(256), "eot_token_id": uint64(257), "eom_token_id": uint64(258)}, []string{"<x>", "<y>", "<z>"}},
		{"file marks, but not fill-in marks", []string{"<e>", "<|fim_prefix|>", "<|fim_pad|>", "<|file_sep|>", "<|repo_name|>"}, metadata{"eos_token_id": uint64(256)}, []string{"<e>", "<|fim_pad|>", "<|file_sep|>", "<|repo_name|>"}},
		{"gpt-oss goes on after <|end|>", []string{"<|return|>", "<|call|>", "<|end|>"}, metadata{"eos_token_id": uint64(256)}, []string{"<|return|>", "<|call|>"}},
		{"gemma 4 goes on after </s>", []string{"<eos>", "</s>", "<|tool_response>"}, metadata{"eos_token_id": uint64(256)}, []string{"<eos>", "<|tool_response>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tok := mustNew(t, byteLevel("qwen2", nil, tt.names).with(metadata{"merges": []string{}}).with(tt.keys))
			var got []string
			for id := range int32(tok.Size()) {
				if tok.IsEOG(id) {
					got = append(got, string(tok.vocab.text(id)))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	bpe := mustNew(t, byteLevel("gpt-2", []string{"Ġ a"}, []string{"<s>"}))
	sp := mustNew(t, scored("▁a▁b -1"))
	for _, tt := range []struct {
		name    string
		tok     *Tokenizer
		id      int32
		special bool
		want    string
	}{
		{"a byte", bpe, 0xFF, false, "\xFF"},
		{"a merged token", bpe, 256, false, " a"},
		{"a control token has no text", bpe, 257, false, ""},
		{"unless it is asked for", bpe, 257, true, "<s>"},
		{"an id past the end has none", bpe, 258, true, ""},
		{"a negative id has none", bpe, -1, true, ""},
		{"a byte token is its byte", sp, 3 + 0x0A, false, "\n"},
		{"space marks are spaces", sp, 259, false, " a b"},
		{"the unknown token has no text", sp, 0, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.tok.Append([]byte("x"), tt.id, tt.special)); got != "x"+tt.want {
				t.Errorf("got %q, want %q", got, "x"+tt.want)
			}
		})
	}
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { bpe.Append(buf, 256, false); sp.Append(buf, 259, false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBytesWithoutATokenBecomeUnknownOrNothing(t *testing.T) {
	sp := metadata{"model": "llama", "tokens": []string{"<unk>", "<s>", "</s>", "a"}, "token_type": []int64{2, 3, 3, 1}, "scores": make([]float64, 4), "add_space_prefix": false}
	tok := mustNew(t, sp)
	if got := tok.Encode("a?a", false, false); !slices.Equal(got, []int32{3, 0, 3}) {
		t.Errorf("spm: got %v", got)
	}
	tok = mustNew(t, metadata{"model": "gpt2", "pre": "gpt-2", "tokens": []string{"a", "b"}, "merges": []string{"a b", "b c"}})
	if got := tok.Encode("abcab", false, false); !slices.Equal(got, []int32{0, 1, 0, 1}) {
		t.Errorf("bpe: got %v", got) // the merge "a b" makes a piece that is no token
	}
	tok = mustNew(t, metadata{"model": "gpt2", "pre": "gpt-2", "tokens": []string{"a", "ab"}, "merges": []string{}})
	for range 2 { // the second time must not take "a", which is left of "ab", for the whole word
		if got := tok.Encode("ab", false, false); !slices.Equal(got, []int32{0}) {
			t.Errorf("bpe: got %v", got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := byteLevel("gpt-2", []string{"a b"}, []string{"<s>"})
	for _, tt := range []struct {
		name string
		md   metadata
		want string
	}{
		{"no model", metadata{}, `token: key "tokenizer.ggml.model" is missing`},
		{"another model", good.with(metadata{"model": "bert"}), `token: tokenizer.ggml.model "bert" is not supported (supported: gemma4, gpt2, llama)`},
		{"another pre-tokenizer", good.with(metadata{"pre": "bloom"}), `token: tokenizer.ggml.pre "bloom" is not supported (supported: a.x-4.0, `},
		{"no tokens", good.with(metadata{"tokens": []string{}}), `token: key "tokenizer.ggml.tokens" is missing or empty`},
		{"the same token twice", good.with(metadata{"tokens": []string{"a", "b", "a"}}), `token: tokens 0 and 2 are both "a"`},
		{"too few types", good.with(metadata{"token_type": []int64{1}}), "token: tokenizer.ggml.token_type has 1 entries for 258 tokens"},
		{"no merges", good.with(metadata{"merges": nil}), `token: key "tokenizer.ggml.merges" is missing`},
		{"a merge of one piece", good.with(metadata{"merges": []string{"a b", "ab"}}), `token: merge 1 is "ab", want two pieces with a space between`},
		{"a merge of nothing", good.with(metadata{"merges": []string{""}}), `token: merge 0 is "", want two pieces with a space between`},
		{"a merge with nothing", good.with(metadata{"merges": []string{"a "}}), `token: merge 0 is "a ", want two pieces with a space between`},
		{"an id outside the vocabulary", good.with(metadata{"bos_token_id": uint64(258)}), "token: tokenizer.ggml.bos_token_id is 258, past the last token 257"},
		{"a huge id", good.with(metadata{"eos_token_id": uint64(1) << 63}), "token: tokenizer.ggml.eos_token_id is 9223372036854775808, past the last token 257"},
		{"BOS wanted without one", metadata{"model": "gpt2", "tokens": []string{"a"}, "merges": []string{}, "add_bos_token": true}, "token: texts should begin with a BOS token, but the vocabulary has none"},
		{"EOS wanted without one", metadata{"model": "gpt2", "tokens": []string{"a"}, "merges": []string{}, "add_eos_token": true}, "token: texts should end with an EOS token, but the vocabulary has none"},
		{"spm without scores", scored().with(metadata{"scores": nil}), "token: tokenizer.ggml.scores has 0 entries for 259 tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.md)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("\n got %v\nwant %s", err, tt.want)
			}
		})
	}
	var unsupported *UnsupportedError
	if _, err := New(good.with(metadata{"pre": "bloom"})); !errors.As(err, &unsupported) || unsupported.Name != "bloom" || !slices.Contains(unsupported.Supported, "qwen2") {
		t.Errorf("error %#v", err)
	}
}

func TestEveryPreTokenizerKeepsEveryByte(t *testing.T) {
	text := "I'LL   don't\r\n\r\n 1234567 ½Ⅳ ÀB'sÉa ABc\taé\u0301\u0301中文 ‘x’\u3000。\u00a0 \xff\xe4\xb8 \U0002EBF0 a/b!\n/ $+=`~ 🏳️‍🌈   "
	for _, p := range preTokenizers {
		for _, name := range p.names {
			tok := mustNew(t, byteLevel(name, []string{"Ġ Ġ", "a b", "l l"}, nil))
			if got := decode(tok, tok.Encode(text, false, false)); got != text {
				t.Errorf("%s: got %q", name, got)
			}
		}
	}
}

func TestTokenizerIsSafeForConcurrentUse(t *testing.T) {
	tok := mustNew(t, byteLevel("qwen2", []string{"a b", "ab ab", "Ġ ab"}, nil))
	text := strings.Repeat("ab abab <|x|> aba ", 50)
	want := tok.Encode(text, false, false)
	done := make(chan bool)
	for range 8 {
		go func() {
			ok := true
			for range 50 {
				ok = ok && slices.Equal(tok.Encode(text, false, false), want)
			}
			done <- ok
		}()
	}
	for range 8 {
		if !<-done {
			t.Error("ids differ")
		}
	}
}
