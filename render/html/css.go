package html

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// property is a CSS property that makes a difference in a terminal.
type property uint8

const (
	pNone   property = iota
	pCustom          // its value is its name, a colon and its value
	pDisplay
	pVisibility
	pMSOHide
	pOpacity
	pHeight
	pMaxHeight
	pWidth
	pMaxWidth
	pOverflow
	pPosition
	pLeft
	pTop
	pTextIndent
	pClip
	pMargin
	pMarginTop
	pMarginBottom
	pMarginLeft
	pMarginRight
	pPadding
	pPaddingTop
	pPaddingBottom
	pPaddingLeft
	pPaddingRight
	pBorder
	pBorderTop
	pBorderBottom
	pBorderLeft
	pBorderRight
	pBorderWidth
	pBorderStyle
	pFont
	pFontSize
	pFontWeight
	pFontStyle
	pFontFamily
	pLetterSpacing
	pColor
	pBackground
	pBackgroundColor
	pBackgroundImage
	pTextAlign
	pTextDecoration
	pWhiteSpace
	pDirection
	pListStyle
	pVerticalAlign
	pFloat
	pFlexDirection
	pGridColumns
	pGridColumn
	pMSOList
)

var properties = map[string]property{
	"display": pDisplay, "visibility": pVisibility, "mso-hide": pMSOHide, "opacity": pOpacity,
	"height": pHeight, "max-height": pMaxHeight, "width": pWidth, "max-width": pMaxWidth,
	"overflow": pOverflow, "overflow-y": pOverflow, "position": pPosition, "left": pLeft, "top": pTop,
	"text-indent": pTextIndent, "clip": pClip, "clip-path": pClip,
	"margin": pMargin, "margin-top": pMarginTop, "margin-bottom": pMarginBottom,
	"margin-left": pMarginLeft, "margin-right": pMarginRight,
	"padding": pPadding, "padding-top": pPaddingTop, "padding-bottom": pPaddingBottom,
	"padding-left": pPaddingLeft, "padding-right": pPaddingRight,
	"border": pBorder, "border-top": pBorderTop, "border-bottom": pBorderBottom,
	"border-left": pBorderLeft, "border-right": pBorderRight,
	"border-width": pBorderWidth, "border-style": pBorderStyle,
	"font": pFont, "font-size": pFontSize, "font-weight": pFontWeight, "font-style": pFontStyle,
	"font-family": pFontFamily, "letter-spacing": pLetterSpacing, "color": pColor,
	"background": pBackground, "background-color": pBackgroundColor, "background-image": pBackgroundImage,
	"text-align": pTextAlign, "text-decoration": pTextDecoration, "text-decoration-line": pTextDecoration,
	"white-space": pWhiteSpace, "float": pFloat, "direction": pDirection,
	"list-style": pListStyle, "list-style-type": pListStyle, "vertical-align": pVerticalAlign,
	"flex-direction": pFlexDirection, "flex-flow": pFlexDirection,
	"grid-template-columns": pGridColumns, "grid-column": pGridColumn,
	"mso-list": pMSOList,
}

// decl is a declaration of a property; its value is in lower case.
type decl struct {
	property  property
	important bool
	varies    bool // its value refers to custom properties
	value     string
}

// maxDecls bounds the declarations in one rule or style attribute.
const maxDecls = 200

// parseDecls parses the declarations of a rule or a style attribute. It returns custom properties
// first, since the others may refer to them.
func parseDecls(s string) []decl {
	var decls []decl
	custom := false
	for s != "" && len(decls) < maxDecls {
		var one string
		one, s = cutDecl(s)
		name, value, ok := strings.Cut(one, ":")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		p, known := properties[name]
		if !known {
			name = strings.ToLower(name)
			if p = properties[name]; strings.HasPrefix(name, "--") {
				p, custom = pCustom, true
			} else if p == pNone {
				continue
			}
		}
		value = strings.ToLower(strings.TrimSpace(value))
		d := decl{property: p, value: value, varies: strings.Contains(value, "var(")}
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			d.important = strings.TrimSpace(value[i+1:]) == "important"
			d.value = strings.TrimSpace(value[:i])
		}
		if p == pCustom {
			d.value = name + ":" + d.value
		}
		decls = append(decls, d)
	}
	if custom {
		slices.SortStableFunc(decls, func(a, b decl) int { return cmp.Compare(min(a.property, pCustom+1), min(b.property, pCustom+1)) })
	}
	return decls
}

// cutDecl cuts s at the first semicolon outside quotes and parentheses.
func cutDecl(s string) (one, rest string) {
	quote, depth := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		case c == ';' && depth == 0:
			return s[:i], s[i+1:]
		}
	}
	// An unclosed quote or parenthesis ends at the next semicolon: it does not swallow the rest.
	if quote != 0 || depth > 0 {
		if i := strings.IndexByte(s, ';'); i >= 0 {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// length is a CSS length.
type length struct {
	v    float32
	unit byte // 0 unset, 'p' px, 'e' em, '%' percent
}

func (l length) set() bool { return l.unit != 0 }

// px resolves a length in em against a font size, and a percentage against full, both in px.
func (l length) px(size, full float32) float32 {
	switch l.unit {
	case 'p':
		return l.v
	case 'e':
		return l.v * size
	case '%':
		return l.v / 100 * full
	}
	return 0
}

// zero reports whether a length leaves nothing visible.
func (l length) zero() bool {
	return l.unit == 'p' && l.v <= 1 || l.unit != 0 && l.v == 0
}

var units = []struct {
	name   string
	unit   byte
	factor float32
}{
	{"px", 'p', 1}, {"rem", 'p', 16}, {"em", 'e', 1}, {"pt", 'p', 4. / 3}, {"%", '%', 1}, {"ex", 'e', .5},
	{"ch", 'e', .5}, {"pc", 'p', 16}, {"in", 'p', 96}, {"cm", 'p', 37.8}, {"mm", 'p', 3.78}, {"vw", 'p', 6}, {"vh", 'p', 8},
}

// parseLength parses a length in lower case. A number without a unit is in px.
func parseLength(s string) (length, bool) {
	s = strings.TrimSpace(s)
	unit, factor := byte('p'), float32(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(s, u.name); ok {
			s, unit, factor = strings.TrimSpace(number), u.unit, u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(s, 32)
	if err != nil || v != v || v > 1e6 || v < -1e6 {
		return length{}, false
	}
	return length{float32(v) * factor, unit}, true
}
