package mcp

import "encoding/json"

// pageBytes is how large the JSON of a list may become if no limit is asked for: some 2,000 tokens
// of English text, of which random names and other scripts take more.
const pageBytes = 4500

// page is the beginning of a list that fits on a page: limit elements, or as many as pageBytes hold
// if limit is 0. It is never empty unless the list is.
func page[T any](list []T, limit int) []T {
	if limit > 0 {
		return list[:min(limit, len(list))]
	}
	size := 0
	for n, e := range list {
		data, _ := json.Marshal(e) // of strings and numbers, which cannot fail
		if size += len(data) + 1; size > pageBytes && n > 0 {
			return list[:n]
		}
	}
	return list
}
