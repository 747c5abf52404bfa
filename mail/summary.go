package mail

// Summarize reads what a list shows from the header of a raw message, of which it looks at the first
// 64 KiB at most.
func Summarize(raw []byte) Summary {
	return Summary{}
}
