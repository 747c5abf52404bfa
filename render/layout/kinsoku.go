package layout

import "strings"

// noStart are characters that must not begin a line, noEnd those that must not end one (JIS X 4051,
// GB/T 15834).
const (
	noStart = "、。，．・：；？！‼⁇⁈⁉）］｝〕〉》」』】〙〗〟’”»›ーァィゥェォッャュョヮヵヶぁぃぅぇぉっゃゅょゎゕゖㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿ々〻ゝゞヽヾ‐゠–〜～…‥%‰℃°,.:;?!)]}｡､｣･ｰﾞﾟ％"
	noEnd   = "（［｛〔〈《「『【〘〖〝‘“«‹([{$£¥＄￡￥｢№"
)

// objectRune stands for what is no text, which a line may break beside as beside an ideograph (UAX #14).
const objectRune = '\uFFFC'

// breakable reports whether a line may break between two characters without a space between them.
func breakable(before, after rune) bool {
	if before == 0 || before == ' ' || !ideographic(before) && !ideographic(after) {
		return false
	}
	return !strings.ContainsRune(noStart, after) && !strings.ContainsRune(noEnd, before)
}

// ideographic reports whether a character is of a script without spaces between words.
func ideographic(r rune) bool {
	switch {
	case r == objectRune:
		return true
	case r < 0x2e80:
		return false
	case r <= 0x2fdf, r >= 0x3000 && r <= 0x30ff, r >= 0x31f0 && r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff:
		return true
	case r >= 0xf900 && r <= 0xfaff, r >= 0xff01 && r <= 0xff9f, r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return false
}
