package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// The functions in this file return where a piece of JSON ends that begins at a place in a text; -1 when it is not valid.

func skipSpaces(text []byte, at int) int {
	const spaces = 1<<' ' | 1<<'\n' | 1<<'\t' | 1<<'\r'
	for at < len(text) && text[at] <= ' ' && spaces>>text[at]&1 != 0 {
		at++
	}
	return at
}

func valueEnd(text []byte, at, nested int) int {
	if at >= len(text) || nested == 0 {
		return -1
	}
	switch text[at] {
	case '"':
		return stringEnd(text, at+1)
	case '{':
		return objectEnd(text, at+1, nested-1)
	case '[':
		return listEnd(text, at+1, nested-1)
	case 't':
		return literalEnd(text, at, "true")
	case 'f':
		return literalEnd(text, at, "false")
	case 'n':
		return literalEnd(text, at, "null")
	}
	return numberEnd(text, at)
}

func literalEnd(text []byte, at int, word string) int {
	if end := at + len(word); end <= len(text) && string(text[at:end]) == word {
		return end
	}
	return -1
}

// objectEnd begins behind the brace.
func objectEnd(text []byte, at, nested int) int {
	if at = skipSpaces(text, at); at < len(text) && text[at] == '}' {
		return at + 1
	}
	for at < len(text) && text[at] == '"' {
		if at = stringEnd(text, at+1); at < 0 {
			return -1
		}
		if at = skipSpaces(text, at); at == len(text) || text[at] != ':' {
			return -1
		}
		if at = valueEnd(text, skipSpaces(text, at+1), nested); at < 0 {
			return -1
		}
		if at = skipSpaces(text, at); at == len(text) {
			return -1
		}
		switch text[at] {
		case '}':
			return at + 1
		case ',':
			at = skipSpaces(text, at+1)
		default:
			return -1
		}
	}
	return -1
}

// listEnd begins behind the bracket.
func listEnd(text []byte, at, nested int) int {
	if at = skipSpaces(text, at); at < len(text) && text[at] == ']' {
		return at + 1
	}
	for {
		if at = valueEnd(text, at, nested); at < 0 {
			return -1
		}
		if at = skipSpaces(text, at); at == len(text) {
			return -1
		}
		switch text[at] {
		case ']':
			return at + 1
		case ',':
			at = skipSpaces(text, at+1)
		default:
			return -1
		}
	}
}

// stringEnd begins behind the opening quote.
func stringEnd(text []byte, at int) int {
	for {
		if at+8 <= len(text) {
			found := unplain(binary.LittleEndian.Uint64(text[at:]))
			if found == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(found) / 8
		} else if at = plainEnd(text, at); at == len(text) {
			return -1
		}
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			if at = escapeEnd(text, at); at < 0 {
				return -1
			}
		default:
			return -1
		}
	}
}

// escapeEnd begins at the backslash.
func escapeEnd(text []byte, at int) int {
	if at+1 == len(text) {
		return -1
	}
	switch text[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2
	case 'u':
		if _, ok := codepoint(text[at+2:]); ok {
			return at + 6
		}
	}
	return -1
}

// unplain finds a quote, a backslash or a control character among eight bytes: the first of them leaves its highest bit
// set, and no byte before it does.
func unplain(word uint64) uint64 {
	const (
		ones, highs = 0x0101010101010101, 0x8080808080808080
		quotes      = ones * '"'
		backslashes = ones * '\\'
		spaces      = ones * ' '
	)
	quote, backslash := word^quotes, word^backslashes
	return ((quote-ones)&^quote | (backslash-ones)&^backslash | (word-spaces)&^word) & highs
}

// plainEnd returns where a quote, a backslash or a control character is, or the end of the text.
func plainEnd(text []byte, at int) int {
	for ; at+8 <= len(text); at += 8 {
		if found := unplain(binary.LittleEndian.Uint64(text[at:])); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(text) && text[at] != '"' && text[at] != '\\' && text[at] >= ' ' {
		at++
	}
	return at
}

func numberEnd(text []byte, at int) int {
	if text[at] == '-' {
		at++
	}
	from := at
	if at = digitsEnd(text, at); at == from || text[from] == '0' && at > from+1 {
		return -1
	}
	if at < len(text) && text[at] == '.' {
		from = at + 1
		if at = digitsEnd(text, from); at == from {
			return -1
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		from = at + 1
		if from < len(text) && (text[from] == '+' || text[from] == '-') {
			from++
		}
		if at = digitsEnd(text, from); at == from {
			return -1
		}
	}
	return at
}

func digitsEnd(text []byte, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	return at
}
