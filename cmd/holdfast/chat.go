package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/text/chat"
	"github.com/holdfast-llm/holdfast/text/token"
)

// conversation is a run --chat under way.
type conversation struct {
	flags    *runFlags
	engine   *engine.Engine
	sequence *engine.Sequence
	tok      *token.Tokenizer
	template *chat.Template
	turns    chat.Conversation
	cached   []int32 // the tokens that the sequence holds
	stdout   io.Writer
	stderr   io.Writer
}

// converse answers one message, or every line of standard input if there is
// none.
func (r *runFlags) converse(ctx context.Context, e *engine.Engine, s *engine.Sequence, message string, stdin io.Reader, stdout, stderr io.Writer) error {
	tok, err := e.Tokenizer()
	if err != nil {
		return err
	}
	c := &conversation{flags: r, engine: e, sequence: s, tok: tok, stdout: stdout, stderr: stderr}
	if c.template, err = chatTemplate(e, stderr); err != nil {
		return err
	}
	c.turns = chat.Conversation{AddGenerationPrompt: true, BOS: tokenText(tok, tok.BOS), EOS: tokenText(tok, tok.EOS)}
	if r.system != "" {
		c.turns.Messages = append(c.turns.Messages, chat.Message{Role: "system", Content: r.system})
	}
	if message != "" {
		return c.answer(ctx, message)
	}
	for lines := bufio.NewScanner(stdin); ; {
		if cli.IsTerminal(stderr) {
			fmt.Fprint(stderr, "> ")
		}
		if !lines.Scan() {
			return lines.Err()
		}
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := c.answer(ctx, lines.Text()); err != nil {
			return err
		}
	}
}

// chatTemplate is the file's template; a file without one gets ChatML, and a
// warning.
func chatTemplate(e *engine.Engine, stderr io.Writer) (*chat.Template, error) {
	if len(chat.Names(e.File())) == 0 {
		fmt.Fprintln(stderr, "holdfast run: the model has no chat template; using ChatML, which it may not follow")
		return chat.Default("")
	}
	return chat.FromMetadata(e.File(), "")
}

func tokenText(tok *token.Tokenizer, id func() (int32, bool)) string {
	if t, ok := id(); ok {
		return string(tok.Append(nil, t, true))
	}
	return ""
}

// answer generates the assistant's turn. The whole conversation is rendered
// again each time, because a template may change earlier turns; what the
// sequence already holds of it is not computed again.
func (c *conversation) answer(ctx context.Context, message string) error {
	c.turns.Messages = append(c.turns.Messages, chat.Message{Role: "user", Content: message})
	text, err := c.template.Render(c.turns)
	if err != nil {
		return err
	}
	hasBOS := c.turns.BOS != "" && strings.HasPrefix(text, c.turns.BOS)
	ids := c.tok.Encode(text, !hasBOS, true)
	if len(ids) == 0 {
		return fmt.Errorf("the chat template renders to nothing")
	}
	if len(ids) > c.engine.Context() {
		return fmt.Errorf("the conversation is %d tokens long, the context %d: choose a larger one with -c", len(ids), c.engine.Context())
	}
	keep := 0
	for keep < len(ids)-1 && keep < len(c.cached) && ids[keep] == c.cached[keep] {
		keep++
	}
	c.sequence.Truncate(keep)
	res, err := c.sequence.Generate(ctx, c.flags.request(ids[keep:], c.stdout))
	fmt.Fprintln(c.stdout)
	c.flags.report(c.engine, res, c.stderr)
	if err != nil {
		return err
	}
	for _, t := range res.Tokens {
		ids = append(ids, t.ID)
	}
	c.cached = ids[:c.sequence.Len()] // the last token may not have been decoded
	c.turns.Messages = append(c.turns.Messages, chat.Message{Role: "assistant", Content: res.Text})
	return nil
}
