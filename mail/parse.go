package mail

// Parse reads a raw message within the limits. It never fails: what cannot be parsed is in Text.
func Parse(raw []byte, l Limits) *Message {
	return &Message{Text: string(raw), TextType: "text/plain"}
}
