package store

import (
	"slices"
	"strings"
	"unicode"
)

// Before returns the last message before m that is of the same sender and kind, in any inbox that
// is not gone; nil if there is none. Messages are of one kind if their subjects have the same words,
// not counting numbers, codes and addresses. Without such a message it is the last of the sender
// that shares at least half of the words, since a subject is changed or names its reader.
func (s *Store) Before(m *Message) *Message {
	var similar *Message
	words := subjectWords(m.Subject)
	for _, key := range s.Keys(All) {
		o := s.Messages[key]
		if newestFirst(m, o) >= 0 || !strings.EqualFold(o.Address, m.Address) || s.Inboxes[o.InboxID].State == Gone {
			continue
		}
		switch others := subjectWords(o.Subject); {
		case slices.Equal(words, others):
			return o
		case similar == nil && 2*shared(words, others) >= max(len(words), len(others)):
			similar = o
		}
	}
	return similar
}

// subjectWords are the words of a subject, in lower case, without those that have a digit or are an
// address.
func subjectWords(subject string) []string {
	words := strings.FieldsFunc(strings.ToLower(subject), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '@' && r != '.'
	})
	for n, word := range words {
		words[n] = strings.Trim(word, ".")
	}
	return slices.DeleteFunc(words, func(word string) bool {
		return word == "" || strings.Contains(word, "@") || strings.ContainsFunc(word, unicode.IsDigit)
	})
}

func shared(a, b []string) int {
	n := 0
	for _, word := range a {
		if slices.Contains(b, word) {
			n++
		}
	}
	return n
}
