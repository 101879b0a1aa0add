// Package chat renders conversations into prompts with the chat templates that
// model files bring.
package chat
