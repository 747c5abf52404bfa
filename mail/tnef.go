package mail

import "bytes"

// tnefSignature starts a winmail.dat (MS-OXTNEF).
var tnefSignature = []byte{0x78, 0x9f, 0x3e, 0x22}

func isTNEF(pt part, content []byte) bool {
	return bytes.HasPrefix(content, tnefSignature) && len(pt.mediaType) > 0 && pt.mediaType[0] == 'a'
}

// tnef takes a winmail.dat apart.
func (p *parser) tnef(pt part, content []byte) (entity, bool) { return entity{}, false }
